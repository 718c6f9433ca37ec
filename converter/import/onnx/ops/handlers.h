// SPDX-License-Identifier: Apache-2.0
// The operators the ONNX front end knows, one handler each. A handler refuses what cannot be
// integer (Importer::refuse) and fails only for models that are damaged.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_HANDLERS_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_HANDLERS_H_

#include <optional>
#include <string>
#include <vector>

#include "converter/import/onnx/deferred/pair_function.h"
#include "converter/import/onnx/deferred/pending.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// REQUIRES: no input of the node is refused.
using Handler = Status (*)(Importer& importer, const NodeView& node);

// Which elements of its inputs an operator combines. An operator that combines elements along an
// axis on which equal codes stand for different values gets these values as a pending function, not
// as codes.
enum class Reads {
  kElements,  // one element of each input for each of the result, or none at all
  kMoved,     // one element of input 0 from another place; quantisation along an axis moves, too
              // (move.h)
  kResized,   // as kMoved in mode nearest, else as kAll
  kImages,    // all elements of a channel, along axis 2 and the later ones
  kAll,       // elements along any axis
  kFloats,    // elements along any axis, of a tensor that is float in the run
};

#define QRT_ONNX_OP(handler, domain, op, inputs, reads) \
  Status handler(Importer& importer, const NodeView& node);
#define QRT_ONNX_PRODUCT(handler, ...) QRT_ONNX_OP(handler, __VA_ARGS__)
#include "converter/import/onnx/ops/handlers.inc"

// Returns whether the node combines elements along `axis` of an input.
bool mixes(Reads reads, const NodeView& node, int axis);
// Returns whether an operator's handler takes floats of the run as they are.
bool takes_floats(Reads reads);

struct OpEntry {
  const char* domain;  // "" is also "ai.onnx"
  const char* op;
  Handler handler;
  int inputs;  // number of inputs, from the first on, that must be present
  Required<Reads> reads;
};
// Returns the entry of an operator, or null for an unknown operator.
const OpEntry* find_op_entry(const std::string& domain, const std::string& op);
// Returns the entries of all operators.
std::vector<OpEntry> known_ops();

// qdq.cc
// Reads scale and zero point (inputs `scale` and `zero_point`, which may be absent) of a tensor of
// `shape`. *quant stays empty where the node was refused. `axis` only matters for scales with more
// than one element.
Status read_quant(Importer& importer, const NodeView& node, int scale, int zero_point, int type,
                  const Shape& shape, int64_t axis, std::optional<Quant>* quant);

// Reads the parameters of a tensor that must be quantised as a whole.
Status read_tensor_quant(Importer& importer, const NodeView& node, int scale, int zero_point,
                         int type, std::optional<Quant>* quant);

// ops/dynamic_product.cc: imports a QLinearMatMul, QLinearConv, MatMulInteger or ConvInteger whose
// weights or parameters are inputs. *taken: false where weights and parameters are constants.
Status import_dynamic_product(Importer& importer, const NodeView& node, bool* taken);

// folding/math.cc
// Computes arithmetic of small constants (of shapes). Returns false where an input is no such
// constant, or the result is not known.
bool fold_node(Importer& importer, const NodeView& node);

// ops/integer.cc
// Imports operators on integers without quantisation. *taken: an input is such a value.
Status import_integer_operator(Importer& importer, const NodeView& node, bool* taken);

// ops/cast.cc
// Rounds to float16. Between float operators, float16 is float32 here: ONNX Runtime, which has few
// operators of float16 on CPUs, computes the others in float32 and rounds where a tensor leaves them.
float rounded_to_half(float v);
ValueId float_to_half_value(Importer& importer, const SourceNode& node, ValueId x);
ValueId half_to_float_value(Importer& importer, const SourceNode& node, ValueId x);

// ops/conv.cc
// Checks inputs of ConvInteger and reads their zero points. *known stays false where the node was
// refused. Sets *x_zero_point to a zero point of x that is computed in the run; x->zero_point is 0
// in the stored domain then.
Status read_conv_integer(Importer& importer, const NodeView& node, Quant* x, ValueId* x_zero_point,
                         Quant* w, bool* known);

// ops/matmul.cc
// Imports an Add whose input `product` is a pending MatMul and whose other input is a
// constant of one value per column: ONNX Runtime makes both a Gemm. *taken: false where that does not apply.
Status import_matmul_add(Importer& importer, const NodeView& add, int product, bool* taken);
// Imports a MatMul of two tensors that are both computed, or with a batch of constant matrices.
// *taken: false where that does not apply.
Status import_dynamic_matmul(Importer& importer, const NodeView& node, bool* taken);
Status import_dynamic_qlinear_matmul(Importer& importer, const NodeView& node);
// Reads zero point i of a tensor of `type`, 0 if it is missing: one, or one for each of `channels`
// along `axis` (-1: one). If `of_run` is given, the zero point may be computed in the run: *of_run
// is its value then, and that in *quant is 0 in the stored domain. *known stays false where the
// node was refused.
Status read_zero_point(Importer& importer, const NodeView& node, int i, int type, int64_t channels,
                       int axis, Quant* quant, bool* known, ValueId* of_run = nullptr);

// Imports the accumulators of x times a constant matrix, with the zero point that a run computes, or kNoValue.
Status import_constant_product(Importer& importer, const NodeView& node, ValueId x,
                               const Quant& x_quant, ValueId x_zero_point, ConstantPtr w,
                               const Quant& w_quant, ValueId* result);

// ops/batch_norm.cc
// The factors of a BatchNormalization: y = x * factor[c] + addend[c], both rounded to float32.
struct ChannelAffine {
  std::vector<float> factor, addend;
};
// Reads the constants of a BatchNormalization. Returns false where an input is no constant of
// `channels` elements.
bool read_channel_affine(const Importer& importer, const NodeView& node, int64_t channels,
                         ChannelAffine* lines);

// ops/refused.cc
// Refuses an operator that find_op_entry() does not know.
Status refuse_unknown(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_HANDLERS_H_

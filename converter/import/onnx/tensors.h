// SPDX-License-Identifier: Apache-2.0
// The state of each tensor of an ONNX file during the import.
//
// Float tensors between DequantizeLinear and QuantizeLinear are not emitted, only described, until
// a QuantizeLinear (or a graph output) determines their integer form. The folder deferred/ has the
// rules:
// - a table is a function of one stored integer of 8 or 16 bits: DequantizeLinear and any
//   elementwise operators behind it. Becomes a Lut.
// - a pair function is one of the bytes of two tensors: elementwise operators that have no
//   integer arithmetic of their own, or whose float result several nodes read. Becomes a PairLut.
// - a pending operator has integer arithmetic of its own (Conv, Add ...) and waits for the
//   quantisation of its result. Becomes that operator.
#ifndef QRT_CONVERTER_IMPORT_ONNX_TENSORS_H_
#define QRT_CONVERTER_IMPORT_ONNX_TENSORS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/import/common/growth.h"
#include "converter/import/common/outcomes.h"
#include "converter/import/common/quant.h"
#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/node.h"
#include "converter/ir.h"

namespace qrt::convert::from_onnx {

struct Pending;

// A float tensor each of whose elements is a function of one stored byte of `a` and one of `b`,
// which are broadcast together. Either is kNoValue if the function does not depend on it; both are
// for a constant.
struct PairFunction {
  const NodeView* node = nullptr;  // the operator that made it
  ValueId a = kNoValue, b = kNoValue;
  std::function<float(int a, int b)> value;
  int depth = 1;  // depth of the calls in `value`; beyond a limit a table replaces them
};

struct Tensor {
  enum class Kind {
    kRefused,   // comes from a refused node: what reads it is judged on a stand-in, if it can be
    kConstant,  // `constant`; with `quant` its dequantised reading
    kValue,     // `value` of the graph, elements of `type` (int8 lies in it as uint8)
    kTable,     // function of the codes of `value`
    kPending,   // `pending`
    kPairFunction,  // `pair_function`
  };
  static constexpr Kind kLastKind = Kind::kPairFunction;
  Kind kind = Kind::kRefused;
  Shape shape;
  bool shape_known = false;  // kRefused: `shape` is what the tensor would have
  ConstantPtr constant;
  int type = kUndefined;  // OnnxType of the source tensor
  ValueId value = kNoValue;
  std::optional<Quant> quant;  // quantisation of `constant` (kConstant) or of `value` (kTable)
  // kTable: entry [c * codes + code] for index c of `table_axis` (-1: one table). Null: the
  // dequantised value itself.
  std::shared_ptr<const std::vector<float>> table;
  int table_axis = -1;
  // kTable: ONNX Runtime computes the readers in floats, since it copies no DequantizeLinear across
  // a node between the tensor's DequantizeLinear and the readers.
  bool is_read_in_float = false;
  std::shared_ptr<Pending> pending;
  std::shared_ptr<const PairFunction> pair_function;
  // kValue: part of dynamic quantisation between integer products. So are the scale of a run, the
  // accumulators of MatMulInteger and ConvInteger, and what Cast, Mul, Add and Relu make of them.
  // Their float arithmetic needs no --allow-float: it has ONNX Runtime's bits.
  bool is_dynamic = false;

  bool is_refused() const { return kind == Kind::kRefused; }
  bool is_constant() const { return kind == Kind::kConstant; }
  bool is_value() const { return kind == Kind::kValue; }
  bool is_table() const { return kind == Kind::kTable; }
  bool is_pending() const { return kind == Kind::kPending; }
  bool is_pair_function() const { return kind == Kind::kPairFunction; }
  // Returns whether the tensor is the DequantizeLinear of a stored tensor and nothing else.
  bool is_dequantized() const { return is_table() && !table; }
  // Returns whether ONNX Runtime fuses the tensor's DequantizeLinear with a reader that has an
  // arithmetic of its own for quantised operands.
  bool is_fusible() const { return is_dequantized() && !is_read_in_float; }
  // Returns whether the tensor is float in the source and nothing in the graph yet.
  bool waits() const { return is_table() || is_pending() || is_pair_function(); }
  // Returns the axis along which equal codes stand for different values, or -1. REQUIRES: is_table().
  int meaning_axis() const { return table ? table_axis : quant->axis; }
  // Returns whether the tensor is a constant without quantisation: integers or floats that stand
  // for themselves.
  bool is_plain_constant() const { return is_constant() && !quant; }
};

// A pending operator: its float result is computed only when the QuantizeLinear behind it is known.
// Elementwise limits and data movement in between are kept here.
struct Pending {
  const NodeView* node = nullptr;  // the operator itself
  std::string ops;                 // "Conv+Relu"
  std::vector<int> followers;      // indices of the nodes fused into the operator, which are
                                   // reported with it
  // Length of the chain of pending operators that ends with this one.
  int depth = 1;
  float lo, hi;  // composition of the Relus and Clips, real domain
  // `emit` and `emit_float` make an elementwise function of stored tensors, whose result has the
  // same bits whether it is rounded before or after data movement and maxima; so both may follow.
  // `node` only serves for messages then.
  bool is_function = false;
  // The axis along which equal codes of the function's inputs stand for different values, or -1.
  int meaning_axis = -1;
  // Emits the operator with this output quantisation; *result stays kNoValue where it was refused.
  std::function<Status(const Quant& out, Limits limits, ValueId* result)> emit;
  // Emits a float result where no QuantizeLinear follows; null for an operator without one.
  std::function<Status(ValueId* result)> emit_float;
  // Emits the result by float operators, where these are allowed; null: by the float form of
  // `node`.
  std::function<Status(ValueId* result)> make_float;
  // The operator's float result, without `lo` and `hi`, as a function of bytes: for readers that
  // cannot take the operator over. Null for an operator without such a function.
  std::shared_ptr<const PairFunction> pair_function;
  // The operator that `emit` refers to, if this one is a copy.
  std::shared_ptr<const Pending> original;
  // Data movement and maxima behind the operator, on integers quantised by `out`, or on floats if
  // `out` is null. *value becomes kNoValue where one of these is refused.
  using Move = std::function<Status(const Quant* out, ValueId* value)>;
  std::vector<Move> moves;
};

class Tensors {
 public:
  Tensors(const Model& model, Outcomes* outcomes);

  // Returns the state of input i of a node. All inputs of a node that a handler sees have a state;
  // that of an absent input is empty.
  const Tensor& input(const NodeView& node, int i) const;
  void set_output(const NodeView& node, int i, Tensor tensor);
  // Returns the state of a tensor. A state that was not set is kRefused, of unknown shape.
  Tensor& at(const std::string& name) { return states_[name]; }
  bool has(const std::string& name) const { return states_.count(name) != 0; }
  const std::unordered_map<std::string, Tensor>& all() const { return states_; }

  // Loads an initialiser as a constant; does nothing for other names.
  Status load_initializer(const std::string& name);
  Status read(const onnx::TensorProto& proto, ConstantPtr* constant) {
    return read_constant(proto, &files_, constant);
  }
  // Returns the file's declaration of a tensor, or null.
  const onnx::ValueInfoProto* declared(const std::string& name) const;

  // common/growth.h: charges bytes. set_output() charges what a tensor holds; callers charge other
  // memory that they allocate.
  void charge(uint64_t bytes) { growth_.charge(bytes); }
  // Charges the reading of an input, before the node's handler runs.
  void charge_reading(const Tensor& input);
  // Charges `bytes` before they are allocated. Fails with kUnsupported where the model would need
  // too many.
  Status reserve(uint64_t bytes, const Graph& graph) {
    return growth_.reserve(bytes, graph, model_bytes_ + files_.total_bytes());
  }
  // Returns how many bytes of constants were read.
  uint64_t bytes_read() const { return growth_.bytes_read(); }
  Status check_growth(const Graph& graph) {
    return growth_.check(graph, model_bytes_ + files_.total_bytes());
  }

 private:
  const Model& model_;
  Outcomes* outcomes_;
  std::unordered_map<std::string, Tensor> states_;
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
  ExternalFiles files_;
  Growth growth_;
  uint64_t model_bytes_;
};

// Gives a tensor another state for one reader. The destructor restores the old state.
class TensorView {
 public:
  TensorView(Tensors* tensors, const std::string& name, Tensor tensor);
  TensorView(TensorView&& other) noexcept;
  TensorView& operator=(TensorView&&) = delete;
  ~TensorView();

 private:
  Tensors* tensors_;
  std::string name_;
  Tensor kept_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_TENSORS_H_

// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike and BitCast. Constants are converted; what is float between DequantizeLinear and
// QuantizeLinear stays so; the rest are Quantize and Dequantize with a scale of 1.
#include "converter/import/onnx/folding/cast.h"

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/remedies.h"
#include "kernels/edge/numbers.h"

namespace qrt::convert::from_onnx {
namespace {

bool is_half(int type) { return type == kHalf || type == kBfloat16; }
bool is_float(int type) { return type == kFloat || is_half(type); }
bool is_small_float(int type) {
  return (type >= kFloat8E4M3FN && type <= kFloat8E5M2FNUZ) || type == kFloat4E2M1;
}
// Integers that float32 holds exactly.
bool is_small_integer(int type) {
  int lo, hi;
  return quantized_range(type, &lo, &hi) || type == kBool;
}

Status refuse_cast(Importer& importer, const NodeView& node, int from, int to) {
  const auto is_absent = [](int type) {
    return type == kDouble || type == kUint32 || type == kUint64;
  };
  const bool has_absent = is_absent(from) || is_absent(to);
  const std::string narrow = from == kDouble || to == kDouble ? "float32" : "int64 or int32";
  return importer.refuse(node,
                         std::string("it casts ") + element_type_name(from) + " to " +
                             element_type_name(to) + " at run time" +
                             (has_absent ? ", and runs have no float64, uint32 or uint64" : ""),
                         node.input(0),
                         (has_absent ? "export it with " + narrow + " instead; or " : "") +
                             remedy_to_compute_outside(importer, node));
}

// Returns the graph's type for elements of `type`: int8 lies in uint8, bool in bytes.
DType stored_dtype(int type) {
  DType dtype = DType::kUInt8;
  if (type != kBool) ir_type(type, &dtype);
  return dtype == DType::kInt8 ? DType::kUInt8 : dtype;
}

// Returns the inputs of an edge operator: x, a scale of 1 and the zero point of an int8, which is
// stored as uint8. `type`: of the integer side.
std::vector<ValueId> with_parameters(Importer& importer, ValueId x, int type) {
  Graph& graph = importer.graph();
  std::vector<ValueId> inputs = {
      x, graph.add_constant("", DType::kFloat32, {}, std::vector<float>{1.0f})};
  if (type == kInt8)
    inputs.push_back(graph.add_constant("", DType::kUInt8, {}, std::vector<uint8_t>{128}));
  return inputs;
}

// Returns a value of `type` as float32 or float16.
ValueId to_float(Importer& importer, const SourceNode& node, ValueId x, int type, int to) {
  const ValueId y =
      importer.builder().new_value("", stored_dtype(to), importer.builder().shape_of(x));
  importer.builder().add<fb::DequantizeOptionsT>(node, with_parameters(importer, x, type), y);
  return y;
}

// Returns a value of a float type as `to`. `saturate` counts for float8.
ValueId from_float(Importer& importer, const SourceNode& node, ValueId x, int to, bool saturate) {
  const ValueId y =
      importer.builder().new_value("", stored_dtype(to), importer.builder().shape_of(x));
  std::vector<ValueId> inputs = with_parameters(importer, x, to);
  // Keeps -0, of which a sum with a zero point of 0 would make 0.
  if (to == kFloat4E2M1)
    inputs.push_back(
        importer.graph().add_constant("", DType::kFloat4E2M1, {}, std::vector<uint8_t>{8}));
  if (to == kBfloat16)
    inputs.push_back(
        importer.graph().add_constant("", DType::kBFloat16, {}, std::vector<uint16_t>{0x8000}));
  auto& o = importer.builder().add<fb::QuantizeOptionsT>(node, std::move(inputs), y);
  const bool is_integer = is_small_integer(to) || to == kInt32;
  o.saturate = is_small_float(to) && saturate;
  if (is_integer) o.overflow = fb::Overflow::CAST;
  o.offset = to == kInt8 ? 128 : 0;
  return y;
}

// Makes a Cast operator of a value whose numbers in the graph are the source's, as all but int8 and uint16 are; bool is 0 or 1.
ValueId cast_elements(Importer& importer, const NodeView& node, ValueId x, int from, int to) {
  const ValueId y =
      importer.builder().new_value("", stored_dtype(to), importer.builder().shape_of(x));
  auto& o = importer.builder().add<fb::CastOptionsT>(node, {x}, y);
  o.is_truth = to == kBool;
  o.is_float = from == kFloat || to == kFloat;
  return y;
}

// Casts between int32, int64, bool, uint8 and float32, and refuses other types.
Status cast_numbers(Importer& importer, const NodeView& node, int to) {
  const Tensor& x = importer.input(node, 0);
  const auto is_large = [](int type) { return type == kInt32 || type == kInt64 || type == kFloat; };
  const auto is_read = [&](int type) { return is_large(type) || type == kBool || type == kUint8; };
  if (!is_read(x.type) || !is_read(to)) return refuse_cast(importer, node, x.type, to);
  set_value(importer, node, to, cast_elements(importer, node, x.value, x.type, to));
  importer.became(node, "Cast", x.type == kFloat || to == kFloat ? "edge" : "I0");
  return Status();
}

Status convert_value(Importer& importer, const NodeView& node, int to) {
  const Tensor& x = importer.input(node, 0);
  const int from = x.type;
  ValueId y = plain_value(importer, node.input(0), x);
  const bool reads = is_float(from) || is_small_float(from) || is_small_integer(from);
  const bool makes = is_float(to) || is_small_float(to) || (is_small_integer(to) && to != kBool) ||
                     (to == kInt32 && !is_small_float(from));
  if (!reads || !makes || y == kNoValue) return refuse_cast(importer, node, from, to);
  int type = from;  // of y
  if (!is_float(type) || (type != kFloat && is_float(to))) {
    const int middle = to == kHalf && !is_half(from) ? kHalf : kFloat;
    y = to_float(importer, node, y, type, middle);
    type = middle;
  }
  if (type != to) y = from_float(importer, node, y, to, node.integer("saturate", 1) != 0);
  Tensor made;
  made.kind = Tensor::Kind::kValue;
  made.type = to;
  made.shape = x.shape;
  made.is_dynamic = x.is_dynamic;
  made.value = to == kUint16 ? importer.builder().stored_uint16("", y) : y;
  importer.became(node, "Cast", "edge");
  importer.set_output(node, 0, std::move(made));
  return Status();
}

// Maps a byte by a table to another reading of its bits: the graph stores an int8 plus 128.
Status map_byte(Importer& importer, const NodeView& node, int to, bool to_truth) {
  const Tensor& x = importer.input(node, 0);
  std::vector<uint8_t> table(256);
  bool identity = true;
  for (size_t i = 0; i < table.size(); ++i) {
    auto code = static_cast<uint8_t>(i - static_cast<size_t>(offset_of(x.type)));
    if (to_truth) code = code != 0;
    table[i] = static_cast<uint8_t>(code + offset_of(to));
    identity = identity && table[i] == i;
  }
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = to;
  y.shape = x.shape;
  y.value = identity ? x.value : importer.builder().lut(node, x.value, table, false, "", nullptr);
  importer.became(node, identity ? "folded" : "Lut", "I0");
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Defers the cast of integers to float, of which a QuantizeLinear may still make a table.
Status defer_integers(Importer& importer, const NodeView& node) {
  Tensor y = importer.input(node, 0);
  DType stored;
  ir_type(y.type, &stored);
  y.kind = Tensor::Kind::kTable;
  y.quant = tensor_quant(stored, 1.0f, 0);
  auto table = std::make_shared<std::vector<float>>();
  if (!entries(y, table.get())) return importer.refuse_float(node, 0);
  y.table = std::move(table);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status cast(Importer& importer, const NodeView& node, int to) {
  const Tensor& x = importer.input(node, 0);
  if ((x.type == to && !x.waits() && !x.quant) ||
      (to == kFloat && (x.waits() || (x.is_constant() && x.quant)))) {
    pass_on(importer, node, 0);
    return Status();
  }
  if (to == kHalf && x.waits()) return map_table(importer, node, 0, rounded_to_half);
  if (x.is_plain_constant()) {
    QRT_TRY(importer.tensors().reserve(
        static_cast<uint64_t>(x.constant->elements()) * element_bytes(to), importer.graph()));
    ConstantPtr made = cast_constant(*x.constant, to, node.integer("saturate", 1) != 0);
    if (!made)
      return importer.refuse(node,
                             std::string("a constant of type ") + element_type_name(x.type) +
                                 " is cast to " + element_type_name(to),
                             node.input(0), "store the constant in the type that the Cast makes");
    importer.set_output(node, 0, constant_tensor(std::move(made)));
    return Status();
  }
  if (!x.is_value()) return refuse_cast(importer, node, x.type, to);
  const bool is_byte_or_word =
      x.type == kUint8 || x.type == kInt8 || x.type == kUint16 || x.type == kInt16;
  if (to == kFloat && is_byte_or_word) return defer_integers(importer, node);
  if (to == kFloat && x.type == kInt32) {
    Tensor y;
    y.kind = Tensor::Kind::kValue;
    y.type = kFloat;
    y.shape = x.shape;
    y.is_dynamic = x.is_dynamic;
    y.value = importer.builder().dequantize_accumulators(node, x.value, {1.0f}, -1);
    importer.became(node, "Dequantize", "edge");
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  const bool from_byte = is_byte(x.type) || x.type == kBool;
  if (from_byte && (is_byte(to) || to == kBool)) return map_byte(importer, node, to, to == kBool);
  if (x.type == kInt64 || to == kInt64 || to == kBool || (x.type == kInt32 && to == kUint8))
    return cast_numbers(importer, node, to);
  return convert_value(importer, node, to);
}

}  // namespace

float rounded_to_half(float v) { return half_to_float(float_to_half(v)); }

ValueId float_to_half_value(Importer& importer, const SourceNode& node, ValueId x) {
  return from_float(importer, node, x, kHalf, false);
}

ValueId half_to_float_value(Importer& importer, const SourceNode& node, ValueId x) {
  return to_float(importer, node, x, kHalf, kFloat);
}

Status import_cast(Importer& importer, const NodeView& node) {
  return cast(importer, node, static_cast<int>(node.integer("to", kUndefined)));
}

Status import_cast_like(Importer& importer, const NodeView& node) {
  const Tensor& like = importer.input(node, 1);
  const bool is_real =
      like.is_table() || like.is_pending() || like.is_pair_function() || like.quant;
  return cast(importer, node, is_real ? static_cast<int>(kFloat) : like.type);
}

// Imports BitCast, another reading of the same bits, to a type as wide.
Status import_bit_cast(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const int to = static_cast<int>(node.integer("to", kUndefined));
  const auto is_byte_type = [](int type) { return is_byte(type) || type == kBool; };
  QRT_MODEL_CHECK(
      element_bytes(to) == element_bytes(x.type) && packed_bits(to) == packed_bits(x.type),
      "it reads %s as %s, which is not as wide", element_type_name(x.type), element_type_name(to));
  if (x.is_plain_constant() && packed_bits(to) == 0) {
    auto made = std::make_shared<Constant>(*x.constant);
    made->type = to;
    importer.set_output(node, 0, constant_tensor(std::move(made)));
    return Status();
  }
  if (x.is_value() && (x.type == to || (is_byte_type(x.type) && is_byte(to))))
    return x.type == to ? (importer.set_output(node, 0, x), Status())
                        : map_byte(importer, node, to, false);
  return importer.refuse(node,
                         std::string("it reads the bits of ") + element_type_name(x.type) + " as " +
                             element_type_name(to) + " at run time",
                         node.input(0), remedy_to_compute_outside(importer, node));
}

}  // namespace qrt::convert::from_onnx

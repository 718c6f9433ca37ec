// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear that stay operators of their own: with
// types, scales or blocks that no integer kernel takes, or with scales that are no constants. Those
// that feed an integer graph with constant parameters are in qdq.cc.
#include "converter/import/onnx/edge_ops.h"

#include <vector>

#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

const char kRemedy[] = "export it with an axis, a block_size and parameters whose shapes match";

bool is_float_type(int type) { return type == kFloat || type == kHalf || type == kBfloat16; }

bool is_scale_type(int type) {
  return is_float_type(type) || type == kInt32 || type == kFloat8E8M0;
}

bool is_float8(int type) { return type >= kFloat8E4M3FN && type <= kFloat8E5M2FNUZ; }

// AMD Quark's extended operators.
bool is_quark(const NodeView& node) {
  return node.domain() == "com.amd.quark" || node.domain() == "com.vai.quantize";
}

bool is_quantized_type(const NodeView& node, int type) {
  int lo, hi;
  if (quantized_range(type, &lo, &hi) || type == kUint16 || type == kInt16) return true;
  if (is_quark(node))
    return type == kInt32 || type == kUint32 || type == kHalf || type == kBfloat16;
  return is_float8(type) || type == kFloat4E2M1;
}

// Axis and block size of the graph's operator; *axis -1: per tensor.
Status read_layout(const NodeView& node, const Shape& x, const Shape& scale, int* axis,
                   int64_t* block) {
  *axis = -1;
  *block = 0;
  const int64_t n = scale.elements(), rank = x.rank();
  const int64_t given = node.integer("block_size", 0), at = node.integer("axis", 1);
  QRT_MODEL_CHECK(given >= 0, "block_size is %lld, expected 0 or more",
                  static_cast<long long>(given));
  if (n == 1) return Status();
  QRT_MODEL_CHECK(at >= -rank && at < rank, "axis %lld is outside the tensor's %d dimensions",
                  static_cast<long long>(at), x.rank());
  *axis = static_cast<int>(at < 0 ? at + rank : at);
  const int64_t depth = x[*axis];
  if (scale.rank() == 1 && given == 0 && (rank != 1 || n == depth)) {
    QRT_MODEL_CHECK(n == depth, "the scale has %lld elements, axis %d of %s needs %lld",
                    static_cast<long long>(n), *axis, x.to_string().c_str(),
                    static_cast<long long>(depth));
    return Status();
  }
  bool fits = scale.rank() == x.rank();
  for (int d = 0; fits && d < x.rank(); ++d) fits = d == *axis || scale[d] == x[d];
  QRT_MODEL_CHECK(fits, "the scale has shape %s, which is that of %s but for axis %d in no blocks",
                  scale.to_string().c_str(), x.to_string().c_str(), *axis);
  const int64_t blocks = scale[*axis];
  *block = given != 0 ? given : (depth + blocks - 1) / blocks;
  QRT_MODEL_CHECK((depth + *block - 1) / *block == blocks,
                  "blocks of %lld along axis %d of %s need %lld scales, there are %lld",
                  static_cast<long long>(*block), *axis, x.to_string().c_str(),
                  static_cast<long long>((depth + *block - 1) / *block),
                  static_cast<long long>(blocks));
  return Status();
}

// Adds scale and zero point as inputs of an edge operator whose integer side is of `type`. *done:
// false where they were refused.
Status add_parameters(Importer& importer, const NodeView& node, int type,
                      std::vector<ValueId>* inputs, bool* done) {
  *done = false;
  const Tensor& s = importer.input(node, 1);
  const ValueId scale = plain_value(importer, node.input(1), s);
  if (scale == kNoValue) return importer.refuse_float(node, 1);
  inputs->push_back(scale);
  const int64_t n = s.shape.elements();
  if (node.has_input(2)) {
    const Tensor& z = importer.input(node, 2);
    QRT_MODEL_CHECK(z.shape.elements() == n, "zero point '%s' has %lld elements, its scale %lld",
                    node.input(2).c_str(), static_cast<long long>(z.shape.elements()),
                    static_cast<long long>(n));
    *done = true;
    if (is_float8(type)) {
      for (size_t i = 0; z.is_plain_constant() && i < z.constant->data.size(); ++i)
        QRT_MODEL_CHECK(z.constant->data[i] == 0, "zero point %zu of a %s tensor is not 0", i,
                        element_type_name(type));
      return Status();
    }
    const ValueId zero_point = plain_value(importer, node.input(2), z);
    if (zero_point == kNoValue) {
      *done = false;
      return importer.refuse_float(node, 2);
    }
    inputs->push_back(zero_point);
    return Status();
  }
  if (type == kInt8) {  // 0, stored
    QRT_TRY(importer.tensors().reserve(static_cast<uint64_t>(n), importer.graph()));
    inputs->push_back(importer.graph().add_constant(
        "", DType::kUInt8, s.shape, std::vector<uint8_t>(static_cast<size_t>(n), 128)));
  }
  *done = true;
  return Status();
}

DType stored_type_of(int type) {
  DType dtype = DType::kUInt8;
  ir_type(type, &dtype);
  return dtype == DType::kInt8 ? DType::kUInt8 : dtype;
}

// Adds the node with its one output, as output 0 of the source node.
void finish(Importer& importer, const NodeView& node, Node n, const Shape& shape, int type,
            const char* result) {
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.shape = shape;
  y.type = type;
  y.value = importer.builder().new_value(node.output(0), stored_type_of(type), shape);
  n.outputs.push_back(y.value);
  importer.graph().nodes.push_back(std::move(n));
  if (type == kUint16) y.value = importer.builder().stored_uint16("", y.value);
  importer.became(node, result, "edge");
  importer.set_output(node, 0, std::move(y));
}

// Finds the type of the division: `precision`, else float32 where ONNX Runtime has a kernel, else
// the type of the scale as the specification says (int32: float64, as ONNX's reference computes
// it). Returns false for other types.
bool read_division(const NodeView& node, int x, int scale, fb::Division* division) {
  switch (node.integer("precision", 0)) {
    case 0: break;
    case kFloat: *division = fb::Division::F32; return true;
    case kHalf: *division = fb::Division::F16; return true;
    case kBfloat16: *division = fb::Division::BF16; return true;
    default: return false;
  }
  *division = fb::Division::F32;
  if (is_quark(node)) return true;
  if (scale == kHalf && x != kHalf) *division = fb::Division::F16;
  if (scale == kBfloat16) *division = fb::Division::BF16;
  if (scale == kInt32) *division = fb::Division::F64;
  return true;
}

// Returns whether QuantizeLinear makes this type and integer operators compute on it.
bool is_integer_of_scale(int type) {
  return type == kUint8 || type == kInt8 || type == kUint16 || type == kInt16;
}

}  // namespace

int quantized_type(const Importer& importer, const NodeView& node) {
  if (node.has_input(2)) return importer.input(node, 2).type;
  return static_cast<int>(node.integer("output_dtype", kUndefined));
}

bool is_plain_edge(const Importer& importer, const NodeView& node) {
  const Tensor& s = importer.input(node, 1);
  const bool zero_point_is_known =
      !node.has_input(2) || importer.input(node, 2).is_plain_constant();
  const bool in_blocks = s.shape.rank() > 1 && s.shape.elements() > 1;
  const int64_t precision = node.integer("precision", 0);
  return node.has_input(1) && s.is_plain_constant() && s.type == kFloat && zero_point_is_known &&
         !in_blocks && node.integer("block_size", 0) == 0 &&
         (precision == 0 || precision == kFloat);
}

Status emit_quantize(Importer& importer, const NodeView& node) {
  const Tensor x = importer.input(node, 0);
  const Tensor& s = importer.input(node, 1);
  int type = quantized_type(importer, node);
  if (type == kUndefined) type = kUint8;
  const int64_t asked = node.integer("output_dtype", kUndefined);
  QRT_MODEL_CHECK(asked == kUndefined || asked == type,
                  "output_dtype is %s, but the zero point is %s",
                  element_type_name(static_cast<int>(asked)), element_type_name(type));
  if (!is_quantized_type(node, type))
    return importer.refuse(node, std::string("the output is ") + element_type_name(type),
                           node.output(0), "quantise to integers of up to 16 bits or float8");
  const ValueId value = plain_value(importer, node.input(0), x);
  if (value == kNoValue || !(is_float_type(x.type) || x.type == kInt32))
    return importer.refuse_float(node, 0);
  if (!is_scale_type(s.type))
    return importer.refuse(node, std::string("the scale is ") + element_type_name(s.type),
                           node.input(1), "store the scale as float32");
  Node n = make_node<fb::QuantizeOptionsT>(node.name(), node.op(), {value}, {});
  auto& o = options<fb::QuantizeOptionsT>(n);
  int64_t block;
  QRT_TRY(read_layout(node, x.shape, s.shape, &o.axis, &block));
  if (block > INT32_MAX)
    return importer.refuse(node, "a block of " + std::to_string(block), node.input(1), kRemedy);
  o.block_size = static_cast<uint32_t>(block);
  o.saturate = node.integer("saturate", 1) != 0;
  if (!read_division(node, x.type, s.type, &o.division))
    return importer.refuse(node, "it divides in another precision than float32, float16, bfloat16",
                           node.output(0),
                           "set its attribute precision to one of these, or leave it out");
  // ONNX Runtime limits before it converts where its vector kernels run; elsewhere, and in ONNX's
  // reference, the sum of an int32 conversion wraps.
  const bool vector =
      x.type == kFloat && s.type == kFloat && (block == 0 || o.axis == x.shape.rank() - 1);
  o.overflow = vector ? fb::Overflow::SATURATE : fb::Overflow::INT32;
  if (is_quark(node)) o.overflow = fb::Overflow::INT64;
  o.offset = type == kInt8 ? 128 : 0;
  bool done;
  QRT_TRY(add_parameters(importer, node, type, &n.inputs, &done));
  if (done) finish(importer, node, std::move(n), x.shape, type, "Quantize");
  return Status();
}

Status emit_dequantize(Importer& importer, const NodeView& node) {
  const Tensor x = importer.input(node, 0);
  const Tensor& s = importer.input(node, 1);
  const int64_t asked = node.integer("output_dtype", kUndefined);
  const int type = asked == kUndefined ? s.type : static_cast<int>(asked);
  const ValueId value = plain_value(importer, node.input(0), x);
  const bool known = is_quantized_type(node, x.type) || x.type == kInt32;
  if (value == kNoValue || !known)
    return importer.refuse(node, "input '" + node.input(0) + "' is " + element_type_name(x.type),
                           node.input(0), "quantise to integers of up to 16 bits or float8");
  if (node.has_input(2)) {
    const int z = importer.input(node, 2).type;
    QRT_MODEL_CHECK(z == x.type, "zero point '%s' is %s, its tensor %s", node.input(2).c_str(),
                    element_type_name(z), element_type_name(x.type));
  }
  if (!is_scale_type(s.type) || !is_float_type(type))
    return importer.refuse(node,
                           std::string("its scale is ") + element_type_name(s.type) +
                               " and its output " + element_type_name(type),
                           node.input(1), "make scale and output float32");
  Node n = make_node<fb::DequantizeOptionsT>(node.name(), node.op(), {value}, {});
  auto& o = options<fb::DequantizeOptionsT>(n);
  int64_t block;
  QRT_TRY(read_layout(node, x.shape, s.shape, &o.axis, &block));
  if (block > INT32_MAX)
    return importer.refuse(node, "a block of " + std::to_string(block), node.input(1), kRemedy);
  o.block_size = static_cast<uint32_t>(block);
  bool done;
  QRT_TRY(add_parameters(importer, node, x.type, &n.inputs, &done));
  if (done) finish(importer, node, std::move(n), x.shape, type, "Dequantize");
  return Status();
}

Status import_extended_quantize(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const int type = quantized_type(importer, node);
  const bool is_plain = is_integer_of_scale(type) || type == kUndefined;
  if (x.is_value() || (x.is_plain_constant() && !is_plain)) return emit_quantize(importer, node);
  return import_quantize(importer, node);
}

Status import_extended_dequantize(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (x.is_value() && !is_integer_of_scale(x.type)) return emit_dequantize(importer, node);
  return import_dequantize(importer, node);
}

Status import_dynamic_quantize(Importer& importer, const NodeView& node) {
  const Tensor x = importer.input(node, 0);
  const ValueId value = plain_value(importer, node.input(0), x);
  if (value == kNoValue || x.type != kFloat) return importer.refuse_float(node, 0);
  Node n = make_node<fb::DynamicQuantizeOptionsT>(node.name(), node.op(), {value}, {});
  const int types[] = {kUint8, kFloat, kUint8};
  for (int i = 0; i < 3; ++i) {
    Tensor y;
    y.kind = Tensor::Kind::kValue;
    y.shape = i == 0 ? x.shape : Shape();
    y.type = types[i];
    y.is_dynamic = i == 1;
    y.value = importer.builder().new_value(node.output(i), stored_type_of(y.type), y.shape);
    n.outputs.push_back(y.value);
    importer.set_output(node, i, std::move(y));
  }
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "DynamicQuantize", "edge");
  return Status();
}

}  // namespace qrt::convert::from_onnx

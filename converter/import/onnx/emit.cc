// The building blocks handlers add to the graph: values, tables, data movement.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/importer.h"
#include "kernels/edge/packed.h"

namespace qrt::convert::from_onnx {
namespace {

Quantization stored_quantization(const Quant& quant) {
  std::vector<int32_t> zero_points;
  for (size_t i = 0; i < quant.zero_point.size(); ++i)
    zero_points.push_back(quant.stored_zero_point(i));
  return quantization_of(quant.scale, std::move(zero_points), quant.axis);
}

bool same(const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point && a.axis == b.axis;
}

// Integers of a stored type, UINT8 or INT16.
ValueId add_stored(Graph* graph, const std::string& name, DType dtype, const Shape& shape,
                   const std::vector<int32_t>& stored) {
  if (dtype == DType::kInt16)
    return graph->add_constant(name, dtype, shape,
                               std::vector<int16_t>(stored.begin(), stored.end()));
  return graph->add_constant(name, dtype, shape,
                             std::vector<uint8_t>(stored.begin(), stored.end()));
}

// A permuted reading of per-axis parameters.
Quantization permuted(Quantization q, const std::vector<int>& perm) {
  if (q.axis < 0) return q;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != q.axis) continue;
    q.axis = static_cast<int>(i);
    break;
  }
  return q;
}

}  // namespace

Quantization quantization_of(const std::vector<float>& scale, std::vector<int32_t> zero_point,
                             int axis) {
  for (float s : scale)
    if (!std::isfinite(s) || !(s > 0.0f)) return Quantization();
  return {scale, std::move(zero_point), axis};
}

ValueId Importer::new_value(const std::string& name, DType dtype, const Shape& shape,
                            const Quant* quant) {
  Value v;
  v.name = name;
  v.type = {dtype, shape};
  if (quant) v.quantization = stored_quantization(*quant);
  return graph_->add_value(std::move(v));
}

ValueId Importer::new_lut(const NodeView& node, ValueId x, const std::vector<uint8_t>& table,
                          bool per_channel, const std::string& name, const Quant* quant) {
  const Shape shape = shape_of(x);
  Node lut = make_node<fb::LutOptionsT>(node.name(), node.op(), {x}, {});
  options<fb::LutOptionsT>(lut).per_channel = per_channel;
  const Shape table_shape =
      per_channel ? Shape{static_cast<int64_t>(table.size() / 256), 256} : Shape{256};
  lut.inputs.push_back(graph_->add_constant("", DType::kUInt8, table_shape, table));
  const ValueId y = new_value(name, DType::kUInt8, shape, quant);
  lut.outputs.push_back(y);
  graph_->nodes.push_back(std::move(lut));
  if (in_nhwc(x)) mark_nhwc(y);
  return y;
}

ValueId Importer::new_wide_lut(const NodeView& node, ValueId x, const std::vector<int32_t>& table,
                               DType dtype, const Quant* quant) {
  const ValueId y = new_value("", dtype, shape_of(x), quant);
  Node lut = make_node<fb::LutOptionsT>(node.name(), node.op(), {x}, {y});
  lut.inputs.push_back(add_stored(graph_, "", dtype, {static_cast<int64_t>(table.size())}, table));
  graph_->nodes.push_back(std::move(lut));
  if (in_nhwc(x)) mark_nhwc(y);
  return y;
}

ValueId Importer::widened(const NodeView& node, ValueId x) {
  if (graph_->values[x].type.dtype == DType::kInt16) return x;
  std::vector<int32_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(i);
  const ValueId y = new_wide_lut(node, x, table, DType::kInt16, nullptr);
  graph_->values[y].quantization = graph_->values[x].quantization;
  return y;
}

ValueId Importer::narrowed(const NodeView& node, ValueId x, const Quant* quant) {
  std::vector<int32_t> table(65536);
  for (int i = 0; i < 65536; ++i)
    table[static_cast<size_t>(i)] = i < 32768 ? 0 : std::min(i - 32768, 255);
  return new_wide_lut(node, x, table, DType::kUInt8, quant);
}

ValueId Importer::flip_16(const std::string& name, ValueId x, DType dtype) {
  if (const auto known = other_16_.find(x); known != other_16_.end()) return known->second;
  const ValueId bit =
      graph_->add_constant("", graph_->values[x].type.dtype, {}, std::vector<uint16_t>{32768});
  const ValueId y = new_value(name, dtype, shape_of(x));
  Quantization quantization = graph_->values[x].quantization;
  for (int32_t& z : quantization.zero_point) z += dtype == DType::kInt16 ? -32768 : 32768;
  graph_->values[y].quantization = std::move(quantization);
  Node n = make_node<fb::IntegerOptionsT>(name, "uint16", {x, bit}, {y});
  options<fb::IntegerOptionsT>(n).function = fb::IntegerFunction::XOR;
  graph_->nodes.push_back(std::move(n));
  other_16_[x] = y;
  other_16_[y] = x;
  return y;
}

ValueId Importer::stored_uint16(const std::string& name, ValueId raw) {
  return flip_16(name, raw, DType::kInt16);
}

ValueId Importer::raw_uint16(const std::string& name, ValueId stored) {
  return flip_16(name, stored, DType::kUInt16);
}

ValueId Importer::dequantize_accumulators(const NodeView& node, ValueId acc,
                                          const std::vector<float>& scale, int axis) {
  const ValueId y = new_value("", DType::kFloat32, shape_of(acc));
  Node d = make_node<fb::DequantizeOptionsT>(node.name(), node.op(), {acc}, {y});
  auto& o = options<fb::DequantizeOptionsT>(d);
  for (float s : scale) o.scale.push_back(float_bits(s));
  o.zero_point.assign(scale.size(), 0);
  o.axis = axis;
  graph_->nodes.push_back(std::move(d));
  return y;
}

ValueId Importer::new_float_lut(const NodeView& node, ValueId x, const std::vector<float>& table,
                                const std::string& name) {
  std::vector<uint8_t> bytes(table.size() * sizeof(float));
  __builtin_memcpy(bytes.data(), table.data(), bytes.size());
  const ValueId y = new_value(name, DType::kFloat32, shape_of(x));
  Node lut = make_node<fb::LutOptionsT>(node.name(), node.op(), {x}, {y});
  options<fb::LutOptionsT>(lut).to_float = true;
  options<fb::LutOptionsT>(lut).per_channel =
      table.size() > 256 && graph_->values[x].type.dtype != DType::kInt16;
  const Shape table_shape{static_cast<int64_t>(bytes.size())};
  lut.inputs.push_back(graph_->add_constant("", DType::kUInt8, table_shape, bytes));
  graph_->nodes.push_back(std::move(lut));
  return y;
}

ValueId Importer::flip_sign(const std::string& name, const char* source_op, ValueId x,
                            DType dtype) {
  return map_type(name, source_op, x, dtype, 128);
}

ValueId Importer::relabel(const std::string& name, const char* source_op, ValueId x, DType dtype) {
  return map_type(name, source_op, x, dtype, 0);
}

ValueId Importer::map_type(const std::string& name, const char* source_op, ValueId x, DType dtype,
                           uint8_t flip) {
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i ^ flip);
  const ValueId y = new_value(name, dtype, shape_of(x));
  Node lut = make_node<fb::LutOptionsT>(name, source_op, {x}, {y});
  lut.inputs.push_back(graph_->add_constant("", DType::kUInt8, {256}, table));
  graph_->nodes.push_back(std::move(lut));
  return y;
}

ValueId Importer::transpose(const NodeView& node, ValueId x, const std::vector<int>& perm,
                            const std::string& name) {
  const TensorType type = graph_->values[x].type;
  Shape shape;
  for (int p : perm) shape.push_back(type.shape[p]);
  const ValueId y = new_value(name, type.dtype, shape);
  graph_->values[y].quantization = permuted(graph_->values[x].quantization, perm);
  Node n = make_node<fb::TransposeOptionsT>(node.name(), node.op(), {x}, {y});
  options<fb::TransposeOptionsT>(n).perm.assign(perm.begin(), perm.end());
  graph_->nodes.push_back(std::move(n));
  return y;
}

ValueId Importer::reshape(const NodeView& node, ValueId x, const Shape& shape,
                          const std::string& name) {
  const ValueId y = new_value(name, graph_->values[x].type.dtype, shape);
  if (graph_->values[x].quantization.axis < 0 || shape == shape_of(x))
    graph_->values[y].quantization = graph_->values[x].quantization;
  Node n = make_node<fb::ReshapeOptionsT>(node.name(), node.op(), {x}, {y});
  options<fb::ReshapeOptionsT>(n).shape.assign(shape.begin(), shape.end());
  graph_->nodes.push_back(std::move(n));
  return y;
}

ValueId Importer::gather(const NodeView& node, ValueId x, const IndexMaps& maps, int64_t fill) {
  const ValueId y = new_value("", graph_->values[x].type.dtype, maps.to());
  const Quantization& quantization = graph_->values[x].quantization;
  if (quantization.axis < 0 || !maps.has(quantization.axis))
    graph_->values[y].quantization = quantization;
  Node n = make_node<fb::GatherOptionsT>(node.name(), node.op(), {x}, {y});
  options<fb::GatherOptionsT>(n) = maps.options(fill);
  graph_->nodes.push_back(std::move(n));
  if (in_nhwc(x)) mark_nhwc(y);
  return y;
}

ValueId Importer::to_nhwc(const NodeView& node, ValueId x) {
  if (const auto known = nhwc_form_.find(x); known != nhwc_form_.end()) return known->second;
  const ValueId y = transpose(node, x, {0, 2, 3, 1});
  nhwc_form_.emplace(x, y);
  return y;
}

ValueId Importer::from_nhwc(const NodeView& node, ValueId x, const std::string& name) {
  const ValueId y = transpose(node, x, {0, 3, 1, 2}, name);
  nhwc_form_.emplace(y, x);
  return y;
}

ValueId Importer::axis_last(const NodeView& node, ValueId x, int axis) {
  const int rank = shape_of(x).rank();
  if (axis == rank - 1) return x;
  if (axis == 1 && rank == 4) return to_nhwc(node, x);
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  return transpose(node, x, perm);
}

ValueId Importer::axis_back(const NodeView& node, ValueId y, int axis, const std::string& name) {
  const int rank = shape_of(y).rank();
  if (axis == rank - 1) return y;
  if (axis == 1 && rank == 4) return from_nhwc(node, y, name);
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
  return transpose(node, y, perm, name);
}

ValueId Importer::with_quant(const NodeView& node, ValueId x, const Quant& quant) {
  const Quantization wanted = stored_quantization(quant);
  if (graph_->values[x].quantization.scale.empty()) graph_->values[x].quantization = wanted;
  if (same(graph_->values[x].quantization, wanted)) return x;
  const ValueId copy = reshape(node, x, shape_of(x));
  graph_->values[copy].quantization = wanted;
  if (in_nhwc(x)) mark_nhwc(copy);
  return copy;
}

ValueId Importer::plain_value(const std::string& name, const Tensor& tensor) {
  if (tensor.is_value() && tensor.type == kUint16) return raw_uint16("", tensor.value);
  if (tensor.is_value()) return tensor.value;
  DType dtype;
  if (!tensor.is_plain_constant() || !ir_type(tensor.type, &dtype)) return kNoValue;
  std::vector<uint8_t> bytes = tensor.constant->data;
  if (dtype == DType::kInt8) {
    for (uint8_t& b : bytes) b ^= 128;
    dtype = DType::kUInt8;
  }
  if (const int bits = packed_bits(tensor.type); bits != 0) {
    bytes.resize(tensor_bytes({dtype, tensor.shape}));
    pack_codes(bits, tensor.constant->data.data(), tensor.constant->data.size(), bytes.data());
  }
  return graph_->add_constant(name, dtype, tensor.shape, bytes);
}

ValueId Importer::stored_constant(const Constant& constant, const Quant& quant,
                                  const std::string& name) {
  std::vector<int32_t> stored(static_cast<size_t>(constant.elements()));
  for (size_t i = 0; i < stored.size(); ++i)
    stored[i] = static_cast<int32_t>(constant.integer(static_cast<int64_t>(i)) + quant.offset());
  const ValueId id = add_stored(graph_, name, quant.stored_type(), constant.shape, stored);
  graph_->values[id].quantization = stored_quantization(quant);
  return id;
}

ValueId Importer::quantized_constant(const std::vector<float>& real, const Shape& shape,
                                     const Quant& out, Limits limits) {
  int lo, hi;
  quantized_range(out.type, &lo, &hi);
  std::vector<int32_t> stored;
  for (float v : real)
    stored.push_back(
        std::clamp(quantize_ort(v, out.scale[0], out.zero_point[0], lo, hi) + out.offset(),
                   limits.lo, limits.hi));
  return add_stored(graph_, "", out.stored_type(), shape, stored);
}

}  // namespace qrt::convert::from_onnx

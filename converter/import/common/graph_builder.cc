// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/graph_builder.h"

#include <algorithm>
#include <cstring>

namespace qrt::convert {
namespace {

// Returns the quantisation of a permuted tensor.
Quantization permuted(Quantization q, const std::vector<int>& perm) {
  if (q.axis < 0) return q;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != q.axis) continue;
    q.axis = static_cast<int>(i);
    break;
  }
  return q;
}

std::vector<uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!values.empty()) memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

ValueId GraphBuilder::new_value(const std::string& name, DType dtype, const Shape& shape,
                                const Quant* quant) {
  Value v;
  v.name = name;
  v.type = {dtype, shape};
  if (quant) v.quantization = stored_quantization(*quant);
  return graph_->add_value(std::move(v));
}

ValueId GraphBuilder::stored_constant(const std::string& name, DType dtype, const Shape& shape,
                                      const std::vector<int32_t>& stored) {
  if (dtype == DType::kInt16)
    return graph_->add_constant(name, dtype, shape,
                                std::vector<int16_t>(stored.begin(), stored.end()));
  return graph_->add_constant(name, dtype, shape,
                              std::vector<uint8_t>(stored.begin(), stored.end()));
}

ValueId GraphBuilder::lut(const SourceNode& node, ValueId x, const std::vector<uint8_t>& table,
                          bool per_channel, const std::string& name, const Quant* quant) {
  const Shape table_shape =
      per_channel ? Shape{static_cast<int64_t>(table.size() / 256), 256} : Shape{256};
  const ValueId constant = graph_->add_constant("", DType::kUInt8, table_shape, table);
  const ValueId y = new_value(name, DType::kUInt8, shape_of(x), quant);
  add<fb::LutOptionsT>(node, {x, constant}, y).per_channel = per_channel;
  pass_mark(x, y);
  return y;
}

ValueId GraphBuilder::int16_lut(const SourceNode& node, ValueId x,
                                const std::vector<int32_t>& table, DType dtype,
                                const std::string& name, const Quant* quant) {
  const ValueId y = new_value(name, dtype, shape_of(x), quant);
  const ValueId constant = stored_constant("", dtype, {static_cast<int64_t>(table.size())}, table);
  add<fb::LutOptionsT>(node, {x, constant}, y);
  pass_mark(x, y);
  return y;
}

ValueId GraphBuilder::float_lut(const SourceNode& node, ValueId x, const std::vector<float>& table,
                                const std::string& name) {
  const std::vector<uint8_t> bytes = bytes_of(table);
  const ValueId y = new_value(name, DType::kFloat32, shape_of(x));
  const ValueId constant =
      graph_->add_constant("", DType::kUInt8, {static_cast<int64_t>(bytes.size())}, bytes);
  const bool is_int16 = type_of(x) == DType::kInt16;
  auto& o = add<fb::LutOptionsT>(node, {x, constant}, y);
  o.to_float = true;
  o.per_channel = table.size() > 256 && !is_int16;
  return y;
}

ValueId GraphBuilder::pair_lut(const SourceNode& node, ValueId a, ValueId b, const Shape& shape,
                               DType dtype, const std::vector<uint8_t>& table, const Quant* quant) {
  for (ValueId* v : {&a, &b})
    if (*v == kNoValue) *v = graph_->add_constant("", DType::kUInt8, {}, std::vector<uint8_t>{0});
  Shape made;
  broadcast(shape_of(a), shape_of(b), &made);
  const ValueId constant =
      graph_->add_constant("", DType::kUInt8, {static_cast<int64_t>(table.size())}, table);
  const ValueId y = new_value("", dtype, made, quant);
  add<fb::PairLutOptionsT>(node, {a, b, constant}, y).to_float = dtype == DType::kFloat32;
  pass_mark(a, y);
  pass_mark(b, y);
  // A constant of one element may have had more dimensions, so the result is reshaped.
  return made == shape ? y : reshape(node, y, shape);
}

ValueId GraphBuilder::widened(const SourceNode& node, ValueId x) {
  if (type_of(x) == DType::kInt16) return x;
  std::vector<int32_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(i);
  const ValueId y = int16_lut(node, x, table, DType::kInt16, "", nullptr);
  graph_->values[y].quantization = graph_->values[x].quantization;
  return y;
}

ValueId GraphBuilder::narrowed(const SourceNode& node, ValueId x, const Quant* quant) {
  std::vector<int32_t> table(65536);
  for (int i = 0; i < 65536; ++i)
    table[static_cast<size_t>(i)] = i < 32768 ? 0 : std::min(i - 32768, 255);
  return int16_lut(node, x, table, DType::kUInt8, "", quant);
}

ValueId GraphBuilder::flip_sign(const SourceNode& node, ValueId x, DType dtype) {
  return map_bytes(node, x, dtype, 128);
}

ValueId GraphBuilder::relabel(const SourceNode& node, ValueId x, DType dtype) {
  return map_bytes(node, x, dtype, 0);
}

ValueId GraphBuilder::map_bytes(const SourceNode& node, ValueId x, DType dtype, uint8_t flip) {
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i ^ flip);
  const ValueId y = new_value(node.name, dtype, shape_of(x));
  const ValueId constant = graph_->add_constant("", DType::kUInt8, {256}, table);
  add<fb::LutOptionsT>(node, {x, constant}, y);
  return y;
}

ValueId GraphBuilder::stored_uint16(const std::string& name, ValueId raw) {
  return flip_16(name, raw, DType::kInt16);
}

ValueId GraphBuilder::raw_uint16(const std::string& name, ValueId stored) {
  return flip_16(name, stored, DType::kUInt16);
}

ValueId GraphBuilder::flip_16(const std::string& name, ValueId x, DType dtype) {
  if (const auto known = other_16_.find(x); known != other_16_.end()) return known->second;
  const ValueId bit = graph_->add_constant("", type_of(x), {}, std::vector<uint16_t>{32768});
  const ValueId y = new_value(name, dtype, shape_of(x));
  Quantization quantization = graph_->values[x].quantization;
  for (int32_t& z : quantization.zero_point) z += dtype == DType::kInt16 ? -32768 : 32768;
  graph_->values[y].quantization = std::move(quantization);
  add<fb::IntegerOptionsT>({name, "uint16"}, {x, bit}, y).function = fb::IntegerFunction::XOR;
  other_16_[x] = y;
  other_16_[y] = x;
  return y;
}

ValueId GraphBuilder::transpose(const SourceNode& node, ValueId x, const std::vector<int>& perm,
                                const std::string& name) {
  Shape shape;
  for (int p : perm) shape.push_back(shape_of(x)[p]);
  const ValueId y = new_value(name, type_of(x), shape);
  graph_->values[y].quantization = permuted(graph_->values[x].quantization, perm);
  add<fb::TransposeOptionsT>(node, {x}, y).perm.assign(perm.begin(), perm.end());
  return y;
}

ValueId GraphBuilder::reshape(const SourceNode& node, ValueId x, const Shape& shape,
                              const std::string& name) {
  const ValueId y = new_value(name, type_of(x), shape);
  if (graph_->values[x].quantization.axis < 0 || shape == shape_of(x))
    graph_->values[y].quantization = graph_->values[x].quantization;
  add<fb::ReshapeOptionsT>(node, {x}, y).shape.assign(shape.begin(), shape.end());
  return y;
}

ValueId GraphBuilder::concat(const SourceNode& node, const std::vector<ValueId>& parts, int axis,
                             const std::string& name) {
  Shape shape = shape_of(parts[0]);
  shape[axis] = 0;
  for (ValueId part : parts) shape[axis] += shape_of(part)[axis];
  const ValueId y = new_value(name, type_of(parts[0]), shape);
  add<fb::ConcatOptionsT>(node, parts, y).axis = static_cast<uint32_t>(axis);
  for (ValueId part : parts) pass_mark(part, y);
  return y;
}

ValueId GraphBuilder::gather(const SourceNode& node, ValueId x, const IndexMaps& maps, int64_t fill,
                             const std::string& name) {
  const ValueId y = new_value(name, type_of(x), maps.to());
  const Quantization& quantization = graph_->values[x].quantization;
  if (quantization.axis < 0 || !maps.has(quantization.axis))
    graph_->values[y].quantization = quantization;
  add<fb::GatherOptionsT>(node, {x}, y) = maps.options(fill);
  pass_mark(x, y);
  return y;
}

namespace {

// Returns the permutation that makes `axis` the last dimension, or the last dimension `axis`.
std::vector<int> moved_axis(int rank, int axis, bool to_last) {
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i) {
    if (to_last)
      perm.push_back(i == rank - 1 ? axis : i < axis ? i : i + 1);
    else
      perm.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
  }
  return perm;
}

}  // namespace

ValueId GraphBuilder::to_nhwc(const SourceNode& node, ValueId x) {
  if (const auto known = nhwc_form_.find(x); known != nhwc_form_.end()) return known->second;
  const ValueId y = transpose(node, x, moved_axis(shape_of(x).rank(), 1, true));
  nhwc_form_.emplace(x, y);
  return y;
}

ValueId GraphBuilder::from_nhwc(const SourceNode& node, ValueId x, const std::string& name) {
  const ValueId y = transpose(node, x, moved_axis(shape_of(x).rank(), 1, false), name);
  nhwc_form_.emplace(y, x);
  return y;
}

ValueId GraphBuilder::axis_last(const SourceNode& node, ValueId x, int axis) {
  const int rank = shape_of(x).rank();
  if (axis == rank - 1) return x;
  if (axis == 1 && rank >= 4) return to_nhwc(node, x);
  return transpose(node, x, moved_axis(rank, axis, true));
}

ValueId GraphBuilder::axis_back(const SourceNode& node, ValueId y, int axis,
                                const std::string& name) {
  const int rank = shape_of(y).rank();
  if (axis == rank - 1) return y;
  if (axis == 1 && rank >= 4) return from_nhwc(node, y, name);
  return transpose(node, y, moved_axis(rank, axis, false), name);
}

namespace {

// Returns the Transpose or Reshape among the latest nodes that made x, or null.
const Node* last_mover(const Graph& graph, ValueId x) {
  constexpr size_t kLatest = 8;
  const std::vector<Node>& nodes = graph.nodes;
  for (size_t i = nodes.size(); i-- > 0 && i + kLatest >= nodes.size();) {
    const Node& node = nodes[i];
    if (!node.outputs.empty() && node.outputs[0] == x)
      return node.options.AsTranspose() || node.options.AsReshape() ? &node : nullptr;
  }
  return nullptr;
}

}  // namespace

ValueId GraphBuilder::with_quant(const SourceNode& node, ValueId x, const Quant& quant) {
  const Quantization wanted = stored_quantization(quant);
  // Values that were only moved to x get the quantisation, too: passes let other nodes read them.
  for (ValueId v = x; graph_->values[v].quantization.scale.empty();) {
    graph_->values[v].quantization = wanted;
    const Node* mover = wanted.axis < 0 ? last_mover(*graph_, v) : nullptr;
    if (!mover) break;
    v = mover->inputs[0];
  }
  if (same(graph_->values[x].quantization, wanted)) return x;
  const ValueId copy = reshape(node, x, shape_of(x));
  graph_->values[copy].quantization = wanted;
  pass_mark(x, copy);
  return copy;
}

ValueId GraphBuilder::min_max(const SourceNode& node, ValueId a, ValueId b, bool maximum,
                              const Quant* quant) {
  Shape shape;
  broadcast(shape_of(a), shape_of(b), &shape);
  const ValueId y = new_value("", type_of(a), shape, quant);
  add<fb::MinMaxOptionsT>(node, {a, b}, y).maximum = maximum;
  pass_mark(a, y);
  pass_mark(b, y);
  return y;
}

ValueId GraphBuilder::choose(const SourceNode& node, ValueId condition, ValueId a, ValueId b,
                             const Quant* quant) {
  const ValueId y = new_value("", type_of(a), shape_of(a), quant);
  add<fb::ChooseOptionsT>(node, {condition, a, b}, y);
  return y;
}

ValueId GraphBuilder::dequantize_accumulators(const SourceNode& node, ValueId acc,
                                              const std::vector<float>& scale, int axis) {
  const ValueId y = new_value("", DType::kFloat32, shape_of(acc));
  auto& o = add<fb::DequantizeOptionsT>(node, {acc}, y);
  for (float s : scale) o.scale.push_back(float_bits(s));
  o.zero_point.assign(scale.size(), 0);
  o.axis = axis;
  return y;
}

}  // namespace qrt::convert

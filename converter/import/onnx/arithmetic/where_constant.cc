#include "converter/import/onnx/arithmetic/where_constant.h"

#include <cstring>

namespace qrt::convert::from_onnx {
namespace {

// What the zero point of a Q/DQ node says of its integers.
int stored_type(const Importer& importer, const NodeView& node) {
  const bool has_zero_point = node.input_count() > 2 && !node.input(2).empty();
  return has_zero_point ? importer.input(node, 2).type : kUndefined;
}

const NodeView* producer(const Importer& importer, const std::string& tensor) {
  const int index = importer.model().producer(tensor);
  return index < 0 ? nullptr : &importer.node(index);
}

}  // namespace

Tensor where_input(const Importer& importer, const NodeView& node, int i) {
  Tensor t = importer.input(node, i);
  if (!t.is_plain_constant() || t.type != kFloat || t.shape.rank() != 0) return t;
  const NodeView* other = producer(importer, node.input(3 - i));
  const std::vector<int>& readers = importer.model().readers(node.output(0));
  if (!other || other->op() != "DequantizeLinear" || readers.size() != 1) return t;
  const NodeView& reader = importer.node(readers[0]);
  const int type = stored_type(importer, *other);
  int lo, hi;
  if (reader.op() != "QuantizeLinear" || stored_type(importer, reader) != type ||
      !(type == kUint8 || type == kInt8 || type == kUint16 || type == kInt16) ||
      !quantized_range(type, &lo, &hi))
    return t;
  const float value = t.constant->real(0);
  if (value == 0.0f) return t;
  const int zero_point = lo == 0 ? hi / 2 : 0;
  const auto distance = static_cast<float>((value > 0.0f ? hi : lo) - zero_point);
  const float scale = value / distance, taken = distance * scale;
  auto constant = std::make_shared<Constant>(*t.constant);
  std::memcpy(constant->data.data(), &taken, sizeof(taken));
  t.constant = std::move(constant);
  return t;
}

}  // namespace qrt::convert::from_onnx

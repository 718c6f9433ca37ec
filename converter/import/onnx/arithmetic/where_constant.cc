// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/arithmetic/where_constant.h"

#include <cstring>

#include "converter/import/onnx/edge_ops.h"

namespace qrt::convert::from_onnx {
Tensor where_input(const Importer& importer, const NodeView& node, int i) {
  Tensor t = importer.input(node, i);
  if (!t.is_plain_constant() || t.type != kFloat || t.shape.rank() != 0) return t;
  const NodeView* other = importer.producer(node.input(3 - i));
  const std::vector<int>& readers = importer.model().readers(node.output(0));
  if (!other || other->op() != "DequantizeLinear" || !other->has_input(2) || readers.size() != 1)
    return t;
  const NodeView& reader = importer.node(readers[0]);
  const int type = importer.input(*other, 2).type;
  int lo, hi;
  if (reader.op() != "QuantizeLinear" || quantized_type(importer, reader) != type ||
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

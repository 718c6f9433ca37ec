#include "converter/import/onnx/double_qdq.h"

#include <algorithm>
#include <cmath>

namespace qrt::convert::from_onnx {
namespace {

bool is(const NodeView& node, const char* op) {
  return node.op() == op && node.integer("block_size", 0) == 0;
}

// The pair that stands for both; false where their ranges have nothing in common.
bool intersect(const Quant& a, const Quant& b, Quant* result) {
  const auto [lo, hi] = Limits::of_source(a);
  const auto real = [](const Quant& q, int v) {
    return static_cast<float>(v - q.zero_point[0]) * q.scale[0];
  };
  const float least = std::max(real(a, lo), real(b, lo));
  const float most = std::min(real(a, hi), real(b, hi));
  const float scale = (most - least) / static_cast<float>(hi - lo);
  const float zero = std::round(static_cast<float>(lo) - least / scale);
  if (!(scale > 0.0f) || !(zero >= static_cast<float>(lo) && zero <= static_cast<float>(hi)))
    return false;
  *result = a;
  result->scale[0] = scale;
  result->zero_point[0] = static_cast<int32_t>(zero);
  return true;
}

// The node that makes a node's first input, looking through Identity, if nothing else reads it; else
// null.
const NodeView* sole_producer(const Model& model, const DoubleQdq::Nodes& nodes,
                              const NodeView& node) {
  const NodeView* reader = &node;
  while (model.uses(reader->input(0)) == 1) {
    const int at = model.producer(reader->input(0));
    if (at < 0) return nullptr;
    reader = nodes[static_cast<size_t>(at)].get();
    if (reader->op() != "Identity" && reader->op() != "Dropout") return reader;
    if (!reader->has_input(0)) return nullptr;
  }
  return nullptr;
}

}  // namespace

const Quant* DoubleQdq::quant(const NodeView& node) const {
  const auto found = merged_.find(node.index());
  return found == merged_.end() ? nullptr : &found->second;
}

// ONNX Runtime wants parameters that are constant, of one element and with explicit zero points.
bool DoubleQdq::read(const Tensors& tensors, const NodeView& node, Quant* result) const {
  if (const Quant* merged = quant(node)) {
    *result = *merged;
    return true;
  }
  const Tensor &s = tensors.input(node, 1), &z = tensors.input(node, 2);
  if (!s.is_plain_constant() || s.type != kFloat || s.constant->elements() != 1 ||
      !z.is_plain_constant() || z.constant->elements() != 1 ||
      (z.type != kUint8 && z.type != kInt8))
    return false;
  *result = tensor_quant(z.type == kUint8 ? DType::kUInt8 : DType::kInt8, s.constant->real(0),
                         static_cast<int32_t>(z.constant->integer(0)));
  return true;
}

bool DoubleQdq::pair_quant(const Tensors& tensors, const NodeView& q, const NodeView& dq,
                           Quant* result) const {
  Quant other;
  return read(tensors, q, result) && read(tensors, dq, &other) && *result == other;
}

void DoubleQdq::merge(const Model& model, const Nodes& nodes, const Tensors& tensors) {
  // Of a DequantizeLinear that was merged: its pair's first node.
  std::unordered_map<int, const NodeView*> source;
  for (int i : model.execution_order()) {
    const NodeView& last = *nodes[static_cast<size_t>(i)];
    if (!is(last, "DequantizeLinear")) continue;
    const NodeView* q2 = sole_producer(model, nodes, last);
    if (!q2 || !is(*q2, "QuantizeLinear")) continue;
    const NodeView* dq1 = sole_producer(model, nodes, *q2);
    if (!dq1 || !is(*dq1, "DequantizeLinear")) continue;
    const auto known = source.find(dq1->index());
    const NodeView* q1 = known != source.end() ? known->second : sole_producer(model, nodes, *dq1);
    if (!q1 || !is(*q1, "QuantizeLinear")) continue;
    Quant a, b, common;
    if (!pair_quant(tensors, *q1, *dq1, &a) || !pair_quant(tensors, *q2, last, &b) ||
        a.type != b.type)
      continue;
    common = a;
    if (a != b && !intersect(a, b, &common)) continue;
    merged_.erase(dq1->index());
    bypassed_.insert(dq1->index());
    bypassed_.insert(q2->index());
    merged_[q1->index()] = common;
    merged_[last.index()] = common;
    source[last.index()] = q1;
  }
}

}  // namespace qrt::convert::from_onnx

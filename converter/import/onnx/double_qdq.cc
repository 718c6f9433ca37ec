// Two QuantizeLinear/DequantizeLinear pairs in a row. ONNX Runtime makes them one, whose range is
// what the two ranges have in common, before it fuses anything; so must we.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx/importer.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

bool is(const NodeView& node, const char* op) {
  return node.op() == op && node.integer("block_size", 0) == 0;
}

// The pair that stands for both; false where their ranges have nothing in common.
bool intersect(const Quant& a, const Quant& b, Quant* result) {
  int lo, hi;
  quantized_range(a.type, &lo, &hi);
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

}  // namespace

const NodeView* Importer::sole_producer(const NodeView& node) const {
  const NodeView* reader = &node;
  while (model_.uses(reader->input(0)) == 1) {
    const int at = model_.producer(reader->input(0));
    if (at < 0) return nullptr;
    reader = nodes_[static_cast<size_t>(at)].get();
    if (reader->op() != "Identity" && reader->op() != "Dropout") return reader;
    if (!reader->has_input(0)) return nullptr;
  }
  return nullptr;
}

// The parameters of a pair, which ONNX Runtime wants equal, constant, of one element and with
// explicit zero points.
bool Importer::pair_quant(const NodeView& q, const NodeView& dq, Quant* result) const {
  const auto read = [this](const NodeView& node, Quant* quant) {
    if (const auto merged = merged_.find(node.index()); merged != merged_.end()) {
      *quant = merged->second;
      return true;
    }
    const Tensor &s = input(node, 1), &z = input(node, 2);
    const bool plain = s.is_plain_constant() && s.type == kFloat && s.constant->elements() == 1 &&
                       z.is_plain_constant() && z.constant->elements() == 1 &&
                       (z.type == kUint8 || z.type == kInt8);
    if (!plain) return false;
    quant->type = z.type;
    quant->scale = {s.constant->real(0)};
    quant->zero_point = {static_cast<int32_t>(z.constant->integer(0))};
    return true;
  };
  Quant other;
  return read(q, result) && read(dq, &other) && *result == other;
}

void Importer::merge_double_pairs() {
  std::unordered_map<int, const NodeView*>
      source;  // of a DequantizeLinear that was merged: its pair's first node
  for (int i : model_.order()) {
    const NodeView& last = *nodes_[static_cast<size_t>(i)];
    if (!is(last, "DequantizeLinear")) continue;
    const NodeView* q2 = sole_producer(last);
    if (!q2 || !is(*q2, "QuantizeLinear")) continue;
    const NodeView* dq1 = sole_producer(*q2);
    if (!dq1 || !is(*dq1, "DequantizeLinear")) continue;
    const auto known = source.find(dq1->index());
    const NodeView* q1 = known != source.end() ? known->second : sole_producer(*dq1);
    if (!q1 || !is(*q1, "QuantizeLinear")) continue;
    Quant a, b, common;
    if (!pair_quant(*q1, *dq1, &a) || !pair_quant(*q2, last, &b) || a.type != b.type) continue;
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

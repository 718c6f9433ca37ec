// Two QuantizeLinear/DequantizeLinear pairs in a row. ONNX Runtime makes them one, whose range is
// what the two ranges have in common, before it fuses anything; so must we. It looks for them after
// it has taken out what changes nothing and made one node of several that are equal.
#include <algorithm>
#include <cmath>
#include <limits>

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

// Equal for ONNX Runtime, which then leaves both as they are.
bool almost_equal(const Quant& a, const Quant& b) {
  return a.zero_point == b.zero_point && std::fabs(a.scale[0] - b.scale[0]) < 1e-20f;
}

bool are_inverse(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t at = static_cast<size_t>(a[i]);
    if (a.size() != b.size() || at >= b.size() || b[at] != static_cast<int64_t>(i)) return false;
  }
  return !a.empty();
}

}  // namespace

// The single value of a constant input.
bool Importer::one_value(const NodeView& node, int i, double* value) {
  if (!node.has_input(i) || !constant_state(node.input(i)).ok()) return false;
  const Tensor& t = input(node, i);
  const bool one = t.is_plain_constant() && t.shape.rank() <= 1 && t.constant->elements() == 1;
  if (one)
    *value = t.constant->is_integer() ? static_cast<double>(t.constant->integer(0))
                                      : t.constant->real(0);
  return one;
}

// Whether ONNX Runtime takes the node out where it reads `tensor`, floats of this shape.
bool Importer::changes_nothing(const NodeView& node, const std::string& tensor,
                               const Shape& shape) {
  const std::string& op = node.op();
  const bool first = node.input(0) == tensor;
  double v;
  if (op == "Identity") return true;
  if (op == "Dropout") return !node.has_output(1) || uses(node.output(1)) == 0;
  if (op == "Cast") return node.integer("to", 0) == kFloat;
  if (op == "Mul" || op == "Div")
    return (first || op == "Mul") && one_value(node, first ? 1 : 0, &v) && v == 1.0;
  if (op == "Add" || op == "Sub")
    return (first || op == "Add") && one_value(node, first ? 1 : 0, &v) && v == 0.0;
  if (op == "Slice") {  // of everything
    const bool steps = !node.has_input(4) || (one_value(node, 4, &v) && v == 1.0);
    return first && steps && one_value(node, 1, &v) && v == 0.0 && one_value(node, 2, &v) &&
           v == static_cast<double>(std::numeric_limits<int64_t>::max());
  }
  if (op != "Expand" || !first || !constant_state(node.input(1)).ok()) return false;
  const Tensor& to = input(node, 1);
  if (!to.is_plain_constant() || !to.constant->is_integer() ||
      to.constant->elements() > kMaxTensorRank)
    return false;
  Shape wanted, made;
  for (int64_t i = 0; i < to.constant->elements(); ++i) wanted.push_back(to.constant->integer(i));
  return broadcast(shape, wanted, &made) && made == shape;
}

// The nodes that read a tensor, looking through those that change nothing; these are added to
// *passed with the input that they pass on. False: it is a graph output, or has no readers.
bool Importer::find_readers(const std::string& tensor, const Shape& shape,
                            std::vector<const NodeView*>* found,
                            std::vector<std::pair<int, int>>* passed) {
  constexpr size_t kMostPassed = 64;  // of a hostile file's thousands
  const std::vector<int>& readers = readers_[tensor];
  // Graph outputs and readers within a subgraph count as uses only.
  if (readers.empty() || static_cast<int>(readers.size()) != uses(tensor) ||
      passed->size() > kMostPassed)
    return false;
  for (int i : readers) {
    const NodeView& node = *nodes_[static_cast<size_t>(i)];
    if (changes_nothing(node, tensor, shape)) {
      passed->emplace_back(i, node.input(0) == tensor ? 0 : 1);
      if (!find_readers(node.output(0), shape, found, passed)) return false;
      continue;
    }
    const std::string& y = node.output(0);
    if (node.op() == "Transpose" && uses(y) == 1 && readers_[y].size() == 1) {
      const int next = readers_[y][0];
      const NodeView& back = *nodes_[static_cast<size_t>(next)];
      if (back.op() == "Transpose" && are_inverse(node.integers("perm"), back.integers("perm"))) {
        passed->emplace_back(i, 0);
        passed->emplace_back(next, 0);
        if (!find_readers(back.output(0), shape, found, passed)) return false;
        continue;
      }
    }
    found->push_back(&node);
  }
  return true;
}

// Parameters as ONNX Runtime wants them: constants of one element, with an explicit zero point.
bool Importer::pair_quant(const NodeView& node, Quant* quant) const {
  const Tensor &s = input(node, 1), &z = input(node, 2);
  const bool plain = s.is_plain_constant() && s.type == kFloat && s.constant->elements() == 1 &&
                     z.is_plain_constant() && z.constant->elements() == 1 &&
                     (z.type == kUint8 || z.type == kInt8 || z.type == kUint16 || z.type == kInt16);
  if (!plain) return false;
  quant->type = z.type;
  quant->scale = {s.constant->real(0)};
  quant->zero_point = {static_cast<int32_t>(z.constant->integer(0))};
  return true;
}

// Whether these are one node to ONNX Runtime: all of one operator and parameters.
bool Importer::are_one(const std::vector<const NodeView*>& nodes, const char* op,
                       Quant* quant) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    Quant q;
    if (!is(*nodes[i], op) || !pair_quant(*nodes[i], &q) || (i > 0 && q != *quant)) return false;
    *quant = q;
  }
  return !nodes.empty();
}

bool Importer::takes_out_clip(const Quant& out, float lo, float hi) {
  int least, most;
  quantized_range(out.type, &least, &most);
  const auto real = [&](int v) { return static_cast<float>(v - out.zero_point[0]) * out.scale[0]; };
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  return lo - real(least) <= kEpsilon && real(most) - hi <= kEpsilon;
}

void Importer::drop_clip(const NodeView& quantize) {
  const std::string& name = quantize.input(0);
  const int at = model_.producer(name);
  Quant out;
  if (at < 0 || uses(name) != 1 || !input(quantize, 0).is_table() || !pair_quant(quantize, &out))
    return;
  const NodeView& clip = *nodes_[static_cast<size_t>(at)];
  if (clip.op() != "Clip") return;
  const float infinity = std::numeric_limits<float>::infinity();
  double lo = clip.real("min", -infinity), hi = clip.real("max", infinity);
  if (clip.has_input(1) && !one_value(clip, 1, &lo)) return;
  if (clip.has_input(2) && !one_value(clip, 2, &hi)) return;
  if (takes_out_clip(out, static_cast<float>(lo), static_cast<float>(hi)))
    tensors_[name] = input(clip, 0);
}

// Merges the pair that begins with this QuantizeLinear and those behind it.
void Importer::merge_pairs(const NodeView& quantize, const Shape& shape) {
  drop_clip(quantize);
  Quant first, other;
  if (!is(quantize, "QuantizeLinear") || !pair_quant(quantize, &first)) return;
  std::vector<const NodeView*> dequantizes, quantizes, next;
  std::vector<std::pair<int, int>> passed;
  if (!find_readers(quantize.output(0), shape, &dequantizes, &passed) ||
      !are_one(dequantizes, "DequantizeLinear", &other) || other != first)
    return;
  for (;;) {
    quantizes.clear(), next.clear(), passed.clear();
    for (const NodeView* d : dequantizes)
      if (!find_readers(d->output(0), shape, &quantizes, &passed)) return;
    Quant second, third, common;
    if (!are_one(quantizes, "QuantizeLinear", &second) || second.type != first.type) return;
    for (const NodeView* q : quantizes)
      if (!find_readers(q->output(0), shape, &next, &passed)) return;
    if (!are_one(next, "DequantizeLinear", &third) || third != second) return;
    const auto outputs = std::count_if(next.begin(), next.end(), [this](const NodeView* d) {
      return uses(d->output(0)) > static_cast<int>(readers_[d->output(0)].size());
    });
    if (outputs > 1) return;
    common = first;
    const bool stay = first != second && almost_equal(first, second);
    if (!stay && first != second && !intersect(first, second, &common)) return;
    for (const auto* nodes : {&dequantizes, &quantizes})
      for (const NodeView* node : *nodes) bypassed_[node->index()] = 0;
    for (const auto& [node, i] : passed) bypassed_[node] = i;
    if (stay) return;
    merged_[quantize.index()] = common;
    for (const NodeView* d : next) merged_[d->index()] = common;
    first = common;
    dequantizes = next;
  }
}

}  // namespace qrt::convert::from_onnx

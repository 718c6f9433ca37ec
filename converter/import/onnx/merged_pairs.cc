#include "converter/import/onnx/merged_pairs.h"

#include <algorithm>
#include <cmath>

namespace qrt::convert::from_onnx {
namespace {

bool common(const Quant& a, const Quant& b, Quant* result) {
  if (a != b) return intersect(a, b, result);
  *result = a;
  return true;
}

}  // namespace

bool intersect(const Quant& a, const Quant& b, Quant* result) {
  const auto [lo, hi] = Limits::of_source(a);
  const auto real = [](const Quant& q, int v) {
    return static_cast<float>(v - q.zero_point[0]) * q.scale[0];
  };
  const float least = std::max(real(a, lo), real(b, lo));
  const float most = std::min(real(a, hi), real(b, hi));
  const float scale = (most - least) / static_cast<float>(hi - lo);
  const float zero = std::round(static_cast<float>(lo) - least / scale);
  *result = a;
  if (scale == 0.0f) result->scale[0] = scale;
  if (!(scale > 0.0f) || !(zero >= static_cast<float>(lo) && zero <= static_cast<float>(hi)))
    return false;
  result->scale[0] = scale;
  result->zero_point[0] = static_cast<int32_t>(zero);
  return true;
}

bool almost_equal(const Quant& a, const Quant& b) {
  return a.zero_point == b.zero_point && std::fabs(a.scale[0] - b.scale[0]) < 1e-20f;
}

bool MergedPairs::push(const Quant& quant, std::vector<Block>* blocks) {
  Block block = {1, quant};
  for (; !blocks->empty() && blocks->back().count == block.count; blocks->pop_back()) {
    const Quant last = block.quant;
    if (!common(blocks->back().quant, last, &block.quant)) return false;
    block.count *= 2;
  }
  blocks->push_back(std::move(block));
  return true;
}

bool MergedPairs::join(const std::vector<Block>& blocks, Quant* result) {
  *result = blocks.back().quant;
  for (size_t i = blocks.size() - 1; i-- > 0;) {
    const Quant rest = *result;
    if (!common(blocks[i].quant, rest, result)) return false;
  }
  return true;
}

bool MergedPairs::add(const Quant& quant, bool meets_late, Quant* result) {
  std::vector<Block> before = before_, together = together_;
  if (meets_late) {
    Quant joined;
    if (!join(together, &joined) || !push(joined, &before)) return false;
    together.clear();
  }
  if (!push(quant, &together) || !join(together, result)) return false;
  std::vector<Block> all = before;
  if (!push(*result, &all) || !join(all, result)) return false;
  before_ = std::move(before);
  together_ = std::move(together);
  return true;
}

}  // namespace qrt::convert::from_onnx

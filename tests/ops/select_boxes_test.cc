// SPDX-License-Identifier: Apache-2.0
// SelectBoxes against a plain suppression: images, classes, thresholds, both kinds of boxes; the rows that a run fills; models it
// refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::select_boxes_test {
namespace {

using testing::bytes_of;
using testing::float_bits;
using testing::ModelBuilder;

struct Case {
  int64_t images, classes, rows;
  uint32_t most;
  float max_overlap, least_score;
  bool has_least_score, is_centered;
};

// Corners of a box: left, top, right, bottom, and its area.
std::vector<float> corners(const float* b, bool is_centered) {
  if (is_centered)
    return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2, b[2] * b[3]};
  const float left = std::min(b[1], b[3]), right = std::max(b[1], b[3]);
  const float top = std::min(b[0], b[2]), bottom = std::max(b[0], b[2]);
  return {left, top, right, bottom, (bottom - top) * (right - left)};
}

bool overlap(const std::vector<float>& a, const std::vector<float>& b, float most) {
  const float w = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float h = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (w <= 0 || h <= 0) return false;
  const float common = w * h;
  return common > 0 && common / (a[4] + b[4] - common) > most;
}

std::vector<int64_t> expected(const Case& c, const std::vector<float>& boxes,
                              const std::vector<float>& scores) {
  std::vector<int64_t> y;
  const auto rows = static_cast<size_t>(c.rows);
  for (int64_t list = 0; list < c.images * c.classes; ++list) {
    const float* score = scores.data() + list * c.rows;
    const float* box = boxes.data() + list / c.classes * c.rows * 4;
    std::vector<size_t> order(rows), kept;
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t i, size_t j) { return score[i] > score[j]; });
    for (const size_t i : order) {
      if (kept.size() == c.most || (c.has_least_score && score[i] <= c.least_score)) break;
      const auto mine = corners(box + 4 * i, c.is_centered);
      const bool is_free = std::none_of(kept.begin(), kept.end(), [&](size_t k) {
        return overlap(mine, corners(box + 4 * k, c.is_centered), c.max_overlap);
      });
      if (!is_free) continue;
      kept.push_back(i);
      y.insert(y.end(), {list / c.classes, list % c.classes, static_cast<int64_t>(i)});
    }
  }
  y.resize(static_cast<size_t>(c.images * c.classes * std::min<int64_t>(c.most, c.rows) * 3), -1);
  return y;
}

void check(const Case& c) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  ModelBuilder m;
  fb::SelectBoxesOptionsT o;
  o.most = c.most;
  o.max_overlap = float_bits(c.max_overlap);
  o.has_least_score = c.has_least_score;
  o.least_score = float_bits(c.least_score);
  o.is_centered = c.is_centered;
  const uint32_t boxes = m.input({c.images, c.rows, 4}, DType::kFloat32);
  const uint32_t scores = m.input({c.images, c.classes, c.rows}, DType::kFloat32);
  const int64_t room = c.images * c.classes * std::min<int64_t>(c.most, c.rows);
  m.op(o, {boxes, scores}, {m.output({room, 3}, DType::kInt64)});
  std::vector<float> b(static_cast<size_t>(c.images * c.rows * 4));
  std::vector<float> s(static_cast<size_t>(c.images * c.classes * c.rows));
  for (float& v : b) v = static_cast<float>(random.integer(0, 40)) * 0.25f;
  for (float& v : s) v = static_cast<float>(random.integer(-8, 8)) * 0.125f;
  testing::expect_outputs(m, 1, {bytes_of(b), bytes_of(s)}, {bytes_of(expected(c, b, s))});
}

TEST(SelectBoxes, KeepsTheBestThatOverlapLittle) {
  for (const bool is_centered : {false, true}) {
    check({1, 1, 1, 1, 0.5f, 0, false, is_centered});
    check({1, 1, 40, 10, 0.0f, 0, false, is_centered});
    check({2, 3, 17, 5, 0.5f, 0.25f, true, is_centered});
    check({2, 2, 30, 100, 1.0f, -0.5f, true, is_centered});
  }
}

TEST(SelectBoxes, ManyTasks) { check({4, 20, 60, 30, 0.4f, 0.125f, true, false}); }

TEST(SelectBoxes, RejectsBadModels) {
  const auto reject = [](const std::string& part, const Shape& boxes, const Shape& scores,
                         float most_overlap, uint32_t most) {
    ModelBuilder m;
    fb::SelectBoxesOptionsT o;
    o.most = most;
    o.max_overlap = float_bits(most_overlap);
    const uint32_t b = m.input(boxes, DType::kFloat32), s = m.input(scores, DType::kFloat32);
    m.op(o, {b, s}, {m.output({4, 3}, DType::kInt64)});
    testing::expect_rejected(m, part);
  };
  reject("expected [n, rows, 4] and [n, classes, rows]", {1, 4, 5}, {1, 1, 4}, 0.5f, 4);
  reject("expected [n, rows, 4] and [n, classes, rows]", {1, 4, 4}, {1, 1, 3}, 0.5f, 4);
  reject("max_overlap is 1.5, expected 0 to 1", {1, 4, 4}, {1, 1, 4}, 1.5f, 4);
  reject("most is 0, expected 1 to", {1, 4, 4}, {1, 1, 4}, 0.5f, 0);
}

}  // namespace
}  // namespace qrt::select_boxes_test

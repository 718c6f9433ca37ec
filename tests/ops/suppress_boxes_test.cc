// SPDX-License-Identifier: Apache-2.0
// SuppressBoxes: what is kept, in what order, of which classes; extreme corners; models it refuses.
#include <gtest/gtest.h>

#include "tests/support/op_tester.h"

namespace qrt::suppress_boxes_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;
using Boxes = std::vector<int32_t>;  // rows of id, score, left, top, right, bottom

void check(fb::SuppressBoxesOptionsT o, const Boxes& x, int32_t count, Boxes y) {
  const auto rows = static_cast<int64_t>(x.size() / 6);
  y.resize(x.size(), -1);
  ModelBuilder m;
  const uint32_t in = m.input({1, rows, 6}, DType::kInt32), n = m.input({1}, DType::kInt32);
  m.op(o, {in, n}, {m.output({1, rows, 6}, DType::kInt32)});
  testing::expect_outputs(m, 1, {bytes_of(x), bytes_of(std::vector<int32_t>{count})},
                          {bytes_of(y)});
}

const Boxes kBoxes = {0,  50, 0,  0,  10, 10,  //
                      0,  90, 0,  0,  10, 8,   // overlaps the first by 80 of 100
                      1,  70, 0,  0,  10, 10,  // another class
                      -1, 99, 50, 50, 60, 60};

TEST(SuppressBoxes, KeepsTheBestOfEveryClass) {
  check({}, kBoxes, 4, {0, 90, 0, 0, 10, 8, 1, 70, 0, 0, 10, 10});
  fb::SuppressBoxesOptionsT any;
  any.any_class = true;
  check(any, kBoxes, 4, {0, 90, 0, 0, 10, 8});
}

TEST(SuppressBoxes, TheThresholdIsInclusive) {
  fb::SuppressBoxesOptionsT o;
  o.iou_threshold = 80;
  check(o, kBoxes, 2, {0, 90, 0, 0, 10, 8});
  o.iou_threshold = 81;
  check(o, kBoxes, 2, {0, 90, 0, 0, 10, 8, 0, 50, 0, 0, 10, 10});
}

TEST(SuppressBoxes, LimitsWhatItReadsAndKeeps) {
  check({}, kBoxes, 1, {0, 50, 0, 0, 10, 10});
  check({}, kBoxes, -3, {});
  fb::SuppressBoxesOptionsT top;
  top.top_k = 2;  // the box of id -1 is one of them
  check(top, kBoxes, 4, {0, 90, 0, 0, 10, 8});
  fb::SuppressBoxesOptionsT one;
  one.max_outputs = 1;
  check(one, kBoxes, 4, {0, 90, 0, 0, 10, 8});
}

TEST(SuppressBoxes, EqualScoresStayInTheirOrder) {
  const Boxes x = {3, 7, 0, 0, 1, 1, 2, 7, 5, 5, 6, 6, 1, 7, 9, 9, 12, 12};
  check({}, x, 3, x);
}

TEST(SuppressBoxes, CornersOfAnySizeAreDefined) {
  const int32_t lo = INT32_MIN, hi = INT32_MAX;
  const Boxes x = {0, 9, lo, lo, hi, hi, 0, 8, lo, lo, hi, hi, 0, 7, hi, hi, lo, lo};
  // Sides of 2^32 - 1: the second covers the first, the third has no overlap with it.
  check({}, x, 3, {0, 9, lo, lo, hi, hi, 0, 7, hi, hi, lo, lo});
}

TEST(SuppressBoxes, RefusesOtherShapes) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 3, 6}, DType::kInt32), n = m.input({3}, DType::kInt32);
  m.op(fb::SuppressBoxesOptionsT(), {x, n}, {m.output({2, 3, 6}, DType::kInt32)});
  testing::expect_rejected(m, "expected [n, rows, 6] and [n]");
}

}  // namespace
}  // namespace qrt::suppress_boxes_test

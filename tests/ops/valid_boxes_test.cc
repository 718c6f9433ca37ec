// SPDX-License-Identifier: Apache-2.0
// ValidBoxes: rows above a threshold in their order, the rest filled; models it refuses.
#include <gtest/gtest.h>

#include "tests/support/op_tester.h"

namespace qrt::valid_boxes_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

TEST(ValidBoxes, PacksRowsAboveTheThreshold) {
  const std::vector<int32_t> x = {5, 10, 1, 6, 20, 2, 7, 21, 3,  //
                                  8, 20, 4, 9, 19, 5, 1, 18, 6};
  const std::vector<int32_t> y = {7,  21, 3,  -1, -1, -1, -1, -1, -1,  //
                                  -1, -1, -1, -1, -1, -1, -1, -1, -1};
  ModelBuilder m;
  fb::ValidBoxesOptionsT o;
  o.threshold = 20;
  const uint32_t in = m.input({-1, 3, 3}, DType::kInt32);
  const uint32_t count = m.output({-1}, DType::kInt32), rows = m.output({-1, 3, 3}, DType::kInt32);
  m.op(o, {in}, {count, rows});
  testing::expect_outputs(m, 2, {bytes_of(x)}, {bytes_of(std::vector<int32_t>{1, 0}), bytes_of(y)});
}

TEST(ValidBoxes, RefusesRowsWithoutAScore) {
  ModelBuilder m;
  const uint32_t in = m.input({2, 3, 1}, DType::kInt32);
  m.op(fb::ValidBoxesOptionsT(), {in},
       {m.output({2}, DType::kInt32), m.output({2, 3, 1}, DType::kInt32)});
  testing::expect_rejected(m, "rows have 1 elements, expected at least 2");
}

}  // namespace
}  // namespace qrt::valid_boxes_test

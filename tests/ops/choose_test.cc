// SPDX-License-Identifier: Apache-2.0
// Choose: one of two tensors of every width, by conditions of one byte; models it has to refuse. tests/runtime/guards_test.cc has what
// a run leaves out.
#include <gtest/gtest.h>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::choose_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;

void check(DType dtype, const Shape& shape, const Shape& condition) {
  SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + shape.to_string());
  testing::Random random;
  SCOPED_TRACE(random.trace());
  ModelBuilder m;
  m.op(fb::ChooseOptionsT(), {m.input(condition), m.input(shape, dtype), m.input(shape, dtype)},
       {m.output(shape, dtype)});
  Bytes a(tensor_bytes({dtype, shape})), b(a.size());
  random.fill(a, 0, 255);
  random.fill(b, 0, 255);
  for (const uint8_t truth : {0, 1, 2, 128, 255})
    testing::expect_outputs(m, 1, {{truth}, a, b}, {truth != 0 ? a : b});
}

TEST(Choose, EveryWidth) {
  for (const DType dtype : {DType::kUInt8, DType::kBool, DType::kInt16, DType::kFloat16,
                            DType::kInt32, DType::kFloat32, DType::kInt64}) {
    check(dtype, {3, 7}, {});
    check(dtype, {}, {1, 1});
  }
}

TEST(Choose, ManyTasks) { check(DType::kFloat32, {300, 333}, {1}); }

TEST(Choose, ConstantsAndOneTensorTwice) {
  for (const uint8_t truth : {0, 3}) {
    ModelBuilder m;
    const uint32_t condition = m.constant<uint8_t>({1}, DType::kUInt8, {truth});
    const uint32_t x = m.input({2});
    m.op(fb::ChooseOptionsT(), {condition, x, m.constant<uint8_t>({2}, DType::kUInt8, {7, 8})},
         {m.output({2})});
    m.op(fb::ChooseOptionsT(), {condition, x, x}, {m.output({2})});
    testing::expect_outputs(m, 1, {{1, 2}}, {truth != 0 ? Bytes{1, 2} : Bytes{7, 8}, {1, 2}});
  }
}

TEST(Choose, RejectsBadModels) {
  const auto reject = [](const char* part, const Shape& condition, DType truth, const Shape& b,
                         DType of_b) {
    ModelBuilder m;
    m.op(fb::ChooseOptionsT(), {m.input(condition, truth), m.input({4}), m.input(b, of_b)},
         {m.output({4})});
    testing::expect_rejected(m, part);
  };
  reject("condition has the shape [2], expected a single element", {2}, DType::kUInt8, {4},
         DType::kUInt8);
  reject("condition", {}, DType::kInt32, {4}, DType::kUInt8);
  reject("input 2 (b) has shape [2, 2], expected [4]", {}, DType::kUInt8, {2, 2}, DType::kUInt8);
  reject("(b)", {}, DType::kUInt8, {4}, DType::kInt16);
  ModelBuilder m;
  const uint32_t x = m.input({1});
  m.op(fb::ChooseOptionsT(), {x, x}, {m.output({1})});
  testing::expect_rejected(m, "2 inputs, expected 3");
}

}  // namespace
}  // namespace qrt::choose_test

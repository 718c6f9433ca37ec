// SPDX-License-Identifier: Apache-2.0
// NonZero against a loop over the elements: types, ranks, nothing and everything found, the count that qrt_session_output_count() tells of
// its result and of the transpose; models it refuses.
#include <gtest/gtest.h>

#include <cmath>

#include "qrt/qrt.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::non_zero_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

template <class T>
std::vector<int64_t> expected(const std::vector<T>& x, const Shape& shape) {
  const auto rank = static_cast<size_t>(shape.rank());
  std::vector<int64_t> y(x.size() * rank, -1);
  size_t found = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    auto left = static_cast<int64_t>(i);
    for (size_t d = rank; d-- > 0; left /= shape[static_cast<int>(d)])
      y[d * x.size() + found] = left % shape[static_cast<int>(d)];
    ++found;
  }
  return y;
}

template <class T>
void check(DType dtype, const Shape& shape, const std::vector<T>& x) {
  ModelBuilder m;
  const uint32_t in = m.input(shape, dtype);
  m.op(fb::NonZeroOptionsT(), {in}, {m.output({shape.rank(), shape.elements()}, DType::kInt64)});
  testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(expected(x, shape))});
}

template <class T>
void check_all(DType dtype) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const Shape& shape : {Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{1, 2, 2, 3, 1, 2}})
    for (const int64_t most : {0, 1, 2}) {
      std::vector<T> x(static_cast<size_t>(shape.elements()));
      for (T& v : x) v = static_cast<T>(random.integer(0, most));
      check(dtype, shape, x);
      for (T& v : x) v = 1;
      check(dtype, shape, x);
    }
}

TEST(NonZero, EveryTypeAndRank) {
  check_all<uint8_t>(DType::kUInt8);
  check_all<int32_t>(DType::kInt32);
  check_all<int64_t>(DType::kInt64);
  check_all<float>(DType::kFloat32);
}

TEST(NonZero, ZerosOfBothSignsAndNumbersThatAreNone) {
  check<float>(DType::kFloat32, {6}, {0.0f, -0.0f, std::nanf(""), 1e-45f, INFINITY, -1.0f});
  check<int64_t>(DType::kInt64, {2}, {int64_t{1} << 40, 0});
}

TEST(NonZero, TellsHowMuchItFound) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 3}, DType::kUInt8, "x");
  const uint32_t found = m.output({2, 6}, DType::kInt64, "found");
  const uint32_t turned = m.output({6, 2}, DType::kInt64, "turned");
  m.op(fb::NonZeroOptionsT(), {x}, {found});
  fb::TransposeOptionsT turn;
  turn.perm = {1, 0};
  m.op(turn, {found}, {turned});
  const auto file = m.build();
  qrt_error e;
  qrt_model* model = nullptr;
  qrt_session* session = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, &e), QRT_OK)
      << e.message;
  ASSERT_EQ(qrt_session_create(model, nullptr, &session, &e), QRT_OK) << e.message;
  for (const size_t count : {0, 1, 4, 6}) {
    uint8_t truths[6] = {};
    for (size_t i = 0; i < count; ++i) truths[5 - i] = 1;
    ASSERT_EQ(qrt_session_set_input_bytes(session, 0, truths, sizeof truths, &e), QRT_OK);
    ASSERT_EQ(qrt_session_run(session, &e), QRT_OK) << e.message;
    EXPECT_EQ(qrt_session_output_count(session, 0), count);
    EXPECT_EQ(qrt_session_output_count(session, 1), count);
  }
  EXPECT_EQ(qrt_session_output_count(session, 2), 0u);
  EXPECT_EQ(qrt_session_output_count(nullptr, 0), 0u);
  qrt_session_destroy(session);
  qrt_model_destroy(model);
}

TEST(NonZero, RejectsBadModels) {
  const auto reject = [](const Shape& shape, DType dtype, const char* part) {
    ModelBuilder m;
    const uint32_t in = m.input(shape, dtype);
    m.op(fb::NonZeroOptionsT(), {in}, {m.output({1, 4}, DType::kInt64)});
    testing::expect_rejected(m, part);
  };
  reject({4}, DType::kInt16, "x is int16, expected uint8, int32, int64 or float32");
  reject({}, DType::kInt32, "x has rank 0, expected at least 1");
}

}  // namespace
}  // namespace qrt::non_zero_test

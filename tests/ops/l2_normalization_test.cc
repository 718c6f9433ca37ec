// SPDX-License-Identifier: Apache-2.0
// L2Normalization against its definition; models it has to refuse.
#include "kernels/normalize/l2_normalization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::l2_normalization_test {
namespace {

using testing::Bytes;

// Checks that a model's rows are those of the kernel, and within two roundings of the quotient.
void check(int64_t images, const Shape& shape, int zero_point, fb::L2NormalizationKind kind) {
  testing::Random random;
  SCOPED_TRACE(shape.to_string() + random.trace());
  fb::L2NormalizationOptionsT o;
  o.zero_point = static_cast<uint8_t>(zero_point);
  o.kind = kind;
  testing::ModelBuilder m;
  m.op(o, {m.input(shape)}, {m.output(shape)});
  Shape concrete = shape;
  concrete[0] = images;
  const auto n = static_cast<size_t>(shape[shape.rank() - 1]);
  Bytes x(static_cast<size_t>(concrete.elements())), y(x.size());
  random.fill(x, 0, 255);
  std::fill_n(x.begin(), n, static_cast<uint8_t>(zero_point));  // a row without a norm
  // Computes row by row, so that neither cutting nor tables for long rows matter.
  for (size_t row = 0; row < x.size(); row += n)
    l2_normalize_rows(zero_point, kind == fb::L2NormalizationKind::ONE_ROUNDING, &x[row], &y[row],
                      1, n);
  for (size_t row = 0; row < x.size(); row += n) {
    double norm = 0;
    for (size_t i = row; i < row + n; ++i) norm += (x[i] - zero_point) * (x[i] - zero_point);
    norm = std::sqrt(norm);
    for (size_t i = row; i < row + n; ++i) {
      const double real = norm == 0 ? 0 : (x[i] - zero_point) / norm * 128;
      ASSERT_NEAR(y[i], std::min(real, 127.0) + 128, 1.001) << i;
    }
  }
  testing::expect_outputs(m, images, {x}, {y});
}

TEST(L2Normalization, RowsOfTheLastAxis) {
  for (const fb::L2NormalizationKind kind :
       {fb::L2NormalizationKind::TWO_ROUNDINGS, fb::L2NormalizationKind::ONE_ROUNDING}) {
    for (const int zero_point : {0, 128, 255}) {
      check(2, {-1, 1}, zero_point, kind);
      check(3, {-1, 4, 128}, zero_point, kind);
      check(3, {-1, 3, 2, 257}, zero_point, kind);
    }
    check(70, {-1, 500}, 100, kind);  // large enough to be cut
    check(1, {-1, 33025}, 0, kind);   // the longest row, whose sum is nearly 2^31
  }
}

// Results are the bytes of TensorFlow Lite Micro's kernel, in its builds of two roundings and of one.
TEST(L2Normalization, BytesOfTheReference) {
  const auto check_row = [](int zero_point, const Bytes& x, const Bytes& two, const Bytes& one) {
    Bytes y(x.size());
    l2_normalize_rows(zero_point, false, x.data(), y.data(), 1, x.size());
    EXPECT_EQ(y, two);
    l2_normalize_rows(zero_point, true, x.data(), y.data(), 1, x.size());
    EXPECT_EQ(y, one);
  };
  const auto check_both = [&](const Bytes& x, const Bytes& y) { check_row(123, x, y, y); };
  check_both({123, 123, 123, 123, 123, 123}, {128, 128, 128, 128, 128, 128});
  check_both({123, 123, 124, 123, 123, 123}, {128, 128, 255, 128, 128, 128});
  check_both({123, 124, 122, 125, 123, 121}, {128, 168, 88, 209, 128, 47});
  check_both({250, 159, 222, 94, 37, 130}, {214, 152, 195, 108, 70, 133});
  check_both({113, 169, 254, 70, 219, 35}, {122, 158, 213, 94, 190, 71});
  // The vector is so long that the shift has a rounding of its own.
  Bytes x;
  for (int i = 0; i < 48; ++i) x.push_back(static_cast<uint8_t>(255 - i * 7 % 40));
  check_row(0, x, {148, 148, 147, 147, 146, 145, 148, 147, 147, 146, 146, 145, 148, 147, 147, 146,
                   146, 145, 148, 147, 147, 146, 146, 148, 148, 147, 146, 146, 145, 148, 147, 147,
                   146, 146, 145, 148, 147, 147, 146, 146, 148, 148, 147, 147, 146, 145, 148, 147},
            {148, 147, 147, 146, 146, 145, 148, 147, 147, 146, 146, 145, 148, 147, 147, 146,
             145, 145, 147, 147, 146, 146, 145, 148, 147, 147, 146, 146, 145, 148, 147, 147,
             146, 145, 145, 148, 147, 146, 146, 145, 148, 147, 147, 146, 146, 145, 148, 147});
}

TEST(L2Normalization, RejectsBadModels) {
  const auto reject = [](const std::string& part, DType in, DType out, const Shape& shape,
                         int kind) {
    testing::ModelBuilder m;
    fb::L2NormalizationOptionsT o;
    o.kind = static_cast<fb::L2NormalizationKind>(kind);
    m.op(o, {m.input(shape, in)}, {m.output(shape, out)});
    testing::expect_rejected(m, part);
  };
  reject("input 0 (x) is int16, expected uint8", DType::kInt16, DType::kInt16, {-1, 4}, 0);
  reject("is int8, expected uint8", DType::kUInt8, DType::kInt8, {-1, 4}, 0);
  reject("rows of 33026 values, expected at most 33025", DType::kUInt8, DType::kUInt8, {-1, 33026},
         0);
  reject("kind is 2, expected 0 to 1", DType::kUInt8, DType::kUInt8, {-1, 4}, 2);
}

}  // namespace
}  // namespace qrt::l2_normalization_test

// SPDX-License-Identifier: Apache-2.0
// BatchMatMul against a loop: zero points, tails, batches that broadcast, requantisations; models
// it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::batch_mat_mul_test {
namespace {

using testing::Bytes;

struct Case {
  Shape a, b;  // b as [..., k, n]
  int a_zero_point = 128, b_zero_point = 128;
  bool transposed = false, b_is_constant = false;
  int lowest = 0;
};

int64_t leading(const Shape& s, int rank, int i) {
  const int at = i - (rank - s.rank());
  return at < 0 ? 1 : s[at];
}

void check(const Case& c, std::unique_ptr<fb::RequantT> requant, int64_t batch = 2) {
  SCOPED_TRACE(c.a.to_string() + " * " + c.b.to_string() + ", zero points " +
               std::to_string(c.a_zero_point) + " and " + std::to_string(c.b_zero_point));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int rank = std::max(c.a.rank(), c.b.rank());
  const int64_t k = c.a[c.a.rank() - 1], n = c.b[c.b.rank() - 1], rows = c.a[c.a.rank() - 2];
  Shape y, b_file = c.b;
  for (int i = 0; i < rank - 2; ++i) {
    const int64_t d = leading(c.a, rank, i);
    y.push_back(d == 1 ? leading(c.b, rank, i) : d);
  }
  y.push_back(rows);
  y.push_back(n);
  if (c.transposed) std::swap(b_file[b_file.rank() - 1], b_file[b_file.rank() - 2]);

  const auto concrete = [&](Shape s) {
    if (s[0] == -1) s[0] = batch;
    return s;
  };
  const Shape a = concrete(c.a), b = concrete(c.b), out = concrete(y);
  Bytes x(static_cast<size_t>(a.elements())), w(static_cast<size_t>(b.elements())), expected;
  random.fill(x, c.lowest, 255);
  random.fill(w, c.lowest, 255);
  const testing::RequantOracle oracle(*requant, static_cast<size_t>(n));
  const bool acc = requant->kind == fb::RequantKind::ACC;
  const int64_t matrices = out.elements() / (rows == -1 ? batch * n : rows * n);
  const int64_t m_rows = out[rank - 2];
  for (int64_t i = 0; i < matrices; ++i) {
    int64_t at_a = 0, at_b = 0, step_a = 1, step_b = 1, rest = i;
    for (int d = rank - 2; d-- > 0; rest /= out[d]) {
      const int64_t index = rest % out[d], da = leading(a, rank, d), db = leading(b, rank, d);
      if (da != 1) at_a += index * step_a;
      if (db != 1) at_b += index * step_b;
      step_a *= da;
      step_b *= db;
    }
    for (int64_t r = 0; r < m_rows; ++r)
      for (int64_t j = 0; j < n; ++j) {
        int32_t sum = 0;
        for (int64_t t = 0; t < k; ++t) {
          const int64_t in_b = c.transposed ? (at_b * n + j) * k + t : (at_b * k + t) * n + j;
          sum += (x[static_cast<size_t>((at_a * m_rows + r) * k + t)] - c.a_zero_point) *
                 (w[static_cast<size_t>(in_b)] - c.b_zero_point);
        }
        oracle.append(sum, static_cast<size_t>(j), &expected);
      }
  }

  testing::ModelBuilder m;
  const uint32_t in_a = m.input(c.a);
  const uint32_t in_b = c.b_is_constant ? m.constant(b_file, DType::kUInt8, w) : m.input(b_file);
  fb::BatchMatMulOptionsT o;
  o.a_zero_point = static_cast<uint8_t>(c.a_zero_point);
  o.b_zero_point = static_cast<uint8_t>(c.b_zero_point);
  o.transpose_b = c.transposed;
  o.requant = std::move(requant);
  m.op(std::move(o), {in_a, in_b}, {m.output(y, acc ? DType::kInt32 : DType::kUInt8)});
  std::vector<Bytes> inputs = {x};
  if (!c.b_is_constant) inputs.push_back(w);
  testing::expect_outputs(m, static_cast<size_t>(batch), inputs, {expected});
}

std::unique_ptr<fb::RequantT> plain() { return testing::requant_f32({0.0013f}, 120); }

TEST(BatchMatMul, ZeroPoints) {
  for (const int za : {0, 128, 255})
    for (const int zb : {0, 1, 127, 128, 129, 255})
      for (const bool transposed : {false, true})
        check({{-1, 3, 9}, {-1, 9, 18}, za, zb, transposed}, plain());
}

TEST(BatchMatMul, TailsOfEveryDimension) {
  for (const int64_t k : {1, 3, 4, 5, 31, 64})
    for (const int64_t n : {1, 15, 16, 17, 33, 65})
      for (const int64_t rows : {1, 7, 17})
        for (const bool transposed : {false, true})
          check({{-1, rows, k}, {-1, k, n}, 100, 60, transposed}, plain());
}

// Right-hand sides that are packed a piece at a time give the same products: several pieces, the
// last one short.
TEST(BatchMatMul, FewRowsOfManyMatrices) {
  for (int64_t rows = 1; rows <= 8; ++rows)
    for (const auto& [k, n] : {std::pair{63, 1021}, {512, 65}, {7, 33}, {300, 1}})
      for (const bool transposed : {false, true})
        check({{-1, 3, rows, k}, {-1, 3, k, n}, 100, rows % 2 == 0 ? 128 : 60, transposed},
              plain());
}

TEST(BatchMatMul, LeadingDimensionsBroadcast) {
  check({{-1, 5, 3, 8}, {-1, 1, 8, 6}, 3, 4}, plain());
  check({{-1, 1, 3, 8}, {-1, 5, 8, 6}, 3, 4}, plain());
  check({{-1, 2, 5, 3, 8}, {2, 1, 8, 6}, 3, 4}, plain());
  check({{3, 8}, {-1, 2, 8, 6}, 3, 4, true}, plain());
  check({{-1, 2, 3, 8}, {8, 6}, 3, 4}, plain());
  check({{-1, 8}, {8, 6}, 3, 4, true}, plain());
  check({{-1, 2, 2, 2, 3, 5}, {1, 2, 1, 2, 5, 3}, 9, 200}, plain());
}

TEST(BatchMatMul, Requantisations) {
  const Case c = {{-1, 6, 20}, {-1, 20, 35}, 130, 110};
  check(c, testing::requant_acc());
  check(c, testing::requant_int(1 << 20, 31, 99));
  std::vector<float> scales;
  for (int i = 0; i < 35; ++i) scales.push_back(0.0001f * static_cast<float>(i + 1));
  check(c, testing::requant_f32(scales, 10));
}

TEST(BatchMatMul, ConstantRightSide) {
  for (const bool transposed : {false, true})
    check({{-1, 4, 3, 8}, {4, 8, 6}, 7, 99, transposed, true}, plain());
}

TEST(BatchMatMul, ExtremesDoNotOverflow) {
  check({{-1, 2, 33025}, {-1, 33025, 2}, 0, 0, false, false, 255}, testing::requant_acc(), 1);
}

// Work is cut into several tasks on every instruction set.
TEST(BatchMatMul, ManyTasks) {
  check({{-1, 12, 100, 64}, {-1, 12, 64, 100}, 128, 117, true}, plain());
  check({{-1, 300, 200}, {200, 300}, 128, 117}, plain());
}

// Checks int16 operands: sums of 64 bits.
void check_int16(const Shape& a, const Shape& b, bool transposed, int64_t lowest = INT16_MIN,
                 int a_zero = 0, int b_zero = 0) {
  SCOPED_TRACE(a.to_string() + " * " + b.to_string());
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int64_t matrices = a[0], rows = a[1], k = a[2], n = b[b.rank() - 1];
  std::vector<int16_t> x(static_cast<size_t>(a.elements())), w(static_cast<size_t>(b.elements())),
      expected;
  random.fill(x, lowest, lowest == INT16_MIN ? INT16_MAX : lowest);
  random.fill(w, lowest, lowest == INT16_MIN ? INT16_MAX : lowest);
  auto requant = testing::requant_int(1, 0);
  requant->lo = INT16_MIN;
  requant->hi = INT16_MAX;
  requant->stages[0]->multiplier.clear();
  requant->stages[0]->shift.clear();
  for (int64_t j = 0; j < n; ++j) {
    requant->stages[0]->multiplier.push_back(65535 - static_cast<int32_t>(j));
    requant->stages[0]->shift.push_back(static_cast<uint8_t>(k > 1000 ? 47 : 36));
  }
  const int shift = requant->stages[0]->shift[0];
  for (int64_t i = 0; i < matrices * rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int64_t first = b.rank() == 3 ? i / rows * k * n : 0;
      int64_t sum = 0;
      for (int64_t t = 0; t < k; ++t)
        sum += int64_t{x[static_cast<size_t>(i * k + t)] - a_zero} *
               (w[static_cast<size_t>(first + (transposed ? j * k + t : t * n + j))] - b_zero);
      const int64_t v = (sum * (65535 - j) + (int64_t{1} << (shift - 1))) >> shift;
      expected.push_back(static_cast<int16_t>(clamp_int(v, INT16_MIN, INT16_MAX)));
    }
  Shape b_file = b;
  if (transposed) std::swap(b_file[b.rank() - 1], b_file[b.rank() - 2]);
  testing::ModelBuilder m;
  fb::BatchMatMulOptionsT o;
  o.transpose_b = transposed;
  o.a_zero_point_16 = static_cast<int16_t>(a_zero);
  o.b_zero_point_16 = static_cast<int16_t>(b_zero);
  o.requant = std::move(requant);
  m.op(std::move(o), {m.input(a, DType::kInt16), m.input(b_file, DType::kInt16)},
       {m.output({matrices, rows, n}, DType::kInt16)});
  testing::expect_outputs(m, 1, {testing::bytes_of(x), testing::bytes_of(w)},
                          {testing::bytes_of(expected)});
}

TEST(BatchMatMul, Of16Bits) {
  for (const bool transposed : {false, true}) {
    for (const int64_t n : {1, 31, 32, 33, 65}) check_int16({2, 3, 5}, {2, 5, n}, transposed);
    for (const int64_t k : {1, 2, 17, 300}) check_int16({1, 2, k}, {k, 7}, transposed);
    check_int16({3, 40, 90}, {3, 90, 50}, transposed);
    check_int16({3, 4, 90}, {3, 90, 50}, transposed, INT16_MIN, -32768, 32767);
    check_int16({3, 4, 90}, {3, 90, 33}, transposed, INT16_MIN, 5, -777);
    check_int16({1, 1, 33025}, {33025, 2}, transposed, -32767);
  }
}

TEST(BatchMatMul, RejectsBadModelsOf16Bits) {
  const auto reject = [](const std::string& part, int zero_point, int32_t multiplier) {
    testing::ModelBuilder m;
    fb::BatchMatMulOptionsT o;
    o.a_zero_point_16 = static_cast<int16_t>(zero_point);
    o.requant = testing::requant_int(multiplier, 31);
    m.op(std::move(o), {m.input({2, 3}, DType::kInt16), m.input({3, 4}, DType::kInt16)},
         {m.output({2, 4}, DType::kInt16)});
    testing::expect_rejected(m, part);
  };
  reject("sums may reach 3221225472, times the multiplier 1500000000 2^62 or more", 0, 1500000000);
  reject("sums may reach 6442352640, times the multiplier 800000000 2^62 or more", 32767,
         800000000);
}

TEST(BatchMatMul, RejectsBadModels) {
  const auto reject = [](const std::string& part, const Shape& a, const Shape& b, const Shape& y,
                         DType dtype, bool requant) {
    testing::ModelBuilder m;
    fb::BatchMatMulOptionsT o;
    if (requant) o.requant = plain();
    m.op(std::move(o), {m.input(a), m.input(b, dtype)}, {m.output(y)});
    testing::expect_rejected(m, part);
  };
  const DType u8 = DType::kUInt8;
  reject("input 1 (b) is int8, expected uint8", {2, 3}, {3, 4}, {2, 4}, DType::kInt8, true);
  reject("a has 3 columns", {2, 3}, {4, 4}, {2, 4}, u8, true);
  reject("expected at least 2 dimensions", {3}, {3, 4}, {4}, u8, true);
  reject("do not broadcast", {2, 2, 3}, {3, 3, 4}, {2, 2, 4}, u8, true);
  reject("the number of columns of a is 33026, expected 1 to 33025", {1, 33026}, {33026, 1}, {1, 1},
         u8, true);
  reject("requant is missing", {2, 3}, {3, 4}, {2, 4}, u8, false);
}

}  // namespace
}  // namespace qrt::batch_mat_mul_test

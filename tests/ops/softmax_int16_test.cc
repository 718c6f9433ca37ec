// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax of int16 tensors against loops, and models they have to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/soft_float.h"
#include "kernels/softmax/log_softmax.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::softmax_int16_test {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::ModelBuilder;
using testing::Random;

constexpr int64_t kLo = INT16_MIN, kHi = INT16_MAX;

// Returns the tables of a softmax, 513 samples each, as straight lines: exponentials i * 63 and
// reciprocals 32767 - i * 32 of sample i.
std::vector<int16_t> softmax_tables() {
  std::vector<int16_t> tables;
  for (int i = 0; i < 513; ++i) tables.push_back(static_cast<int16_t>(i * 63));
  for (int i = 0; i < 513; ++i) tables.push_back(static_cast<int16_t>(32767 - i * 32));
  return tables;
}

// Returns a model of Softmax [2, 3] with 8 steps of the exponentials for each step of the input.
ModelBuilder softmax(const std::vector<int16_t>& tables, size_t stages = 1) {
  ModelBuilder m;
  const uint32_t in = m.input({-1, 3}, DType::kInt16), out = m.output({-1, 3}, DType::kInt16);
  fb::SoftmaxOptionsT o;
  o.kind = fb::SoftmaxKind::INT16;
  o.table = m.buffer(tables);
  for (size_t i = 0; i < stages; ++i) {
    o.stages.push_back(std::make_unique<fb::RequantStageT>());
    o.stages[i]->multiplier = {8};
    o.stages[i]->shift = {0};
  }
  m.op(std::move(o), {in}, {out});
  return m;
}

// Returns a model of a softmax of n elements with exponentials from `table`.
ModelBuilder any_scale_softmax(const std::vector<int32_t>& table, int64_t n, size_t stages = 1) {
  ModelBuilder m;
  const uint32_t in = m.input({-1, n}, DType::kInt16), out = m.output({-1, n}, DType::kInt16);
  fb::SoftmaxOptionsT o;
  o.kind = fb::SoftmaxKind::INT16_ANY_SCALE;
  o.table = m.buffer(table);
  o.zero_point = -32768;
  for (size_t i = 0; i < stages; ++i) {
    o.stages.push_back(std::make_unique<fb::RequantStageT>());
    o.stages[i]->multiplier = {65535};
    o.stages[i]->shift = {30};
    o.stages[i]->rounding = fb::Rounding::HALF_EVEN;
  }
  m.op(std::move(o), {in}, {out});
  return m;
}

std::vector<int32_t> halving_table() {
  std::vector<int32_t> table(65536, 0);
  for (size_t i = 0; i < 31; ++i) table[65535 - i] = 1 << (30 - i);
  return table;
}

TEST(SoftmaxInt16, AnyScale) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const int64_t n : {1, 2, 3, 64, 1000}) {
    std::vector<int16_t> x(static_cast<size_t>(3 * n)), y;
    random.fill(x, 100, 120);
    x[0] = static_cast<int16_t>(kHi);
    x.back() = static_cast<int16_t>(kLo);
    for (size_t row = 0; row < 3; ++row) {
      const auto first = x.begin() + static_cast<ptrdiff_t>(row) * n;
      const int greatest = *std::max_element(first, first + n);
      std::vector<int64_t> e;
      int64_t sum = 0;
      for (auto v = first; v != first + n; ++v) {
        e.push_back(greatest - *v > 30 ? 0 : int64_t{1} << (30 - (greatest - *v)));
        sum += e.back();
      }
      for (const int64_t v : e) {
        const int64_t p = ((v << 30) + sum / 2) / sum;
        const int64_t scaled = p * 65535, low = scaled & ((1 << 30) - 1);
        int64_t q = scaled >> 30;
        if (low > (1 << 29) || (low == (1 << 29) && q % 2 != 0)) ++q;
        y.push_back(static_cast<int16_t>(q - 32768));
      }
    }
    testing::expect_outputs(any_scale_softmax(halving_table(), n), 3, {bytes_of(x)}, {bytes_of(y)});
  }
}

TEST(SoftmaxInt16, AnyScaleRefusesBadTables) {
  std::vector<int32_t> table = halving_table();
  testing::expect_rejected(any_scale_softmax(table, 4, 0), "stages has no stages");
  table[9] = -1;
  testing::expect_rejected(any_scale_softmax(table, 4), "table[9] is -1, expected 0 to 2^30");
  table = halving_table();
  table[65535] = 5;
  testing::expect_rejected(any_scale_softmax(table, 4), "table[65535] is 5, expected 2^30");
  table.pop_back();
  testing::expect_rejected(any_scale_softmax(table, 4), "the table holds 262140 bytes");
}

// Returns exp((i - 65535) * scale) as Q1.30, for i = 0 to 65535.
std::vector<int32_t> exponentials(float scale) {
  std::vector<int32_t> table;
  for (int i = 0; i < 65536; ++i)
    table.push_back(static_cast<int32_t>(
        std::nearbyint(0x1p30 * std::exp((i - 65535) * static_cast<double>(scale)))));
  return table;
}

ModelBuilder log_softmax(const std::vector<int32_t>& table, int64_t n, float scale,
                         float output_scale, int32_t zero_point) {
  ModelBuilder m;
  const uint32_t in = m.input({-1, n}, DType::kInt16), out = m.output({-1, n}, DType::kInt16);
  fb::SoftmaxOptionsT o;
  o.kind = fb::SoftmaxKind::LOG_F32;
  o.table = m.buffer(table);
  o.k = testing::float_bits(scale);
  o.output_scale = testing::float_bits(output_scale);
  o.zero_point = zero_point;
  m.op(std::move(o), {in}, {out});
  return m;
}

// Returns the result of log_softmax.h's formula in integers. Raises *off to the greatest distance
// from the real function, in steps of the output.
std::vector<int16_t> log_softmax_of(const std::vector<int16_t>& row, const std::vector<int32_t>& e,
                                    float scale, float output_scale, int32_t zero_point,
                                    double* off) {
  const int greatest = *std::max_element(row.begin(), row.end());
  int64_t sum = 0;
  double real_sum = 0;
  for (int v : row) {
    sum += e[static_cast<size_t>(65535 + v - greatest)];
    real_sum += std::exp((v - greatest) * static_cast<double>(scale));
  }
  const soft::Bits rounded = soft::mul(soft::from_int(sum), soft::bits_of(0x1p-30f));
  float sum_f32;
  memcpy(&sum_f32, &rounded, sizeof sum_f32);
  std::vector<int16_t> y;
  for (int v : row) {
    const soft::Bits scaled = soft::mul(soft::from_int(v - greatest), soft::bits_of(scale));
    const soft::Bits log = soft::add(scaled, soft::bits_of(-log_f32(sum_f32)));
    const int64_t q = soft::to_int(soft::div(log, soft::bits_of(output_scale))) + zero_point;
    y.push_back(static_cast<int16_t>(std::clamp(q, kLo, kHi)));
    const double real = ((v - greatest) * static_cast<double>(scale) - std::log(real_sum)) /
                            static_cast<double>(output_scale) +
                        zero_point;
    *off = std::max(*off, std::fabs(y.back() - std::clamp<double>(real, kLo, kHi)));
  }
  return y;
}

TEST(SoftmaxInt16, LogSoftmax) {
  Random random;
  SCOPED_TRACE(random.trace());
  struct Case {
    float scale, output_scale;
    int32_t zero_point;
    int64_t lo, hi;
    double off;  // allowed
  } const cases[] = {{0.0007f, 0x1p-10f, 32767, kLo, kHi, 0.52},
                     {0.001f, 0.0003f, 32767, -90, 90, 0.52},
                     {3e-5f, 0x1p-12f, -5, kLo, kHi, 0.52},
                     {2.0f, 4.0f, 32767, kLo, kHi, 0.52},
                     {1e-3f, 1e-3f, -32768, kLo, kHi, 0.52},
                     {1e-6f, 0x1p-17f, 32767, -9, 9, 0.80},
                     {1e30f, 1e-30f, 0, -1, 0, 0.52}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.scale);
    const std::vector<int32_t> table = exponentials(c.scale);
    for (const int64_t n : {1, 2, 3, 64, 1000}) {
      std::vector<int16_t> x, y;
      double off = 0;
      for (int row = 0; row < 3; ++row) {
        std::vector<int16_t> values(static_cast<size_t>(n));
        random.fill(values, c.lo, c.hi);
        if (row == 1) values.front() = static_cast<int16_t>(kHi);
        if (row == 1) values.back() = static_cast<int16_t>(kLo);
        const std::vector<int16_t> expected =
            log_softmax_of(values, table, c.scale, c.output_scale, c.zero_point, &off);
        x.insert(x.end(), values.begin(), values.end());
        y.insert(y.end(), expected.begin(), expected.end());
      }
      EXPECT_LE(off, c.off) << n;
      testing::expect_outputs(log_softmax(table, n, c.scale, c.output_scale, c.zero_point), 3,
                              {bytes_of(x)}, {bytes_of(y)});
    }
  }
}

TEST(SoftmaxInt16, LogSoftmaxRefusesBadModels) {
  std::vector<int32_t> table = halving_table();
  const auto reject = [&](const std::string& part, float scale, float output_scale,
                          int32_t zero_point, int64_t n = 4) {
    testing::expect_rejected(log_softmax(table, n, scale, output_scale, zero_point), part);
  };
  reject("k is 0 and output_scale 0.1, expected normal", 0.0f, 0.1f, 0);
  reject("k is 0.1 and output_scale -1, expected normal", 0.1f, -1.0f, 0);
  reject("k is 1e+34, expected a finite number times 65535", 1e34f, 0.1f, 0);
  reject("zero_point is 32768", 0.1f, 0.1f, 32768);
  reject("rows of 16777217 values, expected at most 16777216 with kind LOG_F32", 0.1f, 0.1f, 0,
         (1 << 24) + 1);
  table[7] = (1 << 30) + 1;
  reject("table[7] is 1073741825, expected 0 to 2^30", 0.1f, 0.1f, 0);
  table.assign(65536, 0);
  reject("table[65535] is 0, expected 2^30", 0.1f, 0.1f, 0);
  table.resize(256);
  reject("the table holds 1024 bytes, expected 262144", 0.1f, 0.1f, 0);
}

TEST(SoftmaxInt16, Tables) {
  const std::vector<int16_t> x = {100, -500, 100, -32768, 32767, 0};
  std::vector<int16_t> y;
  for (size_t row = 0; row < 2; ++row) {
    int e[3], sum = 0;
    const int greatest = row == 0 ? 100 : 32767;
    for (size_t j = 0; j < 3; ++j) {
      const int v = std::max((x[3 * row + j] - greatest) * 8 + 32767, -32768) + 32768;
      e[j] = v / 128 * 63 + (63 * (v % 128) + 64) / 128;
      sum += e[j];
    }
    int top = 30;
    while (sum >> top == 0) --top;
    const int64_t mantissa = ((int64_t{sum} << (30 - top)) + 8192) >> 14;
    const int v = static_cast<int>(std::min<int64_t>(mantissa - 65536, 65535));
    const int r = 32767 - v / 128 * 32 + ((-32 * (v % 128) + 64) >> 7);
    for (const int p : e)
      y.push_back(static_cast<int16_t>(
          std::min<int64_t>((int64_t{p} * r + (int64_t{1} << (top - 1))) >> top, 32767)));
  }
  testing::expect_outputs(softmax(softmax_tables()), 2, {bytes_of(x)}, {bytes_of(y)});
}

TEST(SoftmaxInt16, RefusesBadTables) {
  std::vector<int16_t> tables = softmax_tables();
  testing::expect_rejected(softmax(tables, 0), "stages has no stages");
  testing::expect_rejected(softmax(tables, 3), "stages has 3 stages");
  tables[7] = -1;
  testing::expect_rejected(softmax(tables), "table[7] is -1");
  tables = softmax_tables();
  tables[511] = 1;
  testing::expect_rejected(softmax(tables), "table[511] and table[512] are 1");
  tables.pop_back();
  testing::expect_rejected(softmax(tables), "the table holds 2050 bytes, expected 2052");
}

}  // namespace
}  // namespace qrt::softmax_int16_test

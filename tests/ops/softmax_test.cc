// SPDX-License-Identifier: Apache-2.0
// Softmax against the formulas of softmax.h in float32 and of softmax_int.h; models it has to
// refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/softmax/log_softmax.h"
#include "kernels/softmax/softmax_int.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::softmax_test {
namespace {

using testing::Bytes;

std::vector<float> exponentials(float scale) {
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] = std::exp(scale * static_cast<float>(i - 255));
  return table;
}

void check(const Shape& shape, float scale, float k, int zero_point) {
  SCOPED_TRACE(shape.to_string());
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const std::vector<float> table = exponentials(scale);
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape), y = m.output(shape);
  fb::SoftmaxOptionsT o;
  o.table = m.buffer(table);
  o.k = testing::float_bits(k);
  o.zero_point = zero_point;
  m.op(o, {x}, {y});
  for (const int64_t batch : {1, 3}) {
    Shape concrete = shape;
    concrete[0] = batch;
    const size_t n = static_cast<size_t>(shape[shape.rank() - 1]);
    Bytes input(static_cast<size_t>(concrete.elements())), expected;
    random.fill(input, 0, 255);
    for (size_t row = 0; row < input.size(); row += n) {
      const uint8_t* r = &input[row];
      const int greatest = *std::max_element(r, r + n);
      const auto e = [&](size_t j) { return table[static_cast<size_t>(255 + r[j] - greatest)]; };
      float sum = 0;
      for (size_t j = 0; j < n; ++j) sum = sum + e(j);
      for (size_t j = 0; j < n; ++j) {
        const float scaled = e(j) * k;
        const long v = std::lrint(scaled / sum) + zero_point;  // half to even
        expected.push_back(static_cast<uint8_t>(std::clamp(v, 0L, 255L)));
      }
    }
    testing::expect_outputs(m, static_cast<size_t>(batch), {input}, {expected});
  }
}

TEST(Softmax, AnySize) {
  for (const int64_t n : {1, 2, 10, 100, 1000}) check({-1, n}, 0.1f, 256.0f, 0);
  check({-1, 3, 5, 7}, 0.03f, 256.0f, 0);
}

TEST(Softmax, ByReciprocal) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t n : {1u, 3u, 21u, 256u, 1001u})
    for (const float scale : {1.0f / 256, 0.01f, 1.0f}) {
      const std::vector<float> table = exponentials(0.04f);
      testing::ModelBuilder m;
      const uint32_t x = m.input({-1, static_cast<int64_t>(n)});
      const uint32_t y = m.output({-1, static_cast<int64_t>(n)});
      fb::SoftmaxOptionsT o;
      o.kind = fb::SoftmaxKind::F32_RECIPROCAL;
      o.table = m.buffer(table);
      o.output_scale = testing::float_bits(scale);
      m.op(o, {x}, {y});
      constexpr size_t kRows = 7;
      Bytes input(kRows * n), expected;
      random.fill(input, 0, 255);
      for (size_t row = 0; row < kRows; ++row) {
        const uint8_t* r = &input[row * n];
        const int greatest = *std::max_element(r, r + n);
        const auto e = [&](size_t j) { return table[static_cast<size_t>(255 + r[j] - greatest)]; };
        float sum = 0;
        for (size_t j = 0; j < n; ++j) sum = sum + e(j);
        const float scaled = sum * scale, inverse = 1.0f / scaled;
        for (size_t j = 0; j < n; ++j) {
          const float share = e(j) * inverse;
          const float above = share + 0.5f;
          expected.push_back(static_cast<uint8_t>(std::min(above, 255.0f)));
        }
      }
      testing::expect_outputs(m, kRows, {input}, {expected});
    }
}

TEST(Softmax, ZeroPointAndScale) {
  check({-1, 40}, 0.05f, 128.0f, 128);
  check({-1, 40}, 0.05f, 1000.0f, 255);
}

// Large enough to be cut.
TEST(Softmax, ManyTasks) { check({-1, 40, 1001}, 0.05f, 256.0f, 0); }

// Returns exp(-0.05 * (255 - i)), below the range up to 39.
std::vector<int32_t> integer_exponentials() {
  std::vector<int32_t> table(256, -1);
  for (size_t i = 40; i < 255; ++i)
    table[i] = static_cast<int32_t>(2147483647.0 * std::exp(-0.05 * static_cast<double>(255 - i)));
  table[255] = INT32_MAX;
  return table;
}

// Equal values share 1 equally: 256 / n rounded, at most 255; for 16 bits 65536 / n.
TEST(Softmax, IntegersShareEqually) {
  for (const int64_t n : {1, 2, 3, 4, 7, 100, 500, 1001, 4095}) {
    const auto elements = static_cast<size_t>(3 * n);
    const auto share = [&](long steps) {
      return std::min(std::lround(static_cast<double>(steps) / static_cast<double>(n)), steps - 1);
    };
    const auto expect = [&](fb::SoftmaxKind kind, DType dtype, const Bytes& expected) {
      testing::ModelBuilder m;
      const uint32_t x = m.input({-1, n}), y = m.output({-1, n}, dtype);
      fb::SoftmaxOptionsT o;
      o.kind = kind;
      o.table = m.buffer(integer_exponentials());
      m.op(o, {x}, {y});
      testing::expect_outputs(m, 3, {Bytes(elements, 17)}, {expected});
    };
    expect(fb::SoftmaxKind::Q5_26, DType::kUInt8,
           Bytes(elements, static_cast<uint8_t>(share(256))));
    const auto int16_y = static_cast<int16_t>(share(65536) - 32768);
    expect(fb::SoftmaxKind::Q5_26_TO_INT16, DType::kInt16,
           testing::bytes_of(std::vector<int16_t>(elements, int16_y)));
  }
}

TEST(Softmax, IntegersAreCloseToTheRealFunction) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const std::vector<int32_t> table = integer_exponentials();
  const size_t n = 300;
  Bytes x(40 * n), y(x.size());
  std::vector<int16_t> int16_y(x.size());
  random.fill(x, 0, 255);
  softmax_int_rows(table.data(), x.data(), y.data(), 40, n);
  softmax_int_rows(table.data(), x.data(), int16_y.data(), 40, n);
  for (size_t row = 0; row < x.size(); row += n) {
    const int greatest = *std::max_element(&x[row], &x[row] + n);
    const auto e = [&](size_t j) {
      return std::max(table[static_cast<size_t>(255 + x[row + j] - greatest)], 0) / 2147483648.0;
    };
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += e(j);
    for (size_t j = 0; j < n; ++j) {
      const double real = std::min(256 * e(j) / sum, 255.0);
      ASSERT_LE(std::fabs(y[row + j] - real), 0.6);
      const double fine = std::min(65536 * e(j) / sum, 65535.0);
      ASSERT_LE(std::fabs(int16_y[row + j] + 32768 - fine), 0.6);
    }
  }
}

using Damage = std::function<void(testing::ModelBuilder&, fb::SoftmaxOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 10}), y = m.output({-1, 10});
  fb::SoftmaxOptionsT o;
  o.table = m.buffer(exponentials(0.1f));
  o.k = testing::float_bits(256.0f);
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsSoftmax());
  testing::expect_rejected(m, part);
}

// Returns the table with entry i replaced.
Damage with_entry(size_t i, float value) {
  return [i, value](testing::ModelBuilder& m, fb::SoftmaxOptionsT& o) {
    std::vector<float> table = exponentials(0.1f);
    table[i] = value;
    o.table = m.buffer(table);
  };
}

// A softmax has the bits of the definition in floats, and its logarithm is close to the library's
// in double precision.
TEST(Softmax, LogarithmOfASoftmax) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const float scale = 0.1f, output_scale = 0.0625f;
  const int zero_point = 255;
  for (const int64_t n : {1, 2, 10, 100, 1000}) {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 3, n}), y = m.output({-1, 3, n});
    fb::SoftmaxOptionsT o;
    o.kind = fb::SoftmaxKind::LOG_F32;
    o.table = m.buffer(exponentials(scale));
    o.k = testing::float_bits(scale);
    o.output_scale = testing::float_bits(output_scale);
    o.zero_point = zero_point;
    m.op(o, {x}, {y});
    Bytes input(static_cast<size_t>(2 * 3 * n)), expected;
    random.fill(input, 0, 255);
    const std::vector<float> table = exponentials(scale);
    for (size_t row = 0; row < input.size(); row += static_cast<size_t>(n)) {
      const auto begin = input.begin() + static_cast<ptrdiff_t>(row);
      const int most = *std::max_element(begin, begin + n);
      float sum = 0;
      for (auto i = begin; i != begin + n; ++i) sum += table[static_cast<size_t>(255 + *i - most)];
      for (auto i = begin; i != begin + n; ++i) {
        const float v = (static_cast<float>(*i - most) * scale - log_f32(sum)) / output_scale;
        ASSERT_NEAR(log_f32(sum), std::log(static_cast<double>(sum)), 1e-6);
        const double rounded = std::nearbyint(std::fmax(v, -static_cast<float>(zero_point)));
        expected.push_back(static_cast<uint8_t>(std::fmin(rounded + zero_point, 255)));
      }
    }
    testing::expect_outputs(m, 2, {input}, {expected});
  }
}

// A table of pairs to float is divided by the sum of each row.
TEST(Softmax, PairsToFloat) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  std::vector<float> table(65536, 0.25f);
  for (size_t m = 0; m < 256; ++m)
    for (size_t q = 0; q <= m; ++q)
      table[256 * m + q] =
          std::exp(-0.07f * static_cast<float>(m - q) / (1 + 0.01f * static_cast<float>(m)));
  for (const size_t n : {1u, 3u, 100u, 1001u}) {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, static_cast<int64_t>(n)});
    const uint32_t y = m.output({-1, static_cast<int64_t>(n)}, DType::kFloat32);
    fb::SoftmaxOptionsT o;
    o.table = m.buffer(table);
    m.op(o, {x}, {y});
    constexpr size_t kRows = 7;
    Bytes input(kRows * n);
    std::vector<float> expected;
    random.fill(input, 0, 255);
    for (size_t row = 0; row < kRows; ++row) {
      const uint8_t* r = &input[row * n];
      const size_t greatest = *std::max_element(r, r + n);
      float sum = 0;
      for (size_t j = 0; j < n; ++j) sum = sum + table[256 * greatest + r[j]];
      for (size_t j = 0; j < n; ++j) expected.push_back(table[256 * greatest + r[j]] / sum);
    }
    testing::expect_outputs(m, kRows, {input}, {testing::bytes_of(expected)});
  }
}

TEST(Softmax, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::SoftmaxOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 0 (x) is int8, expected uint8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("x has rank 0, expected at least 1", [](M& m, O&) {
    m.at(0).shape.clear();
    m.at(1).shape.clear();
  });
  reject("zero_point is 256, expected 0 to 255", [](M&, O& o) { o.zero_point = 256; });
  reject("zero_point is -1", [](M&, O& o) { o.zero_point = -1; });
  reject("buffer index 7 is out of range", [](M&, O& o) { o.table = 7; });
  reject("the table holds 256 bytes, expected 1024",
         [](M& m, O& o) { o.table = m.buffer(Bytes(256)); });
  reject("table[3] is -1, expected a finite number >= 0", with_entry(3, -1.0f));
  reject("table[4] is nan", with_entry(4, std::nanf("")));
  reject("table[5] is inf", with_entry(5, INFINITY));
  reject("table[255] is 0, expected a normal number > 0", with_entry(255, 0.0f));
  reject("k is 256, expected a finite number >= 0 with k * 0.904837 / 1e-30",
         with_entry(255, 1e-30f));
  reject("k is nan", [](M&, O& o) { o.k = 0x7fc00000; });
  reject("k is -1", [](M&, O& o) { o.k = testing::float_bits(-1.0f); });
  const auto integer = [](std::vector<int32_t> table) {
    return [table](M& m, O& o) {
      o.kind = fb::SoftmaxKind::Q5_26;
      o.table = m.buffer(table);
    };
  };
  std::vector<int32_t> table = integer_exponentials();
  reject("the table holds 1000 bytes, expected 1024", integer(std::vector<int32_t>(250)));
  table[7] = -2;
  reject("table[7] is -2, expected >= -1", integer(table));
  table[7] = 0;
  table[255] = 5;
  reject("table[255] is 5, expected 2^31 - 1", integer(table));
  reject("kind is 7, expected 0 to 6", [](M&, O& o) { o.kind = static_cast<fb::SoftmaxKind>(7); });
  const auto with_stages = [](std::vector<int32_t> entries, int multiplier) {
    return [=](M& m, O& o) {
      o.kind = fb::SoftmaxKind::Q5_26;
      o.table = m.buffer(entries);
      o.stages = std::move(testing::requant_int(multiplier, 20)->stages);
    };
  };
  reject("the table holds 1024 bytes, expected 2048", with_stages(integer_exponentials(), 5));
  std::vector<int32_t> tables = integer_exponentials();
  tables.resize(512);
  reject("stages.multiplier[0] is -1", with_stages(tables, -1));
  tables[3] = -7;
  reject("table[3] is -7, expected >= -1", with_stages(tables, 5));
  const auto pairs = [](size_t i, float v) {
    return [=](M& m, O& o) {
      std::vector<float> entries(65536, 1.0f);
      entries[i] = v;
      o.table = m.buffer(entries);
      m.at(1).dtype = fb::DType::FLOAT32;
    };
  };
  reject("table[3] is 1.5, expected 0 to 1", pairs(3, 1.5f));
  reject("table[4] is nan, expected 0 to 1", pairs(4, std::nanf("")));
  reject("table[514] is 0.5, expected 1", pairs(514, 0.5f));
  reject("the table holds 1024 bytes, expected 262144",
         [](M& m, O&) { m.at(1).dtype = fb::DType::FLOAT32; });
  const auto reciprocal = [](float last, float output_scale, int zero_point) {
    return [=](M& m, O& o) {
      std::vector<float> entries = exponentials(0.1f);
      entries[255] = last;
      o.kind = fb::SoftmaxKind::F32_RECIPROCAL;
      o.table = m.buffer(entries);
      o.output_scale = testing::float_bits(output_scale);
      o.zero_point = zero_point;
    };
  };
  reject("table[255] is 0.5 and the greatest value", reciprocal(0.5f, 0.01f, 0));
  reject("output_scale is 0.003 and zero_point 0, expected 1/256 to 1", reciprocal(1, 0.003f, 0));
  reject("output_scale is 1.5", reciprocal(1, 1.5f, 0));
  reject("output_scale is nan", reciprocal(1, std::nanf(""), 0));
  reject("zero_point 1, expected 1/256 to 1 and 0", reciprocal(1, 0.01f, 1));
  const auto logarithm = [](float last, float scale, float output_scale) {
    return [=](M& m, O& o) {
      std::vector<float> entries = exponentials(0.1f);
      entries[255] = last;
      o.kind = fb::SoftmaxKind::LOG_F32;
      o.table = m.buffer(entries);
      o.k = testing::float_bits(scale);
      o.output_scale = testing::float_bits(output_scale);
    };
  };
  reject("table[255] is 0.5 and the greatest value", logarithm(0.5f, 0.1f, 0.1f));
  reject("k is 0 and output_scale 0.1", logarithm(1.0f, 0.0f, 0.1f));
  reject("output_scale -0.1, expected normal numbers > 0", logarithm(1.0f, 0.1f, -0.1f));
  reject("k is 3e+38, expected a finite number times 255", logarithm(1.0f, 3e38f, 0.1f));
  reject("rows of 4096 values, expected at most 4095", [](M& m, O& o) {
    o.kind = fb::SoftmaxKind::Q5_26;
    o.table = m.buffer(integer_exponentials());
    m.at(0).shape = m.at(1).shape = {-1, 4096};
  });
  reject("k is 2.14748e+09", [](M&, O& o) { o.k = testing::float_bits(2147483648.0f); });
}

}  // namespace
}  // namespace qrt::softmax_test

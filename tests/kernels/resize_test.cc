// SPDX-License-Identifier: Apache-2.0
// Every row of the resize family against its formula, with guard pages: nothing may be over-read.
#include "kernels/resize/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "kernels/integer_build.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::resize_test {
namespace {

using testing::Guarded;
using testing::Random;

class ResizeTest : public ::testing::TestWithParam<ResizeKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa))
      GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam().isa);
  }
};

std::vector<ResizeKernel> rows() {
  size_t n;
  const ResizeKernel* table = resize_kernels(&n);
  return {table, table + n};
}

INSTANTIATE_TEST_SUITE_P(Rows, ResizeTest, ::testing::ValuesIn(rows()),
                         [](const auto& info) { return std::string(info.param.name); });

const std::vector<size_t> kChannels = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 67, 130, 1030};

template <class Weight>
struct Geometry {
  std::vector<int32_t> low, high;
  std::vector<Weight> low_weight, high_weight;
  size_t in_w;

  // Rows of these weights.
  ResizeRow<Weight> rows(size_t channels, const std::vector<Weight>& wl,
                         const std::vector<Weight>& wh) const {
    return {low.size(),         channels,  low.data(), high.data(), low_weight.data(),
            high_weight.data(), wl.data(), wh.data(),  wl.size()};
  }
};

template <class Weight, class F>
Geometry<Weight> geometry(Random* random, const F& weight) {
  Geometry<Weight> g;
  g.in_w = static_cast<size_t>(random->integer(1, 9));
  for (int64_t i = random->integer(1, 12); i > 0; --i) {
    g.low.push_back(static_cast<int32_t>(random->integer(0, static_cast<int64_t>(g.in_w) - 1)));
    g.high.push_back(static_cast<int32_t>(random->integer(0, static_cast<int64_t>(g.in_w) - 1)));
    g.low_weight.push_back(weight());
    g.high_weight.push_back(weight());
  }
  return g;
}

// Scales whose quotients are ties, ordinary ones, and those that saturate.
float resize_scale(Random* random) {
  const float all[] = {1.0f, 0.5f, 0.1f, 0.0283f, 1.7f, 0x1p-100f, 0x1p100f};
  return all[random->integer(0, 6)];
}

// Float32 is summed in its order, for images and for volumes, whose second plane is added to the
// sum of the first.
TEST_P(ResizeTest, Float32InItsOrder) {
  if (is_integer_build()) GTEST_SKIP() << "resize_row_soft() does it in this build";
  Random random;
  SCOPED_TRACE(random.trace());
  // Quarters and eighths make ties.
  const auto weight = [&] {
    const int64_t one = random.coin() ? 8 : 1 << 20;
    return static_cast<float>(random.integer(0, one)) / static_cast<float>(one);
  };
  for (size_t c : kChannels)
    for (const size_t plane_count : {1, 2})
      for (const bool truncates : {false, true})
        for (int run = 0; run < 8; ++run) {
          const auto g = geometry<float>(&random, weight);
          std::deque<Guarded<float>> rows;
          for (int i = 0; i < 4; ++i) rows.emplace_back(g.in_w * c + kResizeOverRead);
          const float step = truncates ? 1.0f : resize_scale(&random);
          for (auto& v : rows)
            for (float& f : v)
              f = static_cast<float>(random.integer(-255, 255)) * (step * kResizePart);
          std::vector<float> wl, wh;
          for (int64_t i = random.integer(1, 3); i > 0; --i) {
            wl.push_back(weight());
            wh.push_back(weight());
          }
          const ResizePlane<float, float> planes[] = {
              {rows[0].data(), rows[1].data(), plane_count > 1 ? weight() : 1.0f},
              {rows[2].data(), rows[3].data(), weight()}};
          const auto offset = static_cast<int32_t>(random.integer(0, 255));
          const auto lo = static_cast<int32_t>(random.coin() ? 0 : random.integer(0, 255));
          const auto hi = static_cast<int32_t>(random.coin() ? 255 : random.integer(lo, 255));
          const float scale = truncates ? 1.0f : random.coin() ? step : resize_scale(&random);
          const double most = 8.0 * 255 * double{step} / double{scale};
          if (GetParam().isa != Isa::kScalar && !is_resize_scale(scale, most)) continue;
          Guarded<uint8_t> y(wl.size() * g.low.size() * c);
          const ResizeRow<float> row = g.rows(c, wl, wh);
          const ResizeBytes bytes = {truncates, scale, offset, lo, hi};
          if (plane_count == 1 && !truncates && c >= kWideResize && random.coin())
            GetParam().f32(row, *planes, bytes, y.data());
          else
            GetParam().f32_general(row, planes, plane_count, bytes, y.data());
          for (size_t at = 0; at < wl.size() * g.low.size(); ++at) {
            const size_t x = at % g.low.size(), r = at / g.low.size();
            const size_t pixels[] = {static_cast<size_t>(g.low[x]) * c,
                                     static_cast<size_t>(g.high[x]) * c};
            for (size_t i = 0; i < c; ++i) {
              volatile float sum = 0;
              for (size_t k = 0; k < 4 * plane_count; ++k) {
                volatile float v = (k & 1 ? g.high_weight : g.low_weight)[x];
                v = v * (k & 2 ? wh : wl)[r];
                v = v * planes[k / 4].weight;
                v = v / kResizePart * rows[k / 2][pixels[k & 1] + i];
                sum = sum + v;
              }
              volatile float steps = sum / scale;
              const float real = truncates ? std::trunc(steps) : std::nearbyint(steps);
              const double exact = static_cast<double>(real) + offset;
              const double expected = exact < lo ? lo : exact > hi ? hi : exact;
              ASSERT_EQ(y[at * c + i], static_cast<uint8_t>(expected))
                  << x << " " << i << " " << step << " " << scale << " " << plane_count;
            }
          }
        }
}

// Float32 sums next to halves of steps are right, where a quotient's own rounding decides.
TEST_P(ResizeTest, Float32NearTies) {
  if (is_integer_build()) GTEST_SKIP() << "resize_row_soft() does it in this build";
  Random random;
  SCOPED_TRACE(random.trace());
  const auto scale_of = [](int64_t significand, int exponent) {
    return std::ldexp(static_cast<float>(significand), exponent);
  };
  for (int run = 0; run < 400; ++run) {
    // The scale's significand: random, or one of few bits plus or minus a little, within those of a float32.
    const int64_t any = random.integer(1 << 23, (1 << 24) - 1), near = random.integer(-20, 20);
    const int64_t part =
        run % 2 == 0 ? any : std::min((any & ~0xffff) + near, int64_t{(1 << 24) - 1});
    const float scale =
        scale_of(std::max(part, int64_t{1 << 23}), static_cast<int>(random.integer(-60, 20)));
    if (GetParam().isa != Isa::kScalar && !is_resize_scale(scale, 256)) continue;
    constexpr int kNear = 3;
    std::vector<float> sums;
    for (int half = -511; half <= 511; half += 2) {
      float sum = scale * (static_cast<float>(half) / 2);
      for (int i = 0; i < kNear; ++i) sum = std::nextafter(sum, -INFINITY);
      for (int i = 0; i <= 2 * kNear; ++i, sum = std::nextafter(sum, INFINITY)) sums.push_back(sum);
    }
    const size_t n = sums.size();
    Guarded<float> row(n + kResizeOverRead);
    for (size_t i = 0; i < n; ++i) row[i] = sums[i] * kResizePart;
    const Geometry<float> g = {{0}, {0}, {1.0f}, {0.0f}, 1};
    const ResizePlane<float, float> plane = {row.data(), row.data(), 1.0f};
    const ResizeBytes bytes = {false, scale, static_cast<int32_t>(random.integer(0, 255)), 0, 255};
    Guarded<uint8_t> y(n);
    GetParam().f32(g.rows(n, {1.0f}, {0.0f}), plane, bytes, y.data());
    for (size_t i = 0; i < n; ++i) {
      volatile float steps = sums[i] / scale;
      const float expected = std::nearbyint(steps) + static_cast<float>(bytes.offset);
      ASSERT_EQ(static_cast<float>(y[i]), std::clamp(expected, 0.0f, 255.0f))
          << sums[i] << " " << scale;
    }
  }
}

// Doubled images are right, whose inner rows and pixels come in pairs: in places one of a pair is
// missing, or is of other sources.
TEST_P(ResizeTest, Float32Doubled) {
  if (is_integer_build()) GTEST_SKIP() << "resize_row_soft() does it in this build";
  Random random;
  SCOPED_TRACE(random.trace());
  size_t count;
  const ResizeKernel& scalar = resize_kernels(&count)[rows().size() - 1];
  for (const size_t c : {64, 65, 67, 128, 200}) {
    for (int run = 0; run < 20; ++run) {
      Geometry<float> g = {{0, 0, 0}, {1, 1, 1}, {1.0f, 0.75f, 0.25f}, {0.0f, 0.25f, 0.75f}, 6};
      for (int32_t x = 1; x < 5; ++x)
        for (const float low : {0.75f, 0.25f}) {
          if (random.integer(0, 7) == 0) continue;
          g.low.push_back(x);
          g.high.push_back(random.integer(0, 7) == 0 ? 5 : x + 1);
          g.low_weight.push_back(low);
          g.high_weight.push_back(1 - low);
        }
      const size_t n = g.low.size() * c;
      std::vector<float> wl, wh;
      for (int64_t i = random.integer(1, 5); i > 0; --i) {
        wl.push_back(i % 2 == 0 ? 0.75f : random.integer(0, 7) == 0 ? 0.5f : 0.25f);
        wh.push_back(1 - wl.back());
      }
      const float scale = 0.0283f;
      Guarded<float> low(g.in_w * c + kResizeOverRead), high(g.in_w * c + kResizeOverRead);
      for (auto* v : {&low, &high})
        for (float& f : *v) f = static_cast<float>(random.integer(-255, 255)) * scale * kResizePart;
      const ResizePlane<float, float> plane = {low.data(), high.data(), 1.0f};
      const ResizeBytes bytes = {false, scale, 128, 3, 250};
      Guarded<uint8_t> y(wl.size() * n), expected(wl.size() * n);
      GetParam().f32(g.rows(c, wl, wh), plane, bytes, y.data());
      scalar.f32_general(g.rows(c, wl, wh), &plane, 1, bytes, expected.data());
      ASSERT_EQ(memcmp(y.data(), expected.data(), y.size()), 0) << c << " channels";
    }
  }
}

TEST(ResizeScales, OfProducts) {
  if (is_integer_build()) GTEST_SKIP() << "resize_row_soft() does it in this build";
  EXPECT_TRUE(is_resize_scale(1.0f, 2040));
  EXPECT_TRUE(is_resize_scale(0.0283f, 2040));
  EXPECT_FALSE(is_resize_scale(1 + 15 * 0x1p-23f, 2040));
  EXPECT_TRUE(is_resize_scale(1 + 16 * 0x1p-23f, 2040));
  EXPECT_TRUE(is_resize_scale(1.5f - 16 * 0x1p-23f, 2040));
  EXPECT_FALSE(is_resize_scale(1.5f - 15 * 0x1p-23f, 2040));
  EXPECT_FALSE(is_resize_scale(1.0f, 0x1p23));
  EXPECT_FALSE(is_resize_scale(0x1p-61f, 1));
  EXPECT_FALSE(is_resize_scale(0x1p61f, 1));
}

// The form by columns is right. Grown images have weights of factors of two, whose sums are ties in
// part; others have random weights.
TEST_P(ResizeTest, Float32ByColumns) {
  if (is_integer_build()) GTEST_SKIP() << "resize_row_soft() does it in this build";
  Random random;
  SCOPED_TRACE(random.trace());
  for (size_t c : kChannels)
    for (int run = 0; run < 60; ++run) {
      const int64_t parts = random.coin() ? 4 << random.integer(0, 5) : 999983;
      const auto weight = [&] {
        return static_cast<float>(random.integer(0, parts)) / static_cast<float>(parts);
      };
      auto g = geometry<float>(&random, weight);
      for (size_t i = 0; i < g.low.size(); ++i) g.high_weight[i] = 1 - g.low_weight[i];
      const size_t n = g.low.size() * c;
      if (n < kLeastColumns) continue;
      const float in = resize_scale(&random), out = random.coin() ? in : resize_scale(&random);
      const auto zero = static_cast<int32_t>(random.integer(0, 255));
      const auto lo = static_cast<int32_t>(random.coin() ? 0 : random.integer(0, 255));
      const auto hi = static_cast<int32_t>(random.coin() ? 255 : random.integer(lo, 255));
      const ResizeBytes bytes = {false, out, static_cast<int32_t>(random.integer(0, 255)), lo, hi};
      ResizeColumns columns = resize_columns(in, bytes, std::max(zero, 255 - zero), 0);
      if (columns.tie == 0 || !is_resize_scale(out, 255.0 * double{in} / double{out})) continue;
      const size_t in_row = g.in_w * c + kResizeOverRead;
      Guarded<float> low(in_row), high(in_row), low_columns(n), high_columns(n);
      for (auto* v : {&low, &high})
        for (float& f : *v)
          f = static_cast<float>(random.integer(0, 255) - zero) * (in * kResizePart);
      std::vector<float> wl, wh;
      for (int64_t i = random.integer(1, 3); i > 0; --i) {
        wl.push_back(weight());
        wh.push_back(1 - wl.back());
      }
      const auto row = g.rows(c, wl, wh);
      const ResizePlane<float, float> plane = {low.data(), high.data(), 1.0f};
      Guarded<uint8_t> y(wl.size() * n), expected(wl.size() * n);
      GetParam().f32_general(row, &plane, 1, bytes, expected.data());
      GetParam().columns(row, low.data(), low_columns.data());
      GetParam().columns(row, high.data(), high_columns.data());
      columns.low = low_columns.data();
      columns.high = high_columns.data();
      GetParam().f32_by_columns(row, plane, columns, bytes, y.data());
      ASSERT_EQ(memcmp(y.data(), expected.data(), y.size()), 0)
          << c << " channels, scales " << in << " and " << out << ", parts " << parts;
    }
}

TEST(ResizeColumns, AreTakenWhereTheyAreRightAndHaveFewTies) {
  if (is_integer_build()) GTEST_SKIP() << "resize_row_soft() does it in this build";
  const auto is_taken = [](float in, float out, double unit) {
    return resize_columns(in, {false, out, 0, 0, 255}, 255, unit).tie > 0;
  };
  EXPECT_TRUE(is_taken(1.0f, 0.0625f, 0));  // 4080 steps
  EXPECT_FALSE(is_taken(1.0f, 0.06f, 0));   // 4250
  EXPECT_FALSE(is_taken(0x1p-70f, 0x1p-70f, 0));
  EXPECT_FALSE(is_taken(0x1p70f, 0x1p70f, 0));
  EXPECT_TRUE(is_taken(0.1f, 0.1f, 1));  // integers
  EXPECT_FALSE(is_taken(0.1f, 0.1f, 1.0 / 16));
  EXPECT_TRUE(is_taken(0.1f, 0.11f, 1.0 / 16));
  EXPECT_FALSE(is_taken(0.1f, 0.2f, 1.0 / 16));
  EXPECT_TRUE(is_taken(0.1f, 0.1f, 1.0 / 64));
}

TEST(ResizeSoft, GivesTheBytesOfTheFloatForm) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto weight = [&] { return static_cast<float>(random.integer(0, 1 << 20)) / (1 << 20); };
  const auto bits = [](float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
  };
  for (const bool truncates : {false, true}) {
    for (int run = 0; run < 40; ++run) {
      const float in = static_cast<float>(random.integer(1, 4000)) / 7919;
      const float out = static_cast<float>(random.integer(1, 4000)) / 7907;
      const int32_t zero = static_cast<int32_t>(random.integer(0, 255));
      const SoftResize s = {truncates, 128, bits(in), bits(out), zero, 255 - zero, 3, 252};
      const size_t c = 5;
      const auto g = geometry<float>(&random, weight);
      Guarded<uint8_t> low(g.in_w * c), high(g.in_w * c), far_low(g.in_w * c), far_high(g.in_w * c),
          y(g.low.size() * c);
      for (auto* v : {&low, &high, &far_low, &far_high})
        for (uint8_t& b : *v) b = static_cast<uint8_t>(random.integer(0, 255));
      const float wl = weight(), wh = weight();
      const bool is_volume = random.coin();
      const ResizePlane<uint8_t, float> planes[] = {
          {low.data(), high.data(), is_volume ? weight() : 1.0f},
          {far_low.data(), far_high.data(), weight()}};
      resize_row_soft(g.rows(c, {wl}, {wh}), s, planes, is_volume ? 2 : 1, y.data());
      const auto real = [&](uint8_t v) {
        return truncates ? static_cast<float>(v - 128) : static_cast<float>(v - zero) * in;
      };
      for (size_t x = 0; x < g.low.size(); ++x) {
        const size_t lo = static_cast<size_t>(g.low[x]) * c,
                     hi = static_cast<size_t>(g.high[x]) * c;
        for (size_t i = 0; i < c; ++i) {
          volatile float v = 0;
          for (int k = 0; k < (is_volume ? 2 : 1); ++k) {
            const ResizePlane<uint8_t, float>& p = planes[k];
            volatile float next = (g.low_weight[x] * wl * p.weight) * real(p.low[lo + i]);
            v = v + next;
            next = (g.high_weight[x] * wl * p.weight) * real(p.low[hi + i]);
            v = v + next;
            next = (g.low_weight[x] * wh * p.weight) * real(p.high[lo + i]);
            v = v + next;
            next = (g.high_weight[x] * wh * p.weight) * real(p.high[hi + i]);
            v = v + next;
          }
          const int64_t q = truncates ? static_cast<int64_t>(v) + 128
                                      : static_cast<int64_t>(std::nearbyint(v / out)) + 255 - zero;
          const int64_t least = truncates ? 0 : 3, most = truncates ? 255 : 252;
          ASSERT_EQ(int64_t{y[x * c + i]}, q < least ? least : q > most ? most : q);
        }
      }
    }
  }
}

int64_t rounded(RoundShift20 round, int64_t v) {
  const double exact = static_cast<double>(v) / (1 << 20);
  switch (round) {
    case RoundShift20::kHalfAway: return static_cast<int64_t>(std::round(exact));
    case RoundShift20::kHalfUp: return static_cast<int64_t>(std::floor(exact + 0.5));
    case RoundShift20::kTruncate: break;
  }
  return static_cast<int64_t>(std::trunc(exact));
}

template <class T, class Run>
void check_integers(int64_t min, int64_t max, const std::vector<int32_t>& offsets, const Run& run) {
  Random random;
  SCOPED_TRACE(random.trace());
  // Halves make ties, 1536 and -512 stand at the left edge of half-pixel grids.
  const auto weight = [&] {
    const int32_t all[] = {0, 256, 512, 1024, 1536, -512, 1023, 1};
    return all[random.integer(0, 7)];
  };
  for (const auto round : {RoundShift20::kHalfAway, RoundShift20::kHalfUp, RoundShift20::kTruncate})
    for (int32_t offset : offsets)
      for (size_t c : kChannels) {
        auto g = geometry<int32_t>(&random, weight);
        for (size_t i = 0; i < g.low.size(); ++i)
          if (std::abs(g.low_weight[i]) + std::abs(g.high_weight[i]) > kMaxResizeWeight)
            g.high_weight[i] = 1024 - g.low_weight[i];
        const bool widest = random.coin();
        const int32_t wl = widest ? 1536 : 512, wh = widest ? -512 : 512;
        Guarded<T> low(g.in_w * c), high(g.in_w * c), y(g.low.size() * c);
        for (auto* v : {&low, &high})
          for (T& t : *v)
            t = static_cast<T>(random.coin() ? random.integer(min, max)
                                             : (random.coin() ? min : max));
        run(g.rows(c, {wl}, {wh}), round, offset, low.data(), high.data(), y.data());
        for (size_t x = 0; x < g.low.size(); ++x) {
          const size_t lo = static_cast<size_t>(g.low[x]) * c;
          const size_t hi = static_cast<size_t>(g.high[x]) * c;
          for (size_t i = 0; i < c; ++i) {
            const auto at = [&](const Guarded<T>& v, size_t k) { return int64_t{v[k]} - offset; };
            const int64_t sum =
                (at(low, lo + i) * g.low_weight[x] + at(low, hi + i) * g.high_weight[x]) * wl +
                (at(high, lo + i) * g.low_weight[x] + at(high, hi + i) * g.high_weight[x]) * wh;
            const int64_t v = rounded(round, sum) + offset;
            ASSERT_EQ(int64_t{y[x * c + i]}, v < min ? min : v > max ? max : v) << x << " " << i;
          }
        }
      }
}

TEST_P(ResizeTest, Bytes) {
  check_integers<uint8_t>(
      0, 255, {0, 128},
      [](const auto& row, auto round, int32_t offset, const uint8_t* low, const uint8_t* high,
         uint8_t* y) { GetParam().u8(row, round, offset, low, high, y); });
}

TEST_P(ResizeTest, Int16) {
  check_integers<int16_t>(
      -32768, 32767, {0},
      [](const auto& row, auto round, int32_t, const int16_t* low, const int16_t* high,
         int16_t* y) { GetParam().s16(row, round, low, high, y); });
}

// v / 2^shift, half to even.
int64_t half_even(int64_t v, int shift) {
  const int64_t unit = int64_t{1} << shift;
  int64_t floor = v / unit - (v % unit < 0 ? 1 : 0);
  const int64_t rest = 2 * (v - floor * unit);
  if (rest > unit || (rest == unit && floor % 2 != 0)) ++floor;
  return floor;
}

// Sums of 57 bits, ties among them, are right.
TEST_P(ResizeTest, FineSums) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto weight = [&] {
    const int32_t all[] = {0,
                           1,
                           1 << 19,
                           1 << 18,
                           kMaxFineResizeWeight,
                           static_cast<int32_t>(random.integer(0, kMaxFineResizeWeight))};
    return all[random.integer(0, 5)];
  };
  for (const int32_t zero : {-32768, -5, 0, 32767})
    for (size_t c : kChannels) {
      auto g = geometry<int32_t>(&random, weight);
      for (size_t i = 0; i < g.low.size(); ++i)
        g.high_weight[i] = kMaxFineResizeWeight - g.low_weight[i];
      const int32_t wl = weight(), wh = kMaxFineResizeWeight - wl;
      Guarded<int16_t> low(g.in_w * c), high(g.in_w * c);
      Guarded<int32_t> y(g.low.size() * c);
      for (auto* v : {&low, &high})
        for (int16_t& t : *v)
          t = static_cast<int16_t>(random.coin()   ? random.integer(-32768, 32767)
                                   : random.coin() ? -32768
                                                   : 32767);
      GetParam().fine(g.rows(c, {wl}, {wh}), zero, low.data(), high.data(), y.data());
      for (size_t x = 0; x < g.low.size(); ++x) {
        const size_t lo = static_cast<size_t>(g.low[x]) * c;
        const size_t hi = static_cast<size_t>(g.high[x]) * c;
        for (size_t i = 0; i < c; ++i) {
          const auto at = [&](const Guarded<int16_t>& v, size_t k) { return int64_t{v[k]} - zero; };
          const int64_t sum =
              (at(low, lo + i) * g.low_weight[x] + at(low, hi + i) * g.high_weight[x]) * wl +
              (at(high, lo + i) * g.low_weight[x] + at(high, hi + i) * g.high_weight[x]) * wh;
          ASSERT_EQ(int64_t{y[x * c + i]}, half_even(sum, 26)) << x << " " << i;
        }
      }
    }
}

// Two planes of wide sums, which reach 2^30, ties among them, are blended right.
TEST_P(ResizeTest, BlendsPlanes) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const int32_t low :
       {0, 1, 3, 1 << 18, 1 << 19, kMaxFineResizeWeight - 1, kMaxFineResizeWeight})
    for (size_t n : kChannels) {
      Guarded<int32_t> high(n), y(n);
      std::vector<int32_t> before(n);
      for (size_t i = 0; i < n; ++i) {
        const auto sum = [&] {
          const int32_t limit = 65535 << 14;
          return static_cast<int32_t>(random.coin()   ? random.integer(-limit, limit)
                                      : random.coin() ? random.integer(-9, 9)
                                      : random.coin() ? limit
                                                      : -limit);
        };
        high[i] = sum();
        y[i] = before[i] = sum();
      }
      GetParam().blend(low, kMaxFineResizeWeight - low, n, high.data(), y.data());
      for (size_t i = 0; i < n; ++i) {
        const int64_t sum =
            int64_t{low} * before[i] + int64_t{kMaxFineResizeWeight - low} * high[i];
        ASSERT_EQ(int64_t{y[i]}, half_even(sum, 20)) << low << " " << i;
      }
    }
}

}  // namespace
}  // namespace qrt::resize_test

// SPDX-License-Identifier: Apache-2.0
// Every row of the pool family against naive loops written from kernels/pool/pool.h. Average pool's
// oracle computes in integers (kernels/soft_float.h): no floating-point instruction takes part.
#include "kernels/pool/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/integer_build.h"
#include "kernels/soft_float.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::pool_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr size_t kSlackBytes = 64;
constexpr uint8_t kUntouched = 0xA5;

class PoolTest : public ::testing::TestWithParam<PoolKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa))
      GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam().isa);
  }
};

std::vector<PoolKernel> rows() {
  size_t n;
  const PoolKernel* table = pool_kernels(&n);
  return {table, table + n};
}

INSTANTIATE_TEST_SUITE_P(Rows, PoolTest, ::testing::ValuesIn(rows()),
                         [](const auto& info) { return std::string(info.param.name); });

// Returns the output sizes that use every window with at least one position inside the image.
size_t output_size(size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad_before,
                   size_t pad_after) {
  return (in + pad_before + pad_after - (kernel - 1) * dilation - 1) / stride + 1;
}

// Returns a random shape: a window of `kernel` fits the padded image, and pads stay below the kernel's reach.
PoolShape random_shape(Random& random, size_t c, bool dilate) {
  PoolShape s{};
  s.c = c;
  const auto axis = [&](size_t* kernel, size_t* stride, size_t* dilation, size_t* pad, size_t* in,
                        size_t* out) {
    *kernel = static_cast<size_t>(random.integer(1, random.integer(0, 3) == 0 ? 9 : 3));
    *dilation = dilate ? static_cast<size_t>(random.integer(1, 3)) : 1;
    *stride = static_cast<size_t>(random.integer(1, 4));
    *pad = static_cast<size_t>(random.integer(0, static_cast<int64_t>(*kernel) - 1));
    const size_t pad_after =
        static_cast<size_t>(random.integer(0, static_cast<int64_t>(*kernel) - 1));
    const size_t reach = (*kernel - 1) * *dilation + 1;
    *in = static_cast<size_t>(random.integer(1, 13));
    while (*in + *pad + pad_after < reach) ++*in;
    *out = output_size(*in, *kernel, *stride, *dilation, *pad, pad_after);
  };
  axis(&s.kernel_h, &s.stride_h, &s.dilation_h, &s.pad_top, &s.in_h, &s.out_h);
  axis(&s.kernel_w, &s.stride_w, &s.dilation_w, &s.pad_left, &s.in_w, &s.out_w);
  return s;
}

// Calls visit(input offset of channel 0) for the window's positions inside the image, in (h, w)
// order.
template <class Visit>
void for_each_position(const PoolShape& s, size_t oh, size_t ow, Visit visit) {
  for (size_t i = 0; i < s.kernel_h; ++i) {
    for (size_t j = 0; j < s.kernel_w; ++j) {
      const size_t h = oh * s.stride_h + i * s.dilation_h, w = ow * s.stride_w + j * s.dilation_w;
      if (h < s.pad_top || h - s.pad_top >= s.in_h) continue;
      if (w < s.pad_left || w - s.pad_left >= s.in_w) continue;
      visit(((h - s.pad_top) * s.in_w + w - s.pad_left) * s.c);
    }
  }
}

// Returns false where some window lies wholly outside the image, which no model may have.
bool every_window_meets_the_image(const PoolShape& s) {
  for (size_t oh = 0; oh < s.out_h; ++oh) {
    for (size_t ow = 0; ow < s.out_w; ++ow) {
      bool meets = false;
      for_each_position(s, oh, ow, [&](size_t) { meets = true; });
      if (!meets) return false;
    }
  }
  return true;
}

PoolShape legal_shape(Random& random, size_t c, bool dilate) {
  for (;;) {
    const PoolShape s = random_shape(random, c, dilate);
    if (every_window_meets_the_image(s)) return s;
  }
}

std::string describe(const PoolShape& s) {
  std::string text;
  for (size_t v : {s.in_h, s.in_w, s.c, s.out_h, s.out_w, s.kernel_h, s.kernel_w, s.stride_h,
                   s.stride_w, s.dilation_h, s.dilation_w, s.pad_top, s.pad_left})
    text += std::to_string(v) + " ";
  return text;
}

std::vector<uint8_t> copy_of(const Guarded<uint8_t>& g) { return {g.data(), g.data() + g.size()}; }

void check_max(const PoolKernel& kernel, Random& random, const PoolShape& s, size_t begin,
               size_t end) {
  Guarded<uint8_t> input(s.in_h * s.in_w * s.c, kSlackBytes);
  random.fill(input, 0, 255);
  Guarded<uint8_t> output(s.out_h * s.out_w * s.c);
  std::vector<uint8_t> expected(output.size(), kUntouched);
  for (size_t oh = begin; oh < end; ++oh) {
    for (size_t ow = 0; ow < s.out_w; ++ow) {
      for (size_t ch = 0; ch < s.c; ++ch) {
        uint8_t best = 0;
        for_each_position(s, oh, ow, [&](size_t x) {
          if (input[x + ch] > best) best = input[x + ch];
        });
        expected[(oh * s.out_w + ow) * s.c + ch] = best;
      }
    }
  }
  kernel.max({s, input.data(), output.data(), begin, end});
  ASSERT_EQ(copy_of(output), expected) << describe(s) << random.trace();
}

// Numbers of channels around the vector widths of every instruction set.
constexpr size_t kChannels[] = {1,   2,   3,   5,   7,   8,   9,   15,  16, 17, 24,
                                31,  32,  33,  37,  48,  61,  63,  64,  65, 67, 96,
                                127, 128, 129, 131, 160, 191, 192, 193, 257};

TEST_P(PoolTest, MaxEqualsTheNaiveLoop) {
  Random random;
  for (size_t c : kChannels)
    for (int i = 0; i < 24; ++i) {
      const PoolShape s = legal_shape(random, c, true);
      ASSERT_NO_FATAL_FAILURE(check_max(GetParam(), random, s, 0, s.out_h));
    }
}

TEST_P(PoolTest, MaxOfLargeWindowsEqualsTheNaiveLoop) {
  Random random;
  for (size_t c : {1, 20, 64, 130}) {
    for (size_t kernel : {5, 9, 13, 70, 150}) {
      for (size_t stride : {1, 2, 3}) {
        PoolShape s{{6, 163, 6, 0, 5, kernel, 1, stride, 1, 1, 2, kernel / 2}, c};
        s.out_w = output_size(s.in_w, kernel, stride, 1, kernel / 2, kernel / 2);
        ASSERT_NO_FATAL_FAILURE(check_max(GetParam(), random, s, 0, s.out_h));
      }
    }
  }
}

// Checks maxima over whole images, tall and wide, whose pixels are one run, smaller and larger than
// a vector and a strip. Also checks windows with dilated rows or columns.
TEST_P(PoolTest, MaxOfWholeImagesEqualsTheNaiveLoop) {
  Random random;
  for (size_t c : {1, 2, 3, 5, 16, 21, 31, 32, 33, 64, 100, 129, 1024, 9000}) {
    for (size_t n : {64, 65, 79, 127, 128, 200, 1111}) {
      if (c * n > 1000000) continue;
      const PoolShape tall{{n, 1, 1, 1, n, 1, 1, 1, 1, 1, 0, 0}, c};
      const PoolShape wide{{1, n, 1, 1, 1, n, 1, 1, 1, 1, 0, 0}, c};
      const PoolShape apart{{n * 2, 3, 2, 3, n, 1, 1, 1, 2, 1, 0, 0}, c};
      const PoolShape steps{{3, n * 2, 3, 2, 1, n, 1, 1, 1, 2, 0, 0}, c};
      for (const PoolShape& s : {tall, wide, apart, steps})
        ASSERT_NO_FATAL_FAILURE(check_max(GetParam(), random, s, 0, s.out_h));
    }
  }
}

// The windows have several rows and columns, with and without dilation, and are cut by the image's
// edges.
TEST_P(PoolTest, MaxOfLargeWindowsOfBothSidesEqualsTheNaiveLoop) {
  Random random;
  for (size_t c : {1, 2, 3, 7, 16, 32, 33, 64, 70, 8200})
    for (size_t kernel : {8, 9, 13})
      for (size_t dilation : {1, 2}) {
        if (c > 70 && (kernel > 8 || dilation > 1)) continue;
        const size_t in = 2 * (kernel - 1) * dilation + 3, pad = kernel / 2, stride = kernel + 1;
        PoolShape s{{in, in, 0, 0, kernel, kernel, stride, stride, dilation, dilation, pad, pad},
                    c};
        s.out_h = s.out_w = output_size(in, kernel, stride, dilation, pad, pad);
        ASSERT_NO_FATAL_FAILURE(check_max(GetParam(), random, s, 0, s.out_h));
        // The whole image: its rows are one run where there is no dilation.
        const PoolShape whole{{kernel, kernel, 1, 1, kernel, kernel, 1, stride, 1, 1, 0, 0}, c};
        ASSERT_NO_FATAL_FAILURE(check_max(GetParam(), random, whole, 0, 1));
      }
}

TEST_P(PoolTest, MaxStoresTheRowsAskedForOnly) {
  Random random;
  for (int i = 0; i < 40; ++i) {
    const PoolShape s = legal_shape(random, static_cast<size_t>(random.integer(1, 70)), true);
    const auto begin = static_cast<size_t>(random.integer(0, static_cast<int64_t>(s.out_h)));
    const auto end = static_cast<size_t>(
        random.integer(static_cast<int64_t>(begin), static_cast<int64_t>(s.out_h)));
    ASSERT_NO_FATAL_FAILURE(check_max(GetParam(), random, s, begin, end));
  }
}

struct AverageCase {
  float input_scale, output_scale;
  int32_t input_zero_point, output_zero_point, output_offset;
  bool count_include_pad;
};

void check_average(const PoolKernel& kernel, Random& random, const PoolShape& s,
                   const AverageCase& a, size_t begin, size_t end) {
  Guarded<uint8_t> input(s.in_h * s.in_w * s.c, kSlackBytes);
  random.fill(input, 0, 255);
  Guarded<float> value(256);
  for (int x = 0; x < 256; ++x) {
    const soft::Bits v =
        soft::mul(soft::bits_of(a.input_scale), soft::from_int(x - a.input_zero_point));
    memcpy(&value[static_cast<size_t>(x)], &v, 4);
  }
  Guarded<uint8_t> output(s.out_h * s.out_w * s.c);
  std::vector<uint8_t> expected(output.size(), kUntouched);
  for (size_t oh = begin; oh < end; ++oh) {
    for (size_t ow = 0; ow < s.out_w; ++ow) {
      for (size_t ch = 0; ch < s.c; ++ch) {
        soft::Bits sum = 0;
        int64_t count = 0;
        for_each_position(s, oh, ow, [&](size_t x) {
          sum = soft::add(sum, soft::bits_of(value[input[x + ch]]));
          ++count;
        });
        if (a.count_include_pad) count = static_cast<int64_t>(s.kernel_h * s.kernel_w);
        const soft::Bits mean = soft::div(sum, soft::from_int(count));
        const soft::Bits steps = soft::div(mean, soft::bits_of(a.output_scale));
        const int64_t q =
            steps == soft::kInfinity ? 255
            : steps == (soft::kInfinity | 1u << 31)
                ? 0
                : soft::to_int(soft::add(steps, soft::from_int(a.output_zero_point))) +
                      a.output_offset;
        expected[(oh * s.out_w + ow) * s.c + ch] = static_cast<uint8_t>(clamp_int(q, 0, 255));
      }
    }
  }
  AveragePoolArgs args = {s,
                          value.data(),
                          a.input_scale,
                          a.input_zero_point,
                          a.output_scale,
                          a.output_zero_point,
                          a.output_offset,
                          a.count_include_pad,
                          input.data(),
                          output.data(),
                          begin,
                          end,
                          0};
  for (const float sum_scale : {0.0f, average_sum_scale(args)}) {
    args.sum_scale = sum_scale;
    std::fill(output.begin(), output.end(), kUntouched);
    kernel.average(args);
    ASSERT_EQ(copy_of(output), expected)
        << describe(s) << std::hexfloat << a.input_scale << " " << a.output_scale << " "
        << a.input_zero_point << " " << a.output_zero_point << " " << sum_scale << " "
        << random.trace();
  }
}

AverageCase random_average(Random& random) {
  AverageCase a{};
  const int exponent = static_cast<int>(random.integer(-10, 2));
  a.input_scale = random.scale(exponent);
  a.output_scale = random.scale(exponent + static_cast<int>(random.integer(-3, 3)));
  a.input_zero_point = static_cast<int32_t>(random.integer(0, 255));
  a.output_offset = random.coin() ? 128 : 0;
  a.output_zero_point = static_cast<int32_t>(random.integer(0, 255)) - a.output_offset;
  a.count_include_pad = random.coin();
  return a;
}

TEST_P(PoolTest, AverageEqualsItsIntegerDefinition) {
  Random random;
  for (size_t c : kChannels)
    for (int i = 0; i < 12; ++i) {
      const PoolShape s = legal_shape(random, c, false);
      ASSERT_NO_FATAL_FAILURE(
          check_average(GetParam(), random, s, random_average(random), 0, s.out_h));
    }
}

// An average rounds ties after adding the zero point: power-of-two scales and windows of two and
// four put one output in six on a tie.
TEST_P(PoolTest, AverageRoundsTiesAfterAddingTheZeroPoint) {
  Random random;
  for (int zero_point = 0; zero_point < 4; ++zero_point) {
    for (size_t kernel : {1, 2}) {
      const PoolShape s{{12, 12, 12 / kernel, 6, kernel, 2, kernel, 2, 1, 1, 0, 0}, 37};
      for (float ratio : {0.25f, 0.5f, 1.0f, 2.0f}) {
        const AverageCase a{0.125f, 0.125f * ratio, 100, zero_point, 0, false};
        ASSERT_NO_FATAL_FAILURE(check_average(GetParam(), random, s, a, 0, s.out_h));
      }
    }
  }
}

// Averages by integer sums are right: windows of an odd number of positions and equal scales leave
// no sum near a tie.
TEST_P(PoolTest, AverageByIntegerSums) {
  Random random;
  for (const size_t kernel : {3, 5, 7}) {
    for (const size_t c : {1, 16, 37, 64, 131}) {
      const PoolShape s{{9, 9, 9, 9, kernel, kernel, 1, 1, 1, 1, kernel / 2, kernel / 2}, c};
      for (const int zero_point : {0, 128, 255}) {
        const AverageCase a{0.0283f, 0.0283f, zero_point, zero_point - 128, 128, random.coin()};
        ASSERT_NO_FATAL_FAILURE(check_average(GetParam(), random, s, a, 0, s.out_h));
      }
    }
  }
}

float sum_scale_of(size_t kernel_h, size_t kernel_w, float in, float out) {
  AveragePoolArgs args{};
  args.shape = {{9, 9, 9, 9, kernel_h, kernel_w, 1, 1, 1, 1, 0, 0}, 1};
  args.input_scale = in;
  args.output_scale = out;
  args.input_zero_point = 100;
  return average_sum_scale(args);
}

// An average is computed by a scale of its sums only if no sum is so near halfway between two bytes
// that the definition's roundings matter.
TEST(AverageSumScaleTest, IsThereWhereNoSumIsNearATie) {
  if (is_integer_build()) GTEST_SKIP() << "sums are the definition's";
  EXPECT_EQ(sum_scale_of(3, 3, 0.1f, 0.1f), static_cast<float>(1 / 9.0));
  EXPECT_EQ(sum_scale_of(7, 9, 0.2f, 0.2f), static_cast<float>(1 / 63.0));
  EXPECT_EQ(sum_scale_of(1, 3, 0.25f, 0.5f), 0);  // 3 / 6
  EXPECT_EQ(sum_scale_of(2, 2, 0.1f, 0.1f), 0);   // 2 / 4
  EXPECT_EQ(sum_scale_of(9, 9, 0.1f, 0.1f), 0);   // more positions than are tried
  EXPECT_EQ(sum_scale_of(3, 3, 0x1p-90f, 0x1p-90f), 0);
  // Quotients within the definition's error of 1 / 2, and well beyond it.
  EXPECT_EQ(sum_scale_of(1, 1, 0.5f, std::nextafter(1.0f, 2.0f)), 0);
  EXPECT_NE(sum_scale_of(1, 1, 0.5f, 1.01f), 0);
}

TEST_P(PoolTest, AverageSaturatesAtExtremeScales) {
  Random random;
  const PoolShape s{{5, 5, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1}, 70};
  for (float in : {0x1p-100f, 0x1.8p-20f, 0x1p-1f, 0x1.4p+20f, 0x1.1p+100f}) {
    for (float out : {0x1.2p-100f, 0x1p-20f, 0x1.8p-1f, 0x1p+20f, 0x1p+100f}) {
      const AverageCase a{in, out, 128, -3, 128, true};
      ASSERT_NO_FATAL_FAILURE(check_average(GetParam(), random, s, a, 0, s.out_h));
    }
  }
}

TEST_P(PoolTest, AverageStoresTheRowsAskedForOnly) {
  Random random;
  for (int i = 0; i < 40; ++i) {
    const PoolShape s = legal_shape(random, static_cast<size_t>(random.integer(1, 70)), false);
    const auto begin = static_cast<size_t>(random.integer(0, static_cast<int64_t>(s.out_h)));
    const auto end = static_cast<size_t>(
        random.integer(static_cast<int64_t>(begin), static_cast<int64_t>(s.out_h)));
    ASSERT_NO_FATAL_FAILURE(
        check_average(GetParam(), random, s, random_average(random), begin, end));
  }
}

struct GlobalCase {
  size_t pixels, c;
  int32_t zero_point;
};

void check_global(const PoolKernel& kernel, Random& random, const GlobalCase& g,
                  const Requant& requant, size_t begin, size_t end) {
  Guarded<uint8_t> input(g.pixels * g.c, kSlackBytes);
  random.fill(input, 0, 255);
  Guarded<uint8_t> output(g.c);
  std::vector<uint8_t> expected(g.c, kUntouched);
  for (size_t ch = begin; ch < end; ++ch) {
    int32_t sum = 0;
    for (size_t p = 0; p < g.pixels; ++p) sum += input[p * g.c + ch] - g.zero_point;
    expected[ch] = static_cast<uint8_t>(requantize(requant, sum, 0));
  }
  kernel.global_sum(
      {input.data(), g.pixels, g.c, g.zero_point, requant, output.data(), begin, end});
  ASSERT_EQ(copy_of(output), expected)
      << g.pixels << " x " << g.c << " zero point " << g.zero_point << " " << random.trace();
}

// The arrays of a per-tensor requantisation, repeated for each channel as the contract requires.
struct Arrays {
  std::vector<float> scale;
  std::vector<int32_t> multiplier;
  std::vector<uint8_t> shift;
};

Requant f32_requant(Random& random, Arrays& arrays, size_t pixels) {
  arrays.scale.assign(
      320, random.scale(static_cast<int>(random.integer(-3, 1))) / static_cast<float>(pixels));
  Requant r{};
  r.kind = RequantKind::kF32;
  r.scale = arrays.scale.data();
  r.zero_point = static_cast<int32_t>(random.integer(0, 255));
  r.lo = static_cast<int32_t>(random.integer(0, 3) == 0 ? r.zero_point : 0);
  r.hi = static_cast<int32_t>(random.integer(0, 3) == 0 ? random.integer(r.lo, 255) : 255);
  return r;
}

constexpr size_t kPixels[] = {1, 2, 3, 4, 7, 49, 64, 196, 255, 256, 257, 258, 513, 771, 3136};

TEST_P(PoolTest, GlobalSumEqualsTheNaiveLoop) {
  Random random;
  for (size_t c : kChannels) {
    for (size_t pixels : kPixels) {
      Arrays arrays;
      const Requant r = f32_requant(random, arrays, pixels);
      const GlobalCase g{pixels, c, static_cast<int32_t>(random.integer(0, 255))};
      ASSERT_NO_FATAL_FAILURE(check_global(GetParam(), random, g, r, 0, c));
    }
  }
}

TEST_P(PoolTest, GlobalSumAcceptsEveryKindOfRequantisation) {
  Random random;
  for (int kind = 0; kind < 7; ++kind) {
    for (size_t c : {1, 17, 64, 100}) {
      Arrays arrays;
      Requant r = f32_requant(random, arrays, 50);
      if (kind == 1) r.round = Round::kHalfUp;
      if (kind == 2 || kind == 3) {
        r.zero_point_before = true;
        r.fused = kind == 3;
      }
      if (kind == 4) {  // scales whose product passes 2^31
        for (float& s : arrays.scale) s = 0x1p+30f;
      }
      if (kind == 5) {
        arrays.multiplier.assign(320, 1717986918);
        arrays.shift.assign(320, 37);
        r.kind = RequantKind::kInt;
        r.stage_count = 1;
        r.stages[0] = {arrays.multiplier.data(), arrays.shift.data(), Round::kHalfUp, INT32_MIN,
                       INT32_MAX};
      }
      constexpr int32_t kOne = 1, kFactor = 1717986918;
      constexpr uint8_t k31 = 31, kSix = 6;
      if (kind == 6) {
        r.kind = RequantKind::kInt;
        r.stage_count = 2;
        r.stages[0] = {&kFactor, &k31, Round::kHalfUp, INT32_MIN, INT32_MAX};
        r.stages[1] = {&kOne, &kSix, Round::kHalfAway, -100, 90};
      }
      ASSERT_NO_FATAL_FAILURE(check_global(GetParam(), random, {50, c, 100}, r, 0, c));
    }
  }
}

TEST_P(PoolTest, GlobalSumStoresTheChannelsAskedForOnly) {
  Random random;
  Arrays arrays;
  const Requant r = f32_requant(random, arrays, 30);
  const size_t ranges[][2] = {{0, 0},   {0, 64},   {0, 128},   {64, 128},
                              {64, 64}, {64, 192}, {128, 200}, {192, 200}};
  for (const auto& range : ranges)
    ASSERT_NO_FATAL_FAILURE(check_global(GetParam(), random, {30, 200, 7}, r, range[0], range[1]));
}

// A global sum holds the greatest image: with one channel it reaches 255 * (2^23 - 1).
TEST_P(PoolTest, GlobalSumHoldsTheGreatestImage) {
  const size_t pixels = (1u << 23) - 1;
  Guarded<uint8_t> input(pixels, kSlackBytes);
  for (uint8_t& x : input) x = 255;
  Arrays arrays;
  arrays.scale.assign(64, 0x1p-23f);
  Requant r{};
  r.kind = RequantKind::kF32;
  r.scale = arrays.scale.data();
  r.hi = 255;
  for (int32_t zero_point : {0, 3, 255}) {
    Guarded<uint8_t> output(1);
    const int32_t sum = static_cast<int32_t>(pixels) * (255 - zero_point);
    GetParam().global_sum({input.data(), pixels, 1, zero_point, r, output.data(), 0, 1});
    ASSERT_EQ(output[0], requantize(r, sum, 0));
  }
}

TEST(PoolSelection, TakesTheBestRowTheSetsAllow) {
  ASSERT_EQ(select_pool(static_cast<IsaSet>(Isa::kScalar))->isa, Isa::kScalar);
  size_t n;
  const PoolKernel* table = pool_kernels(&n);
  for (size_t i = 0; i < n; ++i) {
    const IsaSet set = capped(~IsaSet{0}, table[i].isa);
    ASSERT_EQ(select_pool(set)->name, table[i].name);
  }
}

}  // namespace
}  // namespace qrt::pool_test

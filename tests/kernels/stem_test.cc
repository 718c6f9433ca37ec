// SPDX-License-Identifier: Apache-2.0
// Every stem kernel of this CPU against a naive loop written from the definition of a convolution: numbers
// of outputs, kernels whose rows share dwords and others, strides, borders, requantisations, strips of rows.
#include "kernels/stem/stem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/gemm/pack.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/layer_requants.h"
#include "tests/support/random.h"
#include "tests/support/stored_rows.h"

namespace qrt::stem_test {
namespace {

using testing::float_requant;
using testing::Guarded;
using testing::LayerRequants;
using testing::Random;

constexpr size_t kSlack = 64;

size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

// Returns a square kernel, padded by half of it.
StemShape shape_of(size_t h, size_t w, size_t c, size_t n, size_t kernel, size_t stride) {
  StemShape s;
  s.in_h = h, s.in_w = w, s.in_c = c, s.out_c = n;
  s.out_h = (h + stride - 1) / stride, s.out_w = (w + stride - 1) / stride;
  s.kernel_h = s.kernel_w = kernel;
  s.stride_h = s.stride_w = stride, s.dilation_h = s.dilation_w = 1;
  s.pad_top = s.pad_left = kernel / 2;
  return s;
}

class StemTester {
 public:
  StemTester& y_gap(size_t v) { return y_gap_ = v, *this; }
  StemTester& rows_per_call(size_t v) { return rows_per_call_ = v, *this; }
  StemTester& bias(int32_t most) { return bias_ = most, *this; }
  StemTester& pixels(int lo, int hi) { return lo_ = lo, hi_ = hi, *this; }
  StemTester& weights(int lo, int hi) { return least_ = lo, most_ = hi, *this; }
  // Sets the requantisation. Unless set, most sums differ in the result.
  StemTester& requant(const Requant& r) { return requant_ = r, *this; }

  void run(const StemShape& s, const StemKernel& kernel, Random* random) const {
    SCOPED_TRACE(std::string(kernel.name) + " " + std::to_string(s.in_h) + "x" +
                 std::to_string(s.in_w) + "x" + std::to_string(s.in_c) + " to " +
                 std::to_string(s.out_h) + "x" + std::to_string(s.out_w) + "x" +
                 std::to_string(s.out_c) + ", kernel " + std::to_string(s.kernel_h) + "x" +
                 std::to_string(s.kernel_w) + " " + random->trace());
    const size_t k = s.row_bytes(), products = s.kernel_h * k;
    std::vector<int8_t> source(s.out_c * products);
    random->fill(source, least_, most_);
    std::vector<int8_t> packed(gemm_packed_bytes(s.out_c, s.kernel_h, k));
    gemm_pack(source.data(), s.out_c, s.kernel_h, k, packed.data());
    Guarded<int8_t> weights(stem_weight_bytes(s));
    stem_weights(packed.data(), s, weights.data());
    Guarded<uint32_t> offsets(stem_offset_count(s));
    stem_offsets(s, offsets.data());

    Guarded<uint8_t> x(s.in_h * s.in_w * s.in_c, kSlack);
    for (auto& v : x) v = static_cast<uint8_t>(random->integer(lo_, hi_));
    // A sum of products deviates by some 10000 for each, to 40 about the middle.
    const double unit = 40 / (1e4 * std::sqrt(static_cast<double>(products)));
    std::vector<float> scale(round_up(s.out_c, 64));
    for (float& v : scale) v = static_cast<float>(unit * (0.5 + random->integer(0, 1000) * 1e-3));
    const bool is_set = requant_.scale != nullptr || requant_.stage_count > 0;
    const Requant requant = is_set ? requant_ : float_requant(scale, 110);
    const int32_t bound = bias_ != 0 ? bias_ : static_cast<int32_t>(40 / unit);
    Guarded<int32_t> bias(round_up(s.out_c, 64));
    for (auto& v : bias) v = static_cast<int32_t>(random->integer(-bound, bound));

    const size_t y_pitch = s.out_c + y_gap_, out_pixels = s.out_h * s.out_w;
    Guarded<uint8_t> y((out_pixels - 1) * y_pitch + s.out_c);
    Guarded<uint8_t> scratch(round_up(stem_scratch_bytes(s), 64));
    StemArgs args;
    args.shape = s;
    args.x = x.data();
    args.zero_point = static_cast<uint8_t>(random->integer(lo_, hi_));
    args.weights = weights.data(), args.offsets = offsets.data(), args.bias = bias.data();
    ASSERT_TRUE(kernel.handles(requant, s.out_c));
    args.requant = requant;
    args.y = y.data(), args.y_pitch = y_pitch;
    args.scratch = scratch.data();
    const size_t rows = std::min(rows_per_call_, stem_rows_per_call(s));
    for (args.row_begin = 0; args.row_begin < s.out_h; args.row_begin = args.row_end) {
      args.row_end = std::min(args.row_begin + rows, s.out_h);
      kernel.fn(args);
    }

    const auto sum = [&](size_t p, size_t o) {
      auto acc = static_cast<uint32_t>(bias[o]);
      for (size_t ky = 0; ky < s.kernel_h; ++ky)
        for (size_t kx = 0; kx < s.kernel_w; ++kx) {
          const size_t iy = p / s.out_w * s.stride_h + ky * s.dilation_h - s.pad_top;
          const size_t ix = p % s.out_w * s.stride_w + kx - s.pad_left;
          const bool inside = iy < s.in_h && ix < s.in_w;
          const uint8_t* in = x.data() + (inside ? (iy * s.in_w + ix) * s.in_c : 0);
          const int8_t* w = &source[((o * s.kernel_h + ky) * s.kernel_w + kx) * s.in_c];
          for (size_t i = 0; i < s.in_c; ++i)
            acc += static_cast<uint32_t>((inside ? in[i] : args.zero_point) * w[i]);
        }
      return static_cast<int32_t>(acc);
    };
    testing::expect_rows(y.data(), out_pixels, s.out_c, y_pitch, requant, sum);
  }

 private:
  size_t y_gap_ = 0, rows_per_call_ = SIZE_MAX;
  int lo_ = 0, hi_ = 255, least_ = -128, most_ = 127;
  int32_t bias_ = 0;  // 0: as the sums
  Requant requant_ = {};
};

template <class F>
void for_kernels(const F& f) {
  const auto kernels = testing::rows_of_this_cpu(stem_kernels);
  for (const auto& kernel : kernels) f(kernel);
  if (kernels.empty()) GTEST_SKIP() << "no stem kernel for this CPU";
}

TEST(Stem, SharedDwords) {
  EXPECT_EQ(shape_of(8, 8, 3, 1, 3, 2).steps(), 7u);    // 6 and one for three bytes
  EXPECT_EQ(shape_of(8, 8, 1, 1, 5, 1).steps(), 7u);    // 5 and two for five bytes
  EXPECT_EQ(shape_of(8, 8, 3, 1, 7, 2).steps(), 37u);   // 35 and two for seven
  EXPECT_EQ(shape_of(8, 8, 3, 1, 11, 4).steps(), 99u);  // outputs are too far apart
  EXPECT_EQ(shape_of(8, 8, 1, 1, 4, 1).steps(), 4u);    // no rest
  EXPECT_EQ(shape_of(8, 8, 1, 1, 3, 1).steps(), 3u);    // nothing to gain
}

TEST(Stem, AllOutputs) {
  for_kernels([](const StemKernel& kernel) {
    Random random;
    for (size_t n = 1; n <= 70; ++n)
      for (size_t gap : {0, 5})
        StemTester().y_gap(gap).run(shape_of(5, 7, 3, n, 3, 1), kernel, &random);
  });
}

TEST(Stem, AllTails) {
  for_kernels([](const StemKernel& kernel) {
    Random random;
    for (size_t n : {8, 24})
      for (size_t h : {1, 2, 3, 7})
        for (size_t w = 1; w < 40; ++w)
          StemTester().run(shape_of(h, w, 3, n, 3, 2), kernel, &random);
  });
}

TEST(Stem, KernelsStridesBorders) {
  for_kernels([](const StemKernel& kernel) {
    Random random;
    for (size_t c : {1, 2, 3, 5})
      for (size_t kernel_h : {1, 2, 3, 5, 10})
        for (size_t kernel_w : {1, 3, 4, 5, 7})
          for (size_t stride : {1, 2, 3, 8})
            for (size_t pad : {0, 1, 9}) {
              StemShape s = shape_of(11, 13, c, 17, 3, 1);
              s.kernel_h = kernel_h, s.kernel_w = kernel_w;
              s.stride_h = 9 - stride, s.stride_w = stride;
              s.dilation_h = 1 + pad % 2;
              s.pad_top = pad, s.pad_left = pad / 2;
              s.out_h = 3, s.out_w = 19;
              StemTester().run(s, kernel, &random);
            }
  });
}

TEST(Stem, Strips) {
  for_kernels([](const StemKernel& kernel) {
    Random random;
    for (size_t rows_per_call : {1, 2, 3, 5, 8})
      StemTester()
          .rows_per_call(rows_per_call)
          .y_gap(9)
          .run(shape_of(23, 11, 3, 20, 3, 2), kernel, &random);
    const StemShape large = shape_of(150, 140, 3, 12, 3, 1);
    ASSERT_LT(stem_rows_per_call(large), large.out_h);
    StemTester().run(large, kernel, &random);
  });
}

TEST(Stem, GreatestSums) {
  for_kernels([](const StemKernel& kernel) {
    Random random;
    const std::vector<float> scale(64, 100 / (255 * 128 * 147.0f));
    for (int sign : {-128, 127})
      StemTester()
          .pixels(255, 255)
          .weights(sign, sign)
          .requant(float_requant(scale, 120))
          .bias(1 << 18)
          .run(shape_of(9, 9, 3, 20, 7, 2), kernel, &random);
  });
}

TEST(Stem, Requantisations) {
  for_kernels([](const StemKernel& kernel) {
    Random random;
    const StemShape shape = shape_of(5, 27, 3, 40, 5, 1), dot = shape_of(1, 1, 3, 18, 5, 1);
    LayerRequants requants(&random);
    const auto check = [&](const Requant& r, int32_t bias) {
      for (const StemShape& s : {shape, dot})
        StemTester().requant(r).bias(bias).y_gap(3).run(s, kernel, &random);
    };
    Requant r = requants.in_float(120);
    check(r, INT32_MAX);
    r.lo = 9, r.hi = 240;
    check(r, INT32_MAX);
    r.zero_point = r.lo = 0, r.hi = 255;
    requants.limit_scales(0.01f);
    check(r, 1 << 20);
    r.zero_point_before = true, r.fused = true, r.zero_point = 0, r.offset = 100;
    EXPECT_FALSE(kernel.handles(r, 18));
    for (int lowest : {1, 7}) {
      requants.draw_shifts(lowest);
      EXPECT_FALSE(kernel.handles(requants.one_stage(Round::kFloor, 128), 18));
      for (int32_t zero_point : {128, 0})
        check(requants.one_stage(Round::kHalfUp, zero_point), 1 << 20);
      check(requants.two_stages(128), 1 << 20);
    }
  });
}

}  // namespace
}  // namespace qrt::stem_test

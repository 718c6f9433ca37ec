// SPDX-License-Identifier: Apache-2.0
// Every narrow kernel of this CPU against a naive loop written from the definition of a convolution:
// numbers of outputs and inputs, borders, dilations, windows within a kernel, requantisations, strips of
// rows; and how joined pixels and windows are found.
#include "kernels/narrow/narrow.h"

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

namespace qrt::narrow_test {
namespace {

using testing::float_requant;
using testing::Guarded;
using testing::LayerRequants;
using testing::Random;

constexpr size_t kSlack = 64;

size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

// Weights [out_c][kernel_h][kernel_w][in_c], and how gemm_pack() packs them.
struct Weights {
  size_t out_c, kernel_h, kernel_w, in_c;
  bool row_taps = false;
  std::vector<int8_t> values;

  Weights(size_t n, size_t h, size_t w, size_t k)
      : out_c(n), kernel_h(h), kernel_w(w), in_c(k), values(n * h * w * k) {}

  int8_t& at(size_t o, size_t y, size_t x, size_t i) {
    return values[((o * kernel_h + y) * kernel_w + x) * in_c + i];
  }
  int at(size_t o, size_t y, size_t x, size_t i) const {
    return values[((o * kernel_h + y) * kernel_w + x) * in_c + i];
  }
  std::vector<int8_t> packed() const {
    const size_t taps = row_taps ? kernel_h : kernel_h * kernel_w;
    const size_t k = row_taps ? kernel_w * in_c : in_c;
    std::vector<int8_t> p(gemm_packed_bytes(out_c, taps, k));
    gemm_pack(values.data(), out_c, taps, k, p.data());
    return p;
  }
  NarrowLayer layer(const std::vector<int8_t>& p) const {
    return {p.data(), in_c, out_c, kernel_h, kernel_w, row_taps};
  }
};

Weights random_weights(size_t n, size_t h, size_t w, size_t k, Random* random) {
  Weights weights(n, h, w, k);
  random->fill(weights.values, -128, 127);
  for (int8_t& v : weights.values) v = v == 0 ? int8_t{1} : v;  // windows are whole kernels
  return weights;
}

// Output o has its weights in a window of h x w from row o / 2 % 2 * moves and column o % 2 * moves on.
Weights windows(size_t n, size_t h, size_t w, size_t k, size_t window_offsets, Random* random) {
  Weights weights = random_weights(n, h + window_offsets, w + window_offsets, k, random);
  for (size_t o = 0; o < n; ++o)
    for (size_t y = 0; y < h + window_offsets; ++y)
      for (size_t x = 0; x < w + window_offsets; ++x) {
        const size_t in_y = y - o / 2 % 2 * window_offsets, in_x = x - o % 2 * window_offsets;
        for (size_t i = 0; i < k && (in_y >= h || in_x >= w); ++i) weights.at(o, y, x, i) = 0;
      }
  return weights;
}

// Returns a shape padded by half of the kernel.
NarrowShape same(size_t h, size_t w, const Weights& weights) {
  NarrowShape s;
  s.in_h = s.out_h = h, s.in_w = s.out_w = w;
  s.in_c = weights.in_c, s.out_c = weights.out_c;
  s.stride_h = s.stride_w = s.dilation_h = s.dilation_w = 1;
  s.pad_top = weights.kernel_h / 2, s.pad_left = weights.kernel_w / 2;
  return s;
}

class NarrowTester {
 public:
  NarrowTester& x_gap(size_t v) { return x_gap_ = v, *this; }
  NarrowTester& y_gap(size_t v) { return y_gap_ = v, *this; }
  NarrowTester& rows_per_call(size_t v) { return rows_per_call_ = v, *this; }
  NarrowTester& bias(int32_t most) { return bias_ = most, *this; }
  NarrowTester& pixels(int lo, int hi) { return lo_ = lo, hi_ = hi, *this; }
  // Sets the requantisation. Unless set, most sums differ in the result.
  NarrowTester& requant(const Requant& r) { return requant_ = r, *this; }

  void run(NarrowShape s, const Weights& source, const NarrowKernel& kernel, Random* random) const {
    const std::vector<int8_t> packed = source.packed();
    const NarrowLayer layer = source.layer(packed);
    std::vector<WindowOffset> window_offsets(s.out_c);
    find_windows_of_outputs(layer, &s, window_offsets.data());
    SCOPED_TRACE(std::string(kernel.name) + " " + std::to_string(s.in_h) + "x" +
                 std::to_string(s.in_w) + "x" + std::to_string(s.in_c) + " to " +
                 std::to_string(s.out_h) + "x" + std::to_string(s.out_w) + "x" +
                 std::to_string(s.out_c) + ", windows of " + std::to_string(s.kernel_h) + "x" +
                 std::to_string(s.kernel_w) + " " + random->trace());
    Guarded<int8_t> weights(narrow_weight_bytes(s));
    narrow_weights(layer, s, window_offsets.data(), weights.data());

    const size_t x_pitch = s.in_c + x_gap_, in_pixels = s.in_h * s.in_w;
    Guarded<uint8_t> x((in_pixels - 1) * x_pitch + s.in_c, kSlack);
    for (auto& v : x) v = static_cast<uint8_t>(random->integer(lo_, hi_));
    // A sum of products deviates by some 10000 for each, to 40 about the middle.
    const double unit = 40 / (1e4 * std::sqrt(static_cast<double>(weights.size()) / s.out_c));
    std::vector<float> scale(round_up(s.out_c, 64));
    for (float& v : scale) v = static_cast<float>(unit * (0.5 + random->integer(0, 1000) * 1e-3));
    const bool is_set = requant_.scale != nullptr || requant_.stage_count > 0;
    const Requant requant = is_set ? requant_ : float_requant(scale, 110);
    const auto most = static_cast<int32_t>(40 / unit);
    const int32_t bound = bias_ != 0 ? bias_ : most;
    Guarded<int32_t> bias(round_up(s.out_c, 64));
    for (auto& v : bias) v = static_cast<int32_t>(random->integer(-bound, bound));

    const size_t y_pitch = s.out_c + y_gap_, out_pixels = s.out_h * s.out_w;
    Guarded<uint8_t> y((out_pixels - 1) * y_pitch + s.out_c);
    Guarded<uint8_t> scratch(round_up(narrow_scratch_bytes(s), 64));
    NarrowArgs args;
    args.shape = s;
    args.x = x.data(), args.x_pitch = x_pitch;
    args.zero_point = static_cast<uint8_t>(random->integer(lo_, hi_));
    args.weights = weights.data(), args.window_offsets = window_offsets.data(),
    args.bias = bias.data();
    ASSERT_TRUE(kernel.handles(requant, s.out_c));
    args.requant = requant;
    args.y = y.data(), args.y_pitch = y_pitch;
    args.scratch = scratch.data();
    const size_t rows = std::min(rows_per_call_, narrow_rows_per_call(s));
    ASSERT_GT(rows, 0u);
    for (args.row_begin = 0; args.row_begin < s.out_h; args.row_begin = args.row_end) {
      args.row_end = std::min(args.row_begin + rows, s.out_h);
      kernel.fn(args);
    }

    const auto sum = [&](size_t p, size_t o) {
      auto acc = static_cast<uint32_t>(bias[o]);
      for (size_t ky = 0; ky < source.kernel_h; ++ky)
        for (size_t kx = 0; kx < source.kernel_w; ++kx) {
          const size_t iy = p / s.out_w + ky * s.dilation_h - s.pad_top;
          const size_t ix = p % s.out_w + kx * s.dilation_w - s.pad_left;
          const bool inside = iy < s.in_h && ix < s.in_w;
          const uint8_t* in = x.data() + (inside ? (iy * s.in_w + ix) * x_pitch : 0);
          for (size_t i = 0; i < s.in_c; ++i)
            acc +=
                static_cast<uint32_t>((inside ? in[i] : args.zero_point) * source.at(o, ky, kx, i));
        }
      return static_cast<int32_t>(acc);
    };
    testing::expect_rows(y.data(), out_pixels, s.out_c, y_pitch, requant, sum);
  }

 private:
  size_t x_gap_ = 0, y_gap_ = 0, rows_per_call_ = SIZE_MAX;
  int lo_ = 0, hi_ = 255;
  int32_t bias_ = 0;  // 0: as the sums
  Requant requant_ = {};
};

template <class F>
void for_kernels(const F& f) {
  const auto kernels = testing::rows_of_this_cpu(narrow_kernels);
  for (const auto& kernel : kernels) f(kernel);
  if (kernels.empty()) GTEST_SKIP() << "no narrow kernel for this CPU";
}

TEST(Narrow, Joined) {
  Random random;
  for (bool row_taps : {false, true})
    for (size_t pixels : {1, 2, 3, 5}) {
      Weights one = random_weights(3, 2, 4, 5, &random);
      Weights joined(3 * pixels, 2, 3 + pixels, 5);
      joined.row_taps = row_taps;
      for (size_t o = 0; o < joined.out_c; ++o)
        for (size_t y = 0; y < 2; ++y)
          for (size_t x = 0; x < 4; ++x)
            for (size_t i = 0; i < 5; ++i) joined.at(o, y, x + o / 3, i) = one.at(o % 3, y, x, i);
      std::vector<int8_t> packed = joined.packed();
      EXPECT_TRUE(narrow_is_joined(joined.layer(packed), pixels));
      for (size_t other : {2, 4, 7})
        EXPECT_EQ(narrow_is_joined(joined.layer(packed), other), other == pixels) << other;
      if (pixels == 1) continue;
      for (const size_t o :
           {size_t{0}, joined.out_c - 1}) {  // a weight where none belongs, another weight
        for (size_t x : {size_t{1}, 2 + pixels - 2 * (o == 0)}) {
          Weights damaged = joined;
          damaged.at(o, 1, x, 4) = static_cast<int8_t>(damaged.at(o, 1, x, 4) + 1);
          packed = damaged.packed();
          EXPECT_FALSE(narrow_is_joined(damaged.layer(packed), pixels)) << o << " " << x;
        }
      }
    }
}

TEST(Narrow, Windows) {
  Random random;
  for (bool row_taps : {false, true})
    for (size_t window_offsets : {0, 1, 3}) {
      Weights weights = windows(5, 3, 2, 6, window_offsets, &random);
      weights.row_taps = row_taps;
      const std::vector<int8_t> packed = weights.packed();
      NarrowShape s = same(4, 4, weights);
      std::vector<WindowOffset> found(5);
      find_windows_of_outputs(weights.layer(packed), &s, found.data());
      EXPECT_EQ(s.kernel_h, 3u);
      EXPECT_EQ(s.kernel_w, 2u);
      EXPECT_EQ(s.most.y, window_offsets);
      EXPECT_EQ(s.most.x, window_offsets);
      for (size_t o = 0; o < 5; ++o) {
        EXPECT_EQ(found[o].y, o / 2 % 2 * window_offsets);
        EXPECT_EQ(found[o].x, o % 2 * window_offsets);
      }
    }
  const Weights nothing(2, 3, 3, 4);
  const std::vector<int8_t> packed = nothing.packed();
  NarrowShape s = same(4, 4, nothing);
  WindowOffset found[2];
  find_windows_of_outputs(nothing.layer(packed), &s, found);
  EXPECT_EQ(s.kernel_h * s.kernel_w, 1u);
  EXPECT_EQ(found[1].y + found[1].x, 4);  // the last of the kernel
}

TEST(Narrow, AllOutputs) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    for (size_t n = 1; n <= 40; ++n) {
      const Weights weights = random_weights(n, 3, 3, 5, &random);
      NarrowTester().run(same(7, 9, weights), weights, kernel, &random);
      for (size_t gap : {0, 3})
        NarrowTester().y_gap(gap).run(same(5, 37, weights), weights, kernel, &random);
    }
  });
}

TEST(Narrow, AllInputs) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    for (size_t k = 1; k <= 40; ++k) {
      const Weights weights = random_weights(3, 2, 3, k, &random);
      for (size_t gap : {0, 5})
        NarrowTester().x_gap(gap).run(same(3, 35, weights), weights, kernel, &random);
    }
  });
}

TEST(Narrow, AllTails) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    const Weights weights = random_weights(4, 3, 3, 8, &random);
    for (size_t h : {1, 2, 3, 7})
      for (size_t w = 1; w < 70; ++w)
        NarrowTester().run(same(h, w, weights), weights, kernel, &random);
  });
}

TEST(Narrow, KernelsDilationsBorders) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    for (size_t kernel_h : {1, 2, 3, 5})
      for (size_t kernel_w : {1, 3, 4}) {
        Weights weights = random_weights(5, kernel_h, kernel_w, 6, &random);
        weights.row_taps = kernel_h == 3;
        for (size_t dilation : {1, 2, 5})
          for (size_t pad : {0, 1, 4, 13}) {
            NarrowShape s = same(8, 9, weights);
            s.dilation_h = dilation, s.dilation_w = weights.row_taps ? 1 : 6 - dilation;
            s.pad_top = pad, s.pad_left = pad / 2;
            s.out_h = 5, s.out_w = 7;
            NarrowTester().x_gap(3).y_gap(5).run(s, weights, kernel, &random);
          }
      }
  });
}

TEST(Narrow, WindowsWithinAKernel) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    for (size_t n : {2, 3, 4, 9})
      for (size_t window_offsets : {1, 2, 3}) {
        const Weights weights = windows(n, 3, 2, 7, window_offsets, &random);
        for (size_t dilation : {1, 2})
          for (size_t w : {1, 5, 31, 64, 150}) {
            NarrowShape s = same(9, w, weights);
            s.dilation_h = dilation, s.dilation_w = 3 - dilation;
            NarrowTester().rows_per_call(n).run(s, weights, kernel, &random);
          }
      }
  });
}

TEST(Narrow, StripsAndPitches) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    const Weights weights = random_weights(6, 3, 3, 8, &random);
    for (size_t rows_per_call : {1, 2, 3, 5, 8})
      NarrowTester()
          .rows_per_call(rows_per_call)
          .x_gap(7)
          .y_gap(9)
          .run(same(13, 11, weights), weights, kernel, &random);
    const Weights wide = random_weights(2, 3, 3, 64, &random);
    const NarrowShape large = same(90, 60, wide);
    NarrowShape shape = large;
    shape.kernel_h = shape.kernel_w = 3;
    ASSERT_LT(narrow_rows_per_call(shape), large.out_h);
    NarrowTester().run(large, wide, kernel, &random);
    shape.out_w = 1 << 16;
    EXPECT_EQ(narrow_rows_per_call(shape), 0u);
  });
}

TEST(Narrow, GreatestSums) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    Weights weights(5, 5, 5, 16);
    const std::vector<float> scale(64, 100 / (255 * 128 * 400.0f));
    for (int sign : {-128, 127}) {
      std::fill(weights.values.begin(), weights.values.end(), static_cast<int8_t>(sign));
      NarrowTester()
          .pixels(255, 255)
          .requant(float_requant(scale, 120))
          .bias(1 << 20)
          .run(same(6, 6, weights), weights, kernel, &random);
    }
  });
}

TEST(Narrow, Requantisations) {
  for_kernels([](const NarrowKernel& kernel) {
    Random random;
    const Weights weights = random_weights(18, 3, 3, 8, &random);
    const NarrowShape shape = same(5, 27, weights), dot = same(1, 1, weights);
    LayerRequants requants(&random);
    const auto check = [&](const Requant& r, int32_t bias) {
      for (const NarrowShape& s : {shape, dot})
        NarrowTester().requant(r).bias(bias).y_gap(3).run(s, weights, kernel, &random);
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
}  // namespace qrt::narrow_test

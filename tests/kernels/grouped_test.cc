// SPDX-License-Identifier: Apache-2.0
// Every grouped kernel of this CPU against a naive loop written from the definition of a convolution:
// all groups, tails, strides, dilations, borders, requantisations, strips of rows.
#include "kernels/grouped/grouped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/gemm/pack.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/layer_requants.h"
#include "tests/support/random.h"
#include "tests/support/stored_rows.h"

namespace qrt::grouped_test {
namespace {

using testing::Guarded;
using testing::LayerRequants;
using testing::Random;

constexpr size_t kSlack = 64;

size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

// Weights [channels][taps][k] of groups of k, in the order that gemm_pack() takes.
struct Weights {
  size_t channels, taps, k;
  std::vector<int8_t> values;

  Weights(size_t c, size_t t, size_t group) : channels(c), taps(t), k(group), values(c * t * k) {}

  // Returns the weight of output o for input i.
  int8_t& at(size_t o, size_t tap, size_t i) { return values[(o * taps + tap) * k + i % k]; }
  int value(size_t o, size_t tap, size_t i) const {
    return o / k == i / k ? values[(o * taps + tap) * k + i % k] : 0;
  }
  std::vector<int8_t> packed() const {
    const size_t bytes = gemm_packed_bytes(k, taps, k);
    std::vector<int8_t> p(channels / k * bytes);
    for (size_t g = 0; g < channels / k; ++g)
      gemm_pack(values.data() + g * k * taps * k, k, taps, k, p.data() + g * bytes);
    return p;
  }
  size_t width() const { return grouped_width(packed().data(), channels, taps, k); }
};

Weights random_weights(size_t channels, size_t taps, size_t k, Random* random) {
  Weights weights(channels, taps, k);
  random->fill(weights.values, -128, 127);
  return weights;
}

// Returns groups of k that are joined from narrower groups of `group`, as the converter joins them.
Weights joined(size_t channels, size_t taps, size_t k, size_t group, Random* random) {
  Weights weights(channels, taps, k);
  for (size_t o = 0; o < channels; ++o)
    for (size_t tap = 0; tap < taps; ++tap)
      for (size_t i = o / group * group; i < (o / group + 1) * group; ++i)
        weights.at(o, tap, i) = static_cast<int8_t>(random->integer(-128, 127));
  return weights;
}

GroupedShape same(size_t h, size_t w, size_t channels, size_t group) {
  return {{h, w, h, w, 3, 3, 1, 1, 1, 1, 1, 1}, channels, group};
}

class GroupedTester {
 public:
  GroupedTester& x_gap(size_t v) { return x_gap_ = v, *this; }
  GroupedTester& y_gap(size_t v) { return y_gap_ = v, *this; }
  GroupedTester& rows_per_call(size_t v) { return rows_per_call_ = v, *this; }
  GroupedTester& bias(int32_t most) { return bias_ = most, *this; }
  GroupedTester& pixels(int lo, int hi) { return lo_ = lo, hi_ = hi, *this; }
  // Sets the requantisation; by default outputs are the sums.
  GroupedTester& requant(const Requant& r) { return requant_ = r, *this; }

  void run(GroupedShape s, const Weights& source, const GroupedKernel& kernel,
           Random* random) const {
    s.group = source.width();
    SCOPED_TRACE(std::string(kernel.name) + " " + std::to_string(s.in_h) + "x" +
                 std::to_string(s.in_w) + "x" + std::to_string(s.channels) + " to " +
                 std::to_string(s.out_h) + "x" + std::to_string(s.out_w) + ", groups of " +
                 std::to_string(s.group) + ", kernel " + std::to_string(s.kernel_h) + "x" +
                 std::to_string(s.kernel_w) + " " + random->trace());
    ASSERT_EQ(kernel.group, s.group);
    const std::vector<int8_t> packed = source.packed();
    Guarded<int8_t> weights(grouped_weight_bytes(kernel, s));
    grouped_weights(kernel, s, packed.data(), source.k, weights.data());

    const size_t x_pitch = s.channels + x_gap_, in_pixels = s.in_h * s.in_w;
    Guarded<uint8_t> x((in_pixels - 1) * x_pitch + s.channels, kSlack);
    for (auto& v : x) v = static_cast<uint8_t>(random->integer(lo_, hi_));
    Guarded<int32_t> bias(round_up(s.channels, 64));
    for (auto& v : bias) v = static_cast<int32_t>(random->integer(-bias_, bias_));

    const size_t element = testing::stored_bytes(requant_);
    const size_t y_pitch = s.channels * element + y_gap_, out_pixels = s.out_h * s.out_w;
    Guarded<uint8_t> y((out_pixels - 1) * y_pitch + s.channels * element);
    Guarded<uint8_t> scratch(round_up(grouped_scratch_bytes(kernel, s), 64));
    Guarded<int32_t> folded(bias.size());
    for (size_t o = 0; o < bias.size(); ++o) {
      auto sum = static_cast<uint32_t>(bias[o]);
      for (size_t t = 0; kernel.signed_lhs() && o < s.channels && t < s.taps(); ++t)
        for (size_t i = o / source.k * source.k; i < (o / source.k + 1) * source.k; ++i)
          sum += static_cast<uint32_t>(128 * source.value(o, t, i));
      folded[o] = static_cast<int32_t>(sum);
    }
    GroupedArgs args;
    args.shape = s;
    args.x = x.data(), args.x_pitch = x_pitch;
    args.zero_point = static_cast<uint8_t>(random->integer(lo_, hi_));
    args.weights = weights.data(), args.bias = folded.data();
    args.requant = requant_;
    args.y = y.data(), args.y_pitch = y_pitch;
    args.scratch = scratch.data();
    const size_t rows = std::min(rows_per_call_, grouped_rows_per_call(kernel, s));
    for (args.row_begin = 0; args.row_begin < s.out_h; args.row_begin = args.row_end) {
      args.row_end = std::min(args.row_begin + rows, s.out_h);
      kernel.fn(args);
    }

    const auto sum = [&](size_t p, size_t o) {
      auto acc = static_cast<uint32_t>(bias[o]);
      for (size_t t = 0; t < s.taps(); ++t) {
        const size_t iy = p / s.out_w * s.stride_h + t / s.kernel_w * s.dilation_h - s.pad_top;
        const size_t ix = p % s.out_w * s.stride_w + t % s.kernel_w * s.dilation_w - s.pad_left;
        const bool inside = iy < s.in_h && ix < s.in_w;
        const uint8_t* in = x.data() + (inside ? (iy * s.in_w + ix) * x_pitch : 0);
        for (size_t i = o / source.k * source.k; i < (o / source.k + 1) * source.k; ++i)
          acc += static_cast<uint32_t>((inside ? in[i] : args.zero_point) * source.value(o, t, i));
      }
      return static_cast<int32_t>(acc);
    };
    testing::expect_rows(y.data(), out_pixels, s.channels, y_pitch, requant_, sum);
  }

 private:
  size_t x_gap_ = 0, y_gap_ = 0, rows_per_call_ = SIZE_MAX;
  int lo_ = 0, hi_ = 255;
  int32_t bias_ = INT32_MAX;
  Requant requant_ = testing::sums_alone();
};

template <class F>
void for_kernels(const F& f) {
  const auto kernels = testing::rows_of_this_cpu(grouped_kernels);
  for (const auto& kernel : kernels) f(kernel);
  if (kernels.empty()) GTEST_SKIP() << "no grouped kernel for this CPU";
}

// Returns a number of channels that the kernel takes and that fill more than one panel.
size_t channels_of(const GroupedKernel& kernel) {
  return kernel.group < kGroupedPanel ? 5 * kernel.group + 16 : 48;
}

TEST(Grouped, Widths) {
  Random random;
  for (size_t k = 1; k <= 40; ++k) {
    Weights weights = random_weights(3 * k, 2, k, &random);
    // One weight of each output is not zero, so that narrower groups do not suffice.
    for (size_t o = 0; o < 3 * k; ++o) weights.at(o, 1, o / k * k + (o + k / 2) % k) = 1;
    const size_t expected = 16 % k != 0 ? 0 : k < 4 ? 4 : k;
    EXPECT_EQ(weights.width(), expected) << k;
  }
  for (size_t group : {1, 2, 4, 8, 16}) {
    const Weights weights = joined(64, 3, 16, group, &random);
    EXPECT_EQ(weights.width(), std::max<size_t>(group, 4));
    // Sets one weight that belongs to another group.
    Weights near = weights, far = weights;
    near.at(50, 2, 53) = far.at(50, 2, 57) = 1;
    EXPECT_EQ(near.width(), std::max<size_t>(group, 8));
    EXPECT_EQ(far.width(), 16u);
  }
}

TEST(Grouped, AllGroups) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    for (size_t k : {1, 2, 4, 8, 16})
      for (size_t groups = 1; groups <= 40; ++groups) {
        const Weights weights = random_weights(groups * k, 9, k, &random);
        if (weights.width() != kernel.group) continue;
        GroupedTester().run(same(4, 5, groups * k, 0), weights, kernel, &random);
      }
  });
}

TEST(Grouped, JoinedGroups) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    for (size_t group : {2, 4, 8, 16}) {
      const Weights weights = joined(96, 9, 16, group, &random);
      if (weights.width() != kernel.group) continue;
      GroupedTester().run(same(7, 6, 96, 0), weights, kernel, &random);
    }
  });
}

TEST(Grouped, AllTails) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    const size_t channels = channels_of(kernel);
    const Weights weights = random_weights(channels, 9, kernel.group, &random);
    for (size_t h : {1, 2, 3, 7})
      for (size_t w = 1; w < 20; ++w)
        GroupedTester().run(same(h, w, channels, 0), weights, kernel, &random);
  });
}

TEST(Grouped, KernelsStridesDilationsBorders) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    const size_t channels = channels_of(kernel);
    for (size_t kernel_h : {1, 2, 3, 5})
      for (size_t kernel_w : {1, 3, 4}) {
        const Weights weights =
            random_weights(channels, kernel_h * kernel_w, kernel.group, &random);
        for (size_t stride : {1, 2, 3})
          for (size_t dilation : {1, 2, 5})
            for (size_t pad : {0, 1, 4, 13}) {
              GroupedShape s = same(8, 9, channels, 0);
              s.kernel_h = kernel_h, s.kernel_w = kernel_w;
              s.stride_h = stride, s.stride_w = 4 - stride;
              s.dilation_h = dilation, s.dilation_w = 6 - dilation;
              s.pad_top = pad, s.pad_left = pad / 2;
              s.out_h = 5, s.out_w = 7;
              GroupedTester().x_gap(3).y_gap(5).run(s, weights, kernel, &random);
            }
      }
  });
}

TEST(Grouped, StripsAndPitches) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    const size_t channels = channels_of(kernel);
    const Weights weights = random_weights(channels, 9, kernel.group, &random);
    for (size_t rows_per_call : {1, 2, 3, 5, 8})
      GroupedTester()
          .rows_per_call(rows_per_call)
          .x_gap(7)
          .y_gap(9)
          .run(same(13, 11, channels, 0), weights, kernel, &random);
    const GroupedShape large = same(90, 60, channels, kernel.group);
    ASSERT_LT(grouped_rows_per_call(kernel, large), large.out_h);
    GroupedTester().run(large, weights, kernel, &random);
  });
}

TEST(Grouped, GreatestSums) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    const size_t channels = channels_of(kernel);
    Weights weights(channels, 25, kernel.group);
    GroupedShape s = same(6, 6, channels, 0);
    s.kernel_h = s.kernel_w = 5;
    for (int sign : {-128, 127}) {
      std::fill(weights.values.begin(), weights.values.end(), static_cast<int8_t>(sign));
      GroupedTester().pixels(255, 255).run(s, weights, kernel, &random);
    }
  });
}

TEST(Grouped, Requantisations) {
  for_kernels([](const GroupedKernel& kernel) {
    Random random;
    const size_t channels = channels_of(kernel);
    const Weights weights = random_weights(channels, 9, kernel.group, &random);
    const GroupedShape shape = same(5, 7, channels, 0), dot = same(1, 1, channels, 0);
    LayerRequants requants(&random);
    const auto check = [&](const Requant& r, int32_t bias) {
      for (const GroupedShape& s : {shape, dot})
        GroupedTester().requant(r).bias(bias).y_gap(3).run(s, weights, kernel, &random);
    };
    Requant r = requants.in_float(120);
    check(r, INT32_MAX);
    r.lo = 9, r.hi = 240;
    check(r, INT32_MAX);
    r.zero_point = r.lo = 0, r.hi = 255;
    requants.limit_scales(0.01f);
    check(r, 1 << 20);
    r.zero_point_before = true, r.fused = true, r.zero_point = 0, r.offset = 100;
    check(r, 1 << 20);
    // Shifts that the vector code takes, and others.
    for (int lowest : {1, 12}) {
      requants.draw_shifts(lowest);
      for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor})
        check(requants.one_stage(round, 128), 1 << 20);
      check(requants.two_stages(128), 1 << 20);
    }
  });
}

}  // namespace
}  // namespace qrt::grouped_test

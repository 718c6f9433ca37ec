// SPDX-License-Identifier: Apache-2.0
// Every Winograd kernel of this CPU against a naive loop written from the definition of a
// convolution: all tails, borders, requantisations, the greatest sums that are exact.
#include "kernels/winograd/winograd.h"

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

namespace qrt::winograd_test {
namespace {

using testing::Guarded;
using testing::LayerRequants;
using testing::Random;

constexpr size_t kSlack = 64;
// Weights of one sign may have this sum: 256 times it stays below 2^25, with one row below 2^28.
int most_sum(size_t kernel_h) { return kernel_h == 3 ? 131071 : 1048575; }

size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

struct Layer {
  WinogradShape shape;
  std::vector<int8_t> weights;  // [out_c][terms * shape.taps()][in_c]

  explicit Layer(const WinogradShape& s) : shape(s), weights(s.out_c * taps() * s.in_c) {}
  size_t taps() const { return shape.terms * shape.taps(); }
  std::vector<int8_t> packed() const {
    std::vector<int8_t> p(gemm_packed_bytes(shape.out_c, taps(), shape.in_c));
    gemm_pack(weights.data(), shape.out_c, taps(), shape.in_c, p.data());
    return p;
  }
};

WinogradShape same(size_t h, size_t w, size_t c, size_t out, size_t kernel_h = 3) {
  return {h, w, c, h, w, out, kernel_h / 2, 1, 1, kernel_h};
}

// Outputs as many as pixels.
WinogradShape dilated(WinogradShape s, size_t by_h, size_t by_w) {
  s.dilation_h = by_h, s.dilation_w = by_w;
  s.pad_top *= by_h, s.pad_left *= by_w;
  return s;
}

Layer random_layer(const WinogradShape& shape, Random* random) {
  Layer layer(shape);
  random->fill(layer.weights, -128, 127);
  return layer;
}

class WinogradTester {
 public:
  WinogradTester& images(size_t v) { return images_ = v, *this; }
  WinogradTester& x_gap(size_t v) { return x_gap_ = v, *this; }
  WinogradTester& y_gap(size_t v) { return y_gap_ = v, *this; }
  WinogradTester& block(size_t v) { return block_ = v, *this; }
  WinogradTester& channels(size_t v) { return channels_ = v, *this; }
  WinogradTester& bias(int32_t most) { return bias_ = most, *this; }
  WinogradTester& pixels(int lo, int hi) { return lo_ = lo, hi_ = hi, *this; }
  // Sums as they are unless set.
  WinogradTester& requant(const Requant& r) { return requant_ = r, *this; }

  void run(const Layer& layer, const WinogradKernel& kernel, Random* random) const {
    const WinogradShape& s = layer.shape;
    SCOPED_TRACE(std::string(kernel.name) + " " + std::to_string(s.in_h) + "x" +
                 std::to_string(s.in_w) + "x" + std::to_string(s.in_c) + " to " +
                 std::to_string(s.out_h) + "x" + std::to_string(s.out_w) + "x" +
                 std::to_string(s.out_c) + " dilated by " + std::to_string(s.dilation_h) + "x" +
                 std::to_string(s.dilation_w) + " " + random->trace());
    ASSERT_EQ(kernel.kernel_h, s.kernel_h);
    const std::vector<int8_t> packed = layer.packed();
    ASSERT_TRUE(winograd_is_exact(packed.data(), s));
    Guarded<int16_t> weights(winograd_weight_bytes(s) / sizeof(int16_t));
    winograd_weights(packed.data(), s, kernel.weight_lanes, weights.data());

    const size_t x_pitch = s.in_c + x_gap_, in_pixels = images_ * s.in_h * s.in_w;
    Guarded<uint8_t> x((in_pixels - 1) * x_pitch + s.in_c, kSlack), zero(s.in_c, kSlack);
    for (auto& v : x) v = static_cast<uint8_t>(random->integer(lo_, hi_));
    memset(zero.data(), static_cast<int>(random->integer(lo_, hi_)), s.in_c + kSlack);
    const size_t channels = round_up(s.out_c, 64);
    Guarded<int32_t> bias(channels);
    for (auto& v : bias) v = static_cast<int32_t>(random->integer(-bias_, bias_));

    const size_t element = testing::stored_bytes(requant_);
    const size_t y_pitch = s.out_c * element + y_gap_, out_pixels = images_ * s.out_h * s.out_w;
    Guarded<uint8_t> y((out_pixels - 1) * y_pitch + s.out_c * element);
    Guarded<uint8_t> scratch(round_up(winograd_scratch_bytes(kernel, s), 64));
    WinogradArgs args;
    args.shape = s;
    args.x = x.data(), args.x_pitch = x_pitch, args.zero = zero.data();
    args.weights = weights.data(), args.bias = bias.data();
    args.requant = requant_;
    args.y = y.data(), args.y_pitch = y_pitch;
    args.scratch = scratch.data();
    const size_t tiles = images_ * s.tiles(), block = std::min(block_, winograd_block(kernel, s));
    for (args.channel_begin = 0; args.channel_begin < s.out_c;
         args.channel_begin = args.channel_end) {
      args.channel_end =
          s.out_c - args.channel_begin <= channels_ ? s.out_c : args.channel_begin + channels_;
      for (args.tile_begin = 0; args.tile_begin < tiles; args.tile_begin = args.tile_end) {
        args.tile_end = std::min(args.tile_begin + block, tiles);
        kernel.fn(args);
      }
    }

    const auto pixel = [&](size_t image, size_t oy, size_t ox) {
      const size_t iy = oy - s.pad_top, ix = ox - s.pad_left;
      return iy < s.in_h && ix < s.in_w ? x.data() + ((image * s.in_h + iy) * s.in_w + ix) * x_pitch
                                        : zero.data();
    };
    const auto sum = [&](size_t p, size_t o) {
      const size_t image = p / (s.out_h * s.out_w), oy = p / s.out_w % s.out_h, ox = p % s.out_w;
      auto acc = static_cast<uint32_t>(bias[o]);
      const int less = kernel.signed_pixels ? 128 : 0;
      for (size_t t = 0; t < layer.taps(); ++t) {
        const uint8_t* in =
            pixel(image, oy + t % s.taps() / 3 * s.dilation_h, ox + t % 3 * s.dilation_w);
        const int8_t* w = &layer.weights[(o * layer.taps() + t) * s.in_c];
        for (size_t c = 0; c < s.in_c; ++c) acc += static_cast<uint32_t>((in[c] - less) * w[c]);
      }
      return static_cast<int32_t>(acc);
    };
    testing::expect_rows(y.data(), out_pixels, s.out_c, y_pitch, requant_, sum);
  }

 private:
  size_t images_ = 1, x_gap_ = 0, y_gap_ = 0, block_ = SIZE_MAX, channels_ = SIZE_MAX;
  int lo_ = 0, hi_ = 255;
  int32_t bias_ = INT32_MAX;
  Requant requant_ = testing::sums_alone();
};

template <class F>
void for_kernels(const F& f) {
  const auto kernels = testing::rows_of_this_cpu(winograd_kernels);
  for (const auto& kernel : kernels) f(kernel);
  if (kernels.empty()) GTEST_SKIP() << "no Winograd kernel for this CPU";
}

TEST(Winograd, AllTails) {
  for_kernels([](const WinogradKernel& kernel) {
    Random random;
    for (size_t h : {1, 2, 3, 4, 5, 8, 11})
      for (size_t w : {1, 3, 4, 6, 7, 9})
        WinogradTester().run(random_layer(same(h, w, 16, 17, kernel.kernel_h), &random), kernel,
                             &random);
    for (size_t c : {1, 2, 3, 15, 16, 17, 18, 31, 33, 48, 100})
      WinogradTester().run(random_layer(same(6, 5, c, 16, kernel.kernel_h), &random), kernel,
                           &random);
    for (size_t out : {1, 7, 15, 16, 31, 32, 48, 63, 64, 65, 80, 130})
      WinogradTester().run(random_layer(same(5, 6, 20, out, kernel.kernel_h), &random), kernel,
                           &random);
  });
}

TEST(Winograd, Borders) {
  for_kernels([](const WinogradKernel& kernel) {
    Random random;
    for (size_t top : {0, 1, 2, 5})
      for (size_t left : {0, 1, 3})
        for (size_t more : {0, 1, 2, 4}) {  // below and on the right
          const size_t h = 7 - kernel.kernel_h + top + more, w = 5 + left + more;
          const WinogradShape s = {6, 7, 16, h, w, 8, top, left, 1, kernel.kernel_h};
          WinogradTester().run(random_layer(s, &random), kernel, &random);
        }
  });
}

TEST(Winograd, Dilations) {
  for_kernels([](const WinogradKernel& kernel) {
    Random random;
    for (size_t by_w : {1, 2, 3, 5, 8, 40})
      for (size_t by_h : {1, 2, 4, 20}) {
        if (kernel.kernel_h == 1 && by_h != 1) continue;
        for (size_t w : {3, 8, 13, 16, 37}) {
          const WinogradShape s = dilated(same(9, w, 18, 20, kernel.kernel_h), by_h, by_w);
          WinogradTester().images(2).x_gap(3).y_gap(6).run(random_layer(s, &random), kernel,
                                                           &random);
        }
      }
    // A kernel wider than the image: all but the taps of the middle see padding.
    WinogradShape far = dilated(same(3, 5, 16, 16, kernel.kernel_h), 1, 7);
    far.out_w = 9, far.pad_left = 9;
    WinogradTester().run(random_layer(far, &random), kernel, &random);
  });
}

TEST(Winograd, BlocksImagesAndPitches) {
  for_kernels([](const WinogradKernel& kernel) {
    Random random;
    const Layer layer = random_layer(same(13, 9, 24, 40, kernel.kernel_h), &random);
    for (size_t block : {1, 2, 5, 6, 7, 11, 12, 13, 23, 24})
      WinogradTester().images(3).block(block).x_gap(5).y_gap(9).run(layer, kernel, &random);
    const Layer many = random_layer(same(6, 9, 24, 150, kernel.kernel_h), &random);
    for (size_t channels : {32, 64, 96, 128})
      WinogradTester().channels(channels).y_gap(3).run(many, kernel, &random);
    const Layer wide = random_layer(same(9, 9, 2100 / kernel.kernel_h, 20, kernel.kernel_h),
                                    &random);  // blocks of fewer tiles
    ASSERT_LT(winograd_block(kernel, wide.shape), winograd_block(kernel, layer.shape));
    Layer halved = wide;  // within the exact sums
    for (auto& w : halved.weights) w = static_cast<int8_t>(w / 8);
    WinogradTester().run(halved, kernel, &random);
  });
}

TEST(Winograd, WeightsOfSeveralTerms) {
  for_kernels([](const WinogradKernel& kernel) {
    Random random;
    for (const size_t terms : {2, 3}) {
      WinogradShape s = same(7, 6, 21, 35, kernel.kernel_h);
      s.terms = terms;
      Layer layer = random_layer(s, &random);
      WinogradTester().run(layer, kernel, &random);
      for (auto& w : layer.weights) w = random.integer(0, 1) != 0 ? 127 : -128;
      for (size_t o = 0; o < s.out_c; ++o)  // weights of the greatest sums: equal in all terms
        for (size_t i = s.taps() * s.in_c; i < layer.taps() * s.in_c; ++i) {
          const size_t at = o * layer.taps() * s.in_c;
          layer.weights[at + i] = layer.weights[at + i % (s.taps() * s.in_c)];
        }
      WinogradTester().run(layer, kernel, &random);
      WinogradTester().pixels(255, 255).run(layer, kernel, &random);
    }
  });
}

TEST(Winograd, Requantisations) {
  for_kernels([](const WinogradKernel& kernel) {
    Random random;
    const Layer layer = random_layer(same(7, 6, 32, 50, kernel.kernel_h), &random);
    LayerRequants requants(&random);
    Requant r = requants.in_float(120);
    WinogradTester().requant(r).run(layer, kernel, &random);
    r.lo = 9, r.hi = 240;
    WinogradTester().requant(r).run(layer, kernel, &random);
    r.zero_point_before = true, r.fused = true, r.zero_point = 0, r.offset = 100;
    WinogradTester().requant(r).run(layer, kernel, &random);
    // Within what the vectors' registers take, and beyond.
    for (int lowest : {1, 12}) {
      requants.draw_shifts(lowest);
      for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor})
        WinogradTester()
            .requant(requants.one_stage(round, 128))
            .bias(1 << 20)
            .run(layer, kernel, &random);
      WinogradTester().requant(requants.two_stages(128)).bias(1 << 20).run(layer, kernel, &random);
    }
  });
}

// Returns G of winograd.h; the identity where the direction is not transformed.
std::vector<std::vector<int>> transform_of(size_t taps) {
  if (taps == 1) return {{1}};
  return {{1, 0, 0}, {-1, -1, -1}, {-1, 1, -1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 1}};
}

std::vector<int16_t> naive_weights(const Layer& layer, size_t lanes) {
  const WinogradShape& s = layer.shape;
  const auto down = transform_of(s.kernel_h), right = transform_of(3);
  std::vector<int16_t> result;
  for (const auto& row : down)
    for (const auto& column : right)
      for (size_t block = 0; block < s.out_c; block += 16)
        for (size_t pair = 0; pair < s.kc(); pair += 2)
          for (size_t some = 0; some < 16; some += lanes)
            for (size_t c = pair; c < pair + 2; ++c)
              for (size_t o = block + some; o < block + some + lanes; ++o) {
                int u = 0;
                for (size_t t = 0; t < layer.taps() && o < s.out_c && c < s.in_c; ++t)
                  u += row[t % s.taps() / 3] * column[t % 3] *
                       layer.weights[(o * layer.taps() + t) * s.in_c + c];
                result.push_back(static_cast<int16_t>(u));
              }
  return result;
}

TEST(Winograd, Weights) {
  Random random;
  for (const size_t kernel_h : {1, 3})
    for (const size_t lanes : {1, 4})
      for (const size_t terms : {1, 2, 3})
        for (const size_t in_c : {1, 4, 6, 15, 16, 17, 35, 64, 100})
          for (const size_t out_c : {1, 16, 23, 48}) {
            SCOPED_TRACE(std::to_string(kernel_h) + "x3, " + std::to_string(in_c) + " to " +
                         std::to_string(out_c) + ", " + std::to_string(lanes) + " lanes, " +
                         std::to_string(terms) + " terms " + random.trace());
            WinogradShape shape = same(4, 4, in_c, out_c, kernel_h);
            shape.terms = terms;
            Layer layer = random_layer(shape, &random);
            for (size_t i = 0; i < layer.weights.size(); i += 3)
              layer.weights[i] = random.integer(0, 1) != 0 ? 127 : -128;
            const std::vector<int16_t> expected = naive_weights(layer, lanes);
            ASSERT_EQ(winograd_weight_bytes(shape), expected.size() * sizeof(int16_t));
            Guarded<int16_t> weights(expected.size());
            winograd_weights(layer.packed().data(), shape, lanes, weights.data());
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), weights.data()));
          }
}

// Returns a layer with as many channels as it takes for weights of one sign to reach this sum.
Layer layer_of_sum(size_t kernel_h, int sum, int sign) {
  Layer layer(same(5, 9, kernel_h == 3 ? 116 : 2764, 3, kernel_h));
  for (size_t i = 0; i < layer.weights.size() / 3; ++i, sum -= std::min(sum, 127))
    layer.weights[i] = static_cast<int8_t>(sign * std::min(sum, 127));
  return layer;
}

TEST(Winograd, GreatestSums) {
  for (const size_t kernel_h : {1, 3})
    for (int sign : {1, -1}) {
      const Layer most = layer_of_sum(kernel_h, most_sum(kernel_h), sign);
      const Layer more = layer_of_sum(kernel_h, most_sum(kernel_h) + 1, sign);
      EXPECT_TRUE(winograd_is_exact(most.packed().data(), most.shape));
      EXPECT_FALSE(winograd_is_exact(more.packed().data(), more.shape));
      for_kernels([&](const WinogradKernel& kernel) {
        if (kernel.kernel_h != kernel_h) return;
        Random random;
        WinogradTester().pixels(255, 255).run(most, kernel, &random);
        WinogradTester().pixels(254, 255).run(most, kernel, &random);
        WinogradTester().run(most, kernel, &random);
      });
    }
  for_kernels([&](const WinogradKernel& kernel) {  // the transforms' own limits
    Random random;
    Layer layer(same(8, 8, 48, 32, kernel.kernel_h));
    for (auto& w : layer.weights) w = random.integer(0, 1) != 0 ? 127 : -128;
    WinogradTester().pixels(255, 255).run(layer, kernel, &random);
    WinogradTester().pixels(0, 255).run(layer, kernel, &random);
  });
}

}  // namespace
}  // namespace qrt::winograd_test

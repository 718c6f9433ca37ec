// Every kernel of the wide family against loops written from wide.h: all tails, both kinds of
// accumulators, extremes, and memory that ends at a guard page.
#include "kernels/wide/wide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Guarded;
using testing::Random;

std::vector<WideKernel> all_kernels() {
  size_t count = 0;
  const WideKernel* kernels = wide_kernels(&count);
  return {kernels, kernels + count};
}

class WideTest : public ::testing::TestWithParam<WideKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa)) GTEST_SKIP() << "this CPU lacks " << GetParam().name;
  }
  Random random_;
};

// The definition, in wider arithmetic than any kernel has.
int64_t rounded(__int128 v, int shift, Round round) {
  if (shift == 0) return static_cast<int64_t>(v);
  const __int128 one = 1, floor = v >> shift, rest = v - floor * (one << shift);
  const __int128 twice = rest * 2, unit = one << shift;
  switch (round) {
    case Round::kFloor: return static_cast<int64_t>(floor);
    case Round::kHalfUp: return static_cast<int64_t>(floor + (twice >= unit));
    case Round::kHalfAway:
      return static_cast<int64_t>(floor + (twice > unit || (twice == unit && v >= 0)));
    case Round::kHalfEven: break;
  }
  return static_cast<int64_t>(floor + (twice > unit || (twice == unit && (floor & 1) != 0)));
}

struct Stages {
  std::vector<int32_t> multiplier[kMaxStages];
  std::vector<uint8_t> shift[kMaxStages];
  Requant requant{};

  int32_t apply(int64_t acc, size_t c) const {
    int64_t v = acc;
    for (int i = 0; i < requant.stage_count; ++i) {
      const RequantStage& s = requant.stages[i];
      const __int128 product = static_cast<__int128>(v) * s.multiplier[c];
      v = rounded(product, s.shift[c], s.round);
      v = std::clamp<int64_t>(v, s.clip_lo, s.clip_hi);
    }
    return static_cast<int32_t>(
        std::clamp<int64_t>(v + requant.zero_point, requant.lo, requant.hi));
  }
};

// Multipliers of 16 bits for accumulators of 64, of 31 for those of 32.
void make_stages(Random& random, size_t channels, bool is_narrow, int count, Round round,
                 Stages* s) {
  s->requant.kind = RequantKind::kInt;
  s->requant.stage_count = count;
  s->requant.zero_point = static_cast<int32_t>(random.integer(-300, 300));
  s->requant.lo = random.coin() ? INT16_MIN : -20000;
  s->requant.hi = random.coin() ? INT16_MAX : 12345;
  for (int i = 0; i < count; ++i) {
    for (size_t c = 0; c < channels + 64; ++c) {
      const bool first = i == 0;
      s->multiplier[i].push_back(
          first ? static_cast<int32_t>(random.integer(0, is_narrow ? INT32_MAX : 32767)) : 1);
      s->shift[i].push_back(
          static_cast<uint8_t>(first ? is_narrow ? random.integer(30, 50) : random.integer(15, 46)
                                     : random.integer(0, 12)));
    }
    s->requant.stages[i] = {s->multiplier[i].data(), s->shift[i].data(),
                            i == 0 ? round : Round::kHalfAway, INT32_MIN, INT32_MAX};
  }
}

TEST_P(WideTest, SplitsEveryValueIntoBytes) {
  for (size_t n :
       std::initializer_list<size_t>{1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 129, 65536}) {
    Guarded<int16_t> x(n);
    Guarded<uint8_t> high(n), low(n);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<int16_t>(i * 257 + (n == 65536 ? i : 0));
    GetParam().split(x.data(), n, high.data(), low.data());
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(256 * high[i] + low[i] - 32768, x[i]);
    }
  }
}

TEST_P(WideTest, CombinesPlanesExactly) {
  for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    for (int count : {1, 2}) {
      for (bool is_narrow : {false, true}) {
        for (size_t n : std::initializer_list<size_t>{1, 3, 7, 8, 9, 15, 16, 17, 33}) {
          const size_t rows = 3, channel = 16, stride = n + 2, y_stride = n + 5;
          Stages s;
          make_stages(random_, channel + n, is_narrow, count, round, &s);
          Guarded<int32_t> high(rows * stride), low(rows * stride);
          Guarded<int64_t> bias(channel + n);
          Guarded<int16_t> y((rows - 1) * y_stride + n);
          random_.fill(high, INT32_MIN, INT32_MAX);
          random_.fill(low, INT32_MIN, INT32_MAX);
          random_.fill(bias, -(int64_t{1} << 45), int64_t{1} << 45);
          // Ties of the first stage.
          for (size_t j = 0; j < n; ++j) bias[channel + j] -= random_.integer(0, 2);
          CombineArgs args{};
          args.high = random_.integer(0, 3) == 0 ? nullptr : high.data();
          args.low = low.data();
          args.rows = rows;
          args.n = n;
          args.stride = stride;
          args.channel = channel;
          args.bias = bias.data();
          args.is_narrow = is_narrow;
          args.requant = s.requant;
          args.y = y.data();
          args.y_stride = y_stride;
          GetParam().combine(args);
          for (size_t i = 0; i < rows; ++i) {
            for (size_t j = 0; j < n; ++j) {
              int64_t acc = low[i * stride + j] + bias[channel + j];
              if (args.high) acc += int64_t{256} * high[i * stride + j];
              if (is_narrow) acc = static_cast<int32_t>(static_cast<uint32_t>(acc));
              ASSERT_EQ(y[i * y_stride + j], s.apply(acc, channel + j))
                  << "acc " << acc << " n " << n << " stages " << count << " narrow " << is_narrow
                  << " " << random_.trace();
            }
            for (size_t j = n; i + 1 < rows && j < y_stride; ++j)
              ASSERT_EQ(y[i * y_stride + j], static_cast<int16_t>(0xA5A5)) << "wrote past row";
          }
        }
      }
    }
  }
}

// Accumulators on both sides of a tie: multiplier 1, shift s.
TEST_P(WideTest, RoundsTiesAsNamed) {
  for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    for (int shift : {0, 1, 5, 15, 31, 46}) {
      const std::vector<int32_t> one(80, 1);
      const std::vector<uint8_t> shifts(80, static_cast<uint8_t>(shift));
      std::vector<int64_t> bias;
      for (int64_t y = -4; y <= 4; ++y)
        for (int64_t d = -1; d <= 1; ++d)
          bias.push_back(y * (int64_t{1} << shift) + (shift > 0 ? int64_t{1} << (shift - 1) : 0) +
                         d);
      const size_t n = bias.size();
      const std::vector<int32_t> low(n);
      std::vector<int16_t> y(n);
      CombineArgs args{};
      args.low = low.data();
      args.rows = 1;
      args.n = args.stride = args.y_stride = n;
      args.bias = bias.data();
      args.requant.kind = RequantKind::kInt;
      args.requant.lo = INT16_MIN;
      args.requant.hi = INT16_MAX;
      args.requant.stage_count = 1;
      args.requant.stages[0] = {one.data(), shifts.data(), round, INT32_MIN, INT32_MAX};
      args.y = y.data();
      GetParam().combine(args);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(y[i], rounded(bias[i], shift, round)) << bias[i] << " >> " << shift;
    }
  }
}

TEST_P(WideTest, DepthwiseEqualsTheLoop) {
  struct Case {
    size_t h, w, c, kh, kw, stride, dilation, pad, multiplier;
  };
  for (const Case& k : {Case{5, 7, 1, 3, 3, 1, 1, 1, 1}, Case{6, 5, 17, 3, 2, 2, 1, 0, 1},
                        Case{9, 9, 65, 3, 3, 1, 2, 2, 1}, Case{4, 4, 5, 2, 2, 1, 1, 1, 3},
                        Case{20, 27, 3, 19, 26, 1, 1, 0, 1}}) {
    const size_t out_h = (k.h + 2 * k.pad - k.dilation * (k.kh - 1) - 1) / k.stride + 1;
    const size_t out_w = (k.w + 2 * k.pad - k.dilation * (k.kw - 1) - 1) / k.stride + 1;
    const size_t channels = k.c * k.multiplier;
    Guarded<int16_t> x(k.h * k.w * k.c), padding(k.c), w(k.kh * k.kw * channels);
    Guarded<int16_t> y(out_h * out_w * channels);
    Guarded<int64_t> bias(channels);
    random_.fill(x, INT16_MIN, INT16_MAX);
    random_.fill(padding, -3, 3);
    random_.fill(w, -128, 127);
    random_.fill(bias, -1000000, 1000000);
    Stages s;
    make_stages(random_, channels, false, 1, Round::kHalfUp, &s);
    WideDepthwiseArgs args{};
    args.shape = {k.h,      k.w,      k.c,        k.h ? out_h : 0, out_w, k.kh,  k.kw,
                  k.stride, k.stride, k.dilation, k.dilation,      k.pad, k.pad, k.multiplier};
    args.input = x.data();
    args.padding = padding.data();
    args.weights = w.data();
    args.combine.bias = bias.data();
    args.combine.requant = s.requant;
    args.output = y.data();
    args.row_end = out_h;
    GetParam().depthwise(args);
    for (size_t i = 0; i < out_h * out_w; ++i) {
      for (size_t o = 0; o < channels; ++o) {
        int64_t acc = bias[o];
        for (size_t t = 0; t < k.kh * k.kw; ++t) {
          const size_t iy = i / out_w * k.stride + t / k.kw * k.dilation - k.pad;
          const size_t ix = i % out_w * k.stride + t % k.kw * k.dilation - k.pad;
          const size_t c = o / k.multiplier;
          const int v = iy < k.h && ix < k.w ? x[(iy * k.w + ix) * k.c + c] : padding[c];
          acc += v * w[t * channels + o];
        }
        ASSERT_EQ(y[i * channels + o], s.apply(acc, o)) << "pixel " << i << " channel " << o;
      }
    }
  }
}

// The sum of AddIntParams from its formula; stages in 128 bits.
TEST_P(WideTest, AddsAndMultiplies) {
  for (size_t n : std::initializer_list<size_t>{1, 15, 16, 17, 31, 1023, 1024, 1025, 2065}) {
    for (int scalars = 0; scalars < 3; ++scalars) {
      const bool a_scalar = scalars == 1, b_scalar = scalars == 2;
      Stages sum, a_stage, b_stage;
      make_stages(random_, 0, true, 2, Round::kHalfUp, &sum);
      make_stages(random_, 0, true, 2, Round::kHalfUp, &a_stage);
      make_stages(random_, 0, true, 1, Round::kHalfUp, &b_stage);
      for (Stages* s : {&sum, &a_stage, &b_stage}) s->shift[0][0] = 31;
      for (Stages* s : {&a_stage, &b_stage}) {
        s->multiplier[0][0] /= 2;
        s->requant.zero_point = 0;
        s->requant.lo = INT32_MIN, s->requant.hi = INT32_MAX;
      }
      AddIntParams add{};
      add.left_shift = static_cast<int32_t>(random_.integer(0, 14));
      add.a_zero_point = static_cast<int32_t>(random_.integer(-1, 1) * 1000);
      add.subtract = random_.coin();
      add.a_stage_count = a_stage.requant.stage_count;
      add.b_stage_count = b_stage.requant.stage_count;
      for (int i = 0; i < kMaxStages; ++i) {
        add.a_stages[i] = a_stage.requant.stages[i];
        add.b_stages[i] = b_stage.requant.stages[i];
      }
      add.requant = sum.requant;
      Guarded<int16_t> a(a_scalar ? 1 : n), b(b_scalar ? 1 : n), y(n);
      random_.fill(a, INT16_MIN, INT16_MAX);
      random_.fill(b, INT16_MIN, INT16_MAX);
      const WideRun run{a.data(), b.data(), a_scalar, b_scalar, y.data(), n};
      GetParam().add(add, run);
      for (size_t i = 0; i < n; ++i) {
        const int64_t scale = int64_t{1} << add.left_shift;
        const int64_t x = a_stage.apply((a[a_scalar ? 0 : i] - add.a_zero_point) * scale, 0);
        const int64_t z = b_stage.apply(b[b_scalar ? 0 : i] * scale, 0);
        ASSERT_EQ(y[i], sum.apply(add.subtract ? x - z : x + z, 0)) << "n " << n << " i " << i;
      }
      const WideMulParams mul{3, -2, sum.requant};
      GetParam().mul(mul, run);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(y[i], sum.apply(int64_t{a[a_scalar ? 0 : i] - 3} * (b[b_scalar ? 0 : i] + 2), 0));
    }
  }
}

template <class From, class To>
void check_rescale(const WideKernel& kernel, Random& random, WideElement from, WideElement to) {
  for (size_t n : std::initializer_list<size_t>{1, 16, 17, 1024, 1025, 2049}) {
    for (int form = 0; form < 4; ++form) {
      const bool is_int32 = from == WideElement::kInt32;
      const bool slopes_fit = !is_int32 && form == 3;
      Stages positive, negative;
      make_stages(random, 0, true, 2, Round::kHalfUp, &positive);
      make_stages(random, 0, true, 1, Round::kHalfEven, &negative);
      negative.shift[0][0] = 40;
      negative.requant.zero_point = 0;
      negative.requant.lo = INT32_MIN, negative.requant.hi = INT32_MAX;
      Requant& r = positive.requant;
      r.lo = to == WideElement::kUInt8 ? 3 : to == WideElement::kInt16 ? -30000 : INT32_MIN;
      r.hi = to == WideElement::kUInt8 ? 250 : to == WideElement::kInt16 ? INT16_MAX : INT32_MAX;
      std::vector<int16_t> slopes = {3, -128, 127, 0, -1};
      RescaleParams p{};
      p.bound = is_int32 ? int64_t{1} << 31 : 65535;
      p.zero_point = is_int32 ? 0 : 7;
      p.requant = r;
      p.has_negative = form > 0;
      p.negate_negative = form == 2;
      p.negative_count = form > 0 ? 1 : 0;
      p.negative[0] = negative.requant.stages[0];
      p.slopes = slopes_fit ? slopes.data() : nullptr;
      Guarded<From> x(n);
      Guarded<To> y(n);
      random.fill(x, std::numeric_limits<From>::min(), std::numeric_limits<From>::max());
      RescaleRun run{from, to, x.data(), y.data(), n, 2, slopes.size()};
      kernel.rescale(p, run);
      for (size_t i = 0; i < n; ++i) {
        const int64_t v = int64_t{x[i]} - p.zero_point;
        int64_t expected;
        if (v >= 0 || form == 0) {
          expected = positive.apply(v, 0);
        } else {
          expected = negative.apply(p.slopes ? v * slopes[(2 + i) % 5] : v, 0);
          if (form == 2) expected = -expected;
          expected = std::clamp<int64_t>(expected + r.zero_point, r.lo, r.hi);
        }
        ASSERT_EQ(y[i], expected) << "x " << int64_t{x[i]} << " form " << form << " n " << n;
      }
    }
  }
}

TEST_P(WideTest, RescalesBetweenAllTypes) {
  const auto from = [&](auto x, WideElement element) {
    using From = decltype(x);
    check_rescale<From, uint8_t>(GetParam(), random_, element, WideElement::kUInt8);
    check_rescale<From, int16_t>(GetParam(), random_, element, WideElement::kInt16);
    check_rescale<From, int32_t>(GetParam(), random_, element, WideElement::kInt32);
  };
  from(uint8_t{}, WideElement::kUInt8);
  from(int16_t{}, WideElement::kInt16);
  from(int32_t{}, WideElement::kInt32);
}

INSTANTIATE_TEST_SUITE_P(Kernels, WideTest, ::testing::ValuesIn(all_kernels()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WidePools, EqualTheLoops) {
  Random random;
  for (size_t c : std::initializer_list<size_t>{1, 63, 64, 65, 130}) {
    PoolShape s{7, 6, c, 4, 3, 3, 2, 2, 2, 1, 1, 1, 0};
    Guarded<int16_t> x(s.in_h * s.in_w * c), max(s.out_h * s.out_w * c),
        mean(s.out_h * s.out_w * c), sum(c);
    random.fill(x, INT16_MIN, INT16_MAX);
    WidePoolArgs args{s, -20000, 20000, x.data(), max.data(), 0, s.out_h};
    wide_max_pool(args);
    args.output = mean.data();
    wide_average_pool(args);
    for (size_t i = 0; i < s.out_h * s.out_w; ++i) {
      for (size_t k = 0; k < c; ++k) {
        int64_t greatest = INT16_MIN, total = 0, count = 0;
        for (size_t t = 0; t < s.kernel_h * s.kernel_w; ++t) {
          const size_t y = i / s.out_w * 2 + t / s.kernel_w - s.pad_top;
          const size_t col = i % s.out_w * 2 + t % s.kernel_w;
          if (y >= s.in_h || col >= s.in_w) continue;
          const int64_t v = x[(y * s.in_w + col) * c + k];
          greatest = std::max(greatest, v);
          total += v;
          ++count;
        }
        ASSERT_EQ(max[i * c + k], greatest);
        const int64_t average = (2 * std::abs(total) + count) / (2 * count);
        ASSERT_EQ(mean[i * c + k],
                  std::clamp<int64_t>(total < 0 ? -average : average, -20000, 20000));
      }
    }
    Stages stages;
    make_stages(random, 0, true, 2, Round::kHalfUp, &stages);
    wide_global_sum({x.data(), s.in_h * s.in_w, c, 5, stages.requant, sum.data()});
    for (size_t k = 0; k < c; ++k) {
      int64_t total = 0;
      for (size_t i = 0; i < s.in_h * s.in_w; ++i) total += x[i * c + k] - 5;
      ASSERT_EQ(sum[k], stages.apply(total, 0));
    }
  }
}

}  // namespace
}  // namespace qrt

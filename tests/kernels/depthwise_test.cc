// SPDX-License-Identifier: Apache-2.0
// Every depthwise kernel of this CPU against a naive loop written from the contract.
#include "kernels/depthwise/depthwise.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/depthwise/pack.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"
#include "tests/support/requant_walk.h"

namespace qrt::depthwise_test {
namespace {

using testing::Guarded;
using testing::Random;

size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

// One convolution with all its buffers. Setters chain; run() compares a kernel with the oracle.
class Case {
 public:
  explicit Case(Random* random) : random_(random) {}

  Case& image(size_t h, size_t w, size_t c) {
    s_.in_h = h, s_.in_w = w, s_.in_c = c;
    return *this;
  }
  Case& kernel(size_t h, size_t w) {
    s_.kernel_h = h, s_.kernel_w = w;
    return *this;
  }
  Case& stride(size_t h, size_t w) {
    s_.stride_h = h, s_.stride_w = w;
    return *this;
  }
  Case& dilation(size_t h, size_t w) {
    s_.dilation_h = h, s_.dilation_w = w;
    return *this;
  }
  Case& pad(size_t top, size_t left, size_t bottom, size_t right) {
    s_.pad_top = top, s_.pad_left = left;
    bottom_ = bottom, right_ = right;
    return *this;
  }
  Case& multiplier(size_t m) {
    s_.multiplier = m;
    return *this;
  }
  Case& terms(size_t t) {
    s_.terms = t;
    return *this;
  }
  Case& requant(const Requant& r) {
    requant_ = r;
    return *this;
  }
  Case& scale_exponent(int e) {
    exponent_ = e;
    return *this;
  }
  Case& bias_limit(int64_t limit) {
    bias_limit_ = limit;
    return *this;
  }
  Case& shifts(int lo, int hi) {
    shift_lo_ = lo, shift_hi_ = hi;
    return *this;
  }
  Case& small_multipliers() {
    small_multipliers_ = true;
    return *this;
  }
  // TFLite's two stages: times multiplier, by 2^31; then by 2^shift.
  Case& double_rounding() {
    double_rounding_ = true;
    return *this;
  }
  Case& rows(size_t begin, size_t end) {
    begin_ = begin, end_ = end;
    return *this;
  }
  const DepthwiseShape& shape() {
    s_.out_h = outputs(s_.in_h, s_.pad_top + bottom_, s_.kernel_h, s_.dilation_h, s_.stride_h);
    s_.out_w = outputs(s_.in_w, s_.pad_left + right_, s_.kernel_w, s_.dilation_w, s_.stride_w);
    return s_;
  }

  void run(const DepthwiseKernel& k) {
    shape();
    SCOPED_TRACE(random_->trace() + describe());
    ASSERT_GT(s_.out_h, 0u);
    ASSERT_GT(s_.out_w, 0u);
    ASSERT_EQ(k.supports(s_), true);
    // Constants per channel come in 16; only those of integer stages may be read beyond.
    const size_t channels = s_.in_c * s_.multiplier, whole = round_up(channels, 16);
    const size_t padded = round_up(channels, 64);
    const size_t taps = s_.kernel_h * s_.kernel_w;
    const size_t begin = begin_, end = end_ ? end_ : s_.out_h;

    Guarded<uint8_t> input(s_.in_h * s_.in_w * s_.in_c, 64), zero(s_.in_c, 64);
    random_->fill(input, 0, 255);
    const uint8_t zero_point = static_cast<uint8_t>(random_->integer(0, 255));
    for (size_t i = 0; i < s_.in_c + 64; ++i) zero.data()[i] = zero_point;
    std::vector<int8_t> summands(s_.terms * taps * channels);
    random_->fill(summands, -128, 127);
    const size_t term_bytes = depthwise_packed_bytes(channels, s_.kernel_h, s_.kernel_w);
    Guarded<int8_t> packed(s_.terms * term_bytes);
    std::vector<int> weights(taps * channels);
    for (size_t t = 0; t < s_.terms; ++t) {
      const int8_t* const term = summands.data() + t * weights.size();
      depthwise_pack(term, channels, s_.kernel_h, s_.kernel_w, packed.data() + t * term_bytes);
      for (size_t i = 0; i < weights.size(); ++i) weights[i] += term[i];
    }

    Guarded<int32_t> bias(whole), kernel_bias(whole);
    Guarded<float> scale(whole);
    Guarded<int32_t> multiplier(padded);
    Guarded<uint8_t> shift(padded);
    for (size_t c = 0; c < padded; ++c) {
      multiplier[c] = static_cast<int32_t>(random_->integer(1 << 30, INT32_MAX));
      shift[c] = static_cast<uint8_t>(random_->integer(shift_lo_, shift_hi_));
      if (small_multipliers_) multiplier[c] = static_cast<int32_t>(random_->integer(0, 3));
    }
    for (size_t c = 0; c < whole; ++c) {
      bias[c] = static_cast<int32_t>(random_->integer(-bias_limit_, bias_limit_));
      scale[c] = random_->scale(exponent_);
      uint32_t sum = 0;
      for (size_t t = 0; c < channels && t < taps; ++t)
        sum += static_cast<uint32_t>(weights[t * channels + c]);
      kernel_bias[c] =
          k.signed_lhs ? static_cast<int32_t>(static_cast<uint32_t>(bias[c]) + 128 * sum) : bias[c];
    }
    Requant r = requant_;
    r.scale = scale.data();
    for (RequantStage& stage : r.stages) {
      stage.multiplier = multiplier.data();
      stage.shift = shift.data();
    }
    Guarded<int32_t> ones(padded);
    Guarded<uint8_t> shift31(padded);
    for (int32_t& v : ones) v = 1;
    for (uint8_t& v : shift31) v = 31;
    if (double_rounding_) {
      r.stages[0].shift = shift31.data();
      r.stages[1].multiplier = ones.data();
    }
    Guarded<uint8_t> output(s_.out_h * s_.out_w * channels);
    const size_t scratch_bytes = round_up(k.scratch_bytes(s_), 64);
    Guarded<uint8_t> scratch(scratch_bytes);

    DepthwiseArgs args = {s_, input.data(),  zero.data(), packed.data(), kernel_bias.data(),
                          r,  output.data(), begin,       end,           scratch.data()};
    k.fn(args);

    for (size_t y = 0; y < s_.out_h; ++y) {
      for (size_t x = 0; x < s_.out_w; ++x) {
        for (size_t c = 0; c < channels; ++c) {
          const uint8_t got = output[(y * s_.out_w + x) * channels + c];
          if (y < begin || y >= end) {
            ASSERT_EQ(got, 0xA5) << "wrote outside its rows: y " << y << " x " << x << " c " << c;
            continue;
          }
          uint32_t acc = static_cast<uint32_t>(bias[c]);
          for (size_t ky = 0; ky < s_.kernel_h; ++ky) {
            for (size_t kx = 0; kx < s_.kernel_w; ++kx) {
              const ptrdiff_t iy = static_cast<ptrdiff_t>(y * s_.stride_h + ky * s_.dilation_h) -
                                   static_cast<ptrdiff_t>(s_.pad_top);
              const ptrdiff_t ix = static_cast<ptrdiff_t>(x * s_.stride_w + kx * s_.dilation_w) -
                                   static_cast<ptrdiff_t>(s_.pad_left);
              const bool inside = iy >= 0 && iy < static_cast<ptrdiff_t>(s_.in_h) && ix >= 0 &&
                                  ix < static_cast<ptrdiff_t>(s_.in_w);
              const int v =
                  inside ? input[(static_cast<size_t>(iy) * s_.in_w + static_cast<size_t>(ix)) *
                                     s_.in_c +
                                 c / s_.multiplier]
                         : zero_point;
              acc += static_cast<uint32_t>(v * weights[(ky * s_.kernel_w + kx) * channels + c]);
            }
          }
          ASSERT_EQ(got, requantize(r, static_cast<int32_t>(acc), c))
              << "y " << y << " x " << x << " c " << c << " acc " << static_cast<int32_t>(acc);
        }
      }
    }
  }

 private:
  static size_t outputs(size_t in, size_t pad, size_t kernel, size_t dilation, size_t stride) {
    const size_t span = (kernel - 1) * dilation + 1;
    return in + pad < span ? 0 : (in + pad - span) / stride + 1;
  }
  std::string describe() const {
    std::string d;
    for (size_t v : {s_.in_h, s_.in_w, s_.in_c, s_.kernel_h, s_.kernel_w, s_.stride_h, s_.stride_w,
                     s_.dilation_h, s_.dilation_w, s_.pad_top, s_.pad_left, s_.out_h, s_.out_w,
                     s_.multiplier, s_.terms})
      d += " " + std::to_string(v);
    return d;
  }

  Random* random_;
  DepthwiseShape s_ = {{5, 5, 0, 0, 3, 3, 1, 1, 1, 1, 0, 0}, 16, 1};
  size_t bottom_ = 0, right_ = 0, begin_ = 0, end_ = 0;
  int exponent_ = -10;
  int64_t bias_limit_ = 20000;
  int shift_lo_ = 36, shift_hi_ = 43;
  bool small_multipliers_ = false, double_rounding_ = false;
  Requant requant_ = plain();

 public:
  static Requant plain() {
    return {RequantKind::kF32, Round::kHalfEven, false, false, 0, 0, 0, 255, nullptr, 0, {}};
  }
};

Requant with_limits(int32_t zero_point, int32_t lo, int32_t hi) {
  Requant r = Case::plain();
  r.zero_point = zero_point;
  r.lo = lo;
  r.hi = hi;
  return r;
}

class DepthwiseTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count;
    kernel_ = &depthwise_kernels(&count)[GetParam()];
    if (!has(detected_isas() | static_cast<IsaSet>(Isa::kScalar), kernel_->isa))
      GTEST_SKIP() << "this CPU lacks " << isa_name(kernel_->isa);
  }
  Case make() { return Case(&random_); }
  // Runs a case with weights of one term and with weights of several.
  void check(Case c) {
    if (!kernel_->supports(c.shape())) return;
    c.run(*kernel_);
    if (HasFatalFailure()) return;
    c.terms(static_cast<size_t>(random_.integer(2, 3))).run(*kernel_);
  }

  const DepthwiseKernel* kernel_ = nullptr;
  Random random_;
};

TEST_P(DepthwiseTest, EveryChannelTail) {
  for (size_t c : {1,  2,  7,  15, 16, 17, 24,  31,  32,  33,  47,  48, 49,
                   63, 64, 65, 80, 96, 97, 127, 128, 129, 144, 192, 257}) {
    check(make().image(6, 7, c).kernel(3, 3).pad(1, 1, 1, 1));
    check(make().image(7, 6, c).kernel(3, 3).stride(2, 2).pad(0, 0, 1, 1));
    check(make().image(6, 6, c).kernel(5, 5).pad(2, 2, 2, 2));
    if (HasFatalFailure()) return;
  }
}

TEST_P(DepthwiseTest, EverySizeOfImage) {
  for (size_t h = 1; h <= 7; ++h) {
    for (size_t w = 1; w <= 11; ++w) {
      for (size_t stride = 1; stride <= 3; ++stride) {
        check(make().image(h, w, 40).kernel(3, 3).stride(stride, stride).pad(1, 1, 1, 1));
        check(make().image(h, w, 72).kernel(5, 5).stride(stride, stride).pad(2, 2, 2, 2));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(DepthwiseTest, RowsWiderThanATile) {
  for (size_t w : {31, 32, 33, 61, 62, 63, 64, 65, 66, 67, 131, 257}) {
    check(make().image(4, w, 70).kernel(3, 3).pad(1, 1, 1, 1));
    check(make().image(4, w, 20).kernel(3, 3).stride(2, 2).pad(1, 1, 1, 1));
    check(make().image(5, w, 33).kernel(7, 7).pad(3, 3, 3, 3));
    if (HasFatalFailure()) return;
  }
}

TEST_P(DepthwiseTest, ImagesTallerThanAStrip) {
  check(make().image(41, 65, 200).kernel(3, 3).pad(1, 1, 1, 1));
  check(make().image(37, 80, 170).kernel(3, 3).stride(2, 1).pad(1, 1, 1, 1));
}

// Tall images are right, of which kernels may compute many rows in one pass where none needs padding.
TEST_P(DepthwiseTest, TallImages) {
  for (size_t c : {8, 24, 40, 72}) {
    for (size_t h = 12; h <= 36; h += 3) {
      check(make().image(h, 5, c).kernel(3, 3).pad(1, 1, 1, 1));
      check(make().image(h, 5, c).kernel(3, 3).stride(2, 2).pad(1, 1, 1, 1));
      check(make().image(h, 4, c).kernel(3, 3).stride(2, 1).pad(0, 1, 0, 1));
      check(make().image(h, 4, c).kernel(3, 3).stride(1, 2).rows(3, 9));
      check(make().image(h, 8, c).kernel(3, 3).dilation(2, 2).pad(2, 2, 2, 2));
      check(make().image(h, 9, c).kernel(3, 3).dilation(1, 3).pad(1, 2, 1, 3));
      check(make().image(h, 5, c).kernel(3, 3).dilation(3, 1).pad(3, 1, 3, 1));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DepthwiseTest, EveryKernelSize) {
  for (size_t kh = 1; kh <= 9; ++kh) {
    for (size_t kw = 1; kw <= 9; ++kw) {
      check(make().image(10, 11, 21).kernel(kh, kw).pad(kh / 2, kw / 2, kh / 2, kw / 2));
      if (HasFatalFailure()) return;
    }
  }
  check(make().image(49, 10, 18).kernel(49, 10));
  check(make().image(3, 300, 5).kernel(1, 256));
  check(make().image(3, 300, 5).kernel(1, 257));
}

TEST_P(DepthwiseTest, StridesDilationsAndPadsIndependently) {
  for (int i = 0; i < 300; ++i) {
    const auto any = [&](int64_t lo, int64_t hi) {
      return static_cast<size_t>(random_.integer(lo, hi));
    };
    const size_t kh = any(1, 6), kw = any(1, 6), dh = any(1, 3), dw = any(1, 3);
    const size_t span_h = (kh - 1) * dh + 1, span_w = (kw - 1) * dw + 1;
    check(make()
              .image(any(1, 9) + span_h - 1, any(1, 20) + span_w - 1, any(1, 70))
              .kernel(kh, kw)
              .stride(any(1, 5), any(1, 5))
              .dilation(dh, dw)
              .pad(any(0, 3), any(0, 3), any(0, 3), any(0, 3)));
    if (HasFatalFailure()) return;
  }
}

TEST_P(DepthwiseTest, DilatedBeyondATile) {
  for (const size_t dw : {2, 9, 16, 40, 128, 300, 1000}) {
    check(make().image(1, 3 * dw + 70, 70).kernel(1, 3).dilation(1, dw).pad(0, dw, 0, dw));
    check(make().image(2, 2 * dw + 9, 19).kernel(2, 3).stride(1, 3).dilation(1, dw));
    check(make().image(5, 40, 33).kernel(3, 3).dilation(2, dw).pad(2, dw, 2, dw));
    check(make()
              .image(1, dw + 5, 5)
              .multiplier(3)
              .kernel(1, 5)
              .dilation(1, dw)
              .pad(0, 2 * dw, 0, 2 * dw));
    if (HasFatalFailure()) return;
  }
}

// Images of one row are right at every dilation: kernels may compute two outputs a dilation apart
// from the same inputs.
TEST_P(DepthwiseTest, LinesOfEveryDilation) {
  const auto any = [&](size_t lo, size_t hi) {
    return static_cast<size_t>(random_.integer(static_cast<int64_t>(lo), static_cast<int64_t>(hi)));
  };
  for (const size_t dw : {1, 2, 3, 7, 8, 9, 16, 31, 64}) {
    for (int i = 0; i < 12; ++i) {
      const size_t kw = any(1, 4), left = any(0, 2 * dw), right = any(0, 2 * dw);
      const size_t span = (kw - 1) * dw + 1, pads = left + right;
      check(make()
                .image(1, any(span > pads ? span - pads : 1, 7 * dw + 3), any(1, 140))
                .kernel(1, kw)
                .stride(any(1, 5), 1)
                .dilation(any(1, 2), dw)
                .pad(0, left, 0, right)
                .requant(with_limits(i % 2 == 0 ? 0 : 99, 0, 255)));
      if (HasFatalFailure()) return;
    }
  }
}

// Kernels of one row, and of one column on images of one column, are right, also with many taps:
// their taps take the place of rows.
TEST_P(DepthwiseTest, LinesOfManyTaps) {
  const auto any = [&](size_t lo, size_t hi) {
    return static_cast<size_t>(random_.integer(static_cast<int64_t>(lo), static_cast<int64_t>(hi)));
  };
  for (int i = 0; i < 600; ++i) {
    const size_t taps = any(2, i % 3 == 0 ? 40 : 9), dilation = i % 2 == 0 ? 1 : any(1, 24);
    const size_t span = (taps - 1) * dilation + 1, stride = any(1, i % 4 == 0 ? 6 : 2);
    const size_t before = any(0, span + 3), behind = any(0, span + 3), pads = before + behind;
    const size_t size = any(span > pads ? span - pads : 1, span + 130);
    const size_t channels = any(1, i % 5 == 0 ? 140 : 40), multiplier = i % 7 == 0 ? any(1, 3) : 1;
    const size_t rows = any(1, 3), row_stride = any(1, 2), row_pads = any(0, 1);
    const Requant r = with_limits(i % 2 == 0 ? 0 : 99, i % 2 == 0 ? 0 : 3, 255);
    check(make()
              .image(rows, size, channels)
              .kernel(1, taps)
              .stride(row_stride, stride)
              .dilation(any(1, 2), dilation)
              .pad(row_pads, before, row_pads, behind)
              .multiplier(multiplier)
              .requant(r));
    Case column = make()
                      .image(size, 1, channels)
                      .kernel(taps, 1)
                      .stride(stride, any(1, 2))
                      .dilation(dilation, any(1, 2))
                      .pad(before, 0, behind, 0)
                      .multiplier(multiplier)
                      .requant(r);
    check(column);
    const size_t outputs = column.shape().out_h, begin = any(0, outputs - 1);
    check(column.rows(begin, any(begin + 1, outputs)));
    if (HasFatalFailure()) return;
  }
  check(make().image(1030, 1, 5).kernel(1024, 1));
  check(make().image(300, 1, 70).kernel(9, 1).stride(17, 1));
  check(make().image(40, 1, 70).kernel(9, 1).stride(1, 20));
  check(make().image(40, 1, 33).kernel(5, 1).pad(2, 0, 2, 1));  // two columns of output
}

TEST_P(DepthwiseTest, PadsLargerThanTheImage) {
  check(make().image(1, 1, 9).kernel(3, 3).pad(4, 4, 5, 6));
  check(make().image(2, 3, 70).kernel(5, 5).stride(2, 2).pad(7, 9, 8, 7));
}

TEST_P(DepthwiseTest, ChannelMultiplier) {
  for (size_t m : {2, 3, 4, 7, 8, 16, 17, 33, 64, 65}) {
    for (size_t c : {1, 2, 3, 5, 16, 19, 33, 67}) {
      check(make().image(5, 6, c).multiplier(m).kernel(3, 3).pad(1, 1, 1, 1));
      check(make().image(7, 9, c).multiplier(m).kernel(5, 4).stride(2, 2).pad(1, 2, 1, 1));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DepthwiseTest, ComputesOnlyItsRows) {
  for (size_t begin = 0; begin < 6; ++begin) {
    for (size_t end = begin + 1; end <= 6; ++end) {
      check(make().image(6, 5, 66).kernel(3, 3).pad(1, 1, 1, 1).rows(begin, end));
      check(make().image(12, 9, 33).kernel(5, 5).stride(2, 2).pad(2, 2, 2, 2).rows(begin, end));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DepthwiseTest, ZeroPointsAndLimits) {
  for (int32_t zp : {-255, -128, -1, 1, 127, 128, 255}) {
    check(make().image(5, 6, 80).pad(1, 1, 1, 1).requant(with_limits(zp, 0, 255)));
    check(make().image(5, 6, 80).pad(1, 1, 1, 1).requant(with_limits(zp, 3, 250)));
    check(make().image(5, 6, 17).kernel(5, 5).requant(with_limits(zp, 100, 100)));
    check(make().image(5, 6, 33).stride(2, 2).requant(with_limits(zp, 0, 0)));
    if (HasFatalFailure()) return;
  }
  for (int zp : {0, 1, 128, 255}) {  // nothing below the zero point
    check(make().image(5, 6, 80).pad(1, 1, 1, 1).requant(with_limits(zp, zp, 255)));
    check(make().image(5, 6, 17).stride(2, 2).requant(with_limits(zp, zp, (zp + 255) / 2)));
  }
}

TEST_P(DepthwiseTest, ScalesFromVanishingToHuge) {
  for (int e = -126; e <= 126; e += 7) {
    check(make().image(4, 5, 70).pad(1, 1, 1, 1).scale_exponent(e));
    check(
        make().image(4, 5, 70).pad(1, 1, 1, 1).scale_exponent(e).requant(with_limits(128, 1, 255)));
    if (HasFatalFailure()) return;
  }
}

TEST_P(DepthwiseTest, AccumulatorsAtTheEndOfInt32) {
  for (int e : {-31, -24, -10, -1, 0, 1}) {
    check(make().image(6, 9, 70).pad(1, 1, 1, 1).scale_exponent(e).bias_limit(INT32_MAX));
    check(make().image(6, 9, 70).kernel(5, 5).scale_exponent(e).bias_limit(INT32_MAX).requant(
        with_limits(5, 2, 200)));
    if (HasFatalFailure()) return;
  }
}

// Ties and steps are right: with scales of 1/2 .. 1/8 a large part of all accumulators are ties.
TEST_P(DepthwiseTest, TiesAndSteps) {
  for (int e : {-1, -2, -3, -8, -11}) {
    check(make().image(9, 33, 64).pad(1, 1, 1, 1).scale_exponent(e).bias_limit(300));
    check(make()
              .image(9, 33, 64)
              .pad(1, 1, 1, 1)
              .scale_exponent(e)
              .bias_limit(300)
              .requant(with_limits(120, 0, 255)));
    if (HasFatalFailure()) return;
  }
}

// Sums up to 2^23 behind a Relu are right, which kernels may rely on where bias + 255 * 128 for
// each tap does not reach it.
TEST_P(DepthwiseTest, SumsUpToTwoToThe23BehindARelu) {
  for (int e : {-1, -4, -8, -15}) {
    for (int64_t limit : {(1 << 23) - 32640 * 9 - 1, (1 << 23) - 32640 * 9 + 100, 1 << 30}) {
      for (size_t c : {16, 32, 70})
        check(make().image(9, 8, c).pad(1, 1, 1, 1).scale_exponent(e).bias_limit(limit));
      check(make().image(9, 8, 70).kernel(5, 5).scale_exponent(e).bias_limit(limit));
      if (HasFatalFailure()) return;
    }
  }
}

// Results equal the definition at every step, tie and limit. Weights are zero, so that the biases
// are the accumulators.
TEST_P(DepthwiseTest, EqualsTheDefinitionAtEveryStepTieAndLimit) {
  const DepthwiseKernel& kernel = *kernel_;
  if (!kernel.supports({{2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0}, 64, 1})) GTEST_SKIP();
  testing::for_all_requantisations(random_, [&](const testing::RequantWalk& walk) {
    if (HasFatalFailure()) return;
    const size_t n = walk.channels();
    DepthwiseArgs args = {};
    args.shape = {{2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0}, n, 1};
    const std::vector<uint8_t> input(2 * n + 64), zero(n + 64);
    const std::vector<int8_t> weights(depthwise_packed_bytes(n, 1, 1) + 64);
    Guarded<uint8_t> output(2 * n), scratch(round_up(kernel.scratch_bytes(args.shape), 64));
    args.input = input.data();
    args.zero = zero.data();
    args.weights = weights.data();
    args.bias = walk.acc().data();
    args.requant = walk.requant();
    args.output = output.data();
    args.row_end = 2;
    args.scratch = scratch.data();
    kernel.fn(args);
    for (size_t i = 0; i < 2 * n; ++i)
      ASSERT_EQ(output[i], walk.expected(i % n)) << walk.describe(i % n);
  });
}

TEST_P(DepthwiseTest, OtherRequantisations) {
  for (Round round : {Round::kHalfEven, Round::kHalfUp}) {
    for (bool before : {false, true}) {
      Requant r = with_limits(77, 0, 255);
      r.round = round;
      r.zero_point_before = before;
      for (bool fused : {false, true}) {
        if (fused && !before) continue;
        r.fused = fused;
        r.offset = before ? 128 : 0;
        check(make().image(5, 6, 70).pad(1, 1, 1, 1).requant(r));
        check(make().image(5, 6, 21).stride(2, 2).requant(r));
      }
    }
  }
  for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    for (int stages : {1, 2}) {
      Requant r = with_limits(10, 2, 253);
      r.kind = RequantKind::kInt;
      r.stage_count = stages;
      for (RequantStage& s : r.stages) s = {nullptr, nullptr, round, -70000, 70000};
      check(make().image(5, 6, 70).pad(1, 1, 1, 1).requant(r));
      check(make().image(5, 6, 21).kernel(5, 5).pad(2, 2, 2, 2).requant(r));
      for (RequantStage& s : r.stages) s = {nullptr, nullptr, round, INT32_MIN, INT32_MAX};
      check(make().image(9, 9, 70).requant(r).shifts(0, 62).bias_limit(INT32_MAX));
      // Powers of two: many ties, and shifts of nothing.
      check(make().image(9, 9, 70).requant(r).shifts(0, 9).small_multipliers().bias_limit(300));
    }
  }
}

TEST_P(DepthwiseTest, DoubleRounding) {
  for (const auto& [lo, hi] : {std::pair<int, int>{0, 255}, {2, 253}}) {
    for (int zero_point : {0, 10, -128}) {
      Requant r = with_limits(zero_point, lo, hi);
      r.kind = RequantKind::kInt;
      r.stage_count = 2;
      r.stages[0] = {nullptr, nullptr, Round::kHalfUp, INT32_MIN, INT32_MAX};
      r.stages[1] = {nullptr, nullptr, Round::kHalfAway, INT32_MIN, INT32_MAX};
      const auto twice = [&](int least) {
        return make().requant(r).double_rounding().shifts(least, 11);
      };
      for (int least : {0, 1, 5}) {
        check(twice(least).image(7, 6, 70).pad(1, 1, 1, 1));
        check(twice(least).image(6, 9, 21).stride(2, 2).pad(0, 0, 1, 1));
        check(twice(least).image(5, 6, 40).kernel(5, 5).pad(2, 2, 2, 2));
        check(twice(least).image(5, 6, 8).pad(1, 1, 1, 1).bias_limit(INT32_MAX));
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DepthwiseTest,
                         ::testing::Range<size_t>(0,
                                                  [] {
                                                    size_t count;
                                                    depthwise_kernels(&count);
                                                    return count;
                                                  }()),
                         [](const ::testing::TestParamInfo<size_t>& info) {
                           size_t count;
                           return std::string(depthwise_kernels(&count)[info.param].name);
                         });

TEST(DepthwiseSelect, FallsBackToTheScalarKernel) {
  Random random;
  const DepthwiseShape shape = Case(&random).image(9, 9, 8).shape();
  const IsaSet scalar = static_cast<IsaSet>(Isa::kScalar);
  ASSERT_EQ(select_depthwise(scalar, shape)->isa, Isa::kScalar);
  DepthwiseShape huge = Case(&random).image(400, 400, 1).kernel(300, 300).shape();
  // A vector row without a tile takes every shape, and passes on to the scalar row what it does not do itself.
  const DepthwiseKernel* const taken = select_depthwise(detected_isas(), huge);
  ASSERT_TRUE(taken->supports(huge));
  ASSERT_EQ(taken->scratch_bytes(huge), 0u);
}

TEST(DepthwisePack, PutsFourRowsOfAChannelTogether) {
  const size_t c = 17, kh = 5, kw = 2;
  std::vector<int8_t> weights(kh * kw * c);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(i % 127 + 1);
  ASSERT_EQ(depthwise_packed_bytes(c, kh, kw), size_t{2 * 2 * 2 * 64});
  std::vector<int8_t> packed(depthwise_packed_bytes(c, kh, kw), 99);
  depthwise_pack(weights.data(), c, kh, kw, packed.data());
  for (size_t block = 0; block < 2; ++block) {
    for (size_t ky = 0; ky < 8; ++ky) {
      for (size_t kx = 0; kx < kw; ++kx) {
        for (size_t i = 0; i < 16; ++i) {
          const size_t channel = block * 16 + i;
          const int want = channel < c && ky < kh ? weights[(ky * kw + kx) * c + channel] : 0;
          ASSERT_EQ(packed[((block * 2 + ky / 4) * kw + kx) * 64 + i * 4 + ky % 4], want);
        }
      }
    }
  }
}

}  // namespace
}  // namespace qrt::depthwise_test

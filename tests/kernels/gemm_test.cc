// SPDX-License-Identifier: Apache-2.0
// Every gemm kernel of the table against a loop written from the contract in gemm.h: all tails,
// both forms of the left side, every requantisation, extremes of the operands, and memory that ends
// at a guard page.
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/gemm/pack.h"
#include "kernels/integer_build.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"
#include "tests/support/requant_walk.h"

namespace qrt::gemm_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr size_t kSlack = 64;

size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

enum class Scales { kUsual, kPowersOfTwo, kHuge, kTiny, kExponent };

// One product: defaults, changed by chained setters, then run() on a kernel.
class GemmTester {
 public:
  GemmTester& m(size_t v) { return m_ = v, *this; }
  GemmTester& n(size_t v) { return n_ = v, *this; }
  GemmTester& k(size_t v) { return k_ = v, *this; }
  GemmTester& taps(size_t v) { return taps_ = v, *this; }
  GemmTester& indirect(bool v) { return indirect_ = v, *this; }
  // Pads with this value; one of every three times so many rows has nothing else at a tap.
  GemmTester& padding(int value, size_t rows) {
    return padding_ = value, padded_rows_ = rows, indirect(true);
  }
  GemmTester& a_gap(size_t v) { return a_gap_ = v, *this; }
  GemmTester& c_gap(size_t v) { return c_gap_ = v, *this; }
  GemmTester& kind(RequantKind v) { return kind_ = v, *this; }
  GemmTester& round(Round v) { return round_ = v, *this; }
  GemmTester& zero_point(int v) { return zero_point_ = v, *this; }
  GemmTester& limits(int lo, int hi) { return lo_ = lo, hi_ = hi, *this; }
  GemmTester& before(bool fused, int offset) {
    return before_ = true, fused_ = fused, offset_ = offset, *this;
  }
  GemmTester& scales(Scales v) { return scales_ = v, *this; }
  GemmTester& exponent(int v) { return scales_ = Scales::kExponent, exponent_ = v, *this; }
  GemmTester& extremes() { return extremes_ = true, *this; }
  GemmTester& bias_range(int32_t lo, int32_t hi) { return bias_lo_ = lo, bias_hi_ = hi, *this; }
  GemmTester& stages(int v) { return stages_ = v, *this; }
  GemmTester& adds(bool v) { return adds_ = v, *this; }

  void run(const GemmKernel& kernel, Random& random) const {
    SCOPED_TRACE(std::string(kernel.name) + " m=" + std::to_string(m_) +
                 " n=" + std::to_string(n_) + " k=" + std::to_string(k_) + " taps=" +
                 std::to_string(taps_) + (indirect_ ? " indirect " : " strided ") + random.trace());
    const size_t kc = round_up(k_, 4), channels = round_up(n_, 64);

    // Left side. The k tail of the last row and the slack may be anything: weights there are zero.
    const size_t a_stride = taps_ * kc + a_gap_, a_rows = indirect_ ? 3 * m_ : m_;
    Guarded<uint8_t> a((a_rows - 1) * a_stride + taps_ * kc, kSlack);
    fill(random, a, 0, 255);
    const auto zero_value = static_cast<uint8_t>(padding_ >= 0 ? padding_ : random.integer(0, 255));
    Guarded<uint8_t> zero(kc, kSlack);
    memset(zero.data(), zero_value, kc + kSlack);
    const ptrdiff_t offset = indirect_ ? static_cast<ptrdiff_t>(a_stride) : 0;
    Guarded<const uint8_t*> indirection(m_ * taps_);
    for (auto& p : indirection) {
      // The offset skips a row; a pointer that is `zero` stays as it is.
      const ptrdiff_t row = random.integer(-1, static_cast<int64_t>(a_rows) - 2);
      const size_t at = static_cast<size_t>(&p - indirection.data());
      const bool padded = padded_rows_ != 0 && (at / taps_ / padded_rows_ + at % taps_) % 3 == 0;
      p = padded || random.integer(0, 4) == 0 ? zero.data() : a.data() + row * offset;
    }
    const auto left = [&](size_t i, size_t t) -> const uint8_t* {
      if (!indirect_) return a.data() + i * a_stride + t * kc;
      const uint8_t* p = indirection[i * taps_ + t];
      return p == zero.data() ? p : p + offset;
    };

    // Right side.
    std::vector<int8_t> w(n_ * taps_ * k_);
    if (kernel.pair_safe_only) {
      fill(random, w, -64, 64);
    } else {
      fill(random, w, -128, 127);
    }
    Guarded<int8_t> packed(gemm_packed_bytes(n_, taps_, k_));
    gemm_pack(w.data(), n_, taps_, k_, packed.data());
    Guarded<int32_t> bias(channels), kernel_bias(channels);
    for (size_t j = 0; j < channels; ++j) {
      bias[j] = static_cast<int32_t>(random.integer(bias_lo_, bias_hi_));
      uint32_t sum = 0;
      for (size_t i = 0; j < n_ && i < taps_ * k_; ++i)
        sum += static_cast<uint32_t>(w[j * taps_ * k_ + i]);
      kernel_bias[j] = static_cast<int32_t>(static_cast<uint32_t>(bias[j]) +
                                            (kernel.signed_lhs ? 128 * sum : 0));
    }

    // Requantisation.
    Guarded<float> scale(channels);
    Guarded<int32_t> multiplier(channels);
    Guarded<uint8_t> shift0(channels), shift1(channels);
    for (size_t j = 0; j < channels; ++j) {
      scale[j] = pick_scale(random);
      multiplier[j] = static_cast<int32_t>(random.integer(1, INT32_MAX));
      shift0[j] = static_cast<uint8_t>(random.integer(30, 50));
      shift1[j] = static_cast<uint8_t>(random.integer(0, 10));
    }
    Guarded<int32_t> ones(channels);
    for (auto& v : ones) v = 1;
    Requant requant = {};
    requant.kind = kind_;
    requant.round = round_;
    requant.zero_point_before = before_;
    requant.fused = fused_;
    requant.zero_point = zero_point_;
    requant.offset = offset_;
    requant.lo = lo_;
    requant.hi = hi_;
    if (kind_ == RequantKind::kF32 || kind_ == RequantKind::kFloat) requant.scale = scale.data();
    Guarded<float> addend(channels);
    for (auto& v : addend) v = random.scale(3) - random.scale(3);
    if (adds_) requant.addend = addend.data();
    if (kind_ == RequantKind::kInt) {
      requant.stage_count = stages_;
      requant.stages[0] = {multiplier.data(), shift0.data(), round_, INT32_MIN, INT32_MAX};
      requant.stages[1] = {ones.data(), shift1.data(), Round::kHalfAway, INT32_MIN, INT32_MAX};
    }

    // Output: rows c_gap_ bytes apart, the last ending at the guard page.
    const bool is_int16 = kind_ == RequantKind::kAcc || kind_ == RequantKind::kFloat;
    const size_t row_bytes = n_ * (is_int16 ? 4 : 1);
    const size_t c_stride = row_bytes + c_gap_;
    Guarded<uint8_t> c((m_ - 1) * c_stride + row_bytes);

    GemmArgs args = {};
    args.m = m_;
    args.n = n_;
    args.taps = taps_;
    args.kc = kc;
    if (indirect_) {
      args.indirection = indirection.data();
      args.a_offset = offset;
      args.zero = zero.data();
    } else {
      args.a = a.data();
      args.a_stride = a_stride;
      args.a_tap_stride = kc;
    }
    args.weights = packed.data();
    args.bias = kernel_bias.data();
    args.requant = requant;
    args.c = c.data();
    args.c_stride = c_stride;
    if (m_ % 2 == 0) {  // changes nothing but the caches
      args.ahead = packed.data();
      args.ahead_bytes = packed.size();
    }
    kernel.fn(args);

    for (size_t i = 0; i < m_; ++i) {
      for (size_t j = 0; j < n_; ++j) {
        uint32_t sum = static_cast<uint32_t>(bias[j]);
        for (size_t t = 0; t < taps_; ++t) {
          const uint8_t* row = left(i, t);
          for (size_t k = 0; k < k_; ++k)
            sum += static_cast<uint32_t>(row[k] * w[(j * taps_ + t) * k_ + k]);
        }
        const int32_t acc = static_cast<int32_t>(sum);
        if (kind_ == RequantKind::kAcc) {
          int32_t got;
          memcpy(&got, c.data() + i * c_stride + 4 * j, 4);
          ASSERT_EQ(got, acc) << "row " << i << " channel " << j;
        } else if (kind_ == RequantKind::kFloat) {
          float want = static_cast<float>(acc) * scale[j], got;
          if (adds_) want += addend[j];
          memcpy(&got, c.data() + i * c_stride + 4 * j, 4);
          ASSERT_EQ(got, want) << "row " << i << " channel " << j << " acc " << acc;
        } else {
          ASSERT_EQ(c[i * c_stride + j], requantize(requant, acc, j))
              << "row " << i << " channel " << j << " acc " << acc;
        }
      }
      for (size_t g = row_bytes; i + 1 < m_ && g < c_stride; ++g)
        ASSERT_EQ(c[i * c_stride + g], 0xA5) << "wrote past row " << i;
    }
  }

 private:
  template <class Container>
  void fill(Random& random, Container& c, int64_t lo, int64_t hi) const {
    if (!extremes_) return random.fill(c, lo, hi);
    for (auto& v : c)
      v = static_cast<std::remove_reference_t<decltype(v)>>(random.coin() ? lo : hi);
  }

  float pick_scale(Random& random) const {
    switch (scales_) {
      case Scales::kUsual: return random.scale(static_cast<int>(random.integer(-14, -8)));
      case Scales::kPowersOfTwo: return std::ldexp(1.0f, static_cast<int>(random.integer(-12, 0)));
      case Scales::kHuge: return random.scale(static_cast<int>(random.integer(0, 127)));
      case Scales::kTiny: return random.scale(static_cast<int>(random.integer(-126, -20)));
      case Scales::kExponent: return random.scale(exponent_);
    }
    return 1;
  }

  size_t m_ = 5, n_ = 40, k_ = 20, taps_ = 1, a_gap_ = 0, c_gap_ = 0, padded_rows_ = 0;
  int padding_ = -1;
  bool indirect_ = false, extremes_ = false, before_ = false, fused_ = false, adds_ = false;
  RequantKind kind_ = RequantKind::kF32;
  Round round_ = Round::kHalfEven;
  int exponent_ = 0;
  int zero_point_ = 113, lo_ = 0, hi_ = 255, offset_ = 0, stages_ = 1;
  int32_t bias_lo_ = -20000, bias_hi_ = 20000;
  Scales scales_ = Scales::kUsual;
};

class GemmTest : public ::testing::TestWithParam<GemmKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa))
      GTEST_SKIP() << "this CPU has no " << isa_name(GetParam().isa);
  }
  void run(const GemmTester& tester) { tester.run(GetParam(), random_); }
  // 1, tile - 1, tile, tile + 1, 2 tile + 1, and a prime beyond.
  static std::vector<size_t> around(size_t tile) {
    std::vector<size_t> sizes = {1, tile, tile + 1, 2 * tile + 1, tile * 3 + 2};
    if (tile > 2) sizes.push_back(tile - 1);
    return sizes;
  }
  Random random_;
};

TEST_P(GemmTest, EveryRowAndChannelTail) {
  for (size_t m : around(GetParam().mr)) {
    for (size_t n : around(GetParam().nr)) run(GemmTester().m(m).n(n).k(36).c_gap(7).a_gap(12));
  }
}

// Tiles of padding alone, which kernels may leave out where padding adds nothing, are right.
TEST_P(GemmTest, TilesOfPaddingAlone) {
  const size_t mr = GetParam().mr, nr = GetParam().nr;
  for (int value : {0, 1, 128}) {
    for (size_t k : {4, 36})
      run(GemmTester().m(9 * mr + 1).n(nr + 5).taps(9).k(k).padding(value, 3 * mr));
  }
}

TEST_P(GemmTest, FloatsOfEveryTail) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers with float results";
  for (bool adds : {false, true}) {
    for (size_t m : around(GetParam().mr)) {
      for (size_t n : around(GetParam().nr))
        run(GemmTester().kind(RequantKind::kFloat).adds(adds).m(m).n(n).k(36).c_gap(8).a_gap(12));
    }
    run(GemmTester()
            .kind(RequantKind::kFloat)
            .adds(adds)
            .m(3)
            .n(70)
            .bias_range(INT32_MIN, INT32_MAX));
  }
}

TEST_P(GemmTest, EveryRowCount) {
  for (size_t m = 1; m <= 3u * GetParam().mr + 1; ++m) run(GemmTester().m(m).n(GetParam().nr));
}

TEST_P(GemmTest, EveryChannelCount) {
  for (size_t n = 1; n <= 2u * GetParam().nr + 17; ++n) run(GemmTester().m(GetParam().mr).n(n));
}

TEST_P(GemmTest, EveryInputChannelCount) {
  for (size_t k = 1; k <= 132; ++k) {
    run(GemmTester().m(GetParam().mr).n(GetParam().nr).k(k));
    run(GemmTester().m(1).n(GetParam().nr + 16).k(k));
  }
}

TEST_P(GemmTest, OneRowOfManyWeights) {
  for (size_t k : {256, 500, 1024, 2052}) {
    for (size_t n : {10, 64, 130}) {
      for (size_t m : {1, 2, 3, 4}) run(GemmTester().m(m).n(n).k(k));
    }
  }
}

TEST_P(GemmTest, LargeProductsCrossEveryBlock) {
  run(GemmTester().m(61).n(210).k(300));
  run(GemmTester().m(131).n(70).k(1028).a_gap(4));
  run(GemmTester().m(7).n(97).taps(9).k(260).indirect(true));
  // More weights than 1 MiB.
  run(GemmTester().m(35).n(520).k(2112));
  run(GemmTester().m(35).n(300).taps(9).k(448).indirect(true));
}

// Long sums are right, in which chunks of k follow each other and blocks of rows are as small as they get.
TEST_P(GemmTest, LongSums) {
  for (size_t k : {3076, 4099}) {
    run(GemmTester().m(9).n(40).k(k).a_gap(4));
    run(GemmTester().m(1).n(70).k(k).extremes());
  }
  run(GemmTester().m(61).n(20).k(24580));
}

TEST_P(GemmTest, StridedTaps) {
  for (size_t taps : {1, 2, 3, 7, 9}) {
    for (size_t k : {1, 4, 13, 24}) run(GemmTester().m(2 * GetParam().mr + 1).taps(taps).k(k));
  }
}

TEST_P(GemmTest, IndirectTapsWithOffsetAndZeroRows) {
  for (size_t taps : {1, 2, 3, 7, 9, 25}) {
    for (size_t k : {3, 4, 16, 29, 64}) {
      for (size_t m : {size_t{1}, size_t{GetParam().mr}, size_t{GetParam().mr} * 2 + 1})
        run(GemmTester().m(m).n(GetParam().nr + 5).taps(taps).k(k).indirect(true).a_gap(4));
    }
  }
}

TEST_P(GemmTest, ExtremesOfBothOperands) {
  for (size_t k : {4, 64, 1000}) {
    for (Scales s : {Scales::kUsual, Scales::kHuge, Scales::kTiny})
      run(GemmTester().m(13).n(70).k(k).extremes().scales(s));
  }
}

TEST_P(GemmTest, AccumulatorsWrapModulo32Bits) {
  run(GemmTester().m(13).n(70).k(64).extremes().bias_range(INT32_MAX - 1000, INT32_MAX));
  run(GemmTester().m(13).n(70).k(64).extremes().bias_range(INT32_MIN, INT32_MIN + 1000));
  run(GemmTester().kind(RequantKind::kAcc).k(64).extremes().bias_range(INT32_MIN, INT32_MIN + 9));
}

TEST_P(GemmTest, AccumulatorsBeyondFloatPrecisionRoundAsFloats) {
  run(GemmTester().m(25).n(70).bias_range(INT32_MIN, INT32_MAX).scales(Scales::kTiny));
  run(GemmTester().m(25).n(70).bias_range(-(1 << 25), 1 << 25).scales(Scales::kPowersOfTwo));
  for (int lo : {-(1 << 24) - 8, (1 << 24) - 8})
    run(GemmTester().m(25).n(70).bias_range(lo, lo + 16).scales(Scales::kPowersOfTwo).k(1));
}

// Sums up to 2^23 behind a Relu are right, which kernels may rely on where bias + 255 * 128 * k
// does not reach it.
TEST_P(GemmTest, SumsUpToTwoToThe23BehindARelu) {
  for (int k : {1, 4, 100, 256, 260}) {
    const int32_t most =
        (1 << 23) - 32640 * static_cast<int32_t>(round_up(static_cast<size_t>(k), 4));
    for (int32_t bias : {most, 0, -(1 << 30)}) {
      for (size_t m : {1, 13})
        run(GemmTester()
                .m(m)
                .n(70)
                .k(static_cast<size_t>(k))
                .extremes()
                .zero_point(0)
                .bias_range(bias - 9, bias));
      run(GemmTester()
              .m(13)
              .n(70)
              .k(static_cast<size_t>(k))
              .extremes()
              .zero_point(0)
              .bias_range(bias - 9, bias + 1));
    }
  }
}

// Sums of either sign up to 2^22, and outputs within 16 bits, are right, which kernels may rely on
// where bias + 255 * 128 * k stays below.
TEST_P(GemmTest, SumsUpToTwoToThe22WithAZeroPoint) {
  for (int k : {1, 64, 128, 250}) {
    for (int32_t product : {128 * 128, 255 * 128}) {
      const int32_t most =
          (1 << 22) - product * static_cast<int32_t>(round_up(static_cast<size_t>(k), 4));
      for (int32_t bias : {most, -most}) {
        for (int exponent : {-16, -15, -7}) {
          run(GemmTester()
                  .m(7)
                  .n(33)
                  .k(static_cast<size_t>(k))
                  .extremes()
                  .exponent(exponent)
                  .bias_range(bias - 9, bias + 9));
        }
      }
    }
  }
}

// Sums beyond 2^23 are right where 2^23 * scale is more than any output: scales around 2^-15, sums
// of either sign and up to 2^26, and biases around the greatest that leave room for that.
TEST_P(GemmTest, SumsBeyondTwoToThe23BehindARelu) {
  for (int k : {4, 260, 512, 1024, 2048, 2052}) {
    const int32_t reach = 32640 * k;
    for (int32_t bias : {0, (1 << 23) - 100, (1 << 26) - reach, -(1 << 23), -(1 << 30)}) {
      for (int exponent : {-17, -16, -15, -14, -1})
        run(GemmTester()
                .m(9)
                .n(33)
                .k(static_cast<size_t>(k))
                .extremes()
                .zero_point(0)
                .exponent(exponent)
                .bias_range(bias - 9, bias + (bias == 0 ? 1 << 25 : 0)));
    }
  }
}

TEST_P(GemmTest, ScalesBeyondOneSaturateBothWays) {
  for (int zp : {0, 128, 255, -255})
    run(GemmTester()
            .m(13)
            .n(70)
            .scales(Scales::kHuge)
            .zero_point(zp)
            .bias_range(INT32_MIN, INT32_MAX));
}

TEST_P(GemmTest, TiesRoundToEven) {
  for (int zp : {0, 1, 128, 255}) {
    run(GemmTester().m(30).n(70).k(2).scales(Scales::kPowersOfTwo).zero_point(zp));
    run(GemmTester().m(30).n(70).k(2).scales(Scales::kPowersOfTwo).zero_point(zp).limits(3, 250));
  }
}

TEST_P(GemmTest, LimitsClampTheOutput) {
  run(GemmTester().limits(7, 201).zero_point(0));
  run(GemmTester().limits(128, 128));
  run(GemmTester().limits(113, 255));
  run(GemmTester().limits(0, 0));
  run(GemmTester().limits(128, 255).zero_point(128));
  run(GemmTester().m(30).n(70).limits(128, 201).zero_point(128));
}

// Short sums of many rows are right, for which some kernels have loops of their own, with the plain
// requantisations.
TEST_P(GemmTest, ShortSumsOfManyRows) {
  for (size_t k : {13, 16, 24, 30, 32}) {
    for (size_t n : {16, 21, 24, 25, 32, 48, 56, 63, 72, 97}) {
      for (size_t m : {15, 16, 17, 18, 19, 61}) run(GemmTester().m(m).n(n).k(k).a_gap(4).c_gap(3));
    }
    run(GemmTester().m(700).n(48).k(k));
    for (int lo : {0, 113, 120}) run(GemmTester().m(33).n(56).k(k).zero_point(120).limits(lo, 255));
    run(GemmTester().m(33).n(56).k(k).zero_point(120).limits(120, 201));
    run(GemmTester().m(33).n(56).k(k).kind(RequantKind::kAcc));
  }
}

TEST_P(GemmTest, BlocksAndAHalfOfChannels) {
  for (size_t n : {5, 8, 17, 20, 24, 54}) {
    for (size_t m : {13, 14, 49, 57, 64}) {
      run(GemmTester().m(m).n(n).k(76).c_gap(5));
      run(GemmTester().m(m).n(n).taps(3).k(20).indirect(true).zero_point(9).limits(9, 255));
    }
    run(GemmTester().m(56).n(n).k(36).kind(RequantKind::kAcc));
    run(GemmTester().m(56).n(n).k(36).zero_point(128).limits(3, 251));
    run(GemmTester().m(56).n(n).k(36).kind(RequantKind::kInt).round(Round::kHalfUp).stages(1));
  }
}

TEST_P(GemmTest, EveryRequantisation) {
  for (size_t m : {size_t{1}, size_t{GetParam().mr}, size_t{GetParam().mr} + 3}) {
    const auto tester = [&] { return GemmTester().m(m).n(GetParam().nr + 9).c_gap(8); };
    run(tester().kind(RequantKind::kAcc));
    run(tester().round(Round::kHalfUp).scales(Scales::kPowersOfTwo));
    run(tester().before(false, 0).scales(Scales::kPowersOfTwo).zero_point(113));
    run(tester().before(false, 128).zero_point(-15));
    run(tester().before(true, 0).zero_point(113));
    for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
      for (int stages : {1, 2})
        run(tester().kind(RequantKind::kInt).round(round).stages(stages).limits(2, 251));
    }
  }
}

// Results equal the definition at every step, tie and limit. Weights are zero, so that the biases
// are the accumulators.
TEST_P(GemmTest, EqualsTheDefinitionAtEveryStepTieAndLimit) {
  const GemmKernel& kernel = GetParam();
  const std::vector<uint8_t> a(4 + kSlack);
  testing::for_all_requantisations(random_, [&](const testing::RequantWalk& walk) {
    if (HasFatalFailure()) return;
    const size_t n = walk.channels();
    const std::vector<int8_t> weights(gemm_packed_bytes(n, 1, 4) + kSlack);
    for (size_t m : {size_t{1}, size_t{kernel.mr}, size_t{kernel.mr} + 3}) {
      std::vector<uint8_t> c(m * n);
      GemmArgs args = {};
      args.m = m;
      args.n = n;
      args.taps = 1;
      args.kc = 4;
      args.a = a.data();
      args.weights = weights.data();
      args.bias = walk.acc().data();
      args.requant = walk.requant();
      args.c = c.data();
      args.c_stride = n;
      kernel.fn(args);
      for (size_t j = 0; j < n; ++j) {
        const int32_t expected = walk.expected(j);
        for (size_t i = 0; i < m; ++i)
          ASSERT_EQ(c[i * n + j], expected) << walk.describe(j) << " row " << i << " of " << m;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmTest, ::testing::ValuesIn(testing::all_rows(gemm_kernels)),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GemmSelectTest, EveryRowNamesATileTheContractAllows) {
  for (const GemmKernel& kernel : testing::all_rows(gemm_kernels)) {
    ASSERT_GE(kernel.mr, 1) << kernel.name;
    ASSERT_EQ(kernel.nr % 16, 0) << kernel.name;
  }
  ASSERT_EQ(testing::all_rows(gemm_kernels).back().isa, Isa::kScalar);
}

TEST(GemmSelectTest, TakesTheBestAllowedSet) {
  Isa isa;
  for (int i = 0; isa_at(i, &isa); ++i) {
    const IsaSet set = capped(detected_isas(), isa);
    for (bool pair_safe : {false, true}) {
      const GemmKernel* kernel = select_gemm(set, {16, 64, 1, 64, RequantKind::kF32, pair_safe});
      ASSERT_TRUE(has(set, kernel->isa)) << kernel->name;
      ASSERT_TRUE(pair_safe || !kernel->pair_safe_only) << kernel->name;
    }
  }
  ASSERT_EQ(
      select_gemm(static_cast<IsaSet>(Isa::kScalar), {1, 1, 1, 4, RequantKind::kF32, true})->isa,
      Isa::kScalar);
}

TEST(GemmPackTest, PlacesEveryWeightAndZeroesTheTails) {
  const size_t n = 19, taps = 3, k = 6, kc = 8;
  std::vector<int8_t> w(n * taps * k);
  Random random;
  random.fill(w, 1, 127);
  ASSERT_EQ(gemm_packed_bytes(n, taps, k), 2 * 16 * taps * kc);
  std::vector<int8_t> packed(gemm_packed_bytes(n, taps, k), 77);
  gemm_pack(w.data(), n, taps, k, packed.data());
  for (size_t j = 0; j < 32; ++j) {
    for (size_t t = 0; t < taps; ++t) {
      for (size_t i = 0; i < kc; ++i) {
        const size_t at = (((j / 16 * taps + t) * (kc / 4) + i / 4) * 16 + j % 16) * 4 + i % 4;
        ASSERT_EQ(packed[at], j < n && i < k ? w[(j * taps + t) * k + i] : 0);
      }
    }
  }
}

TEST(GemmPackTest, PairSafetyIsDecidedAtTheLimitOfInt16) {
  const auto safe = [](std::vector<int8_t> w) { return gemm_pair_safe(w.data(), 1, 1, w.size()); };
  ASSERT_TRUE(safe({64, 64, -64, -64}));
  ASSERT_TRUE(safe({1, 127, -128, 0}));
  ASSERT_TRUE(safe({127, -128, -128, 127}));
  ASSERT_TRUE(safe({127}));
  ASSERT_FALSE(safe({64, 65}));
  ASSERT_FALSE(safe({0, 0, -64, -65}));
  ASSERT_FALSE(safe({-1, -128}));
  // Pairs are within a tap and a group of four: 64, | 64 + 65 are never added.
  const std::vector<int8_t> two_rows = {127, 2, 127, 2};
  ASSERT_FALSE(gemm_pair_safe(two_rows.data(), 2, 1, 2));
  ASSERT_TRUE(gemm_pair_safe(two_rows.data(), 4, 1, 1));
}

}  // namespace
}  // namespace qrt::gemm_test

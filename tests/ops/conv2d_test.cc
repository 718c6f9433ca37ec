// SPDX-License-Identifier: Apache-2.0
// Conv2D against a loop over taps: every form (dense, indirect, rows), groups, terms, padding and
// requantisation; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"
#include "tests/support/volume_tester.h"

namespace qrt::conv2d_test {
namespace {

using testing::Bytes;

enum class Kind { kF32, kInt, kAcc, kShiftUp, kZeroPointBefore };

struct ConvTester : testing::VolumeTester<ConvTester> {
  int64_t h = 1, w = 1, c = 1, out = 1, kh = 1, kw = 1;
  int stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int top = 0, left = 0, bottom = 0, right = 0;
  int64_t groups = 1, terms = 1, pixels = 1;
  int fixed_zero_point = -1;  // or any
  bool rows = false;
  Kind kind = Kind::kF32;

  ConvTester& image(int64_t height, int64_t width, int64_t channels) {
    h = height, w = width, c = channels;
    return *this;
  }
  ConvTester& kernel(int64_t outputs, int64_t height, int64_t width) {
    out = outputs, kh = height, kw = width;
    return *this;
  }
  ConvTester& stride(int y, int x) {
    stride_h = y, stride_w = x;
    return *this;
  }
  ConvTester& dilation(int y, int x) {
    dilation_h = y, dilation_w = x;
    return *this;
  }
  ConvTester& pad(int t, int l, int b, int r) {
    top = t, left = l, bottom = b, right = r;
    return *this;
  }
  ConvTester& in_groups(int64_t g) {
    groups = g;
    return *this;
  }
  ConvTester& of_terms(int64_t t) {
    terms = t;
    return *this;
  }
  // Outputs of so many neighbouring pixels, as a converter joins them; kernel() and stride() are of all.
  ConvTester& joined(int64_t count) {
    pixels = count;
    return *this;
  }
  ConvTester& zero_point(int v) {
    fixed_zero_point = v;
    return *this;
  }
  ConvTester& as_rows() {
    rows = true;
    return *this;
  }
  ConvTester& requant(Kind k) {
    kind = k;
    return *this;
  }

  int64_t out_h() const { return (h + top + bottom - dilation_h * (kh - 1) - 1) / stride_h + 1; }
  int64_t out_w() const { return (w + left + right - dilation_w * (kw - 1) - 1) / stride_w + 1; }

  // Reorders to [groups][out / groups][terms * taps][k], the source of the packed form.
  size_t group_taps() const { return static_cast<size_t>(rows ? kh : kh * kw); }
  size_t group_k() const { return static_cast<size_t>(rows ? kw * c : c / groups); }

  template <class T>
  void repeat_pixel(std::vector<T>* of_outputs) const {
    const size_t n = static_cast<size_t>(out / pixels);
    for (size_t o = n; o < of_outputs->size(); ++o) (*of_outputs)[o] = (*of_outputs)[o - n];
  }
  // Joins pixels: repeats the weights of pixel 0, a column further on for each pixel. [out][kh][kw][c]
  void join(std::vector<int8_t>* weights) const {
    const std::vector<int8_t> from = *weights;
    for (int64_t i = 0, o = 0; o < out; ++o)
      for (int64_t ky = 0; ky < kh; ++ky)
        for (int64_t kx = 0; kx < kw * c; ++kx, ++i) {
          const int64_t n = out / pixels, x = kx - o / n * c;
          const bool is_inside = x >= 0 && x < (kw + 1 - pixels) * c;
          (*weights)[static_cast<size_t>(i)] =
              is_inside ? from[static_cast<size_t>((o % n * kh + ky) * kw * c + x)] : int8_t{0};
        }
  }

  std::unique_ptr<fb::RequantT> make_requant(testing::Random* random) const {
    const int fan_in = static_cast<int>(kh * kw * (c / groups) * terms);
    const int exponent = -8 - static_cast<int>(std::lround(std::log2(fan_in) / 2));
    std::vector<float> scale;
    for (int64_t o = 0; o < out; ++o) scale.push_back(random->scale(exponent));
    repeat_pixel(&scale);
    switch (kind) {
      case Kind::kAcc: return testing::requant_acc();
      case Kind::kInt: {
        auto r = testing::requant_int(1 << 30, static_cast<uint8_t>(30 - exponent), 117);
        r->stages[0]->multiplier.clear();
        r->stages[0]->shift.assign(static_cast<size_t>(out), static_cast<uint8_t>(30 - exponent));
        for (int64_t o = 0; o < out; ++o)
          r->stages[0]->multiplier.push_back(
              static_cast<int32_t>(random->integer(1 << 29, (1u << 31) - 1)));
        return r;
      }
      case Kind::kShiftUp: {  // a shift for each channel, ties above and below the zero point
        auto r = testing::requant_int(1, 0, 128);
        r->stages[0]->rounding = fb::Rounding::HALF_UP;
        r->stages[0]->multiplier.assign(static_cast<size_t>(out), 1);
        r->stages[0]->shift.clear();
        for (int64_t o = 0; o < out; ++o)
          r->stages[0]->shift.push_back(static_cast<uint8_t>(random->integer(4, 13)));
        return r;
      }
      case Kind::kZeroPointBefore: {
        auto r = testing::requant_f32(scale, -7);
        r->zero_point_before = true;
        r->fused = true;
        r->offset = 128;
        return r;
      }
      case Kind::kF32: break;
    }
    auto r = testing::requant_f32(scale, 121);
    r->lo = 3;
    r->hi = 250;
    return r;
  }

  void test() const {
    testing::Random random;
    SCOPED_TRACE(random.trace());
    const size_t taps = group_taps(), k = group_k(), ng = static_cast<size_t>(out / groups);
    const size_t all_taps = taps * static_cast<size_t>(terms);
    std::vector<int8_t> weights(static_cast<size_t>(out) * all_taps * k);
    random.fill(weights, -128, 127);
    if (pixels > 1) join(&weights);
    const size_t group_bytes = gemm_packed_bytes(ng, all_taps, k);
    std::vector<int8_t> packed(group_bytes * static_cast<size_t>(groups));
    for (size_t g = 0; g < static_cast<size_t>(groups); ++g)
      gemm_pack(&weights[g * ng * all_taps * k], ng, all_taps, k, &packed[g * group_bytes]);

    // sum[o][tap position][k] over the terms
    std::vector<int32_t> sum(static_cast<size_t>(out) * taps * k),
        weight_sum(static_cast<size_t>(out));
    for (size_t o = 0; o < static_cast<size_t>(out); ++o) {
      for (size_t t = 0; t < all_taps; ++t) {
        for (size_t i = 0; i < k; ++i) {
          const int8_t v = weights[(o * all_taps + t) * k + i];
          sum[(o * taps + t % taps) * k + i] += v;
          weight_sum[o] += v;
        }
      }
    }
    std::vector<int32_t> bias(static_cast<size_t>(out));
    random.fill(bias, -50000, 50000);
    repeat_pixel(&bias);
    const auto zero_point =
        static_cast<uint8_t>(fixed_zero_point >= 0 ? fixed_zero_point : random.integer(0, 255));

    testing::ModelBuilder m;
    const uint32_t x = m.input(shape(h, w, c));
    const uint32_t wt = m.packed({out, kh, kw, c / groups}, fb::Packing::GEMM, packed);
    const uint32_t b = m.bias(bias);
    const uint32_t y =
        m.output(shape(out_h(), out_w(), out), kind == Kind::kAcc ? DType::kInt32 : DType::kUInt8);
    fb::Conv2DOptionsT o;
    o.stride_h = static_cast<uint16_t>(stride_h), o.stride_w = static_cast<uint16_t>(stride_w);
    o.dilation_h = static_cast<uint16_t>(dilation_h);
    o.dilation_w = static_cast<uint16_t>(dilation_w);
    o.pad_top = static_cast<uint16_t>(top), o.pad_left = static_cast<uint16_t>(left);
    o.pad_bottom = static_cast<uint16_t>(bottom), o.pad_right = static_cast<uint16_t>(right);
    o.groups = static_cast<uint32_t>(groups);
    o.terms = static_cast<uint8_t>(terms);
    o.tap_layout = rows ? fb::TapLayout::ROW : fb::TapLayout::PIXEL;
    o.input_zero_point = zero_point;
    o.weight_sum = weight_sum;
    o.pair_safe = false;
    o.requant = make_requant(&random);
    const testing::RequantOracle requant(*o.requant, static_cast<size_t>(out));
    m.op(std::move(o), {x, wt, b}, {y});

    for (const size_t batch : {1, 3}) {
      Bytes input(images(batch) * static_cast<size_t>(h * w * c)), expected;
      random.fill(input, 0, 255);
      for (size_t n = 0; n < images(batch); ++n) {
        const uint8_t* pixels = &input[n * static_cast<size_t>(h * w * c)];
        convolve(pixels, sum, bias, zero_point, requant, &expected);
      }
      testing::expect_outputs(m, batch, {input}, {expected});
    }
  }

  void convolve(const uint8_t* pixels, const std::vector<int32_t>& sum,
                const std::vector<int32_t>& bias, uint8_t zero_point,
                const testing::RequantOracle& requant, Bytes* expected) const {
    const int64_t kg = c / groups;
    for (int64_t oy = 0; oy < out_h(); ++oy) {
      for (int64_t ox = 0; ox < out_w(); ++ox) {
        for (int64_t oc = 0; oc < out; ++oc) {
          const int64_t first = oc / (out / groups) * kg;
          uint32_t acc = static_cast<uint32_t>(bias[static_cast<size_t>(oc)]);
          for (int64_t ky = 0; ky < kh; ++ky) {
            for (int64_t kx = 0; kx < kw; ++kx) {
              const int64_t iy = oy * stride_h + ky * dilation_h - top;
              const int64_t ix = ox * stride_w + kx * dilation_w - left;
              const bool inside = iy >= 0 && iy < h && ix >= 0 && ix < w;
              for (int64_t i = 0; i < kg; ++i) {
                const int32_t v = inside ? pixels[(iy * w + ix) * c + first + i] : zero_point;
                const size_t at = static_cast<size_t>(((oc * kh + ky) * kw + kx) * kg + i);
                acc += static_cast<uint32_t>(v * sum[at]);
              }
            }
          }
          requant.append(static_cast<int32_t>(acc), static_cast<size_t>(oc), expected);
        }
      }
    }
  }
};

TEST(Conv2D, PointwiseOfAnyChannelCount) {
  for (const int64_t c : {1, 3, 4, 5, 16, 67})
    for (const int64_t out : {1, 15, 16, 17, 65})
      ConvTester().image(5, 7, c).kernel(out, 1, 1).test();
}

TEST(Conv2D, PointwiseWithStrideOrPadding) {
  ConvTester().image(9, 8, 24).kernel(40, 1, 1).stride(2, 2).test();
  ConvTester().image(9, 8, 24).kernel(40, 1, 1).stride(1, 3).test();
  ConvTester().image(4, 4, 9).kernel(17, 1, 1).pad(1, 2, 0, 1).test();
}

TEST(Conv2D, KernelsOfAnySize) {
  ConvTester().image(7, 6, 8).kernel(20, 3, 3).pad(1, 1, 1, 1).test();
  ConvTester().image(9, 9, 5).kernel(33, 3, 3).stride(2, 2).pad(0, 0, 1, 1).test();
  ConvTester().image(6, 5, 3).kernel(7, 2, 2).pad(1, 0, 0, 1).test();
  ConvTester().image(6, 9, 4).kernel(16, 1, 5).pad(0, 2, 0, 2).test();
  ConvTester().image(9, 6, 4).kernel(16, 5, 1).pad(2, 0, 2, 0).test();
  ConvTester().image(7, 7, 12).kernel(18, 7, 7).test();
}

TEST(Conv2D, Dilation) {
  ConvTester().image(9, 11, 6).kernel(19, 3, 3).dilation(2, 3).pad(2, 3, 2, 3).test();
  ConvTester().image(5, 5, 4).kernel(3, 2, 2).dilation(4, 1).stride(1, 2).test();
}

TEST(Conv2D, WindowsWhollyInPaddingReadTheZeroPoint) {
  ConvTester().image(2, 2, 5).kernel(9, 2, 2).pad(4, 3, 4, 3).test();
  ConvTester().image(1, 1, 3).kernel(4, 2, 2).pad(5, 5, 5, 5).as_rows().test();
}

TEST(Conv2D, Groups) {
  ConvTester().image(5, 5, 6).kernel(8, 3, 3).pad(1, 1, 1, 1).in_groups(2).test();
  ConvTester().image(5, 4, 9).kernel(51, 1, 1).in_groups(3).test();
  ConvTester().image(5, 4, 8).kernel(8, 3, 3).in_groups(8).test();
  ConvTester().image(4, 4, 32).kernel(160, 1, 1).in_groups(2).stride(2, 2).test();
}

TEST(Conv2D, WeightsOfSeveralTerms) {
  for (const int64_t terms : {2, 3}) {
    ConvTester().image(5, 4, 10).kernel(20, 1, 1).of_terms(terms).test();
    ConvTester().image(5, 4, 6).kernel(18, 3, 3).pad(1, 1, 1, 1).of_terms(terms).test();
    ConvTester().image(8, 9, 19).kernel(18, 3, 3).pad(1, 1, 1, 1).of_terms(terms).test();
    ConvTester().image(5, 4, 6).kernel(6, 3, 3).in_groups(3).pad(1, 1, 1, 1).of_terms(terms).test();
    ConvTester().image(9, 8, 3).kernel(18, 5, 3).pad(2, 1, 2, 1).of_terms(terms).as_rows().test();
    ConvTester().image(9, 8, 3).kernel(18, 5, 3).of_terms(terms).dilation(2, 1).as_rows().test();
  }
}

TEST(Conv2D, RowTaps) {
  ConvTester().image(15, 14, 3).kernel(24, 7, 7).stride(2, 2).pad(3, 3, 3, 3).as_rows().test();
  ConvTester().image(15, 14, 3).kernel(24, 3, 3).stride(2, 2).pad(0, 0, 1, 1).as_rows().test();
  ConvTester().image(11, 10, 1).kernel(6, 5, 5).as_rows().test();
  ConvTester().image(16, 16, 3).kernel(17, 4, 4).stride(4, 4).as_rows().test();
  ConvTester().image(12, 9, 2).kernel(5, 3, 2).dilation(3, 1).pad(2, 1, 2, 0).as_rows().test();
  ConvTester().image(9, 9, 3).kernel(5, 2, 2).stride(4, 5).pad(1, 1, 1, 1).as_rows().test();
  ConvTester().image(4, 4, 7).kernel(5, 1, 1).as_rows().test();
  ConvTester().image(1, 1, 2).kernel(3, 1, 1).stride(1, 40).pad(0, 9, 0, 0).as_rows().test();
}

TEST(Conv2D, PlanesOfAVolumeAreImages) {
  ConvTester().image(5, 6, 20).kernel(24, 1, 1).volume(3).test();
  ConvTester().image(5, 6, 20).kernel(24, 1, 1).stride(2, 1).volume(3).test();
  ConvTester().image(7, 6, 20).kernel(24, 3, 3).pad(1, 1, 1, 1).volume(4).test();
  ConvTester()
      .image(7, 6, 3)
      .kernel(24, 3, 3)
      .stride(2, 2)
      .pad(1, 1, 1, 1)
      .as_rows()
      .volume(2)
      .test();
  ConvTester().image(5, 4, 8).kernel(8, 3, 3).in_groups(4).volume(2).test();
  ConvTester().image(6, 6, 16).kernel(4, 3, 3).pad(1, 1, 1, 1).volume(2).requant(Kind::kAcc).test();
}

TEST(Conv2D, RowTapsOverSeveralStripsOfRows) {
  ConvTester().image(96, 96, 3).kernel(4, 7, 7).stride(2, 2).pad(3, 3, 3, 3).as_rows().test();
}

TEST(Conv2D, Requantisations) {
  for (const Kind kind : {Kind::kInt, Kind::kAcc, Kind::kShiftUp, Kind::kZeroPointBefore}) {
    ConvTester().image(5, 5, 11).kernel(35, 1, 1).requant(kind).test();
    ConvTester().image(5, 5, 6).kernel(38, 3, 3).pad(1, 1, 1, 1).in_groups(2).requant(kind).test();
    ConvTester().image(8, 8, 3).kernel(20, 3, 3).pad(1, 1, 1, 1).as_rows().requant(kind).test();
  }
}

// Convolutions of 3x3 over many tiles, which some instruction sets compute with fewer products
// (kernels/winograd), give the same bytes.
TEST(Conv2D, ThreeByThreeOfManyTiles) {
  for (const Kind kind : {Kind::kF32, Kind::kInt, Kind::kAcc, Kind::kZeroPointBefore}) {
    ConvTester().image(15, 14, 20).kernel(25, 3, 3).pad(1, 1, 1, 1).requant(kind).test();
    ConvTester().image(16, 15, 68).kernel(72, 3, 3).pad(1, 1, 1, 1).requant(kind).test();
  }
  ConvTester().image(19, 18, 32).kernel(70, 3, 3).test();
  ConvTester().image(16, 13, 17).kernel(16, 3, 3).pad(2, 0, 1, 3).test();
  ConvTester().image(4, 50, 64).kernel(8, 3, 3).pad(0, 5, 0, 0).test();
  ConvTester().image(21, 20, 18).kernel(20, 3, 3).dilation(2, 3).pad(2, 3, 2, 3).test();
}

// Taps above or below the image, whose padding is 0, add nothing.
TEST(Conv2D, PaddingOfZeros) {
  for (const int zero_point : {0, 128}) {
    ConvTester().image(7, 7, 32).kernel(40, 3, 3).pad(1, 1, 1, 1).zero_point(zero_point).test();
    ConvTester().image(5, 33, 20).kernel(33, 5, 5).pad(2, 2, 2, 2).zero_point(zero_point).test();
  }
}

TEST(Conv2D, RowsAndColumnsOfThree) {
  for (const Kind kind : {Kind::kF32, Kind::kInt, Kind::kAcc, Kind::kZeroPointBefore}) {
    ConvTester().image(1, 70, 20).kernel(25, 1, 3).pad(0, 1, 0, 1).requant(kind).test();
    ConvTester().image(14, 15, 20).kernel(25, 3, 1).pad(1, 0, 1, 0).requant(kind).test();
  }
  for (const size_t dilation : {1, 2, 8, 16}) {
    ConvTester()
        .image(1, 64, 32)
        .kernel(40, 1, 3)
        .dilation(1, dilation)
        .pad(0, dilation, 0, dilation)
        .test();
    ConvTester()
        .image(40, 3, 17)
        .kernel(16, 3, 1)
        .dilation(dilation, 1)
        .pad(dilation, 0, 2, 0)
        .test();
  }
  ConvTester().image(9, 33, 24).kernel(70, 1, 3).pad(0, 0, 0, 2).test();
  ConvTester().image(17, 5, 16).kernel(33, 3, 1).pad(0, 1, 2, 1).test();  // wider than its input
}

// Groups of few channels, which some instruction sets compute without the zeros of a packed block
// (kernels/grouped), give the same bytes.
TEST(Conv2D, GroupsOfFewChannels) {
  for (const int64_t k : {2, 4, 5, 8, 12, 16, 24, 32, 40})
    for (const int64_t groups : {3, 7})
      ConvTester()
          .image(6, 5, groups * k)
          .kernel(groups * k, 3, 3)
          .pad(1, 1, 1, 1)
          .in_groups(groups)
          .test();
  for (const Kind kind :
       {Kind::kF32, Kind::kInt, Kind::kAcc, Kind::kShiftUp, Kind::kZeroPointBefore})
    ConvTester()
        .image(9, 7, 40)
        .kernel(40, 3, 3)
        .pad(1, 1, 1, 1)
        .in_groups(10)
        .requant(kind)
        .test();
  ConvTester().image(9, 8, 48).kernel(48, 3, 3).pad(0, 1, 2, 1).in_groups(6).stride(2, 2).test();
  ConvTester().image(9, 8, 32).kernel(32, 5, 2).pad(4, 1, 4, 1).in_groups(2).dilation(2, 3).test();
  ConvTester().image(1, 70, 24).kernel(24, 1, 5).pad(0, 2, 0, 2).in_groups(6).stride(1, 3).test();
  ConvTester().image(5, 6, 24).kernel(24, 1, 1).in_groups(3).test();
  ConvTester().image(5, 6, 24).kernel(48, 3, 3).in_groups(6).test();  // a channel multiplier
  ConvTester().image(50, 40, 32).kernel(32, 3, 3).pad(1, 1, 1, 1).in_groups(8).test();
  ConvTester().image(3, 5600, 16).kernel(16, 3, 3).in_groups(4).test();  // rows too long for it
}

// Few outputs, which some instruction sets compute in a form of their own (kernels/narrow), give
// the same bytes.
TEST(Conv2D, FewOutputs) {
  for (const int64_t n : {1, 2, 3, 4, 5, 9, 12, 24})
    ConvTester().image(9, 33, 12).kernel(n, 3, 3).pad(1, 1, 1, 1).test();
  for (const Kind kind :
       {Kind::kF32, Kind::kInt, Kind::kAcc, Kind::kShiftUp, Kind::kZeroPointBefore})
    ConvTester().image(20, 21, 20).kernel(5, 5, 5).pad(2, 2, 2, 2).requant(kind).test();
  ConvTester().image(30, 31, 8).kernel(3, 4, 2).pad(0, 1, 2, 0).dilation(3, 2).test();
  ConvTester().image(30, 31, 3).kernel(3, 5, 5).pad(2, 2, 2, 2).as_rows().test();
  ConvTester().image(60, 50, 24).kernel(4, 3, 3).pad(1, 1, 1, 1).test();
  ConvTester().image(1, 9000, 40).kernel(4, 1, 3).test();  // rows too long for it
  ConvTester().image(20, 32, 12).kernel(16, 5, 8).pad(2, 2, 2, 2).stride(1, 4).joined(4).test();
  ConvTester()
      .image(20, 30, 4)
      .kernel(15, 3, 9)
      .pad(1, 3, 1, 3)
      .stride(1, 5)
      .joined(5)
      .as_rows()
      .test();
  ConvTester().image(20, 32, 12).kernel(16, 5, 8).pad(2, 2, 2, 2).stride(1, 4).joined(2).test();
}

// Few inputs, which some instruction sets compute in a form of their own (kernels/stem), give the same bytes.
TEST(Conv2D, FewInputs) {
  for (const int64_t n : {1, 8, 16, 24, 56, 64, 70})
    ConvTester().image(15, 23, 3).kernel(n, 3, 3).stride(2, 2).pad(1, 1, 1, 1).as_rows().test();
  for (const Kind kind :
       {Kind::kF32, Kind::kInt, Kind::kAcc, Kind::kShiftUp, Kind::kZeroPointBefore})
    ConvTester().image(16, 21, 1).kernel(40, 5, 5).pad(2, 2, 2, 2).as_rows().requant(kind).test();
  ConvTester().image(49, 10, 1).kernel(64, 10, 4).stride(2, 2).pad(4, 1, 5, 1).as_rows().test();
  ConvTester().image(61, 50, 3).kernel(33, 7, 7).stride(2, 3).dilation(2, 1).as_rows().test();
  ConvTester().image(3, 5000, 4).kernel(5, 7, 5).pad(3, 2, 3, 2).as_rows().test();
  ConvTester().image(20, 9000, 4).kernel(5, 20, 2).as_rows().test();  // rows too long for it
}

// Work is cut into several tasks on every instruction set, by rows and by channels.
TEST(Conv2D, ManyTasks) {
  ConvTester().image(56, 56, 48).kernel(128, 1, 1).test();
  ConvTester().image(7, 7, 256).kernel(1024, 1, 1).test();
  ConvTester().image(14, 14, 64).kernel(128, 3, 3).pad(1, 1, 1, 1).test();
  ConvTester().image(14, 14, 128).kernel(256, 3, 3).pad(1, 1, 1, 1).in_groups(4).test();
  ConvTester().image(112, 112, 3).kernel(16, 7, 7).stride(2, 2).pad(3, 3, 3, 3).as_rows().test();
}

// ---- models to refuse

using Damage = std::function<void(testing::ModelBuilder&, fb::Conv2DOptionsT&)>;

// Checks that a damaged layer is refused: x [n, 5, 5, 4] is tensor 0, weights [6, 3, 3, 2] in 2
// groups 1, bias 2, y [n, 3, 3, 6] 3.
void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 5, 5, 4});
  const uint32_t w = m.gemm_weights({6, 3, 3, 2}, std::vector<int8_t>(6 * 9 * 2, 1), 2);
  const uint32_t b = m.bias(std::vector<int32_t>(6));
  const uint32_t y = m.output({-1, 3, 3, 6});
  fb::Conv2DOptionsT o;
  o.groups = 2;
  o.weight_sum.assign(6, 18);
  o.requant = testing::requant_f32({0.01f});
  fb::OperatorT& op = m.op(std::move(o), {x, w, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsConv2D());
  testing::expect_rejected(m, part);
}

TEST(Conv2D, RejectsBadGeometry) {
  using M = testing::ModelBuilder;
  using O = fb::Conv2DOptionsT;
  reject("stride of the height is 0, expected at least 1", [](M&, O& o) { o.stride_h = 0; });
  reject("stride of the width is 0, expected at least 1", [](M&, O& o) { o.stride_w = 0; });
  reject("dilation of the height is 0", [](M&, O& o) { o.dilation_h = 0; });
  reject("dilation of the width is 0", [](M&, O& o) { o.dilation_w = 0; });
  reject("covers 7 positions, the padded input has only 5", [](M&, O& o) { o.dilation_w = 3; });
  reject("covers 131071 positions", [](M&, O& o) { o.dilation_h = 65535; });
  reject("has the shape", [](M&, O& o) { o.pad_top = 1; });
}

TEST(Conv2D, RejectsBadGroupsTermsAndLayouts) {
  using M = testing::ModelBuilder;
  using O = fb::Conv2DOptionsT;
  reject("groups is 0, expected a divisor of the 4 input channels", [](M&, O& o) { o.groups = 0; });
  reject("groups is 3", [](M&, O& o) { o.groups = 3; });
  reject("weights have shape [6, 3, 3, 2], expected [out, kh, kw, 1]",
         [](M&, O& o) { o.groups = 4; });
  reject("weights have shape [5, 3, 3, 2]", [](M& m, O&) { m.at(1).shape[0] = 5; });
  reject("terms is 0, expected 1 to 3", [](M&, O& o) { o.terms = 0; });
  reject("terms is 4, expected 1 to 3", [](M&, O& o) { o.terms = 4; });
  reject("tap_layout is 2", [](M&, O& o) { o.tap_layout = static_cast<fb::TapLayout>(2); });
  reject("tap_layout ROW with groups 2", [](M&, O& o) { o.tap_layout = fb::TapLayout::ROW; });
}

TEST(Conv2D, RejectsBadConstants) {
  using M = testing::ModelBuilder;
  using O = fb::Conv2DOptionsT;
  reject("input 1 (weights) holds 1152 bytes, expected 2304", [](M&, O& o) { o.terms = 2; });
  reject("input 1 (weights) has packing 2, expected 1 (GEMM)",
         [](M& m, O&) { m.at(1).packing = fb::Packing::DEPTHWISE; });
  reject("input 1 (weights) has shape [6, 9, 2] of rank 3, expected 4 [out, kh, kw, in / groups]",
         [](M& m, O&) {
           m.at(1).shape = {6, 9, 2};
         });
  reject("input 1 (weights) is not a constant", [](M& m, O&) {
    const uint32_t t = m.input({6, 3, 3, 2}, DType::kInt8);
    m.model().operators[0]->inputs[1] = t;
  });
  reject("input 1 (weights) is uint8, expected int8", [](M& m, O&) {
    const uint32_t t = m.input({6, 3, 3, 2});
    m.model().operators[0]->inputs[1] = t;
  });
  reject("input 2 (bias) has shape [5], expected [6]",
         [](M& m, O&) { m.model().operators[0]->inputs[2] = m.bias(std::vector<int32_t>(5)); });
  reject("input 2 (bias) is uint8, expected int32",
         [](M& m, O&) { m.model().operators[0]->inputs[2] = 0; });
  reject("weight_sum has 5 values, expected one per channel (6)",
         [](M&, O& o) { o.weight_sum.resize(5); });
  reject("weight_sum has 0 values", [](M&, O& o) { o.weight_sum.clear(); });
}

// Packed sizes of 2^32 and 128 bytes are refused: in 32 bits they would wrap to those that are there.
TEST(Conv2D, RejectsPackedSizesBeyond32Bits) {
  reject("input 1 (weights) holds 128 bytes, expected 4294967424",
         [](testing::ModelBuilder& m, fb::Conv2DOptionsT& o) {
           constexpr int32_t kTaps = 11184811;
           m.at(0).shape = {1, 1, kTaps, 2};
           m.at(1).shape = {2, 1, kTaps, 1};
           m.at(3).shape = {1, 1, 1, 2};
           m.model().buffers[m.at(1).buffer]->data.resize(128);
           o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 0;
           o.terms = 3;
         });
}

TEST(Conv2D, RejectsBadInputsAndOutputs) {
  using M = testing::ModelBuilder;
  using O = fb::Conv2DOptionsT;
  reject("has 2 inputs, expected 3", [](M& m, O&) { m.model().operators[0]->inputs.resize(2); });
  reject("input 0 (x) is int8, expected uint8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("input 0 (x) has shape [5, 5, 4] of rank 3, expected 4 [n, h, w, c]", [](M& m, O&) {
    m.at(0).shape = {5, 5, 4};
  });
  reject("expected uint8", [](M& m, O&) { m.at(3).dtype = fb::DType::INT8; });
  reject("expected int32", [](M&, O& o) { o.requant = testing::requant_acc(); });
  reject("has the shape [2, 3, 3, 6], expected [1, 3, 3, 6]",
         [](M& m, O&) { m.at(3).shape[0] = 2; });
}

TEST(Conv2D, RejectsBadRequantisation) {
  using M = testing::ModelBuilder;
  using O = fb::Conv2DOptionsT;
  reject("requant is missing", [](M&, O& o) { o.requant.reset(); });
  reject("requant.scale has 2 values", [](M&, O& o) { o.requant->scale.resize(2); });
  reject("requant.scale[0] has the bits 0x00000000", [](M&, O& o) { o.requant->scale[0] = 0; });
  reject("requant limits are 0 to 256", [](M&, O& o) { o.requant->hi = 256; });
}

}  // namespace
}  // namespace qrt::conv2d_test

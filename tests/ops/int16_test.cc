// SPDX-License-Identifier: Apache-2.0
// Operators on int16 tensors against loops: Conv2D, DepthwiseConv2D and FullyConnected with
// accumulators of 64 and of 32 bits and weights of several digits, Add, Mul, pools, tables; and
// models that have to be refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/soft_float.h"
#include "kernels/softmax/log_softmax.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::int16_test {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::ModelBuilder;
using testing::Random;

constexpr int64_t kLo = INT16_MIN, kHi = INT16_MAX;

// Returns a requantisation of kind INT, one stage half up per channel, over the whole of int16.
std::unique_ptr<fb::RequantT> requant(const std::vector<int32_t>& multiplier, uint8_t shift,
                                      int32_t zero_point = 0) {
  auto r = testing::requant_int(1, 1, zero_point);
  r->stages[0]->multiplier = multiplier;
  r->stages[0]->shift.assign(multiplier.size(), shift);
  r->lo = kLo;
  r->hi = kHi;
  return r;
}

int16_t requantized(int64_t acc, int64_t multiplier, int shift, int64_t zero_point = 0) {
  const __int128 half = __int128{1} << (shift - 1);
  const auto v = static_cast<int64_t>((static_cast<__int128>(acc) * multiplier + half) >> shift);
  return static_cast<int16_t>(std::clamp<int64_t>(v + zero_point, kLo, kHi));
}

struct Conv {
  int64_t h, w, c, out, kh, kw;
  int stride = 1, dilation = 1, pad = 0;
  int64_t groups = 1;
  bool is_rows = false, is_narrow = false, is_depthwise = false;
  int zero_point = 0;
  int64_t terms = 1;  // of a weight

  void run(Random& random, int64_t batch) const {
    const int64_t oh = (h + 2 * pad - dilation * (kh - 1) - 1) / stride + 1;
    const int64_t ow = (w + 2 * pad - dilation * (kw - 1) - 1) / stride + 1;
    const int64_t k = is_depthwise ? 1 : c / groups, taps = terms * kh * kw;
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    std::vector<int16_t> x(size(batch * h * w * c)), y;
    std::vector<int8_t> weights(size(out * taps * k));
    random.fill(x, kLo, kHi);
    random.fill(weights, -128, 127);
    std::vector<int64_t> bias(size(out));
    random.fill(bias, is_narrow ? INT32_MIN : -(int64_t{1} << 40),
                is_narrow ? INT32_MAX : int64_t{1} << 40);
    std::vector<int32_t> multiplier(size(out)), sums(size(out));
    random.fill(multiplier, 0, is_narrow ? INT32_MAX : 32767);
    const uint8_t shift = is_narrow ? 47 : 38;
    // Weight of output o at tap t, input channel i of its group; the taps of a term are positions.
    const auto weight_at = [&](int64_t o, int64_t t, int64_t i) -> int8_t {
      return weights[size(is_depthwise ? t * out + o : (o * taps + t) * k + i)];
    };
    for (int64_t o = 0; o < out; ++o)
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t i = 0; i < k; ++i) sums[size(o)] += weight_at(o, t, i);
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0; p < oh * ow; ++p)
        for (int64_t o = 0; o < out; ++o) {
          int64_t acc = bias[size(o)];
          for (int64_t t = 0; t < taps; ++t) {
            const int64_t iy = p / ow * stride + t / kw % kh * dilation - pad;
            const int64_t ix = p % ow * stride + t % kw * dilation - pad;
            const bool inside = iy >= 0 && iy < h && ix >= 0 && ix < w;
            const int64_t first = is_depthwise ? o / (out / c) : o / (out / groups) * k;
            for (int64_t i = 0; i < k; ++i) {
              const int64_t at = ((n * h + iy) * w + ix) * c + first + i;
              acc += (inside ? x[size(at)] : zero_point) * weight_at(o, t, i);
            }
          }
          if (is_narrow) acc = static_cast<int32_t>(static_cast<uint32_t>(acc));
          y.push_back(requantized(acc, multiplier[size(o)], shift));
        }

    ModelBuilder m;
    const uint32_t in = m.input({-1, h, w, c}, DType::kInt16);
    const uint32_t result = m.output({-1, oh, ow, out}, DType::kInt16);
    uint32_t b;
    if (is_narrow) {
      b = m.bias(std::vector<int32_t>(bias.begin(), bias.end()));
    } else {
      b = m.constant({out}, DType::kInt64, bias);
    }
    const auto set = [&](auto* o) {
      o->stride_h = o->stride_w = static_cast<uint16_t>(stride);
      o->dilation_h = o->dilation_w = static_cast<uint16_t>(dilation);
      o->pad_top = o->pad_left = o->pad_bottom = o->pad_right = static_cast<uint16_t>(pad);
      o->input_zero_point_16 = static_cast<int16_t>(zero_point);
      o->weight_sum = sums;
      o->requant = requant(multiplier, shift);
    };
    if (is_depthwise) {
      fb::DepthwiseConv2DOptionsT o;
      set(&o);
      o.multiplier = static_cast<uint32_t>(out / c);
      m.op(std::move(o), {in, m.depthwise_weights({kh, kw, out}, weights), b}, {result});
    } else {
      fb::Conv2DOptionsT o;
      set(&o);
      o.groups = static_cast<uint32_t>(groups);
      o.terms = static_cast<uint8_t>(terms);
      if (is_rows) o.tap_layout = fb::TapLayout::ROW;
      const size_t n = size(out / groups), packed_taps = size(is_rows ? kh : taps),
                   packed_k = size(is_rows ? kw * c : k);
      const size_t group_bytes = gemm_packed_bytes(n, packed_taps, packed_k);
      std::vector<int8_t> packed(group_bytes * size(groups));
      for (size_t g = 0; g < size(groups); ++g)
        gemm_pack(&weights[g * n * packed_taps * packed_k], n, packed_taps, packed_k,
                  &packed[g * group_bytes]);
      m.op(std::move(o), {in, m.packed({out, kh, kw, k}, fb::Packing::GEMM, packed), b}, {result});
    }
    testing::expect_outputs(m, size(batch), {bytes_of(x)}, {bytes_of(y)});
  }
};

TEST(Int16, ConvolutionsOfEveryForm) {
  Random random;
  for (bool is_narrow : {false, true}) {
    for (Conv c : {Conv{5, 6, 3, 17, 1, 1}, Conv{1, 1, 64, 33, 1, 1},
                   Conv{7, 5, 8, 16, 3, 3, 1, 1, 1}, Conv{8, 9, 5, 7, 3, 2, 2, 1, 2},
                   Conv{9, 9, 4, 3, 2, 3, 1, 2, 1}, Conv{6, 6, 6, 9, 3, 3, 1, 1, 1, 3},
                   Conv{12, 40, 2, 8, 3, 7, 1, 1, 3, 1, true}, Conv{3, 7, 64, 300, 3, 3}}) {
      c.is_narrow = is_narrow;
      c.zero_point = -777;
      for (int64_t batch : {1, 2}) c.run(random, batch);
    }
  }
}

TEST(Int16, DepthwiseConvolutions) {
  Random random;
  for (bool is_narrow : {false, true}) {
    for (Conv c : {Conv{5, 6, 17, 17, 3, 3, 1, 1, 1}, Conv{9, 8, 65, 65, 3, 2, 2, 1, 0},
                   Conv{9, 8, 3, 6, 5, 5, 1, 1, 2}, Conv{24, 23, 2, 2, 23, 22}}) {
      c.is_narrow = is_narrow;
      c.is_depthwise = true;
      c.zero_point = 12345;
      for (int64_t batch : {1, 2}) c.run(random, batch);
    }
  }
}

// Groups of one channel are computed correctly as depthwise layers: with one and several outputs of
// a channel, and with more channels than a packed block.
TEST(Int16, GroupsOfOneChannel) {
  Random random;
  for (Conv c : {Conv{5, 6, 17, 17, 3, 3, 1, 1, 1, 17}, Conv{9, 8, 3, 6, 5, 4, 2, 1, 2, 3},
                 Conv{7, 7, 2, 40, 3, 2, 1, 2, 1, 2}, Conv{3, 4, 5, 5, 1, 1, 1, 1, 0, 5}}) {
    c.zero_point = 999;
    for (c.terms = 1; c.terms <= 3; ++c.terms)
      for (int64_t batch : {1, 2}) c.run(random, batch);
  }
}

TEST(Int16, FullyConnected) {
  Random random;
  for (int64_t in : {1, 5, 64, 1023}) {
    for (int64_t out : {1, 10, 257}) {
      const auto size = [](int64_t n) { return static_cast<size_t>(n); };
      const int64_t rows = 3;
      std::vector<int16_t> x(size(rows * in)), y;
      std::vector<int8_t> w(size(in * out));
      std::vector<int64_t> bias(size(out));
      random.fill(x, kLo, kHi);
      random.fill(w, -128, 127);
      random.fill(bias, -100000, 100000);
      fb::FullyConnectedOptionsT o;
      o.weight_sum.assign(size(out), 0);
      for (size_t i = 0; i < w.size(); ++i) o.weight_sum[i / size(in)] += w[i];
      o.requant = requant({12345}, 30, 5);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < out; ++j) {
          int64_t acc = bias[size(j)];
          for (int64_t i = 0; i < in; ++i) acc += x[size(r * in + i)] * w[size(j * in + i)];
          y.push_back(requantized(acc, 12345, 30, 5));
        }
      ModelBuilder m;
      const uint32_t a = m.input({-1, in}, DType::kInt16), c = m.output({-1, out}, DType::kInt16);
      m.op(std::move(o), {a, m.gemm_weights({out, in}, w), m.constant({out}, DType::kInt64, bias)},
           {c});
      testing::expect_outputs(m, size(rows), {bytes_of(x)}, {bytes_of(y)});
    }
  }
}

TEST(Int16, AddAndMulBroadcast) {
  Random random;
  for (const Shape& b_shape : {Shape{-1, 3, 40}, Shape{40}, Shape{3, 1}, Shape{1}}) {
    for (bool is_mul : {false, true}) {
      const bool is_plain = b_shape.rank() == 3;
      std::vector<int16_t> a(240), b(is_plain ? 240 : static_cast<size_t>(b_shape.elements())), y;
      random.fill(a, kLo, kHi);
      random.fill(b, kLo, kHi);
      for (size_t i = 0; i < a.size(); ++i) {
        const size_t at = is_plain                                   ? i
                          : b.size() == 40                           ? i % 40
                          : b.size() == 3 && b_shape.elements() == 3 ? i / 40 % 3
                                                                     : 0;
        const int64_t other = b[at];
        y.push_back(is_mul ? requantized((a[i] + 5) * other, 3, 17, -6)
                           : requantized((a[i] + 5) * 8 - other * 8, 5, 7, -6));
      }
      ModelBuilder m;
      const uint32_t x = m.input({-1, 3, 40}, DType::kInt16);
      const uint32_t second =
          is_plain ? m.input(b_shape, DType::kInt16) : m.constant(b_shape, DType::kInt16, b);
      const uint32_t out = m.output({-1, 3, 40}, DType::kInt16);
      if (is_mul) {
        fb::MulOptionsT o;
        o.a_zero_point_16 = -5;
        o.requant = requant({3}, 17, -6);
        m.op(std::move(o), {x, second}, {out});
      } else {
        fb::AddOptionsT o;
        o.kind = fb::AddKind::INT;
        o.left_shift = 3;
        o.a_zero_point_16 = -5;
        o.subtract = true;
        o.requant = requant({5}, 7, -6);
        m.op(std::move(o), {x, second}, {out});
      }
      std::vector<Bytes> inputs = {bytes_of(a)};
      if (is_plain) inputs.push_back(bytes_of(b));
      testing::expect_outputs(m, 2, inputs, {bytes_of(y)});
    }
  }
}

TEST(Int16, Pools) {
  Random random;
  std::vector<int16_t> x(2 * 5 * 4 * 3), most, mean, all;
  random.fill(x, kLo, kHi);
  const auto at = [&](size_t n, size_t y, size_t col, size_t c) {
    return x[((n * 5 + y) * 4 + col) * 3 + c];
  };
  for (size_t n = 0; n < 2; ++n) {
    for (size_t p = 0; p < 4; ++p)
      for (size_t c = 0; c < 3; ++c) {
        int64_t greatest = kLo, sum = 0;
        for (size_t t = 0; t < 4; ++t) {
          const int16_t v = at(n, p / 2 * 2 + t / 2, p % 2 * 2 + t % 2, c);
          greatest = std::max<int64_t>(greatest, v);
          sum += v;
        }
        most.push_back(static_cast<int16_t>(greatest));
        const int64_t average = (std::abs(sum) + 2) / 4;
        mean.push_back(
            static_cast<int16_t>(std::clamp<int64_t>(sum < 0 ? -average : average, -99, kHi)));
      }
    for (size_t c = 0; c < 3; ++c) {
      int64_t sum = 0;
      for (size_t p = 0; p < 20; ++p) sum += at(n, p / 4, p % 4, c) - 9;
      all.push_back(requantized(sum, 3, 6, 2));
    }
  }
  const auto check = [&](auto o, const Shape& shape, const std::vector<int16_t>& y) {
    ModelBuilder m;
    const uint32_t in = m.input({-1, 5, 4, 3}, DType::kInt16), out = m.output(shape, DType::kInt16);
    m.op(std::move(o), {in}, {out});
    testing::expect_outputs(m, 2, {bytes_of(x)}, {bytes_of(y)});
  };
  fb::MaxPool2DOptionsT max;
  max.kernel_h = max.kernel_w = 2;
  max.stride_h = max.stride_w = 2;
  check(max, {-1, 2, 2, 3}, most);
  fb::AveragePool2DOptionsT average;
  average.kernel_h = average.kernel_w = 2;
  average.stride_h = average.stride_w = 2;
  average.kind = fb::AverageKind::INT_HALF_AWAY;
  average.lo = -99;
  average.hi = kHi;
  check(average, {-1, 2, 2, 3}, mean);
  fb::GlobalAveragePool2DOptionsT global;
  global.input_zero_point_16 = 9;
  global.requant = requant({3}, 6, 2);
  check(std::move(global), {-1, 1, 1, 3}, all);
}

TEST(Int16, Lut) {
  std::vector<int16_t> x(65536), table(65536), y;
  Random random;
  random.fill(x, kLo, kHi);
  random.fill(table, kLo, kHi);
  for (size_t i = 0; i < 1000; ++i) x[i] = static_cast<int16_t>(i % 2 != 0 ? kLo : kHi);
  for (const int16_t v : x) y.push_back(table[static_cast<size_t>(v + 32768)]);
  ModelBuilder m;
  const uint32_t in = m.input({-1, 64, 64}, DType::kInt16),
                 out = m.output({-1, 64, 64}, DType::kInt16);
  fb::LutOptionsT o;
  o.table = m.buffer(table);
  m.op(o, {in}, {out});
  testing::expect_outputs(m, 16, {bytes_of(x)}, {bytes_of(y)});
}

// Packs weights of several digits (kernels/gemm/digits.h), one matrix for each digit and group:
// [digits][groups][n][taps][k].
std::vector<int8_t> packed_digits(const std::vector<std::vector<int8_t>>& digits, size_t groups,
                                  size_t n, size_t taps, size_t k) {
  std::vector<int8_t> all;
  const size_t bytes = gemm_packed_bytes(n, taps, k);
  for (const std::vector<int8_t>& d : digits)
    for (size_t g = 0; g < groups; ++g) {
      std::vector<int8_t> one(bytes);
      gemm_pack(d.data() + g * n * taps * k, n, taps, k, one.data());
      all.insert(all.end(), one.begin(), one.end());
    }
  return all;
}

// Checks products of int16 with weights of up to 17 bits, whose digits are random or all at their
// extremes.
void check_digits(size_t count, int64_t groups, int64_t in, int64_t out, bool extreme,
                  bool is_acc) {
  SCOPED_TRACE(std::to_string(count) + " digits, " + std::to_string(groups) + " groups of " +
               std::to_string(in) + " by " + std::to_string(out));
  Random random;
  SCOPED_TRACE(random.trace());
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  constexpr int64_t kPixels = 6;
  std::vector<std::vector<int8_t>> digits(count, std::vector<int8_t>(size(groups * out * in)));
  std::vector<int16_t> x(size(2 * kPixels * groups * in));
  if (extreme) {
    std::fill(x.begin(), x.end(), static_cast<int16_t>(kLo));
    for (auto& d : digits) std::fill(d.begin(), d.end(), int8_t{-128});
  } else {
    random.fill(x, kLo, kHi);
    for (auto& d : digits) random.fill(d, -128, 127);
  }
  const int64_t channels = groups * out;
  std::vector<int64_t> bias(size(channels));
  random.fill(bias, is_acc ? -9999 : -(int64_t{1} << 40), is_acc ? 9999 : int64_t{1} << 40);
  std::vector<int32_t> sums;
  for (const auto& d : digits)
    for (int64_t o = 0; o < channels; ++o) {
      int32_t sum = 0;
      for (int64_t i = 0; i < in; ++i) sum += d[size(o * in + i)];
      sums.push_back(sum);
    }
  std::vector<int16_t> y;
  std::vector<int32_t> acc;
  for (int64_t p = 0; p < 2 * kPixels; ++p)
    for (int64_t o = 0; o < channels; ++o) {
      int64_t v = bias[size(o)];
      for (int64_t i = 0; i < in; ++i) {
        int64_t w = 0;
        for (size_t d = 0; d < count; ++d) w += digits[d][size(o * in + i)] * (d == 0 ? 1 : 256);
        v += w * x[size((p * groups + o / out) * in + i)];
      }
      y.push_back(requantized(v, 4001, 36, 3));
      acc.push_back(static_cast<int32_t>(static_cast<uint64_t>(v)));
    }
  for (const bool is_dense : {false, true}) {
    if (is_dense && groups > 1) continue;
    ModelBuilder m;
    const DType type = is_acc ? DType::kInt32 : DType::kInt16;
    const Shape from = is_dense ? Shape{-1, kPixels, in} : Shape{-1, 2, 3, groups * in};
    const Shape to = is_dense ? Shape{-1, kPixels, out} : Shape{-1, 2, 3, channels};
    const uint32_t a = m.input(from, DType::kInt16), c = m.output(to, type);
    const uint32_t w =
        m.packed(is_dense ? Shape{out, in} : Shape{channels, 1, 1, in}, fb::Packing::GEMM,
                 packed_digits(digits, size(groups), size(out), 1, size(in)));
    const uint32_t b = is_acc ? m.bias(std::vector<int32_t>(bias.begin(), bias.end()))
                              : m.constant({channels}, DType::kInt64, bias);
    const auto set = [&](auto o) {
      o.digits = static_cast<uint8_t>(count);
      o.weight_sum = sums;
      o.requant = is_acc ? testing::requant_acc() : requant({4001}, 36, 3);
      if constexpr (std::is_same_v<decltype(o), fb::Conv2DOptionsT>)
        o.groups = static_cast<uint32_t>(groups);
      m.op(std::move(o), {a, w, b}, {c});
    };
    if (is_dense) {
      set(fb::FullyConnectedOptionsT());
    } else {
      set(fb::Conv2DOptionsT());
    }
    testing::expect_outputs(m, 2, {bytes_of(x)}, {is_acc ? bytes_of(acc) : bytes_of(y)});
  }
}

TEST(Int16, WeightsOfSeveralDigits) {
  for (const bool is_acc : {false, true})
    for (const size_t count : {1, 2, 3}) {
      check_digits(count, 1, 5, 3, false, is_acc);
      check_digits(count, 1, 130, 33, false, is_acc);
      check_digits(count, 3, 7, 17, false, is_acc);
      check_digits(count, 9, 1, 1, false, is_acc);
      check_digits(count, 70, 1, 2, true, is_acc);
      check_digits(count, 2, 1, 33, false, is_acc);
      check_digits(count, 1, 300, 16, true, is_acc);
    }
}

TEST(Int16, ProductsBeyondInt32) {
  Random random;
  SCOPED_TRACE(random.trace());
  std::vector<int16_t> a(300), b(300), y;
  random.fill(a, kLo, kHi);
  random.fill(b, kLo, kHi);
  a[0] = b[0] = a[1] = static_cast<int16_t>(kHi);
  b[1] = static_cast<int16_t>(kLo);
  for (size_t i = 0; i < a.size(); ++i)
    y.push_back(requantized((int64_t{a[i]} + 32000) * (int64_t{b[i]} + 31000), 1 << 28, 44, 7));
  ModelBuilder m;
  const uint32_t x = m.input({-1, 100}, DType::kInt16), z = m.input({-1, 100}, DType::kInt16);
  fb::MulOptionsT o;
  o.a_zero_point_16 = -32000;
  o.b_zero_point_16 = -31000;
  o.requant = requant({1 << 28}, 44, 7);
  m.op(std::move(o), {x, z}, {m.output({-1, 100}, DType::kInt16)});
  testing::expect_outputs(m, 3, {bytes_of(a), bytes_of(b)}, {bytes_of(y)});
}

// Checks a table from type X to type Y, one of which is int16.
template <class X, class Y>
void check_table(DType from, DType to) {
  Random random;
  SCOPED_TRACE(random.trace());
  const int64_t lo = std::numeric_limits<X>::min(), hi = std::numeric_limits<X>::max();
  std::vector<X> x;
  for (int64_t v = lo; v <= hi; ++v) x.push_back(static_cast<X>(v));
  std::vector<Y> table(x.size());
  for (Y& v : table) v = static_cast<Y>(random.integer(-300, 300));
  ModelBuilder m;
  const auto n = static_cast<int64_t>(x.size());
  const uint32_t in = m.input({-1, n}, from), out = m.output({-1, n}, to);
  fb::LutOptionsT o;
  o.table = m.buffer(table);
  o.to_float = to == DType::kFloat32;
  m.op(o, {in}, {out});
  testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(table)});
}

TEST(Int16, TablesBetweenTypes) {
  check_table<int16_t, uint8_t>(DType::kInt16, DType::kUInt8);
  check_table<int16_t, float>(DType::kInt16, DType::kFloat32);
  check_table<uint8_t, int16_t>(DType::kUInt8, DType::kInt16);
  check_table<int16_t, int8_t>(DType::kInt16, DType::kInt8);
}

TEST(Int16, RefusesBadTables) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 3}, DType::kInt16), y = m.output({-1, 3}, DType::kInt16);
  fb::LutOptionsT o;
  o.table = m.buffer(std::vector<int16_t>(65535));
  m.op(o, {x}, {y});
  testing::expect_rejected(m, "the table holds 131070 bytes, expected 131072");
}

// A FullyConnected [4] -> [2], whose fields tests damage.
struct Layer {
  fb::FullyConnectedOptionsT options;
  std::vector<int64_t> bias = {0, 0};
  DType output = DType::kInt16;

  Layer() {
    options.weight_sum = {0, 0};
    options.requant = requant({32767}, 20);
  }
  ModelBuilder build() {
    ModelBuilder m;
    const uint32_t x = m.input({-1, 4}, DType::kInt16), y = m.output({-1, 2}, output);
    m.op(std::move(options),
         {x, m.gemm_weights({2, 4}, std::vector<int8_t>(8)), m.constant({2}, DType::kInt64, bias)},
         {y});
    return m;
  }
};

TEST(Int16, RefusesBadModels) {
  Layer layer;
  layer.bias = {0, int64_t{1} << 62};
  testing::expect_rejected(layer.build(), "bias[1] is 4611686018427387904");
  layer = Layer();
  layer.bias = {int64_t{1} << 48, 0};
  testing::expect_rejected(layer.build(), "accumulators of channel 0 may reach");
  layer = Layer();
  layer.options.requant = testing::requant_acc();
  testing::expect_rejected(layer.build(), "requant.kind is ACC and input 2 (bias) int64");
  layer = Layer();
  layer.options.digits = 4;
  testing::expect_rejected(layer.build(), "digits is 4, expected 1 to 3");
  layer = Layer();
  layer.options.digits = 2;
  layer.options.terms = 2;
  testing::expect_rejected(layer.build(), "digits is 2 with 2 terms and x of int16");
  layer = Layer();
  layer.options.digits = 2;
  testing::expect_rejected(layer.build(), "input 1 (weights) holds");
  layer = Layer();
  layer.options.requant->lo = -40000;
  testing::expect_rejected(layer.build(), "requant limits are -40000");
  layer = Layer();
  layer.options.weight_sum = {0};
  testing::expect_rejected(layer.build(), "weight_sum has 1 values");
  layer = Layer();
  layer.options.weight_sum = {0, INT32_MAX};
  testing::expect_rejected(layer.build(),
                           "weight_sum[1] is 2147483647, the sum of the weights is 0");

  ModelBuilder wide;
  fb::FullyConnectedOptionsT o;
  o.weight_sum = {0};
  o.requant = requant({1}, 1);
  const uint32_t x = wide.input({-1, 65796}, DType::kInt16),
                 y = wide.output({-1, 1}, DType::kInt16);
  wide.op(std::move(o),
          {x, wide.gemm_weights({1, 65796}, std::vector<int8_t>(65796)), wide.bias({0})}, {y});
  testing::expect_rejected(wide, "is 65796, expected 1 to 65793");

  ModelBuilder mixed;
  const uint32_t a = mixed.input({-1, 4}, DType::kInt16), b = mixed.input({-1, 4});
  fb::MulOptionsT mul;
  mul.requant = requant({1}, 1);
  mixed.op(std::move(mul), {a, b}, {mixed.output({-1, 4}, DType::kInt16)});
  testing::expect_rejected(mixed, "input 1 (b) is uint8, expected int16");

  ModelBuilder far;
  const uint32_t c = far.input({-1, 4}, DType::kInt16), d = far.input({-1, 4}, DType::kInt16);
  fb::MulOptionsT product;
  product.a_zero_point_16 = product.b_zero_point_16 = 30000;
  product.requant = requant({INT32_MAX}, 31);
  far.op(std::move(product), {c, d}, {far.output({-1, 4}, DType::kInt16)});
  testing::expect_rejected(far, "products reach 3939821824, times the multiplier 2147483647");
}

}  // namespace
}  // namespace qrt::int16_test

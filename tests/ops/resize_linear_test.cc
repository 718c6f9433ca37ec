// SPDX-License-Identifier: Apache-2.0
// ResizeLinear against its formula, of every kind and element type; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime/tensor.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::resize_linear_test {
namespace {

using fb::ResizeKind;
using testing::Bytes;

bool is_float(ResizeKind kind) {
  return kind == ResizeKind::F32 || kind == ResizeKind::F32_TRUNCATED;
}

int32_t bits_of(float f) { return static_cast<int32_t>(testing::float_bits(f)); }
float real_of(int32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

// Returns the axis that maps `in` positions to `out`, with half-pixel centres.
std::unique_ptr<fb::ResizeAxisT> axis(int64_t in, int64_t out, ResizeKind kind) {
  auto a = std::make_unique<fb::ResizeAxisT>();
  for (int64_t i = 0; i < out; ++i) {
    const float at =
        (static_cast<float>(i) + 0.5f) * static_cast<float>(in) / static_cast<float>(out) - 0.5f;
    const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, in - 1);
    const float part = std::clamp(at - static_cast<float>(low), 0.0f, 1.0f);
    const int32_t one = kind == ResizeKind::INT16_SUM ? 1 << 20 : 1024;
    const auto fine = static_cast<int32_t>(part * static_cast<float>(one));
    a->low.push_back(static_cast<int32_t>(low));
    a->high.push_back(static_cast<int32_t>(std::min(low + 1, in - 1)));
    a->low_weight.push_back(is_float(kind) ? bits_of(1 - part) : one - fine);
    a->high_weight.push_back(is_float(kind) ? bits_of(part) : fine);
  }
  return a;
}

// Makes the options for an image [n, h, w, c], or for a volume [n, d, h, w, c].
fb::ResizeLinearOptionsT resize_options(const Shape& from, const Shape& to, ResizeKind kind,
                                        int32_t offset) {
  fb::ResizeLinearOptionsT o;
  o.kind = kind;
  const int h = from.rank() - 3;
  if (h == 2) o.d = axis(from[1], to[1], kind);
  o.h = axis(from[h], to[h], kind);
  o.w = axis(from[h + 1], to[h + 1], kind);
  o.offset = offset;
  o.input_scale = testing::float_bits(0.05f);
  o.input_zero_point = 120;
  o.output_scale = testing::float_bits(0.06f);
  o.output_zero_point = 100;
  o.lo = 7;
  o.hi = 250;
  return o;
}

// p: the neighbours, of d's low plane and then of its high one; z, y, x: their place in the output.
int64_t weighed_float(const fb::ResizeLinearOptionsT& o, const std::vector<int64_t>& p, size_t z,
                      size_t y, size_t x) {
  const bool full = o.kind == ResizeKind::F32;
  volatile float sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    volatile float weight = real_of(i % 2 == 0 ? o.w->low_weight[x] : o.w->high_weight[x]);
    weight = weight * real_of(i % 4 < 2 ? o.h->low_weight[y] : o.h->high_weight[y]);
    if (o.d) weight = weight * real_of(i < 4 ? o.d->low_weight[z] : o.d->high_weight[z]);
    const float real = full ? static_cast<float>(p[i] - o.input_zero_point) * 0.05f
                            : static_cast<float>(p[i] - o.offset);
    volatile float product = weight * real;
    sum = sum + product;
  }
  if (!full) return static_cast<int64_t>(sum) + o.offset;
  const auto q =
      static_cast<int64_t>(std::nearbyint(sum / real_of(static_cast<int32_t>(o.output_scale)))) +
      o.output_zero_point;
  return std::clamp<int64_t>(q, o.lo, o.hi);
}

// Returns the integer kinds' sum over one plane, its neighbours from p on.
int64_t weighed_plane(const fb::ResizeLinearOptionsT& o, const int64_t* p, size_t y, size_t x) {
  const bool is_int16 = o.kind == ResizeKind::INT16_SUM;
  const int32_t vl = o.h->low_weight[y], vh = o.h->high_weight[y];
  const int32_t wl = o.w->low_weight[x], wh = o.w->high_weight[x];
  int64_t sum = 0;
  const int64_t weights[] = {int64_t{wl} * vl, int64_t{wh} * vl, int64_t{wl} * vh,
                             int64_t{wh} * vh};
  for (size_t i = 0; i < 4; ++i)
    sum += weights[i] * (p[i] - (is_int16 ? o.input_zero_point : o.offset));
  const double exact = static_cast<double>(sum) / (is_int16 ? 1 << 26 : 1 << 20);
  const double rounded = is_int16                              ? std::nearbyint(exact)
                         : o.kind == ResizeKind::INT_HALF_AWAY ? std::round(exact)
                         : o.kind == ResizeKind::INT_HALF_UP   ? std::floor(exact + 0.5)
                                                               : std::trunc(exact);
  return static_cast<int64_t>(rounded) + o.offset;
}

int64_t weighed(const fb::ResizeLinearOptionsT& o, const std::vector<int64_t>& p, size_t z,
                size_t y, size_t x) {
  if (is_float(o.kind)) return weighed_float(o, p, z, y, x);
  const int64_t low = weighed_plane(o, p.data(), y, x);
  if (!o.d) return low;
  const int64_t sum =
      o.d->low_weight[z] * low + o.d->high_weight[z] * weighed_plane(o, p.data() + 4, y, x);
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(sum) / (1 << 20)));
}

template <class T, class Y = T>
void check(Shape from, Shape to, ResizeKind kind, int32_t offset, float output_scale = 0.06f) {
  SCOPED_TRACE(from.to_string() + " kind " + std::to_string(static_cast<int>(kind)));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  fb::ResizeLinearOptionsT o = resize_options(from, to, kind, offset);
  o.output_scale = testing::float_bits(output_scale);
  testing::ModelBuilder m;
  from[0] = to[0] = -1;
  const uint32_t x = m.input(from, sizeof(T) == 1 ? DType::kUInt8 : DType::kInt16);
  const uint32_t y = m.output(to, sizeof(Y) == 1   ? DType::kUInt8
                                  : sizeof(Y) == 2 ? DType::kInt16
                                                   : DType::kInt32);
  m.op(o, {x}, {y});
  const int h = from.rank() - 3;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  const size_t depth = o.d ? o.d->low.size() : 1, in_depth = o.d ? size(from[1]) : 1;
  const size_t c = size(from[h + 2]), row = size(from[h + 1]) * c;
  for (const int64_t batch : {1, 2}) {
    from[0] = batch;
    std::vector<T> data(size(from.elements()));
    for (T& v : data)
      v = static_cast<T>(sizeof(T) == 1 ? random.integer(0, 255) : random.integer(-32768, 32767));
    std::vector<Y> expected;
    for (size_t n = 0; n < size(batch); ++n)
      for (size_t z = 0; z < depth; ++z)
        for (size_t i = 0; i < o.h->low.size(); ++i)
          for (size_t j = 0; j < o.w->low.size(); ++j)
            for (size_t k = 0; k < c; ++k) {
              std::vector<int64_t> p;
              for (const int32_t plane :
                   o.d ? std::vector<int32_t>{o.d->low[z], o.d->high[z]} : std::vector<int32_t>{0})
                for (const int32_t r : {o.h->low[i], o.h->high[i]})
                  for (const int32_t s : {o.w->low[j], o.w->high[j]})
                    p.push_back(
                        data[((n * in_depth + size(plane)) * size(from[h]) + size(r)) * row +
                             size(s) * c + k]);
              expected.push_back(static_cast<Y>(weighed(o, p, z, i, j)));
            }
    testing::expect_outputs(m, size(batch), {testing::bytes_of(data)},
                            {testing::bytes_of(expected)});
  }
}

TEST(ResizeLinear, EveryKind) {
  for (const ResizeKind kind : fb::EnumValuesResizeKind()) {
    if (kind == ResizeKind::INT16_SUM) continue;
    for (const int32_t offset : {0, 128}) {
      check<uint8_t>({1, 5, 4, 3}, {1, 9, 11, 3}, kind, offset);
      check<uint8_t>({1, 6, 7, 16}, {1, 3, 2, 16}, kind, offset);
      check<uint8_t>({1, 1, 1, 1}, {1, 4, 3, 1}, kind, offset);
    }
    if (!is_float(kind)) check<int16_t>({1, 5, 4, 9}, {1, 8, 7, 9}, kind, 0);
  }
}

// Images grown by factors are right; some take the form by columns, for which an image doubled at
// one scale has too many ties.
TEST(ResizeLinear, GrownByFactors) {
  for (const int64_t factor : {2, 3, 8, 16})
    for (const float output_scale : {0.05f, 0.06f})
      check<uint8_t>({1, 5, 7, 21}, {1, 5 * factor, 7 * factor, 21}, ResizeKind::F32, 0,
                     output_scale);
  check<uint8_t>({1, 5, 7, 70}, {1, 10, 14, 70}, ResizeKind::F32, 0, 0.05f);
}

// Scales whose quotients two products do not give are divided by in every row.
TEST(ResizeLinear, ScalesThatAreDividedBy) {
  check<uint8_t>({1, 5, 7, 70}, {1, 10, 14, 70}, ResizeKind::F32, 0, 0.046875f + 0x1p-27f);
}

TEST(ResizeLinear, FineSums) {
  check<int16_t, int32_t>({1, 5, 4, 9}, {1, 8, 7, 9}, ResizeKind::INT16_SUM, 0);
  check<int16_t, int32_t>({1, 6, 7, 16}, {1, 3, 2, 16}, ResizeKind::INT16_SUM, 0);
  check<int16_t, int32_t>({1, 1, 1, 1}, {1, 2, 3, 1}, ResizeKind::INT16_SUM, 0);
}

TEST(ResizeLinear, Volumes) {
  for (const ResizeKind kind : {ResizeKind::F32, ResizeKind::F32_TRUNCATED}) {
    check<uint8_t>({1, 3, 5, 4, 3}, {1, 7, 9, 11, 3}, kind, 128);
    check<uint8_t>({1, 4, 6, 7, 17}, {1, 2, 3, 2, 17}, kind, 0);
    check<uint8_t>({1, 1, 1, 1, 1}, {1, 3, 2, 5, 1}, kind, 128);
    check<uint8_t>({1, 3, 5, 4, 2}, {1, 3, 5, 4, 2}, kind, 0);  // planes of weight 0
  }
  check<int16_t, int32_t>({1, 3, 5, 4, 3}, {1, 7, 9, 11, 3}, ResizeKind::INT16_SUM, 0);
  check<int16_t, int32_t>({1, 4, 6, 7, 17}, {1, 4, 3, 2, 17}, ResizeKind::INT16_SUM, 0);
}

// Large enough to be cut.
TEST(ResizeLinear, ManyTasks) {
  check<uint8_t>({1, 30, 30, 17}, {1, 70, 65, 17}, ResizeKind::F32, 128);
  check<uint8_t>({1, 30, 30, 17}, {1, 70, 65, 17}, ResizeKind::INT_HALF_AWAY, 128);
  check<int16_t, int32_t>({1, 30, 30, 17}, {1, 70, 65, 17}, ResizeKind::INT16_SUM, 0);
  check<uint8_t>({1, 6, 12, 30, 17}, {1, 9, 25, 65, 17}, ResizeKind::F32, 128);
  check<int16_t, int32_t>({1, 6, 12, 30, 17}, {1, 9, 25, 65, 17}, ResizeKind::INT16_SUM, 0);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::ResizeLinearOptionsT&)>;

void reject(const std::string& part, ResizeKind kind, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const bool is_int16 = kind == ResizeKind::INT16_SUM;
  const uint32_t x = m.input({-1, 4, 4, 3}, is_int16 ? DType::kInt16 : DType::kUInt8);
  const uint32_t y = m.output({-1, 6, 5, 3}, is_int16 ? DType::kInt32 : DType::kUInt8);
  fb::OperatorT& op = m.op(resize_options({1, 4, 4, 3}, {1, 6, 5, 3}, kind, 0), {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsResizeLinear());
  testing::expect_rejected(m, part);
}

// Rows beyond 32 bits are right: 2^29 pixels, whose floats take 2^32 bytes and more. Where
// addresses have 32 bits no such tensor is taken, as sizes would wrap.
TEST(ResizeLinear, RowsBeyond32Bits) {
  constexpr int64_t kPixels = int64_t{1} << 29;
  const Shape from = {1, 1, kPixels, 1}, to = {1, 1, 1, 1};
  testing::ModelBuilder m;
  m.op(resize_options(from, to, ResizeKind::F32, 0), {m.input(from)}, {m.output(to)});
  if (!kHas64Bits) return testing::expect_rejected(m, "too many elements");
  auto model = testing::load(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  SessionOptions options;
  options.max_memory = size_t{1} << 30;
  auto plan = Session::plan_for(*model, options);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_GT((*plan)->total_bytes() / 2, (size_t{1} << 31) + kPixels / 2);
}

TEST(ResizeLinear, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::ResizeLinearOptionsT;
  const ResizeKind real = ResizeKind::F32, integer = ResizeKind::INT_HALF_AWAY;
  const ResizeKind int16 = ResizeKind::INT16_SUM;
  reject("index 2 of h is 4, expected 0 to 3", real, [](M&, O& o) { o.h->low[2] = 4; });
  reject("index 0 of w is -1, expected 0 to 3", real, [](M&, O& o) { o.w->high[0] = -1; });
  reject("w has 5 and 5 indices and 4 and 5 weights", real,
         [](M&, O& o) { o.w->low_weight.pop_back(); });
  reject("h is missing", real, [](M&, O& o) { o.h.reset(); });
  reject("weight 1 of w is nan", real, [](M&, O& o) { o.w->low_weight[1] = 0x7FC00000; });
  reject("weight 1 of w is -1", real, [](M&, O& o) { o.w->low_weight[1] = bits_of(-1); });
  reject("weights 1 of h are 1537 and -512, expected at most 2048 together", integer,
         [](M&, O& o) { o.h->low_weight[1] = 1537, o.h->high_weight[1] = -512; });
  reject("weights 1 of h are -2147483648", integer,
         [](M&, O& o) { o.h->low_weight[1] = INT32_MIN; });
  reject("offset is 5, expected 0, or 128", integer, [](M&, O& o) { o.offset = 5; });
  reject("a scale is 0", real, [](M&, O& o) { o.output_scale = 0; });
  reject("input_zero_point is 256", real, [](M&, O& o) { o.input_zero_point = 256; });
  reject("hi is 6, expected 7 to 255", real, [](M&, O& o) { o.hi = 6; });
  reject("kind is 6", real, [](M&, O& o) { o.kind = static_cast<ResizeKind>(6); });
  reject("input 0 (x) is int16", real, [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("expected 4 [n, h, w, c]", real, [](M& m, O&) { m.at(0).shape = {-1, 16, 3}; });
  reject("has the shape [1, 6, 5, 3], expected [1, 6, 6, 3]", real,
         [](M&, O& o) { o.w = axis(4, 6, ResizeKind::F32); });
  reject("weights 1 of w are -1 and 5, expected 0 or more", int16,
         [](M&, O& o) { o.w->low_weight[1] = -1, o.w->high_weight[1] = 5; });
  reject("weights 1 of w are 2147483647 and 5, expected 0 or more, at most 1048576 together", int16,
         [](M&, O& o) { o.w->low_weight[1] = INT32_MAX, o.w->high_weight[1] = 5; });
  reject("input_zero_point is 32768", int16, [](M&, O& o) { o.input_zero_point = 32768; });
  reject("input 0 (x) is uint8", int16, [](M& m, O&) { m.at(0).dtype = fb::DType::UINT8; });
  reject("expected 5 [n, d, h, w, c]", real, [](M&, O& o) { o.d = axis(4, 6, ResizeKind::F32); });
  const auto volume = [](M& m, O& o) {
    m.at(0).shape = {-1, 4, 4, 4, 3}, m.at(1).shape = {-1, 6, 6, 5, 3};
    o.d = axis(4, 6, o.kind);
  };
  reject("has d, which INT kinds have not", integer, volume);
  reject("index 2 of d is 4, expected 0 to 3", real, [&](M& m, O& o) {
    volume(m, o);
    o.d->low[2] = 4;
  });
}

}  // namespace
}  // namespace qrt::resize_linear_test

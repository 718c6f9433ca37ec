// ResizeLinear against its formula, of every kind and element type; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime/tensor.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt {
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

// in -> out positions, half a pixel in.
std::unique_ptr<fb::ResizeAxisT> axis(int64_t in, int64_t out, bool in_float) {
  auto a = std::make_unique<fb::ResizeAxisT>();
  for (int64_t i = 0; i < out; ++i) {
    const float at =
        (static_cast<float>(i) + 0.5f) * static_cast<float>(in) / static_cast<float>(out) - 0.5f;
    const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, in - 1);
    const float part = std::clamp(at - static_cast<float>(low), 0.0f, 1.0f);
    const auto fine = static_cast<int32_t>(part * 1024);
    a->low.push_back(static_cast<int32_t>(low));
    a->high.push_back(static_cast<int32_t>(std::min(low + 1, in - 1)));
    a->low_weight.push_back(in_float ? bits_of(1 - part) : 1024 - fine);
    a->high_weight.push_back(in_float ? bits_of(part) : fine);
  }
  return a;
}

fb::ResizeLinearOptionsT resize_options(const Shape& from, int64_t h, int64_t w, ResizeKind kind,
                                        int32_t offset) {
  fb::ResizeLinearOptionsT o;
  o.kind = kind;
  o.h = axis(from[1], h, is_float(kind));
  o.w = axis(from[2], w, is_float(kind));
  o.offset = offset;
  o.input_scale = testing::float_bits(0.05f);
  o.input_zero_point = 120;
  o.output_scale = testing::float_bits(0.06f);
  o.output_zero_point = 100;
  o.lo = 7;
  o.hi = 250;
  return o;
}

int64_t weighed(const fb::ResizeLinearOptionsT& o, const int64_t (&p)[4], size_t y, size_t x) {
  const int32_t vl = o.h->low_weight[y], vh = o.h->high_weight[y];
  const int32_t wl = o.w->low_weight[x], wh = o.w->high_weight[x];
  if (is_float(o.kind)) {
    const bool full = o.kind == ResizeKind::F32;
    const auto real = [&](int64_t v) {
      return full ? static_cast<float>(v - o.input_zero_point) * 0.05f
                  : static_cast<float>(v - o.offset);
    };
    volatile float sum = (real_of(wl) * real_of(vl)) * real(p[0]);
    volatile float next = (real_of(wh) * real_of(vl)) * real(p[1]);
    sum = sum + next;
    next = (real_of(wl) * real_of(vh)) * real(p[2]);
    sum = sum + next;
    next = (real_of(wh) * real_of(vh)) * real(p[3]);
    sum = sum + next;
    if (!full) return static_cast<int64_t>(sum) + o.offset;
    const auto q = static_cast<int64_t>(std::nearbyint(sum / 0.06f)) + o.output_zero_point;
    return std::clamp<int64_t>(q, o.lo, o.hi);
  }
  int64_t sum = 0;
  const int64_t weights[] = {int64_t{wl} * vl, int64_t{wh} * vl, int64_t{wl} * vh,
                             int64_t{wh} * vh};
  for (size_t i = 0; i < 4; ++i) sum += weights[i] * (p[i] - o.offset);
  const double exact = static_cast<double>(sum) / (1 << 20);
  const double rounded = o.kind == ResizeKind::INT_HALF_AWAY ? std::round(exact)
                         : o.kind == ResizeKind::INT_HALF_UP ? std::floor(exact + 0.5)
                                                             : std::trunc(exact);
  return static_cast<int64_t>(rounded) + o.offset;
}

template <class T>
void check(Shape from, int64_t h, int64_t w, ResizeKind kind, int32_t offset) {
  SCOPED_TRACE(from.to_string() + " kind " + std::to_string(static_cast<int>(kind)));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const DType dtype = sizeof(T) == 1 ? DType::kUInt8 : DType::kInt16;
  const fb::ResizeLinearOptionsT o = resize_options(from, h, w, kind, offset);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, from[1], from[2], from[3]}, dtype);
  const uint32_t y = m.output({-1, h, w, from[3]}, dtype);
  m.op(o, {x}, {y});
  for (const int64_t batch : {1, 2}) {
    from[0] = batch;
    std::vector<T> data(static_cast<size_t>(from.elements()));
    for (T& v : data)
      v = static_cast<T>(sizeof(T) == 1 ? random.integer(0, 255) : random.integer(-32768, 32767));
    std::vector<T> expected;
    const auto row = static_cast<size_t>(from[2] * from[3]), c = static_cast<size_t>(from[3]);
    for (int64_t n = 0; n < batch; ++n)
      for (size_t i = 0; i < o.h->low.size(); ++i)
        for (size_t j = 0; j < o.w->low.size(); ++j)
          for (size_t k = 0; k < c; ++k) {
            const auto at = [&](int32_t r, int32_t s) {
              return int64_t{
                  data[(static_cast<size_t>(n * from[1]) + static_cast<size_t>(r)) * row +
                       static_cast<size_t>(s) * c + k]};
            };
            const int64_t p[4] = {at(o.h->low[i], o.w->low[j]), at(o.h->low[i], o.w->high[j]),
                                  at(o.h->high[i], o.w->low[j]), at(o.h->high[i], o.w->high[j])};
            expected.push_back(static_cast<T>(weighed(o, p, i, j)));
          }
    testing::expect_outputs(m, static_cast<size_t>(batch), {testing::bytes_of(data)},
                            {testing::bytes_of(expected)});
  }
}

TEST(ResizeLinear, EveryKind) {
  for (const ResizeKind kind : fb::EnumValuesResizeKind()) {
    for (const int32_t offset : {0, 128}) {
      check<uint8_t>({1, 5, 4, 3}, 9, 11, kind, offset);
      check<uint8_t>({1, 6, 7, 16}, 3, 2, kind, offset);
      check<uint8_t>({1, 1, 1, 1}, 4, 3, kind, offset);
    }
    if (!is_float(kind)) check<int16_t>({1, 5, 4, 9}, 8, 7, kind, 0);
  }
}

// Large enough to be cut.
TEST(ResizeLinear, ManyTasks) {
  check<uint8_t>({1, 30, 30, 17}, 70, 65, ResizeKind::F32, 128);
  check<uint8_t>({1, 30, 30, 17}, 70, 65, ResizeKind::INT_HALF_AWAY, 128);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::ResizeLinearOptionsT&)>;

void reject(const std::string& part, ResizeKind kind, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 4, 4, 3}), y = m.output({-1, 6, 5, 3});
  fb::OperatorT& op = m.op(resize_options({1, 4, 4, 3}, 6, 5, kind, 0), {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsResizeLinear());
  testing::expect_rejected(m, part);
}

TEST(ResizeLinear, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::ResizeLinearOptionsT;
  const ResizeKind real = ResizeKind::F32, integer = ResizeKind::INT_HALF_AWAY;
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
  reject("kind is 5", real, [](M&, O& o) { o.kind = static_cast<ResizeKind>(5); });
  reject("input 0 (x) is int16", real, [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("expected 4 [n, h, w, c]", real, [](M& m, O&) { m.at(0).shape = {-1, 16, 3}; });
  reject("has the shape [1, 6, 5, 3], expected [1, 6, 6, 3]", real,
         [](M&, O& o) { o.w = axis(4, 6, true); });
}

}  // namespace
}  // namespace qrt

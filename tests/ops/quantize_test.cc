// Quantize against the formula in float32: both types, any axis, special values; models it has to
// refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Bytes;

uint8_t quantize(float x, float scale, int zero_point, int lo, bool half_away = false) {
  const float v = x / scale;
  if (std::isnan(v)) return static_cast<uint8_t>(lo);
  const float clamped = std::min(std::max(v, static_cast<float>(lo - zero_point)),
                                 static_cast<float>(lo + 255 - zero_point));
  const long steps = half_away ? std::lround(clamped) : std::lrint(clamped);  // else half to even
  return static_cast<uint8_t>(steps + zero_point);
}

// One pair of scale and zero point, or one for each index of `axis`.
void check(const Shape& shape, int axis, std::vector<float> scale, DType dtype,
           bool half_away = false) {
  SCOPED_TRACE(shape.to_string() + ", axis " + std::to_string(axis));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int lo = dtype == DType::kInt8 ? -128 : 0;
  const size_t channels = axis < 0 ? 1 : static_cast<size_t>(shape[axis]);
  std::vector<int32_t> zero_point;
  while (scale.size() < channels) scale.push_back(random.scale(-5));
  while (zero_point.size() < channels)
    zero_point.push_back(static_cast<int32_t>(random.integer(lo, lo + 255)));
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape, DType::kFloat32), y = m.output(shape, dtype);
  fb::QuantizeOptionsT o;
  o.scale = testing::float_bits(scale);
  o.zero_point = zero_point;
  o.axis = axis;
  if (half_away) o.rounding = fb::Rounding::HALF_AWAY;
  m.op(o, {x}, {y});

  const float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e30f, -1e30f, 1e-42f};
  for (const int64_t batch : {1, 3}) {
    if (batch != 1 && axis == 0) continue;
    Shape concrete = shape;
    if (axis != 0) concrete[0] = batch;
    size_t inner = 1;
    for (int d = axis + 1; axis >= 0 && d < shape.rank(); ++d)
      inner *= static_cast<size_t>(shape[d]);
    std::vector<float> input(static_cast<size_t>(concrete.elements()));
    Bytes expected;
    for (size_t i = 0; i < input.size(); ++i) {
      const size_t c = axis < 0 ? 0 : i / inner % channels;
      const int kind = static_cast<int>(random.integer(0, 9));
      input[i] = kind == 0   ? special[random.integer(0, 8)]
                 : kind <= 3 ? (static_cast<float>(random.integer(-300, 300)) + 0.5f) * scale[c]
                             : random.real(-10.0f, 10.0f);
      expected.push_back(quantize(input[i], scale[c], zero_point[c], lo, half_away));
    }
    testing::expect_outputs(m, static_cast<size_t>(batch), {testing::bytes_of(input)}, {expected});
  }
}

TEST(Quantize, PerTensor) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8})
    for (const float scale : {0.0625f, 0.0371f, 1e-3f, 3.5f}) check({-1, 333}, -1, {scale}, dtype);
}

TEST(Quantize, PerIndexOfAnyAxis) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
    check({-1, 5, 6, 33}, 3, {}, dtype);
    check({-1, 5, 6, 33}, 1, {}, dtype);
    check({-1, 5, 6, 33}, 2, {}, dtype);
    check({7, 20}, 0, {}, dtype);
    check({-1, 1, 50}, 1, {}, dtype);
  }
}

// Zero, negative, subnormal and infinite scales follow the formula.
TEST(Quantize, UnusualScales) {
  for (const float scale : {0.0f, -0.25f, 1e-42f, INFINITY})
    check({-1, 100}, -1, {scale}, DType::kUInt8);
}

TEST(Quantize, HalfAwayFromZero) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) check({-1, 333}, -1, {}, dtype, true);
  for (const float scale : {0.0f, -0.25f, 1e-42f, 0.5f, INFINITY})
    check({-1, 100}, -1, {scale}, DType::kUInt8, true);
  check({-1, 400001}, -1, {0.05f}, DType::kUInt8, true);
}

// Large enough to be cut on every instruction set.
TEST(Quantize, ManyTasks) {
  check({-1, 400001}, -1, {0.05f}, DType::kUInt8);
  check({-1, 100, 50, 70}, 3, {}, DType::kInt8);
  check({-1, 60, 6001}, 1, {}, DType::kUInt8);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::QuantizeOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 3, 4}, DType::kFloat32), y = m.output({-1, 3, 4});
  fb::QuantizeOptionsT o;
  o.scale.assign(3, testing::float_bits(0.5f));
  o.zero_point.assign(3, 7);
  o.axis = 1;
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsQuantize());
  testing::expect_rejected(m, part);
}

TEST(Quantize, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::QuantizeOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 0 (x) is int32, expected float32",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT32; });
  reject("the output is int16, expected uint8 or int8",
         [](M& m, O&) { m.at(1).dtype = fb::DType::INT16; });
  reject("axis is 3, expected -1 or 0 to 2", [](M&, O& o) { o.axis = 3; });
  reject("axis is -2, expected -1 or 0 to 2", [](M&, O& o) { o.axis = -2; });
  reject("has 3 scales, expected 4", [](M&, O& o) { o.axis = 2; });
  reject("has 3 scales, expected 1", [](M&, O& o) { o.axis = -1; });
  reject("has 0 scales, expected 3", [](M&, O& o) { o.scale.clear(); });
  reject("has 2 zero points, expected 3", [](M&, O& o) { o.zero_point.pop_back(); });
  reject("scale 1 is nan, expected a number", [](M&, O& o) { o.scale[1] = 0x7fc00000; });
  reject("rounding is 2, expected HALF_EVEN (0), or HALF_AWAY (2) per tensor",
         [](M&, O& o) { o.rounding = fb::Rounding::HALF_AWAY; });
  reject("rounding is 1", [](M&, O& o) { o.rounding = fb::Rounding::HALF_UP; });
  reject("zero point 2 is 256, expected 0 to 255", [](M&, O& o) { o.zero_point[2] = 256; });
  reject("zero point 0 is 200, expected -128 to 127", [](M& m, O& o) {
    m.at(1).dtype = fb::DType::INT8;
    o.zero_point[0] = 200;
  });
}

}  // namespace
}  // namespace qrt

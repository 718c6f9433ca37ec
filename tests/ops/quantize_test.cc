// SPDX-License-Identifier: Apache-2.0
// Quantize against the formula in float32: both types, any axis, special values; models it has to
// refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime/ops/edge_call.h"
#include "tests/support/edge.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::quantize_test {
namespace {

using testing::Bytes;

int64_t quantize(float x, float scale, int zero_point, int lo, int hi, fb::Rounding rounding) {
  const float v = x / scale;
  if (std::isnan(v)) return lo;
  const float least = static_cast<float>(lo - zero_point),
              most = static_cast<float>(hi - zero_point);
  const float clamped = std::min(std::max(v, least), most);
  switch (rounding) {
    case fb::Rounding::HALF_UP: {
      const float above = v + 0.5f;  // rounded before it is limited
      return static_cast<int64_t>(std::floor(std::min(std::max(above, least), most))) + zero_point;
    }
    case fb::Rounding::HALF_AWAY: return std::lround(clamped) + zero_point;
    default: return std::lrint(clamped) + zero_point;  // half to even
  }
}

// Checks Quantize with one pair of scale and zero point, or one for each index of `axis`.
void check(const Shape& shape, int axis, std::vector<float> scale, DType dtype,
           fb::Rounding rounding = fb::Rounding::HALF_EVEN) {
  SCOPED_TRACE(shape.to_string() + ", axis " + std::to_string(axis) + ", " + dtype_name(dtype) +
               ", " + fb::EnumNameRounding(rounding));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  int lo, hi;
  integer_range(dtype, &lo, &hi);
  const size_t channels = axis < 0 ? 1 : static_cast<size_t>(shape[axis]);
  std::vector<int32_t> zero_point;
  while (scale.size() < channels) scale.push_back(random.scale(-5));
  while (zero_point.size() < channels)
    zero_point.push_back(static_cast<int32_t>(random.integer(lo, hi)));
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape, DType::kFloat32), y = m.output(shape, dtype);
  fb::QuantizeOptionsT o;
  o.scale = testing::float_bits(scale);
  o.zero_point = zero_point;
  o.axis = axis;
  o.rounding = rounding;
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
    std::vector<int64_t> expected;
    for (size_t i = 0; i < input.size(); ++i) {
      const size_t c = axis < 0 ? 0 : i / inner % channels;
      const int kind = static_cast<int>(random.integer(0, 9));
      input[i] = kind == 0   ? special[random.integer(0, 8)]
                 : kind <= 3 ? (static_cast<float>(random.integer(-300, 300)) + 0.5f) * scale[c]
                             : random.real(-10.0f, 10.0f);
      expected.push_back(quantize(input[i], scale[c], zero_point[c], lo, hi, rounding));
    }
    testing::expect_outputs(m, static_cast<size_t>(batch), {testing::bytes_of(input)},
                            {testing::integer_bytes(dtype, expected)});
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

// TFLite's and ESP-DL's roundings, which differ at ties below 0, are kept.
TEST(Quantize, HalfAwayFromZeroAndHalfUp) {
  for (const fb::Rounding rounding : {fb::Rounding::HALF_AWAY, fb::Rounding::HALF_UP}) {
    for (const DType dtype : {DType::kUInt8, DType::kInt8, DType::kInt16}) {
      check({-1, 333}, -1, {}, dtype, rounding);
      for (const float scale : {0.0f, -0.25f, 1e-42f, 0.5f, INFINITY})
        check({-1, 100}, -1, {scale}, dtype, rounding);
    }
    check({-1, 400001}, -1, {0.05f}, DType::kUInt8, rounding);
  }
}

// Work is cut into several tasks on every instruction set.
TEST(Quantize, ManyTasks) {
  check({-1, 400001}, -1, {0.05f}, DType::kUInt8);
  check({-1, 100, 50, 70}, 3, {}, DType::kInt8);
  check({-1, 60, 6001}, 1, {}, DType::kUInt8);
}

// --- parameters as inputs: every type, layout, division and overflow against the formulas

struct Case {
  Shape shape;
  int axis = -1;
  uint32_t block = 0;
  DType x = DType::kFloat32, scale = DType::kFloat32, y = DType::kUInt8;
  bool zero_point = true;
  bool constant = false;  // the parameters
  bool saturate = true;
  fb::Division division = fb::Division::F32;
  fb::Overflow overflow = fb::Overflow::SATURATE;
  int offset = 0;
};

size_t entries_of(const Case& c) { return testing::edge_entries(c.shape, c.axis, c.block); }

float in_type(fb::Division d, float v) {
  if (d == fb::Division::F16) return half_to_float(float_to_half(v));
  if (d == fb::Division::BF16) return bfloat_to_float(float_to_bfloat(v));
  return v;
}

// Returns the integer of a quotient with the zero point, or the code of a small float.
int64_t encoded(const Case& c, double quotient, double zp) {
  const auto f = static_cast<float>(quotient);
  SmallFormat format;
  if (small_format(c.y, &format)) {
    const float sum = c.y == DType::kFloat4E2M1 ? f + static_cast<float>(zp) : f;
    return float_to_small(small_float(format, c.saturate), sum);
  }
  if (c.y == DType::kBFloat16) return float_to_bfloat(f + static_cast<float>(zp));
  int64_t lo = 0, hi = UINT32_MAX;
  if (c.y == DType::kInt32) lo = INT32_MIN, hi = INT32_MAX;
  if (is_small_integer(c.y)) {
    int32_t a, b;
    integer_range(c.y, &a, &b);
    lo = a, hi = b;
  }
  lo -= c.offset, hi -= c.offset, zp -= c.offset;
  if (c.overflow == fb::Overflow::CAST) {
    const double r = is_packed(c.y) ? std::round(quotient) : std::trunc(quotient);
    const bool fits = r >= -2147483648.0 && r <= 2147483647.0;
    const auto whole = fits ? static_cast<int64_t>(r) : int64_t{INT32_MIN};
    const int64_t values = hi - lo + 1;
    const int64_t low = ((whole - lo) % values + values) % values + lo;
    return low + c.offset;
  }
  int64_t sum;
  const double r = std::nearbyint(quotient);
  if (c.overflow == fb::Overflow::SATURATE) {
    if (std::isnan(r)) return lo + c.offset;
    sum = static_cast<int64_t>(std::min(std::max(r, -1e15), 1e15) + zp);
  } else if (c.overflow == fb::Overflow::INT32) {
    const bool fits = r >= -2147483648.0 && r <= 2147483647.0;
    const auto whole = fits ? static_cast<int64_t>(r) : int64_t{INT32_MIN};
    sum = static_cast<int32_t>(static_cast<uint32_t>(whole + static_cast<int64_t>(zp)));
  } else {
    const bool fits = r >= -9223372036854775808.0 && r < 9223372036854775808.0;
    const auto whole = fits ? static_cast<int64_t>(r) : INT64_MIN;
    sum = static_cast<int64_t>(static_cast<uint64_t>(whole) +
                               static_cast<uint64_t>(static_cast<int64_t>(zp)));
  }
  return std::min(std::max(sum, lo), hi) + c.offset;
}

void check_inputs(const Case& c) {
  testing::Random random;
  SCOPED_TRACE(std::string(dtype_name(c.x)) + " / " + dtype_name(c.scale) + " to " +
               dtype_name(c.y) + " " + c.shape.to_string() + " axis " + std::to_string(c.axis) +
               " block " + std::to_string(c.block) + " division " +
               std::to_string(static_cast<int>(c.division)) + " overflow " +
               std::to_string(static_cast<int>(c.overflow)) + "; " + random.trace());
  const size_t n = static_cast<size_t>(c.shape.elements()), entries = entries_of(c);
  const testing::Reals scale =
      testing::edge_scales(&random, c.scale, entries, c.x == DType::kInt32 ? 4 : -4);
  const testing::Reals zp = testing::edge_zero_points(&random, c.y, entries, c.zero_point);
  testing::Reals x = testing::reals(c.x, n);
  const double odd[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 3e9, -3e9, 0.0, -0.0};
  std::vector<int64_t> want(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t e = testing::edge_entry(c.shape, c.axis, c.block, i);
    const int64_t kind = random.integer(0, 7);
    const double steps = static_cast<double>(random.integer(-70000, 70000)) * (kind < 3   ? 0.5
                                                                               : kind < 5 ? 0.01
                                                                                          : 1.0);
    x.set(i, kind == 0 && c.x != DType::kInt32 ? odd[random.integer(0, 8)] : steps * scale[e]);
    if (c.division == fb::Division::F64) {
      want[i] = encoded(c, x[i] / scale[e], zp[e]);
    } else {
      const float s = in_type(c.division, static_cast<float>(scale[e]));
      const float q = in_type(c.division, static_cast<float>(x[i])) / s;
      want[i] = encoded(c, double{in_type(c.division, q)}, zp[e]);
    }
    if (c.y == DType::kFloat16)
      want[i] = float_to_half(
          std::isnan(x[i]) ? NAN : static_cast<float>(std::min(std::max(x[i], -65504.0), 65504.0)));
  }
  testing::ModelBuilder m;
  std::vector<uint32_t> inputs = {m.input(c.shape, c.x)};
  std::vector<Bytes> data = {x.bytes()};
  const Shape shape = testing::edge_shape(c.shape, c.axis, c.block);
  const auto parameter = [&](const testing::Reals& values) {
    if (c.constant) {
      inputs.push_back(m.constant(shape, values.dtype(), values.bytes()));
    } else {
      inputs.push_back(m.input(shape, values.dtype()));
      data.push_back(values.bytes());
    }
  };
  parameter(scale);
  if (c.zero_point) parameter(zp);
  const uint32_t y = m.output(c.shape, c.y);
  fb::QuantizeOptionsT o;
  o.axis = entries == 1 ? -1 : c.axis;
  o.block_size = entries == 1 ? 0 : c.block;
  o.saturate = c.saturate;
  o.division = c.division;
  o.overflow = c.overflow;
  o.offset = c.offset;
  m.op(o, inputs, {y});
  testing::expect_outputs(m, 1, data, {testing::integer_bytes(c.y, want)});
}

const std::vector<DType> kOutputs = {
    DType::kUInt8,        DType::kInt8,           DType::kUInt16,     DType::kInt16,
    DType::kUInt4,        DType::kInt4,           DType::kUInt2,      DType::kInt2,
    DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ,
    DType::kFloat4E2M1};

TEST(Quantize, EveryTypeInEveryLayout) {
  for (const DType y : kOutputs) {
    for (const DType x : {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt32}) {
      Case c;
      c.x = x, c.y = y;
      c.overflow = x == DType::kFloat32 ? fb::Overflow::SATURATE : fb::Overflow::INT32;
      c.constant = x == DType::kFloat16;
      c.shape = {333};
      check_inputs(c);
      c.shape = {3, 5, 7};
      c.axis = 2;
      check_inputs(c);
      c.axis = 1;
      c.zero_point = false;
      check_inputs(c);
      c.block = 2;
      c.saturate = false;
      check_inputs(c);
      c.axis = 2;
      c.block = 3;
      c.zero_point = true;
      check_inputs(c);
      c.axis = 0;
      check_inputs(c);
    }
  }
}

TEST(Quantize, EveryTypeOfScaleAndDivision) {
  for (const DType scale :
       {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat8E8M0, DType::kInt32}) {
    for (int division = 0; division <= 3; ++division) {
      Case c;
      c.division = static_cast<fb::Division>(division);
      if (c.division == fb::Division::F64 && scale != DType::kInt32) continue;
      c.shape = {4, 5, 6};
      c.scale = scale;
      for (const fb::Overflow overflow :
           {fb::Overflow::SATURATE, fb::Overflow::INT32, fb::Overflow::INT64}) {
        for (const DType y : {DType::kInt8, DType::kUInt16, DType::kInt4}) {
          c.overflow = overflow, c.y = y;
          for (const DType x : {DType::kFloat32, DType::kFloat16, DType::kInt32}) {
            c.x = x;
            c.axis = 1, c.block = 0;
            check_inputs(c);
            c.axis = 1, c.block = 3;
            check_inputs(c);
          }
        }
      }
    }
  }
}

// The sum wraps by the sign of the source's zero point.
TEST(Quantize, Int8StoredAsUint8WrapsAsInt8) {
  for (const DType x : {DType::kFloat32, DType::kFloat16}) {
    for (const fb::Overflow overflow : {fb::Overflow::INT32, fb::Overflow::INT64}) {
      Case c;
      c.shape = {400};
      c.x = x, c.overflow = overflow, c.offset = 128;
      for (int i = 0; i < 4; ++i) check_inputs(c);
    }
  }
}

TEST(Quantize, CastKeepsTheLowBitsOfWhatItRounds) {
  for (const DType y : {DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt4,
                        DType::kInt4, DType::kUInt2, DType::kInt2, DType::kInt32}) {
    for (const DType x : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      Case c;
      c.x = x, c.y = y;
      c.shape = {5, 401};
      c.zero_point = false;
      c.overflow = fb::Overflow::CAST;
      check_inputs(c);
      c.axis = 0;
      check_inputs(c);
    }
  }
}

// AMD Quark's types.
TEST(Quantize, ToInt32AndHalves) {
  for (const DType y : {DType::kInt32, DType::kUInt32, DType::kFloat16, DType::kBFloat16}) {
    Case c;
    c.y = y;
    c.shape = {7, 41};
    c.overflow = fb::Overflow::INT64;
    check_inputs(c);
    c.axis = 1;
    check_inputs(c);
  }
}

TEST(Quantize, ChunksAndTasksMeetAtWholeBytes) {
  for (const DType y : {DType::kInt4, DType::kUInt2, DType::kFloat8E4M3FN, DType::kInt16}) {
    Case c;
    c.y = y;
    c.shape = {300007};
    check_inputs(c);
    c.shape = {7, 41, 1003};
    c.axis = 2, c.block = 64;
    check_inputs(c);
    c.axis = 1, c.block = 5;
    check_inputs(c);
  }
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
  reject("has 3 scales and 3 zero points beside those of its inputs",
         [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("has 4 inputs, expected 1 to 3",
         [](M& m, O&) { m.model().operators[0]->inputs.assign(4, 0); });
  reject("input 1 (scale) has shape [1, 3, 4], expected 3 values", [](M& m, O& o) {
    m.model().operators[0]->inputs.push_back(0);
    o.scale.clear(), o.zero_point.clear();
  });
  reject("input 2 (zero_point) is float32, expected uint8", [](M& m, O& o) {
    m.model().operators[0]->inputs.assign(3, 0);
    o.scale.clear(), o.zero_point.clear();
    o.block_size = 1;
  });
  reject("block_size is 2, but the scales are no input", [](M&, O& o) { o.block_size = 2; });
  reject("block_size is 2 without an axis", [](M&, O& o) { o.block_size = 2, o.axis = -1; });
  reject("division is 4", [](M&, O& o) { o.division = static_cast<fb::Division>(4); });
  reject("overflow is 4", [](M&, O& o) { o.overflow = static_cast<fb::Overflow>(4); });
  reject("overflow is CAST", [](M&, O& o) {
    o.overflow = fb::Overflow::CAST;
    o.division = fb::Division::F16;
  });
  reject("offset is 1, expected 0, or 128", [](M&, O& o) { o.offset = 1; });
  reject("division is F64, but the scale is no int32 input",
         [](M&, O& o) { o.division = fb::Division::F64; });
  reject("the output is int64, which no Quantize makes",
         [](M& m, O&) { m.at(1).dtype = fb::DType::INT64; });
  reject("input 0 (x) is int32, expected float32",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT32; });
  reject("the output is float8e5m2, expected an integer of up to 16 bits",
         [](M& m, O&) { m.at(1).dtype = fb::DType::FLOAT8E5M2; });
  reject("axis is 3, expected -1 or 0 to 2", [](M&, O& o) { o.axis = 3; });
  reject("axis is -2, expected -1 or 0 to 2", [](M&, O& o) { o.axis = -2; });
  reject("has 3 scales, expected 4", [](M&, O& o) { o.axis = 2; });
  reject("has 3 scales, expected 1", [](M&, O& o) { o.axis = -1; });
  reject("has 0 scales, expected 3", [](M&, O& o) { o.scale.clear(); });
  reject("has 2 zero points, expected 3", [](M&, O& o) { o.zero_point.pop_back(); });
  reject("scale 1 is nan, expected a number", [](M&, O& o) { o.scale[1] = 0x7fc00000; });
  reject("rounding is 2, expected HALF_EVEN (0), or per tensor HALF_UP (1) or HALF_AWAY (2)",
         [](M&, O& o) { o.rounding = fb::Rounding::HALF_AWAY; });
  reject("rounding is 1", [](M&, O& o) { o.rounding = fb::Rounding::HALF_UP; });
  reject("zero point 2 is 256, expected 0 to 255", [](M&, O& o) { o.zero_point[2] = 256; });
  reject("zero point 0 is 200, expected -128 to 127", [](M& m, O& o) {
    m.at(1).dtype = fb::DType::INT8;
    o.zero_point[0] = 200;
  });
}

}  // namespace
}  // namespace qrt::quantize_test

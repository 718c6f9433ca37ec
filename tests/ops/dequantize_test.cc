// SPDX-License-Identifier: Apache-2.0
// Dequantize against the formula in float32: three types, any axis; models it has to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/edge.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::dequantize_test {
namespace {

using testing::Bytes;

// Checks Dequantize of T with one pair of scale and zero point, or one for each index of `axis`.
template <class T>
void check(const Shape& shape, int axis, DType dtype) {
  SCOPED_TRACE(std::string(dtype_name(dtype)) + ", " + shape.to_string() + ", axis " +
               std::to_string(axis));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  constexpr bool kIsByte = sizeof(T) == 1;
  const size_t channels = axis < 0 ? 1 : static_cast<size_t>(shape[axis]);
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
  for (size_t c = 0; c < channels; ++c) {
    scale.push_back(random.scale(-5));
    zero_point.push_back(kIsByte
                             ? static_cast<int32_t>(random.integer(std::numeric_limits<T>::min(),
                                                                   std::numeric_limits<T>::max()))
                             : 0);
  }
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape, dtype), y = m.output(shape, DType::kFloat32);
  fb::DequantizeOptionsT o;
  o.scale = testing::float_bits(scale);
  o.zero_point = zero_point;
  o.axis = axis;
  m.op(o, {x}, {y});

  for (const int64_t batch : {1, 3}) {
    if (batch != 1 && axis == 0) continue;
    Shape concrete = shape;
    if (axis != 0) concrete[0] = batch;
    size_t inner = 1;
    for (int d = axis + 1; axis >= 0 && d < shape.rank(); ++d)
      inner *= static_cast<size_t>(shape[d]);
    std::vector<T> input(static_cast<size_t>(concrete.elements()));
    random.fill(input, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    std::vector<float> expected;
    for (size_t i = 0; i < input.size(); ++i) {
      const size_t c = axis < 0 ? 0 : i / inner % channels;
      const float v = kIsByte ? static_cast<float>(static_cast<int32_t>(input[i]) - zero_point[c])
                              : static_cast<float>(input[i]);
      expected.push_back(v * scale[c]);
    }
    testing::expect_outputs(m, static_cast<size_t>(batch), {testing::bytes_of(input)},
                            {testing::bytes_of(expected)});
  }
}

void check_types(const Shape& shape, int axis) {
  check<uint8_t>(shape, axis, DType::kUInt8);
  check<int8_t>(shape, axis, DType::kInt8);
  check<int32_t>(shape, axis, DType::kInt32);
}

TEST(Dequantize, PerTensor) {
  for (const int64_t n : {1, 63, 64, 65, 1000}) check_types({-1, n}, -1);
}

TEST(Dequantize, PerIndexOfAnyAxis) {
  check_types({-1, 5, 6, 33}, 3);
  check_types({-1, 5, 6, 33}, 1);
  check_types({-1, 5, 6, 33}, 2);
  check_types({7, 20}, 0);
  check_types({-1, 1, 50}, 1);
}

// Work is cut into several tasks on every instruction set.
TEST(Dequantize, ManyTasks) {
  check_types({-1, 300001}, -1);
  check_types({-1, 60, 5001}, 1);
}

// --- parameters as inputs
// Checks every type and layout against the formulas.

void check_inputs(const Shape& shape, int axis, uint32_t block, DType x_type, DType scale_type,
                  DType y_type, bool has_zero_point) {
  testing::Random random;
  SCOPED_TRACE(std::string(dtype_name(x_type)) + " * " + dtype_name(scale_type) + " to " +
               dtype_name(y_type) + " " + shape.to_string() + " axis " + std::to_string(axis) +
               " block " + std::to_string(block) + "; " + random.trace());
  const size_t n = static_cast<size_t>(shape.elements());
  const size_t entries = testing::edge_entries(shape, axis, block);
  const testing::Reals scale = testing::edge_scales(&random, scale_type, entries, -4);
  const testing::Reals zp = testing::edge_zero_points(&random, x_type, entries, has_zero_point);
  Bytes codes(tensor_bytes({x_type, shape}));
  random.fill(codes, 0, 255);
  if (x_type == DType::kFloat16 || x_type == DType::kBFloat16)  // numbers
    for (size_t i = 1; i < codes.size(); i += 2) codes[i] &= 0xbb;
  const testing::Reals x(x_type, n, codes);
  Bytes want;
  for (size_t i = 0; i < n; ++i) {
    const size_t e = testing::edge_entry(shape, axis, block, i);
    float v = static_cast<float>(x[i] - zp[e]);  // one rounding: exact in double
    if (x_type == DType::kFloat16)
      v = static_cast<float>(x[i]);
    else
      v *= static_cast<float>(scale[e]);
    if (std::isnan(v)) v = NAN;
    uint32_t bits = testing::float_bits(v);
    if (y_type == DType::kFloat16) bits = float_to_half(v);
    if (y_type == DType::kBFloat16) bits = float_to_bfloat(v);
    const auto* from = reinterpret_cast<const uint8_t*>(&bits);
    want.insert(want.end(), from, from + dtype_bytes(y_type));
  }
  testing::ModelBuilder m;
  const Shape parameters = testing::edge_shape(shape, axis, block);
  std::vector<uint32_t> inputs = {m.input(shape, x_type), m.input(parameters, scale_type)};
  std::vector<Bytes> data = {codes, scale.bytes()};
  if (has_zero_point) {
    inputs.push_back(m.input(parameters, x_type));
    data.push_back(zp.bytes());
  }
  const uint32_t y = m.output(shape, y_type);
  fb::DequantizeOptionsT o;
  o.axis = entries == 1 ? -1 : axis;
  o.block_size = entries == 1 ? 0 : block;
  m.op(o, inputs, {y});
  testing::expect_outputs(m, 1, data, {want});
}

TEST(Dequantize, EveryTypeInEveryLayout) {
  for (const DType x : {DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt4,
                        DType::kInt4, DType::kUInt2, DType::kInt2, DType::kInt32, DType::kUInt32,
                        DType::kFloat4E2M1, DType::kFloat16, DType::kBFloat16}) {
    for (const DType y : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      check_inputs({333}, -1, 0, x, DType::kFloat32, y, true);
      check_inputs({3, 5, 7}, 2, 0, x, DType::kFloat16, y, true);
      check_inputs({3, 5, 7}, 1, 0, x, DType::kBFloat16, y, false);
      check_inputs({3, 5, 7}, 1, 2, x, DType::kFloat8E8M0, y, true);
      check_inputs({3, 5, 7}, 2, 3, x, DType::kFloat32, y, true);
    }
  }
}

// Every code of float8 is dequantised right, NaN and infinities among them.
TEST(Dequantize, EveryCodeOfFloat8) {
  for (const SmallFormat format :
       {SmallFormat::kE4M3FN, SmallFormat::kE4M3FNUZ, SmallFormat::kE5M2, SmallFormat::kE5M2FNUZ}) {
    testing::ModelBuilder m;
    const DType x =
        static_cast<DType>(static_cast<int>(DType::kFloat8E4M3FN) + static_cast<int>(format));
    const uint32_t in = m.input({256}, x), scale = m.input({}, DType::kFloat32);
    m.op(fb::DequantizeOptionsT(), {in, scale}, {m.output({256}, DType::kFloat32)});
    Bytes codes;
    std::vector<float> want;
    for (int i = 0; i < 256; ++i) {
      codes.push_back(static_cast<uint8_t>(i));
      want.push_back(small_to_float(format, static_cast<uint8_t>(i)) * 0.25f);
    }
    testing::expect_outputs(m, 1, {codes, testing::bytes_of(std::vector<float>{0.25f})},
                            {testing::bytes_of(want)});
  }
}

TEST(Dequantize, ChunksAndTasksMeetAtWholeBytes) {
  for (const DType x : {DType::kInt4, DType::kUInt2, DType::kInt16}) {
    check_inputs({300007}, -1, 0, x, DType::kFloat32, DType::kFloat32, true);
    check_inputs({7, 41, 1003}, 1, 5, x, DType::kFloat32, DType::kFloat16, true);
  }
}

using Damage = std::function<void(testing::ModelBuilder&, fb::DequantizeOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 3, 4}), y = m.output({-1, 3, 4}, DType::kFloat32);
  fb::DequantizeOptionsT o;
  o.scale.assign(3, testing::float_bits(0.5f));
  o.zero_point.assign(3, 7);
  o.axis = 1;
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsDequantize());
  testing::expect_rejected(m, part);
}

TEST(Dequantize, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::DequantizeOptionsT;
  reject("has 3 scales and 3 zero points beside those of its inputs",
         [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 1 (scale) is uint8, expected float32, float16", [](M& m, O& o) {
    m.model().operators[0]->inputs.push_back(0);
    o.scale.clear(), o.zero_point.clear();
  });
  reject("input 0 (x) is int4, expected an integer of 8 or 16 bits or int32",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT4; });
  reject("input 0 (x) is uint32, expected an integer of 8 or 16 bits or int32",
         [](M& m, O&) { m.at(0).dtype = fb::DType::UINT32; });
  reject("input 0 (x) is int64, which no Dequantize reads",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT64; });
  reject("the output is uint8, expected float32, float16 or bfloat16",
         [](M& m, O&) { m.at(1).dtype = fb::DType::UINT8; });
  reject("the output is float16, expected float32",
         [](M& m, O&) { m.at(1).dtype = fb::DType::FLOAT16; });
  reject("zero point 0 is 7, expected 0 to 0", [](M& m, O&) { m.at(0).dtype = fb::DType::INT32; });
  reject("zero point 2 is -1, expected 0 to 255", [](M&, O& o) { o.zero_point[2] = -1; });
  reject("zero point 1 is 128, expected -128 to 127", [](M& m, O& o) {
    m.at(0).dtype = fb::DType::INT8;
    o.zero_point[1] = 128;
  });
  reject("axis is 3, expected -1 or 0 to 2", [](M&, O& o) { o.axis = 3; });
  reject("has 3 scales, expected 4", [](M&, O& o) { o.axis = 2; });
  reject("has 4 zero points, expected 3", [](M&, O& o) { o.zero_point.push_back(0); });
  reject("scale 0 is inf, expected a finite number", [](M&, O& o) { o.scale[0] = 0x7f800000; });
  reject("scale 2 is nan", [](M&, O& o) { o.scale[2] = 0x7fc00000; });
}

}  // namespace
}  // namespace qrt::dequantize_test

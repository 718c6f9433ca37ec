// Dequantize against the formula in float32: three types, any axis; models it has to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Bytes;

// T is the type of x; one pair of scale and zero point, or one for each index of `axis`.
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

// Large enough to be cut on every instruction set.
TEST(Dequantize, ManyTasks) {
  check_types({-1, 300001}, -1);
  check_types({-1, 60, 5001}, 1);
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
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 0 (x) is int16, expected uint8, int8 or int32",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("is uint8, expected float32", [](M& m, O&) { m.at(1).dtype = fb::DType::UINT8; });
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
}  // namespace qrt

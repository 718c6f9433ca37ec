// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize against the formulas, and against what ONNX Runtime 1.30 gives for data that is
// not finite; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::dynamic_quantize_test {
namespace {

using testing::Bytes;

testing::ModelBuilder model(const Shape& shape) {
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape, DType::kFloat32), y = m.output(shape);
  const uint32_t scale = m.output({}, DType::kFloat32), zero_point = m.output({});
  m.op(fb::DynamicQuantizeOptionsT(), {x}, {y, scale, zero_point});
  return m;
}

void check(const std::vector<float>& x, const Bytes& y, float scale, uint8_t zero_point) {
  testing::expect_outputs(model({static_cast<int64_t>(x.size())}), 1, {testing::bytes_of(x)},
                          {y, testing::bytes_of(std::vector<float>{scale}), {zero_point}});
}

TEST(DynamicQuantize, CoversTheDataAndZero) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t n : {1, 2, 15, 16, 17, 63, 64, 65, 1000, 300001}) {
    for (const float from : {-10.0f, 0.5f, -9.0f}) {
      const float to = from == -9.0f ? -1.0f : 3.0f;
      std::vector<float> x(n);
      float lo = 0.0f, hi = 0.0f;
      for (float& v : x) {
        v = random.real(from, to);
        lo = std::min(lo, v);
        hi = std::max(hi, v);
      }
      const float scale = (hi - lo) / 255.0f;
      const float zp = std::nearbyint(std::min(std::max(-lo / scale, 0.0f), 255.0f));
      Bytes y;
      for (const float v : x) {
        const float q = std::nearbyint(v / scale) + zp;
        y.push_back(static_cast<uint8_t>(std::min(std::max(q, 0.0f), 255.0f)));
      }
      check(x, y, scale, static_cast<uint8_t>(zp));
    }
  }
}

TEST(DynamicQuantize, TreatsWhatIsNotFiniteAsOnnxRuntime) {
  check({1, NAN, -3}, {255, 0, 0}, 4.0f / 255, 191);
  check({INFINITY, 1, -1}, {0, 0, 0}, INFINITY, 0);
  check({-INFINITY, 2, 3}, {0, 255, 255}, INFINITY, 255);
  check({0, 0, 0}, {0, 0, 0}, 1.0f, 0);
  check({NAN, NAN}, {0, 0}, 1.0f, 0);
  check({1e-45f, 0, 0}, {255, 0, 0}, 0.0f, 255);
  check({3e38f, -3e38f, 0}, {0, 0, 0}, INFINITY, 0);
}

TEST(DynamicQuantize, RejectsBadModels) {
  testing::ModelBuilder a = model({3}), b = model({3}), c = model({3});
  a.at(0).dtype = fb::DType::FLOAT16;
  testing::expect_rejected(a, "input 0 (x) is float16, expected float32");
  b.model().operators[0]->inputs.push_back(0);
  testing::expect_rejected(b, "has 2 inputs, expected 1");
  c.model().operators[0]->outputs.pop_back();
  c.model().outputs.pop_back();
  testing::expect_rejected(c, "it has 2 outputs, expected 3");
}

}  // namespace
}  // namespace qrt::dynamic_quantize_test

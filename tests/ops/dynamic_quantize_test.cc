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

// Rows of TFLite's forms, as its portable kernels quantise them.
void check_rows(const std::vector<float>& x, size_t rows, fb::DynamicForm form) {
  const size_t n = x.size() / rows;
  Bytes y, zeros;
  std::vector<float> scales;
  for (size_t r = 0; r < rows; ++r) {
    const float* const row = x.data() + r * n;
    const float least = std::min(0.0f, *std::min_element(row, row + n));
    const float most = std::max(0.0f, *std::max_element(row, row + n));
    const bool is_symmetric = form == fb::DynamicForm::TFLITE_SYMMETRIC;
    const float range = std::max(-least, most);
    int zero = 0;
    float scale = 1, factor = 0;
    if (range != 0 && is_symmetric) {
      scale = range / 127;
      factor = 127 / range;
    } else if (range != 0) {
      const double lo{least}, hi{most}, step = (hi - lo) / 255;
      const double from = 128 + std::abs(lo / step), to = 127 + std::abs(hi / step);
      zero = static_cast<int>(
          std::round(std::clamp(from < to ? -128 - lo / step : 127 - hi / step, -128.0, 127.0)));
      scale = static_cast<float>(step);
      factor = 1 / scale;
    }
    scales.push_back(scale);
    zeros.push_back(static_cast<uint8_t>(128 + zero));
    for (size_t i = 0; i < n; ++i) {
      const float product = row[i] * factor;
      const float v = std::round(static_cast<float>(zero) + product);
      y.push_back(static_cast<uint8_t>(
          128 + static_cast<int>(std::clamp(v, is_symmetric ? -127.0f : -128.0f, 127.0f))));
    }
  }
  testing::ModelBuilder m;
  const Shape shape{static_cast<int64_t>(rows), static_cast<int64_t>(n)}, of_rows{shape[0]};
  const uint32_t in = m.input(shape, DType::kFloat32), out = m.output(shape);
  const uint32_t scale = m.output(of_rows, DType::kFloat32), zero = m.output(of_rows);
  fb::DynamicQuantizeOptionsT o;
  o.form = form;
  m.op(std::move(o), {in}, {out, scale, zero});
  testing::expect_outputs(m, 1, {testing::bytes_of(x)}, {y, testing::bytes_of(scales), zeros});
}

TEST(DynamicQuantize, RowsHaveScalesOfTheirOwn) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const auto form : {fb::DynamicForm::TFLITE_SYMMETRIC, fb::DynamicForm::TFLITE_ASYMMETRIC})
    for (const size_t rows : {1, 2, 3, 40})
      for (const size_t n : {1, 7, 64, 1000, 70001}) {
        if (rows * n > 300000) continue;
        std::vector<float> x(rows * n);
        for (size_t i = 0; i < x.size(); ++i) {
          const size_t kind = i / n % 4;
          const float v = random.real(-3, 3);
          x[i] = kind == 0 ? v : kind == 1 ? 0 : kind == 2 ? std::fabs(v) : 100 * v - 99;
        }
        check_rows(x, rows, form);
      }
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
  testing::ModelBuilder d = model({3}), e = model({3});
  d.model().operators[0]->options.AsDynamicQuantize()->form = static_cast<fb::DynamicForm>(3);
  testing::expect_rejected(d, "form is 3");
  e.model().operators[0]->options.AsDynamicQuantize()->form = fb::DynamicForm::TFLITE_SYMMETRIC;
  testing::expect_rejected(e, "output tensor 2 ('t2') has the shape [], expected [3]");
}

}  // namespace
}  // namespace qrt::dynamic_quantize_test

// SPDX-License-Identifier: Apache-2.0
// Float WEIGHTED_SUM against its definition, element by element: every axis, lines of all lengths behind it, outputs that read nothing,
// infinities that an output does not read; models that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/ops/check.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::float_weighted_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

struct Case {
  Shape x;
  int axis;
  int64_t out, taps;
  std::vector<int32_t> indices;
  std::vector<float> weights;

  Shape y() const {
    Shape shape = x;
    shape[axis] = out;
    return shape;
  }
};

ModelBuilder model(const Case& c) {
  fb::FloatOptionsT o;
  o.function = fb::FloatFunction::WEIGHTED_SUM;
  o.axis = static_cast<uint32_t>(c.axis);
  ModelBuilder m;
  const uint32_t x = m.input(c.x, DType::kFloat32);
  const uint32_t indices = m.constant({c.out, c.taps}, DType::kInt32, c.indices);
  const uint32_t weights = m.constant({c.out, c.taps}, DType::kFloat32, c.weights);
  m.op(std::move(o), {x, indices, weights}, {m.output(c.y(), DType::kFloat32)});
  return m;
}

Case random_case(testing::Random* random, const Shape& x, int axis, int64_t out, int64_t taps) {
  Case c = {x, axis, out, taps, {}, {}};
  for (int64_t i = 0; i < out * taps; ++i) {
    c.indices.push_back(random->integer(-1, static_cast<int32_t>(x[axis]) - 1));
    c.weights.push_back(random->integer(0, 9) == 0 ? 0.0f : random->real(-2, 2));
  }
  // One output reads nothing.
  for (int64_t t = 0; t < taps; ++t) c.indices[static_cast<size_t>(out / 2 * taps + t)] = -1;
  return c;
}

std::vector<float> defined(const Case& c, const std::vector<float>& x) {
  int64_t outer = 1, line = 1;
  for (int d = 0; d < c.axis; ++d) outer *= c.x[d];
  for (int d = c.axis + 1; d < c.x.rank(); ++d) line *= c.x[d];
  std::vector<float> y;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < c.out; ++i)
      for (int64_t j = 0; j < line; ++j) {
        float sum = 0;
        bool is_first = true;
        for (int64_t t = 0; t < c.taps; ++t) {
          const auto at = static_cast<size_t>(i * c.taps + t);
          if (c.indices[at] < 0) continue;
          const float product =
              x[static_cast<size_t>((o * c.x[c.axis] + c.indices[at]) * line + j)] * c.weights[at];
          sum = is_first ? product : sum + product;
          is_first = false;
        }
        y.push_back(std::isnan(sum) ? float_of(0x7fc00000) : sum);
      }
  return y;
}

TEST(FloatWeighted, EveryAxisAndLength) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Shape shapes[] = {{7},        {3, 5},       {2, 3, 40},   {2, 9, 15},
                          {2, 5, 16}, {1, 4, 6, 3}, {2, 3, 4, 37}};
  for (const Shape& shape : shapes)
    for (int axis = 0; axis < shape.rank(); ++axis)
      for (const int64_t taps : {1, 2, 5}) {
        const Case c = random_case(&random, shape, axis, random.integer(1, 30), taps);
        std::vector<float> x(static_cast<size_t>(shape.elements()));
        for (float& v : x) v = random.real(-4, 4);
        const float edges[] = {std::numeric_limits<float>::infinity(), std::nanf(""), -0.0f};
        for (const float v : edges)
          x[static_cast<size_t>(random.integer(0, static_cast<int>(x.size()) - 1))] = v;
        testing::expect_outputs(model(c), 1, {bytes_of(x)}, {bytes_of(defined(c, x))});
      }
}

TEST(FloatWeighted, RefusesModels) {
  const Case good = {{2, 3}, 1, 2, 2, {0, 1, 2, -1}, {1, 1, 1, 1}};
  Case bad = good;
  bad.indices[2] = 3;
  testing::expect_rejected(model(bad), "index 2 is 3, expected -1 to 2");
  bad.indices[2] = -2;
  testing::expect_rejected(model(bad), "index 2 is -2, expected -1 to 2");

  const auto with = [&](int axis, const Shape& indices, const Shape& weights) {
    fb::FloatOptionsT o;
    o.function = fb::FloatFunction::WEIGHTED_SUM;
    o.axis = static_cast<uint32_t>(axis);
    ModelBuilder m;
    const uint32_t x = m.input(good.x, DType::kFloat32);
    const uint32_t i = m.constant(indices, DType::kInt32,
                                  std::vector<int32_t>(static_cast<size_t>(indices.elements())));
    const uint32_t w = m.constant(weights, DType::kFloat32,
                                  std::vector<float>(static_cast<size_t>(weights.elements())));
    m.op(std::move(o), {x, i, w}, {m.output({2, 2}, DType::kFloat32)});
    return m;
  };
  testing::expect_rejected(with(2, {2, 2}, {2, 2}), "axis is 2, expected 0 to 1");
  testing::expect_rejected(with(1, {4}, {4}), "expected 2 [out, taps]");
  testing::expect_rejected(with(1, {2, 2}, {2, 3}), "weights");
}

}  // namespace
}  // namespace qrt::float_weighted_test

// SPDX-License-Identifier: Apache-2.0
// Fusion of attention: scores a block of rows at a time, and heads that are read and written where they stand, give
// the bytes of the steps one after the other.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/integer_build.h"
#include "runtime/plan.h"
#include "tests/support/op_tester.h"
#include "tests/support/planned.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::fuse_attention_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;
using testing::planned;

// Compares the first outputs of two models on every instruction set, with 1 to 3 threads.
void expect_equal_runs(const ModelBuilder& apart, const ModelBuilder& fused,
                       const std::vector<Bytes>& inputs) {
  for (const char* isa : testing::machine_isas()) {
    for (const size_t threads : {1, 2, 3}) {
      SCOPED_TRACE(std::string(isa) + ", threads " + std::to_string(threads));
      testing::RunOptions options;
      options.isa = isa;
      options.threads = threads;
      const testing::RunResult expected = testing::run_model(apart.build(), inputs, options);
      const testing::RunResult result = testing::run_model(fused.build(), inputs, options);
      ASSERT_EQ(result.status, QRT_OK) << result.message;
      ASSERT_EQ(result.outputs[0], expected.outputs[0]);
    }
  }
}

// Attention of heads: scores of rows queries and `keys` keys of k elements, divided, masked and limited on the way, or
// reshaped, and values of `columns` elements.
struct Attention {
  int64_t batch, heads, rows, keys, k, columns;
  Shape mask;             // broadcast to the scores
  bool reshapes, limits;  // limits: minimum(operand, scores)
  bool turned = false;    // heads stand side by side in queries, values and the result
};

ModelBuilder attention(const Attention& a, bool apart) {
  ModelBuilder m;
  const auto real = DType::kFloat32;
  const Shape scores = {a.batch, a.heads, a.rows, a.keys};
  std::vector<uint32_t> between;
  const auto step = [&](fb::FloatFunction function, std::vector<uint32_t> inputs, uint32_t y) {
    fb::FloatOptionsT o;
    o.function = function;
    m.op(o, std::move(inputs), {y});
    return y;
  };
  const auto score = [&](fb::FloatFunction function, std::vector<uint32_t> inputs) {
    between.push_back(m.tensor(scores, real));
    return step(function, std::move(inputs), between.back());
  };
  const auto turn = [&](uint32_t x, uint32_t y) {
    fb::TransposeOptionsT o;
    o.perm = {0, 2, 1, 3};
    m.op(o, {x}, {y});
    return y;
  };
  const auto heads = [&](int64_t rows, int64_t n) {
    if (!a.turned) return m.input({a.batch, a.heads, rows, n}, real);
    between.push_back(m.tensor({a.batch, a.heads, rows, n}, real));
    return turn(m.input({a.batch, rows, a.heads, n}, real), between.back());
  };
  const uint32_t q = heads(a.rows, a.k);
  const uint32_t k = m.input({a.batch, a.heads, a.k, a.keys}, real);
  const uint32_t v = heads(a.keys, a.columns);
  uint32_t y = score(fb::FloatFunction::FUSED_MATMUL, {q, k});
  const float divisor = 2.7f;
  y = score(fb::FloatFunction::DIV, {y, m.constant({1}, real, std::vector<float>{divisor})});
  if (a.limits) y = score(fb::FloatFunction::MINIMUM, {m.input(a.mask, real), y});
  y = score(fb::FloatFunction::ADD, {y, m.input(a.mask, real)});
  y = score(fb::FloatFunction::LANE_SOFTMAX, {y});
  if (a.reshapes) {
    between.push_back(m.tensor({a.batch, a.heads, a.rows, a.keys}, real));
    fb::ReshapeOptionsT o;
    for (const int64_t d : {a.batch, a.heads, a.rows, a.keys})
      o.shape.push_back(static_cast<int32_t>(d));
    m.op(o, {y}, {between.back()});
    y = between.back();
  }
  const Shape result = {a.batch, a.heads, a.rows, a.columns};
  if (a.turned) {
    between.push_back(m.tensor(result, real));
    step(fb::FloatFunction::FUSED_MATMUL, {y, v}, between.back());
    turn(between.back(), m.output({a.batch, a.rows, a.heads, a.columns}, real));
  } else {
    step(fb::FloatFunction::FUSED_MATMUL, {y, v}, m.output(result, real));
  }
  if (apart)
    for (const uint32_t t : between) m.mark_output(t);
  return m;
}

TEST(FuseAttention, AttentionSomeRowsAtATime) {
  if (is_integer_build()) GTEST_SKIP() << "has no floats between the edges";
  PlanOptions all;
  all.isas = detected_isas();
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const Attention& a : {Attention{1, 3, 16, 16, 32, 32, {1, 1, 1, 16}, false, false},
                             Attention{2, 2, 37, 512, 8, 24, {37, 512}, false, true},
                             Attention{3, 1, 29, 130, 5, 7, {3, 1, 29, 1}, true, false},
                             Attention{2, 4, 5, 19, 16, 33, {2, 4, 5, 19}, true, true},
                             Attention{1, 2, 1, 9000, 4, 4, {1}, false, false},
                             Attention{1, 3, 16, 16, 32, 32, {1}, false, false, true},
                             Attention{2, 2, 37, 512, 8, 24, {37, 512}, false, true, true},
                             Attention{3, 4, 13, 21, 16, 33, {3, 1, 1, 21}, true, false, true}}) {
    const ModelBuilder fused = attention(a, false), apart = attention(a, true);
    const auto plan = planned(fused, all), plan_apart = planned(apart, all);
    const PlannedStep* const product = &plan->steps[plan->steps.size() - (a.turned ? 2 : 1)];
    for (const PlannedStep& step : plan->steps)
      EXPECT_EQ(step.leader, &step == product ? nullptr : product);
    for (const PlannedStep& step : plan_apart->steps) EXPECT_EQ(step.leader, nullptr);
    std::vector<Bytes> inputs;
    std::vector<Shape> shapes = {{a.batch, a.heads, a.rows, a.k},
                                 {a.batch, a.heads, a.k, a.keys},
                                 {a.batch, a.heads, a.keys, a.columns},
                                 a.mask};
    if (a.limits) shapes.push_back(a.mask);
    for (const Shape& shape : shapes) {
      std::vector<float> values(static_cast<size_t>(shape.elements()));
      for (float& f : values) f = random.real(-3, 3);
      inputs.push_back(testing::bytes_of(values));
    }
    expect_equal_runs(apart, fused, inputs);
  }
}

struct Heads {
  int64_t batch, heads, rows, columns, k;
  bool transposed;
  uint8_t b_zero_point;  // 128: rows have no tails
  bool turned = false;   // the right side's rows are columns of what stands there
};

// Products of heads, [rows, k] times [k, columns], that stand side by side in both operands; with `apart`
// the transposed tensors are outputs.
ModelBuilder product_of_heads(const Heads& h, bool apart) {
  ModelBuilder m;
  const int64_t b_rows = h.transposed ? h.columns : h.k, b_columns = h.transposed ? h.k : h.columns;
  std::vector<uint32_t> sides;
  const auto side = [&](int64_t rows, int64_t columns, bool turned) {
    fb::TransposeOptionsT o;
    o.perm = turned ? std::vector<uint8_t>{0, 2, 3, 1} : std::vector<uint8_t>{0, 2, 1, 3};
    sides.push_back(m.tensor({h.batch, h.heads, rows, columns}, DType::kUInt8));
    if (turned) std::swap(rows, columns);
    m.op(o, {m.input({h.batch, rows, h.heads, columns})}, {sides.back()});
  };
  side(h.rows, h.k, false);
  side(b_rows, b_columns, h.turned);
  fb::BatchMatMulOptionsT o;
  o.a_zero_point = 77;
  o.b_zero_point = h.b_zero_point;
  o.transpose_b = h.transposed;
  o.requant = testing::requant_f32({0.0007f}, 131);
  m.op(std::move(o), sides, {m.output({h.batch, h.heads, h.rows, h.columns})});
  for (const uint32_t side : sides)
    if (apart) m.mark_output(side);
  return m;
}

TEST(FuseAttention, HeadsOfAProductWhereTheyStand) {
  for (const Heads& h :
       {Heads{1, 3, 196, 196, 64, true, 128}, Heads{2, 2, 17, 33, 5, true, 100},
        Heads{2, 3, 7, 64, 31, false, 128}, Heads{3, 4, 5, 19, 40, false, 3},
        Heads{1, 8, 2, 511, 64, false, 128, true}, Heads{2, 3, 49, 49, 32, false, 90, true},
        Heads{2, 2, 6, 21, 130, true, 128, true}}) {
    SCOPED_TRACE(h.k);
    const ModelBuilder fused = product_of_heads(h, false), apart = product_of_heads(h, true);
    const auto plan = planned(fused), kept = planned(apart);
    for (const size_t i : {0, 1}) {
      EXPECT_EQ(plan->steps[i].leader, &plan->steps[2]);
      EXPECT_EQ(kept->steps[i].leader, nullptr);
    }
    testing::Random random;
    std::vector<Bytes> inputs;
    for (const int64_t elements : {h.rows * h.k, h.columns * h.k}) {
      inputs.emplace_back(static_cast<size_t>(h.batch * h.heads * elements));
      random.fill(inputs.back(), 0, 255);
    }
    expect_equal_runs(apart, fused, inputs);
  }
}

TEST(FuseAttention, NoHeadsOfAProductWithItselfOrOfColumnsOfTheLeftSide) {
  for (const std::vector<uint8_t>& perm : {std::vector<uint8_t>{0, 2, 1, 3}, {0, 2, 3, 1}}) {
    ModelBuilder m;
    const uint32_t x = m.tensor({1, 3, 8, 8}, DType::kUInt8);
    const uint32_t other = perm[3] == 3 ? x : m.input({1, 3, 8, 8});
    fb::TransposeOptionsT transpose;
    transpose.perm = perm;
    m.op(transpose, {m.input({1, 8, 3, 8})}, {x});
    fb::BatchMatMulOptionsT o;
    o.requant = testing::requant_f32({0.0007f}, 131);
    m.op(std::move(o), {x, other}, {m.output({1, 3, 8, 8})});
    EXPECT_EQ(planned(m)->steps[0].leader, nullptr);
  }
}

}  // namespace
}  // namespace qrt::fuse_attention_test

// SPDX-License-Identifier: Apache-2.0
// MatMulNBits against its definition: bits, blocks, zero points, bias, both arithmetics, batches, several tasks; models
// it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/nbits.h"
#include "tests/support/op_tester.h"

namespace qrt::mat_mul_nbits_test {
namespace {

using testing::ModelBuilder;
using testing::Random;
using testing::RandomNBits;

struct Case {
  uint8_t bits;
  uint16_t block;
  size_t k, n;
  std::vector<int64_t> rows;  // dimensions in front of k
  bool has_zero_points, has_bias, in_float;
};

Shape shape_of(const Case& c, size_t last) {
  Shape shape;
  for (const int64_t d : c.rows) shape.push_back(d);
  shape.push_back(static_cast<int64_t>(last));
  return shape;
}

fb::OperatorT& build(const Case& c, const RandomNBits& w, const std::vector<float>& bias,
                     ModelBuilder* m) {
  fb::MatMulNBitsOptionsT o;
  o.bits = c.bits;
  o.block = c.block;
  o.n = static_cast<uint32_t>(c.n);
  o.has_zero_points = c.has_zero_points;
  o.has_bias = c.has_bias;
  o.in_float = c.in_float;
  std::vector<uint32_t> inputs = {m->input(shape_of(c, c.k), DType::kFloat32)}, more;
  for (const uint32_t t : w.add_to(m, &more)) inputs.push_back(t);
  if (c.has_bias)
    more.push_back(m->constant<float>({static_cast<int64_t>(c.n)}, DType::kFloat32, bias, "bias"));
  inputs.insert(inputs.end(), more.begin(), more.end());
  return m->op(o, inputs, {m->output(shape_of(c, c.n), DType::kFloat32)});
}

void check(const Case& c) {
  Random random;
  SCOPED_TRACE(random.trace());
  const RandomNBits w(c.bits, c.block, c.k, c.n, c.has_zero_points, &random);
  std::vector<float> bias(c.n);
  for (float& v : bias) v = random.real(-2, 2);
  ModelBuilder m;
  build(c, w, bias, &m);
  size_t rows = 1;
  for (const int64_t d : c.rows) rows *= static_cast<size_t>(d);
  std::vector<float> x(rows * c.k), y;
  for (float& v : x) v = random.real(-3, 3);
  for (size_t r = 0; r < rows; ++r)
    for (size_t o = 0; o < c.n; ++o)
      y.push_back(w.product(x.data() + r * c.k, o, c.in_float, c.has_bias ? &bias[o] : nullptr));
  testing::expect_outputs(m, 1, {testing::bytes_of(x)}, {testing::bytes_of(y)});
}

TEST(MatMulNBits, EveryForm) {
  for (const uint8_t bits : {2, 4, 8})
    for (const bool in_float : {false, true}) {
      check({bits, 16, 50, 19, {3}, true, true, in_float});
      check({bits, 64, 64, 16, {2, 5}, false, true, in_float});
      check({bits, 256, 300, 33, {}, true, false, in_float});
    }
}

TEST(MatMulNBits, ManyTasks) {
  check({4, 32, 256, 301, {1}, false, false, false});
  check({4, 32, 256, 160, {101}, true, false, false});
  check({4, 128, 384, 70, {7, 15}, false, true, true});
}

using O = fb::MatMulNBitsOptionsT;
void reject(const std::string& part,
            const std::function<void(ModelBuilder&, fb::OperatorT&, O&)>& change) {
  Random random;
  const Case c = {4, 32, 70, 20, {3}, true, true, false};
  const RandomNBits w(c.bits, c.block, c.k, c.n, true, &random);
  ModelBuilder m;
  fb::OperatorT& op = build(c, w, std::vector<float>(c.n), &m);
  change(m, op, *op.options.AsMatMulNBits());
  SCOPED_TRACE(part);
  testing::expect_rejected(m, part);
}

TEST(MatMulNBits, RejectsBadModels) {
  using M = ModelBuilder;
  using Op = fb::OperatorT;
  reject("has 4 inputs, expected 5", [](M&, Op& op, O&) { op.inputs.pop_back(); });
  reject("has 5 inputs, expected 4", [](M&, Op&, O& o) { o.has_bias = false; });
  reject("bits is 3, expected 2, 4 or 8", [](M&, Op&, O& o) { o.bits = 3; });
  for (const int block : {0, 1, 8, 24, 272, 65535})
    reject("block is " + std::to_string(block) + ", expected a multiple of 16 from 16 to 256",
           [&](M&, Op&, O& o) { o.block = static_cast<uint16_t>(block); });
  reject("n", [](M&, Op&, O& o) { o.n = 0; });
  reject("n", [](M&, Op&, O& o) { o.n = UINT32_MAX; });
  reject("(w)", [](M&, Op&, O& o) { o.n = 33; });
  reject("(w)", [](M&, Op&, O& o) { o.bits = 8; });
  reject("(w)", [](M&, Op&, O& o) { o.block = 16; });
  reject("input 0 (x) is int32, expected float32",
         [](M& m, Op& op, O&) { m.at(op.inputs[0]).dtype = fb::DType::INT32; });
  reject("(scales)", [](M& m, Op& op, O&) { m.at(op.inputs[2]).shape = {3, 2, 16}; });
  reject("(zero_points)", [](M& m, Op& op, O&) { m.at(op.inputs[3]).shape = {2, 48}; });
  reject("(bias)", [](M& m, Op& op, O&) { m.at(op.inputs[4]).shape = {2, 10}; });
}

}  // namespace
}  // namespace qrt::mat_mul_nbits_test

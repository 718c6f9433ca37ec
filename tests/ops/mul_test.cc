// SPDX-License-Identifier: Apache-2.0
// Mul against the scalar definition of requant.h: zero points, requantisations, every way of
// broadcasting; models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/broadcast.h"
#include "tests/support/op_tester.h"

namespace qrt::mul_test {
namespace {

using testing::Bytes;

void check(std::unique_ptr<fb::RequantT> requant, int a_zero_point, int b_zero_point,
           const Shape& a, const Shape& b) {
  fb::MulOptionsT o;
  o.a_zero_point = static_cast<uint8_t>(a_zero_point);
  o.b_zero_point = static_cast<uint8_t>(b_zero_point);
  o.requant = std::move(requant);
  const testing::RequantOracle oracle(*o.requant, 1);
  testing::check_broadcast(o, a, b, [&](uint8_t x, uint8_t y) {
    Bytes byte;
    oracle.append((x - a_zero_point) * (y - b_zero_point), 0, &byte);
    return byte[0];
  });
}

TEST(Mul, ZeroPoints) {
  for (const int za : {0, 128, 255})
    for (const int zb : {0, 77})
      check(testing::requant_f32({0.0043f}, 60), za, zb, {-1, 300}, {-1, 300});
}

TEST(Mul, Requantisations) {
  auto limited = testing::requant_f32({1.0f / 256}, 100);
  limited->lo = 100;
  limited->hi = 200;
  check(std::move(limited), 128, 128, {-1, 300}, {-1, 300});
  for (const bool fused : {false, true}) {
    auto before = testing::requant_f32({0.00391f}, -5);
    before->zero_point_before = true;
    before->fused = fused;
    before->offset = 128;
    check(std::move(before), 128, 128, {-1, 300}, {-1, 300});
  }
  check(testing::requant_int(1 << 30, 38, 128), 128, 128, {-1, 300}, {-1, 300});
}

TEST(Mul, Broadcasts) {
  for (const auto& [a, b] : testing::broadcast_pairs())
    check(testing::requant_f32({0.0041f}, 128), 128, 120, a, b);
}

// Work is cut into several tasks on every instruction set. The first case is that of squeeze-and-excitation.
TEST(Mul, ManyTasks) {
  check(testing::requant_f32({0.0041f}), 0, 0, {-1, 60, 60, 64}, {-1, 1, 1, 64});
  check(testing::requant_f32({0.0041f}), 0, 0, {-1, 600, 601}, {-1, 600, 601});
}

using Damage = std::function<void(testing::ModelBuilder&, fb::MulOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t a = m.input({-1, 2, 4}), b = m.input({2, 1}), y = m.output({-1, 2, 4});
  fb::MulOptionsT o;
  o.requant = testing::requant_f32({0.01f});
  fb::OperatorT& op = m.op(std::move(o), {a, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsMul());
  testing::expect_rejected(m, part);
}

TEST(Mul, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::MulOptionsT;
  reject("has 3 inputs, expected 2", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 1 (b) is int16, expected uint8",
         [](M& m, O&) { m.at(1).dtype = fb::DType::INT16; });
  reject("do not broadcast: dimensions 2 and 3", [](M& m, O&) { m.at(1).shape[0] = 3; });
  reject("has the shape [1, 1, 4], expected [1, 2, 4]", [](M& m, O&) { m.at(2).shape[1] = 1; });
  reject("requant is missing", [](M&, O& o) { o.requant.reset(); });
  reject("requant.kind is ACC", [](M&, O& o) { o.requant = testing::requant_acc(); });
  reject("requant.scale has 4 values", [](M&, O& o) { o.requant->scale.resize(4); });
  reject("requant.zero_point is 256", [](M&, O& o) { o.requant->zero_point = 256; });
}

}  // namespace
}  // namespace qrt::mul_test

// SPDX-License-Identifier: Apache-2.0
// Add against the scalar definition of requant.h: kinds, offsets, every way of broadcasting;
// models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/broadcast.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::add_test {
namespace {

using testing::Bytes;

fb::AddOptionsT options(fb::AddKind kind, bool a_is_inner, bool is_signed) {
  fb::AddOptionsT o;
  o.kind = kind;
  o.a_is_inner = a_is_inner;
  o.a_scale = testing::float_bits(0.37f);
  o.b_scale = testing::float_bits(0.81f);
  o.constant = testing::float_bits(-11.25f);
  o.a_offset = o.b_offset = is_signed ? -128 : 0;
  o.output_offset = is_signed ? 128 : 0;
  return o;
}

void check(const fb::AddOptionsT& o, const Shape& a, const Shape& b) {
  const auto real = [](uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
  };
  const AddParams p = {real(o.a_scale),
                       real(o.b_scale),
                       real(o.constant),
                       o.kind == fb::AddKind::F32_MUL_ADD,
                       o.a_is_inner,
                       o.a_offset,
                       o.b_offset,
                       o.output_offset,
                       o.lo,
                       o.hi};
  testing::check_broadcast(
      o, a, b, [&](uint8_t x, uint8_t y) { return static_cast<uint8_t>(add_f32(p, x, y)); });
}

TEST(Add, KindsAndOffsets) {
  for (const fb::AddKind kind : {fb::AddKind::F32_FMA, fb::AddKind::F32_MUL_ADD})
    for (const bool a_is_inner : {false, true})
      for (const bool is_signed : {false, true})
        check(options(kind, a_is_inner, is_signed), {-1, 3, 37}, {-1, 3, 37});
}

TEST(Add, Limits) {
  fb::AddOptionsT o = options(fb::AddKind::F32_FMA, false, false);
  o.lo = 40;
  o.hi = 90;
  check(o, {-1, 300}, {-1, 300});
}

TEST(Add, Broadcasts) {
  const fb::AddOptionsT o = options(fb::AddKind::F32_FMA, true, false);
  for (const auto& [a, b] : testing::broadcast_pairs()) check(o, a, b);
}

// Work is cut into several tasks on every instruction set: one long run, and many runs.
TEST(Add, ManyTasks) {
  const fb::AddOptionsT o = options(fb::AddKind::F32_FMA, true, false);
  check(o, {-1, 600, 601}, {-1, 600, 601});
  check(o, {-1, 60, 60, 64}, {-1, 1, 1, 64});
  check(o, {-1, 2, 120001}, {2, 1});
}

std::unique_ptr<fb::RequantStageT> stage(int32_t multiplier, uint8_t shift, fb::Rounding rounding) {
  auto s = std::make_unique<fb::RequantStageT>();
  s->multiplier = {multiplier};
  s->shift = {shift};
  s->rounding = rounding;
  return s;
}

// Returns TFLite's options: double rounding of both operands and of the sum.
fb::AddOptionsT int_options(bool subtract) {
  fb::AddOptionsT o;
  o.kind = fb::AddKind::INT;
  o.left_shift = 20;
  o.a_zero_point = 17;
  o.b_zero_point = 200;
  o.subtract = subtract;
  o.a_stages.push_back(stage(1 << 30, 31, fb::Rounding::HALF_UP));
  o.a_stages.push_back(stage(1, 1, fb::Rounding::HALF_AWAY));
  o.b_stages.push_back(stage(1717986918, 31, fb::Rounding::HALF_UP));
  o.requant = std::make_unique<fb::RequantT>();
  o.requant->kind = fb::RequantKind::INT;
  o.requant->zero_point = 120;
  o.requant->lo = 3;
  o.requant->hi = 250;
  o.requant->stages.push_back(stage(1518500250, 31, fb::Rounding::HALF_UP));
  o.requant->stages.push_back(stage(1, 18, fb::Rounding::HALF_AWAY));
  return o;
}

// Returns the schema's formula, computed in 64 bits.
uint8_t int_sum(const fb::AddOptionsT& o, uint8_t a, uint8_t b) {
  const auto apply_stages = [](const auto& stages, int64_t v) {
    for (const auto& s : stages)
      v = clamp_int(
          rounding_shift(v * s->multiplier[0], s->shift[0], static_cast<Round>(s->rounding)),
          s->clip_lo, s->clip_hi);
    return v;
  };
  const int64_t x = apply_stages(o.a_stages, (a - o.a_zero_point) * (int64_t{1} << o.left_shift));
  const int64_t y = apply_stages(o.b_stages, (b - o.b_zero_point) * (int64_t{1} << o.left_shift));
  const int64_t v = apply_stages(o.requant->stages, o.subtract ? x - y : x + y);
  return static_cast<uint8_t>(clamp_int(v + o.requant->zero_point, o.requant->lo, o.requant->hi));
}

void check_int(const fb::AddOptionsT& o, const Shape& a, const Shape& b) {
  testing::check_broadcast(o, a, b, [&](uint8_t x, uint8_t y) { return int_sum(o, x, y); });
}

TEST(Add, Integers) {
  for (const bool subtract : {false, true}) check_int(int_options(subtract), {-1, 300}, {-1, 300});
  fb::AddOptionsT plain = int_options(true);
  plain.left_shift = 0;
  plain.a_stages.clear();
  plain.b_stages.clear();
  plain.requant->stages.clear();
  plain.requant->stages.push_back(stage(1, 1, fb::Rounding::HALF_EVEN));
  check_int(plain, {-1, 300}, {-1, 300});
}

TEST(Add, BroadcastsIntegers) {
  const fb::AddOptionsT o = int_options(true);
  for (const auto& [a, b] : testing::broadcast_pairs()) check_int(o, a, b);
  check_int(o, {-1, 600, 601}, {-1, 600, 601});
  check_int(o, {-1, 60, 60, 64}, {-1, 1, 1, 64});
}

void reject_int(const std::string& part, const std::function<void(fb::AddOptionsT&)>& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t a = m.input({-1, 2, 4}), b = m.input({2, 1}), y = m.output({-1, 2, 4});
  fb::OperatorT& op = m.op(int_options(false), {a, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(*op.options.AsAdd());
  testing::expect_rejected(m, part);
}

TEST(Add, RejectsBadIntegers) {
  using O = fb::AddOptionsT;
  reject_int("left_shift is 24, expected 0 to 23", [](O& o) { o.left_shift = 24; });
  reject_int("a_stages has 3 stages, expected at most 2",
             [](O& o) { o.a_stages.push_back(stage(1, 1, fb::Rounding::FLOOR)); });
  reject_int("a_stages.multiplier has 2 values, expected 1",
             [](O& o) { o.a_stages[0]->multiplier.push_back(1); });
  reject_int("b_stages.multiplier has 0 values", [](O& o) { o.b_stages[0]->multiplier.clear(); });
  reject_int("b_stages.shift has 0 values", [](O& o) { o.b_stages[0]->shift.clear(); });
  reject_int("b_stages.multiplier[0] is -1", [](O& o) { o.b_stages[0]->multiplier[0] = -1; });
  reject_int("a_stages.shift[0] is 63", [](O& o) { o.a_stages[1]->shift[0] = 63; });
  reject_int("a_stages.rounding is 4",
             [](O& o) { o.a_stages[1]->rounding = static_cast<fb::Rounding>(4); });
  reject_int("a_stages clip limits are 1 to 0",
             [](O& o) { o.a_stages[1]->clip_lo = 1, o.a_stages[1]->clip_hi = 0; });
  reject_int("requant is missing", [](O& o) { o.requant.reset(); });
  reject_int("requant.kind is ACC", [](O& o) { o.requant->kind = fb::RequantKind::ACC; });
  reject_int("requant.kind is 1, an add of kind INT takes INT (2)", [](O& o) {
    o.requant->kind = fb::RequantKind::F32;
    o.requant->scale = {testing::float_bits(1.0f)};
  });
  reject_int("requant.stages has 0 stages", [](O& o) { o.requant->stages.clear(); });
  const std::string bound = ", expected a sum below 2^31";
  reject_int("the terms reach 2139095040 and 213909505" + bound, [](O& o) {
    o.left_shift = 23;
    o.a_stages.clear();
    o.b_stages[0]->multiplier[0] = 214748365;
  });
  reject_int("the terms reach 2147483648 and 213909504" + bound, [](O& o) {
    o.a_stages.pop_back();
    o.a_stages[0]->shift[0] = 0;
  });
}

using Damage = std::function<void(testing::ModelBuilder&, fb::AddOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t a = m.input({-1, 2, 4}), b = m.input({2, 1}), y = m.output({-1, 2, 4});
  fb::OperatorT& op = m.op(options(fb::AddKind::F32_FMA, false, false), {a, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsAdd());
  testing::expect_rejected(m, part);
}

TEST(Add, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::AddOptionsT;
  reject("has 1 inputs, expected 2", [](M& m, O&) { m.model().operators[0]->inputs.pop_back(); });
  reject("input 0 (a) is int8, expected uint8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("input 1 (b) is int32, expected uint8",
         [](M& m, O&) { m.at(1).dtype = fb::DType::INT32; });
  reject("shapes [1, 2, 4] and [3, 1] do not broadcast", [](M& m, O&) { m.at(1).shape[0] = 3; });
  reject("has the shape [1, 2, 5], expected [1, 2, 4]", [](M& m, O&) { m.at(2).shape[2] = 5; });
  reject("kind is 3, expected 0 to 2", [](M&, O& o) { o.kind = static_cast<fb::AddKind>(3); });
  const std::string bound = "expected 255 * (|a_scale| + |b_scale|) + |constant| < 2^31";
  reject(bound, [](M&, O& o) { o.a_scale = testing::float_bits(8421505.0f); });
  reject(bound, [](M&, O& o) { o.b_scale = testing::float_bits(-8421505.0f); });
  reject(bound, [](M&, O& o) { o.constant = testing::float_bits(2147483648.0f); });
  reject("constant nan", [](M&, O& o) { o.constant = 0x7fc00000; });
  reject("a_scale inf", [](M&, O& o) { o.a_scale = 0x7f800000; });
  reject("a_offset is 128, expected 0 or -128", [](M&, O& o) { o.a_offset = 128; });
  reject("b_offset is -1, expected 0 or -128", [](M&, O& o) { o.b_offset = -1; });
  reject("output_offset is -128, expected 0 or 128", [](M&, O& o) { o.output_offset = -128; });
  reject("limits are 9 to 8, expected 0 <= lo <= hi <= 255", [](M&, O& o) { o.lo = 9, o.hi = 8; });
  reject("limits are -1 to 255", [](M&, O& o) { o.lo = -1; });
  reject("limits are 0 to 256", [](M&, O& o) { o.hi = 256; });
}

}  // namespace
}  // namespace qrt::add_test

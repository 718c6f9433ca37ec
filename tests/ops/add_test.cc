// Add against the scalar definition of requant.h: kinds, offsets, every way of broadcasting;
// models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/broadcast.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt {
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

// Large enough to be cut on every instruction set: one long run, and many runs.
TEST(Add, ManyTasks) {
  const fb::AddOptionsT o = options(fb::AddKind::F32_FMA, true, false);
  check(o, {-1, 600, 601}, {-1, 600, 601});
  check(o, {-1, 60, 60, 64}, {-1, 1, 1, 64});
  check(o, {-1, 2, 120001}, {2, 1});
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
  reject("kind is 2, expected 0 to 1", [](M&, O& o) { o.kind = static_cast<fb::AddKind>(2); });
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
}  // namespace qrt

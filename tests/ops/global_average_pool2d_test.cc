// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool2D against a loop over the pixels; models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::global_average_pool2d_test {
namespace {

using testing::Bytes;

// Checks a pool; with `planes`, over a volume of that many.
void check(int64_t h, int64_t w, int64_t c, std::unique_ptr<fb::RequantT> requant,
           int64_t planes = 0) {
  SCOPED_TRACE(std::to_string(h) + " x " + std::to_string(w) + " x " + std::to_string(c));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int zero_point = static_cast<int>(random.integer(0, 255));
  testing::ModelBuilder m;
  const uint32_t x = m.input(planes ? Shape{-1, planes, h, w, c} : Shape{-1, h, w, c}),
                 y = m.output(planes ? Shape{-1, planes, 1, 1, c} : Shape{-1, 1, 1, c});
  fb::GlobalAveragePool2DOptionsT o;
  o.input_zero_point = static_cast<uint8_t>(zero_point);
  o.requant = std::move(requant);
  const testing::RequantOracle oracle(*o.requant, 1);
  m.op(std::move(o), {x}, {y});
  for (const size_t batch : {1, 3}) {
    const size_t pixels = static_cast<size_t>(h * w), channels = static_cast<size_t>(c);
    const size_t images = batch * static_cast<size_t>(planes ? planes : 1);
    Bytes input(images * pixels * channels), expected;
    random.fill(input, 0, 255);
    for (size_t n = 0; n < images; ++n) {
      for (size_t ch = 0; ch < channels; ++ch) {
        int32_t sum = 0;
        for (size_t i = 0; i < pixels; ++i)
          sum += input[(n * pixels + i) * channels + ch] - zero_point;
        oracle.append(sum, 0, &expected);
      }
    }
    testing::expect_outputs(m, batch, {input}, {expected});
  }
}

TEST(GlobalAveragePool2D, AnySize) {
  for (const int64_t c : {1, 63, 64, 65, 200})
    for (const int64_t side : {1, 2, 7})
      check(side, side + 1, c,
            testing::requant_f32({1.0f / static_cast<float>(side * (side + 1))}, 128));
}

TEST(GlobalAveragePool2D, PlanesOfAVolumeAreImages) {
  check(5, 6, 70, testing::requant_f32({1.0f / 30}, 128), 3);
}

TEST(GlobalAveragePool2D, IntegerRequantisation) {
  check(7, 7, 80, testing::requant_int(1402438301, 36, 128));
}

TEST(GlobalAveragePool2D, ZeroPointBefore) {
  auto r = testing::requant_f32({1.0f / 49}, 3);
  r->zero_point_before = true;
  r->offset = 0;
  check(7, 7, 80, std::move(r));
}

// Work is cut into several tasks on every instruction set.
TEST(GlobalAveragePool2D, ManyTasks) {
  check(30, 30, 1280, testing::requant_f32({1.0f / 900}, 128));
}

using Damage = std::function<void(testing::ModelBuilder&, fb::GlobalAveragePool2DOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 6, 4}), y = m.output({-1, 1, 1, 4});
  fb::GlobalAveragePool2DOptionsT o;
  o.requant = testing::requant_f32({0.02f});
  fb::OperatorT& op = m.op(std::move(o), {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsGlobalAveragePool2D());
  testing::expect_rejected(m, part);
}

TEST(GlobalAveragePool2D, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::GlobalAveragePool2DOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 0 (x) is int8, expected uint8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("of rank 2, expected 4 [n, h, w, c]", [](M& m, O&) { m.at(0).shape = {-1, 4}; });
  reject("x has images of 2048 x 4096 pixels, expected fewer than 2^23 pixels", [](M& m, O&) {
    m.at(0).shape = {-1, 2048, 4096, 4};
  });
  reject("requant is missing", [](M&, O& o) { o.requant.reset(); });
  reject("requant.kind is ACC", [](M&, O& o) { o.requant = testing::requant_acc(); });
  reject("requant.scale has 4 values", [](M&, O& o) { o.requant->scale.resize(4); });
  reject("expected [1, 1, 1, 4]", [](M& m, O&) { m.at(1).shape = {-1, 4}; });
}

}  // namespace
}  // namespace qrt::global_average_pool2d_test

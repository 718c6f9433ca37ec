// SPDX-License-Identifier: Apache-2.0
// Svdf against loops from its formula, with the state as an input and an output of the model;
// models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::svdf_test {
namespace {

using testing::Bytes;
using testing::random_values;
using testing::rounded_twice;

struct Svdf {
  int64_t in = 7, units = 5, rank = 2, memory = 4;
  int state_lo = -32768, state_hi = 32767, state_zero_point = 0;
  int32_t feature_multiplier = 1500000000;  // / 2^33

  int64_t filters() const { return units * rank; }
};

void check(const Svdf& s, size_t batch) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int64_t filters = s.filters();
  const auto features = random_values<int8_t>(&random, filters * s.in, -128, 127);
  const auto times = random_values<int16_t>(&random, filters * s.memory, -32768, 32767);
  const auto bias = random_values<int32_t>(&random, s.units, -100000, 100000);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, s.in});
  const uint32_t state = m.input({-1, filters, s.memory}, DType::kInt16);
  const uint32_t y = m.output({-1, s.units});
  const uint32_t next = m.output({-1, filters, s.memory}, DType::kInt16);
  fb::SvdfOptionsT o;
  o.rank = static_cast<uint32_t>(s.rank);
  o.input_zero_point = 99;
  o.feature_stages = testing::double_rounding(s.feature_multiplier, 2);
  o.state_lo = s.state_lo;
  o.state_hi = s.state_hi;
  o.state_zero_point = s.state_zero_point;
  o.requant = testing::requant_int(1, 22, 100);
  m.op(std::move(o),
       {x, m.constant({filters, s.in}, DType::kInt8, features),
        m.constant({filters, s.memory}, DType::kInt16, times), m.bias(bias), state},
       {y, next});

  Bytes input(batch * static_cast<size_t>(s.in)), outputs;
  random.fill(input, 0, 255);
  const auto rows = static_cast<int64_t>(batch);
  const auto past =
      random_values<int16_t>(&random, rows * filters * s.memory, s.state_lo, s.state_hi);
  std::vector<int16_t> future;
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t unit = 0; unit < s.units; ++unit) {
      uint32_t sum = static_cast<uint32_t>(bias[static_cast<size_t>(unit)]);
      for (int64_t f = unit * s.rank; f < (unit + 1) * s.rank; ++f) {
        int32_t acc = 0;
        for (int64_t i = 0; i < s.in; ++i)
          acc += (input[static_cast<size_t>(n * s.in + i)] - 99) *
                 features[static_cast<size_t>(f * s.in + i)];
        int32_t v = rounded_twice(acc, s.feature_multiplier, 2);
        v = std::min(std::max(v, s.state_lo), s.state_hi) + s.state_zero_point;
        if (s.state_hi == 127) v = static_cast<int8_t>(v);
        for (int64_t t = 1; t < s.memory; ++t)
          future.push_back(past[static_cast<size_t>((n * filters + f) * s.memory + t)]);
        future.push_back(static_cast<int16_t>(v - s.state_zero_point));
        for (int64_t t = 0; t < s.memory; ++t)
          sum += static_cast<uint32_t>(future[future.size() - static_cast<size_t>(s.memory - t)] *
                                       times[static_cast<size_t>(f * s.memory + t)]);
      }
      const int64_t q = rounding_shift(static_cast<int32_t>(sum), 22, Round::kHalfUp);
      outputs.push_back(static_cast<uint8_t>(clamp_int(q + 100, 0, 255)));
    }
  }
  testing::expect_outputs(m, batch, {input, testing::bytes_of(past)},
                          {outputs, testing::bytes_of(future)});
}

TEST(Svdf, AnySize) {
  for (const int64_t in : {1, 15, 64})
    for (const int64_t memory : {1, 2, 9})
      for (const int64_t rank : {1, 3}) {
        Svdf s;
        s.in = in;
        s.memory = memory;
        s.rank = rank;
        check(s, 1);
        check(s, 3);
      }
}

TEST(Svdf, ManyTasks) {
  Svdf s;
  s.in = 300;
  s.units = 67;
  s.memory = 20;
  check(s, 5);
}

// The reference adds the zero point of an int8 state after limiting it.
TEST(Svdf, AStateOf8BitsWraps) {
  Svdf s;
  s.state_lo = -128;
  s.state_hi = 127;
  s.state_zero_point = 90;
  s.feature_multiplier = 100000000;
  check(s, 2);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::SvdfOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 6});
  const uint32_t state = m.input({-1, 4, 3}, DType::kInt16);
  const uint32_t y = m.output({-1, 2}), next = m.output({-1, 4, 3}, DType::kInt16);
  fb::SvdfOptionsT o;
  o.rank = 2;
  o.feature_stages = testing::double_rounding(1 << 30, 0);
  o.requant = testing::requant_int(1, 20);
  fb::OperatorT& op = m.op(std::move(o),
                           {x, m.constant({4, 6}, DType::kInt8, std::vector<int8_t>(24)),
                            m.constant({4, 3}, DType::kInt16, std::vector<int16_t>(12)),
                            m.bias(std::vector<int32_t>(2)), state},
                           {y, next});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsSvdf());
  testing::expect_rejected(m, part);
}

TEST(Svdf, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::SvdfOptionsT;
  reject("has 4 inputs, expected 5", [](M& m, O&) { m.model().operators[0]->inputs.pop_back(); });
  reject("input 0 (x) is int8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("[n, in]", [](M& m, O&) { m.at(0).shape = {-1, 2, 3}; });
  reject("input 1 (features) has shape [4, 6], expected [4, 5]", [](M& m, O&) {
    m.at(0).shape = {-1, 5};
  });
  reject("input 1 (features) is not a constant",
         [](M& m, O&) { m.model().inputs.push_back(4), m.at(4).buffer = 0; });
  reject("rank is 3, expected a divisor of the 4 filters", [](M&, O& o) { o.rank = 3; });
  reject("rank is 0", [](M&, O& o) { o.rank = 0; });
  reject("input 3 (bias) has shape [2], expected [4]", [](M&, O& o) { o.rank = 1; });
  reject("input 4 (state) has shape", [](M& m, O&) { m.at(1).shape = {-1, 4, 4}; });
  reject("the state's limits are -128 to 32767", [](M&, O& o) { o.state_lo = -128; });
  reject("state_zero_point is 1, expected 0 to 0", [](M&, O& o) { o.state_zero_point = 1; });
  reject("feature_stages has no stages", [](M&, O& o) { o.feature_stages.clear(); });
  reject("requant is missing", [](M&, O& o) { o.requant.reset(); });
  reject("requant.kind is 1, this operator takes INT",
         [](M&, O& o) { o.requant = testing::requant_f32({0.5f}); });
  reject("it has 1 outputs, expected 2", [](M& m, O&) {
    m.model().operators[0]->outputs.pop_back();
    m.model().outputs.pop_back();
  });
}

}  // namespace
}  // namespace qrt::svdf_test

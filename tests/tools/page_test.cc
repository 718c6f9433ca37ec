// SPDX-License-Identifier: Apache-2.0
// The constants of a model on its page.
#include "runtime/tools/page/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/tools/inspect/describe.h"
#include "runtime/tools/page/constants.h"
#include "tests/support/model_builder.h"
#include "tests/support/op_tester.h"

namespace qrt::tool::page_test {
namespace {

using testing::ModelBuilder;

std::shared_ptr<const Plan> plan_of(const ModelBuilder& builder) {
  auto model = testing::load(builder);
  EXPECT_TRUE(model.ok()) << model.status().message();
  auto plan = make_plan(*model, PlanOptions());
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return *plan;
}

nlohmann::ordered_json tensors_of(const Plan& plan) {
  nlohmann::ordered_json tensors = describe(plan, "m.qrt")["tensors"];
  add_distributions(plan, &tensors);
  return tensors;
}

uint64_t sum(const nlohmann::ordered_json& counts) {
  uint64_t all = 0;
  for (const auto& count : counts) all += count.get<uint64_t>();
  return all;
}

TEST(Page, PackedWeightsAreCountedWithoutTheZerosOfThePacking) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 5}), y = m.output({1, 3});
  const uint32_t w = m.gemm_weights({3, 5}, {-7, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 9});
  fb::FullyConnectedOptionsT options;
  options.weight_sum = {-5, 9, 21};
  options.requant = testing::requant_f32({0.5f});
  m.op(std::move(options), {x, w, m.bias({1, 2, 3})}, {y});
  const auto tensors = tensors_of(*plan_of(m));
  const auto& histogram = tensors[w]["histogram"];
  EXPECT_EQ(histogram["from"], -7);
  EXPECT_EQ(histogram["to"], 9);
  ASSERT_EQ(histogram["counts"].size(), 17u);
  EXPECT_EQ(histogram["counts"][0], 1);
  EXPECT_EQ(histogram["counts"][7], 2);
  EXPECT_EQ(histogram["counts"][10], 4);
  EXPECT_EQ(sum(histogram["counts"]), 15u);
  EXPECT_EQ(tensors[w + 1]["values"], (nlohmann::ordered_json{"1", "2", "3"}));
}

// Returns a model of one operator, with constants that no operator reads.
ModelBuilder with_operator() {
  ModelBuilder m;
  fb::LutOptionsT lut;
  lut.table = m.buffer(std::vector<uint8_t>(256));
  m.op(lut, {m.input({1, 4})}, {m.output({1, 4})});
  return m;
}

TEST(Page, RealsAndScales) {
  ModelBuilder m = with_operator();
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  values[3] = NAN;
  const uint32_t reals = m.constant({1000}, DType::kFloat32, values);
  const uint32_t scaled = m.constant({200, 1}, DType::kInt8, std::vector<int8_t>(200, 5));
  auto quantization = std::make_unique<fb::QuantizationT>();
  for (int i = 1; i <= 200; ++i) quantization->scale.push_back(static_cast<float>(i));
  quantization->zero_point.assign(200, 0);
  quantization->axis = 0;
  m.at(scaled).quantization = std::move(quantization);
  const auto tensors = tensors_of(*plan_of(m));
  EXPECT_EQ(tensors[reals]["histogram"]["from"], 0);
  EXPECT_EQ(tensors[reals]["histogram"]["to"], 999);
  EXPECT_EQ(tensors[reals]["histogram"]["counts"].size(), kMostColumns);
  EXPECT_EQ(sum(tensors[reals]["histogram"]["counts"]), 999u);
  EXPECT_EQ(tensors[scaled]["histogram"]["counts"], nlohmann::ordered_json{200});
  const auto& scales = tensors[scaled]["scales"];
  EXPECT_EQ(scales["least"], 1);
  EXPECT_EQ(scales["greatest"], 200);
  ASSERT_EQ(scales["groups"].size(), 50u);
  EXPECT_EQ(scales["groups"][0], 4);
  EXPECT_EQ(scales["groups"][49], 200);
}

// Tensors of one buffer share its histogram: it is counted once for each type that they give it.
// Counted for each of thousands of tensors, the histograms would exceed their limit and be left out.
TEST(Page, TensorsOfOneBufferShareItsHistogram) {
  ModelBuilder m = with_operator();
  const uint32_t first = m.constant({1 << 20}, DType::kInt8, std::vector<int8_t>(1 << 20, 1));
  std::vector<uint32_t> others;
  for (const DType type : {DType::kInt8, DType::kUInt8, DType::kInt8})
    for (int i = 0; i < 1000; ++i) {
      others.push_back(m.tensor({1 << 20}, type));
      m.at(others.back()).buffer = m.at(first).buffer;
    }
  const auto tensors = tensors_of(*plan_of(m));
  for (const uint32_t t : others) EXPECT_EQ(sum(tensors[t]["histogram"]["counts"]), 1u << 20);
}

}  // namespace
}  // namespace qrt::tool::page_test

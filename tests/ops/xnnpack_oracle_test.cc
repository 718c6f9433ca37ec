// SPDX-License-Identifier: Apache-2.0
// XNNPACK against our kernels on layers of real size, where a loop in the test would take too long:
// it is an implementation that shares nothing with ours. Also what the session option accepts.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::xnnpack_oracle_test {
namespace {

using testing::Bytes;

Bytes run(const std::shared_ptr<const VerifiedModel>& model, const char* isa, const char* kernels,
          const Bytes& input, std::string* kernel) {
  SessionOptions options;
  options.isa = isa;
  options.kernels = kernels;
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return {};
  const Plan& plan = (*session)->plan();
  *kernel = plan.steps[0].kernel;
  memcpy((*session)->data(model->file().inputs()->Get(0)), input.data(), input.size());
  EXPECT_TRUE((*session)->run().ok());
  const uint8_t* output = (*session)->data(plan.outputs[0].slot);
  return Bytes(output, output + plan.slot_bytes(plan.outputs[0].slot));
}

// Expects the same bytes from XNNPACK, which has to take the operator, and from every instruction set.
void expect_same(const testing::ModelBuilder& m, const Bytes& input) {
  Result<std::shared_ptr<const VerifiedModel>> model = testing::load(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::string kernel;
  const Bytes expected = run(*model, nullptr, "xnnpack", input, &kernel);
  ASSERT_EQ(kernel.rfind("xnnpack_", 0), 0u) << kernel;
  for (const testing::Kernels& own : testing::all_kernels()) {
    if (own.isa == nullptr) continue;
    const Bytes actual = run(*model, own.isa, nullptr, input, &kernel);
    ASSERT_EQ(actual, expected) << kernel;
  }
}

// Scales that spread the outputs over the whole range of uint8.
std::vector<float> scales(size_t n, int64_t fan_in, testing::Random* random) {
  const int exponent = -7 - static_cast<int>(std::lround(std::log2(fan_in) / 2));
  std::vector<float> scale;
  for (size_t i = 0; i < n; ++i) scale.push_back(random->scale(exponent));
  return scale;
}

void check_conv(int64_t side, int64_t in, int64_t out, int64_t kernel, int stride, int pad) {
  if (!find_provider("xnnpack").ok()) GTEST_SKIP() << "built without XNNPACK";
  SCOPED_TRACE(std::to_string(side) + "x" + std::to_string(in) + " to " + std::to_string(out));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int64_t out_side = (side + 2 * pad - kernel) / stride + 1;
  const size_t n = static_cast<size_t>(out), k = static_cast<size_t>(in);
  const size_t taps = static_cast<size_t>(kernel * kernel);
  std::vector<int8_t> weights(n * taps * k);
  random.fill(weights, -128, 127);
  std::vector<int32_t> weight_sum(n), bias(n);
  for (size_t i = 0; i < weights.size(); ++i) weight_sum[i / (taps * k)] += weights[i];
  random.fill(bias, -50000, 50000);

  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, side, side, in});
  std::vector<int8_t> packed(gemm_packed_bytes(n, taps, k));
  gemm_pack(weights.data(), n, taps, k, packed.data());
  const uint32_t w = m.packed({out, kernel, kernel, in}, fb::Packing::GEMM, packed);
  const uint32_t b = m.bias(bias);
  const uint32_t y = m.output({-1, out_side, out_side, out});
  fb::Conv2DOptionsT o;
  o.stride_h = o.stride_w = static_cast<uint16_t>(stride);
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(pad);
  o.input_zero_point = static_cast<uint8_t>(random.integer(0, 255));
  o.weight_sum = weight_sum;
  o.requant = testing::requant_f32(scales(n, in * kernel * kernel, &random), 113);
  m.op(std::move(o), {x, w, b}, {y});
  Bytes input(static_cast<size_t>(side * side * in));
  random.fill(input, 0, 255);
  expect_same(m, input);
}

TEST(XnnpackOracle, Conv3x3) { check_conv(14, 128, 96, 3, 1, 1); }
TEST(XnnpackOracle, Conv3x3Stride2) { check_conv(29, 64, 80, 3, 2, 1); }
TEST(XnnpackOracle, Conv1x1) { check_conv(28, 144, 56, 1, 1, 0); }
TEST(XnnpackOracle, Conv1x1Stride2) { check_conv(28, 96, 130, 1, 2, 0); }
TEST(XnnpackOracle, Conv7x7FewChannels) { check_conv(64, 3, 40, 7, 2, 3); }

TEST(XnnpackOracle, Depthwise) {
  if (!find_provider("xnnpack").ok()) GTEST_SKIP() << "built without XNNPACK";
  for (const auto& [side, c, kernel, stride] :
       {std::tuple{28, 144, 3, 1}, {29, 96, 3, 2}, {14, 120, 5, 1}, {15, 72, 5, 2}}) {
    testing::Random random;
    SCOPED_TRACE(random.trace());
    const int pad = kernel / 2, out_side = (side + 2 * pad - kernel) / stride + 1;
    const size_t channels = static_cast<size_t>(c);
    std::vector<int8_t> weights(static_cast<size_t>(kernel * kernel) * channels);
    random.fill(weights, -128, 127);
    std::vector<int32_t> weight_sum(channels), bias(channels);
    for (size_t i = 0; i < weights.size(); ++i) weight_sum[i % channels] += weights[i];
    random.fill(bias, -5000, 5000);
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, side, side, c});
    const uint32_t w = m.depthwise_weights({kernel, kernel, c}, weights);
    const uint32_t b = m.bias(bias);
    const uint32_t y = m.output({-1, out_side, out_side, c});
    fb::DepthwiseConv2DOptionsT o;
    o.stride_h = o.stride_w = static_cast<uint16_t>(stride);
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(pad);
    o.input_zero_point = static_cast<uint8_t>(random.integer(0, 255));
    o.weight_sum = weight_sum;
    o.requant = testing::requant_f32(scales(channels, kernel * kernel, &random), 97);
    m.op(std::move(o), {x, w, b}, {y});
    Bytes input(static_cast<size_t>(side * side * c));
    random.fill(input, 0, 255);
    expect_same(m, input);
  }
}

TEST(XnnpackOracle, FullyConnected) {
  if (!find_provider("xnnpack").ok()) GTEST_SKIP() << "built without XNNPACK";
  testing::Random random;
  SCOPED_TRACE(random.trace());
  constexpr size_t kIn = 1280, kOut = 1000;
  std::vector<int8_t> weights(kIn * kOut);
  random.fill(weights, -128, 127);
  std::vector<int32_t> weight_sum(kOut), bias(kOut);
  for (size_t i = 0; i < weights.size(); ++i) weight_sum[i / kIn] += weights[i];
  random.fill(bias, -50000, 50000);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 3, kIn});
  const uint32_t w = m.gemm_weights({kOut, kIn}, weights);
  const uint32_t b = m.bias(bias);
  const uint32_t y = m.output({-1, 3, kOut});
  fb::FullyConnectedOptionsT o;
  o.weight_sum = weight_sum;
  o.requant = testing::requant_f32(scales(kOut, kIn, &random), 131);
  m.op(std::move(o), {x, w, b}, {y});
  Bytes input(3 * kIn);
  random.fill(input, 0, 255);
  expect_same(m, input);
}

TEST(XnnpackOracle, SessionOption) {
  for (const char* name : {static_cast<const char*>(nullptr), "qrt"}) {
    Result<const Provider*> own = find_provider(name);
    ASSERT_TRUE(own.ok());
    ASSERT_EQ(*own, nullptr);
  }
  Result<const Provider*> unknown = find_provider("fast");
  ASSERT_FALSE(unknown.ok());
  ASSERT_EQ(static_cast<int>(unknown.status().code()), static_cast<int>(Code::kInvalidArgument));
  Result<const Provider*> other = find_provider("xnnpack"), all = find_provider("xnnpack-all");
  ASSERT_EQ(other.ok(), all.ok());
  if (other.ok()) {
    ASSERT_NE(*other, nullptr);
    ASSERT_NE(*other, *all);
  }
  if (!other.ok()) {
    ASSERT_EQ(static_cast<int>(other.status().code()), static_cast<int>(Code::kUnsupported));
  }
}

}  // namespace
}  // namespace qrt::xnnpack_oracle_test

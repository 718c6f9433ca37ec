// SPDX-License-Identifier: Apache-2.0
// FullyConnected against a loop over the input: sizes, leading dimensions, terms,
// requantisations; models it has to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::fully_connected_test {
namespace {

using testing::Bytes;

// x [batch, leading..., in]
void check(std::vector<int64_t> leading, int64_t in, int64_t out, int terms = 1,
           fb::RequantKind kind = fb::RequantKind::F32) {
  SCOPED_TRACE("in " + std::to_string(in) + ", out " + std::to_string(out));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t k = static_cast<size_t>(in), n = static_cast<size_t>(out);
  const size_t taps = static_cast<size_t>(terms);
  std::vector<int8_t> weights(n * taps * k);  // [n][term][k]
  random.fill(weights, -128, 127);
  std::vector<int8_t> packed(gemm_packed_bytes(n, taps, k));
  gemm_pack(weights.data(), n, taps, k, packed.data());
  std::vector<int32_t> weight_sum(n), bias(n);
  for (size_t i = 0; i < weights.size(); ++i) weight_sum[i / (taps * k)] += weights[i];
  random.fill(bias, -50000, 50000);

  Shape x_shape{-1}, y_shape{-1};
  size_t rows = 1;
  for (int64_t d : leading) {
    x_shape.push_back(d);
    y_shape.push_back(d);
    rows *= static_cast<size_t>(d);
  }
  x_shape.push_back(in);
  y_shape.push_back(out);
  testing::ModelBuilder m;
  const bool acc_out = kind == fb::RequantKind::ACC;
  const uint32_t x = m.input(x_shape);
  const uint32_t w = m.packed({out, in}, fb::Packing::GEMM, packed);
  const uint32_t b = m.bias(bias);
  const uint32_t y = m.output(y_shape, acc_out ? DType::kInt32 : DType::kUInt8);
  fb::FullyConnectedOptionsT o;
  o.terms = static_cast<uint8_t>(terms);
  o.weight_sum = weight_sum;
  const int exponent = -8 - static_cast<int>(std::lround(std::log2(in * terms) / 2));
  std::vector<float> scale;
  for (size_t j = 0; j < n; ++j) scale.push_back(random.scale(exponent));
  o.requant = acc_out ? testing::requant_acc()
              : kind == fb::RequantKind::INT
                  ? testing::requant_int(1 << 30, static_cast<uint8_t>(30 - exponent), 99)
                  : testing::requant_f32(scale, 140);
  const testing::RequantOracle requant(*o.requant, n);
  m.op(std::move(o), {x, w, b}, {y});

  for (const size_t batch : {1, 3}) {
    Bytes input(batch * rows * k), expected;
    random.fill(input, 0, 255);
    for (size_t i = 0; i < batch * rows; ++i) {
      for (size_t j = 0; j < n; ++j) {
        uint32_t acc = static_cast<uint32_t>(bias[j]);
        for (size_t t = 0; t < taps; ++t)
          for (size_t c = 0; c < k; ++c)
            acc += static_cast<uint32_t>(input[i * k + c] * weights[(j * taps + t) * k + c]);
        requant.append(static_cast<int32_t>(acc), j, &expected);
      }
    }
    testing::expect_outputs(m, batch, {input}, {expected});
  }
}

TEST(FullyConnected, AnySize) {
  for (const int64_t in : {1, 3, 4, 5, 63, 64, 130})
    for (const int64_t out : {1, 10, 16, 17, 65}) check({}, in, out);
}

TEST(FullyConnected, LeadingDimensionsAreRows) {
  check({2, 3}, 20, 33);
  check({7}, 9, 5);
  check({1, 2, 1, 5}, 12, 18);
}

TEST(FullyConnected, WeightsOfSeveralTerms) {
  check({}, 37, 20, 2);
  check({4}, 16, 70, 3);
}

TEST(FullyConnected, Requantisations) {
  check({}, 50, 35, 1, fb::RequantKind::INT);
  check({5}, 50, 35, 1, fb::RequantKind::ACC);
}

// Work is cut by channels on every instruction set where there is one row and many channels.
TEST(FullyConnected, ManyTasks) { check({}, 1000, 2100); }

// Many rows, as AMX's tiles take them, whole and incomplete ones, give the same bytes.
TEST(FullyConnected, ManyRows) {
  check({5, 7}, 300, 100);
  check({64}, 128, 64, 2, fb::RequantKind::INT);
  check({37}, 260, 80, 1, fb::RequantKind::ACC);
}

// False claims change numbers only. weight_sum and pair_safe of 8-bit layers are the writer's word
// (schema/README.md); where they are false, results depend on the instruction set, and the
// sanitizers find nothing else.
TEST(FullyConnected, FalseClaimsAboutWeightsChangeNumbersOnly) {
  for (const fb::RequantKind kind :
       {fb::RequantKind::F32, fb::RequantKind::INT, fb::RequantKind::ACC}) {
    testing::ModelBuilder m;
    const bool acc = kind == fb::RequantKind::ACC;
    const uint32_t x = m.input({-1, 64});
    const uint32_t w = m.gemm_weights({20, 64}, std::vector<int8_t>(20 * 64, -128));
    const uint32_t b = m.bias(std::vector<int32_t>(20, INT32_MIN));
    const uint32_t y = m.output({-1, 20}, acc ? DType::kInt32 : DType::kUInt8);
    fb::FullyConnectedOptionsT o;
    o.weight_sum.assign(20, INT32_MAX);
    o.weight_sum[3] = INT32_MIN;
    o.pair_safe = true;
    o.requant = acc                            ? testing::requant_acc()
                : kind == fb::RequantKind::INT ? testing::requant_int(INT32_MAX, 0, 255)
                                               : testing::requant_f32({3e38f}, 255);
    m.op(std::move(o), {x, w, b}, {y});
    Result<std::shared_ptr<const VerifiedModel>> model = testing::load(m);
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (const testing::Kernels& kernels : testing::all_kernels()) {
      SessionOptions options;
      options.isa = kernels.isa;
      options.kernels = kernels.provider;
      Result<std::unique_ptr<Session>> session = Session::create(*model, options);
      ASSERT_TRUE(session.ok()) << session.status().message();
      const uint32_t in = (*model)->file().inputs()->Get(0);
      const uint32_t out = (*session)->plan().outputs[0].slot;
      memset((*session)->data(in), 255, 64);
      const size_t bytes = (*session)->plan().slot_bytes(out);
      const uint8_t* const made = (*session)->data(out);
      ASSERT_TRUE((*session)->run().ok());
      const Bytes first(made, made + bytes);
      ASSERT_TRUE((*session)->run().ok());
      ASSERT_EQ(Bytes(made, made + bytes), first);
    }
  }
}

using Damage = std::function<void(testing::ModelBuilder&, fb::FullyConnectedOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 8});
  const uint32_t w = m.gemm_weights({6, 8}, std::vector<int8_t>(48, 1));
  const uint32_t b = m.bias(std::vector<int32_t>(6));
  const uint32_t y = m.output({-1, 6});
  fb::FullyConnectedOptionsT o;
  o.weight_sum.assign(6, 8);
  o.requant = testing::requant_f32({0.01f});
  fb::OperatorT& op = m.op(std::move(o), {x, w, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsFullyConnected());
  testing::expect_rejected(m, part);
}

TEST(FullyConnected, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::FullyConnectedOptionsT;
  reject("has 5 inputs, expected 3, or 4, 6 or 7 with a zero point of the run", [](M& m, O&) {
    m.model().operators[0]->inputs.push_back(2);
    m.model().operators[0]->inputs.push_back(2);
  });
  reject("requant.kind is 1, a layer with a zero point of the run takes ACC (0)",
         [](M& m, O&) { m.model().operators[0]->inputs.push_back(2); });
  reject("requant.kind is F32 and the output int16, expected INT or uint8",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("input 0 (x) has shape []", [](M& m, O&) { m.at(0).shape.clear(); });
  reject("expected [out, in] with in = 7", [](M& m, O&) { m.at(0).shape[1] = 7; });
  reject("of rank 3, expected 2 [out, in]", [](M& m, O&) { m.at(1).shape = {6, 4, 2}; });
  reject("input 1 (weights) holds 128 bytes, expected 256", [](M&, O& o) { o.terms = 2; });
  reject("terms is 0", [](M&, O& o) { o.terms = 0; });
  reject("input 1 (weights) has packing 2",
         [](M& m, O&) { m.at(1).packing = fb::Packing::DEPTHWISE; });
  reject("input 2 (bias) has shape [6, 1]", [](M& m, O&) { m.at(2).shape = {6, 1}; });
  reject("weight_sum has 7 values", [](M&, O& o) { o.weight_sum.resize(7); });
  reject("requant.scale has 5 values", [](M&, O& o) { o.requant->scale.resize(5); });
  reject("requant is missing", [](M&, O& o) { o.requant.reset(); });
  reject("expected int32", [](M&, O& o) { o.requant = testing::requant_acc(); });
}

}  // namespace
}  // namespace qrt::fully_connected_test

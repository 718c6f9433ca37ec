// SPDX-License-Identifier: Apache-2.0
// Weights of 4 and 2 bits: what a model computes equals what it computes from the same weights in
// int8, on every instruction set; files that break the rules for them are refused.
#include "runtime/packed_bits.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::packed_bits_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;

// Packed weights of random codes, zero where the packing has no weight.
struct Weights {
  int bits;
  std::vector<int8_t> codes, offsets, wide;  // packed; offsets may be empty
};

// `is_weight`: of a packed index.
Weights random_weights(testing::Random* random, int bits, bool with_offsets, size_t packed,
                       size_t blocks, const std::function<bool(size_t)>& is_weight) {
  const int half = 1 << (bits - 1);
  Weights w{bits, std::vector<int8_t>(packed), {}, std::vector<int8_t>(packed)};
  // A code for 0 exists.
  if (with_offsets)
    for (size_t i = 0; i < blocks * 16; ++i)
      w.offsets.push_back(static_cast<int8_t>(random->integer(-half + 1, half)));
  for (size_t i = 0; i < packed; ++i) {
    const size_t lane = i / (packed / blocks) * 16 + i % kWeightBlock / 4;
    const int offset = with_offsets ? w.offsets[lane] : 0;
    const int code = is_weight(i) ? static_cast<int>(random->integer(-half, half - 1)) : -offset;
    w.codes[i] = static_cast<int8_t>(code);
    w.wide[i] = static_cast<int8_t>(code + offset);
  }
  return w;
}

// make(weights tensor maker) builds the model; the narrow one has the outputs of the wide one.
using Maker = std::function<uint32_t(ModelBuilder*, const Shape&, fb::Packing)>;
void expect_as_unpacked(const Weights& w, const std::vector<Bytes>& inputs,
                        const std::function<ModelBuilder(const Maker&)>& make) {
  const ModelBuilder wide = make([&](ModelBuilder* m, const Shape& shape, fb::Packing packing) {
    return m->packed(shape, packing, w.wide);
  });
  const ModelBuilder narrow = make([&](ModelBuilder* m, const Shape& shape, fb::Packing packing) {
    return m->narrow(shape, packing, w.bits, w.codes, w.offsets);
  });
  const auto expected = testing::run_model(wide.build(), inputs);
  ASSERT_EQ(expected.status, QRT_OK) << expected.message;
  // Small weights save less than the padding to 64 bytes takes, so a little more is allowed.
  EXPECT_LT(narrow.build().size(), wide.build().size() + (w.wide.size() < 1024 ? 256 : 0));
  testing::expect_outputs(narrow, 1, inputs, expected.outputs);
}

void check_fully_connected(int bits, bool with_offsets, int64_t in, int64_t out) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const auto n = static_cast<size_t>(out), k = static_cast<size_t>(in);
  const size_t lines = (k + 3) / 4;
  const Weights w =
      random_weights(&random, bits, with_offsets, gemm_packed_bytes(n, 1, k), (n + 15) / 16,
                     [&](size_t i) { return i / kWeightBlock % lines * 4 + i % 4 < k; });
  Bytes x(k);
  random.fill(x, 0, 255);
  expect_as_unpacked(w, {x}, [&](const Maker& weights) {
    ModelBuilder m;
    const uint32_t input = m.input({-1, in}), output = m.output({-1, out}, DType::kInt32);
    fb::FullyConnectedOptionsT o;
    for (size_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (size_t i = 0; i < k; ++i)
        sum += w.wide[((j / 16 * lines + i / 4) * 16 + j % 16) * 4 + i % 4];
      o.weight_sum.push_back(sum);
    }
    o.requant = testing::requant_acc();
    m.op(std::move(o),
         {input, weights(&m, {out, in}, fb::Packing::GEMM), m.bias(std::vector<int32_t>(n, 7))},
         {output});
    return m;
  });
}

TEST(Widen, FullyConnectedOfAnySize) {
  for (const int bits : {4, 2})
    for (const bool with_offsets : {false, true})
      for (const int64_t in : {1, 4, 37, 64})
        for (const int64_t out : {1, 16, 17, 40})
          check_fully_connected(bits, with_offsets, in, out);
}

TEST(Widen, GroupedConvolutionHasOffsetsOfItsOwnInEveryGroup) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  constexpr size_t kGroups = 2, kOut = 17, kIn = 4;
  const size_t bytes = gemm_packed_bytes(kOut, 9, kIn);
  const Weights w =
      random_weights(&random, 4, true, kGroups * bytes, kGroups * 2, [](size_t) { return true; });
  Bytes x(6 * 5 * kIn * kGroups);
  random.fill(x, 0, 255);
  expect_as_unpacked(w, {x}, [&](const Maker& weights) {
    ModelBuilder m;
    const uint32_t input = m.input({-1, 6, 5, kIn * kGroups});
    const uint32_t output = m.output({-1, 6, 5, kOut * kGroups}, DType::kInt32);
    fb::Conv2DOptionsT o;
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
    o.input_zero_point = 90;
    o.groups = kGroups;
    for (size_t c = 0; c < kGroups * kOut; ++c) {
      const int8_t* group = &w.wide[c / kOut * bytes];
      int32_t sum = 0;
      for (size_t line = 0; line < 9; ++line)
        for (size_t i = 0; i < 4; ++i)
          sum += group[((c % kOut / 16 * 9 + line) * 16 + c % kOut % 16) * 4 + i];
      o.weight_sum.push_back(sum);
    }
    o.requant = testing::requant_acc();
    m.op(std::move(o),
         {input, weights(&m, {kOut * kGroups, 3, 3, kIn}, fb::Packing::GEMM),
          m.bias(std::vector<int32_t>(kGroups * kOut, -3))},
         {output});
    return m;
  });
}

void check_depthwise(int bits, bool with_offsets) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  constexpr size_t kChannels = 19;
  const Weights w =
      random_weights(&random, bits, with_offsets, depthwise_packed_bytes(kChannels, 3, 3), 2,
                     [](size_t i) { return i % 4 < 3; });
  Bytes x(7 * 6 * kChannels);
  random.fill(x, 0, 255);
  expect_as_unpacked(w, {x}, [&](const Maker& weights) {
    ModelBuilder m;
    const uint32_t input = m.input({-1, 7, 6, kChannels});
    const uint32_t output = m.output({-1, 7, 6, kChannels});
    fb::DepthwiseConv2DOptionsT o;
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
    o.input_zero_point = 128;
    for (size_t c = 0; c < kChannels; ++c) {
      int32_t sum = 0;
      for (size_t i = 0; i < 12; ++i)
        sum += w.wide[(c / 16 * 3 + i / 4) * kWeightBlock + c % 16 * 4 + i % 4];
      o.weight_sum.push_back(sum);
    }
    o.requant = testing::requant_f32({0.05f}, 120);
    m.op(std::move(o),
         {input, weights(&m, {3, 3, kChannels}, fb::Packing::DEPTHWISE),
          m.bias(std::vector<int32_t>(kChannels, 11))},
         {output});
    return m;
  });
}

TEST(Widen, Depthwise) {
  for (const int bits : {4, 2})
    for (const bool with_offsets : {false, true}) check_depthwise(bits, with_offsets);
}

// FullyConnected [6, 8], of which `layers` in a row read the same weights of 4 bits, all -1.
ModelBuilder small_model(int layers = 1) {
  ModelBuilder m;
  uint32_t x = m.input({-1, 8});
  const uint32_t w =
      m.narrow({8, 8}, fb::Packing::GEMM, 4, std::vector<int8_t>(gemm_packed_bytes(8, 1, 8), -1));
  for (int i = 0; i < layers; ++i) {
    const uint32_t y = i + 1 == layers ? m.output({-1, 8}) : m.tensor({-1, 8});
    fb::FullyConnectedOptionsT o;
    o.weight_sum.assign(8, -8);
    o.requant = testing::requant_f32({0.01f}, 200);
    m.op(std::move(o), {x, w, m.bias(std::vector<int32_t>(8))}, {y});
    x = y;
  }
  return m;
}

TEST(Widen, LayersAndTensorsOfTheSameWeightsShareThem) {
  ModelBuilder m = small_model(3);
  // A second tensor of the same buffer.
  auto twin = std::make_unique<fb::TensorT>(*m.model().tensors[1]);
  m.model().tensors.push_back(std::move(twin));
  m.model().operators[2]->inputs[1] = static_cast<uint32_t>(m.model().tensors.size() - 1);
  auto model = testing::load(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ((*model)->unpacked().bytes(), gemm_packed_bytes(8, 1, 8));
  EXPECT_EQ((*model)->unpacked().of(1).data,
            (*model)->unpacked().of(m.model().operators[2]->inputs[1]).data);
  EXPECT_EQ((*model)->unpacked().of(0).data, nullptr);
}

void reject(const std::string& part,
            const std::function<void(fb::TensorT&, ModelBuilder&)>& damage) {
  SCOPED_TRACE(part);
  ModelBuilder m = small_model();
  damage(m.at(1), m);
  testing::expect_rejected(m, part);
}

TEST(Widen, RefusesCraftedFiles) {
  using T = fb::TensorT;
  const auto resize = [](ModelBuilder& m, const T& t, size_t bytes) {
    m.model().buffers[t.buffer]->data.resize(bytes);
  };
  reject("multiple of 32", [&](T& t, ModelBuilder& m) { resize(m, t, 63); });
  reject("holds 192 bytes, expected 128", [&](T& t, ModelBuilder& m) { resize(m, t, 96); });
  reject("holds 256 bytes", [](T& t, ModelBuilder&) { t.dtype = fb::DType::INT2; });
  reject("packed weights are uint4", [](T& t, ModelBuilder&) { t.dtype = fb::DType::UINT4; });
  reject("weight_offset has 15 values", [](T& t, ModelBuilder&) { t.weight_offset.resize(15); });
  reject("weight_offset has 48 values", [](T& t, ModelBuilder&) { t.weight_offset.resize(48); });
  reject("32 values of weight_offset, expected 16",
         [](T& t, ModelBuilder&) { t.weight_offset.resize(32); });
  reject("weight_offset is 121, expected -120 to 120",
         [](T& t, ModelBuilder&) { t.weight_offset.assign(16, 121); });
  reject("not packed in 4 or 2 bits",
         [](T&, ModelBuilder& m) { m.at(0).weight_offset.resize(16); });
  reject("input 1 (weights) has packing 2",
         [](T& t, ModelBuilder&) { t.packing = fb::Packing::DEPTHWISE; });
  // An offset that leaves no zero in the tail of k.
  reject("is not zero where its packing rounds", [](T& t, ModelBuilder& m) {
    t.shape = {8, 7};
    m.at(0).shape = {-1, 7};
    t.weight_offset.assign(16, 3);
  });
}

// A file whose tensors share one buffer is refused where unpacking all of them would take too much.
TEST(Widen, RefusesToUnfoldAFileWithoutBound) {
  ModelBuilder m = small_model();
  m.model().buffers[m.at(1).buffer]->data.resize(1 << 16);
  for (int i = 0; i < 30; ++i) {
    auto twin = std::make_unique<fb::TensorT>(*m.model().tensors[1]);
    twin->weight_offset.assign(16, static_cast<int8_t>(i + 1));
    m.model().tensors.push_back(std::move(twin));
  }
  testing::expect_rejected(m, "more than 16 times the file");
}

TEST(Widen, TakesNoMoreMemoryThanItMay) {
  const Bytes file = small_model().build();
  const auto load = [&](size_t max_memory) {
    VerifyOptions options;
    options.max_memory = max_memory;
    return verify(std::move(*ModelBytes::borrow(file.data(), file.size())), options);
  };
  EXPECT_TRUE(load(128 + file.size()).ok());
  auto model = load(127);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), Code::kOutOfMemory) << model.status().message();
}

}  // namespace
}  // namespace qrt::packed_bits_test

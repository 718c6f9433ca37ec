// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED of float32 activations and weights in blocks, converted and run, against nbits-seq written out as naive loops;
// what is refused.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/edge/numbers.h"
#include "kernels/integer_build.h"
#include "kernels/nbits_seq.h"
#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_blocks_test {
namespace {

using B = BuiltinOperator;
using Floats = std::vector<float>;

struct Layer {
  size_t rows = 2, blocks = 2, block = 32, out = 5;
  TensorType type = TensorType::INT4;
  TensorType scale_type = TensorType::FLOAT16;
  bool has_bias = true;
  tflite::ActivationFunctionType activation = tflite::ActivationFunctionType::NONE;
  std::vector<int> codes;
  std::vector<uint16_t> halves;
  Floats bias;

  explicit Layer(Random* random) {
    const auto size = [&](int64_t most) { return static_cast<size_t>(random->integer(1, most)); };
    rows = size(20), blocks = size(5), block = 16 * size(16), out = size(40);
    const TensorType types[] = {TensorType::INT4, TensorType::INT4, TensorType::INT8,
                                TensorType::INT2};
    type = types[random->integer(0, 3)];
    scale_type = random->coin() ? TensorType::FLOAT16 : TensorType::FLOAT32;
    has_bias = random->coin();
    if (random->coin()) activation = tflite::ActivationFunctionType::RELU;
    fill(random);
  }
  void fill(Random* random) {
    const int half = 1 << (bits() - 1);
    codes.clear(), halves.clear(), bias.clear();
    for (size_t i = 0; i < out * in(); ++i)
      codes.push_back(static_cast<int>(random->integer(-half, half - 1)));
    for (size_t i = 0; i < out * blocks; ++i)
      halves.push_back(static_cast<uint16_t>(random->integer(0x1000, 0x3000)));
    for (size_t o = 0; o < out; ++o) bias.push_back(random->real(-3, 3));
  }
  size_t in() const { return blocks * block; }
  int bits() const { return type == TensorType::INT8 ? 8 : type == TensorType::INT4 ? 4 : 2; }

  TfliteBuilder build() const {
    TfliteBuilder b;
    const auto each = static_cast<size_t>(8 / bits());
    Bytes packed((codes.size() + each - 1) / each);
    for (size_t i = 0; i < codes.size(); ++i)
      packed[i / each] =
          static_cast<uint8_t>(packed[i / each] | (codes[i] & ((1 << bits()) - 1))
                                                      << (i % each * static_cast<size_t>(bits())));
    const int n = static_cast<int>(out), k = static_cast<int>(in()), m = static_cast<int>(rows);
    const int x = b.input(TensorType::FLOAT32, {m, k});
    const TfliteBuilder::Dims shape = {n, static_cast<int>(blocks)};
    Floats wide;
    for (const uint16_t half : halves) wide.push_back(half_to_float(half));
    const int scales = scale_type == TensorType::FLOAT16
                           ? b.constant(TensorType::FLOAT16, shape, halves)
                           : b.constant(TensorType::FLOAT32, shape, wide);
    const int w = b.constant(type, {n, k}, packed);
    tflite::BlockwiseQuantizationT details;
    details.scales = scales;
    details.zero_points = -1;
    details.block_size = static_cast<int>(block);
    b.at(w).quantization = std::make_unique<tflite::QuantizationParametersT>();
    b.at(w).quantization->details.Set(details);
    std::vector<int> inputs = {x, w, -1};
    if (has_bias) inputs[2] = b.constant(TensorType::FLOAT32, {n}, bias);
    tflite::FullyConnectedOptionsT o;
    o.fused_activation_function = activation;
    b.op(B::FULLY_CONNECTED, inputs, {b.output(TensorType::FLOAT32, {m, n})}, o);
    return b;
  }

  Floats run(const Floats& x) const {
    Floats y;
    for (size_t r = 0; r < rows; ++r)
      for (size_t o = 0; o < out; ++o) {
        float acc = 0;
        for (size_t b = 0; b < blocks; ++b) {
          std::vector<int8_t> q(block);
          const NBitsBlock made = nbits_quantize(&x[r * in() + b * block], block, q.data());
          int32_t dot = 0;
          for (size_t i = 0; i < block; ++i) dot += q[i] * codes[o * in() + b * block + i];
          acc = nbits_add(acc, dot, made.scale, half_to_float(halves[o * blocks + b]));
        }
        const float v = nbits_end(acc, has_bias ? &bias[o] : nullptr);
        const bool limits = activation == tflite::ActivationFunctionType::RELU;
        y.push_back(limits && v < 0 ? 0.0f : v);
      }
    return y;
  }
};

TEST(TfliteBlocks, AreNbitsSeq) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE(random.trace() + " model " + std::to_string(i));
    const Layer layer(&random);
    Floats x;
    for (size_t k = 0; k < layer.rows * layer.in(); ++k) x.push_back(random.real(-4, 4));
    const TfliteBuilder b = layer.build();
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
    EXPECT_EQ(imported.graph.reference, "tflite-hybrid");
    ASSERT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(layer.run(x))});
  }
}

TEST(TfliteBlocks, Refuses) {
  using T = TfliteBuilder;
  const auto reject = [&](const std::string& part, const std::function<void(T&)>& f) {
    SCOPED_TRACE(part);
    Random random;
    Layer layer(&random);
    layer.rows = 2, layer.blocks = 2, layer.block = 32, layer.out = 5;
    layer.type = TensorType::INT4, layer.scale_type = TensorType::FLOAT16, layer.has_bias = true;
    layer.fill(&random);
    T b = layer.build();
    f(b);
    expect_rule(b, part);
  };
  constexpr int kScales = 1, kWeights = 2;
  const auto details = [](T& b) -> tflite::BlockwiseQuantizationT& {
    return *b.at(kWeights).quantization->details.AsBlockwiseQuantization();
  };
  for (const int block : {1, 8, 64 * 1024, INT32_MAX})
    reject("in blocks of " + std::to_string(block), [&](T& b) { details(b).block_size = block; });
  reject("in blocks of 48", [&](T& b) { details(b).block_size = 48; });  // not whole ones
  for (const int scales : {-1, 0, 1000, kWeights})
    reject("its scales are no constant of 10 floats", [&](T& b) { details(b).scales = scales; });
  reject("its scales are no constant of 20 floats", [&](T& b) { details(b).block_size = 16; });
  reject("has a scale that is no finite number", [&](T& b) {
    b.model.buffers[b.at(kScales).buffer]->data = to_bytes(std::vector<uint16_t>(10, 0x7c00));
  });
  reject("is quantised in blocks with zero points", [&](T& b) {
    details(b).zero_points = b.constant(TensorType::INT8, {5, 2}, std::vector<int8_t>(10, 1));
  });
  reject("is quantised in blocks", [](T& b) {
    const int y = b.output(TensorType::INT4, {5, 64});
    b.op(B::RESHAPE, {kWeights}, {y}, tflite::ReshapeOptionsT());
  });
  TfliteBuilder none = [] {
    Random random;
    return Layer(&random).build();
  }();
  none.at(kWeights).quantization->details.AsBlockwiseQuantization()->block_size = 0;
  EXPECT_EQ(none.import().status.code(), Code::kInvalidModel);
}

}  // namespace
}  // namespace qrt::testing::tflite_blocks_test

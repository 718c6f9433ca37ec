// SPDX-License-Identifier: Apache-2.0
// A small float network for tests of the whole way: convolution, BatchNormalization, Relu, depthwise
// convolution, a sum, the mean of the image, ten classes.
#ifndef QRT_TESTS_QUANTIZE_NETWORK_H_
#define QRT_TESTS_QUANTIZE_NETWORK_H_

#include <random>
#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace qrt::testing {

inline std::vector<float> normal(std::mt19937* random, size_t n, float deviation) {
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(n);
  for (float& v : values) v = distribution(*random);
  return values;
}

// Returns a network with input "x" [N, 3, 8, 8] and output [N, 10]. `weight`: the deviation of the first layer's weights.
inline std::string small_network(std::mt19937* random, float weight = 0.3f) {
  const auto some = [&](const Dims& dims, float deviation) {
    size_t n = 1;
    for (const int64_t d : dims) n *= static_cast<size_t>(d);
    return normal(random, n, deviation);
  };
  OnnxBuilder b;
  const auto constant = [&](const Dims& dims, float deviation) {
    return b.constant<float>(dims, some(dims, deviation));
  };
  const Attr pads("pads", Dims{1, 1, 1, 1});
  const std::string x = b.input<float>({-1, 3, 8, 8}, "x");
  std::vector<float> first = some({8, 3, 3, 3}, 0.2f);
  first[5] = weight;
  const std::string conv = b.node("Conv", {x, b.constant<float>({8, 3, 3, 3}, first)}, {pads});
  const std::string variance = b.constant<float>({8}, std::vector<float>(8, 0.7f));
  const std::string a = b.node(
      "Relu", {b.node("BatchNormalization",
                      {conv, constant({8}, 1), constant({8}, 1), constant({8}, 1), variance})});
  const std::string d = b.node("Conv", {a, constant({8, 1, 3, 3}, 0.3f)}, {{"group", 8}, pads});
  const std::string mean =
      b.node("Flatten", {b.node("GlobalAveragePool", {b.node("Add", {a, d})})});
  const std::string y =
      b.node("Gemm", {mean, constant({10, 8}, 1), constant({10}, 0.1f)}, {{"transB", 1}});
  OnnxBuilder::declare(b.graph().add_output(), y, 1, {-1, 10});
  return b.bytes();
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_QUANTIZE_NETWORK_H_

// SPDX-License-Identifier: Apache-2.0
// Two float ONNX networks of about a kilobyte: what fuzz_float starts from and keeps small files of.
#ifndef QRT_TESTS_SUPPORT_FLOAT_MODELS_H_
#define QRT_TESTS_SUPPORT_FLOAT_MODELS_H_

#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace qrt::testing {

namespace float_models {

inline std::string weights(OnnxBuilder* b, const Dims& dims) {
  size_t n = 1;
  for (const int64_t d : dims) n *= static_cast<size_t>(d);
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i * 7 % 11) * 0.25f - 1.0f;
  return b->constant<float>(dims, values);
}

// [N, 2, 6, 6] -> classes [N, 3]
inline OnnxBuilder image() {
  OnnxBuilder b;
  const Attr pads("pads", Dims{1, 1, 1, 1}), kernel("kernel_shape", Dims{2, 2}),
      strides("strides", Dims{2, 2});
  const std::string x = b.input<float>({-1, 2, 6, 6}, "x");
  const std::string conv = b.node("Conv", {x, weights(&b, {2, 2, 3, 3})}, {pads});
  const std::string ones = b.constant<float>({2}, {1, 1}), some = weights(&b, {2});
  const std::string a =
      b.node("Relu", {b.node("BatchNormalization", {conv, ones, some, some, ones})});
  const std::string d = b.node("Conv", {a, weights(&b, {2, 1, 3, 3})}, {{"group", 2}, pads});
  const std::string sum = b.node("Add", {a, b.node("HardSwish", {d})});
  const std::string pooled = b.node("MaxPool", {sum}, {kernel, strides});
  const std::string up =
      b.node("ConvTranspose", {pooled, weights(&b, {2, 2, 2, 2}), some}, {strides});
  const std::string both = b.node("Concat", {up, b.node("Sigmoid", {sum})}, {{"axis", 1}});
  const std::string flat = b.node("Flatten", {b.node("GlobalAveragePool", {both})});
  const std::string y =
      b.node("Softmax", {b.node("Gemm", {flat, weights(&b, {3, 4})}, {{"transB", 1}})});
  OnnxBuilder::declare(b.graph().add_output(), y, onnx_type<float>(), {-1, 3});
  return b;
}

// Returns a block of attention over 3 rows of 4, written with the shapes' arithmetic of an exporter.
inline OnnxBuilder attention() {
  OnnxBuilder b(17);
  const std::string x = b.input<float>({1, 3, 4}, "x");
  const std::string some = weights(&b, {4});
  const std::string h = b.node("LayerNormalization", {x, some, some}, {{"axis", -1}});
  const std::string k = b.node("MatMul", {h, weights(&b, {4, 4})});
  const std::string turned = b.node("Transpose", {k}, {{"perm", Dims{0, 2, 1}}});
  const std::string scores = b.node("Div", {b.node("MatMul", {h, turned}), b.scalar<float>(2.0f)});
  const std::string masked = b.node(
      "Where", {b.node("Less", {scores, b.scalar<float>(9.0f)}), scores, b.scalar<float>(-9.0f)});
  const std::string mixed = b.node("MatMul", {b.node("Softmax", {masked}, {{"axis", -1}}), h});
  const std::string rows = b.node("Gather", {b.node("Shape", {x}), b.constant<int64_t>({1}, {1})});
  const std::string shape =
      b.node("Concat", {rows, b.constant<int64_t>({2}, {2, 2})}, {{"axis", 0}});
  const std::string apart = b.node("Reshape", {mixed, shape});
  const std::string later = b.node("Slice", {apart, b.constant<int64_t>({1}, {1}), rows});
  const std::string gelu =
      b.node("Mul", {later, b.node("Add", {b.node("Erf", {later}), b.scalar<float>(1.0f)})});
  const std::string y = b.node("ReduceMean", {gelu}, {{"axes", Dims{1}}, {"keepdims", 0}});
  b.output(y);
  return b;
}

}  // namespace float_models

inline std::vector<Bytes> sample_float_models() {
  std::vector<Bytes> files;
  for (OnnxBuilder b : {float_models::image(), float_models::attention()}) {
    const std::string bytes = b.bytes();
    files.emplace_back(bytes.begin(), bytes.end());
  }
  return files;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_FLOAT_MODELS_H_

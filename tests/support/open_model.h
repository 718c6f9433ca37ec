// SPDX-License-Identifier: Apache-2.0
// ONNX models with open dimensions, converted, and run at sizes of these.
#ifndef QRT_TESTS_SUPPORT_OPEN_MODEL_H_
#define QRT_TESTS_SUPPORT_OPEN_MODEL_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::open_model {

// Builds a model whose input has these dimensions, -1 where one is open.
using Build = std::function<void(const Dims& dims, OnnxBuilder* b)>;

// Adds weights of int8 to the model, dequantised.
inline std::string weights(OnnxBuilder* b, const Dims& dims) {
  size_t count = 1;
  for (const int64_t d : dims) count *= static_cast<size_t>(d);
  std::vector<int8_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<int8_t>(static_cast<int>(i * 37 % 41) - 20);
  return b->dq<int8_t>(b->constant<int8_t>(dims, values), 0.01f, 0);
}

// Returns the size of a dimension as a tensor of one element.
inline std::string size_of(OnnxBuilder* b, const std::string& x, int64_t axis) {
  const std::string shape = b->node("Shape", {x});
  return b->node("Gather", {shape, b->constant<int64_t>({1}, {axis})});
}

// A model with open dimensions, and sizes to run it at.
struct Case {
  const char* name;
  Dims open;                // of the input, -1 where it is open
  std::vector<Dims> sizes;  // at which it runs
  Build build;
  bool has_bytes = false;  // its input is of bytes, not of floats
};

// Returns the bytes of an input.
inline Bytes numbers(const Dims& dims, bool are_bytes) {
  size_t count = 1;
  for (const int64_t d : dims) count *= static_cast<size_t>(d);
  if (are_bytes) {
    Bytes values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(i * 29 % 251);
    return values;
  }
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 29 % 67) * 0.1f - 3.0f;
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(bytes, bytes + count * sizeof(float));
}

// Builds the model at these dimensions; open ones are called d0, d1 and so on, by their place.
inline OnnxBuilder model_of(const Case& c, const Dims& dims) {
  OnnxBuilder b(17);
  b.allow_float = true;
  c.build(dims, &b);
  // Every open dimension has its own name.
  auto* shape = b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape->dim_size(); ++i)
    if (!shape->dim(i).dim_param().empty())
      shape->mutable_dim(i)->set_dim_param("d" + std::to_string(i));
  return b;
}

// Runs a file of model_of() at these sizes. `open` says which dimensions it has open.
inline RunResult run_at(const Bytes& file, const Dims& open, const Dims& sizes,
                        bool has_bytes = false) {
  std::vector<std::string> names;
  RunOptions options;
  for (size_t i = 0; i < open.size(); ++i) names.push_back("d" + std::to_string(i));
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i] < 0) options.dims.push_back({names[i].c_str(), sizes[i]});
  return run_model(file, {numbers(sizes, has_bytes)}, options);
}

// Converts the model. Returns its file, or nothing where a step failed, which fails the test.
inline Bytes convert_whole(const OnnxBuilder& b, convert::Graph* graph) {
  Imported imported = b.import();
  EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  *graph = std::move(imported.graph);
  const Status passed = run_passes(graph, nullptr);
  EXPECT_TRUE(passed.ok()) << passed.message();
  Bytes file;
  if (passed.ok()) {
    EXPECT_TRUE(write_model(*graph, &file).ok());
  }
  return file;
}

// Adds a constant of one element.
inline std::string number(OnnxBuilder* b, int64_t n) { return b->constant<int64_t>({1}, {n}); }

}  // namespace qrt::testing::open_model

#endif  // QRT_TESTS_SUPPORT_OPEN_MODEL_H_

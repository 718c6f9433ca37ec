// SPDX-License-Identifier: Apache-2.0
// Small float models for tests, made in memory or by way of an ONNX file.
#ifndef QRT_TESTS_QUANTIZE_FLOAT_CASES_H_
#define QRT_TESTS_QUANTIZE_FLOAT_CASES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"
#include "converter/quantize/float/interpreter.h"
#include "tests/support/random.h"

namespace qrt::testing::floats {

using quantize::FloatModel;
using quantize::Interpreter;
using quantize::Node;
using quantize::real_tensor;
using quantize::Tensor;

inline Node make_node(const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& output) {
  Node node;
  node.name = output;
  node.op = op;
  node.inputs = inputs;
  node.outputs = {output};
  return node;
}

inline Tensor random_tensor(const quantize::Dims& shape, Random* random, float size = 1) {
  Tensor t = real_tensor(shape, {});
  for (int64_t i = 0; i < quantize::elements(shape); ++i)
    t.reals.push_back(random->real(-size, size));
  return t;
}

// Runs one node on given inputs and returns its output. The test fails if the node does not run.
inline Tensor run_node(const Node& node, const std::vector<Tensor>& inputs) {
  Interpreter interpreter;
  EXPECT_TRUE(interpreter.create(FloatModel(), 1).ok());
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  std::vector<Tensor> outputs;
  const Status status = interpreter.run_node(node, pointers, &outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? outputs[0] : Tensor();
}

// Returns the message with which a node fails on given inputs.
inline std::string why_not(const Node& node, const std::vector<Tensor>& inputs) {
  Interpreter interpreter;
  EXPECT_TRUE(interpreter.create(FloatModel(), 1).ok());
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  std::vector<Tensor> outputs;
  const Status status = interpreter.run_node(node, pointers, &outputs);
  EXPECT_FALSE(status.ok());
  return status.message();
}

// Returns the model's outputs for its inputs, by name.
inline std::map<std::string, Tensor> run_model(const FloatModel& model,
                                               const std::map<std::string, Tensor>& feeds,
                                               int threads = 1, const char* isa = nullptr) {
  Interpreter interpreter;
  Status status = interpreter.create(model, threads, isa);
  std::map<std::string, Tensor> outputs;
  if (status.ok()) status = interpreter.run(feeds, nullptr, &outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  return outputs;
}

// Checks each element to within `relative` times the greatest magnitude of `want`.
inline void expect_near(const std::vector<float>& got, const std::vector<float>& want,
                        float relative = 1e-5f) {
  ASSERT_EQ(got.size(), want.size());
  float most = 1e-30f;
  for (float v : want) most = std::max(most, std::fabs(v));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], relative * most) << "element " << i;
}

inline int count_of(const FloatModel& model, const std::string& op) {
  int count = 0;
  for (const Node& node : model.nodes) count += node.op == op;
  return count;
}

// Reads a float model from the bytes of an ONNX file.
inline Status read_bytes(const std::string& bytes, FloatModel* model) {
  char path[] = "/tmp/qrt_float_XXXXXX";
  const int fd = mkstemp(path);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(fd);
  Status status = quantize::read_float_model(path, model);
  remove(path);
  return status;
}

}  // namespace qrt::testing::floats

#endif  // QRT_TESTS_QUANTIZE_FLOAT_CASES_H_

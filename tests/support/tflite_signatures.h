// SPDX-License-Identifier: Apache-2.0
// TFLite models of several signatures, each with a subgraph of its own.
#ifndef QRT_TESTS_SUPPORT_TFLITE_SIGNATURES_H_
#define QRT_TESTS_SUPPORT_TFLITE_SIGNATURES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/tflite_builder.h"

namespace qrt::testing {

using SignatureNames = std::vector<std::pair<std::string, uint32_t>>;  // of tensors

inline void add_signature(TfliteBuilder* b, const std::string& name, uint32_t subgraph,
                          const SignatureNames& inputs, const SignatureNames& outputs) {
  auto signature = std::make_unique<tflite::SignatureDefT>();
  signature->signature_key = name;
  signature->subgraph_index = subgraph;
  const auto add = [](const SignatureNames& names,
                      std::vector<std::unique_ptr<tflite::TensorMapT>>* to) {
    for (const auto& [text, tensor] : names) {
      to->push_back(std::make_unique<tflite::TensorMapT>());
      to->back()->name = text;
      to->back()->tensor_index = tensor;
    }
  };
  add(inputs, &signature->inputs);
  add(outputs, &signature->outputs);
  b->model.signature_defs.push_back(std::move(signature));
}

// Moves what was built so far into a subgraph behind the others and begins the first one anew.
inline uint32_t move_to_new_subgraph(TfliteBuilder* b) {
  b->model.subgraphs.push_back(std::move(b->model.subgraphs[0]));
  b->model.subgraphs[0] = std::make_unique<tflite::SubGraphT>();
  return static_cast<uint32_t>(b->model.subgraphs.size()) - 1;
}

// Adds a model of one operator to the first subgraph: int8 [1, 4], tensors "t0" and "t1".
inline void add_unary(TfliteBuilder* b, BuiltinOperator code) {
  const int x = b->input(TensorType::INT8, {1, 4}, 0.5f, 0);
  b->op(code, {x}, {b->output(TensorType::INT8, {1, 4}, 0.5f, 0)});
}

// "positive" is a RELU, "size" an ABS, with inputs "x" and outputs "y".
inline TfliteBuilder two_signatures() {
  TfliteBuilder b;
  add_unary(&b, BuiltinOperator::ABS);
  const uint32_t second = move_to_new_subgraph(&b);
  add_unary(&b, BuiltinOperator::RELU);
  add_signature(&b, "positive", 0, {{"x", 0}}, {{"y", 1}});
  add_signature(&b, "size", second, {{"x", 0}}, {{"y", 1}});
  return b;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_TFLITE_SIGNATURES_H_

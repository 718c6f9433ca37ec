// SPDX-License-Identifier: Apache-2.0
// Builds small TFLite models by the reader schema's object API, writes them to a temporary file and
// imports, converts and runs them.
#ifndef QRT_TESTS_SUPPORT_TFLITE_BUILDER_H_
#define QRT_TESTS_SUPPORT_TFLITE_BUILDER_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "converter/convert.h"
#include "tests/support/imported.h"
#include "tflite_generated.h"

namespace qrt::testing {

using convert::TfliteReference;
using tflite::BuiltinOperator;
using tflite::TensorType;

inline Imported import_tflite_bytes(const Bytes& bytes,
                                    TfliteReference reference = TfliteReference::kDoubleRounding) {
  return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
    return convert::import_tflite(path, reference, &to->graph, &to->report);
  });
}

class TfliteBuilder {
 public:
  using Dims = std::vector<int32_t>;

  // The functions that use all options' types are in tflite_builder.cc: it takes long to compile.
  TfliteBuilder();
  TfliteBuilder(TfliteBuilder&&) noexcept;
  TfliteBuilder& operator=(TfliteBuilder&&) noexcept;
  ~TfliteBuilder();

  tflite::SubGraphT& graph() { return *model.subgraphs[0]; }
  tflite::TensorT& at(int tensor) { return *graph().tensors[static_cast<size_t>(tensor)]; }

  int tensor(TensorType type, const Dims& shape, std::vector<float> scale = {},
             std::vector<int64_t> zero_point = {}, int axis = 0) {
    auto t = std::make_unique<tflite::TensorT>();
    t->name = "t" + std::to_string(graph().tensors.size());
    t->type = type;
    t->shape = shape;
    if (!scale.empty()) {
      t->quantization = std::make_unique<tflite::QuantizationParametersT>();
      t->quantization->scale = std::move(scale);
      t->quantization->zero_point = std::move(zero_point);
      t->quantization->quantized_dimension = axis;
    }
    graph().tensors.push_back(std::move(t));
    return static_cast<int>(graph().tensors.size()) - 1;
  }
  int input(TensorType type, const Dims& shape, float scale = 0, int64_t zero_point = 0) {
    graph().inputs.push_back(activation(type, shape, scale, zero_point));
    return graph().inputs.back();
  }
  int output(TensorType type, const Dims& shape, float scale = 0, int64_t zero_point = 0) {
    graph().outputs.push_back(activation(type, shape, scale, zero_point));
    return graph().outputs.back();
  }
  int activation(TensorType type, const Dims& shape, float scale, int64_t zero_point) {
    return scale == 0 ? tensor(type, shape) : tensor(type, shape, {scale}, {zero_point});
  }
  template <class T>
  int constant(TensorType type, const Dims& shape, const std::vector<T>& values,
               std::vector<float> scale = {}, std::vector<int64_t> zero_point = {}, int axis = 0) {
    const int id = tensor(type, shape, std::move(scale), std::move(zero_point), axis);
    at(id).buffer = static_cast<uint32_t>(model.buffers.size());
    model.buffers.push_back(std::make_unique<tflite::BufferT>());
    model.buffers.back()->data = to_bytes(values);
    return id;
  }

  tflite::OperatorT& op(BuiltinOperator code, std::vector<int> inputs, std::vector<int> outputs);
  template <class Options>
  tflite::OperatorT& op(BuiltinOperator code, std::vector<int> inputs, std::vector<int> outputs,
                        Options options) {
    tflite::OperatorT& o = op(code, std::move(inputs), std::move(outputs));
    o.builtin_options.type = tflite::BuiltinOptionsUnionTraits<Options>::enum_value;
    o.builtin_options.value = new Options(std::move(options));
    return o;
  }

  Bytes build() const;
  Imported import(TfliteReference reference = TfliteReference::kDoubleRounding) const {
    return import_tflite_bytes(build(), reference);
  }
  // Converts and runs it.
  std::vector<Bytes> run(const std::vector<Bytes>& inputs,
                         TfliteReference reference = TfliteReference::kDoubleRounding) const {
    return run_imported(model, import(reference), inputs);
  }

  tflite::ModelT model;
};

// Returns the map that a custom operator has.
Bytes custom_options(const std::vector<std::pair<const char*, int>>& integers,
                     const std::vector<std::pair<const char*, float>>& floats);

// Checks that the rule by which a model's only operator is refused holds `part`.
inline void expect_rule(const TfliteBuilder& builder, const std::string& part) {
  const Imported imported = builder.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  ASSERT_NE(imported.rule().find(part), std::string::npos) << imported.report.text(true);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_TFLITE_BUILDER_H_

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tflite_builder.h"

#include <flatbuffers/flexbuffers.h>

#include <algorithm>

namespace qrt::testing {

TfliteBuilder::TfliteBuilder() {
  model.version = 3;
  model.buffers.push_back(std::make_unique<tflite::BufferT>());
  model.subgraphs.push_back(std::make_unique<tflite::SubGraphT>());
}
TfliteBuilder::TfliteBuilder(TfliteBuilder&&) noexcept = default;
TfliteBuilder& TfliteBuilder::operator=(TfliteBuilder&&) noexcept = default;
TfliteBuilder::~TfliteBuilder() = default;

tflite::OperatorT& TfliteBuilder::op(BuiltinOperator code, std::vector<int> inputs,
                                     std::vector<int> outputs) {
  auto c = std::make_unique<tflite::OperatorCodeT>();
  c->builtin_code = code;
  c->deprecated_builtin_code = static_cast<int8_t>(std::min(static_cast<int>(code), 127));
  auto o = std::make_unique<tflite::OperatorT>();
  o->opcode_index = static_cast<uint32_t>(model.operator_codes.size());
  o->inputs = std::move(inputs);
  o->outputs = std::move(outputs);
  model.operator_codes.push_back(std::move(c));
  graph().operators.push_back(std::move(o));
  return *graph().operators.back();
}

Bytes TfliteBuilder::build() const {
  flatbuffers::FlatBufferBuilder fbb;
  tflite::FinishModelBuffer(fbb, tflite::CreateModel(fbb, &model));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

Bytes custom_options(const std::vector<std::pair<const char*, int>>& integers,
                     const std::vector<std::pair<const char*, float>>& floats) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    for (const auto& [name, value] : integers) builder.Int(name, value);
    for (const auto& [name, value] : floats) builder.Float(name, value);
  });
  builder.Finish();
  return builder.GetBuffer();
}

}  // namespace qrt::testing

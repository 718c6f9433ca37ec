// SPDX-License-Identifier: Apache-2.0
// Builds .qrt files for tests through the flatbuffer object API, chained and with sensible
// defaults:
//
//   ModelBuilder m;
//   const uint32_t x = m.input({-1, 8, 8, 3});
//   const uint32_t y = m.output({-1, 1, 1, 3});
//   m.op(options, {x}, {y});
//   const std::vector<uint8_t> file = m.build();
//
// Nothing is checked here: a test damages what it wants through model() or the references that
// op() and tensor() return.
#ifndef QRT_TESTS_SUPPORT_MODEL_BUILDER_H_
#define QRT_TESTS_SUPPORT_MODEL_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/depthwise/pack.h"
#include "kernels/edge/packed.h"
#include "kernels/gemm/pack.h"
#include "kernels/requant.h"
#include "qrt_model_generated.h"
#include "runtime/tensor.h"

namespace qrt::testing {

inline uint32_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

inline std::vector<uint32_t> float_bits(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (float f : values) bits.push_back(float_bits(f));
  return bits;
}

// Returns a requantisation of kind F32, zero point after, full range, with one scale or one per channel.
inline std::unique_ptr<fb::RequantT> requant_f32(const std::vector<float>& scale,
                                                 int32_t zero_point = 0) {
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::F32;
  r->scale = float_bits(scale);
  r->zero_point = zero_point;
  return r;
}

// INT, one stage, half up.
inline std::unique_ptr<fb::RequantT> requant_int(int32_t multiplier, uint8_t shift,
                                                 int32_t zero_point = 0) {
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::INT;
  r->zero_point = zero_point;
  auto stage = std::make_unique<fb::RequantStageT>();
  stage->multiplier = {multiplier};
  stage->shift = {shift};
  r->stages.push_back(std::move(stage));
  return r;
}

// Returns the two stages of TFLite's double rounding: multiplier / 2^31, then / 2^shift.
inline std::vector<std::unique_ptr<fb::RequantStageT>> double_rounding(int32_t multiplier,
                                                                       uint8_t shift) {
  std::vector<std::unique_ptr<fb::RequantStageT>> stages(2);
  for (auto& stage : stages) stage = std::make_unique<fb::RequantStageT>();
  stages[0]->multiplier = {multiplier};
  stages[0]->shift = {31};
  stages[1]->multiplier = {1};
  stages[1]->shift = {shift};
  stages[1]->rounding = fb::Rounding::HALF_AWAY;
  return stages;
}

// Returns an Lstm's options, but for how its output is requantised.
inline fb::LstmOptionsT lstm_options() {
  fb::LstmOptionsT lstm;
  for (int g = 0; g < 4; ++g) {
    lstm.gates.push_back(std::make_unique<fb::LstmGateT>());
    lstm.gates.back()->input_stages = double_rounding(1 << 30, 2);
    lstm.gates.back()->recurrent_stages = double_rounding(1 << 30, 3);
  }
  lstm.keep_stages = double_rounding(1 << 30, 14);
  lstm.add_stages = double_rounding(1 << 30, 14);
  return lstm;
}

// Returns v by the stages of double_rounding().
inline int32_t rounded_twice(int64_t v, int32_t multiplier, int shift) {
  const int64_t high = (v * multiplier + (int64_t{1} << 30)) >> 31;
  return static_cast<int32_t>(rounding_shift(high, shift, Round::kHalfAway));
}

inline std::unique_ptr<fb::RequantT> requant_acc() { return std::make_unique<fb::RequantT>(); }

class ModelBuilder {
 public:
  ModelBuilder() {
    model_.version = 1;
    model_.producer = "qrt tests";
    model_.source_format = "onnx";
    model_.reference = "ort-x64-fma";
    model_.name = "test";
    model_.buffers.push_back(std::make_unique<fb::BufferT>());
  }

  // Adds a tensor that some operator writes, and returns its index.
  uint32_t tensor(const Shape& shape, DType dtype = DType::kUInt8, std::string name = "") {
    auto t = std::make_unique<fb::TensorT>();
    t->name = name.empty() ? "t" + std::to_string(model_.tensors.size()) : std::move(name);
    t->dtype = static_cast<fb::DType>(dtype);
    for (int64_t d : shape) t->shape.push_back(static_cast<int32_t>(d));
    model_.tensors.push_back(std::move(t));
    return static_cast<uint32_t>(model_.tensors.size() - 1);
  }

  uint32_t input(const Shape& shape, DType dtype = DType::kUInt8, std::string name = "") {
    const uint32_t t = tensor(shape, dtype, std::move(name));
    model_.inputs.push_back(t);
    return t;
  }

  uint32_t output(const Shape& shape, DType dtype = DType::kUInt8, std::string name = "") {
    const uint32_t t = tensor(shape, dtype, std::move(name));
    model_.outputs.push_back(t);
    return t;
  }

  // Makes a tensor a variable, which becomes `next` after a run.
  void variable(uint32_t tensor, uint32_t next, int32_t initial = 0) {
    auto v = std::make_unique<fb::VariableT>();
    v->tensor = tensor;
    v->next = next;
    v->initial = initial;
    model_.variables.push_back(std::move(v));
  }

  // Makes an existing tensor an output of the model.
  void mark_output(uint32_t tensor) { model_.outputs.push_back(tensor); }

  uint32_t buffer(const void* data, size_t bytes) {
    auto b = std::make_unique<fb::BufferT>();
    b->data.assign(static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + bytes);
    model_.buffers.push_back(std::move(b));
    return static_cast<uint32_t>(model_.buffers.size() - 1);
  }

  // Adds a buffer that no tensor names: a table of Lut or Softmax.
  template <class T>
  uint32_t buffer(const std::vector<T>& elements) {
    return buffer(elements.data(), elements.size() * sizeof(T));
  }

  template <class T>
  uint32_t constant(const Shape& shape, DType dtype, const std::vector<T>& elements,
                    std::string name = "") {
    const uint32_t t = tensor(shape, dtype, std::move(name));
    model_.tensors[t]->buffer = buffer(elements);
    return t;
  }

  uint32_t bias(const std::vector<int32_t>& values) {
    return constant({static_cast<int64_t>(values.size())}, DType::kInt32, values);
  }

  // Adds an INT8 constant whose bytes are packed already.
  uint32_t packed(const Shape& shape, fb::Packing packing, const std::vector<int8_t>& bytes) {
    const uint32_t t = constant(shape, DType::kInt8, bytes);
    model_.tensors[t]->packing = packing;
    return t;
  }

  // Adds packed weights, of which `packed` holds codes of 4 or 2 bits, one a byte. `offsets`: 16
  // per block of 16 channels, or none.
  uint32_t narrow(const Shape& shape, fb::Packing packing, int bits,
                  const std::vector<int8_t>& packed, const std::vector<int8_t>& offsets = {}) {
    std::vector<uint8_t> codes(packed.begin(), packed.end());
    std::vector<uint8_t> bytes(codes.size() * static_cast<size_t>(bits) / 8);
    pack_codes(bits, codes.data(), codes.size(), bytes.data());
    const uint32_t t = constant(shape, bits == 4 ? DType::kInt4 : DType::kInt2, bytes);
    model_.tensors[t]->packing = packing;
    model_.tensors[t]->weight_offset = offsets;
    return t;
  }

  // Weights [out][in] of a FullyConnected, or with `shape` [out, kh, kw, in / groups] of a Conv2D
  // with PIXEL taps and one term.
  uint32_t gemm_weights(const Shape& shape, const std::vector<int8_t>& weights, size_t groups = 1) {
    const size_t out = static_cast<size_t>(shape[0]) / groups;
    const size_t taps = shape.rank() == 4 ? static_cast<size_t>(shape[1] * shape[2]) : 1;
    const size_t k = static_cast<size_t>(shape[shape.rank() - 1]);
    const size_t bytes = gemm_packed_bytes(out, taps, k);
    std::vector<int8_t> data(bytes * groups);
    for (size_t g = 0; g < groups; ++g) {
      gemm_pack(weights.data() + g * out * taps * k, out, taps, k, data.data() + g * bytes);
    }
    return packed(shape, fb::Packing::GEMM, data);
  }

  // Weights [terms][kh][kw][out] of a DepthwiseConv2D; `shape` is [kh, kw, out].
  uint32_t depthwise_weights(const Shape& shape, const std::vector<int8_t>& weights) {
    const size_t kh = static_cast<size_t>(shape[0]), kw = static_cast<size_t>(shape[1]),
                 channels = static_cast<size_t>(shape[2]), elements = kh * kw * channels;
    const size_t terms = weights.size() / elements;
    const size_t term_bytes = depthwise_packed_bytes(channels, kh, kw);
    std::vector<int8_t> data(terms * term_bytes);
    for (size_t t = 0; t < terms; ++t)
      depthwise_pack(weights.data() + t * elements, channels, kh, kw, data.data() + t * term_bytes);
    return packed(shape, fb::Packing::DEPTHWISE, data);
  }

  // Appends an operator; Options is one of fb::*OptionsT. Move the options in where they hold a
  // Requant.
  template <class Options>
  fb::OperatorT& op(Options options, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs) {
    auto o = std::make_unique<fb::OperatorT>();
    o->name = "op" + std::to_string(model_.operators.size());
    o->source_op = "Test";
    o->options.Set(std::move(options));
    o->inputs = std::move(inputs);
    o->outputs = std::move(outputs);
    model_.operators.push_back(std::move(o));
    return *model_.operators.back();
  }

  fb::ModelT& model() { return model_; }
  fb::TensorT& at(uint32_t tensor) { return *model_.tensors[tensor]; }

  // Returns the file's bytes. An unreferenced vector, written first and so at the end of the file,
  // gives the last buffer its slack.
  std::vector<uint8_t> build() const {
    flatbuffers::FlatBufferBuilder fbb;
    fbb.CreateVector(std::vector<uint8_t>(64));
    fb::FinishModelBuffer(fbb, fb::CreateModel(fbb, &model_));
    return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
  }

 private:
  fb::ModelT model_;
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_MODEL_BUILDER_H_

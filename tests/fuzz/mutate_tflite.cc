// SPDX-License-Identifier: Apache-2.0
// Changes fields of the flatbuffer where they stand, or unpacks the model, changes its graph - operators, what
// they read, shapes, types, quantisation - and writes it anew.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_fields.h"
#include "tflite_generated.h"
#include "tflite_types.h"

namespace qrt::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

// Numbers that are frequent in TFLite models, and limits.
constexpr int32_t kNumbers[] = {0,   1,  2,   3,   4,    7,     8,         -1,        -2, 16, 64,
                                127, -4, 255, 256, 1000, 65536, INT32_MAX, INT32_MIN, 15, 17};
constexpr float kScales[] = {0.5f, 1.0f, 0.0039f, 0.1f, 1e-9f, 1e9f, 0.0f, 0.25f, 1e-38f};

class GraphMutator {
 public:
  GraphMutator(tflite::ModelT* model, unsigned seed) : model_(*model), random_(seed) {}

  void run() {
    if (model_.subgraphs.empty() || model_.subgraphs[0]->tensors.empty()) return;
    for (int n = 1 + static_cast<int>(below(3)); n > 0; --n) mutate(model_.subgraphs[0].get());
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }
  template <class T, size_t N>
  T any(const T (&of)[N]) {
    return of[below(N)];
  }
  int32_t tensor(const tflite::SubGraphT& g) {
    return static_cast<int32_t>(below(g.tensors.size()));
  }

  void mutate(tflite::SubGraphT* g) {
    tflite::TensorT* t = g->tensors[below(g->tensors.size())].get();
    tflite::OperatorT* op =
        g->operators.empty() ? nullptr : g->operators[below(g->operators.size())].get();
    switch (below(12)) {
      case 0: return shape(t);
      case 1: t->type = static_cast<tflite::TensorType>(below(24)); return;
      case 2: return quantisation(t);
      case 3: t->buffer = static_cast<uint32_t>(below(model_.buffers.size() + 1)); return;
      case 4: t->is_variable = !t->is_variable; return;
      case 5: return operands(*g, &g->outputs);
      case 6:
        if (op != nullptr) operands(*g, &op->inputs);
        return;
      case 7:
        if (op != nullptr) repeat(g, *op);
        return;
      case 8:
        if (g->operators.size() > 1)
          g->operators.erase(g->operators.begin() +
                             static_cast<ptrdiff_t>(below(g->operators.size())));
        return;
      case 9:  // what two operators do changes places
        if (op != nullptr)
          std::swap(op->builtin_options, g->operators[below(g->operators.size())]->builtin_options);
        return;
      case 10:
        if (op != nullptr && !op->custom_options.empty())
          op->custom_options[below(op->custom_options.size())] = static_cast<uint8_t>(random_());
        return;
      default:
        if (op != nullptr) code(op);
    }
  }

  // Gives a tensor another shape, as often as not with the data that it needs.
  void shape(tflite::TensorT* t) {
    if (!t->shape.empty() && below(3) != 0) {
      t->shape[below(t->shape.size())] = any(kNumbers);
    } else if (below(2) != 0 && !t->shape.empty()) {
      t->shape.pop_back();
    } else {
      t->shape.push_back(static_cast<int32_t>(1 + below(4)));
    }
    if (t->buffer == 0 || t->buffer >= model_.buffers.size() || below(2) == 0) return;
    size_t elements = 1;
    for (const int32_t d : t->shape)
      elements *= std::min<size_t>(static_cast<size_t>(std::max(d, 1)), 64);
    auto& data = model_.buffers[t->buffer]->data;
    data.resize(std::min<size_t>(elements << below(4), 4096), static_cast<uint8_t>(random_() >> 8));
  }

  void quantisation(tflite::TensorT* t) {
    if (t->quantization == nullptr)
      t->quantization = std::make_unique<tflite::QuantizationParametersT>();
    auto& q = *t->quantization;
    switch (below(4)) {
      case 0: q.quantized_dimension = any(kNumbers); return;
      case 1: {  // of one channel, or as many as one of its dimensions has
        const int32_t of = t->shape.empty() ? 1 : t->shape[below(t->shape.size())];
        const size_t n = below(2) == 0 ? 1 : static_cast<size_t>(std::clamp(of, 1, 64));
        q.scale.assign(n, any(kScales));
        q.zero_point.assign(n, any(kNumbers));
        return;
      }
      case 2:
        if (!q.scale.empty()) q.scale[below(q.scale.size())] = any(kScales);
        return;
      default:
        if (!q.zero_point.empty()) q.zero_point[below(q.zero_point.size())] = any(kNumbers);
    }
  }

  void operands(const tflite::SubGraphT& g, std::vector<int32_t>* all) {
    const size_t kind = below(4);
    if (kind == 0 || all->empty()) return all->push_back(tensor(g));
    const size_t i = below(all->size());
    if (kind == 1)
      all->erase(all->begin() + static_cast<ptrdiff_t>(i));
    else
      (*all)[i] = kind == 2 ? -1 : tensor(g);
  }

  // Adds a copy of the operator with outputs of its own, the first of which another operator then reads.
  void repeat(tflite::SubGraphT* g, const tflite::OperatorT& op) {
    auto copy = std::make_unique<tflite::OperatorT>(op);
    for (int32_t& output : copy->outputs) {
      if (output < 0 || static_cast<size_t>(output) >= g->tensors.size()) return;
      auto twin = std::make_unique<tflite::TensorT>(*g->tensors[static_cast<size_t>(output)]);
      output = static_cast<int32_t>(g->tensors.size());
      g->tensors.push_back(std::move(twin));
    }
    tflite::OperatorT& reader = *g->operators[below(g->operators.size())];
    if (!reader.inputs.empty() && !copy->outputs.empty())
      reader.inputs[below(reader.inputs.size())] = copy->outputs[0];
    g->operators.insert(
        g->operators.begin() + static_cast<ptrdiff_t>(below(g->operators.size() + 1)),
        std::move(copy));
  }

  // Makes it another operator: a code of the file, or one of its own with the options as they are.
  void code(tflite::OperatorT* op) {
    if (below(2) != 0 && !model_.operator_codes.empty()) {
      op->opcode_index = static_cast<uint32_t>(below(model_.operator_codes.size()));
      return;
    }
    const auto last = static_cast<size_t>(tflite::BuiltinOperator::BROADCAST_TO);
    auto made = std::make_unique<tflite::OperatorCodeT>();
    made->builtin_code = static_cast<tflite::BuiltinOperator>(below(last + 1));
    made->deprecated_builtin_code =
        static_cast<int8_t>(std::min<size_t>(static_cast<size_t>(made->builtin_code), 127));
    op->opcode_index = static_cast<uint32_t>(model_.operator_codes.size());
    model_.operator_codes.push_back(std::move(made));
  }

  tflite::ModelT& model_;
  std::minstd_rand random_;
};

Bytes with_another_graph(const Bytes& file, unsigned seed) {
  const auto model = tflite::UnPackModel(file.data());
  for (auto& graph : model->subgraphs) {  // copies and Pack want a table where there is a type
    for (auto& op : graph->operators)
      if (op->builtin_options.value == nullptr) op->builtin_options.Reset();
    for (auto& tensor : graph->tensors)
      if (auto& q = tensor->quantization; q != nullptr && q->details.value == nullptr)
        q->details.Reset();
  }
  GraphMutator(model.get(), seed).run();
  flatbuffers::FlatBufferBuilder fbb;
  tflite::FinishModelBuffer(fbb, tflite::CreateModel(fbb, model.get()));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

// Returns whether every number of the file is aligned. A verifier checks the place of a vector's
// length alone, behind which int64 elements need not be aligned; unpacking reads them there.
bool is_aligned(const Bytes& file) {
  const auto numbers = testing::fields_of(file, tflite_types::ModelTypeTable()).numbers;
  return std::all_of(numbers.begin(), numbers.end(),
                     [](const testing::Field& field) { return field.at % field.bytes == 0; });
}

}  // namespace

std::vector<uint8_t> mutate_tflite(const std::vector<uint8_t>& file, unsigned seed) {
  if (!is_whole(file, tflite::VerifyModelBuffer, tflite_types::ModelTypeTable())) return {};
  if (seed % 2 != 0 && is_aligned(file)) return with_another_graph(file, seed);
  Bytes changed = file;
  FieldMutator(seed).run(&changed, tflite_types::ModelTypeTable());
  return changed;
}

}  // namespace qrt::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/runs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>

namespace qrt::convert {
namespace {

// Fills a tensor with numbers that make ordinary activations: floats between -4 and 4, any bytes; and with such integers
// where they are wider.
void fill(uint8_t* data, const TensorType& type, const LargeIntegers& integers,
          std::mt19937* random) {
  const auto elements = static_cast<size_t>(type.shape.elements());
  if (type.dtype == DType::kFloat32) {
    std::uniform_real_distribution<float> real(-4.0f, 4.0f);
    for (size_t i = 0; i < elements; ++i) {
      const float value = real(*random);
      memcpy(data + i * sizeof value, &value, sizeof value);
    }
    return;
  }
  const size_t bytes = tensor_bytes(type), width = dtype_bytes(type.dtype);
  if (width > 2 && elements == 1 && integers.alone != 0) {
    memcpy(data, &integers.alone, width);  // the low bytes
    return;
  }
  if (width > 2) {
    memset(data, 0, bytes);
    for (size_t i = 0; i < bytes; i += width)
      data[i] = static_cast<uint8_t>(((*random)() & static_cast<unsigned>(integers.most)) |
                                     static_cast<unsigned>(integers.least));
    return;
  }
  for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
    const auto bits = static_cast<uint32_t>((*random)());
    memcpy(data + i, &bits, std::min(bytes - i, sizeof bits));
  }
}

uint64_t mixed(uint64_t v) {
  v = (v + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 31)) * 0x94d049bb133111ebu;
  return v ^ (v >> 29);
}

template <class T>
uint64_t sum_of_mixed(const uint8_t* data, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T element;
    memcpy(&element, data + i, sizeof element);
    sum += mixed(element);
  }
  return sum;
}

// Returns a digest that does not depend on the order of the elements, of `width` bytes each.
uint64_t unordered_digest(const uint8_t* data, size_t bytes, size_t width) {
  switch (width) {
    case 8: return sum_of_mixed<uint64_t>(data, bytes);
    case 4: return sum_of_mixed<uint32_t>(data, bytes);
    case 2: return sum_of_mixed<uint16_t>(data, bytes);
    default: break;
  }
  std::array<uint64_t, 256> counts{};
  for (size_t i = 0; i < bytes; ++i) ++counts[data[i]];
  uint64_t digest = 0;
  for (const uint64_t count : counts) digest = mixed(digest ^ count);
  return digest;
}

// Returns what the operators of a session wrote that keeps all of it.
std::map<std::string, Written> written_by(const Session& session) {
  const Plan& plan = session.plan();
  const fb::Model& file = plan.model->file();
  std::map<std::string, Written> written;
  std::set<std::string> doubles;
  for (const fb::Operator* op : *file.operators())
    for (const uint32_t t : *op->outputs()) {
      const flatbuffers::String* known = file.tensors()->Get(t)->name();
      const std::string name = known == nullptr ? "" : known->str();
      const uint8_t* data = session.data(t);
      const TensorType& type = plan.types[t];
      const uint64_t digest =
          data == nullptr ? 0 : unordered_digest(data, tensor_bytes(type), dtype_bytes(type.dtype));
      const Written entry = {op->options_type(), type.dtype, type.shape.elements(), digest};
      if (name.empty() || !written.emplace(name, entry).second) doubles.insert(name);
    }
  for (const std::string& name : doubles) written.erase(name);
  return written;
}

// Bytes that a session may have at sizes at which a comparison is worth them: those of a small file, and more by
// the size of the source.
constexpr uint64_t kSessionBytes = uint64_t{128} << 20, kSessionBytesPerByte = 8;

}  // namespace

Result<std::shared_ptr<const VerifiedModel>> load(const std::vector<uint8_t>& file) {
  Result<ModelBytes> bytes = ModelBytes::borrow(file.data(), file.size());
  if (!bytes.ok()) return std::move(bytes.status());
  return verify(std::move(*bytes));
}

bool are_equal(const Results& a, const Results& b) {
  if (!std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                  [](const Output& x, const Output& y) {
                    return x.type.dtype == y.type.dtype && x.type.shape == y.type.shape &&
                           x.data == y.data;
                  }))
    return false;
  return std::all_of(a.written.begin(), a.written.end(), [&](const auto& entry) {
    const auto other = b.written.find(entry.first);
    if (other == b.written.end()) return true;
    const Written &x = entry.second, &y = other->second;
    return x.by != y.by || x.dtype != y.dtype || (x.elements == y.elements && x.digest == y.digest);
  });
}

SessionOptions options_at(const Sizes& sizes, uint64_t source_bytes) {
  SessionOptions options;
  options.threads = 1;
  for (const int64_t size : sizes) options.sizes.push_back(size);
  options.max_memory = static_cast<size_t>(
      std::min<uint64_t>(kSessionBytes + kSessionBytesPerByte * source_bytes, SIZE_MAX / 2));
  return options;
}

uint64_t steps_of_run(const Plan& plan) {
  constexpr uint64_t kMacsPerStep = 64, kBytesPerStep = 3, kStepsPerInputByte = 4;
  uint64_t steps = 0;
  for (const PlannedStep& step : plan.steps)
    steps += step.macs / kMacsPerStep + step_bytes(plan, step).all / kBytesPerStep;
  for (const ModelTensor& input : plan.inputs)
    steps += kStepsPerInputByte * plan.slot_bytes(input.slot);
  return steps;
}

Status run_on_numbers(const std::shared_ptr<const VerifiedModel>& model,
                      const SessionOptions& options, const LargeIntegers& integers,
                      Results* results) {
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  if (!session.ok()) return std::move(session.status());
  const Plan& plan = (*session)->plan();
  std::mt19937 random(1);
  for (const ModelTensor& input : plan.inputs)
    fill((*session)->data(input.slot), plan.types[input.slot], integers, &random);
  for (const fb::Variable* v : plan.variables)
    fill((*session)->data(v->tensor()), plan.types[v->tensor()], integers, &random);
  QRT_TRY((*session)->run());
  const auto take = [&](uint32_t slot) {
    const TensorType& type = plan.types[slot];
    const uint8_t* data = (*session)->data(slot);
    results->outputs.push_back({type, std::vector<uint8_t>(data, data + tensor_bytes(type))});
  };
  for (const ModelTensor& output : plan.outputs) take(output.slot);
  for (const fb::Variable* v : plan.variables) take(v->tensor());
  if (options.keep_all) results->written = written_by(**session);
  return Status();
}

}  // namespace qrt::convert

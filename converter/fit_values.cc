// SPDX-License-Identifier: Apache-2.0
// Values to test a model with, and the model's inputs and outputs that they are for.
#include "converter/check_values.h"
#include "runtime/verify.h"

namespace qrt::convert {
namespace {

constexpr int64_t kNoSize = -1;

// Sets the size of an open dimension by a value's shape. kInvalidModel where another value has set another size.
Status set_size(int64_t size, const std::string& value, const std::string& dimension,
                int64_t* set) {
  if (*set == kNoSize || *set == size) {
    *set = size;
    return {};
  }
  return error(Code::kInvalidModel,
               "the test values of the input '%s' have a size of %lld for '%s', those of another "
               "input %lld",
               value.c_str(), static_cast<long long>(size), dimension.c_str(),
               static_cast<long long>(*set));
}

// Sets the sizes that one input's values have, those of symbols and the batch.
Status take_sizes(const fb::Model& file, const fb::Tensor& tensor, const Shape& shape,
                  std::vector<int64_t>* symbols, int64_t* batch) {
  const std::string name = flatbuffers::GetString(tensor.name());
  if (tensor.shape()->size() > 0 && tensor.shape()->Get(0) < 0 && shape.rank() > 0)
    QRT_TRY(set_size(shape[0], name, "batch", batch));
  if (tensor.sizes() == nullptr || shape.rank() != static_cast<int>(tensor.sizes()->size()))
    return {};
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t symbol = symbol_of(*tensor.sizes()->Get(static_cast<uint32_t>(d)));
    if (symbol < 0) continue;
    QRT_TRY(set_size(shape[d], name,
                     file.symbols()->Get(static_cast<uint32_t>(symbol))->name()->str(),
                     &(*symbols)[static_cast<size_t>(symbol)]));
  }
  return {};
}

}  // namespace

const TestTensor* find_values(const std::vector<TestTensor>& values, const std::string& name) {
  for (const TestTensor& t : values)
    if (t.name == name) return &t;
  return nullptr;
}

Status find_sizes(const VerifiedModel& model, const TestValues& values, PlanOptions* options) {
  const fb::Model& file = model.file();
  std::vector<int64_t> symbols(symbol_count(file), kNoSize);
  int64_t batch = kNoSize;
  for (const uint32_t input : *file.inputs()) {
    const fb::Tensor& tensor = model.tensor(input);
    if (const TestTensor* found = find_values(values.inputs, flatbuffers::GetString(tensor.name())))
      QRT_TRY(take_sizes(file, tensor, found->shape, &symbols, &batch));
  }
  options->sizes = default_sizes(file);
  for (size_t s = 0; s < symbols.size(); ++s)
    if (symbols[s] != kNoSize) options->sizes[s] = symbols[s];
  options->batch = batch > 0 ? static_cast<size_t>(batch) : model.default_batch();
  return {};
}

Status check_fit(const VerifiedModel& model, const Plan& plan, const TestValues& values) {
  const auto check_side = [&](const char* kind, const flatbuffers::Vector<uint32_t>& slots,
                              const std::vector<TestTensor>& tensors) -> Status {
    for (const uint32_t slot : slots) {
      const fb::Tensor& tensor = model.tensor(slot);
      const std::string name = flatbuffers::GetString(tensor.name());
      const TestTensor* found = find_values(tensors, name);
      if (found == nullptr)
        return error(Code::kInvalidArgument, "there are no test values of the %s '%s'", kind,
                     name.c_str());
      const auto dtype = static_cast<DType>(tensor.dtype());
      if (dtype != found->dtype || plan.slot_bytes(slot) != found->data.size())
        return error(Code::kInvalidModel,
                     "the test values of the %s '%s' are %s of shape %s, the model takes %zu bytes "
                     "of %s",
                     kind, name.c_str(), dtype_name(found->dtype), found->shape.to_string().c_str(),
                     plan.slot_bytes(slot), dtype_name(dtype));
    }
    return {};
  };
  QRT_TRY(check_side("input", *model.file().inputs(), values.inputs));
  return check_side("output", *model.file().outputs(), values.outputs);
}

}  // namespace qrt::convert

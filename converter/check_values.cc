// SPDX-License-Identifier: Apache-2.0
#include "converter/check_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "runtime/session.h"
#include "runtime/tools/arrays.h"
#include "runtime/tools/elements.h"
#include "runtime/verify.h"

namespace qrt::convert {
namespace {

constexpr int64_t kNoSize = -1;

std::string name_of(const fb::Tensor& tensor) { return tensor.name() ? tensor.name()->str() : ""; }

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
  const std::string name = name_of(tensor);
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

// Checks that all values are for an input or output (`kind`) of the model, so that none is left out.
Status check_used(const VerifiedModel& model, const char* kind,
                  const flatbuffers::Vector<uint32_t>& slots,
                  const std::vector<TestTensor>& values) {
  std::vector<std::string> names, unused;
  for (const uint32_t slot : slots) names.push_back(name_of(model.tensor(slot)));
  const std::set<std::string> known(names.begin(), names.end());
  for (const TestTensor& t : values)
    if (known.count(t.name) == 0) unused.push_back(t.name);
  return tool::check_match(tool::Match::kArrays, kind, unused, {}, names).at("test values");
}

CheckedOutput compare(const TestTensor& want, const uint8_t* got) {
  const auto count = static_cast<size_t>(want.shape.elements());
  const tool::Elements a(want.dtype, got, count), b(want.dtype, want.data.data(), count);
  const bool is_real = tool::holds_reals(want.dtype);
  CheckedOutput result;
  result.name = want.name;
  result.elements = count;
  for (size_t i = 0; i < count; ++i) {
    const double x = a.value(i), y = b.value(i), d = std::fabs(x - y);
    if (a.same_bits(b, i) || x == y || (x != x && y != y)) continue;
    ++result.different;
    if (!(d <= result.worst)) result.worst = d;
    result.is_near &= d <= (is_real ? std::max(1e-6, std::fabs(y) * 0x1p-20) : 1.0);
  }
  return result;
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
    if (const TestTensor* found = find_values(values.inputs, name_of(tensor)))
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
      const std::string name = name_of(tensor);
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

Status check_values(const std::vector<uint8_t>& model, const TestValues& values,
                    std::vector<CheckedOutput>* outputs) {
  outputs->clear();
  Result<ModelBytes> bytes = ModelBytes::copy(model.data(), model.size());
  if (!bytes.ok()) return std::move(bytes.status());
  Result<std::shared_ptr<const VerifiedModel>> verified = verify(std::move(*bytes));
  if (!verified.ok()) return std::move(verified.status());
  QRT_TRY(check_used(**verified, "input", *(*verified)->file().inputs(), values.inputs));
  QRT_TRY(check_used(**verified, "output", *(*verified)->file().outputs(), values.outputs));
  PlanOptions sizes;
  QRT_TRY(find_sizes(**verified, values, &sizes));
  SessionOptions options;
  options.threads = 1;
  options.batch = sizes.batch;
  options.sizes = sizes.sizes;
  Result<std::unique_ptr<Session>> session = Session::create(*verified, options);
  if (!session.ok()) return std::move(session.status());
  const Plan& plan = (*session)->plan();
  QRT_TRY(check_fit(**verified, plan, values));
  const fb::Model& file = (*verified)->file();
  for (const uint32_t slot : *file.inputs()) {
    const TestTensor& input = *find_values(values.inputs, name_of((*verified)->tensor(slot)));
    memcpy((*session)->data(slot), input.data.data(), input.data.size());
  }
  QRT_TRY((*session)->run());
  for (uint32_t i = 0; i < file.outputs()->size(); ++i) {
    const std::string name = name_of((*verified)->tensor(file.outputs()->Get(i)));
    outputs->push_back(
        compare(*find_values(values.outputs, name), (*session)->data(plan.outputs[i].slot)));
  }
  return Status();
}

}  // namespace qrt::convert

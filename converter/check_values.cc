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

// The values for one of the model's edges, whose shape may have a batch in front.
Status values_for(const fb::Tensor& tensor, const char* kind, const std::vector<TestTensor>& values,
                  size_t bytes, const TestTensor** found) {
  return find_values(values, kind, tensor.name() ? tensor.name()->str() : "",
                     static_cast<DType>(tensor.dtype()), bytes, found);
}

// That of the first input, where the model leaves it open; 0: the model's own.
size_t batch_of(const fb::Model& file, const VerifiedModel& model, const TestValues& values) {
  for (const uint32_t slot : *file.inputs()) {
    const fb::Tensor& tensor = model.tensor(slot);
    const std::string name = tensor.name() ? tensor.name()->str() : "";
    for (const TestTensor& t : values.inputs)
      if (t.name == name && tensor.shape()->size() > 0 && tensor.shape()->Get(0) < 0 &&
          t.shape.rank() > 0 && t.shape[0] > 0)
        return static_cast<size_t>(t.shape[0]);
  }
  return 0;
}

// Checks that all values are for an input or output (`kind`) of the model, so that none is left out.
Status check_used(const VerifiedModel& model, const char* kind,
                  const flatbuffers::Vector<uint32_t>& slots,
                  const std::vector<TestTensor>& values) {
  std::vector<std::string> names, unused;
  for (const uint32_t slot : slots) {
    const auto* name = model.tensor(slot).name();
    names.push_back(name != nullptr ? name->str() : "");
  }
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

Status find_values(const std::vector<TestTensor>& values, const char* kind, const std::string& name,
                   DType dtype, size_t bytes, const TestTensor** found) {
  *found = nullptr;
  for (const TestTensor& t : values)
    if (!*found && t.name == name) *found = &t;
  if (!*found)
    return error(Code::kInvalidArgument, "there are no test values of the %s '%s'", kind,
                 name.c_str());
  if (dtype != (*found)->dtype || bytes != (*found)->data.size())
    return error(
        Code::kInvalidModel,
        "the test values of the %s '%s' are %s of shape %s, the model takes %zu bytes of %s", kind,
        name.c_str(), dtype_name((*found)->dtype), (*found)->shape.to_string().c_str(), bytes,
        dtype_name(dtype));
  return Status();
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
  SessionOptions options;
  options.threads = 1;
  options.batch = batch_of((*verified)->file(), **verified, values);
  Result<std::unique_ptr<Session>> session = Session::create(*verified, options);
  if (!session.ok()) return std::move(session.status());
  const Plan& plan = (*session)->plan();
  const fb::Model& file = (*verified)->file();
  for (uint32_t i = 0; i < file.inputs()->size(); ++i) {
    const uint32_t slot = file.inputs()->Get(i);
    const TestTensor* input;
    QRT_TRY(values_for((*verified)->tensor(slot), "input", values.inputs, plan.slot_bytes(slot),
                       &input));
    memcpy((*session)->data(slot), input->data.data(), input->data.size());
  }
  QRT_TRY((*session)->run());
  for (uint32_t i = 0; i < file.outputs()->size(); ++i) {
    const uint32_t index = file.outputs()->Get(i), slot = plan.outputs[i].slot;
    const TestTensor* want;
    QRT_TRY(values_for((*verified)->tensor(index), "output", values.outputs, plan.slot_bytes(index),
                       &want));
    outputs->push_back(compare(*want, (*session)->data(slot)));
  }
  return Status();
}

}  // namespace qrt::convert

#include "converter/check_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/session.h"
#include "runtime/verify.h"

namespace qrt::convert {
namespace {

// The values for one of the model's edges, whose shape may have a batch in front.
Status values_for(const fb::Tensor& tensor, const char* kind, const std::vector<TestTensor>& values,
                  size_t bytes, const TestTensor** found) {
  return find_values(values, kind, tensor.name() ? tensor.name()->str() : "",
                     static_cast<DType>(tensor.dtype()), bytes, found);
}

template <class T>
void compare_as(const uint8_t* got, const TestTensor& want, CheckedOutput* result) {
  constexpr bool is_float = std::is_same<T, float>::value;
  result->elements = want.data.size() / sizeof(T);
  for (size_t i = 0; i < result->elements; ++i) {
    T a, b;
    memcpy(&a, got + i * sizeof(T), sizeof(T));
    memcpy(&b, want.data.data() + i * sizeof(T), sizeof(T));
    if (a == b || (a != a && b != b)) continue;
    const double x = static_cast<double>(a), y = static_cast<double>(b), d = std::fabs(x - y);
    ++result->different;
    if (!(d <= result->worst)) result->worst = d;
    result->is_near &= d <= (is_float ? std::max(1e-6, std::fabs(y) * 0x1p-20) : 1.0);
  }
}

}  // namespace

Status find_values(const std::vector<TestTensor>& values, const char* kind, const std::string& name,
                   DType dtype, size_t bytes, const TestTensor** found) {
  *found = nullptr;
  for (const TestTensor& t : values)
    if (!*found && t.name == name) *found = &t;
  if (!*found)
    return error(Code::kInvalidArgument, "the file holds no test values of the %s '%s'", kind,
                 name.c_str());
  if (dtype != (*found)->dtype || bytes != (*found)->data.size())
    return error(
        Code::kInvalidArgument,
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
  SessionOptions options;
  options.threads = 1;
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
  (*session)->run();
  for (uint32_t i = 0; i < file.outputs()->size(); ++i) {
    const uint32_t index = file.outputs()->Get(i), slot = plan.outputs[i].slot;
    const TestTensor* want;
    QRT_TRY(values_for((*verified)->tensor(index), "output", values.outputs, plan.slot_bytes(index),
                       &want));
    CheckedOutput result;
    result.name = want->name;
    const uint8_t* got = (*session)->data(slot);
    switch (want->dtype) {
      case DType::kInt16: compare_as<int16_t>(got, *want, &result); break;
      case DType::kFloat32: compare_as<float>(got, *want, &result); break;
      case DType::kInt8: compare_as<int8_t>(got, *want, &result); break;
      default: compare_as<uint8_t>(got, *want, &result); break;
    }
    outputs->push_back(result);
  }
  return Status();
}

}  // namespace qrt::convert

// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/integer_runner.h"

#include <cstring>

#include "runtime/sizes.h"
#include "runtime/verify.h"

namespace qrt::quantize {
namespace {

template <class From, class To>
std::vector<To> converted(const uint8_t* data, size_t n) {
  std::vector<From> from(n);
  memcpy(from.data(), data, n * sizeof(From));
  return std::vector<To>(from.begin(), from.end());
}

bool store(const Tensor& t, DType type, size_t bytes, uint8_t* data) {
  const auto put = [&](const auto& values) {
    const size_t n = values.size() * sizeof(values[0]);
    if (n == bytes) memcpy(data, values.data(), n);
    return n == bytes;
  };
  const auto& v = t.integers;
  switch (type) {
    case DType::kFloat32: return put(t.reals);
    case DType::kInt64: return put(v);
    case DType::kInt32: return put(std::vector<int32_t>(v.begin(), v.end()));
    case DType::kInt16: return put(std::vector<int16_t>(v.begin(), v.end()));
    case DType::kUInt16: return put(std::vector<uint16_t>(v.begin(), v.end()));
    case DType::kInt8: return put(std::vector<int8_t>(v.begin(), v.end()));
    case DType::kUInt8:
    case DType::kBool: return put(std::vector<uint8_t>(v.begin(), v.end()));
    default: return false;
  }
}

bool load(DType type, size_t n, const uint8_t* data, Tensor* t) {
  switch (type) {
    case DType::kFloat32: t->reals = converted<float, float>(data, n); return true;
    case DType::kInt64:
      t->element = Element::kInt64;
      t->integers = converted<int64_t, int64_t>(data, n);
      return true;
    case DType::kInt32:
      t->element = Element::kInt32;
      t->integers = converted<int32_t, int64_t>(data, n);
      return true;
    case DType::kInt16:
      t->element = Element::kInt16;
      t->integers = converted<int16_t, int64_t>(data, n);
      return true;
    case DType::kUInt16:
      t->element = Element::kUint16;
      t->integers = converted<uint16_t, int64_t>(data, n);
      return true;
    case DType::kInt8:
      t->element = Element::kInt8;
      t->integers = converted<int8_t, int64_t>(data, n);
      return true;
    case DType::kUInt8:
    case DType::kBool:
      t->element = type == DType::kBool ? Element::kBool : Element::kUint8;
      t->integers = converted<uint8_t, int64_t>(data, n);
      return true;
    default: return false;
  }
}

}  // namespace

Status IntegerRunner::create(const std::vector<uint8_t>& bytes, size_t threads) {
  Result<ModelBytes> copy = ModelBytes::copy(bytes.data(), bytes.size());
  if (!copy.ok()) return std::move(copy.status());
  Result<std::shared_ptr<const VerifiedModel>> verified = verify(std::move(*copy));
  if (!verified.ok()) return std::move(verified.status());
  model_ = *verified;
  SessionOptions options;
  options.threads = threads;
  Result<std::unique_ptr<Session>> session = Session::create(model_, options);
  if (!session.ok()) return std::move(session.status());
  session_ = std::move(*session);
  sizes_ = default_sizes(model_->file());
  return {};
}

double IntegerRunner::macs() const {
  const Plan& plan = session_->plan();
  double macs = 0;
  for (const PlannedStep& step : plan.steps)
    macs += static_cast<double>(step.macs) * static_cast<double>(plan.micro_batches);
  return macs;
}

uint64_t IntegerRunner::bytes() const {
  return model_->file_bytes() + session_->plan().memory_bytes();
}

// Sets the session to the sizes of the feeds' open dimensions besides the batch.
Status IntegerRunner::set_sizes(const Values& feeds) {
  const fb::Model& file = model_->file();
  SymbolSizes sizes = default_sizes(file);
  for (const uint32_t slot : *file.inputs()) {
    const fb::Tensor& t = model_->tensor(slot);
    const auto feed = feeds.find(t.name()->str());
    if (feed == feeds.end() || t.sizes() == nullptr) continue;
    const Dims& shape = feed->second.shape;
    for (uint32_t d = 0; d < t.sizes()->size() && d < shape.size(); ++d)
      if (const int64_t symbol = symbol_of(*t.sizes()->Get(d)); symbol >= 0)
        sizes[static_cast<size_t>(symbol)] = shape[d];
  }
  if (sizes == sizes_) return {};
  Result<std::shared_ptr<const Plan>> plan =
      session_->plan_at({static_cast<size_t>(file.default_batch()), sizes});
  if (!plan.ok()) return std::move(plan.status());
  QRT_TRY(session_->reshape(std::move(*plan)));
  sizes_ = sizes;
  return {};
}

Status IntegerRunner::run(const Values& feeds, Values* outputs) {
  QRT_TRY(set_sizes(feeds));
  const Plan& plan = session_->plan();
  const fb::Model& file = model_->file();
  for (const uint32_t slot : *file.inputs()) {
    const fb::Tensor& t = model_->tensor(slot);
    const auto feed = feeds.find(t.name()->str());
    if (feed == feeds.end() || !store(feed->second, static_cast<DType>(t.dtype()),
                                      plan.slot_bytes(slot), session_->data(slot)))
      return error(Code::kInternal, "the integer model's input '%s' is not that of the float model",
                   t.name()->c_str());
  }
  QRT_TRY(session_->run());
  outputs->clear();
  for (uint32_t i = 0; i < file.outputs()->size(); ++i) {
    const uint32_t slot = plan.outputs[i].slot;
    const std::string name = model_->tensor(file.outputs()->Get(i)).name()->str();
    Tensor y;
    const Shape& shape = plan.types[slot].shape;
    y.shape.assign(shape.begin(), shape.end());
    if (!load(plan.types[slot].dtype, static_cast<size_t>(shape.elements()), session_->data(slot),
              &y))
      return error(Code::kInternal, "the integer model's output '%s' is of another type",
                   name.c_str());
    (*outputs)[name] = std::move(y);
  }
  return {};
}

}  // namespace qrt::quantize

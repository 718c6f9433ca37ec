// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/elements.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/edge/numbers.h"
#include "kernels/edge/packed.h"
#include "runtime/ops/edge_call.h"

namespace qrt::tool {
namespace {

template <class T>
T load(const uint8_t* data) {
  T value;
  memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

bool holds_reals(DType dtype) {
  SmallFormat format;
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat8E8M0 || small_format(dtype, &format);
}

Elements::Elements(DType dtype, const void* data, size_t count)
    : dtype_(dtype),
      element_(dtype_bytes(dtype)),
      data_(static_cast<const uint8_t*>(data)),
      size_(count) {
  if (!is_packed(dtype)) return;
  element_ = 1;
  codes_.resize(count);
  unpack_codes(dtype_bits(dtype), dtype == DType::kInt4 || dtype == DType::kInt2, data_, count,
               codes_.data());
  data_ = codes_.data();
}

double Elements::value(size_t i) const {
  const uint8_t* at = data_ + i * element_;
  switch (dtype_) {
    case DType::kInt8:
    case DType::kInt4:
    case DType::kInt2: return load<int8_t>(at);
    case DType::kUInt8:
    case DType::kUInt4:
    case DType::kUInt2:
    case DType::kBool: return *at;
    case DType::kInt16: return load<int16_t>(at);
    case DType::kUInt16: return load<uint16_t>(at);
    case DType::kInt32: return load<int32_t>(at);
    case DType::kUInt32: return load<uint32_t>(at);
    case DType::kInt64: return static_cast<double>(load<int64_t>(at));
    case DType::kFloat32: return static_cast<double>(load<float>(at));
    case DType::kFloat16: return static_cast<double>(half_to_float(load<uint16_t>(at)));
    case DType::kBFloat16: return static_cast<double>(bfloat_to_float(load<uint16_t>(at)));
    case DType::kFloat8E8M0: return static_cast<double>(e8m0_to_float(*at));
    default: break;
  }
  SmallFormat format;
  return small_format(dtype_, &format) ? static_cast<double>(small_to_float(format, *at)) : NAN;
}

std::string Elements::text(size_t i) const {
  if (dtype_ == DType::kInt64) return std::to_string(load<int64_t>(data_ + i * element_));
  char text[32];
  const bool is_integer = std::fabs(value(i)) < 1e10 && value(i) == std::floor(value(i));
  snprintf(text, sizeof text, is_integer ? "%.0f" : "%.9g", value(i));
  return text;
}

bool Elements::same_bits(const Elements& other, size_t i) const {
  return memcmp(data_ + i * element_, other.data_ + i * element_, element_) == 0;
}

Difference compare(DType dtype, const void* got, const void* expected, size_t count) {
  const Elements a(dtype, got, count), b(dtype, expected, count);
  Difference result;
  result.elements = a.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.same_bits(b, i)) continue;
    const double distance = std::fabs(a.value(i) - b.value(i));
    if (distance > result.greatest) result.greatest = distance;
    if (result.different++ > 0) continue;
    result.first = i;
    result.got = a.text(i);
    result.expected = b.text(i);
  }
  return result;
}

std::string describe(const Difference& d) {
  if (d.different == 0) return "all " + std::to_string(d.elements) + " equal";
  char greatest[64];
  snprintf(greatest, sizeof greatest, "; greatest difference %.9g", d.greatest);
  return std::to_string(d.different) + " of " + std::to_string(d.elements) +
         " differ, the first at " + std::to_string(d.first) + ": " + d.got + ", expected " +
         d.expected + greatest;
}

}  // namespace qrt::tool

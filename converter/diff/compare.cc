// SPDX-License-Identifier: Apache-2.0
#include "converter/diff/compare.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "runtime/tools/model_file.h"

namespace qrt::diff {
namespace {

using tool::Elements;

// Dimensions other than 1.
std::vector<int64_t> essential(const Shape& shape) {
  std::vector<int64_t> dims;
  for (const int64_t d : shape)
    if (d != 1) dims.push_back(d);
  return dims;
}

std::string number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Compares values as the reference would hold them.
tool::Difference compare_values(const Elements& ours, const Elements& reference,
                                const std::function<double(double)>& as_reference) {
  tool::Difference d;
  d.elements = ours.size();
  for (size_t i = 0; i < ours.size(); ++i) {
    const double got = as_reference(ours.value(i)), expected = reference.value(i);
    if (got == expected || (got != got && expected != expected)) continue;
    d.greatest = std::fmax(d.greatest, std::fabs(got - expected));
    if (d.different++ > 0) continue;
    d.first = i;
    d.got = number(got);
    d.expected = reference.text(i);
  }
  return d;
}

}  // namespace

bool compare(const tool::SourceTensor& ours, const tool::NpyArray& reference,
             tool::Difference* difference, std::string* why) {
  const DType dtype = tool::dtype_of(ours.info);
  const Shape shape = tool::shape_of(ours.info);
  const auto count = static_cast<size_t>(shape.elements());
  *why = "the reference is " + std::string(dtype_name(reference.dtype)) + " " +
         reference.shape.to_string() + ", qrt's " + tool::type_text(ours.info);
  if (essential(shape) != essential(reference.shape)) return false;
  const std::vector<uint8_t> data = ours.data();
  const Elements a(dtype, data.data(), count), b(reference.dtype, reference.data.data(), count);
  if (reference.dtype == tool::npy_dtype(dtype)) {
    tool::NpyArray same = reference;
    const Status status = tool::from_npy_form(dtype, &same);
    if (!status.ok()) *why = status.message();
    if (status.ok()) *difference = tool::compare(dtype, data.data(), same.data.data(), count);
    return status.ok();
  }
  const auto is_pair = [&](DType x, DType y) { return dtype == x && reference.dtype == y; };
  if (is_pair(DType::kUInt8, DType::kInt8)) {
    *difference = compare_values(a, b, [](double v) { return v - 128; });
  } else if (is_pair(DType::kInt8, DType::kUInt8)) {
    *difference = compare_values(a, b, [](double v) { return v + 128; });
  } else if (reference.dtype == DType::kFloat32 && ours.info.quantization->count == 1) {
    const float scale = ours.info.quantization->scale[0];
    const int32_t zero_point = ours.info.quantization->zero_point[0];
    *difference = compare_values(a, b, [=](double v) {
      return static_cast<double>(static_cast<float>(v - zero_point) * scale);
    });
  } else {
    return false;
  }
  return true;
}

}  // namespace qrt::diff

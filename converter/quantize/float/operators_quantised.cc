// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear of models that are quantised in part.
#include <algorithm>
#include <cmath>

#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

// Scales and zero points of a tensor: one, or one for each index of an axis.
class Steps {
 public:
  // *taken: false where each block of the tensor has its own, which the converter runs.
  Status read(const Call& call, bool* taken) {
    if (!call.has(1) || !call.in(1).is_real()) return call.wrong("it has no scale in float32");
    const Tensor& x = call.in(0);
    scale_ = &call.in(1);
    zero_point_ = call.has(2) ? &call.in(2) : nullptr;
    *taken = scale_->shape.size() <= 1 && call.node.integer("block_size", 0) == 0;
    if (!*taken) return {};
    if (zero_point_ != nullptr && (zero_point_->is_real() || zero_point_->size() != scale_->size()))
      return call.wrong("its zero point is %s %s, its scale %s", element_name(zero_point_->element),
                        to_string(zero_point_->shape).c_str(), to_string(scale_->shape).c_str());
    if (scale_->size() == 1) return {};
    size_t axis = 0;
    QRT_TRY(call.axis(call.node.integer("axis", 1), x.shape.size(), &axis));
    if (scale_->size() != x.shape[axis])
      return call.wrong("it has %lld scales for shape %s", static_cast<long long>(scale_->size()),
                        to_string(x.shape).c_str());
    for (size_t d = axis + 1; d < x.shape.size(); ++d) inner_ *= static_cast<size_t>(x.shape[d]);
    return {};
  }
  float scale(size_t element) const { return scale_->reals[index(element)]; }
  int64_t zero_point(size_t element) const {
    return zero_point_ == nullptr ? 0 : zero_point_->integers[index(element)];
  }
  // Returns the type of the codes, which the zero point has.
  Element element() const {
    return zero_point_ == nullptr ? Element::kUint8 : zero_point_->element;
  }

 private:
  size_t index(size_t element) const {
    const size_t n = scale_->reals.size();
    return n == 1 ? 0 : element / inner_ % n;
  }

  const Tensor* scale_ = nullptr;
  const Tensor* zero_point_ = nullptr;
  size_t inner_ = 1;
};

bool limits_of(Element element, double* lo, double* hi) {
  switch (element) {
    case Element::kUint8: *lo = 0, *hi = 255; return true;
    case Element::kInt8: *lo = -128, *hi = 127; return true;
    case Element::kUint16: *lo = 0, *hi = 65535; return true;
    case Element::kInt16: *lo = -32768, *hi = 32767; return true;
    default: return false;
  }
}

}  // namespace

Status run_quantize_linear(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  Steps steps;
  bool taken;
  QRT_TRY(steps.read(call, &taken));
  double lo, hi;
  if (!taken || call.node.has("output_dtype") || !limits_of(steps.element(), &lo, &hi))
    return run_in_runtime(call);
  const Tensor& x = call.in(0);
  Tensor* y;
  QRT_TRY(call.make(0, x.shape, steps.element(), &y));
  for (size_t i = 0; i < x.reals.size(); ++i) {
    const auto code = static_cast<double>(std::nearbyint(x.reals[i] / steps.scale(i))) +
                      static_cast<double>(steps.zero_point(i));
    y->integers[i] = static_cast<int64_t>(code == code ? std::min(std::max(code, lo), hi) : lo);
  }
  return Status();
}

Status run_dequantize_linear(Call& call) {
  QRT_TRY(call.need_integers(0, 1));
  Steps steps;
  bool taken;
  QRT_TRY(steps.read(call, &taken));
  if (!taken) return run_in_runtime(call);
  const Tensor& x = call.in(0);
  Tensor* y;
  QRT_TRY(call.make(x.shape, &y));
  for (size_t i = 0; i < x.integers.size(); ++i)
    y->reals[i] = static_cast<float>(x.integers[i] - steps.zero_point(i)) * steps.scale(i);
  return Status();
}

}  // namespace qrt::quantize

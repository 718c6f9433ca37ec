// SPDX-License-Identifier: Apache-2.0
// Shapes: reading them, making tensors of them, and changing them without moving an element.
#include <algorithm>

#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

// Gives the elements of input 0 another shape.
Status reshaped(Call& call, const Dims& shape) {
  const Tensor& x = call.in(0);
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  if (y->size() != x.size())
    return call.wrong("%s of %lld elements as %s", to_string(x.shape).c_str(),
                      static_cast<long long>(x.size()), to_string(shape).c_str());
  if (x.is_real())
    std::copy(x.reals.begin(), x.reals.end(), y->reals.begin());
  else
    y->integers = x.integers;
  return Status();
}

Status axes_of(Call& call, size_t rank, std::vector<bool>* marked) {
  marked->assign(rank, false);
  if (!call.has(1)) return Status();
  QRT_TRY(call.need_integers(1, 2));
  for (int64_t given : call.in(1).integers) {
    size_t axis;
    QRT_TRY(call.axis(given, rank, &axis));
    if ((*marked)[axis]) return call.wrong("axis %lld twice", static_cast<long long>(given));
    (*marked)[axis] = true;
  }
  return Status();
}

}  // namespace

Status run_shape(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Dims& shape = call.in(0).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const auto bounded = [&](int64_t v) {
    return std::min(std::max<int64_t>(v < 0 ? v + rank : v, 0), rank);
  };
  const int64_t start = bounded(call.node.integer("start", 0));
  const int64_t end = bounded(call.node.integer("end", rank));
  Tensor* y;
  QRT_TRY(call.make(0, {std::max<int64_t>(0, end - start)}, Element::kInt64, &y));
  for (int64_t i = start; i < end; ++i)
    y->integers[static_cast<size_t>(i - start)] = shape[static_cast<size_t>(i)];
  return Status();
}

Status run_size(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  Tensor* y;
  QRT_TRY(call.make(0, {}, Element::kInt64, &y));
  y->integers[0] = call.in(0).size();
  return Status();
}

Status run_constant_of_shape(Call& call) {
  QRT_TRY(call.need_integers(0, 1));
  const auto found = call.node.attributes.find("value");
  const Tensor zero = real_tensor({1}, {0.0f});
  const Tensor& value =
      found == call.node.attributes.end() || !found->second.tensor ? zero : *found->second.tensor;
  if (value.size() != 1) return call.wrong("a value of shape %s", to_string(value.shape).c_str());
  Tensor* y;
  QRT_TRY(call.make(0, call.in(0).integers, value.element, &y));
  if (value.is_real())
    std::fill(y->reals.begin(), y->reals.end(), value.reals[0]);
  else
    std::fill(y->integers.begin(), y->integers.end(), value.integers[0]);
  return Status();
}

Status run_range(Call& call) {
  for (size_t i = 0; i < 3; ++i)
    if (!call.has(i) || call.in(i).size() != 1 || call.in(i).element != call.in(0).element)
      return call.wrong("input %zu is no single number of the type of the others", i);
  const bool real = call.in(0).is_real();
  const auto at = [&](size_t i) {
    return real ? static_cast<double>(call.in(i).reals[0])
                : static_cast<double>(call.in(i).integers[0]);
  };
  if (at(2) == 0) return call.wrong("a step of 0");
  const double steps = (at(1) - at(0)) / at(2);
  if (!(steps <= static_cast<double>(call.machine.limits.value)))
    return call.beyond(static_cast<double>(call.machine.limits.value), "elements", "its result");
  auto n = static_cast<int64_t>(std::max(0.0, steps));
  if (static_cast<double>(n) < steps) ++n;
  Tensor* y;
  QRT_TRY(call.make(0, {n}, call.in(0).element, &y));
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    if (real)
      y->reals[i] = call.in(0).reals[0] + static_cast<float>(i) * call.in(2).reals[0];
    else
      y->integers[i] = static_cast<int64_t>(static_cast<uint64_t>(call.in(0).integers[0]) +
                                            i * static_cast<uint64_t>(call.in(2).integers[0]));
  }
  return Status();
}

Status run_reshape(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  QRT_TRY(call.need_integers(1, 2));
  const Tensor& x = call.in(0);
  Dims shape = call.in(1).integers;
  const bool zero_is_zero = call.node.integer("allowzero", 0) != 0;
  int64_t known = 1;
  size_t open = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      if (i >= x.shape.size())
        return call.wrong("shape %s keeps dimension %zu of %s", to_string(shape).c_str(), i,
                          to_string(x.shape).c_str());
      shape[i] = x.shape[i];
    }
    if (shape[i] == -1 && open == shape.size()) {
      open = i;
      continue;
    }
    if (shape[i] < 0 || shape[i] > call.machine.limits.value || known > call.machine.limits.value)
      return call.wrong("shape %s", to_string(call.in(1).integers).c_str());
    known *= shape[i];
  }
  if (open < shape.size()) {
    if (known == 0 || x.size() % known != 0)
      return call.wrong("%s as %s", to_string(x.shape).c_str(), to_string(shape).c_str());
    shape[open] = x.size() / known;
  }
  return reshaped(call, shape);
}

Status run_flatten(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Dims& x = call.in(0).shape;
  const auto rank = static_cast<int64_t>(x.size());
  int64_t axis = call.node.integer("axis", 1);
  if (axis < -rank || axis > rank)
    return call.wrong("axis %lld of an input of shape %s", static_cast<long long>(axis),
                      to_string(x).c_str());
  const auto middle = x.begin() + (axis < 0 ? axis + rank : axis);
  return reshaped(call, {elements(Dims(x.begin(), middle)), elements(Dims(middle, x.end()))});
}

Status run_squeeze(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Dims& x = call.in(0).shape;
  std::vector<bool> marked;
  QRT_TRY(axes_of(call, x.size(), &marked));
  Dims shape;
  for (size_t d = 0; d < x.size(); ++d)
    if (call.has(1) ? !marked[d] : x[d] != 1) shape.push_back(x[d]);
  return reshaped(call, shape);
}

Status run_unsqueeze(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Dims& x = call.in(0).shape;
  QRT_TRY(call.need_integers(1, 2));
  std::vector<bool> marked;
  QRT_TRY(axes_of(call, x.size() + call.in(1).integers.size(), &marked));
  Dims shape;
  size_t at = 0;
  for (bool is_new : marked) shape.push_back(is_new ? 1 : x[at++]);
  return reshaped(call, shape);
}

}  // namespace qrt::quantize

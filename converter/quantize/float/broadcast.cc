// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/broadcast.h"

#include <algorithm>
#include <cstring>

namespace qrt::quantize {

bool broadcast_shape(const std::vector<const Dims*>& shapes, Dims* shape) {
  size_t rank = 0;
  for (const Dims* s : shapes) rank = std::max(rank, s->size());
  shape->assign(rank, 1);
  for (const Dims* s : shapes)
    for (size_t i = 0; i < s->size(); ++i) {
      int64_t& to = (*shape)[rank - s->size() + i];
      const int64_t d = (*s)[i];
      if (d == 1 || d == to) continue;
      if (to != 1) return false;
      to = d;
    }
  return true;
}

Dims dense_steps(const Dims& shape) {
  Dims steps(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) steps[i] = step;
  return steps;
}

Dims broadcast_steps(const Dims& shape, const Dims& to) {
  Dims steps(to.size(), 0);
  const Dims own = dense_steps(shape);
  const size_t shift = to.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) steps[shift + i] = shape[i] == 1 ? 0 : own[i];
  return steps;
}

Walk::Walk(const Dims& shape, std::vector<Dims> steps) : steps_(steps.size()) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const size_t last = shape_.size();
    bool joins = last > 0;
    for (size_t i = 0; joins && i < steps.size(); ++i)
      joins = steps_[i][last - 1] == steps[i][d] * shape[d];
    if (joins) {
      shape_[last - 1] *= shape[d];
      for (size_t i = 0; i < steps.size(); ++i) steps_[i][last - 1] = steps[i][d];
    } else {
      shape_.push_back(shape[d]);
      for (size_t i = 0; i < steps.size(); ++i) steps_[i].push_back(steps[i][d]);
    }
  }
  if (!shape_.empty()) return;
  shape_ = {1};
  for (Dims& s : steps_) s = {0};
}

void copy_elements(const Tensor& x, int64_t offset, const Dims& steps, Tensor* y) {
  const Walk walk(y->shape, {steps});
  size_t at = 0;
  const auto copy = [&](const auto* from, auto* to) {
    walk.runs([&](const int64_t* offsets, int64_t n, const int64_t* step) {
      const auto* run = from + offset + offsets[0];
      if (*step == 1) {
        memcpy(to + at, run, static_cast<size_t>(n) * sizeof(*to));
      } else {
        for (int64_t i = 0; i < n; ++i) to[at + static_cast<size_t>(i)] = run[i * *step];
      }
      at += static_cast<size_t>(n);
    });
  };
  if (x.is_real())
    copy(x.reals.data(), y->reals.data());
  else
    copy(x.integers.data(), y->integers.data());
}

}  // namespace qrt::quantize

// SPDX-License-Identifier: Apache-2.0
// Iterates over the elements of tensors that are broadcast to one shape, or read in another order:
// in runs with one stride, so that the innermost loop is a plain one.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_BROADCAST_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_BROADCAST_H_

#include <cstddef>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// Finds the shape to which all broadcast. Returns false where they do not.
bool broadcast_shape(const std::vector<const Dims*>& shapes, Dims* shape);

// Steps of the elements of a tensor of this shape for each dimension of `to`, 0 where it repeats.
// REQUIRES: it broadcasts to `to`.
Dims broadcast_steps(const Dims& shape, const Dims& to);
// Steps of a dense tensor.
Dims dense_steps(const Dims& shape);

// Iterates over a shape for several tensors at once, each with its own strides. Adjacent dimensions
// that are contiguous in all the tensors are merged.
class Walk {
 public:
  Walk(const Dims& shape, std::vector<Dims> steps);

  // Calls f(offsets, n, steps) for runs of n elements along the last dimension, in the order of the
  // shape; offsets[i], steps[i]: of tensor i.
  template <class F>
  void runs(const F& f) const {
    if (elements(shape_) == 0) return;
    const size_t last = shape_.size() - 1, count = steps_.size();
    std::vector<int64_t> offsets(count, 0), inner(count);
    for (size_t i = 0; i < count; ++i) inner[i] = steps_[i][last];
    Dims at(shape_.size(), 0);
    for (;;) {
      f(offsets.data(), shape_[last], inner.data());
      size_t d = last;
      for (;;) {
        if (d == 0) return;
        --d;
        for (size_t i = 0; i < count; ++i) offsets[i] += steps_[i][d];
        if (++at[d] < shape_[d]) break;
        for (size_t i = 0; i < count; ++i) offsets[i] -= steps_[i][d] * shape_[d];
        at[d] = 0;
      }
    }
  }

 private:
  Dims shape_;
  std::vector<Dims> steps_;
};

// Copies the elements of x at `offset`, with the given steps, to y, dense and of this shape.
void copy_elements(const Tensor& x, int64_t offset, const Dims& steps, Tensor* y);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_BROADCAST_H_

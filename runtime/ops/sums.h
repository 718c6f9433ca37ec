// SPDX-License-Identifier: Apache-2.0
// Sums of two elements of operators that take integers and floats. Integers are given as unsigned numbers, whose sums have the
// bits of the signed ones' modulo 2^width.
#ifndef QRT_RUNTIME_OPS_SUMS_H_
#define QRT_RUNTIME_OPS_SUMS_H_

#include <cmath>

#include "runtime/ops/check.h"

namespace qrt {

template <class T>
T sum_of(T a, T b) {
  return a + b;
}
inline float sum_of(float a, float b) {
  const float sum = a + b;
  return std::isnan(sum) ? float_of(0x7fc00000) : sum;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_SUMS_H_

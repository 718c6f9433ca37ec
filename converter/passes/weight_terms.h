// SPDX-License-Identifier: Apache-2.0
// Weights beyond int8, as the sum of several int8 numbers each.
#ifndef QRT_CONVERTER_PASSES_WEIGHT_TERMS_H_
#define QRT_CONVERTER_PASSES_WEIGHT_TERMS_H_

#include <cstddef>
#include <cstdint>

namespace qrt::convert {

// Returns how many int8 numbers are needed to make up each of `count` weights: 1 to 3 where they are
// differences of bytes.
inline int terms_of(const int16_t* weights, size_t count) {
  int terms = 1;
  for (size_t i = 0; i < count; ++i)
    while (weights[i] < -128 * terms || weights[i] > 127 * terms) ++terms;
  return terms;
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_PASSES_WEIGHT_TERMS_H_

// SPDX-License-Identifier: Apache-2.0
// Overflow-checked arithmetic for sizes that come from files.
#ifndef QRT_RUNTIME_CHECKED_H_
#define QRT_RUNTIME_CHECKED_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace qrt {

// Adds, multiplies. Return false on overflow; *result is then unspecified.
inline bool checked_add(size_t a, size_t b, size_t* result) {
  return !__builtin_add_overflow(a, b, result);
}
inline bool checked_mul(size_t a, size_t b, size_t* result) {
  return !__builtin_mul_overflow(a, b, result);
}

// Returns the product, or SIZE_MAX, which is more memory than anything may take (kMaxMemory).
inline size_t product_or_most(std::initializer_list<size_t> factors) {
  size_t product = 1;
  for (const size_t factor : factors)
    if (!checked_mul(product, factor, &product)) return SIZE_MAX;
  return product;
}

// Converts a 64-bit number to size_t; a number that does not fit becomes SIZE_MAX.
constexpr size_t size_or_most(uint64_t v) {
  return v < SIZE_MAX ? static_cast<size_t>(v) : SIZE_MAX;
}

// Rounds up to a multiple of `alignment`, a power of two.
inline bool checked_align(size_t v, size_t alignment, size_t* result) {
  if (!checked_add(v, alignment - 1, result)) return false;
  *result &= ~(alignment - 1);
  return true;
}

constexpr size_t round_up(size_t v, size_t multiple) {
  return (v + multiple - 1) / multiple * multiple;
}
constexpr size_t ceil_div(size_t v, size_t divisor) { return (v + divisor - 1) / divisor; }

}  // namespace qrt

#endif  // QRT_RUNTIME_CHECKED_H_

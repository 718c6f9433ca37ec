// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as numbers and as people read them, and how two tensors differ.
#ifndef QRT_RUNTIME_TOOLS_ELEMENTS_H_
#define QRT_RUNTIME_TOOLS_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace qrt::tool {

// Returns whether elements are reals: false for integers and bools.
bool holds_reals(DType dtype);

// A tensor's elements, packed types one code a byte.
class Elements {
 public:
  // `data` must outlive this unless the type is packed.
  Elements(DType dtype, const void* data, size_t count);

  size_t size() const { return size_; }
  // Returns element i; the nearest double for 64-bit integers beyond 2^53.
  double value(size_t i) const;
  // Returns element i as text: integers as they are, others in nine digits.
  std::string text(size_t i) const;
  bool same_bits(const Elements& other, size_t i) const;

 private:
  DType dtype_;
  size_t element_;
  std::vector<uint8_t> codes_;  // unpacked elements of a packed type
  const uint8_t* data_;
  size_t size_;
};

struct Difference {
  size_t elements = 0, different = 0;
  size_t first = 0;           // the first element that differs
  std::string got, expected;  // the two values there
  double greatest = 0;        // the greatest |got - expected|; NaN counts for nothing
};

// Compares elements by their bits: -0 differs from 0, and NaN equals NaN.
Difference compare(DType dtype, const void* got, const void* expected, size_t count);

// Returns a text such as "all 10 equal", or "2 of 10 differ, the first at 3: 5, expected 6;
// greatest difference 1".
std::string describe(const Difference& difference);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_ELEMENTS_H_

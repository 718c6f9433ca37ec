// SPDX-License-Identifier: Apache-2.0
// Tensors of any element type as real numbers, and which scale belongs to which element: what tests
// of Quantize and Dequantize share.
#ifndef QRT_TESTS_SUPPORT_EDGE_H_
#define QRT_TESTS_SUPPORT_EDGE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/edge/numbers.h"
#include "runtime/ops/edge_call.h"
#include "runtime/tensor.h"
#include "tests/support/random.h"

namespace qrt::testing {

// Returns element i of n as a code of `bits` bits.
inline uint64_t code_at(const std::vector<uint8_t>& bytes, int bits, size_t i) {
  const size_t at = i * static_cast<size_t>(bits);
  if (bits < 8) return bytes[at / 8] >> at % 8 & ((1 << bits) - 1);
  uint64_t code = 0;
  memcpy(&code, &bytes[at / 8], static_cast<size_t>(bits) / 8);
  return code;
}

inline void set_code(std::vector<uint8_t>* bytes, int bits, size_t i, uint64_t code) {
  const size_t at = i * static_cast<size_t>(bits);
  if (bits < 8) {
    const auto low = static_cast<uint8_t>(code & ((1u << bits) - 1));
    (*bytes)[at / 8] = static_cast<uint8_t>((*bytes)[at / 8] | low << at % 8);
    return;
  }
  memcpy(&(*bytes)[at / 8], &code, static_cast<size_t>(bits) / 8);
}

// n elements of a type, read and set as real numbers.
class Reals {
 public:
  Reals(DType dtype, size_t n, std::vector<uint8_t> bytes)
      : dtype_(dtype), n_(n), bytes_(std::move(bytes)) {}

  DType dtype() const { return dtype_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  size_t size() const { return n_; }

  double operator[](size_t i) const {
    const int bits = dtype_bits(dtype_);
    const uint64_t code = code_at(bytes_, bits, i);
    SmallFormat format;
    if (small_format(dtype_, &format))
      return double{small_to_float(format, static_cast<uint8_t>(code))};
    switch (dtype_) {
      case DType::kFloat32: return double{float_of_bits(static_cast<uint32_t>(code))};
      case DType::kFloat16: return double{half_to_float(static_cast<uint16_t>(code))};
      case DType::kBFloat16: return double{bfloat_to_float(static_cast<uint16_t>(code))};
      case DType::kFloat8E8M0: return double{e8m0_to_float(static_cast<uint8_t>(code))};
      default: break;
    }
    const uint64_t sign = uint64_t{1} << (bits - 1);
    if (is_signed_integer(dtype_) && (code & sign))
      return static_cast<double>(static_cast<int64_t>(code) - static_cast<int64_t>(2 * sign));
    return static_cast<double>(code);
  }

  // Sets an element to the nearest number of the type. REQUIRES: nothing set there yet.
  void set(size_t i, double v) {
    const auto f = static_cast<float>(v);
    uint64_t code;
    SmallFormat format;
    if (small_format(dtype_, &format)) {
      code = float_to_small(small_float(format, true), f);
    } else if (dtype_ == DType::kFloat32) {
      code = bits_of_float(f);
    } else if (dtype_ == DType::kFloat16) {
      code = float_to_half(f);
    } else if (dtype_ == DType::kBFloat16) {
      code = float_to_bfloat(f);
    } else if (dtype_ == DType::kFloat8E8M0) {
      code = static_cast<uint64_t>(std::ilogb(v) + 127);
    } else {
      code = static_cast<uint64_t>(static_cast<int64_t>(std::nearbyint(v)));
    }
    set_code(&bytes_, dtype_bits(dtype_), i, code);
  }

 private:
  DType dtype_;
  size_t n_;
  std::vector<uint8_t> bytes_;
};

inline Reals reals(DType dtype, size_t n) {
  return Reals(dtype, n, std::vector<uint8_t>(tensor_bytes({dtype, {static_cast<int64_t>(n)}})));
}

inline std::vector<uint8_t> integer_bytes(DType dtype, const std::vector<int64_t>& codes) {
  std::vector<uint8_t> bytes(tensor_bytes({dtype, {static_cast<int64_t>(codes.size())}}));
  for (size_t i = 0; i < codes.size(); ++i)
    set_code(&bytes, dtype_bits(dtype), i, static_cast<uint64_t>(codes[i]));
  return bytes;
}

// Returns the shape of scales: of the whole tensor, per index of an axis, or in blocks.
inline Shape edge_shape(const Shape& x, int axis, uint32_t block) {
  if (axis < 0) return {};
  if (block == 0) return {x[axis]};
  Shape s = x;
  s[axis] = (x[axis] + block - 1) / block;
  return s;
}

inline size_t edge_entries(const Shape& x, int axis, uint32_t block) {
  return static_cast<size_t>(edge_shape(x, axis, block).elements());
}

// Returns the index of element i's scale, by its coordinates.
inline size_t edge_entry(const Shape& x, int axis, uint32_t block, size_t i) {
  if (axis < 0) return 0;
  int64_t index[kMaxTensorRank] = {}, rest = static_cast<int64_t>(i);
  for (int d = x.rank(); d-- > 0;) {
    index[d] = rest % x[d];
    rest /= x[d];
  }
  if (block == 0) return static_cast<size_t>(index[axis]);
  index[axis] /= block;
  const Shape s = edge_shape(x, axis, block);
  int64_t at = 0;
  for (int d = 0; d < s.rank(); ++d) at = at * s[d] + index[d];
  return static_cast<size_t>(at);
}

inline Reals edge_scales(Random* random, DType dtype, size_t n, int exponent) {
  Reals scale = reals(dtype, n);
  for (size_t i = 0; i < n; ++i)
    scale.set(i, dtype == DType::kInt32 ? static_cast<double>(random->integer(1, 50))
                                        : double{random->scale(exponent)});
  return scale;
}

// Returns zero points of the quantised type; zeros where there are none.
inline Reals edge_zero_points(Random* random, DType dtype, size_t n, bool any) {
  Reals zp = reals(dtype, n);
  for (size_t i = 0; any && i < n; ++i) {
    int32_t lo, hi;
    integer_range(dtype, &lo, &hi);
    if (hi == 0) lo = dtype == DType::kUInt32 ? 0 : -6, hi = 6;
    if (dtype >= DType::kFloat8E4M3FN && dtype <= DType::kFloat8E5M2FNUZ) lo = hi = 0;
    zp.set(i, static_cast<double>(random->integer(lo, hi)));
  }
  return zp;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_EDGE_H_

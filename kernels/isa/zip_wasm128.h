// SPDX-License-Identifier: Apache-2.0
// Elements of two registers of simd128 in turn, of their lower and of their upper halves.
#ifndef QRT_KERNELS_ISA_ZIP_WASM128_H_
#define QRT_KERNELS_ISA_ZIP_WASM128_H_

#include <wasm_simd128.h>

#include <cstddef>

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace wasm128 {

template <size_t kBytes>
struct Zip;
template <>
struct Zip<1> {
  static v128_t low(v128_t a, v128_t b) {
    return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
  static v128_t high(v128_t a, v128_t b) {
    return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
};
template <>
struct Zip<2> {
  static v128_t low(v128_t a, v128_t b) {
    return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  }
  static v128_t high(v128_t a, v128_t b) {
    return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  }
};
template <>
struct Zip<4> {
  static v128_t low(v128_t a, v128_t b) { return wasm_i32x4_shuffle(a, b, 0, 4, 1, 5); }
  static v128_t high(v128_t a, v128_t b) { return wasm_i32x4_shuffle(a, b, 2, 6, 3, 7); }
};
template <>
struct Zip<8> {
  static v128_t low(v128_t a, v128_t b) { return wasm_i64x2_shuffle(a, b, 0, 2); }
  static v128_t high(v128_t a, v128_t b) { return wasm_i64x2_shuffle(a, b, 1, 3); }
};

}  // namespace wasm128
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_ZIP_WASM128_H_

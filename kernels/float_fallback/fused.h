// SPDX-License-Identifier: Apache-2.0
// Products and sums with one rounding, the same bits with and without the instruction. For kernel files
// only: everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_FUSED_H_
#define QRT_KERNELS_FLOAT_FALLBACK_FUSED_H_

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include "kernels/isa/wasm128.h"
#endif

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"

namespace qrt {
namespace {

// a * b + c with one rounding. kIsFused: by an instruction.
#if defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMAF)
constexpr bool kIsFused = true;
QRT_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#elif defined(__wasm_relaxed_simd__)
// Where the set is there, the engine's is fused (isa/relaxed.h).
constexpr bool kIsFused = true;
QRT_INLINE float fused(float a, float b, float c) {
  return wasm_f32x4_extract_lane(
      wasm_f32x4_relaxed_madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0);
}
#else
constexpr bool kIsFused = false;
// Returns a * b + c, rounded once. Not inline: it is long, and polynomials are many of it.
[[maybe_unused]] __attribute__((noinline)) float fused(float a, float b, float c) {
  // The product is exact. Its sum, rounded to odd, becomes the same float as the exact one: the error
  // of the sum says which way.
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double sum = product + addend;
  const double taken = sum - product;
  const double error = (product - (sum - taken)) + (addend - taken);
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if ((error > 0 || error < 0) && (bits & 1) == 0) {
    bits += (error > 0) == (sum > 0) ? uint64_t{1} : ~uint64_t{0};
    __builtin_memcpy(&sum, &bits, sizeof bits);
  }
  return static_cast<float>(sum);
}
#endif

// Lane by lane.
template <class V>
QRT_INLINE V fused_lanes(V a, V b, V c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == sizeof(__m512)) return _mm512_fmadd_ps(a, b, c);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(V) == sizeof(__m256)) return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#elif defined(__wasm_simd128__)
  return reinterpret_cast<V>(wasm128::fused_multiply_add(
      reinterpret_cast<v128_t>(a), reinterpret_cast<v128_t>(b), reinterpret_cast<v128_t>(c)));
#else
  for (size_t i = 0; i < sizeof(V) / sizeof(float); ++i) c[i] = fused(a[i], b[i], c[i]);
  return c;
#endif
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_FUSED_H_

// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa/requantize_avx512vnni.h"
#include "kernels/isa/vec_avx512vnni.h"
#include "kernels/pool/pool_vectors.h"

namespace qrt {
namespace {

// Half a register: pixels of up to 32 channels, which begin anywhere, cross fewer cache lines.
struct HalfVectors {
  static constexpr size_t kBytes = 32;
  using Bytes = __m256i;

  static Bytes load(const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const Bytes*>(p));
  }
  static Bytes max(Bytes a, Bytes b) { return _mm256_max_epu8(a, b); }
  static void store(uint8_t* p, Bytes v) { _mm256_storeu_si256(reinterpret_cast<Bytes*>(p), v); }
  static void store_partial(uint8_t* p, Bytes v, size_t n) {
    _mm256_mask_storeu_epi8(p, (__mmask32{1} << n) - 1, v);
  }
};

}  // namespace

QRT_POOL_ROW(avx512vnni, HalfVectors)

}  // namespace qrt

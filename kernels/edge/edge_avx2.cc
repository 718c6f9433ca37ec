// SPDX-License-Identifier: Apache-2.0
// Quantisation and dequantisation by 8 lanes.
#include "kernels/edge/edge_vectors.h"
#include "kernels/isa/vec_avx2.h"

namespace qrt {
namespace {

struct Avx2 : avx2::Vec {
  static constexpr size_t kHalvesAhead = 0;
  using FloatDivision = Divider<Avx2>;
  using HalfDivision = Divider<Avx2>;

  static bool has_fast_division(float) { return true; }
  static bool has_fast_half_division(float) { return true; }
  // Values beyond int32 become NaN, which MAXPS and MINPS replace by their second operand.
  QRT_INLINE Float max_below(Float v, float bound, Float limit) {
    return max(_mm256_or_ps(v, _mm256_cmp_ps(v, splat(bound), _CMP_NLT_UQ)), limit);
  }
  QRT_INLINE Float min_from(Float v, float bound, Float limit) {
    return min(_mm256_or_ps(v, _mm256_cmp_ps(v, splat(bound), _CMP_NGE_UQ)), limit);
  }
};

}  // namespace

QRT_EDGE_LOOPS(avx2, Avx2)
QRT_EDGE_LOOPS_OF_HALVES(avx2, Avx2)
QRT_EDGE_LANES(avx2, Avx2)

}  // namespace qrt

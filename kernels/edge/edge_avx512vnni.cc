// Quantisation and dequantisation by 16 lanes, without the divider where that is exact.
#include "kernels/edge/runs_x86.h"
#include "kernels/isa/vec_avx512vnni.h"

namespace qrt {
namespace {

struct Avx512 : avx512vnni::Vec {
  static constexpr size_t kAhead = 1024;

  // x / scale, correctly rounded, without the divider, which is slower than memory. Markstein: where
  // r is 1 / scale rounded and q less than one unit in the last place from x / scale,
  // q + (x - q * scale) * r, rounded, is the quotient rounded. The first step makes such a q, the
  // second uses it.
  struct HalfDivision {
    explicit HalfDivision(float by) : scale(splat(by)), r(splat(1 / by)) {}
    // Of a float16 x, which leaves nothing to overflow but an infinity: that and NaN give NaN.
    Float quotient(Float x) const {
      const Float q = x * r;
      const Float q1 = fma(_mm512_fnmadd_ps(q, scale, x), r, q);
      return fma(_mm512_fnmadd_ps(q1, scale, x), r, q1);
    }
    Float scale, r;
  };

  // What is far beyond every limit, infinite or NaN stays as the product made it: it ends at the
  // same limit.
  struct FloatDivision : HalfDivision {
    using HalfDivision::HalfDivision;
    Float quotient(Float x) const {
      const Float q = x * r;
      const Mask near = _mm512_cmp_ps_mask(_mm512_abs_ps(q), splat(0x1p20f), _CMP_LT_OQ);
      const Float q1 = _mm512_mask3_fmadd_ps(_mm512_fnmadd_ps(q, scale, x), r, q, near);
      return _mm512_mask3_fmadd_ps(_mm512_fnmadd_ps(q1, scale, x), r, q1, near);
    }
  };

  static bool has_fast_division(float scale) { return scale >= 0x1p-60f && scale <= 0x1p60f; }

  QRT_INLINE Float max_below(Float v, float bound, Float limit) {
    return _mm512_mask_max_ps(limit, _mm512_cmp_ps_mask(v, splat(bound), _CMP_LT_OQ), v, limit);
  }
  QRT_INLINE Float min_from(Float v, float bound, Float limit) {
    return _mm512_mask_min_ps(limit, _mm512_cmp_ps_mask(v, splat(bound), _CMP_GE_OQ), v, limit);
  }
};

}  // namespace

QRT_EDGE_RUNS_X86(avx512vnni, Avx512)
QRT_EDGE_LANES(avx512vnni, Avx512)

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// The elementwise family over a vector layer V (isa/vec_<isa>.h): add and mul in float by the blocks
// of walk.h, 64 bytes at a time, in integers by blocks.h. Everything here is local to the including
// file.
#ifndef QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_VECTORS_H_
#define QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_VECTORS_H_

#include "kernels/elementwise/blocks_int16.h"
#include "kernels/elementwise/walk.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

// Narrows four registers of lanes to bytes: clamp(v + offset, lo, hi), in the order that the packs leave.
template <class V>
QRT_INLINE typename V::Bytes to_bytes(typename V::Int v0, typename V::Int v1, typename V::Int v2,
                                      typename V::Int v3, typename V::Words offset,
                                      typename V::Bytes lo, typename V::Bytes hi) {
  const auto w0 = V::adds16(V::packs32(v0, v1), offset);
  const auto w1 = V::adds16(V::packs32(v2, v3), offset);
  return V::min_u8(V::max_u8(V::packus16(w0, w1), lo), hi);
}

// Implements the block functions of walk.h by Block::bytes(a, b), which makes one register.
template <class V, class Block>
struct OfRegisters {
  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    for (size_t i = 0; i < kBlock; i += V::kBytes) V::store(y + i, block().bytes(a + i, b + i));
  }
  static void load_partial(uint8_t (&to)[kBlock], const uint8_t* x, size_t n) {
    V::load_partial(to, x, n);
  }
  static void store_partial(uint8_t* y, const uint8_t (&from)[kBlock], size_t n) {
    size_t i = 0;
    for (; i + V::kBytes <= n; i += V::kBytes) V::store(y + i, V::load8(from + i));
    if (i < n) V::store_partial(y + i, V::load8(from + i), n - i);
  }
  const Block& block() const { return static_cast<const Block&>(*this); }
};

template <class V>
struct Blocks {
  using Bytes = typename V::Bytes;
  using Words = typename V::Words;
  using Int = typename V::Int;
  using Float = typename V::Float;

  template <bool kFma, bool kFirstSigned, bool kSecondSigned>
  struct Sum : OfRegisters<V, Sum<kFma, kFirstSigned, kSecondSigned>> {
    explicit Sum(const SumConstants& c)
        : first_scale(V::splat(c.first_scale)),
          second_scale(V::splat(c.second_scale)),
          constant(V::splat(c.constant)),
          offset(V::splat16(c.offset)),
          lo(V::splat8(c.lo)),
          hi(V::splat8(c.hi)) {}

    Int sum(Float x1, Float x2) const {
      if (kFma) return V::round(V::fma(x2, second_scale, V::fma(x1, first_scale, constant)));
      return V::round(constant + x1 * first_scale + x2 * second_scale);
    }

    // Returns the outputs of stored bytes, which are 128 more where signed.
    Bytes bytes(const uint8_t* a, const uint8_t* b) const {
      Float x1[4], x2[4];
      V::template to_floats<kFirstSigned>(a, x1);
      V::template to_floats<kSecondSigned>(b, x2);
      return V::packed(to_bytes<V>(sum(x1[0], x2[0]), sum(x1[1], x2[1]), sum(x1[2], x2[2]),
                                   sum(x1[3], x2[3]), offset, lo, hi));
    }

    Float first_scale, second_scale, constant;
    Words offset;
    Bytes lo, hi;
  };

  template <bool kFused, bool kHalfUp>
  struct Product : OfRegisters<V, Product<kFused, kHalfUp>> {
    explicit Product(const ProductConstants& c)
        : scale(V::splat(c.scale)),
          addend(V::splat(c.addend)),
          a_zero_point(V::zero_point(c.a_zero_point)),
          b_zero_point(V::zero_point(c.b_zero_point)),
          offset(V::splat16(c.offset)),
          lo(V::splat8(c.lo)),
          hi(V::splat8(c.hi)) {}

    Int scaled(Int product) const {
      const Float p = V::to_float(product);
      const Float v = kFused ? V::fma(p, scale, addend) : p * scale + addend;
      const Int even = V::round(v);
      if (!kHalfUp) return even;
      // A tie that went down to the even neighbour goes up instead.
      return V::add_where_equal(even, v - V::to_float(even), V::splat(0.5f));
    }

    Bytes bytes(const uint8_t* a, const uint8_t* b) const {
      Words x[2], y[2];
      V::words_less(V::load8(a), a_zero_point, x);
      V::words_less(V::load8(b), b_zero_point, y);
      Int low[2], high[2];
      V::products16(x[0], y[0], low);
      V::products16(x[1], y[1], high);
      return to_bytes<V>(scaled(low[0]), scaled(low[1]), scaled(high[0]), scaled(high[1]), offset,
                         lo, hi);
    }

    Float scale, addend;
    typename V::ZeroPoint a_zero_point, b_zero_point;
    Words offset;
    Bytes lo, hi;
  };
};

}  // namespace
}  // namespace qrt

#define QRT_VECTOR_ROW(suffix)                                                         \
  void elementwise_add_##suffix(const AddParams& params, const ElementwiseArgs& run) { \
    add<Blocks<suffix::Vec>::Sum>(params, run);                                        \
  }                                                                                    \
  void elementwise_mul_##suffix(const MulParams& params, const ElementwiseArgs& run) { \
    mul<Blocks<suffix::Vec>::Product, suffix::Lanes>(params, run);                     \
  }                                                                                    \
  QRT_ELEMENTWISE_INTEGERS(suffix, suffix::Lanes)

#endif  // QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_VECTORS_H_

// SPDX-License-Identifier: Apache-2.0
// Products in float32 whose sum with a number of 2^23 and more is the integer they round to, for x86
// over the vector layers of isa/ (Vec).
#ifndef QRT_KERNELS_ELEMENTWISE_SCALED_PRODUCT_X86_H_
#define QRT_KERNELS_ELEMENTWISE_SCALED_PRODUCT_X86_H_

#include "kernels/elementwise/forms_entry.h"
#include "kernels/elementwise/walk_rows.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr float kWhole = 0x1p23f;           // floats from here on are integers
constexpr int32_t kWholeBits = 0x4b000000;  // with a byte x in their low bits: kWhole + x

// The last steps of both products. Bytes become words; the lower and the upper words of every lane
// are converted by themselves, so that they need no more shuffles.
template <class V>
struct Rounding {
  using Vec = V;
  using Int = typename Vec::Int;
  using Float = typename Vec::Float;
  struct Words {
    Int low, high;  // words of the lower and upper half of each 128 bits
  };
  struct Numbers {
    Float v[2][2];  // [half][0 or 1]: the lower and upper words of that half
  };

  explicit Rounding(const ScaledProduct& p)
      : scale(Vec::splat(p.scale)),
        addend(Vec::splat(p.addend)),
        lo(Vec::splat8(p.lo)),
        hi(Vec::splat8(p.hi)) {}

  QRT_INLINE Words words(Int bytes) {
    return {Vec::unpacklo8(bytes, Vec::zero()), Vec::unpackhi8(bytes, Vec::zero())};
  }
  __attribute__((always_inline)) Int rounded(Float a, Float b) const {
    return reinterpret_cast<Int>(Vec::fma(a, b, addend));
  }
  __attribute__((always_inline)) Int rounded(const Float (&a)[2], const Float (&b)[2]) const {
    return Vec::low_and_high(rounded(a[0], b[0]), Vec::shift_left32(rounded(a[1], b[1]), 16));
  }
  __attribute__((always_inline)) Int bytes(const Numbers& a, const Numbers& b) const {
    const Int all = Vec::packus16(rounded(a.v[0], b.v[0]), rounded(a.v[1], b.v[1]));
    return Vec::min_u8(Vec::max_u8(all, lo), hi);
  }

  Float scale, addend;
  Int lo, hi;
};

// Beside a row, whose bytes are scaled once.
template <class V>
struct Product : Rounding<V> {
  using Base = Rounding<V>;
  using typename Base::Float;
  using typename Base::Int;
  using typename Base::Numbers;
  using typename Base::Words;

  explicit Product(const ScaledProduct& p)
      : Base(p),
        a_zero(V::splat(kWhole + static_cast<float>(p.a_zero_point))),
        b_zero(V::splat(kWhole + static_cast<float>(p.b_zero_point))) {}

  QRT_INLINE Numbers numbers(Int x, Float zero) {
    const Words words = Base::words(x);
    const auto low = [&](Int w) {
      const Int v = V::low_and_high(w, V::splat16(kWholeBits >> 16));
      return reinterpret_cast<Float>(v) - zero;
    };
    const auto high = [&](Int w) {
      const Int v = V::bits_of_both(V::shift_right32(w, 16), V::splat32(kWholeBits));
      return reinterpret_cast<Float>(v) - zero;
    };
    return {{{low(words.low), high(words.low)}, {low(words.high), high(words.high)}}};
  }
  Numbers first(Int a) const { return numbers(a, a_zero); }
  Numbers second(Int b) const {
    Numbers n = numbers(b, b_zero);
    for (auto& half : n.v)
      for (Float& v : half) v *= this->scale;
    return n;
  }
  Int join(const Numbers& a, const Numbers& b) const { return this->bytes(a, b); }

  Float a_zero, b_zero;
};

// The product of two arrays, computed in integers before it is scaled: fewer operations where no operand is constant.
template <class V>
struct IntegerProduct : Rounding<V> {
  using Base = Rounding<V>;
  using typename Base::Float;
  using typename Base::Int;
  using typename Base::Numbers;
  using typename Base::Words;

  explicit IntegerProduct(const ScaledProduct& p)
      : Base(p), a_zero(V::splat16(p.a_zero_point)), b_zero(V::splat16(p.b_zero_point)) {}

  QRT_INLINE Words less(Words w, Int zero) {
    return {V::sub16(w.low, zero), V::sub16(w.high, zero)};
  }
  Words first(Int a) const { return less(Base::words(a), a_zero); }
  Words second(Int b) const { return less(Base::words(b), b_zero); }
  Int join(const Words& a, const Words& b) const {
    // A product by an instruction that adds two products, one of which is 0 here.
    const auto low = [](Int x, Int y) {
      return V::to_float(V::madd16(V::low_and_high(x, V::zero()), y));
    };
    const auto high = [](Int x, Int y) {
      return V::to_float(V::madd16(V::low_and_high(V::zero(), x), y));
    };
    const Numbers products = {
        {{low(a.low, b.low), high(a.low, b.low)}, {low(a.high, b.high), high(a.high, b.high)}}};
    const Numbers scales = {{{this->scale, this->scale}, {this->scale, this->scale}}};
    return this->bytes(products, scales);
  }

  Int a_zero, b_zero;
};

template <class Vec>
void scaled_product(const ScaledProduct& product, const Rows& rows) {
  if (is_beside_a_row(rows)) return walk_rows<Product<Vec>>(product, rows);
  for (size_t i = 0; i < rows.rows; ++i)
    walk_row<IntegerProduct<Vec>>(product, rows.a + i * rows.a_step, rows.b + i * rows.b_step,
                                  rows.y + i * rows.y_step, rows.n);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_SCALED_PRODUCT_X86_H_

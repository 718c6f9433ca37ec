// SPDX-License-Identifier: Apache-2.0
// IEEE-754 binary32 in integers: fused multiply-add, division, conversion from and to integers, all
// with one rounding to nearest even. requant.h is defined with it; also the oracle of the SIMD
// tests. Finite operands only (REQUIRES: no NaN, no infinity); a result beyond the range becomes an
// infinity, which to_int() saturates. Zeros are +0.
#ifndef QRT_KERNELS_SOFT_FLOAT_H_
#define QRT_KERNELS_SOFT_FLOAT_H_

#include <cstdint>
#include <cstring>

namespace qrt {
namespace soft {

using Bits = uint32_t;  // a binary32 number's bit pattern

constexpr Bits kInfinity = 0x7f800000;

inline Bits bits_of(float f) {
  Bits b;
  memcpy(&b, &f, 4);
  return b;
}

// (-1)^negative * significand * 2^exponent
struct Unpacked {
  bool negative;
  int exponent;
  uint64_t significand;  // < 2^24
};

inline Unpacked unpack(Bits b) {
  const int e = static_cast<int>((b >> 23) & 0xff);
  const uint64_t m = b & 0x7fffff;
  return {(b >> 31) != 0, (e == 0 ? 1 : e) - 150, e == 0 ? m : m | 0x800000};
}

// Rounds to nearest even; keeps subnormal results.
inline Bits pack(bool negative, int exponent, uint64_t significand) {
  if (significand == 0) return 0;
  int drop = 40 - __builtin_clzll(significand);
  if (exponent + drop < -149) drop = -149 - exponent;  // subnormal: a fixed last place
  if (drop > 64) return 0;
  if (drop > 0) {
    const uint64_t kept = drop < 64 ? significand >> drop : 0, half = uint64_t{1} << (drop - 1);
    const uint64_t rest = drop < 64 ? significand - (kept << drop) : significand;
    significand = kept + (rest > half || (rest == half && (kept & 1) != 0));
    exponent += drop;
    if (significand >> 24) {
      significand >>= 1;
      exponent += 1;
    }
  } else {
    significand <<= -drop;
    exponent += drop;
  }
  const Bits sign = negative ? 0x80000000u : 0;
  const uint32_t m = static_cast<uint32_t>(significand);
  if (m == 0) return 0;
  if (m < 0x800000) return sign | m;  // subnormal
  const int biased = exponent + 150;
  if (biased >= 255) return sign | kInfinity;
  return sign | static_cast<Bits>(biased) << 23 | (m & 0x7fffff);
}

// fl32(i)
inline Bits from_int(int64_t i) {
  return pack(i < 0, 0, i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i));
}

// Returns the number with its first bit at 61: room for a sum of two. REQUIRES: it is not zero.
inline Unpacked normal(const Unpacked& v) {
  const int shift = __builtin_clzll(v.significand) - 2;
  return {v.negative, v.exponent - shift, v.significand << shift};
}

// fl32(a * b + c)
inline Bits fma(Bits a, Bits b, Bits c) {
  const Unpacked x = unpack(a), y = unpack(b), z = unpack(c);
  const Unpacked product = {x.negative != y.negative, x.exponent + y.exponent,
                            x.significand * y.significand};  // < 2^48
  if (product.significand == 0) return z.significand ? c : 0;
  if (z.significand == 0) return pack(product.negative, product.exponent, product.significand);
  const Unpacked p = normal(product), q = normal(z);
  const bool swapped = p.exponent < q.exponent;
  const Unpacked &far = swapped ? q : p, &near = swapped ? p : q;
  // The bits that are shifted out of the lower operand lie far below the rounding position (an
  // operand has at least 14 zeros at its end): a sticky 1 stands for them.
  const int distance = far.exponent - near.exponent;
  const uint64_t kept = distance < 64 ? near.significand >> distance : 0;
  const bool is_sticky = distance < 64 ? kept << distance != near.significand : true;
  const uint64_t low = kept | is_sticky, high = far.significand;
  if (far.negative == near.negative) return pack(far.negative, far.exponent, high + low);
  return high >= low ? pack(far.negative, far.exponent, high - low)
                     : pack(near.negative, far.exponent, low - high);
}

inline Bits mul(Bits a, Bits b) { return fma(a, b, 0); }
inline Bits add(Bits a, Bits b) { return fma(a, 0x3f800000, b); }

// Returns fl32(a / b). REQUIRES: b is not zero.
inline Bits div(Bits a, Bits b) {
  const Unpacked x = unpack(a), y = unpack(b);
  if (x.significand == 0) return 0;
  // A dividend of 63 bits leaves a quotient of at least 39; a sticky bit stands for the remainder.
  const int shift = __builtin_clzll(x.significand) - 1;
  const uint64_t dividend = x.significand << shift;
  const uint64_t quotient = dividend / y.significand;
  const bool is_sticky = dividend % y.significand != 0;
  return pack(x.negative != y.negative, x.exponent - shift - y.exponent - 1,
              quotient << 1 | is_sticky);
}

// Returns v / 2^s rounded half to even; 0 <= s <= 62.
inline int64_t shift_half_even(int64_t v, int s) {
  if (s == 0) return v;
  const int64_t half = int64_t{1} << (s - 1);
  return (v + (half - 1) + ((v >> s) & 1)) >> s;
}

// Rounds to an integer, half to even or half up. Limited to +-2^40, infinities too.
inline int64_t to_int(Bits b, bool half_up = false) {
  const Unpacked v = unpack(b);
  const int64_t limit = int64_t{1} << 40;
  const int64_t s = static_cast<int64_t>(v.significand);
  const int64_t i = v.negative ? -s : s;
  if (s == 0) return 0;
  if (v.exponent > 16) return v.negative ? -limit : limit;
  if (v.exponent >= 0) return i * (int64_t{1} << v.exponent);
  const int shift = -v.exponent;
  if (shift > 40) return 0;
  return half_up ? (i + (int64_t{1} << (shift - 1))) >> shift : shift_half_even(i, shift);
}

}  // namespace soft
}  // namespace qrt

#endif  // QRT_KERNELS_SOFT_FLOAT_H_

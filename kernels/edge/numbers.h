// SPDX-License-Identifier: Apache-2.0
// Number formats of the model's edges and their conversions, normative: float16, bfloat16, the
// float8 and float4 formats of ONNX, powers of two (E8M0). All round to nearest, ties to even, and
// keep subnormals. The scalar row and tables use these; a SIMD form must equal them bit for bit.
#ifndef QRT_KERNELS_EDGE_NUMBERS_H_
#define QRT_KERNELS_EDGE_NUMBERS_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

namespace qrt {

static inline uint32_t bits_of_float(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}
static inline float float_of_bits(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}

// Returns significand / 2^drop, ties to even. REQUIRES: significand < 2^24, drop >= 1.
static inline uint32_t shift_half_even(uint32_t significand, int drop) {
  if (drop > 24) return 0;
  const uint32_t rest = significand & ((1u << drop) - 1), half = 1u << (drop - 1);
  const uint32_t r = significand >> drop;
  return r + (rest > half || (rest == half && (r & 1)) ? 1 : 0);
}

// Returns the magnitude of a finite float as the code of a format with `mantissa` bits and this
// bias. Beyond the format's range the codes go on counting.
static inline uint32_t round_magnitude(uint32_t bits, int mantissa, int bias) {
  const int field = static_cast<int>(bits >> 23 & 255);
  const uint32_t fraction = bits & 0x7fffff;
  const int exponent = field == 0 ? -126 : field - 127;
  const uint32_t significand = field == 0 ? fraction : fraction | 0x800000;
  const int least = 1 - bias, target = exponent > least ? exponent : least;
  const uint32_t r = shift_half_even(significand, 23 - mantissa + target - exponent);
  return r + (static_cast<uint32_t>(target - least) << mantissa);
}

// Returns the nearest float16. NaN stays NaN: quiet, with the upper bits of its payload.
static inline uint16_t float_to_half(float f) {
  const uint32_t b = bits_of_float(f), sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  uint32_t code = 0x7c00;
  if (magnitude < 0x7f800000) code = round_magnitude(magnitude, 10, 15);
  return static_cast<uint16_t>(sign | (code < 0x7c00 ? code : 0x7c00));
}

static inline float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  const uint32_t exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 31)
    return float_of_bits(sign | 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0));
  if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  const float tiny = static_cast<float>(mantissa) / 16777216.0f;  // mantissa * 2^-24, exact
  return float_of_bits(sign | bits_of_float(tiny));
}

static inline uint16_t float_to_bfloat(float f) {
  const uint32_t b = bits_of_float(f);
  if ((b & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(b >> 16 | 0x40);
  return static_cast<uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

static inline float bfloat_to_float(uint16_t h) {
  return float_of_bits(static_cast<uint32_t>(h) << 16);
}

// 2^(code - 127); 255 is not a number.
static inline float e8m0_to_float(uint8_t code) {
  if (code == 255) return float_of_bits(0x7fc00000);
  return float_of_bits(code == 0 ? 0x400000 : static_cast<uint32_t>(code) << 23);
}

// A format of up to 8 bits: sign, exponent, `mantissa` bits. The codes have no sign bit set but for
// the one NaN of the UZ formats, which is the code of -0.
struct SmallFloat {
  int mantissa, bias;
  uint8_t sign;           // the sign's bit
  uint8_t max;            // code of the greatest finite number
  uint8_t over;           // code of what rounds to more than that
  uint8_t infinity, nan;  // codes of an infinity and of NaN
  bool has_signed_zero;   // zero has a sign, and so has NaN
};

enum class SmallFormat : uint8_t { kE4M3FN, kE4M3FNUZ, kE5M2, kE5M2FNUZ, kE2M1 };

// Returns the parameters of a format. A value out of range, also an infinity, becomes, saturating, the greatest
// number of its sign; else NaN, or with E5M2 an infinity. E2M1 (4 bits) always saturates, and NaN becomes +6.
static inline SmallFloat small_float(SmallFormat format, bool saturate) {
  const auto pick = [&](uint8_t saturated, uint8_t other) { return saturate ? saturated : other; };
  SmallFloat f = {};
  switch (format) {
    case SmallFormat::kE4M3FN:
      f = {3, 7, 0x80, 0x7e, pick(0x7e, 0x7f), pick(0x7e, 0x7f), 0x7f, true};
      break;
    case SmallFormat::kE4M3FNUZ:
      f = {3, 8, 0x80, 0x7f, pick(0x7f, 0x80), pick(0x7f, 0x80), 0x80, false};
      break;
    case SmallFormat::kE5M2:
      f = {2, 15, 0x80, 0x7b, pick(0x7b, 0x7c), pick(0x7b, 0x7c), 0x7f, true};
      break;
    case SmallFormat::kE5M2FNUZ:
      f = {2, 16, 0x80, 0x7f, pick(0x7f, 0x80), pick(0x7f, 0x80), 0x80, false};
      break;
    case SmallFormat::kE2M1: f = {1, 1, 0x08, 7, 7, 7, 7, true}; break;
  }
  return f;
}

static inline uint8_t float_to_small(const SmallFloat& f, float v) {
  const uint32_t b = bits_of_float(v), magnitude = b & 0x7fffffff;
  const uint8_t sign = b >> 31 ? f.sign : 0;
  if (magnitude > 0x7f800000)
    return static_cast<uint8_t>(f.nan | (f.has_signed_zero && f.sign == 0x80 ? sign : 0));
  if (magnitude == 0x7f800000) return static_cast<uint8_t>(f.infinity | sign);
  const uint32_t code = round_magnitude(magnitude, f.mantissa, f.bias);
  if (code == 0) return f.has_signed_zero ? sign : 0;
  return static_cast<uint8_t>((code > f.max ? f.over : code) | sign);
}

static inline float small_to_float(SmallFormat format, uint8_t code) {
  const SmallFloat f = small_float(format, false);
  const int magnitude = code & (f.sign - 1);
  const uint32_t sign = code & f.sign ? 0x80000000u : 0;
  if (!f.has_signed_zero && code == f.nan) return float_of_bits(0x7fc00000);
  if (magnitude > f.max) {  // E4M3FN: NaN; E5M2: infinity, then NaNs
    const bool infinite = magnitude == f.infinity && f.infinity != f.nan;
    return float_of_bits(sign | (infinite ? 0x7f800000 : 0x7fc00000));
  }
  const int exponent = magnitude >> f.mantissa, fraction = magnitude & ((1 << f.mantissa) - 1);
  const int significand = exponent == 0 ? fraction : fraction | 1 << f.mantissa;
  const int power = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa;  // -19 .. 13
  const float v =
      static_cast<float>(significand) * float_of_bits(static_cast<uint32_t>(power + 127) << 23);
  return float_of_bits(sign | bits_of_float(v));
}

}  // namespace qrt

#endif  // QRT_KERNELS_EDGE_NUMBERS_H_

// SPDX-License-Identifier: Apache-2.0
// Kernels of the edge family that are the same on every instruction set but for the number of
// lanes: written with the compilers' vector types, instantiated by edge_<isa>.cc with a policy
//
//   struct Lanes {
//     static constexpr size_t kLanes;   // of 32 bits
//     static F load_half(const uint16_t*);          // float16 to float32
//     static void store_half(uint16_t*, F);         // and back, nearest even
//   };
//
// over `LaneTypes<kLanes>`. Tails go through padded copies: nothing behind the buffers is touched.
#ifndef QRT_KERNELS_EDGE_EDGE_LANES_H_
#define QRT_KERNELS_EDGE_EDGE_LANES_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/edge/edge.h"

namespace qrt {
namespace {

template <size_t kLanes>
struct LaneTypes {
  typedef float F __attribute__((vector_size(kLanes * 4)));
  typedef int32_t I __attribute__((vector_size(kLanes * 4)));
  typedef uint32_t U __attribute__((vector_size(kLanes * 4)));
  typedef uint16_t H __attribute__((vector_size(kLanes * 2)));
  typedef int16_t SH __attribute__((vector_size(kLanes * 2)));
  typedef uint8_t B __attribute__((vector_size(kLanes)));
  typedef int8_t SB __attribute__((vector_size(kLanes)));
};

template <class V, class T>
inline V load_lanes(const T* x) {
  V v;
  memcpy(&v, x, sizeof v);
  return v;
}
template <class V, class T>
inline void store_lanes(T* y, V v) {
  memcpy(y, &v, sizeof v);
}

// `kEach`: every element has a scale and a zero point of its own, else all have the first.
template <class Lanes>
class EdgeLanes {
  static constexpr size_t kLanes = Lanes::kLanes;
  using T = LaneTypes<kLanes>;
  using F = typename T::F;
  using I = typename T::I;
  using U = typename T::U;

  static inline F splat(float f) { return f - F{}; }
  static inline I splat(int32_t i) { return i - I{}; }

  // f(at, count): whole vectors, then a part of one.
  template <class Whole, class Partial>
  static inline void for_lanes(size_t n, const Whole& whole, const Partial& partial) {
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) whole(i);
    if (i < n) partial(i, n - i);
  }

  // Returns HE(v) for |v| < 2^22: adding 1.5 * 2^23 leaves no bits behind the point.
  static inline I round(F v) {
    const F shifted = v + 12582912.0f;
    return reinterpret_cast<I>(shifted) - 0x4b400000;
  }

  // Rounds half away from zero, |v| < 2^22: adding the float just below a half leaves alone what is
  // below a half.
  static inline I round_away(F v) {
    const I half = splat(0x3effffff) | (reinterpret_cast<I>(v) & INT32_MIN);
    return __builtin_convertvector(v + reinterpret_cast<F>(half), I);
  }

  static inline F clamp(F v, F low, F high) {
    v = v > low ? v : low;  // NaN too
    return v < high ? v : high;
  }

  template <bool kAway, bool kEach>
  static inline void quantize16(const float* x, size_t n, const float* scale, const int32_t* zp,
                                int32_t lo, int32_t hi, uint16_t* y) {
    const auto one = [&](F v, F s, I z) {
      const F low = __builtin_convertvector(lo - z, F), high = __builtin_convertvector(hi - z, F);
      const F steps = clamp(v / s, low, high);
      return __builtin_convertvector((kAway ? round_away(steps) : round(steps)) + z, typename T::H);
    };
    const F s0 = splat(scale[0]);
    const I z0 = splat(zp[0]);
    for_lanes(
        n,
        [&](size_t i) {
          const F s = kEach ? load_lanes<F>(scale + i) : s0;
          const I z = kEach ? load_lanes<I>(zp + i) : z0;
          store_lanes(y + i, one(load_lanes<F>(x + i), s, z));
        },
        [&](size_t i, size_t count) {
          F v = {}, s = s0;
          I z = z0;
          memcpy(&v, x + i, count * 4);
          if (kEach) memcpy(&s, scale + i, count * 4);
          if (kEach) memcpy(&z, zp + i, count * 4);
          const typename T::H out = one(v, s, z);
          memcpy(y + i, &out, count * 2);
        });
  }

  template <bool kEach, class Word>
  static inline void dequantize16(const uint16_t* x, size_t n, const float* scale,
                                  const int32_t* zp, float* y) {
    const auto one = [&](Word w, F s, I z) {
      return __builtin_convertvector(__builtin_convertvector(w, I) - z, F) * s;
    };
    const F s0 = splat(scale[0]);
    const I z0 = splat(zp[0]);
    for_lanes(
        n,
        [&](size_t i) {
          const F s = kEach ? load_lanes<F>(scale + i) : s0;
          const I z = kEach ? load_lanes<I>(zp + i) : z0;
          store_lanes(y + i, one(load_lanes<Word>(x + i), s, z));
        },
        [&](size_t i, size_t count) {
          Word w = {};
          F s = s0;
          I z = z0;
          memcpy(&w, x + i, count * 2);
          if (kEach) memcpy(&s, scale + i, count * 4);
          if (kEach) memcpy(&z, zp + i, count * 4);
          const F out = one(w, s, z);
          memcpy(y + i, &out, count * 4);
        });
  }

  // Rounds the bits of a normal magnitude at the last place of the format; what is subnormal there
  // by a float addition whose last place is the format's.
  template <bool kEach>
  static inline void encode(const float* x, size_t n, const float* scale, const SmallFloat& f,
                            uint8_t* y) {
    const int shift = 23 - f.mantissa;
    const uint32_t least = static_cast<uint32_t>(128 - f.bias) << 23;  // smallest normal number
    const uint32_t rebias = static_cast<uint32_t>(127 - f.bias) << f.mantissa;
    const uint32_t magic_bits = static_cast<uint32_t>(151 - f.bias - f.mantissa) << 23;
    const int to_sign = f.sign == 0x80 ? 24 : 28;
    const I no_sign_of_zero = splat(f.has_signed_zero ? 0 : -1);
    const I no_sign_of_nan = splat(f.has_signed_zero && f.sign == 0x80 ? 0 : -1);
    float magic;
    memcpy(&magic, &magic_bits, 4);
    const auto one = [&](F v) {
      const U bits = reinterpret_cast<U>(v), a = bits & 0x7fffffffu;
      const U even = a >> shift & 1u;
      const U normal = ((a + (even + ((1u << (shift - 1)) - 1))) >> shift) - rebias;
      const U tiny = reinterpret_cast<U>(reinterpret_cast<F>(a) + magic) - magic_bits;
      const I magnitude = reinterpret_cast<I>(a);
      I code = reinterpret_cast<I>(magnitude < static_cast<int32_t>(least) ? tiny : normal);
      code = code > int32_t{f.max} ? splat(int32_t{f.over}) : code;
      code = magnitude == 0x7f800000 ? splat(int32_t{f.infinity}) : code;
      code = magnitude > 0x7f800000 ? splat(int32_t{f.nan}) : code;
      I sign = reinterpret_cast<I>(bits >> to_sign & uint32_t{f.sign});
      sign &= ~((code == 0) & no_sign_of_zero);
      sign &= ~((magnitude > 0x7f800000) & no_sign_of_nan);
      return __builtin_convertvector(code | sign, typename T::B);
    };
    const F s0 = splat(scale[0]);
    for_lanes(
        n,
        [&](size_t i) {
          const F s = kEach ? load_lanes<F>(scale + i) : s0;
          store_lanes(y + i, one(load_lanes<F>(x + i) / s));
        },
        [&](size_t i, size_t count) {
          F v = {}, s = s0;
          memcpy(&v, x + i, count * 4);
          if (kEach) memcpy(&s, scale + i, count * 4);
          const typename T::B out = one(v / s);
          memcpy(y + i, &out, count);
        });
  }

  template <class Bytes>
  static inline void dequantize_half(const uint8_t* x, size_t n, float scale, int32_t zp,
                                     uint16_t* y) {
    const auto one = [&](Bytes b) {
      return __builtin_convertvector(__builtin_convertvector(b, I) - zp, F) * scale;
    };
    for_lanes(
        n, [&](size_t i) { Lanes::store_half(y + i, one(load_lanes<Bytes>(x + i))); },
        [&](size_t i, size_t count) {
          Bytes b = {};
          memcpy(&b, x + i, count);
          uint16_t out[kLanes];
          Lanes::store_half(out, one(b));
          memcpy(y + i, out, count * 2);
        });
  }

  template <bool kOffset>
  static inline void store_sums(const SumStore& s) {
    const F low = splat(s.lo), high = splat(s.hi);
    const F nan = reinterpret_cast<F>(splat(int32_t{0x7fc00000}));
    const int32_t* sums = s.sums;
    float* y = s.y;
    for (size_t r = 0; r < s.rows; ++r, sums += s.channels, y += s.channels) {
      const F x_scale = splat(s.x_scale[r * s.x_step]);
      const U zero = U{} + (kOffset ? s.zero_point[r] : uint32_t{0});
      const auto one = [&](U acc, U weight_sum, F w_scale, F addend) {
        if (kOffset) acc -= zero * weight_sum;
        const F sum = __builtin_convertvector(reinterpret_cast<I>(acc), F);
        F v;
        if (s.weights_first) {
          v = sum * w_scale;
          v = v * x_scale;
        } else {
          const F factor = x_scale * w_scale;
          v = sum * factor;
        }
        v = v + addend;
        v = v < low ? low : v;
        v = v > high ? high : v;
        return v == v ? v : nan;
      };
      for_lanes(
          s.channels,
          [&](size_t c) {
            const U weight_sum = kOffset ? load_lanes<U>(s.weight_sum + c) : U{};
            store_lanes(y + c, one(load_lanes<U>(sums + c), weight_sum,
                                   load_lanes<F>(s.w_scale + c), load_lanes<F>(s.addend + c)));
          },
          [&](size_t c, size_t count) {
            U acc = {}, weight_sum = {};
            F w_scale = {}, addend = {};
            memcpy(&acc, sums + c, count * 4);
            if (kOffset) memcpy(&weight_sum, s.weight_sum + c, count * 4);
            memcpy(&w_scale, s.w_scale + c, count * 4);
            memcpy(&addend, s.addend + c, count * 4);
            const F out = one(acc, weight_sum, w_scale, addend);
            memcpy(y + c, &out, count * 4);
          });
    }
  }

 public:
  template <bool kAway>
  static inline void quantize16(const float* x, size_t n, const EdgeGrid& g, int32_t lo, int32_t hi,
                                uint16_t* y) {
    g.each ? quantize16<kAway, true>(x, n, g.scale, g.zero_point, lo, hi, y)
           : quantize16<kAway, false>(x, n, g.scale, g.zero_point, lo, hi, y);
  }

  static inline void dequantize16(const uint16_t* x, bool is_signed, size_t n, const EdgeGrid& g,
                                  float* y) {
    using Signed = typename T::SH;
    using Unsigned = typename T::H;
    if (is_signed)
      g.each ? dequantize16<true, Signed>(x, n, g.scale, g.zero_point, y)
             : dequantize16<false, Signed>(x, n, g.scale, g.zero_point, y);
    else
      g.each ? dequantize16<true, Unsigned>(x, n, g.scale, g.zero_point, y)
             : dequantize16<false, Unsigned>(x, n, g.scale, g.zero_point, y);
  }

  static inline void encode(const float* x, size_t n, const EdgeGrid& g, const SmallFloat& f,
                            uint8_t* y) {
    g.each ? encode<true>(x, n, g.scale, f, y) : encode<false>(x, n, g.scale, f, y);
  }

  static inline void quantize_half(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                                   int32_t hi, int32_t offset, uint8_t* y) {
    const F low = splat(static_cast<float>(lo - zp)), high = splat(static_cast<float>(hi - zp));
    const F wrapped = zp < 0 ? high : low;
    const auto one = [&](const uint16_t* from) {
      F v = Lanes::load_half(from) / scale;
      v = v < 2147483648.0f ? v : wrapped;  // NaN too
      v = v >= -2147483648.0f ? v : wrapped;
      return __builtin_convertvector(round(clamp(v, low, high)) + (zp + offset), typename T::B);
    };
    for_lanes(
        n, [&](size_t i) { store_lanes(y + i, one(x + i)); },
        [&](size_t i, size_t count) {
          uint16_t in[kLanes] = {};
          memcpy(in, x + i, count * 2);
          const typename T::B out = one(in);
          memcpy(y + i, &out, count);
        });
  }

  static inline void dequantize_half(const uint8_t* x, bool is_signed, size_t n, float scale,
                                     int32_t zp, uint16_t* y) {
    is_signed ? dequantize_half<typename T::SB>(x, n, scale, zp, y)
              : dequantize_half<typename T::B>(x, n, scale, zp, y);
  }

  static inline void widen_half(const uint16_t* x, size_t n, float* y) {
    for_lanes(
        n, [&](size_t i) { store_lanes(y + i, Lanes::load_half(x + i)); },
        [&](size_t i, size_t count) {
          uint16_t in[kLanes] = {};
          memcpy(in, x + i, count * 2);
          const F out = Lanes::load_half(in);
          memcpy(y + i, &out, count * 4);
        });
  }

  static inline void narrow_half(const float* x, size_t n, uint16_t* y) {
    for_lanes(
        n, [&](size_t i) { Lanes::store_half(y + i, load_lanes<F>(x + i)); },
        [&](size_t i, size_t count) {
          F v = {};
          memcpy(&v, x + i, count * 4);
          uint16_t out[kLanes];
          Lanes::store_half(out, v);
          memcpy(y + i, out, count * 2);
        });
  }

  static inline void extremes(const float* x, size_t n, float* least, float* most) {
    F lo = splat(*least), hi = splat(*most);
    const auto take = [&](F v) {
      lo = v < lo ? v : lo;  // not NaN
      hi = v > hi ? v : hi;
    };
    for_lanes(
        n, [&](size_t i) { take(load_lanes<F>(x + i)); },
        [&](size_t i, size_t count) {
          F v = lo;
          memcpy(&v, x + i, count * 4);
          take(v);
        });
    for (size_t i = 0; i < kLanes; ++i) {
      if (lo[i] < *least) *least = lo[i];
      if (hi[i] > *most) *most = hi[i];
    }
  }

  static inline void store_sums(const SumStore& s) {
    s.zero_point != nullptr ? store_sums<true>(s) : store_sums<false>(s);
  }
};

}  // namespace
}  // namespace qrt

// The entry points of edge_<isa>.cc that its policy gives.
#define QRT_EDGE_LANES(suffix, Lanes)                                                             \
  void edge_quantize16_##suffix(const float* x, size_t n, const EdgeGrid& g, int32_t lo,          \
                                int32_t hi, uint16_t* y) {                                        \
    EdgeLanes<Lanes>::quantize16<false>(x, n, g, lo, hi, y);                                      \
  }                                                                                               \
  void edge_quantize16_away_##suffix(const float* x, size_t n, const EdgeGrid& g, int32_t lo,     \
                                     int32_t hi, uint16_t* y) {                                   \
    EdgeLanes<Lanes>::quantize16<true>(x, n, g, lo, hi, y);                                       \
  }                                                                                               \
  void edge_dequantize16_##suffix(const uint16_t* x, bool is_signed, size_t n, const EdgeGrid& g, \
                                  float* y) {                                                     \
    EdgeLanes<Lanes>::dequantize16(x, is_signed, n, g, y);                                        \
  }                                                                                               \
  void edge_encode_##suffix(const float* x, size_t n, const EdgeGrid& g, const SmallFloat& f,     \
                            uint8_t* y) {                                                         \
    EdgeLanes<Lanes>::encode(x, n, g, f, y);                                                      \
  }                                                                                               \
  void edge_widen_half_##suffix(const uint16_t* x, size_t n, float* y) {                          \
    EdgeLanes<Lanes>::widen_half(x, n, y);                                                        \
  }                                                                                               \
  void edge_narrow_half_##suffix(const float* x, size_t n, uint16_t* y) {                         \
    EdgeLanes<Lanes>::narrow_half(x, n, y);                                                       \
  }                                                                                               \
  void edge_extremes_##suffix(const float* x, size_t n, float* least, float* most) {              \
    EdgeLanes<Lanes>::extremes(x, n, least, most);                                                \
  }                                                                                               \
  void edge_store_sums_##suffix(const SumStore& store) { EdgeLanes<Lanes>::store_sums(store); }

// float16 to 8 bits and back, where an instruction set has no blocks of its own for them.
#define QRT_EDGE_HALVES(suffix, Lanes)                                                        \
  void edge_quantize_half_##suffix(const uint16_t* x, size_t n, float scale, int32_t zp,      \
                                   int32_t lo, int32_t hi, int32_t offset, uint8_t* y) {      \
    EdgeLanes<Lanes>::quantize_half(x, n, scale, zp, lo, hi, offset, y);                      \
  }                                                                                           \
  void edge_dequantize_half_##suffix(const uint8_t* x, bool is_signed, size_t n, float scale, \
                                     int32_t zp, uint16_t* y) {                               \
    EdgeLanes<Lanes>::dequantize_half(x, is_signed, n, scale, zp, y);                         \
  }

#endif  // QRT_KERNELS_EDGE_EDGE_LANES_H_

// SPDX-License-Identifier: Apache-2.0
// Quantisation to 8 bits and dequantisation over a vector layer: blocks of four registers where
// scale and zero point stand still, parts of a register at the end. Included by edge_<isa>.cc;
// everything here is local to the including file. A row supplies V, the layer of isa/vec_<isa>.h
// with, besides,
//
//   kHalvesAhead                      float16 to fetch before their use, or 0; floats come in time by
//                                     themselves
//   FloatDivision                     made from a scale, `least` and `most`, integers; in_quanta(x)
//                                     rounds to the integer that V::at_most(x / scale, least, most)
//                                     does, half to even or away, where that is within 255 of 0.
//                                     Below that, and of NaN, it is below that, or has no int32,
//                                     where at_most() keeps what is below `least`
//   HalfDivision                      made from a scale; quotient(x) of float16 as floats:
//                                     correctly rounded, but what is beyond 2^31, infinite or NaN
//                                     may be anything that is one of these
//   has_fast_division(scale), has_fast_half_division(scale)
//                                     whether these serve; otherwise Divider or EdgeLanes does
//   max_below(v, bound, limit)        max(v, limit) where v < bound, else limit (NaN, too)
//   min_from(v, bound, limit)         min(v, limit) where v >= bound, else limit (NaN, too)
//
// The part that is the same on every architecture is in edge_lanes.h.
#ifndef QRT_KERNELS_EDGE_EDGE_VECTORS_H_
#define QRT_KERNELS_EDGE_EDGE_VECTORS_H_

#include "kernels/edge/edge_lanes.h"
#include "kernels/edge/entry.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

// Divides by the instruction.
template <class V>
struct Divider {
  using Float = typename V::Float;
  explicit Divider(float by, float least = 0, float most = 0)
      : scale(V::splat(by)), least(V::splat(least)), most(V::splat(most)) {}
  Float quotient(Float x) const { return x / scale; }
  Float in_quanta(Float x) const { return V::at_most(quotient(x), least, most); }
  Float scale, least, most;
};

// Quantises without a division, as kernels/hybrid.h defines it: zero point + x * factor, limited.
template <class V>
struct HybridQuanta {
  using Float = typename V::Float;
  explicit HybridQuanta(const HybridScale& s)
      : factor(V::splat(s.factor)),
        zero(V::splat(static_cast<float>(s.zero_point))),
        least(V::splat(static_cast<float>(s.lo))),
        most(V::splat(127.0f)) {}
  Float in_quanta(Float x) const { return V::at_most(zero + x * factor, least, most); }
  Float factor, zero, least, most;
};

// Adds to a vector layer the optional members that it lacks, in their simplest form.
template <class Vec>
struct EdgeVectors : Vec {
  static constexpr size_t kHalvesAhead = 0;
  using FloatDivision = Divider<EdgeVectors>;
  static bool has_fast_division(float) { return true; }
};

template <class V>
struct EdgeLoops {
  using Int = typename V::Int;
  using Float = typename V::Float;
  static constexpr size_t kLanes = V::kLanes, kBlock = V::kBytes;

  // The quanta of a register of inputs. They keep the upper limit less the zero point, but not the
  // lower one: values below it, and NaN, which becomes INT32_MIN, end there by saturation. OfFloats
  // rounds by HE, or with kAway by HA, see EdgeLanes::round_away(). The quotients of a float16
  // (OfHalves) beyond int32 and NaN end at `high` where kWrapsHigh, else at `low`.
  template <class Division, bool kAway>
  struct OfFloats {
    using Element = float;
    Division by;

    Int at(const float* x) const { return of(V::load_float(x)); }
    Int partial(const float* x, size_t n) const { return of(V::load_float(V::first_lanes(n), x)); }
    Int of(Float x) const {
      const Float v = by.in_quanta(x);
      return kAway ? V::round_away(v) : V::round(v);
    }
  };

  template <class Division, bool kWrapsHigh>
  struct OfHalves {
    using Element = uint16_t;
    Division by;
    Float low, high;

    Int at(const uint16_t* x) const { return of(V::load_half(x)); }
    Int partial(const uint16_t* x, size_t n) const { return of(V::load_half_partial(x, n)); }
    Int of(Float x) const {
      const Float v = by.quotient(x);
      return V::round(kWrapsHigh ? V::max(V::min_from(v, -0x1p31f, high), low)
                                 : V::min(V::max_below(v, 0x1p31f, low), high));
    }
  };

  template <class Quanta>
  static void quantize(const typename Quanta::Element* x, size_t n, const Quanta& in, int32_t zp,
                       int32_t lo, int32_t offset, uint8_t* y) {
    using Element = typename Quanta::Element;
    const typename V::BytesOfQuanta bytes(zp, lo, offset);
    const auto block = [&](const Element* from, uint8_t* to) {
      if constexpr (V::kHalvesAhead > 0 && sizeof(Element) == sizeof(uint16_t)) {
        for (size_t i = 0; i < kBlock; i += 64 / sizeof(Element))
          __builtin_prefetch(from + V::kHalvesAhead + i);
      }
      const Int v0 = in.at(from), v1 = in.at(from + kLanes);
      const Int v2 = in.at(from + 2 * kLanes), v3 = in.at(from + 3 * kLanes);
      V::store(to, bytes.of(v0, v1, v2, v3));
    };
    if (V::kStreams && n >= kStreamedFrom) {
      const size_t partial = n / kStreams / kBlock * kBlock;
      for (size_t i = 0; i < partial; i += kBlock)
        for (size_t k = 0; k < kStreams; ++k) block(x + k * partial + i, y + k * partial + i);
      n -= kStreams * partial, x += kStreams * partial, y += kStreams * partial;
    }
    for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock) block(x, y);
    for (size_t i = 0; i < n; i += kLanes) {
      const Int v = V::max_s32(in.partial(x + i, n - i), V::splat32(lo - zp));
      V::store_low_bytes_partial(y + i, V::add32(v, V::splat32(zp + offset)), n - i);
    }
  }

  template <bool kAway>
  static void quantize_floats(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                              int32_t hi, uint8_t* y) {
    using Fast = typename V::FloatDivision;
    const float least = static_cast<float>(lo - zp), most = static_cast<float>(hi - zp);
    if (V::has_fast_division(scale))
      quantize(x, n, OfFloats<Fast, kAway>{Fast(scale, least, most)}, zp, lo, 0, y);
    else
      quantize(x, n, OfFloats<Divider<V>, kAway>{Divider<V>(scale, least, most)}, zp, lo, 0, y);
  }

  static void quantize_by(const float* x, size_t n, const HybridScale& scale, uint8_t* y) {
    quantize(x, n, OfFloats<HybridQuanta<V>, true>{HybridQuanta<V>(scale)}, 0, scale.lo, 128, y);
  }

  static void quantize_halves(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                              int32_t hi, int32_t offset, uint8_t* y) {
    using Fast = typename V::HalfDivision;
    if (!V::has_fast_half_division(scale))
      return EdgeLanes<V>::quantize_half(x, n, scale, zp, lo, hi, offset, y);
    const Fast by(scale);
    const Float low = V::splat(static_cast<float>(lo - zp));
    const Float high = V::splat(static_cast<float>(hi - zp));
    if (zp < 0)
      quantize(x, n, OfHalves<Fast, true>{by, low, high}, zp, lo, offset, y);
    else
      quantize(x, n, OfHalves<Fast, false>{by, low, high}, zp, lo, offset, y);
  }

  static void quantize_channels(const float* x, size_t rows, size_t channels, const float* scale,
                                const int32_t* zp, int32_t lo, int32_t hi, uint8_t* y) {
    const auto quanta = [&](Float v, Float s, Int z) {
      const Float low = V::to_float(V::sub32(V::splat32(lo), z));
      const Float high = V::to_float(V::sub32(V::splat32(hi), z));
      return V::add32(V::round(V::min(V::max(v / s, low), high)), z);
    };
    const size_t whole = channels / kLanes * kLanes, rest = channels - whole;
    const auto m = V::first_lanes(rest);
    for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
      const auto of = [&](size_t c) {
        return quanta(V::load_float(x + c), V::load_float(scale + c), V::load(zp + c));
      };
      size_t c = 0;
      for (; c + 2 * kLanes <= whole; c += 2 * kLanes)
        V::store_low_bytes_pair(y + c, of(c), of(c + kLanes));
      if (c < whole) V::store_low_bytes(y + c, of(c));
      if (rest == 0) continue;
      const Int v = quanta(V::load_float(m, x + whole), V::load_float(m, scale + whole),
                           V::load(m, zp + whole));
      V::store_low_bytes_partial(y + whole, v, rest);
    }
  }

  static Float real(Int x, Int zp, Float scale) { return V::to_float(V::sub32(x, zp)) * scale; }

  template <bool kSigned>
  static void dequantize(const uint8_t* x, size_t n, float scale, int32_t zp, float* y) {
    const Float s = V::splat(scale);
    const Int z = V::splat32(zp);
    const auto block = [&](auto store) {
      for (size_t i = 0; i < kBlock; i += 2 * kLanes) {
        Int v[2];
        V::template widen_pair<kSigned>(x + i, v);
        store(y + i, real(v[0], z, s));
        store(y + i + kLanes, real(v[1], z, s));
      }
    };
    if constexpr (V::kStreams) {
      if (n >= kWrittenPastFrom) {
        const size_t head = -reinterpret_cast<uintptr_t>(y) % V::kBytes / sizeof(float);
        V::store_float(V::first_lanes(head), y, real(V::template widen<kSigned>(x), z, s));
        n -= head, x += head, y += head;
        for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock) block(V::stream_float);
        V::end_stream();
      }
    }
    for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock)
      block([](float* to, Float v) QRT_INLINE_LAMBDA { V::store_float(to, v); });
    for (size_t i = 0; i < n; i += kLanes)
      V::store_float(V::first_lanes(n - i), y + i,
                     real(V::template widen_partial<kSigned>(x + i, n - i), z, s));
  }

  template <bool kSigned>
  static void dequantize_channels(const uint8_t* x, size_t rows, size_t channels,
                                  const float* scale, const int32_t* zp, float* y) {
    const size_t whole = channels / kLanes * kLanes, rest = channels - whole;
    const auto m = V::first_lanes(rest);
    for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
      const auto of = [&](Int v, size_t at) {
        return real(v, V::load(zp + at), V::load_float(scale + at));
      };
      size_t c = 0;
      for (; c + 2 * kLanes <= whole; c += 2 * kLanes) {
        Int v[2];
        V::template widen_pair<kSigned>(x + c, v);
        const Float a = of(v[0], c), b = of(v[1], c + kLanes);
        V::store_float(y + c, a);
        V::store_float(y + c + kLanes, b);
      }
      if (c < whole) V::store_float(y + c, of(V::template widen<kSigned>(x + c), c));
      if (rest == 0) continue;
      const Int v = V::template widen_partial<kSigned>(x + whole, rest);
      V::store_float(m, y + whole,
                     real(v, V::load(m, zp + whole), V::load_float(m, scale + whole)));
    }
  }

  static void dequantize_i32(const int32_t* x, size_t rows, size_t channels, const float* scale,
                             float* y) {
    const size_t whole = channels / kLanes * kLanes, rest = channels - whole;
    const auto m = V::first_lanes(rest);
    for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
      for (size_t c = 0; c < whole; c += kLanes)
        V::store_float(y + c, V::to_float(V::load(x + c)) * V::load_float(scale + c));
      if (rest == 0) continue;
      V::store_float(m, y + whole,
                     V::to_float(V::load(m, x + whole)) * V::load_float(m, scale + whole));
    }
  }

  template <bool kSigned>
  static void dequantize_half(const uint8_t* x, size_t n, float scale, int32_t zp, uint16_t* y) {
    constexpr size_t kHalves = 2 * kLanes;  // float16 numbers of a register
    const Float s = V::splat(scale);
    const Int z = V::splat32(zp);
    const auto of = [&](const uint8_t* from) {
      return real(V::template widen<kSigned>(from), z, s);
    };
    if (n >= kWrittenPastFrom) {
      const size_t head = -reinterpret_cast<uintptr_t>(y) % V::kBytes / sizeof(uint16_t);
      EdgeLanes<V>::dequantize_half(x, kSigned, head, scale, zp, y);
      n -= head, x += head, y += head;
      for (; n >= kHalves; n -= kHalves, x += kHalves, y += kHalves)
        V::stream(y, V::narrow_two(of(x), of(x + kLanes)));
      V::end_stream();
    }
    for (; n >= kHalves; n -= kHalves, x += kHalves, y += kHalves)
      V::store(y, V::narrow_two(of(x), of(x + kLanes)));
    EdgeLanes<V>::dequantize_half(x, kSigned, n, scale, zp, y);
  }
};

}  // namespace
}  // namespace qrt

// The entry points that a layer gives: of floats, and of float16 where it has blocks of its own for them.
#define QRT_EDGE_LOOPS(suffix, V)                                                                  \
  void edge_quantize_##suffix(const float* x, size_t n, float scale, int32_t zp, int32_t lo,       \
                              int32_t hi, uint8_t* y) {                                            \
    EdgeLoops<V>::quantize_floats<false>(x, n, scale, zp, lo, hi, y);                              \
  }                                                                                                \
  void edge_quantize_away_##suffix(const float* x, size_t n, float scale, int32_t zp, int32_t lo,  \
                                   int32_t hi, uint8_t* y) {                                       \
    EdgeLoops<V>::quantize_floats<true>(x, n, scale, zp, lo, hi, y);                               \
  }                                                                                                \
  void edge_quantize_channels_##suffix(const float* x, size_t rows, size_t channels,               \
                                       const float* scale, const int32_t* zp, int32_t lo,          \
                                       int32_t hi, uint8_t* y) {                                   \
    EdgeLoops<V>::quantize_channels(x, rows, channels, scale, zp, lo, hi, y);                      \
  }                                                                                                \
  void edge_dequantize_##suffix(const uint8_t* x, bool is_signed, size_t n, float scale,           \
                                int32_t zp, float* y) {                                            \
    is_signed ? EdgeLoops<V>::dequantize<true>(x, n, scale, zp, y)                                 \
              : EdgeLoops<V>::dequantize<false>(x, n, scale, zp, y);                               \
  }                                                                                                \
  void edge_dequantize_channels_##suffix(const uint8_t* x, bool is_signed, size_t rows,            \
                                         size_t channels, const float* scale, const int32_t* zp,   \
                                         float* y) {                                               \
    is_signed ? EdgeLoops<V>::dequantize_channels<true>(x, rows, channels, scale, zp, y)           \
              : EdgeLoops<V>::dequantize_channels<false>(x, rows, channels, scale, zp, y);         \
  }                                                                                                \
  void edge_dequantize_i32_##suffix(const int32_t* x, size_t rows, size_t channels,                \
                                    const float* scale, float* y) {                                \
    EdgeLoops<V>::dequantize_i32(x, rows, channels, scale, y);                                     \
  }                                                                                                \
  void edge_quantize_by_##suffix(const float* x, size_t n, const HybridScale& scale, uint8_t* y) { \
    EdgeLoops<V>::quantize_by(x, n, scale, y);                                                     \
  }
#define QRT_EDGE_LOOPS_OF_HALVES(suffix, V)                                                   \
  void edge_quantize_half_##suffix(const uint16_t* x, size_t n, float scale, int32_t zp,      \
                                   int32_t lo, int32_t hi, int32_t offset, uint8_t* y) {      \
    EdgeLoops<V>::quantize_halves(x, n, scale, zp, lo, hi, offset, y);                        \
  }                                                                                           \
  void edge_dequantize_half_##suffix(const uint8_t* x, bool is_signed, size_t n, float scale, \
                                     int32_t zp, uint16_t* y) {                               \
    is_signed ? EdgeLoops<V>::dequantize_half<true>(x, n, scale, zp, y)                       \
              : EdgeLoops<V>::dequantize_half<false>(x, n, scale, zp, y);                     \
  }
#define QRT_VECTOR_ROW(suffix)                \
  using EdgeLayer = EdgeVectors<suffix::Vec>; \
  QRT_EDGE_LOOPS(suffix, EdgeLayer)           \
  QRT_EDGE_LANES(suffix, EdgeLayer)           \
  QRT_EDGE_HALVES(suffix, EdgeLayer)

#endif  // QRT_KERNELS_EDGE_EDGE_VECTORS_H_

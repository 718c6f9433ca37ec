// The vector policy of pool_loops.h over a vector layer Vec (isa/vec_<isa>.h). Included by
// pool_<isa>.cc; everything here is local to the including file.
#ifndef QRT_KERNELS_POOL_VECTORS_X86_H_
#define QRT_KERNELS_POOL_VECTORS_X86_H_

#include "kernels/pool/pool_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct WordsX86 {
  using Narrower = NoVectors;
  static constexpr size_t kBytes = Vec::kBytes;
  using Bytes = typename Vec::Int;

  static Bytes zero() { return Vec::splat16(INT16_MIN); }
  static Bytes load(const uint8_t* p) { return Vec::load(p); }
  static Bytes max(Bytes a, Bytes b) { return Vec::max_s16(a, b); }
  static void store(uint8_t* p, Bytes v) { Vec::store(p, v); }
  static void store_part(uint8_t* p, Bytes v, size_t n) { Vec::store_part(p, v, n); }
};

template <class Vec, class LanesPolicy, class NarrowerPolicy>
struct VectorsX86 {
  using Narrower = NarrowerPolicy;
  using Words = WordsX86<Vec>;
  using Lanes = LanesPolicy;
  using Int = typename Vec::Int;
  using Float = typename Vec::Float;
  static constexpr size_t kBytes = Vec::kBytes;
  using Bytes = Int;

  static Bytes zero() { return Vec::zero(); }
  static Bytes load(const uint8_t* p) { return Vec::load(p); }
  static Bytes max(Bytes a, Bytes b) { return Vec::max_u8(a, b); }
  static void store(uint8_t* p, Bytes v) { Vec::store(p, v); }
  static void store_part(uint8_t* p, Bytes v, size_t n) { Vec::store_part(p, v, n); }

  // Words of two bytes: sums of the words, modulo 2^16, and of their high bytes. Less 256 times the
  // latter the former are the sums of the low bytes.
  struct Sums16 {
    Int words, high;
  };
  // In the order of the 128-bit lanes' unpacks; packs bring it back.
  struct Sums32 {
    Int v[4];
  };
  static Sums16 zero16() { return {zero(), zero()}; }
  static Sums32 zero32() { return {{zero(), zero(), zero(), zero()}}; }
  static void add16(Sums16& s, const uint8_t* p) {
    const Int x = load(p);
    s.words = Vec::add16(s.words, x);
    s.high = Vec::add16(s.high, Vec::shift_right16(x, 8));
  }
  static void flush(Sums32& s, const Sums16& t) {
    const Int low = Vec::sub16(t.words, Vec::shift_left16(t.high, 8));
    const Int first = Vec::unpacklo16(low, t.high), second = Vec::unpackhi16(low, t.high);
    s.v[0] = Vec::add32(s.v[0], Vec::unpacklo16(first, zero()));
    s.v[1] = Vec::add32(s.v[1], Vec::unpackhi16(first, zero()));
    s.v[2] = Vec::add32(s.v[2], Vec::unpacklo16(second, zero()));
    s.v[3] = Vec::add32(s.v[3], Vec::unpackhi16(second, zero()));
  }
  static Bytes to_bytes(const Sums32& s, const SumScale& r) {
    const Int zero_sum = Vec::splat32(r.zero), zero_point = Vec::splat16(r.zero_point);
    const Float scale = Vec::splat(r.scale);
    const Float hi = Vec::splat(static_cast<float>(r.hi - r.zero_point));
    Int q[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Float real = Vec::to_float(Vec::sub32(s.v[i], zero_sum)) * scale;
      q[i] = Vec::round(Vec::min(real, hi));  // INT32_MIN below that, which saturates
    }
    const Int bytes = Vec::packus16(Vec::adds16(Vec::packs32(q[0], q[1]), zero_point),
                                    Vec::adds16(Vec::packs32(q[2], q[3]), zero_point));
    return Vec::max_u8(bytes, Vec::splat8(r.lo));
  }
  static void spill(const Sums32& s, int32_t* sums) {
    alignas(64) int32_t lanes[4][Vec::kLanes];
    for (int v = 0; v < 4; ++v) Vec::store(lanes[v], s.v[v]);
    for (size_t i = 0; i < kBytes; ++i) sums[i] = lanes[i % 16 / 4][i / 16 * 4 + i % 4];
  }

  class Average {
   public:
    static constexpr size_t kParts = 16 / Vec::kLanes;  // registers of 16 channels
    static constexpr size_t kVectors = 4 / kParts;
    struct Sum {
      Float part[kParts];
    };

    explicit Average(const AveragePoolArgs& args)
        : input_zero_point_(Vec::splat32(args.input_zero_point)),
          output_offset_(Vec::splat32(args.output_offset)),
          input_scale_(Vec::splat(args.input_scale)),
          output_scale_(Vec::splat(args.output_scale)),
          output_zero_point_(Vec::splat(static_cast<float>(args.output_zero_point))),
          lo_(Vec::splat(static_cast<float>(-args.output_offset))),
          hi_(Vec::splat(static_cast<float>(255 - args.output_offset))) {}

    static Sum zero() { return {}; }
    Sum add(Sum sum, const uint8_t* p) const {
#pragma GCC unroll 2
      for (size_t i = 0; i < kParts; ++i) {
        const Int x = Vec::template widen<false>(Vec::load_bytes(p + i * Vec::kLanes));
        sum.part[i] = sum.part[i] + input_scale_ * Vec::to_float(Vec::sub32(x, input_zero_point_));
      }
      return sum;
    }
    __m128i finish(Sum sum, float count) const {
      Int q[kParts];
#pragma GCC unroll 2
      for (size_t i = 0; i < kParts; ++i) {
        const Float mean = sum.part[i] / Vec::splat(count);
        const Float v = mean / output_scale_ + output_zero_point_;
        q[i] = Vec::add32(Vec::round(Vec::min(Vec::max(v, lo_), hi_)), output_offset_);
      }
      return Vec::narrow16(q);
    }
    static void store16(uint8_t* p, __m128i v) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
    }
    static void store16_part(uint8_t* p, __m128i v, size_t n) { Vec::store16_part(p, v, n); }

   private:
    Int input_zero_point_, output_offset_;
    Float input_scale_, output_scale_, output_zero_point_, lo_, hi_;
  };
};

}  // namespace
}  // namespace qrt

// The entry points of a row: its vector layer, its policy of isa/requantize_tile.h, and what maxima
// of a few channels take instead (pool_loops.h).
#define QRT_POOL_X86(suffix, Vec, Lanes, Narrower)          \
  void max_pool_##suffix(const MaxPoolArgs& args) {         \
    max_pool<VectorsX86<Vec, Lanes, Narrower>>(args);       \
  }                                                         \
  void average_pool_##suffix(const AveragePoolArgs& args) { \
    average_pool<VectorsX86<Vec, Lanes, Narrower>>(args);   \
  }                                                         \
  void global_sum_##suffix(const GlobalSumArgs& args) {     \
    global_sum<VectorsX86<Vec, Lanes, Narrower>>(args);     \
  }                                                         \
  void max_pool_int16_##suffix(const PoolInt16Args& args) { \
    max_pool_int16<VectorsX86<Vec, Lanes, Narrower>>(args); \
  }

#endif  // QRT_KERNELS_POOL_VECTORS_X86_H_

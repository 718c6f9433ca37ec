// SPDX-License-Identifier: Apache-2.0
// The vector policy of pool_loops.h over a vector layer Vec (isa/vec_<isa>.h). Everything here is local
// to the including file.
#ifndef QRT_KERNELS_POOL_POOL_VECTORS_H_
#define QRT_KERNELS_POOL_POOL_VECTORS_H_

#include "kernels/pool/pool_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct VectorsOfWords {
  using Narrower = NoVectors;
  static constexpr size_t kBytes = Vec::kBytes;
  using Bytes = typename Vec::Words;

  static Bytes zero() { return Vec::splat16(INT16_MIN); }
  static Bytes load(const uint8_t* p) { return Vec::load16(p); }
  static Bytes max(Bytes a, Bytes b) { return Vec::max_s16(a, b); }
  static void store(uint8_t* p, Bytes v) { Vec::store(p, v); }
  static void store_partial(uint8_t* p, Bytes v, size_t n) { Vec::store_partial(p, v, n); }
};

template <class Vec, class LanesPolicy, class NarrowerPolicy>
struct PoolVectors {
  using Narrower = NarrowerPolicy;
  using Words = VectorsOfWords<Vec>;
  using Lanes = LanesPolicy;
  using Int = typename Vec::Int;
  using Float = typename Vec::Float;
  static constexpr size_t kBytes = Vec::kBytes;
  using Bytes = typename Vec::Bytes;

  static Bytes zero() { return Vec::splat8(0); }
  static Bytes load(const uint8_t* p) { return Vec::load8(p); }
  static Bytes max(Bytes a, Bytes b) { return Vec::max_u8(a, b); }
  static void store(uint8_t* p, Bytes v) { Vec::store(p, v); }
  static void store_partial(uint8_t* p, Bytes v, size_t n) { Vec::store_partial(p, v, n); }

  struct Sums16 {
    typename Vec::Sums v[2];
  };
  struct Sums32 {
    Int v[4];
  };
  static Sums16 zero16() { return {{Vec::no_sums(), Vec::no_sums()}}; }
  static Sums32 zero32() { return {{Vec::zero(), Vec::zero(), Vec::zero(), Vec::zero()}}; }
  static void add16(Sums16& s, const uint8_t* p) { Vec::add_bytes(s.v, Vec::load8(p)); }
  static void flush(Sums32& s, const Sums16& t) { Vec::add_sums(s.v, t.v); }
  static Bytes to_bytes(const Sums32& s, const SumScale& r) {
    const Int zero_sum = Vec::splat32(r.zero);
    const typename Vec::Words zero_point = Vec::splat16(r.zero_point);
    const Float scale = Vec::splat(r.scale);
    const Float hi = Vec::splat(static_cast<float>(r.hi - r.zero_point));
    Int q[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Float real = Vec::to_float(Vec::sub32(s.v[i], zero_sum)) * scale;
      q[i] = Vec::round(Vec::min(real, hi));  // INT32_MIN below that, which saturates
    }
    const Bytes bytes = Vec::packus16(Vec::adds16(Vec::packs32(q[0], q[1]), zero_point),
                                      Vec::adds16(Vec::packs32(q[2], q[3]), zero_point));
    return Vec::max_u8(bytes, Vec::splat8(r.lo));
  }
  static void spill(const Sums32& s, int32_t* sums) {
    if constexpr (kBytes == 16) {
      for (int v = 0; v < 4; ++v) Vec::store(sums + 4 * v, s.v[v]);
    } else {
      alignas(64) int32_t lanes[4][Vec::kLanes];
      for (int v = 0; v < 4; ++v) Vec::store(lanes[v], s.v[v]);
      for (size_t i = 0; i < kBytes; ++i) sums[i] = lanes[i % 16 / 4][i / 16 * 4 + i % 4];
    }
  }

  class Average {
   public:
    static constexpr size_t kParts = 16 / Vec::kLanes;  // registers of 16 channels
    static constexpr size_t kVectors = kParts < 4 ? 4 / kParts : 2;
    struct Sum {
      Float part[kParts];
    };

    explicit Average(const AveragePoolArgs& args)
        : input_zero_point_(args.input_zero_point),
          output_offset_(args.output_offset),
          input_scale_(Vec::splat(args.input_scale)),
          output_scale_(Vec::splat(args.output_scale)),
          output_zero_point_(Vec::splat(static_cast<float>(args.output_zero_point))),
          lo_(Vec::splat(static_cast<float>(-args.output_offset))),
          hi_(Vec::splat(static_cast<float>(255 - args.output_offset))) {}

    static Sum zero() { return {}; }
    Sum add(Sum sum, const uint8_t* p) const {
      Int x[kParts];
      Vec::sixteen_less(p, input_zero_point_, x);
#pragma GCC unroll 4
      for (size_t i = 0; i < kParts; ++i)
        sum.part[i] = sum.part[i] + input_scale_ * Vec::to_float(x[i]);
      return sum;
    }
    typename Vec::Sixteen finish(Sum sum, float count) const {
      Int q[kParts];
#pragma GCC unroll 4
      for (size_t i = 0; i < kParts; ++i) {
        const Float mean = sum.part[i] / Vec::splat(count);
        const Float v = mean / output_scale_ + output_zero_point_;
        q[i] = Vec::round(Vec::min(Vec::max(v, lo_), hi_));
      }
      return Vec::narrow16(q, output_offset_);
    }
    static void store16(uint8_t* p, typename Vec::Sixteen v) { Vec::store16(p, v); }
    static void store16_partial(uint8_t* p, typename Vec::Sixteen v, size_t n) {
      Vec::store16_partial(p, v, n);
    }

   private:
    int32_t input_zero_point_, output_offset_;
    Float input_scale_, output_scale_, output_zero_point_, lo_, hi_;
  };
};

}  // namespace
}  // namespace qrt

// The entry points of a row, by what maxima of a few channels take instead (pool_loops.h).
#define QRT_POOL_ROW(suffix, Narrower)                                                          \
  using PolicyOfPool = PoolVectors<suffix::Vec, suffix::Lanes, Narrower>;                       \
  void max_pool_##suffix(const MaxPoolArgs& args) { max_pool<PolicyOfPool>(args); }             \
  void average_pool_##suffix(const AveragePoolArgs& args) { average_pool<PolicyOfPool>(args); } \
  void global_sum_##suffix(const GlobalSumArgs& args) { global_sum<PolicyOfPool>(args); }       \
  void max_pool_int16_##suffix(const PoolInt16Args& args) { max_pool_int16<PolicyOfPool>(args); }
#define QRT_VECTOR_ROW(suffix) QRT_POOL_ROW(suffix, NoVectors)

#endif  // QRT_KERNELS_POOL_POOL_VECTORS_H_

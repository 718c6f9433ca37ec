// SPDX-License-Identifier: Apache-2.0
// The policy of float_loops.h over the vector layers of isa/.
#ifndef QRT_KERNELS_RESIZE_RESIZE_VECTORS_H_
#define QRT_KERNELS_RESIZE_RESIZE_VECTORS_H_

#include "kernels/resize/float_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct ResizeVectors : Vec {
  using Block = typename Vec::Float;
  using Ints = typename Vec::Int;
  static constexpr size_t kBlock = Vec::kLanes;
  static constexpr size_t kBlocks = 4;
  static constexpr bool kDoubles = true;

  // Two products with 1 / scale in two parts; bounds.cc has the proof.
  template <bool kMayTruncate>
  struct ToCodes {
    explicit ToCodes(const ResizeBytes& b) : truncates(kMayTruncate && b.truncates) {
      const float reciprocal = 1 / b.scale;
      inverse = Vec::splat(reciprocal);
      rest = Vec::fma(Vec::splat(-reciprocal), Vec::splat(b.scale), Vec::splat(1)) * inverse;
    }
    Ints operator()(Block sums) const {
      const Block v = Vec::fma(sums, inverse, sums * rest);
      return truncates ? Vec::truncate(v) : Vec::round(v);
    }

    const bool truncates;
    Block inverse, rest;
  };

  template <size_t kBlocks>
  QRT_INLINE void store(uint8_t* y, const Ints (&v)[kBlocks], const ResizeBytes& b) {
    constexpr size_t k1 = kBlocks > 1 ? 1 : 0, k2 = 2 * k1, k3 = 3 * k1;
    const auto offset = Vec::splat16(b.offset);
    const auto low = Vec::adds16(Vec::packs32(v[0], v[k1]), offset);
    const auto high = kBlocks > 1 ? Vec::adds16(Vec::packs32(v[k2], v[k3]), offset) : low;
    store_words<kBlocks>(y, low, high, b);
  }

  QRT_INLINE void store_high(uint8_t* y, const Ints (&v)[4], int16_t more, const ResizeBytes& b) {
    const auto add = Vec::splat16(more);
    store_words<4>(y, Vec::add16(Vec::high_words(v[0], v[1]), add),
                   Vec::add16(Vec::high_words(v[2], v[3]), add), b);
  }

  QRT_INLINE bool any_word_below(const Ints (&v)[4], uint16_t limit) {
    return Vec::any_low_word_below(v, limit);
  }
  QRT_INLINE uint32_t words_below(Ints v, uint16_t limit) { return Vec::low_words_below(v, limit); }

 private:
  template <size_t kBlocks>
  QRT_INLINE void store_words(uint8_t* y, typename Vec::Words low, typename Vec::Words high,
                              const ResizeBytes& b) {
    auto bytes = Vec::in_order(Vec::packus16(low, high), Vec::order_of_packs());
    if (Vec::kBytes == 16 || b.lo > 0 ||
        b.hi < 255)  // two short instructions cost less than a branch
      bytes = Vec::min_u8(Vec::max_u8(bytes, Vec::splat8(b.lo)), Vec::splat8(b.hi));
    if (kBlocks > 1)
      Vec::store(y, bytes);
    else
      Vec::store_first(y, bytes);
  }
};

}  // namespace
}  // namespace qrt

// The float forms of images.
#define QRT_VECTOR_ROW(suffix)                                                                  \
  void resize_f32_##suffix(const ResizeRow<float>& row, const ResizePlane<float, float>& plane, \
                           const ResizeBytes& bytes, uint8_t* y) {                              \
    row_f32<ResizeVectors<suffix::Vec>>(row, plane, bytes, y);                                  \
  }                                                                                             \
  void resize_columns_##suffix(const ResizeRow<float>& row, const float* source, float* y) {    \
    weigh_columns<ResizeVectors<suffix::Vec>>(row, source, y);                                  \
  }                                                                                             \
  void resize_f32_by_columns_##suffix(                                                          \
      const ResizeRow<float>& row, const ResizePlane<float, float>& plane,                      \
      const ResizeColumns& columns, const ResizeBytes& bytes, uint8_t* y) {                     \
    row_by_columns<ResizeVectors<suffix::Vec>>(row, plane, columns, bytes, y);                  \
  }

#endif  // QRT_KERNELS_RESIZE_RESIZE_VECTORS_H_

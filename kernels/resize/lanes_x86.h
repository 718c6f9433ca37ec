// The policy of float_loops.h for x86, over the vector layers of isa/.
#ifndef QRT_KERNELS_RESIZE_LANES_X86_H_
#define QRT_KERNELS_RESIZE_LANES_X86_H_

#include "kernels/resize/float_loops.h"

namespace qrt {
namespace {

// Of an instruction set come
//
//   store_first(y, v)   the first kBlock bytes
//   high_words(a, b)    of two blocks, in the order of packs32
//   any_word_below, words_below
template <class Vec, class Set>
struct LanesX86 : Vec {
  using Block = typename Vec::Float;
  using Ints = typename Vec::Int;
  static constexpr size_t kBlock = Vec::kLanes;
  static constexpr size_t kBlocks = 4;
  static constexpr bool kDoubles = true;

  // Two products with 1 / scale in two parts; bounds.cc has the proof.
  template <bool kMayTruncate>
  struct Steps {
    explicit Steps(const ResizeBytes& b) : truncates(kMayTruncate && b.truncates) {
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
    const Ints offset = Vec::splat16(b.offset);
    const Ints low = Vec::adds16(Vec::packs32(v[0], v[k1]), offset);
    const Ints high = kBlocks > 1 ? Vec::adds16(Vec::packs32(v[k2], v[k3]), offset) : low;
    store_words<kBlocks>(y, low, high, b);
  }

  QRT_INLINE void store_high(uint8_t* y, const Ints (&v)[4], int16_t more, const ResizeBytes& b) {
    const Ints add = Vec::splat16(more);
    store_words<4>(y, Vec::add16(Set::high_words(v[0], v[1]), add),
                   Vec::add16(Set::high_words(v[2], v[3]), add), b);
  }

 private:
  template <size_t kBlocks>
  QRT_INLINE void store_words(uint8_t* y, Ints low, Ints high, const ResizeBytes& b) {
    Ints bytes = Vec::in_order(Vec::packus16(low, high), Vec::order_of_packs());
    if (b.lo > 0 || b.hi < 255)
      bytes = Vec::min_u8(Vec::max_u8(bytes, Vec::splat8(b.lo)), Vec::splat8(b.hi));
    if (kBlocks > 1)
      Vec::store(y, bytes);
    else
      Set::store_first(y, bytes);
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_RESIZE_LANES_X86_H_

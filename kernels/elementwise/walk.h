// SPDX-License-Identifier: Apache-2.0
// The common part of the elementwise family's vector rows: the roles of the operands, the choice of
// a block by the form of the parameters, and the walk over a run in blocks of 64. For those kernel
// files only; everything here is local to the including file. A row supplies two block templates,
//
//   template <bool kFma, bool kFirstSigned, bool kSecondSigned> struct Sum;
//   template <bool kFused, bool kHalfUp> struct Product;
//
// made from SumConstants and ProductConstants, each with whole(a, b, y), which computes kBlock
// outputs, and load_partial(to, x, n) and store_partial(y, from, n), which copy the first n bytes of a
// block, 0 < n < kBlock, and touch no others.
#ifndef QRT_KERNELS_ELEMENTWISE_WALK_H_
#define QRT_KERNELS_ELEMENTWISE_WALK_H_

#include <string.h>

#include "kernels/elementwise/blocks.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 64;

// y = clamp(HE(v) + offset, lo, hi) with x1, x2 the operands as numbers (stored byte, less 128
// where signed) and
//   kFma:  v = fma(x2, second_scale, fma(x1, first_scale, constant))
//   else:  v = fl32(fl32(constant + fl32(x1 * first_scale)) + fl32(x2 * second_scale))
struct SumConstants {
  float first_scale, second_scale, constant;
  int16_t offset;
  uint8_t lo, hi;
};

// y = clamp(ROUND(v) + offset, lo, hi) with p = (a - a_zero_point) * (b - b_zero_point) and
//   kFused:  v = fma(p, scale, addend)
//   else:    v = fl32(fl32(p * scale) + addend)
// A zero point that comes after the rounding is the offset; the addend is then 0, and the fma
// rounds as the product alone does.
struct ProductConstants {
  int16_t a_zero_point, b_zero_point;
  float scale, addend;
  int16_t offset;
  uint8_t lo, hi;
};

// An operand's bytes, and how far it advances from block to block.
struct Operand {
  Operand(const uint8_t* bytes, bool is_scalar) : data(bytes), step(is_scalar ? 0 : kBlock) {
    if (!is_scalar) return;
    memset(repeated, *bytes, kBlock);
    data = repeated;
  }
  Operand(const Operand&) = delete;

  const uint8_t* data;
  size_t step;
  uint8_t repeated[kBlock];
};

// Applies `block` to all elements. The last, incomplete block goes through buffers to the same
// code, which is compiled once.
template <class Block>
inline void walk(const Block& block, const Operand& first, const Operand& second, uint8_t* y,
                 size_t n) {
  const uint8_t* a = first.data;
  const uint8_t* b = second.data;
  alignas(64) uint8_t a_partial[kBlock], b_partial[kBlock], y_partial[kBlock];
  for (; n > 0; n -= kBlock, a += first.step, b += second.step, y += kBlock) {
    const bool is_partial = n < kBlock;
    if (is_partial) {
      Block::load_partial(a_partial, a, n);
      Block::load_partial(b_partial, b, n);
      a = a_partial;
      b = b_partial;
    }
    block.whole(a, b, is_partial ? y_partial : y);
    if (is_partial) return Block::store_partial(y, y_partial, n);
  }
}

template <template <bool, bool, bool> class Sum>
inline void add(const AddParams& p, const ElementwiseArgs& run) {
  // x86 converts numbers from 2^31 on to INT32_MIN. The loader allows sums that round to 2^31; no
  // real model comes near.
  if (kIntegerOnly) return elementwise_add_scalar(p, run);
  if (!(255 * (__builtin_fabsf(p.a_scale) + __builtin_fabsf(p.b_scale)) +
            __builtin_fabsf(p.constant) <
        0x1p30f))
    return elementwise_add_scalar(p, run);
  const bool a_first = p.multiply_add || p.a_is_inner;
  const Operand a(run.a, run.a_is_scalar), b(run.b, run.b_is_scalar);
  const Operand& first = a_first ? a : b;
  const Operand& second = a_first ? b : a;
  const SumConstants c{a_first ? p.a_scale : p.b_scale,
                       a_first ? p.b_scale : p.a_scale,
                       p.constant,
                       static_cast<int16_t>(p.output_offset),
                       static_cast<uint8_t>(p.lo),
                       static_cast<uint8_t>(p.hi)};
  const bool first_signed = (a_first ? p.a_offset : p.b_offset) != 0;
  const bool second_signed = (a_first ? p.b_offset : p.a_offset) != 0;
  switch (4 * !p.multiply_add + 2 * first_signed + second_signed) {
    case 0: return walk(Sum<false, false, false>(c), first, second, run.y, run.n);
    case 1: return walk(Sum<false, false, true>(c), first, second, run.y, run.n);
    case 2: return walk(Sum<false, true, false>(c), first, second, run.y, run.n);
    case 3: return walk(Sum<false, true, true>(c), first, second, run.y, run.n);
    case 4: return walk(Sum<true, false, false>(c), first, second, run.y, run.n);
    case 5: return walk(Sum<true, false, true>(c), first, second, run.y, run.n);
    case 6: return walk(Sum<true, true, false>(c), first, second, run.y, run.n);
    default: return walk(Sum<true, true, true>(c), first, second, run.y, run.n);
  }
}

// Multiplies two byte tensors of a run. Lanes: a policy of isa/requantize_tile.h.
template <template <bool, bool> class Product, class Lanes>
inline void mul(const MulParams& p, const ElementwiseArgs& run) {
  const Requant& r = p.requant;
  if (r.kind == RequantKind::kInt) return mul_in_blocks<Lanes>(p, run);
  // The condition is that of add(), with |p| <= 65,025.
  if (kIntegerOnly || !(*r.scale < 0x1p14f)) return elementwise_mul_scalar(p, run);
  const Operand a(run.a, run.a_is_scalar), b(run.b, run.b_is_scalar);
  const ProductConstants c{static_cast<int16_t>(p.a_zero_point),
                           static_cast<int16_t>(p.b_zero_point),
                           *r.scale,
                           r.zero_point_before ? static_cast<float>(r.zero_point) : 0.0f,
                           static_cast<int16_t>(r.zero_point_before ? r.offset : r.zero_point),
                           static_cast<uint8_t>(r.lo),
                           static_cast<uint8_t>(r.hi)};
  const bool fused = !r.zero_point_before || r.fused;
  switch (2 * fused + (r.round == Round::kHalfUp)) {
    case 0: return walk(Product<false, false>(c), a, b, run.y, run.n);
    case 1: return walk(Product<false, true>(c), a, b, run.y, run.n);
    case 2: return walk(Product<true, false>(c), a, b, run.y, run.n);
    default: return walk(Product<true, true>(c), a, b, run.y, run.n);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_WALK_H_

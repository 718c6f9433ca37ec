// The skeleton of every vector kernel of the depthwise family; plan.h draws its data. A kernel file
// gives a policy V, which is all that depends on the instruction set:
//
//   kTile                                  its DepthwiseTile
//   kOutputs                               output pixels of a row computed together
//   Row, load_row(p)                       16 * lanes bytes of an image row
//   interleave(rows, cell)                 group_rows rows to 4 cells
//   Acc, load_acc(p), Data, load_data(p)   one quad; Acc holds int32
//   dot(acc, data, weights)                acc += data * weights at address `weights`
//   is_bounded(constants, reach)           (|bias| + reach) * scale < 2^31 for the whole block
//   Finish(requant, n)                     constants of the epilogue for n channels, with
//     store<kClamp>(acc[4], scale, out)    requantise and store n bytes
//   store_acc(acc[4], int32 out)           accumulators in channel order
//
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise.h"
#include "kernels/depthwise/plan.h"
#include "kernels/depthwise/requantize.h"

#define QRT_INLINE inline __attribute__((always_inline))

namespace qrt {
namespace {

// Four channels; a compiler's vector extension, the same on every architecture.
using Four = uint32_t __attribute__((vector_size(16)));

QRT_INLINE Four load_four(const void* p) {
  Four v;
  memcpy(&v, p, 16);
  return v;
}

QRT_INLINE void store_four(void* p, Four v) { memcpy(p, &v, 16); }

// Epilogues. kPlain: zero point 0 and the full range, which the packs limit to by themselves.
enum class Store { kPlain, kClamp, kGeneric };

// One block of channels: where it is and what was prepared for it.
struct Block {
  const DepthwiseArgs& args;
  const DepthwisePlan& plan;
  size_t channels;  // of the whole output
  size_t c, n;      // this block's first channel and number of channels
  Store store;
};

// The weights of four channels and four rows, moved down by `shift` rows (0..3) of which `previous`
// supplies the upper ones.
QRT_INLINE Four shift_rows(Four quad, Four previous, size_t shift) {
  if (shift == 0) return quad;
  const uint32_t left = static_cast<uint32_t>(8 * shift);
  return (quad << left) | (previous >> (32 - left));
}

// Rows first..first + group_rows - 1 of the four rows of a quad, as a cell's data type.
template <size_t kGroupRows>
QRT_INLINE void put_weights(Four quad, size_t first, uint8_t* cell) {
  using Signed = int32_t __attribute__((vector_size(16)));
  const auto row = [&](size_t i) {
    return reinterpret_cast<Signed>(quad << static_cast<uint32_t>(24 - 8 * i)) >> 24;
  };
  if constexpr (kGroupRows == 4) {
    store_four(cell, quad);
  } else if constexpr (kGroupRows == 2) {
    const Four low = reinterpret_cast<Four>(row(first)) & 0xffff;
    store_four(cell, low | reinterpret_cast<Four>(row(first + 1)) << 16);
  } else {
    const Signed v = row(first);
    for (size_t i = 0; i < 4; ++i) {
      const int16_t w = static_cast<int16_t>(v[i]);
      memcpy(cell + 2 * i, &w, 2);
    }
  }
}

// Weights and constants of a block to scratch, in the lane order of the interleaved columns.
template <class V>
void prepare(const Block& b) {
  constexpr size_t kLanes = V::kTile.lanes, kGroupRows = V::kTile.group_rows;
  constexpr size_t kCell = V::kTile.quad_bytes, kLaneBytes = kCell / kLanes;
  const DepthwiseShape& s = b.args.shape;
  const size_t quads = (s.kernel_h + 3) / 4, pass_rows = b.plan.pass_rows;
  uint8_t* constants = b.args.scratch;
  for (size_t q = 0; q < 4; ++q) {
    for (size_t l = 0; l < kLanes; ++l) {
      const size_t from = b.c + l * 16 + q * 4;
      uint8_t* to = constants + (q * kLanes + l) * 16;
      store_four(to, load_four(b.args.bias + from));
      if (b.store != Store::kGeneric)
        store_four(to + 4 * kLanes * 16, load_four(b.args.requant.scale + from));
    }
  }
  for (size_t l = 0; l < kLanes; ++l) {
    const size_t block16 = b.c / 16 + l;
    const bool exists = block16 * 16 < b.channels;
    const int8_t* lines = b.args.weights + block16 * quads * s.kernel_w * 64;
    for (size_t kx = 0; kx < s.kernel_w; ++kx) {
      for (size_t g = 0; g < b.plan.groups; ++g) {
        uint8_t* cells = b.args.scratch + b.plan.weights_offset + l * kLaneBytes +
                         (kx * b.plan.groups + g) * 4 * pass_rows * kCell;
        const size_t quad = g * kGroupRows / 4;
        for (size_t q = 0; q < 4; ++q) {
          const auto rows = [&](size_t i) {
            return exists && i < quads ? load_four(lines + (i * s.kernel_w + kx) * 64 + q * 16)
                                       : Four{};
          };
          const Four own = rows(quad), previous = quad > 0 ? rows(quad - 1) : Four{};
          for (size_t r = 0; r < pass_rows; ++r) {
            put_weights<kGroupRows>(shift_rows(own, previous, r * s.stride_h), g * kGroupRows % 4,
                                    cells + (q * pass_rows + r) * kCell);
          }
        }
      }
    }
  }
}

// How to read pixels of a block: directly, or repeating every input channel `multiplier` times.
template <class V>
class Pixels {
 public:
  explicit Pixels(const Block& b) : multiplier_(b.args.shape.multiplier) {
    first_ = b.c / multiplier_;
    if (multiplier_ == 1) return;
    for (size_t i = 0; i < kBytes; ++i)
      source_[i] = static_cast<uint8_t>((b.c + i) / multiplier_ - first_);
  }
  bool is_direct() const { return multiplier_ == 1; }
  size_t first() const { return first_; }
  typename V::Row load(const uint8_t* pixel) const {
    uint8_t repeated[kBytes];
    for (size_t i = 0; i < kBytes; ++i) repeated[i] = pixel[source_[i]];
    return V::load_row(repeated);
  }

 private:
  static constexpr size_t kBytes = 16 * V::kTile.lanes;
  size_t multiplier_, first_;
  uint8_t source_[kBytes];
};

// `count` columns of one group, from image column `ix` on; columns outside the image are padding.
// rows: the image rows of the group at the block's channels, step: bytes between their pixels (0
// for a row of padding).
template <class V>
void interleave_columns(const Block& b, const Pixels<V>& pixels, const uint8_t* const* rows,
                        const size_t* step, ptrdiff_t ix, size_t count, uint8_t* cells) {
  constexpr size_t kRows = V::kTile.group_rows;
  const ptrdiff_t width = static_cast<ptrdiff_t>(b.args.shape.in_w);
  const size_t column_bytes = b.plan.column_bytes;
  const uint8_t* zero = b.args.zero + pixels.first();
  size_t i = 0;
  const auto border = [&](ptrdiff_t until) {
    if (i >= count || ix + static_cast<ptrdiff_t>(i) >= until) return;
    typename V::Row row[kRows];
    for (size_t r = 0; r < kRows; ++r)
      row[r] = pixels.is_direct() ? V::load_row(zero) : pixels.load(zero);
    for (; i < count && ix + static_cast<ptrdiff_t>(i) < until; ++i)
      V::interleave(row, cells + i * column_bytes);
  };
  border(0);
  if (i < count && ix + static_cast<ptrdiff_t>(i) < width) {
    const size_t start = static_cast<size_t>(ix + static_cast<ptrdiff_t>(i));
    const size_t inside = static_cast<size_t>(width) - start;
    const size_t end = count - i < inside ? count : i + inside;
    const uint8_t* p[kRows];
    for (size_t r = 0; r < kRows; ++r) p[r] = rows[r] + start * step[r];
    for (; i < end; ++i) {
      typename V::Row row[kRows];
      for (size_t r = 0; r < kRows; ++r) {
        row[r] = pixels.is_direct() ? V::load_row(p[r]) : pixels.load(p[r]);
        p[r] += step[r];
      }
      V::interleave(row, cells + i * column_bytes);
    }
  }
  border(PTRDIFF_MAX);
}

// The columns of output pixels x.. of a pass whose first output row is y.
template <class V>
void interleave_tile(const Block& b, const Pixels<V>& pixels, size_t y, size_t x, size_t outputs) {
  constexpr size_t kRows = V::kTile.group_rows;
  const DepthwiseShape& s = b.args.shape;
  const ptrdiff_t ix = static_cast<ptrdiff_t>(x * s.stride_w) - static_cast<ptrdiff_t>(s.pad_left);
  const size_t count = (outputs - 1) * s.stride_w + b.plan.span;
  const size_t used = s.kernel_h + (b.plan.pass_rows - 1) * s.stride_h;
  for (size_t g = 0; g < b.plan.groups; ++g) {
    const uint8_t* rows[kRows];
    size_t step[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      const size_t ky = g * kRows + r;
      const size_t iy = y * s.stride_h + ky * s.dilation_h - s.pad_top;  // huge above the image
      const bool inside = ky < used && iy < s.in_h;
      rows[r] = (inside ? b.args.input + iy * s.in_w * s.in_c : b.args.zero) + pixels.first();
      step[r] = inside ? s.in_c : 0;
    }
    interleave_columns(b, pixels, rows, step, ix, count,
                       b.args.scratch + b.plan.columns_offset + g * 4 * V::kTile.quad_bytes);
  }
}

// kRows x kPixels output pixels from their interleaved columns.
template <class V, int kRows, int kPixels, Store kStore>
QRT_INLINE void compute(const Block& b, const typename V::Finish& finish, const uint8_t* columns,
                        uint8_t* out) {
  constexpr size_t kCell = V::kTile.quad_bytes, kVector = V::kTile.lanes * 16;
  const DepthwiseShape& s = b.args.shape;
  const uint8_t* constants = b.args.scratch;
  const uint8_t* weights = b.args.scratch + b.plan.weights_offset;
  // Undilated columns are contiguous, as are their weights: one loop over all groups.
  const bool contiguous = s.dilation_w == 1;
  const size_t outer = contiguous ? 1 : s.kernel_w;
  const size_t inner = contiguous ? s.kernel_w * b.plan.groups : b.plan.groups;
  const size_t pixel_step = s.stride_w * b.plan.column_bytes;
  const size_t quad_step = b.plan.pass_rows * kCell;

  typename V::Acc acc[kRows][kPixels][4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q)
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int x = 0; x < kPixels; ++x) acc[r][x][q] = V::load_acc(constants + q * kVector);
  for (size_t o = 0; o < outer; ++o) {
    const uint8_t* data = columns + o * s.dilation_w * b.plan.column_bytes;
    for (size_t i = 0; i < inner; ++i) {
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        typename V::Data d[kPixels];
#pragma GCC unroll 4
        for (int x = 0; x < kPixels; ++x)
          d[x] = V::load_data(data + static_cast<size_t>(x) * pixel_step + q * kCell);
#pragma GCC unroll 2
        for (int r = 0; r < kRows; ++r)
          V::template dot<kPixels>(acc[r], q, d, weights + q * quad_step + r * kCell);
      }
      data += 4 * kCell;
      weights += 4 * quad_step;
    }
  }
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int x = 0; x < kPixels; ++x) {
      uint8_t* to = out + (static_cast<size_t>(r) * s.out_w + x) * b.channels;
      if constexpr (kStore == Store::kGeneric) {
        int32_t result[4 * V::kTile.lanes * 4];
        V::store_acc(acc[r][x], result);
        depthwise_requantize(b.args.requant, result, b.c, b.n, to);
      } else {
        finish.template store<kStore == Store::kClamp>(acc[r][x], constants + 4 * kVector, to);
      }
    }
  }
}

template <class V, int kRows, Store kStore>
void compute_tile(const Block& b, size_t y, size_t x, size_t outputs) {
  const typename V::Finish finish(b.args.requant, b.n);
  const uint8_t* columns = b.args.scratch + b.plan.columns_offset;
  const size_t pixel_step = b.args.shape.stride_w * b.plan.column_bytes;
  uint8_t* out = b.args.output + (y * b.args.shape.out_w + x) * b.channels + b.c;
  size_t i = 0;
  for (; i + V::kOutputs <= outputs; i += V::kOutputs)
    compute<V, kRows, V::kOutputs, kStore>(b, finish, columns + i * pixel_step,
                                           out + i * b.channels);
  if (V::kOutputs > 1)
    for (; i < outputs; ++i)
      compute<V, kRows, 1, kStore>(b, finish, columns + i * pixel_step, out + i * b.channels);
}

template <class V, Store kStore>
void compute_rows(const Block& b, size_t y, size_t end) {
  const Pixels<V> pixels(b);
  const size_t out_w = b.args.shape.out_w;
  for (; y < end; y += b.plan.pass_rows) {
    for (size_t x = 0; x < out_w; x += b.plan.tile_outputs) {
      const size_t outputs = out_w - x < b.plan.tile_outputs ? out_w - x : b.plan.tile_outputs;
      interleave_tile(b, pixels, y, x, outputs);
      if (V::kTile.group_rows > 1 && b.plan.pass_rows == 2 && end - y >= 2)
        compute_tile<V, 2, kStore>(b, y, x, outputs);
      else
        compute_tile<V, 1, kStore>(b, y, x, outputs);
    }
  }
}

template <class V>
void compute_block(const DepthwiseArgs& args, size_t channels, size_t c, size_t n, size_t y,
                   size_t end) {
  const DepthwisePlan plan = depthwise_plan(V::kTile, args.shape);
  const Requant& r = args.requant;
  Block b = {args, plan, channels, c, n, Store::kGeneric};
  if (r.kind == RequantKind::kF32 && r.round == Round::kHalfEven && !r.zero_point_before)
    b.store = r.zero_point == 0 && r.lo == 0 && r.hi == 255 ? Store::kPlain : Store::kClamp;
  prepare<V>(b);
  // |sum of x * w| <= 255 * 128 per tap
  const float reach = static_cast<float>(32640 * args.shape.kernel_h * args.shape.kernel_w);
  if (b.store != Store::kGeneric && !V::is_bounded(args.scratch, reach)) b.store = Store::kGeneric;
  switch (b.store) {
    case Store::kPlain: return compute_rows<V, Store::kPlain>(b, y, end);
    case Store::kClamp: return compute_rows<V, Store::kClamp>(b, y, end);
    case Store::kGeneric: return compute_rows<V, Store::kGeneric>(b, y, end);
  }
}

// The whole call. Narrow serves a last block that fits its lanes.
template <class V, class Narrow = V>
void run(const DepthwiseArgs& args) {
  constexpr size_t kBlock = 16 * V::kTile.lanes, kNarrow = 16 * Narrow::kTile.lanes;
  const size_t channels = args.shape.in_c * args.shape.multiplier;
  const size_t strip = depthwise_plan(V::kTile, args.shape).strip_rows;
  for (size_t y = args.row_begin; y < args.row_end; y += strip) {
    const size_t end = args.row_end - y < strip ? args.row_end : y + strip;
    for (size_t c = 0; c < channels; c += kBlock) {
      const size_t n = channels - c < kBlock ? channels - c : kBlock;
      if (n <= kNarrow)
        compute_block<Narrow>(args, channels, c, n, y, end);
      else
        compute_block<V>(args, channels, c, n, y, end);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_

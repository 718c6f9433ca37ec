// SPDX-License-Identifier: Apache-2.0
// The float loops of the resize family: included by resize_<isa>.cc, each with its own flags and a
// policy Lanes:
//
//   kBlock                       floats of a register, or of what the compiler makes registers of
//   kBlocks                      of wide pixels so many at a time
//   kDoubles                     whether it has registers for doubled_rows()
//   Block, Ints                  so many floats, and int32
//   Steps<kMayTruncate>(bytes)(sums)   a block of sums as integers, as resize.h says, without the offset
//   store(y, v, bytes)           kBlocks blocks of such, or one: offset, limits, bytes
//   splat, fma, truncate         of a block
//   store_high(y, v, more, bytes)   the high words of four blocks and `more`, limited
//   any_word_below(v, limit)     of the low words of four blocks, all of which are negative
//   words_below(v, limit)        a bit for each low word of a block
#ifndef QRT_KERNELS_RESIZE_FLOAT_LOOPS_H_
#define QRT_KERNELS_RESIZE_FLOAT_LOOPS_H_

#include "kernels/integer_only.h"
#include "kernels/isa/inline.h"
#include "kernels/resize/resize.h"

namespace qrt {
namespace {

// Silences the note that vectors of this size are passed in another way by other compilers: no
// Block passes between files.
#pragma GCC diagnostic ignored "-Wpsabi"

// Elements of the output for which the sources stay in the first-level cache until all rows that
// are made of them have had them.
constexpr size_t kColumnBlock = 1024;

// Pixel x of row r of the output: its source pixels and their weights.
template <size_t kPlanes>
struct FloatPixel {
  FloatPixel(const ResizeRow<float>& row, const ResizePlane<float, float>* planes, size_t r,
             size_t x) {
    const size_t lo = static_cast<size_t>(row.low[x]) * row.channels;
    const size_t hi = static_cast<size_t>(row.high[x]) * row.channels;
    const float wl = row.low_weight[x], wh = row.high_weight[x];
    const float vl = row.row_low_weight[r], vh = row.row_high_weight[r];
    const float w[] = {wl * vl, wh * vl, wl * vh, wh * vh};
    QRT_UNROLL
    for (size_t k = 0; k < kPlanes; ++k) {
      const ResizePlane<float, float>& p = planes[k];
      const float* sources[] = {p.low + lo, p.low + hi, p.high + lo, p.high + hi};
      QRT_UNROLL
      for (size_t i = 0; i < 4; ++i) {
        source[4 * k + i] = sources[i];
        // An image has weight 1.
        weight[4 * k + i] = (kPlanes > 1 ? w[i] * p.weight : w[i]) / kResizePart;
      }
    }
  }

  // Returns the sum for the channels from `at` on: one, or a block.
  template <class T>
  T sum(size_t at) const {
    T out = product<T>(0, at);
    QRT_UNROLL
    for (size_t i = 1; i < 4 * kPlanes; ++i) out = out + product<T>(i, at);
    return out;
  }

 private:
  template <class T>
  T product(size_t i, size_t at) const {
    T v;
    __builtin_memcpy(&v, source[i] + at, sizeof v);
    return weight[i] * v;
  }

  const float* source[4 * kPlanes];
  float weight[4 * kPlanes];
};

// Computes pixels [x, end) of row r with one channel or two: sums one by one into a buffer, then many
// at a time by blocks to bytes. A block loaded right after the stores of its parts would wait for them.
template <class Lanes, size_t kPlanes>
void few_channels(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                  const ResizeBytes bytes, size_t r, size_t x, size_t end, uint8_t* y) {
  constexpr size_t kMost = 64;
  const typename Lanes::template ToCodes<true> steps(bytes);
  float sums[kMost] = {};
  while (x < end) {
    size_t held = 0;
    for (; x < end && held < kMost; ++x) {
      const FloatPixel<kPlanes> pixel(row, planes, r, x);
      for (size_t i = 0; i < row.channels; ++i) sums[held++] = pixel.template sum<float>(i);
    }
    uint8_t all[kMost];
    for (size_t i = 0; i < held; i += Lanes::kBlock) {
      typename Lanes::Block block;
      __builtin_memcpy(&block, sums + i, sizeof block);
      const typename Lanes::Ints v[] = {steps(block)};
      Lanes::store(all + i, v, bytes);
    }
    __builtin_memcpy(y, all, held);
    y += held;
  }
}

// Computes pixels of less than a block of channels: the surplus of a store falls where the next
// pixel comes, but for the row's last pixels.
template <class Lanes, size_t kPlanes>
void pixels_below_block(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                        const ResizeBytes bytes, size_t r, size_t x, size_t end, uint8_t* y) {
  using Block = typename Lanes::Block;
  const typename Lanes::template ToCodes<true> steps(bytes);
  const size_t n = row.channels;
  for (size_t left = (row.out_w - x) * n; x < end; ++x, y += n, left -= n) {
    const FloatPixel<kPlanes> pixel(row, planes, r, x);
    const typename Lanes::Ints v[] = {steps(pixel.template sum<Block>(0))};
    if (left >= Lanes::kBlock) {
      Lanes::store(y, v, bytes);
    } else {
      uint8_t last[Lanes::kBlock];
      Lanes::store(last, v, bytes);
      __builtin_memcpy(y, last, n);
    }
  }
}

// Computes kBlocks blocks of a pixel at a time. The last ones are moved back to end with the pixel:
// some channels are computed twice.
template <class Lanes, bool kMayTruncate, size_t kPlanes, size_t kBlocks>
void pixels_of_blocks(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                      const ResizeBytes bytes, size_t r, size_t x, size_t end, uint8_t* y) {
  using Block = typename Lanes::Block;
  constexpr size_t kStep = kBlocks * Lanes::kBlock;
  const typename Lanes::template ToCodes<kMayTruncate> steps(bytes);
  const size_t n = row.channels, last = n - kStep;
  for (; x < end; ++x, y += n) {
    const FloatPixel<kPlanes> pixel(row, planes, r, x);
    for (size_t i = 0;; i = i + kStep < last ? i + kStep : last) {
      typename Lanes::Ints v[kBlocks];
      QRT_UNROLL
      for (size_t k = 0; k < kBlocks; ++k)
        v[k] = steps(pixel.template sum<Block>(i + k * Lanes::kBlock));
      Lanes::store(y + i, v, bytes);
      if (i == last) break;
    }
  }
}

// Returns whether outputs i and i + 1 of an axis are three quarters of one source and a quarter of
// another, and the other way round.
inline bool are_doubled(const float* low_weight, const float* high_weight, size_t i, size_t count) {
  constexpr float kFar = 0.25f, kNear = 0.75f;
  return i + 1 < count && low_weight[i] == kNear && high_weight[i] == kFar &&
         low_weight[i + 1] == kFar && high_weight[i + 1] == kNear;
}

// Rows r and r + 1 where they are doubled: where pixels are, too, the products of four make four
// outputs, and those with a sixteenth are the sources as they stand.
template <class Lanes>
void doubled_rows(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                  const ResizeBytes bytes, size_t r, uint8_t* y) {
  using Block = typename Lanes::Block;
  constexpr size_t kBlocks = 4, kStep = kBlocks * Lanes::kBlock;
  const typename Lanes::template ToCodes<false> steps(bytes);
  const size_t n = row.channels, last = n - kStep, pitch = row.out_w * n;
  for (size_t x = 0, pixels; x < row.out_w; x += pixels, y += pixels * n) {
    pixels = 2;
    if (!are_doubled(row.low_weight, row.high_weight, x, row.out_w) ||
        row.low[x] != row.low[x + 1] || row.high[x] != row.high[x + 1]) {
      pixels = 1;
      pixels_of_blocks<Lanes, false, 1, kBlocks>(row, &plane, bytes, r, x, x + 1, y);
      pixels_of_blocks<Lanes, false, 1, kBlocks>(row, &plane, bytes, r + 1, x, x + 1, y + pitch);
      continue;
    }
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    for (size_t i = 0;; i = i + kStep < last ? i + kStep : last) {
      typename Lanes::Ints v[4][kBlocks];
      QRT_UNROLL
      for (size_t k = 0; k < kBlocks; ++k) {
        Block once[4], thrice[4], nine[4];
        const float* const sources[] = {plane.low + lo, plane.low + hi, plane.high + lo,
                                        plane.high + hi};
        QRT_UNROLL
        for (size_t j = 0; j < 4; ++j) {
          __builtin_memcpy(&once[j], sources[j] + i + k * Lanes::kBlock, sizeof once[j]);
          thrice[j] = 3.0f * once[j];
          nine[j] = 9.0f * once[j];
        }
        v[0][k] = steps(nine[0] + thrice[1] + thrice[2] + once[3]);
        v[1][k] = steps(thrice[0] + nine[1] + once[2] + thrice[3]);
        v[2][k] = steps(thrice[0] + once[1] + nine[2] + thrice[3]);
        v[3][k] = steps(once[0] + thrice[1] + thrice[2] + nine[3]);
      }
      Lanes::store(y + i, v[0], bytes);
      Lanes::store(y + n + i, v[1], bytes);
      Lanes::store(y + pitch + i, v[2], bytes);
      Lanes::store(y + pitch + n + i, v[3], bytes);
      if (i == last) break;
    }
  }
}

// f(r, x, end, output) for the pixels [x, end) of rows [first, last), by column blocks.
template <class F>
inline void for_column_blocks(const ResizeRow<float>& row, size_t first, size_t last, uint8_t* y,
                              const F& f) {
  const size_t step = row.channels < kColumnBlock ? kColumnBlock / row.channels : 1;
  for (size_t x = 0; x < row.out_w; x += step) {
    const size_t end = row.out_w - x < step ? row.out_w : x + step;
    for (size_t r = first; r < last; ++r) f(r, x, end, y + (r * row.out_w + x) * row.channels);
  }
}

template <class Lanes>
void row_f32(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
             const ResizeBytes& bytes, uint8_t* y) {
  if constexpr (!kIntegerOnly) {
    static_assert(Lanes::kBlocks * Lanes::kBlock <= kWideResize, "a pixel has less");
    const auto by_column_blocks = [&](size_t begin, size_t end_row) {
      for_column_blocks(row, begin, end_row, y, [&](size_t r, size_t x, size_t end, uint8_t* to) {
        pixels_of_blocks<Lanes, false, 1, Lanes::kBlocks>(row, &plane, bytes, r, x, end, to);
      });
    };
    size_t first = 0;
    for (size_t r = 0; Lanes::kDoubles && r < row.rows; ++r) {
      if (!are_doubled(row.row_low_weight, row.row_high_weight, r, row.rows)) continue;
      by_column_blocks(first, r);
      if constexpr (Lanes::kDoubles)
        doubled_rows<Lanes>(row, plane, bytes, r, y + r * row.out_w * row.channels);
      first = r + 2;
      ++r;
    }
    by_column_blocks(first, row.rows);
  }
}

// Computes a row one block at a time: for rare forms, or few channels.
template <class Lanes, size_t kPlanes>
void row_of_planes(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                   const ResizeBytes& bytes, uint8_t* y) {
  for_column_blocks(row, 0, row.rows, y, [&](size_t r, size_t x, size_t end, uint8_t* to) {
    if (row.channels <= 2)
      few_channels<Lanes, kPlanes>(row, planes, bytes, r, x, end, to);
    else if (row.channels < Lanes::kBlock)
      pixels_below_block<Lanes, kPlanes>(row, planes, bytes, r, x, end, to);
    else
      pixels_of_blocks<Lanes, true, kPlanes, 1>(row, planes, bytes, r, x, end, to);
  });
}

template <class Lanes>
void row_f32_general(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                     size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  if constexpr (!kIntegerOnly) {
    plane_count > 1 ? row_of_planes<Lanes, 2>(row, planes, bytes, y)
                    : row_of_planes<Lanes, 1>(row, planes, bytes, y);
  }
}

// Weighs columns by blocks of a pixel; the last one is moved back to end with it.
template <class Lanes>
void weigh_columns(const ResizeRow<float>& row, const float* source, float* y) {
  if constexpr (!kIntegerOnly) {
    using Block = typename Lanes::Block;
    const size_t n = row.channels, out_w = row.out_w;
    const int32_t *low = row.low, *high = row.high;
    const float *low_weight = row.low_weight, *high_weight = row.high_weight;
    for (size_t x = 0; x < out_w; ++x, y += n) {
      const float* a = source + static_cast<size_t>(low[x]) * n;
      const float* b = source + static_cast<size_t>(high[x]) * n;
      const float wa = low_weight[x], wb = high_weight[x];
      if (n < Lanes::kBlock) {
        float* __restrict out = y;
        for (size_t i = 0; i < n; ++i) out[i] = wa * a[i] + wb * b[i];
        continue;
      }
      const size_t last = n - Lanes::kBlock;
      for (size_t i = 0;; i = i + Lanes::kBlock < last ? i + Lanes::kBlock : last) {
        Block va, vb;
        __builtin_memcpy(&va, a + i, sizeof va);
        __builtin_memcpy(&vb, b + i, sizeof vb);
        const Block v = wa * va + wb * vb;
        __builtin_memcpy(y + i, &v, sizeof v);
        if (i == last) break;
      }
    }
  }
}

// Computes elements by the definition, one by one.
struct FloatTies {
  const ResizeRow<float>& row;
  const ResizePlane<float, float>& plane;
  const ResizeBytes& bytes;
  float low, high;

  FloatTies(const ResizeRow<float>& r, const ResizePlane<float, float>& p, const ResizeBytes& b)
      : row(r),
        plane(p),
        bytes(b),
        low(static_cast<float>(b.lo - b.offset)),
        high(static_cast<float>(b.hi - b.offset)) {}

  // Limits are integers, so that they may come before rounding: |v| < 2^22, and 1.5 * 2^23 leaves
  // no bits behind the point.
  uint8_t at(size_t r, size_t i) const {
    const size_t x = i / row.channels;
    const FloatPixel<1> pixel(row, &plane, r, x);
    float v = pixel.template sum<float>(i - x * row.channels) / bytes.scale;
    v = v > low ? v : low;
    v = (v < high ? v : high) + 12582912.0f;
    int32_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    return static_cast<uint8_t>(bits - 0x4b400000 + bytes.offset);
  }
};

template <class Lanes>
void row_by_columns(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                    const ResizeColumns columns, const ResizeBytes bytes, uint8_t* y) {
  if constexpr (!kIntegerOnly) {
    using Block = typename Lanes::Block;
    constexpr size_t kBlocks = 4, kStep = kBlocks * Lanes::kBlock;
    static_assert(kStep <= kLeastColumns && kColumnBlock % kStep == 0, "a row has less");
    const size_t n = row.out_w * row.channels;
    const Block shift = Lanes::splat(columns.shift);
    const ResizeBytes of_ties = bytes;  // the others stay in registers
    const FloatTies ties(row, plane, of_ties);
    for (size_t strip = 0; strip < n; strip += kColumnBlock) {
      const size_t end = n - strip < kColumnBlock ? n : strip + kColumnBlock;
      for (size_t r = 0; r < row.rows; ++r) {
        const Block low_scale = Lanes::splat(row.row_low_weight[r] * columns.scale);
        const Block high_scale = Lanes::splat(row.row_high_weight[r] * columns.scale);
        uint8_t* const to = y + r * n;
        for (size_t i = strip; i < end; i += kStep) {
          // The row's last elements are moved back to end with it.
          const size_t at = i < n - kStep ? i : n - kStep;
          typename Lanes::Ints v[kBlocks];
          QRT_UNROLL
          for (size_t k = 0; k < kBlocks; ++k) {
            Block low, high;
            __builtin_memcpy(&low, columns.low + at + k * Lanes::kBlock, sizeof low);
            __builtin_memcpy(&high, columns.high + at + k * Lanes::kBlock, sizeof high);
            v[k] = Lanes::truncate(Lanes::fma(low_scale, low, Lanes::fma(high_scale, high, shift)));
          }
          Lanes::store_high(to + at, v, columns.below, bytes);
          if (!Lanes::any_word_below(v, columns.tie)) continue;
          uint64_t near = 0;
          QRT_UNROLL
          for (size_t k = 0; k < kBlocks; ++k)
            near |= uint64_t{Lanes::words_below(v[k], columns.tie)} << (k * Lanes::kBlock);
          for (; near != 0; near &= near - 1) {
            const size_t tie = at + static_cast<size_t>(__builtin_ctzll(near));
            to[tie] = ties.at(r, tie);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_RESIZE_FLOAT_LOOPS_H_

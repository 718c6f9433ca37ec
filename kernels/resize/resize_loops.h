// The loops of the resize family, which the compiler turns into vectors over the channels: included
// by resize_<isa>.cc, each with its own flags.
#ifndef QRT_KERNELS_RESIZE_RESIZE_LOOPS_H_
#define QRT_KERNELS_RESIZE_RESIZE_LOOPS_H_

#include "kernels/integer_only.h"
#include "kernels/isa/inline.h"
#include "kernels/resize/resize.h"

namespace qrt {
namespace {

// Blocks are passed between functions of one file only, whatever the calling convention.
#pragma GCC diagnostic ignored "-Wpsabi"

// Eight channels: the compiler makes the instruction set's registers of them.
constexpr size_t kBlock = 8;
typedef float Block __attribute__((vector_size(kBlock * sizeof(float))));
typedef int32_t BlockOfInts __attribute__((vector_size(kBlock * sizeof(int32_t))));

// One pixel of the output: its source pixels and their weights.
template <size_t kPlanes>
struct FloatPixel {
  FloatPixel(const ResizeRow<float>& row, const ResizePlane<float, float>* planes, size_t x) {
    const size_t lo = static_cast<size_t>(row.low[x]) * row.channels;
    const size_t hi = static_cast<size_t>(row.high[x]) * row.channels;
    const float wl = row.low_weight[x], wh = row.high_weight[x];
    const float vl = row.row_low_weight, vh = row.row_high_weight;
    const float w[] = {wl * vl, wh * vl, wl * vh, wh * vh};
    QRT_UNROLL
    for (size_t k = 0; k < kPlanes; ++k) {
      const ResizePlane<float, float>& p = planes[k];
      const float* sources[] = {p.low + lo, p.low + hi, p.high + lo, p.high + hi};
      QRT_UNROLL
      for (size_t i = 0; i < 4; ++i) {
        source[4 * k + i] = sources[i];
        weight[4 * k + i] = kPlanes > 1 ? w[i] * p.weight : w[i];  // of an image 1
      }
    }
  }

  // Of the channels from `at` on: one, or a block.
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

// Sums to bytes. What is the instruction set's is in Lanes, see resize_scalar.cc.
template <class Lanes, bool kTruncates>
struct FloatBytes {
  explicit FloatBytes(const ResizeBytes& b)
      : scale(b.scale - Block{}),
        low(static_cast<float>(b.lo - b.offset) - Block{}),
        high(static_cast<float>(b.hi - b.offset) - Block{}),
        offset((kTruncates ? b.offset : b.offset - 0x4b400000) - BlockOfInts{}) {}

  // Limits are integers, so that they may come before rounding: |v| < 2^22, and 1.5 * 2^23 leaves
  // no bits behind the point.
  void store(uint8_t* y, Block sums) const {
    const Block v = Lanes::limited(sums / scale, low, high);
    Lanes::store_low_bytes(
        y, offset +
               (kTruncates ? Lanes::truncate(v) : reinterpret_cast<BlockOfInts>(v + 12582912.0f)));
  }

  Block scale, low, high;
  BlockOfInts offset;
};

// Pixels of less than a block of channels: elements one by one, to bytes by blocks.
template <class Bytes, size_t kPlanes>
void narrow_row(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                const Bytes& bytes, uint8_t* y) {
  Block sums = {};
  size_t held = 0;
  for (size_t x = 0; x < row.out_w; ++x) {
    const FloatPixel<kPlanes> pixel(row, planes, x);
    for (size_t i = 0; i < row.channels; ++i) {
      sums[held++] = pixel.template sum<float>(i);
      if (held < kBlock) continue;
      bytes.store(y, sums);
      y += kBlock;
      held = 0;
    }
  }
  uint8_t last[kBlock];
  bytes.store(last, sums);
  __builtin_memcpy(y, last, held);
}

// The last block of a pixel is moved back to end with it: some channels are computed twice.
template <class Bytes, size_t kPlanes>
void wide_row(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
              const Bytes& bytes, uint8_t* y) {
  const size_t n = row.channels, last = n - kBlock;
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const FloatPixel<kPlanes> pixel(row, planes, x);
    for (size_t i = 0; i < last; i += kBlock) bytes.store(y + i, pixel.template sum<Block>(i));
    bytes.store(y + last, pixel.template sum<Block>(last));
  }
}

template <class Lanes, bool kTruncates>
void row_f32(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
             size_t plane_count, const ResizeBytes& b, uint8_t* y) {
  using Bytes = FloatBytes<Lanes, kTruncates>;
  const Bytes bytes(b);
  if (row.channels < kBlock) {
    plane_count > 1 ? narrow_row<Bytes, 2>(row, planes, bytes, y)
                    : narrow_row<Bytes, 1>(row, planes, bytes, y);
  } else {
    plane_count > 1 ? wide_row<Bytes, 2>(row, planes, bytes, y)
                    : wide_row<Bytes, 1>(row, planes, bytes, y);
  }
}

template <class Lanes>
void row_f32(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
             size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  if constexpr (!kIntegerOnly) {
    bytes.truncates ? row_f32<Lanes, true>(row, planes, plane_count, bytes, y)
                    : row_f32<Lanes, false>(row, planes, plane_count, bytes, y);
  }
}

void weigh_columns(const ResizeRow<float>& row, const float* source, float* y) {
  if constexpr (!kIntegerOnly) {
    const size_t n = row.channels;
    for (size_t x = 0; x < row.out_w; ++x, y += n) {
      const float* a = source + static_cast<size_t>(row.low[x]) * n;
      const float* b = source + static_cast<size_t>(row.high[x]) * n;
      const float wa = row.low_weight[x], wb = row.high_weight[x];
      float* __restrict out = y;
      for (size_t i = 0; i < n; ++i) out[i] = wa * a[i] + wb * b[i];
    }
  }
}

// Elements [at, at + kLeastColumns) of v whose quotients are near ties, by the definition.
template <class Lanes>
void redo_ties(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
               const int32_t* v, uint16_t tie, const ResizeBytes& b, size_t at, uint8_t* y) {
  const FloatBytes<Lanes, false> bytes(b);
  for (size_t i = 0; i < kLeastColumns; ++i) {
    if (static_cast<uint16_t>(v[i]) >= tie) continue;
    const FloatPixel<1> pixel(row, &plane, (at + i) / row.channels);
    uint8_t block[kBlock];
    bytes.store(block, pixel.template sum<float>((at + i) % row.channels) - Block{});
    y[at + i] = block[0];
  }
}

template <class Lanes>
void row_by_columns(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                    const ResizeColumns& columns, const ResizeBytes& bytes, uint8_t* y) {
  if constexpr (!kIntegerOnly) {
    constexpr size_t kBlocks = kLeastColumns / kBlock;
    const size_t last = row.out_w * row.channels - kLeastColumns;
    const Block low_scale = columns.low_scale - Block{};
    const Block high_scale = columns.high_scale - Block{};
    const Block shift = columns.shift - Block{};
    // The last elements are moved back to end with the row.
    for (size_t at = 0;; at = at + kLeastColumns < last ? at + kLeastColumns : last) {
      BlockOfInts v[kBlocks];
      QRT_UNROLL
      for (size_t k = 0; k < kBlocks; ++k) {
        Block low, high;
        __builtin_memcpy(&low, columns.low + at + k * kBlock, sizeof low);
        __builtin_memcpy(&high, columns.high + at + k * kBlock, sizeof high);
        const Block sum = Lanes::fma(low_scale, low, Lanes::fma(high_scale, high, shift));
        v[k] = Lanes::truncate(sum);
      }
      Lanes::store_high(y + at, v, columns.below, bytes.lo, bytes.hi);
      if (Lanes::any_word_below(v, columns.tie)) {
        int32_t all[kLeastColumns];
        __builtin_memcpy(all, v, sizeof all);
        redo_ties<Lanes>(row, plane, all, columns.tie, bytes, at, y);
      }
      if (at == last) break;
    }
  }
}

template <RoundShift20 kRound, class Sum>
inline Sum round_shift(Sum v) {
  constexpr Sum kOne = Sum{1} << 20, kHalf = Sum{1} << 19;
  if (kRound == RoundShift20::kTruncate) return v / kOne;
  if (kRound == RoundShift20::kHalfUp) return (v + kHalf) >> 20;
  return (v + (v > 0 ? kHalf : -kHalf)) / kOne;
}

template <RoundShift20 kRound, class Sum, class T>
void row_int(const ResizeRow<int32_t>& row, int32_t offset, const T* low, const T* high, T* y) {
  constexpr Sum kMin = sizeof(T) == 1 ? 0 : -32768, kMax = sizeof(T) == 1 ? 255 : 32767;
  const size_t n = row.channels;
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    const T *a = low + lo, *b = low + hi, *c = high + lo, *d = high + hi;
    const Sum wa = row.low_weight[x] * row.row_low_weight;
    const Sum wb = row.high_weight[x] * row.row_low_weight;
    const Sum wc = row.low_weight[x] * row.row_high_weight;
    const Sum wd = row.high_weight[x] * row.row_high_weight;
    const Sum base = -(wa + wb + wc + wd) * offset;
    T* __restrict out = y;
    for (size_t i = 0; i < n; ++i) {
      const Sum v =
          round_shift<kRound, Sum>(base + wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i]) + offset;
      out[i] = static_cast<T>(v < kMin ? kMin : v > kMax ? kMax : v);
    }
  }
}

template <class Sum, class T>
void row_rounded(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset, const T* low,
                 const T* high, T* y) {
  using R = RoundShift20;
  switch (round) {
    case R::kHalfAway: return row_int<R::kHalfAway, Sum>(row, offset, low, high, y);
    case R::kHalfUp: return row_int<R::kHalfUp, Sum>(row, offset, low, high, y);
    case R::kTruncate: return row_int<R::kTruncate, Sum>(row, offset, low, high, y);
  }
}

void row_u8(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset, const uint8_t* low,
            const uint8_t* high, uint8_t* y) {
  row_rounded<int32_t>(row, round, offset, low, high, y);
}

void row_s16(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
             const int16_t* high, int16_t* y) {
  row_rounded<int64_t>(row, round, 0, low, high, y);
}

// v / 2^kShift, half to even.
template <int kShift>
inline int32_t round_even(int64_t v) {
  constexpr int64_t kBelowHalf = (int64_t{1} << (kShift - 1)) - 1;
  return static_cast<int32_t>((v + kBelowHalf + (v >> kShift & 1)) >> kShift);
}

void row_fine(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
              const int16_t* high, int32_t* y) {
  const size_t n = row.channels;
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    const int16_t *a = low + lo, *b = low + hi, *c = high + lo, *d = high + hi;
    const int64_t wa = int64_t{row.low_weight[x]} * row.row_low_weight;
    const int64_t wb = int64_t{row.high_weight[x]} * row.row_low_weight;
    const int64_t wc = int64_t{row.low_weight[x]} * row.row_high_weight;
    const int64_t wd = int64_t{row.high_weight[x]} * row.row_high_weight;
    const int64_t base = -(wa + wb + wc + wd) * zero_point;
    int32_t* __restrict out = y;
    for (size_t i = 0; i < n; ++i) {
      const int64_t sum = base + wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
      out[i] = round_even<26>(sum);
    }
  }
}

void blend_rows(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high,
                int32_t* y) {
  for (size_t i = 0; i < n; ++i)
    y[i] = round_even<20>(int64_t{low_weight} * y[i] + int64_t{high_weight} * high[i]);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_RESIZE_RESIZE_LOOPS_H_

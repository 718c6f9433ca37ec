// SPDX-License-Identifier: Apache-2.0
// The pools' loops over rows, windows and blocks of channels, for a vector policy V:
//
//   V::kBytes                   channels of a vector of bytes (16, 32 or 64)
//   V::Bytes zero() load(p) max(a, b); store(p, v); store_partial(p, v, n)       n < kBytes
//   V::Words                    the same for int16: kBytes of them, zero() is the lowest
//   V::Narrower                 load(), max() and stores for pixels of no more than its kBytes,
//                               or NoVectors
//   V::Sums16 zero16(); add16(sums, p)     kBytes 16-bit sums, in an order of the policy's own
//   V::Sums32 zero32(); flush(sums32, sums16)
//   V::to_bytes(sums32, SumScale) -> Bytes; spill(sums32, int32_t[kBytes])    in channel order
//   V::Lanes                    policy of isa/requantize_tile.h, for integer requantisations
//   V::Average(args)            16 channels of average pool at a time: zero() add(sum, p)
//                               finish(sum, count) -> Bytes16; store16(p, v), store16_partial(p, v, n)
//
// A load may reach up to 63 bytes past the input.
#ifndef QRT_KERNELS_POOL_POOL_LOOPS_H_
#define QRT_KERNELS_POOL_POOL_LOOPS_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/stage_sequence.h"
#include "kernels/pool/pool.h"
#include "kernels/pool/pool_int16.h"
#include "kernels/pool/requantize_sums.h"
#include "kernels/pool/window.h"

namespace qrt {
namespace {

// Takes the place of V::Narrower where there is none.
struct NoVectors {
  static constexpr size_t kBytes = 0;
};

template <class V>
inline void store_channels(uint8_t* y, typename V::Bytes v, size_t n) {
  if (n >= V::kBytes) {
    V::store(y, v);
  } else {
    V::store_partial(y, v, n);
  }
}

// Computes one output pixel: every position of the window read once per block of channels.
template <class V>
inline void max_window(const PoolShape& s, const uint8_t* x, Window rows, Window cols, uint8_t* y) {
  const size_t row_step = s.dilation_h * s.in_w * s.c, col_step = s.dilation_w * s.c;
  size_t c = 0;
  for (; c + 2 * V::kBytes <= s.c; c += 2 * V::kBytes) {
    typename V::Bytes a = V::zero(), b = V::zero();
    const uint8_t* row = x + c;
    for (size_t i = 0; i < rows.count; ++i, row += row_step) {
      const uint8_t* p = row;
      for (size_t j = 0; j < cols.count; ++j, p += col_step) {
        a = V::max(a, V::load(p));
        b = V::max(b, V::load(p + V::kBytes));
      }
    }
    V::store(y + c, a);
    V::store(y + c + V::kBytes, b);
  }
  for (; c < s.c; c += V::kBytes) {
    typename V::Bytes a = V::zero();
    const uint8_t* row = x + c;
    for (size_t i = 0; i < rows.count; ++i, row += row_step) {
      const uint8_t* p = row;
      for (size_t j = 0; j < cols.count; ++j, p += col_step) a = V::max(a, V::load(p));
    }
    store_channels<V>(y + c, a, s.c - c);
  }
}

// to[i] = the greatest of `rows` rows' byte i from x on, and of to[i] itself if kAlso, i < bytes; at most
// 63 more are read and stored.
template <class V, bool kAlso = false>
inline void max_of_rows(const uint8_t* x, size_t row_step, size_t rows, size_t bytes, uint8_t* to) {
  constexpr size_t kAtOnce = 4;
  size_t i = 0;
  for (; i + kAtOnce * V::kBytes <= bytes; i += kAtOnce * V::kBytes) {
    const uint8_t* p = x + i;
    typename V::Bytes v[kAtOnce];
#pragma GCC unroll 4
    for (size_t k = 0; k < kAtOnce; ++k) {
      v[k] = V::load(p + k * V::kBytes);
      if (kAlso) v[k] = V::max(v[k], V::load(to + i + k * V::kBytes));
    }
    for (size_t row = 1; row < rows; ++row) {
      p += row_step;
#pragma GCC unroll 4
      for (size_t k = 0; k < kAtOnce; ++k) v[k] = V::max(v[k], V::load(p + k * V::kBytes));
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < kAtOnce; ++k) V::store(to + i + k * V::kBytes, v[k]);
  }
  for (; i < bytes; i += V::kBytes) {
    const uint8_t* p = x + i;
    typename V::Bytes v = V::load(p);
    if (kAlso) v = V::max(v, V::load(to + i));
    for (size_t row = 1; row < rows; ++row) v = V::max(v, V::load(p += row_step));
    V::store(to + i, v);
  }
}

// Computes `outputs` outputs in a row of c bytes each: the maxima of `count` inputs col_step apart, the
// next output's x_step further. A store may reach into the next output, but not behind the end of the
// row, `room` bytes from y on.
template <class V>
inline void max_of_columns(const uint8_t* x, size_t x_step, size_t col_step, size_t count, size_t c,
                           uint8_t* y, size_t outputs, size_t room) {
  for (; outputs > 0; --outputs, x += x_step, y += c, room -= c) {
    for (size_t i = 0; i < c; i += V::kBytes) {
      const uint8_t* p = x + i;
      typename V::Bytes v = V::load(p);
      for (size_t j = 1; j < count; ++j) v = V::max(v, V::load(p += col_step));
      store_channels<V>(y + i, v, room - i);
    }
  }
}

// The size in bytes of the buffer for a strip of maxima.
constexpr size_t kStripBytes = 8192;

// A window of at least this many positions is read as it lies in memory (max_large_window()), not the
// same few channels of one pixel after the other.
constexpr size_t kLargeWindow = 64;

// Returns how many consecutive pixels of c bytes a vector holds, a power of two; at least 1.
template <class V>
inline size_t pixels_of_vector(size_t c) {
  size_t pixels = 1;
  while (2 * pixels * c <= V::kBytes) pixels *= 2;
  return pixels;
}

template <class V>
inline void max_large_window(const PoolShape& s, const uint8_t* x, Window rows, Window cols,
                             uint8_t* y) {
  constexpr size_t kAtOnce = 16;
  alignas(64) uint8_t strip[kStripBytes + 64];
  const size_t row_step = s.dilation_h * s.in_w * s.c;
  size_t col_step = s.dilation_w * s.c;
  // The window spans whole rows: its pixels are neighbours.
  if (cols.count == s.in_w && s.dilation_h == 1) {
    cols.count *= rows.count;
    rows.count = 1;
    col_step = s.c;
  }
  // Pixels that follow each other count as one, as far as they fill a vector, and are folded at the
  // end; the last such may overlap the one before.
  size_t several = col_step == s.c ? pixels_of_vector<V>(s.c) : 1;
  if (cols.count < several) several = 1;
  const size_t step = several * col_step, count = (cols.count + several - 1) / several;
  const size_t last = (cols.count - several) * col_step;
  for (size_t c = 0; c < s.c; c += kStripBytes) {
    const size_t bytes = several > 1 ? step : s.c - c < kStripBytes ? s.c - c : kStripBytes;
    for (size_t i = 0; i < rows.count; ++i) {
      const uint8_t* const row = x + c + i * row_step;
      if (i == 0)
        max_of_rows<V>(row + last, step, 1, bytes, strip);
      else
        max_of_rows<V, true>(row + last, step, 1, bytes, strip);
      for (size_t j = 0; j + 1 < count; j += kAtOnce) {
        const size_t n = count - 1 - j < kAtOnce ? count - 1 - j : kAtOnce;
        max_of_rows<V, true>(row + j * step, step, n, bytes, strip);
      }
    }
    while (several > 1) {
      several /= 2;
      max_of_rows<V>(strip, several * s.c, 2, several * s.c, strip);
    }
    memcpy(y + c, strip, s.c - c < kStripBytes ? s.c - c : kStripBytes);
  }
}

// Computes a row of outputs in two passes: maxima over the window's rows for a strip of input
// columns, whole vectors whatever the number of channels, then over the columns of each window.
template <class V>
inline void max_row_by_column_blocks(const PoolShape& s, const uint8_t* input, Window rows,
                                     size_t reach, uint8_t* y) {
  alignas(64) uint8_t strip[kStripBytes + 64];
  const size_t strip_outputs = (kStripBytes / s.c - reach) / s.stride_w + 1;
  const size_t row_step = s.dilation_h * s.in_w * s.c, col_step = s.dilation_w * s.c;
  // Outputs whose window lies inside the image.
  const size_t inside = (s.pad_left + s.stride_w - 1) / s.stride_w;
  const size_t inside_end =
      s.in_w + s.pad_left < reach ? 0 : (s.in_w + s.pad_left - reach) / s.stride_w + 1;
  for (size_t begin = 0; begin < s.out_w; begin += strip_outputs) {
    const size_t end = s.out_w - begin < strip_outputs ? s.out_w : begin + strip_outputs;
    // The input columns under the strip, without those outside the image.
    const size_t left = begin * s.stride_w, right = (end - 1) * s.stride_w + reach;
    const size_t first = left > s.pad_left ? left - s.pad_left : 0;
    size_t last = right > s.pad_left ? right - s.pad_left : 0;
    if (last > s.in_w) last = s.in_w;
    max_of_rows<V>(input + (rows.first * s.in_w + first) * s.c, row_step, rows.count,
                   (last - first) * s.c, strip);
    for (size_t col = begin, count; col < end; col += count) {
      const size_t run_end = inside_end < end ? inside_end : end;
      count = col >= inside && col < run_end ? run_end - col : 1;
      const Window cols = window_cols(s, col);
      const auto max_by = [&](auto policy) {
        max_of_columns<decltype(policy)>(strip + (cols.first - first) * s.c, s.stride_w * s.c,
                                         col_step, cols.count, s.c, y + col * s.c, count,
                                         (s.out_w - col) * s.c);
      };
      if constexpr (V::Narrower::kBytes > 0) {
        if (s.c <= V::Narrower::kBytes) {
          max_by(typename V::Narrower());
          continue;
        }
      }
      max_by(V());
    }
  }
}

template <class V>
inline void max_pool(const MaxPoolArgs& args) {
  const PoolShape& s = args.shape;
  const size_t reach = (s.kernel_w - 1) * s.dilation_w + 1;
  // Strips load and store fewer bytes where windows share columns, and fill whole vectors where
  // pixels have few channels.
  const bool saves = s.stride_w * (s.kernel_h + 1) + s.kernel_w < s.kernel_h * s.kernel_w;
  const bool is_large = !saves && s.kernel_h * s.kernel_w >= kLargeWindow;
  const bool by_strips = (saves || s.c < 2 * V::kBytes) && !is_large && reach <= kStripBytes / s.c;
  for (size_t row = args.row_begin; row < args.row_end; ++row) {
    const Window rows = window_rows(s, row);
    uint8_t* y = args.output + row * s.out_w * s.c;
    if (by_strips) {
      max_row_by_column_blocks<V>(s, args.input, rows, reach, y);
      continue;
    }
    for (size_t col = 0; col < s.out_w; ++col) {
      const Window cols = window_cols(s, col);
      const uint8_t* x = args.input + (rows.first * s.in_w + cols.first) * s.c;
      if (is_large)
        max_large_window<V>(s, x, rows, cols, y + col * s.c);
      else
        max_window<V>(s, x, rows, cols, y + col * s.c);
    }
  }
}

// Computes max_pool() with two bytes for each channel.
template <class V>
inline void max_pool_int16(const PoolInt16Args& args) {
  MaxPoolArgs bytes = {args.shape, reinterpret_cast<const uint8_t*>(args.input),
                       reinterpret_cast<uint8_t*>(args.output), args.row_begin, args.row_end};
  bytes.shape.c *= sizeof(int16_t);
  max_pool<typename V::Words>(bytes);
}

// A sum in float32, zero point after, half to even: what vectors do.
struct SumScale {
  int32_t zero;  // positions * input zero point
  float scale;
  int32_t zero_point, lo, hi;
};

// Computes one output pixel of average pool by integer sums. 16 bits hold 257 bytes.
template <class V>
inline void average_sums(const AveragePoolArgs& args, const uint8_t* x, Window rows, Window cols,
                         uint8_t* y) {
  const PoolShape& s = args.shape;
  const SumScale scale = {static_cast<int32_t>(rows.count * cols.count) * args.input_zero_point,
                          args.sum_scale, args.output_zero_point + args.output_offset, 0, 255};
  for (size_t c = 0; c < s.c; c += V::kBytes) {
    typename V::Sums16 sums16 = V::zero16();
    const uint8_t* row = x + c;
    for (size_t i = 0; i < rows.count; ++i, row += s.in_w * s.c) {
      const uint8_t* p = row;
      for (size_t j = 0; j < cols.count; ++j, p += s.c) V::add16(sums16, p);
    }
    typename V::Sums32 sums32 = V::zero32();
    V::flush(sums32, sums16);
    store_channels<V>(y + c, V::to_bytes(sums32, scale), s.c - c);
  }
}

// Computes 16 * kVectors channels of one output pixel of average pool; the last vector stores n_last.
// value[x] is computed, not looked up: fl32(input_scale * float(x - zero point)) is its definition.
template <class V, size_t kVectors>
inline void average_window(const typename V::Average& average, const PoolShape& s, const uint8_t* x,
                           Window rows, Window cols, float count, uint8_t* y, size_t n_last) {
  typename V::Average::Sum sum[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) sum[v] = V::Average::zero();
  for (size_t i = 0; i < rows.count; ++i) {
    const uint8_t* p = x + i * s.in_w * s.c;
    for (size_t j = 0; j < cols.count; ++j, p += s.c) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) sum[v] = average.add(sum[v], p + 16 * v);
    }
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    const auto bytes = average.finish(sum[v], count);
    if (v + 1 < kVectors || n_last == 16) {
      V::Average::store16(y + 16 * v, bytes);
    } else {
      V::Average::store16_partial(y + 16 * v, bytes, n_last);
    }
  }
}

template <class V>
inline void average_pool(const AveragePoolArgs& args) {
  if constexpr (kIntegerOnly) return average_pool_scalar(args);
  const PoolShape& s = args.shape;
  const typename V::Average average(args);
  constexpr size_t kVectors = V::Average::kVectors;
  const size_t positions = s.kernel_h * s.kernel_w;
  for (size_t row = args.row_begin; row < args.row_end; ++row) {
    const Window rows = window_rows(s, row);
    for (size_t col = 0; col < s.out_w; ++col) {
      const Window cols = window_cols(s, col);
      const size_t counted = args.count_include_pad ? positions : rows.count * cols.count;
      const uint8_t* x = args.input + (rows.first * s.in_w + cols.first) * s.c;
      uint8_t* y = args.output + (row * s.out_w + col) * s.c;
      if (args.sum_scale != 0 && counted == positions) {
        average_sums<V>(args, x, rows, cols, y);
        continue;
      }
      const float count = static_cast<float>(counted);
      size_t c = 0;
      for (; c + 16 * kVectors <= s.c; c += 16 * kVectors)
        average_window<V, kVectors>(average, s, x + c, rows, cols, count, y + c, 16);
      for (; c < s.c; c += 16) {
        average_window<V, 1>(average, s, x + c, rows, cols, count, y + c,
                             s.c - c < 16 ? s.c - c : 16);
      }
    }
  }
}

template <class V>
inline void global_sum(const GlobalSumArgs& args) {
  // 16-bit sums hold 257 bytes.
  constexpr size_t kFlush = 256;
  const Requant& r = args.requant;
  const bool vectors = !kIntegerOnly && r.kind == RequantKind::kF32 &&
                       r.round == Round::kHalfEven && !r.zero_point_before;
  const SumScale scale = {static_cast<int32_t>(args.pixels) * args.input_zero_point,
                          vectors ? r.scale[0] : 0.0f, r.zero_point, r.lo, r.hi};
  const bool is_int = r.kind == RequantKind::kInt;
  int64_t bound = 255 * static_cast<int64_t>(args.pixels);
  const StageSequence stages(r.stages, is_int ? r.stage_count : 0, &bound);
  const typename V::Lanes::Finish finish(r.zero_point, r.lo, r.hi);
  // Pixels that follow each other count as one, as far as they fill a vector.
  const size_t several = pixels_of_vector<V>(args.c), rest = args.pixels % several;
  for (size_t c = args.channel_begin; c < args.channel_end; c += V::kBytes) {
    const uint8_t* p = args.input + c;
    typename V::Sums32 sums32 = V::zero32();
    for (size_t left = args.pixels / several; left > 0;) {
      const size_t n = left < kFlush ? left : kFlush;
      typename V::Sums16 sums16 = V::zero16();
#pragma GCC unroll 4
      for (size_t i = 0; i < n; ++i, p += several * args.c) V::add16(sums16, p);
      V::flush(sums32, sums16);
      left -= n;
    }
    const size_t n = args.channel_end - c < V::kBytes ? args.channel_end - c : V::kBytes;
    if (vectors && several == 1) {
      store_channels<V>(args.output + c, V::to_bytes(sums32, scale), n);
    } else {
      int32_t sums[V::kBytes];
      V::spill(sums32, sums);
      for (size_t i = 1; i < several; ++i)
        for (size_t ch = 0; ch < n; ++ch) sums[ch] += sums[i * n + ch];
      for (size_t i = 0; i < rest; ++i)
        for (size_t ch = 0; ch < n; ++ch) sums[ch] += p[i * n + ch];
      for (int32_t& sum : sums) sum -= scale.zero;
      if (!is_int) {
        requantize_sums(r, sums, args.output + c, n);
        continue;
      }
      stages.run<typename V::Lanes>(sums, V::kBytes);
      for (size_t i = 0; i < n; i += kColumns)
        finish.store(sums + i, args.output + c + i, n - i < kColumns ? n - i : kColumns);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_POOL_POOL_LOOPS_H_

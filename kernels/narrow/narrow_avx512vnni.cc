// SPDX-License-Identifier: Apache-2.0
// Convolutions with few outputs on AVX-512 VNNI: VPDPBUSD on 16 pixels. narrow.h draws it.
#include <string.h>

#include "kernels/isa/avx512vnni.h"
#include "kernels/narrow/narrow.h"
#include "kernels/narrow/scratch.h"

namespace qrt {
namespace {

using Epilogue = avx512vnni::RequantInRegisters;
constexpr size_t kBlock = 16;  // outputs that a store takes, at most
constexpr size_t kLanes = kNarrowLanes, kPositions = kNarrowPositions;
constexpr int kVectors = static_cast<int>(kPositions / kLanes);

// The constants of every output, to be splatted.
struct Constants {
  int32_t* start;
  float *scale, *offset, *nudge;
};

struct RowRange {
  const NarrowArgs& args;
  NarrowScratch scratch;
  uint8_t* planes;
  uint32_t* steps;  // from a position to the dwords of each
  int32_t* sums;    // [out_c][ring_pitch]
  Constants constants;
  uint32_t* pixels;  // [out_c / 4][kPositions]
  size_t ring, ring_pitch;

  int32_t* ring_of(size_t o) const { return sums + o * ring_pitch; }
};

// Moves dword j of the 16 bytes of four pixels to part j of a cell, for the cells of four vectors.
QRT_INLINE void transpose(__m512i (&v)[4]) {
  const __m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
  const __m512i c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm512_unpacklo_epi64(a, c);
  v[1] = _mm512_unpackhi_epi64(a, c);
  v[2] = _mm512_unpacklo_epi64(b, d);
  v[3] = _mm512_unpackhi_epi64(b, d);
}

QRT_INLINE __m128i load_cell(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

// Loads 16 bytes of each of the pixels p, p + 4, p + 8 and p + 12.
QRT_INLINE __m512i load_cells(const uint8_t* p, size_t pitch) {
  __m512i v = _mm512_castsi128_si512(load_cell(p));
  v = _mm512_mask_broadcast_i32x4(v, 0x00f0, load_cell(p + 4 * pitch));
  v = _mm512_mask_broadcast_i32x4(v, 0x0f00, load_cell(p + 8 * pitch));
  return _mm512_mask_broadcast_i32x4(v, 0xf000, load_cell(p + 12 * pitch));
}

// `pixels` pixels of a row of the image to their planes.
__attribute__((noinline)) void expand_pixels(const uint8_t* from, size_t pitch, size_t pixels,
                                             size_t dwords, size_t plane_bytes, uint8_t* to) {
  for (size_t dword = 0; dword < dwords; dword += 4, from += 16, to += 4 * plane_bytes) {
    const uint8_t* pixel = from;
    uint8_t* plane = to;
    size_t left = pixels;
    for (; left >= kLanes; left -= kLanes, pixel += kLanes * pitch, plane += 64) {
      __m512i v[4];
      QRT_UNROLL
      for (size_t i = 0; i < 4; ++i) v[i] = load_cells(pixel + i * pitch, pitch);
      transpose(v);
      QRT_UNROLL
      for (size_t i = 0; i < 4; ++i) _mm512_storeu_si512(plane + i * plane_bytes, v[i]);
    }
    const size_t some = dwords - dword < 4 ? dwords - dword : 4;
    for (; left > 0; --left, pixel += pitch, plane += 4)
      for (size_t i = 0; i < some; ++i) memcpy(plane + i * plane_bytes, pixel + 4 * i, 4);
  }
}

// Writes `pixels` zero points at one position of all planes.
__attribute__((noinline)) void expand_zeros(uint8_t zero, size_t pixels, size_t dwords,
                                            size_t plane_bytes, uint8_t* to) {
  for (size_t i = 0; i < dwords; ++i) memset(to + i * plane_bytes, zero, 4 * pixels);
}

// The rows of the image that the range of rows needs, with their padding.
__attribute__((noinline)) void fill_planes(const RowRange& range) {
  const NarrowArgs& args = range.args;
  const NarrowShape& s = args.shape;
  const size_t width = s.padded_w(), left = s.pad_left < width ? s.pad_left : width;
  const size_t inside = s.in_w < width - left ? s.in_w : width - left;
  const size_t dwords = s.dwords(), plane_bytes = range.scratch.plane_bytes();
  uint8_t* to = range.planes;
  for (size_t r = 0; r < s.padded_h(range.scratch.rows); ++r, to += 4 * width) {
    // Rows before the image wrap around to values beyond its size.
    const size_t y = args.row_begin + r - s.pad_top;
    if (y >= s.in_h) {
      expand_zeros(args.zero_point, width, dwords, plane_bytes, to);
      continue;
    }
    expand_zeros(args.zero_point, left, dwords, plane_bytes, to);
    expand_pixels(args.x + y * s.in_w * args.x_pitch, args.x_pitch, inside, dwords, plane_bytes,
                  to + 4 * left);
    expand_zeros(args.zero_point, width - left - inside, dwords, plane_bytes,
                 to + 4 * (left + inside));
  }
}

void find_steps(const NarrowScratch& scratch, uint32_t* steps) {
  const NarrowShape& s = scratch.shape;
  const size_t row_bytes = 4 * s.dilation_h * s.padded_w(), plane_bytes = scratch.plane_bytes();
  for (size_t y = 0; y < s.kernel_h; ++y)
    for (size_t dword = 0; dword < s.dwords(); ++dword) {
      size_t step = y * row_bytes + dword * plane_bytes;
      for (size_t x = 0; x < s.kernel_w; ++x, step += 4 * s.dilation_w)
        *steps++ = static_cast<uint32_t>(step);
    }
}

// Sums of kOutputs outputs of the positions whose dwords begin at `planes`.
template <int kOutputs>
__attribute__((noinline)) void multiply(const uint8_t* planes, const uint32_t* steps, size_t n,
                                        const int8_t* weights, const int32_t* start, int32_t* sums,
                                        size_t ring_pitch) {
  __m512i acc[kOutputs][kVectors];
  QRT_UNROLL
  for (int o = 0; o < kOutputs; ++o) {
    QRT_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[o][v] = _mm512_set1_epi32(start[o]);
  }
  for (size_t step = 0; step < n; ++step, weights += 4 * kOutputs) {
    const uint8_t* const dwords = planes + steps[step];
    __m512i a[kVectors];
    QRT_UNROLL
    for (int v = 0; v < kVectors; ++v) a[v] = _mm512_loadu_si512(dwords + 64 * v);
    QRT_UNROLL
    for (int o = 0; o < kOutputs; ++o) {
      int32_t w;
      memcpy(&w, weights + 4 * o, sizeof w);
      const __m512i splat = _mm512_set1_epi32(w);
      QRT_UNROLL
      for (int v = 0; v < kVectors; ++v) avx512vnni::dot(acc[o][v], a[v], splat);
    }
  }
  QRT_UNROLL
  for (size_t o = 0; o < kOutputs; ++o) {
    QRT_UNROLL
    for (size_t v = 0; v < kVectors; ++v)
      _mm512_storeu_si512(sums + o * ring_pitch + kLanes * v, acc[o][v]);
  }
}

// Sums of block i of the outputs, from `first` on, of one block of positions.
__attribute__((noinline)) void multiply_block(const RowRange& range, size_t block, size_t first,
                                              size_t outputs) {
  const size_t n = range.args.shape.steps(), pitch = range.ring_pitch;
  const size_t at = (block * kPositions) & (range.ring - 1);
  const uint8_t* const planes = range.planes + block * kPositions * sizeof(uint32_t);
  const int8_t* const weights = range.args.weights + 4 * first * n;
  const int32_t* const start = range.constants.start + first;
  int32_t* const sums = range.ring_of(first) + at;
  switch (outputs) {
    case 1: multiply<1>(planes, range.steps, n, weights, start, sums, pitch); break;
    case 2: multiply<2>(planes, range.steps, n, weights, start, sums, pitch); break;
    case 3: multiply<3>(planes, range.steps, n, weights, start, sums, pitch); break;
    default: multiply<4>(planes, range.steps, n, weights, start, sums, pitch); break;
  }
  if (at > 0) return;
  for (size_t o = 0; o < outputs; ++o)
    memcpy(sums + o * pitch + range.ring, sums + o * pitch, kLanes * sizeof(int32_t));
}

// Bytes of outputs o .. o + 3 of `count` vectors of positions, to their dwords in range.pixels.
template <Epilogue::Form kForm>
__attribute__((noinline)) void requantize(const RowRange& range, const Epilogue& epilogue, size_t o,
                                          size_t first, size_t count) {
  const NarrowShape& s = range.args.shape;
  const __m512i by_position =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  avx512vnni::ChannelConstants k[4];
  const int32_t* ring[4];
  size_t at[4];
  QRT_UNROLL
  for (size_t i = 0; i < 4; ++i) {
    const size_t output = o + i < s.out_c ? o + i : s.out_c - 1;
    k[i] = {_mm512_set1_ps(range.constants.scale[output]),
            _mm512_set1_ps(range.constants.offset[output]),
            _mm512_set1_ps(range.constants.nudge[output])};
    ring[i] = range.ring_of(output);
    at[i] = first + s.place(range.args.window_offsets[output]);
  }
  uint32_t* const to = range.pixels + o / 4 * kPositions;
  for (size_t v = 0; v < count; ++v) {
    __m512i sum[4];
    QRT_UNROLL
    for (size_t i = 0; i < 4; ++i)
      sum[i] = _mm512_loadu_si512(ring[i] + ((at[i] + kLanes * v) & (range.ring - 1)));
    const __m512i b = epilogue.bytes<kForm>(sum[0], sum[1], sum[2], sum[3], k);
    _mm512_store_si512(to + kLanes * v, _mm512_shuffle_epi8(b, by_position));
  }
}

void requantize_block(const RowRange& range, const Epilogue& e, size_t o, size_t first,
                      size_t count) {
  switch (e.form) {
    case Epilogue::kFused: return requantize<Epilogue::kFused>(range, e, o, first, count);
    case Epilogue::kAffine: return requantize<Epilogue::kAffine>(range, e, o, first, count);
    // The general ones serve what is simpler.
    case Epilogue::kFixed:
    case Epilogue::kFixedFromZero: return requantize<Epilogue::kFixed>(range, e, o, first, count);
    case Epilogue::kFromZero:
    case Epilogue::kPlain: return requantize<Epilogue::kPlain>(range, e, o, first, count);
    case Epilogue::kLimited: return requantize<Epilogue::kLimited>(range, e, o, first, count);
  }
}

// Where a vector's outputs go: x is a position of a padded row, which may be padding; c is where
// the first output of that row is stored.
struct Pixel {
  size_t x;    // position within its row, which may be no output
  uint8_t* c;  // of its row's first
};

Pixel moved(const RowRange& range, Pixel p, size_t positions) {
  const NarrowShape& s = range.args.shape;
  for (p.x += positions; p.x >= s.padded_w(); p.x -= s.padded_w())
    p.c += s.out_w * range.args.y_pitch;
  return p;
}

// Calls f(i, n, c) for every run of positions i .. i + n - 1 of a vector whose outputs are of one
// row, the first at c.
template <class F>
QRT_INLINE void for_ring_spans(const RowRange& range, Pixel p, const F& f) {
  const NarrowShape& s = range.args.shape;
  const size_t width = s.padded_w(), row_bytes = s.out_w * range.args.y_pitch;
  const uint8_t* const end = range.args.y + range.args.row_end * row_bytes;
  for (size_t i = 0; i < kLanes && p.c < end; p.x = 0, p.c += row_bytes) {
    const size_t left = p.x < s.out_w ? s.out_w - p.x : 0,
                 n = left < kLanes - i ? left : kLanes - i;
    if (n > 0) f(i, n, p.c + p.x * range.args.y_pitch);
    i += width - p.x;
  }
}

// 16 outputs, or what there is of them, of 16 positions, from range.pixels.
QRT_INLINE void store_pixels(const RowRange& range, const Pixel& p, const uint32_t* from,
                             size_t output) {
  const NarrowShape& s = range.args.shape;
  const size_t left = s.out_c - output, pitch = range.args.y_pitch;
  const __mmask16 mask = static_cast<__mmask16>(left < 16 ? (1 << left) - 1 : 0xffff);
  __m512i v[4];
  QRT_UNROLL
  for (size_t i = 0; i < 4; ++i) v[i] = _mm512_load_si512(from + i * kPositions);
  const bool is_whole = p.x + kLanes <= s.out_w;
  if (is_whole && s.out_c == 4 && pitch == 4) return _mm512_storeu_si512(p.c + 4 * p.x, v[0]);
  transpose(v);
  if (is_whole) {
    uint8_t* const c = p.c + p.x * pitch + output;
    QRT_UNROLL
    for (size_t i = 0; i < 4; ++i) {
      _mm_mask_storeu_epi8(c + i * pitch, mask, _mm512_castsi512_si128(v[i]));
      _mm_mask_storeu_epi8(c + (i + 4) * pitch, mask, _mm512_extracti32x4_epi32(v[i], 1));
      _mm_mask_storeu_epi8(c + (i + 8) * pitch, mask, _mm512_extracti32x4_epi32(v[i], 2));
      _mm_mask_storeu_epi8(c + (i + 12) * pitch, mask, _mm512_extracti32x4_epi32(v[i], 3));
    }
    return;
  }
  alignas(64) uint8_t cells[4][64];
  QRT_UNROLL
  for (size_t i = 0; i < 4; ++i) _mm512_store_si512(cells[i], v[i]);
  for_ring_spans(range, p, [&](size_t first, size_t n, uint8_t* c) {
    for (size_t i = first; i < first + n; ++i, c += pitch)
      _mm_mask_storeu_epi8(c + output, mask, load_cell(cells[i % 4] + i / 4 * 16));
  });
}

// Vectors of positions whose sums are computed.
struct Ready {
  size_t first, count;
  Pixel pixel;  // of the first position
};

// Outputs of those, from range.pixels.
void store_block(const RowRange& range, const Ready& ready) {
  Pixel p = ready.pixel;
  for (size_t v = 0; v < ready.count; ++v, p = moved(range, p, kLanes))
    for (size_t o = 0; o < range.args.shape.out_c; o += kBlock)
      store_pixels(range, p, range.pixels + o / 4 * kPositions + kLanes * v, o);
}

// Splats' constants, and where sums start.
void find_constants(const RowRange& range, const Epilogue& epilogue) {
  const Constants& c = range.constants;
  for (size_t o = 0; o < range.args.shape.out_c; o += kLanes) {
    const avx512vnni::ChannelConstants k = epilogue.constants(o);
    _mm512_store_si512(c.start + o, epilogue.start(_mm512_loadu_si512(range.args.bias + o)));
    _mm512_store_ps(c.scale + o, k.scale);
    _mm512_store_ps(c.offset + o, k.offset);
    _mm512_store_ps(c.nudge + o, k.nudge);
  }
}

}  // namespace

bool narrow_handles_avx512vnni(const Requant& requant, size_t outputs) {
  return Epilogue::handles(requant, outputs);
}

void narrow_u8s8_4x64_avx512vnni(const NarrowArgs& args) {
  const NarrowShape& s = args.shape;
  const NarrowScratch scratch(s, args.row_end - args.row_begin);
  const Epilogue epilogue = Epilogue::make(args.requant, args.bias, s.out_c, 4 * s.steps());
  uint8_t* const memory = args.scratch;
  float* const constants = reinterpret_cast<float*>(memory + scratch.starts_at());
  const size_t all = 16 * scratch.out_groups();
  const RowRange range = {args,
                          scratch,
                          memory,
                          reinterpret_cast<uint32_t*>(memory + scratch.steps_at()),
                          reinterpret_cast<int32_t*>(memory + scratch.sums_at()),
                          {reinterpret_cast<int32_t*>(constants), constants + all,
                           constants + 2 * all, constants + 3 * all},
                          reinterpret_cast<uint32_t*>(memory + scratch.pixels_at()),
                          scratch.ring(),
                          scratch.ring_pitch()};
  find_steps(scratch, range.steps);
  find_constants(range, epilogue);
  fill_planes(range);
  // Outputs of a block are stored between the products of the next: they are independent of each
  // other, and take other ports.
  const NarrowBlocks blocks(s.out_c);
  const size_t all_blocks = scratch.blocks();
  const size_t needed = scratch.vectors() * kLanes, waits = scratch.most_place();
  Ready ready = {0, 0, {0, args.y + args.row_begin * s.out_w * args.y_pitch}};
  for (size_t block = 0; ready.first < needed; ++block) {
    for (size_t i = 0, first = 0; i < blocks.count; first += blocks.size(i++)) {
      if (block < all_blocks) multiply_block(range, block, first, blocks.size(i));
      if (ready.count > 0) requantize_block(range, epilogue, 4 * i, ready.first, ready.count);
    }
    store_block(range, ready);
    ready.pixel = moved(range, ready.pixel, ready.count * kLanes);
    ready.first += ready.count * kLanes;
    // Whole vectors of positions that have all of their sums.
    const size_t computed = (block + 1) * kPositions;
    const size_t end = computed < waits ? 0 : (computed - waits) / kLanes * kLanes;
    ready.count = ((end < needed ? end : needed) - ready.first) / kLanes;
  }
}

}  // namespace qrt

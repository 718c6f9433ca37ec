// Convolutions with few outputs on AVX-512 VNNI: VPDPBUSD on 16 pixels. narrow.h draws it.
#include <string.h>

#include "kernels/gemm/policy512.h"
#include "kernels/narrow/narrow.h"
#include "kernels/narrow/scratch.h"

namespace qrt {
namespace {

using Epilogue = Avx512Vnni::Epilogue;
constexpr size_t kLanes = kNarrowLanes, kPositions = kNarrowPositions;
constexpr int kVectors = static_cast<int>(kPositions / kLanes);

// Of every output, for splats.
struct Constants {
  int32_t* start;
  float *scale, *offset, *nudge;
};

struct Strip {
  const NarrowArgs& args;
  NarrowScratch scratch;
  GemmArgs outputs;  // their requantisation and place
  uint8_t* planes;
  uint32_t* steps;  // from a position to the dwords of each
  int32_t* sums;    // [out_c][ring_pitch]
  Constants constants;
  uint32_t* pixels;  // [out_c / 4][kPositions]
  size_t ring, ring_pitch;

  int32_t* ring_of(size_t o) const { return sums + o * ring_pitch; }
};

// Dword j of four pixels' 16 bytes to part j of a cell, for the cells of four vectors.
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

// 16 bytes of each of the pixels p, p + 4, p + 8 and p + 12.
QRT_INLINE __m512i load_cells(const uint8_t* p, size_t pitch) {
  __m512i v = _mm512_castsi128_si512(load_cell(p));
  v = _mm512_inserti32x4(v, load_cell(p + 4 * pitch), 1);
  v = _mm512_inserti32x4(v, load_cell(p + 8 * pitch), 2);
  return _mm512_inserti32x4(v, load_cell(p + 12 * pitch), 3);
}

// `pixels` pixels of a row of the image to their planes.
__attribute__((noinline)) void spread_pixels(const uint8_t* from, size_t pitch, size_t pixels,
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

// The same position of all planes, `pixels` zero points.
__attribute__((noinline)) void spread_zeros(uint8_t zero, size_t pixels, size_t dwords,
                                            size_t plane_bytes, uint8_t* to) {
  for (size_t i = 0; i < dwords; ++i) memset(to + i * plane_bytes, zero, 4 * pixels);
}

// The rows of the image that the strip needs, with their padding.
__attribute__((noinline)) void fill_planes(const Strip& strip) {
  const NarrowArgs& args = strip.args;
  const NarrowShape& s = args.shape;
  const size_t width = s.padded_w(), left = s.pad_left < width ? s.pad_left : width;
  const size_t inside = s.in_w < width - left ? s.in_w : width - left;
  const size_t dwords = s.dwords(), plane_bytes = strip.scratch.plane_bytes();
  uint8_t* to = strip.planes;
  for (size_t r = 0; r < s.padded_h(strip.scratch.rows); ++r, to += 4 * width) {
    // Rows before the image wrap around to values beyond its size.
    const size_t y = args.row_begin + r - s.pad_top;
    if (y >= s.in_h) {
      spread_zeros(args.zero_point, width, dwords, plane_bytes, to);
      continue;
    }
    spread_zeros(args.zero_point, left, dwords, plane_bytes, to);
    spread_pixels(args.x + y * s.in_w * args.x_pitch, args.x_pitch, inside, dwords, plane_bytes,
                  to + 4 * left);
    spread_zeros(args.zero_point, width - left - inside, dwords, plane_bytes,
                 to + 4 * (left + inside));
  }
}

__attribute__((noinline)) void find_steps(const NarrowScratch& scratch, uint32_t* steps) {
  const NarrowShape& s = scratch.shape;
  for (size_t y = 0; y < s.kernel_h; ++y)
    for (size_t dword = 0; dword < s.dwords(); ++dword)
      for (size_t x = 0; x < s.kernel_w; ++x)
        *steps++ = static_cast<uint32_t>(dword * scratch.plane_bytes() +
                                         4 * (y * s.dilation_h * s.padded_w() + x * s.dilation_w));
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

// Sums of all outputs of one block of positions.
__attribute__((noinline)) void multiply_block(const Strip& strip, size_t block) {
  const NarrowShape& s = strip.args.shape;
  const size_t n = s.steps(), at = (block * kPositions) & (strip.ring - 1);
  const uint8_t* const planes = strip.planes + block * kPositions * sizeof(uint32_t);
  const int8_t* weights = strip.args.weights;
  const NarrowBlocks blocks = {s.out_c};
  for (size_t i = 0, o = 0; i < blocks.count(); ++i) {
    const size_t outputs = blocks.size(i);
    const int32_t* const start = strip.constants.start + o;
    int32_t* const sums = strip.ring_of(o) + at;
    switch (outputs) {
      case 1: multiply<1>(planes, strip.steps, n, weights, start, sums, strip.ring_pitch); break;
      case 2: multiply<2>(planes, strip.steps, n, weights, start, sums, strip.ring_pitch); break;
      case 3: multiply<3>(planes, strip.steps, n, weights, start, sums, strip.ring_pitch); break;
      default: multiply<4>(planes, strip.steps, n, weights, start, sums, strip.ring_pitch); break;
    }
    weights += 4 * outputs * n;
    o += outputs;
  }
  if (at == 0) {
    for (size_t o = 0; o < s.out_c; ++o)
      memcpy(strip.ring_of(o) + strip.ring, strip.ring_of(o), kLanes * sizeof(int32_t));
  }
}

// Bytes of four outputs of a position, in its dword of strip.pixels: of `count` vectors of positions.
template <Epilogue::Form kForm>
__attribute__((noinline)) void requantize_block(const Strip& strip, const Epilogue& epilogue,
                                                size_t first, size_t count) {
  const NarrowShape& s = strip.args.shape;
  const __m512i by_position = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  uint32_t* to = strip.pixels;
  for (size_t o = 0; o < s.out_c; o += 4, to += kPositions) {
    avx512vnni::ChannelConstants k[4];
    const int32_t* ring[4];
    size_t at[4];
    QRT_UNROLL
    for (size_t i = 0; i < 4; ++i) {
      const size_t output = o + i < s.out_c ? o + i : s.out_c - 1;
      k[i] = {_mm512_set1_ps(strip.constants.scale[output]),
              _mm512_set1_ps(strip.constants.offset[output]),
              _mm512_set1_ps(strip.constants.nudge[output])};
      ring[i] = strip.ring_of(output);
      at[i] = first + s.place(strip.args.moves[output]);
    }
    for (size_t v = 0; v < count; ++v) {
      __m512i sum[4];
      QRT_UNROLL
      for (size_t i = 0; i < 4; ++i)
        sum[i] = _mm512_loadu_si512(ring[i] + ((at[i] + kLanes * v) & (strip.ring - 1)));
      const __m512i b = epilogue.bytes<kForm>(sum[0], sum[1], sum[2], sum[3], k);
      _mm512_store_si512(to + kLanes * v, _mm512_shuffle_epi8(b, by_position));
    }
  }
}

void requantize_block_as(const Strip& strip, const Epilogue& epilogue, size_t first, size_t count) {
  switch (epilogue.form) {
    case Epilogue::kFused: break;
    case Epilogue::kFromZero:
      return requantize_block<Epilogue::kFromZero>(strip, epilogue, first, count);
    case Epilogue::kPlain:
      return requantize_block<Epilogue::kPlain>(strip, epilogue, first, count);
    case Epilogue::kLimited:
      return requantize_block<Epilogue::kLimited>(strip, epilogue, first, count);
    case Epilogue::kAffine:
      return requantize_block<Epilogue::kAffine>(strip, epilogue, first, count);
    case Epilogue::kFixed:
      return requantize_block<Epilogue::kFixed>(strip, epilogue, first, count);
    case Epilogue::kFixedFromZero:
      return requantize_block<Epilogue::kFixedFromZero>(strip, epilogue, first, count);
  }
  requantize_block<Epilogue::kFused>(strip, epilogue, first, count);
}

// A position of outputs, and its pixel.
struct Pixel {
  size_t x;    // of its row, outputs or not
  uint8_t* c;  // of its row's first
};

// The positions of a vector whose pixels are side by side, or f(i, c) for each that there is.
template <class F>
QRT_INLINE void for_pixels(const Strip& strip, Pixel p, const F& f) {
  const NarrowShape& s = strip.args.shape;
  const uint8_t* const end = strip.args.y + strip.args.row_end * s.out_w * strip.args.y_pitch;
  for (size_t i = 0; i < kLanes && p.c < end; ++i) {
    if (p.x < s.out_w) f(i, p.c + p.x * strip.args.y_pitch);
    if (++p.x == s.padded_w()) p.x = 0, p.c += s.out_w * strip.args.y_pitch;
  }
}

// 16 outputs, or what there is of them, of 16 positions, from strip.pixels.
QRT_INLINE void store_pixels(const Strip& strip, const Pixel& p, const uint32_t* from,
                             size_t output) {
  const NarrowShape& s = strip.args.shape;
  const size_t left = s.out_c - output, pitch = strip.args.y_pitch;
  const __mmask16 mask = static_cast<__mmask16>(left < 16 ? (1 << left) - 1 : 0xffff);
  __m512i v[4];
  QRT_UNROLL
  for (size_t i = 0; i < 4; ++i) v[i] = _mm512_load_si512(from + i * kPositions);
  const bool is_whole = p.x + kLanes <= s.out_w;
  if (is_whole && s.out_c == 4 && pitch == 4)
    return _mm512_storeu_si512(p.c + 4 * p.x, v[0]);
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
  for_pixels(strip, p, [&](size_t i, uint8_t* c) {
    _mm_mask_storeu_epi8(c + output, mask, load_cell(cells[i % 4] + i / 4 * 16));
  });
}

// The same where sums are requantised in memory.
__attribute__((noinline)) void store_sums(const Strip& strip, const Output<Avx512Vnni>& output,
                                          const Pixel& p, size_t first) {
  const NarrowShape& s = strip.args.shape;
  for (size_t o = 0; o < s.out_c; o += kBlock) {
    const size_t columns = s.out_c - o < kBlock ? s.out_c - o : kBlock;
    for_pixels(strip, p, [&](size_t i, uint8_t* c) {
      alignas(64) int32_t sums[kBlock] = {};
      for (size_t j = 0; j < columns; ++j) {
        const size_t at = first + i + s.place(strip.args.moves[o + j]);
        sums[j] = strip.ring_of(o + j)[at & (strip.ring - 1)];
      }
      store_memory<Avx512Vnni>(strip.outputs, output, o, sums, 1, kBlock, columns, c);
    });
  }
}

// Outputs of the positions from `first` on, `count` vectors of them.
void store_block(const Strip& strip, const Output<Avx512Vnni>& output, Pixel p, size_t first,
                 size_t count) {
  const NarrowShape& s = strip.args.shape;
  const Epilogue* const epilogue = output.in_registers();
  if (epilogue != nullptr) requantize_block_as(strip, *epilogue, first, count);
  for (size_t v = 0; v < count; ++v) {
    if (epilogue == nullptr) store_sums(strip, output, p, first + kLanes * v);
    for (size_t o = 0; epilogue != nullptr && o < s.out_c; o += 16)
      store_pixels(strip, p, strip.pixels + o / 4 * kPositions + kLanes * v, o);
    for (p.x += kLanes; p.x >= s.padded_w(); p.x -= s.padded_w())
      p.c += s.out_w * strip.args.y_pitch;
  }
}

// Splats' constants, and where sums start.
void find_constants(const Strip& strip, const Epilogue* epilogue) {
  const Constants& c = strip.constants;
  for (size_t o = 0; o < strip.args.shape.out_c; o += kLanes) {
    __m512i start = _mm512_loadu_si512(strip.args.bias + o);
    if (epilogue != nullptr) {
      start = epilogue->start(start);
      const avx512vnni::ChannelConstants k = epilogue->constants(o);
      _mm512_store_ps(c.scale + o, k.scale);
      _mm512_store_ps(c.offset + o, k.offset);
      _mm512_store_ps(c.nudge + o, k.nudge);
    }
    _mm512_store_si512(c.start + o, start);
  }
}

}  // namespace

void narrow_u8s8_4x64_avx512vnni(const NarrowArgs& args) {
  const NarrowShape& s = args.shape;
  const NarrowScratch scratch(s, args.row_end - args.row_begin);
  GemmArgs outputs = {};
  outputs.n = s.out_c;
  outputs.taps = s.kernel_h * s.kernel_w;
  outputs.kc = 4 * s.dwords();
  outputs.bias = args.bias;
  outputs.requant = args.requant;
  outputs.c_stride = args.y_pitch;
  const Output<Avx512Vnni> output(outputs);
  uint8_t* const memory = args.scratch;
  float* const constants = reinterpret_cast<float*>(memory + scratch.starts_at());
  const size_t all = 16 * scratch.out_groups();
  const Strip strip = {args,
                       scratch,
                       outputs,
                       memory,
                       reinterpret_cast<uint32_t*>(memory + scratch.steps_at()),
                       reinterpret_cast<int32_t*>(memory + scratch.sums_at()),
                       {reinterpret_cast<int32_t*>(constants), constants + all, constants + 2 * all,
                        constants + 3 * all},
                       reinterpret_cast<uint32_t*>(memory + scratch.pixels_at()),
                       scratch.ring(),
                       scratch.ring_pitch()};
  find_steps(scratch, strip.steps);
  find_constants(strip, output.in_registers());
  fill_planes(strip);
  Pixel p = {0, args.y + args.row_begin * s.out_w * args.y_pitch};
  const size_t waits = scratch.most_place();
  for (size_t block = 0, done = 0; block < scratch.blocks(); ++block) {
    multiply_block(strip, block);
    // Whole vectors of positions that have all of their sums.
    const size_t computed = (block + 1) * kPositions;
    if (computed < waits + kLanes) continue;
    const size_t ready = (computed - waits) / kLanes * kLanes;
    const size_t needed = scratch.vectors() * kLanes, end = ready < needed ? ready : needed;
    store_block(strip, output, p, done, (end - done) / kLanes);
    for (p.x += end - done; p.x >= s.padded_w(); p.x -= s.padded_w()) p.c += s.out_w * args.y_pitch;
    done = end;
  }
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Convolutions of few inputs on AVX-512 VNNI: VPDPBUSD on 512 bits.
#include <string.h>

#include "kernels/isa/avx512vnni.h"
#include "kernels/isa/inline.h"
#include "kernels/stem/scratch.h"
#include "kernels/stem/stem.h"

namespace qrt {
namespace {

using Epilogue = avx512vnni::RequantInRegisters;

constexpr size_t kBlock = 16;  // channels of a vector

struct RowRange {
  const StemArgs& args;
  StemScratch scratch;
  const Epilogue& epilogue;
  const uint32_t *positions, *steps;  // StemArgs::offsets
  uint8_t *pixels, *shared;
};

// The rows of the image that the range of rows needs, with their padding.
void fill_pixels(const RowRange& range) {
  const StemArgs& args = range.args;
  const StemShape& s = args.shape;
  const size_t width = s.padded_bytes(), in_bytes = s.in_w * s.in_c;
  const size_t left = s.pad_left * s.in_c < width ? s.pad_left * s.in_c : width;
  const size_t inside = in_bytes < width - left ? in_bytes : width - left;
  uint8_t* to = range.pixels;
  for (size_t r = 0; r < s.padded_h(range.scratch.rows); ++r, to += width) {
    // Rows before the image wrap around to values beyond its size.
    const size_t y = args.row_begin * s.stride_h + r - s.pad_top;
    if (y >= s.in_h) {
      memset(to, args.zero_point, width);
      continue;
    }
    memset(to, args.zero_point, left);
    memcpy(to + left, args.x + y * in_bytes, inside);
    memset(to + left + inside, args.zero_point, width - left - inside);
  }
}

// Byte 0 of 16 pixels, `step` bytes apart, in a dword each.
struct EveryPixel {
  __m512i words, shifts;

  explicit EveryPixel(size_t step) {
    uint16_t word[32] = {};
    uint32_t shift[16];
    for (size_t i = 0; i < 16; ++i) {
      word[2 * i] = static_cast<uint16_t>(i * step / 2);
      shift[i] = i * step % 2 * 8;
    }
    words = _mm512_loadu_si512(word);
    shifts = _mm512_loadu_si512(shift);
  }
  __attribute__((always_inline)) __m512i of(const uint8_t* p) const {
    const __m512i v =
        _mm512_permutex2var_epi16(_mm512_loadu_si512(p), words, _mm512_loadu_si512(p + 64));
    return _mm512_and_si512(_mm512_srlv_epi32(v, shifts), _mm512_set1_epi32(0xff));
  }
};

// The dwords that the kernel's rows share, of every output.
void fill_shared(const RowRange& range) {
  const StemShape& s = range.args.shape;
  const EveryPixel every(s.pixel_bytes());
  const size_t width = s.padded_bytes(), all = s.kernel_h * s.rest();
  for (size_t dword = 0; dword < s.shared(); ++dword) {
    uint8_t* const to = range.shared + dword * range.scratch.shared_pitch();
    const size_t bytes = all - 4 * dword < 4 ? all - 4 * dword : 4;
    size_t from[4] = {};
    for (size_t i = 0; i < bytes; ++i) {
      const size_t row = (4 * dword + i) % s.kernel_h, byte = (4 * dword + i) / s.kernel_h;
      from[i] = row * s.dilation_h * width + 4 * s.row_dwords() + byte;
    }
    for (size_t y = 0; y < range.scratch.rows; ++y)
      for (size_t x = 0; x < s.out_w; x += kStemLanes) {
        const uint8_t* const p = range.pixels + y * s.stride_h * width + x * s.pixel_bytes();
        __m512i v = every.of(p + from[0]);
        for (size_t i = 1; i < bytes; ++i)
          v = _mm512_or_si512(v, _mm512_sll_epi32(every.of(p + from[i]),
                                                  _mm_cvtsi32_si128(static_cast<int>(8 * i))));
        // A store's surplus bytes are those of the next row, which follows.
        _mm512_storeu_si512(to + 4 * (y * s.out_w + x), v);
      }
  }
}

// Stores a tile's outputs of 16 * kVectors channels, those of the mask.
template <Epilogue::Form kForm, int kPixels, int kVectors>
QRT_INLINE void store_as(const Epilogue& epilogue, const __m512i (&acc)[kPixels][kVectors],
                         const avx512vnni::ChannelConstants (&k)[kVectors], uint32_t mask,
                         uint8_t* y, size_t pitch) {
  constexpr int kRows = 4 / kVectors;  // make 64 bytes
  QRT_UNROLL
  for (int i = 0; i < kPixels; i += kRows) {
    const __m512i b = Epilogue::in_order(epilogue.bytes<kForm>(
        acc[i][0], acc[i + 1 / kVectors][1 % kVectors], acc[i + 2 / kVectors][2 % kVectors],
        acc[i + 3 / kVectors][3 % kVectors], k));
    if constexpr (kVectors == 2) {
      _mm256_mask_storeu_epi8(y, mask, _mm512_castsi512_si256(b));
      _mm256_mask_storeu_epi8(y + pitch, mask, _mm512_extracti64x4_epi64(b, 1));
    } else {
      const auto m = static_cast<__mmask16>(mask);
      _mm_mask_storeu_epi8(y, m, _mm512_castsi512_si128(b));
      _mm_mask_storeu_epi8(y + pitch, m, _mm512_extracti32x4_epi32(b, 1));
      _mm_mask_storeu_epi8(y + 2 * pitch, m, _mm512_extracti32x4_epi32(b, 2));
      _mm_mask_storeu_epi8(y + 3 * pitch, m, _mm512_extracti32x4_epi32(b, 3));
    }
    y += kRows * pitch;
  }
}

template <int kPixels, int kVectors>
QRT_INLINE void store(const Epilogue& epilogue, const __m512i (&acc)[kPixels][kVectors],
                      const avx512vnni::ChannelConstants (&k)[kVectors], uint32_t mask, uint8_t* y,
                      size_t pitch) {
  switch (epilogue.form) {
    case Epilogue::kFused: return store_as<Epilogue::kFused>(epilogue, acc, k, mask, y, pitch);
    case Epilogue::kAffine: return store_as<Epilogue::kAffine>(epilogue, acc, k, mask, y, pitch);
    // Special cases without code of their own are computed by the general forms.
    case Epilogue::kFixed:
    case Epilogue::kFixedFromZero:
      return store_as<Epilogue::kFixed>(epilogue, acc, k, mask, y, pitch);
    case Epilogue::kFromZero:
    case Epilogue::kPlain: return store_as<Epilogue::kPlain>(epilogue, acc, k, mask, y, pitch);
    case Epilogue::kLimited: return store_as<Epilogue::kLimited>(epilogue, acc, k, mask, y, pitch);
  }
}

// Computes the outputs of a panel of channels. The last tile begins so early that it is a whole
// one; where there is none, the last output is repeated, and what there is of it stored.
template <int kPixels, int kVectors>
__attribute__((noinline)) void run_panel(const RowRange& range, size_t channel, size_t columns) {
  static_assert(kPixels <= static_cast<int>(kStemTile), "places of repeated outputs");
  const StemShape& s = range.args.shape;
  const size_t own = s.kernel_h * s.row_dwords(), shared = s.shared();
  const size_t block_bytes = s.steps() * 4 * kBlock, shared_pitch = range.scratch.shared_pitch();
  const Epilogue epilogue = range.epilogue;
  avx512vnni::ChannelConstants k[kVectors];
  __m512i bias[kVectors];
  QRT_UNROLL
  for (size_t v = 0; v < kVectors; ++v) {
    k[v] = epilogue.constants(channel + kBlock * v);
    bias[v] = epilogue.start(_mm512_loadu_si512(range.args.bias + channel + kBlock * v));
  }
  const auto mask = static_cast<uint32_t>((uint64_t{1} << columns) - 1);
  const int8_t* const weights = range.args.weights + channel / kBlock * block_bytes;
  const size_t all = range.scratch.rows * s.out_w, pitch = range.args.y_pitch;
  uint8_t* const y = range.args.y + range.args.row_begin * s.out_w * pitch + channel;
  for (size_t done = 0; done < all; done += kPixels) {
    const size_t first = all - done >= kPixels ? done : all < kPixels ? 0 : all - kPixels;
    const uint8_t* pixel[kPixels];
    QRT_UNROLL
    for (int i = 0; i < kPixels; ++i)
      pixel[i] = range.pixels + range.positions[first + static_cast<size_t>(i)];
    __m512i acc[kPixels][kVectors];
    QRT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      QRT_UNROLL
      for (int v = 0; v < kVectors; ++v) acc[i][v] = bias[v];
    }
    const int8_t* w = weights;
    const auto multiply = [&](const auto& dword_of) QRT_INLINE_LAMBDA {
      __m512i b[kVectors];
      QRT_UNROLL
      for (int v = 0; v < kVectors; ++v)
        b[v] = _mm512_loadu_si512(w + static_cast<size_t>(v) * block_bytes);
      w += 4 * kBlock;
      QRT_UNROLL
      for (int i = 0; i < kPixels; ++i) {
        int32_t dword;
        memcpy(&dword, dword_of(i), sizeof dword);
        const __m512i splat = _mm512_set1_epi32(dword);
        QRT_UNROLL
        for (int v = 0; v < kVectors; ++v) avx512vnni::dot(acc[i][v], splat, b[v]);
      }
    };
    for (size_t step = 0; step < own; ++step) {
      const size_t at = range.steps[step];
      multiply([&](int i) QRT_INLINE_LAMBDA { return pixel[i] + at; });
    }
    const uint8_t* dwords = range.shared + 4 * first;
    for (size_t step = 0; step < shared; ++step, dwords += shared_pitch)
      multiply([&](int i) QRT_INLINE_LAMBDA { return dwords + 4 * i; });
    uint8_t part[kPixels * kBlock * kVectors];
    const bool is_whole = all >= kPixels;
    store(epilogue, acc, k, mask, is_whole ? y + first * pitch : part,
          is_whole ? pitch : kBlock * kVectors);
    for (size_t i = 0; !is_whole && i < all; ++i)
      memcpy(y + i * pitch, part + i * kBlock * kVectors, columns);
  }
}

}  // namespace

bool stem_handles_avx512vnni(const Requant& requant, size_t outputs) {
  return Epilogue::handles(requant, outputs);
}

void stem_u8s8_avx512vnni(const StemArgs& args) {
  const StemShape& s = args.shape;
  const StemScratch scratch(s, args.row_end - args.row_begin);
  const Epilogue epilogue = Epilogue::make(args.requant, args.bias, s.out_c, 4 * s.steps());
  const StemScratch most(s, stem_rows_per_call(s));
  const RowRange range = {args,
                          scratch,
                          epilogue,
                          args.offsets,
                          args.offsets + most.positions(),
                          args.scratch,
                          args.scratch + scratch.pixel_bytes()};
  fill_pixels(range);
  if (s.shared() > 0) fill_shared(range);
  for (size_t channel = 0; channel < s.out_c;) {
    const size_t left = s.out_c - channel;
    if (left > kBlock) {
      run_panel<4, 2>(range, channel, left < 2 * kBlock ? left : 2 * kBlock);
      channel += 2 * kBlock;
    } else {
      run_panel<8, 1>(range, channel, left);
      channel += kBlock;
    }
  }
}

}  // namespace qrt

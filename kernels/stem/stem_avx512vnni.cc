// Convolutions of few inputs on AVX-512 VNNI: VPDPBUSD on 512 bits, on 256 for a last half of a block of
// outputs.
#include <string.h>

#include "kernels/gemm/policy512.h"
#include "kernels/stem/scratch.h"
#include "kernels/stem/stem.h"

namespace qrt {
namespace {

using Epilogue = Avx512Vnni::Epilogue;

struct Strip {
  const StemArgs& args;
  StemScratch scratch;
  const Epilogue& epilogue;
  uint8_t* pixels;
  uint32_t* places;  // where the inputs of an output begin
  uint32_t* steps;
  uint8_t* shared;
};

// The rows of the image that the strip needs, with their padding.
void fill_pixels(const Strip& strip) {
  const StemArgs& args = strip.args;
  const StemShape& s = args.shape;
  const size_t width = s.padded_bytes(), in_bytes = s.in_w * s.in_c;
  const size_t left = s.pad_left * s.in_c < width ? s.pad_left * s.in_c : width;
  const size_t inside = in_bytes < width - left ? in_bytes : width - left;
  uint8_t* to = strip.pixels;
  for (size_t r = 0; r < s.padded_h(strip.scratch.rows); ++r, to += width) {
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

void find_places(const Strip& strip) {
  const StemShape& s = strip.args.shape;
  const size_t width = s.padded_bytes();
  uint32_t* places = strip.places;
  for (size_t y = 0; y < strip.scratch.rows; ++y)
    for (size_t x = 0; x < s.out_w; ++x)
      *places++ = static_cast<uint32_t>(y * s.stride_h * width + x * s.pixel_bytes());
  for (size_t i = 0; i < kStemTile; ++i, ++places) *places = places[-1];
  uint32_t* steps = strip.steps;
  for (size_t y = 0; y < s.kernel_h; ++y)
    for (size_t i = 0; i < s.row_dwords(); ++i)
      *steps++ = static_cast<uint32_t>(y * s.dilation_h * width + 4 * i);
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
void fill_shared(const Strip& strip) {
  const StemShape& s = strip.args.shape;
  const EveryPixel every(s.pixel_bytes());
  const size_t width = s.padded_bytes(), all = s.kernel_h * s.rest();
  for (size_t dword = 0; dword < s.shared(); ++dword) {
    uint8_t* const to = strip.shared + dword * strip.scratch.shared_pitch();
    const size_t bytes = all - 4 * dword < 4 ? all - 4 * dword : 4;
    size_t from[4] = {};
    for (size_t i = 0; i < bytes; ++i) {
      const size_t row = (4 * dword + i) % s.kernel_h, byte = (4 * dword + i) / s.kernel_h;
      from[i] = row * s.dilation_h * width + 4 * s.row_dwords() + byte;
    }
    for (size_t y = 0; y < strip.scratch.rows; ++y)
      for (size_t x = 0; x < s.out_w; x += kStemLanes) {
        const uint8_t* const p = strip.pixels + y * s.stride_h * width + x * s.pixel_bytes();
        __m512i v = every.of(p + from[0]);
        for (size_t i = 1; i < bytes; ++i)
          v = _mm512_or_si512(v, _mm512_sll_epi32(every.of(p + from[i]),
                                                  _mm_cvtsi32_si128(static_cast<int>(8 * i))));
        // What is too much is of the next row, which follows.
        _mm512_storeu_si512(to + 4 * (y * s.out_w + x), v);
      }
  }
}

// The outputs of a panel of channels. The last tile begins so early that it is a whole one; where there
// is none, the last output is repeated, and what there is of it stored.
template <class P, int kPixels, int kVectors>
__attribute__((noinline)) void run_panel(const Strip& strip, size_t channel, size_t columns) {
  static_assert(kPixels <= static_cast<int>(kStemTile), "places of repeated outputs");
  const StemShape& s = strip.args.shape;
  const size_t own = s.kernel_h * s.row_dwords(), shared = s.shared();
  const size_t block_bytes = s.steps() * 4 * kBlock, shared_pitch = strip.scratch.shared_pitch();
  typename P::template Store<kVectors> store;
  store.set(strip.epilogue, channel, columns);
  typename P::Acc bias[kVectors];
  QRT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const int32_t* const p = strip.args.bias + channel + static_cast<size_t>(v) * P::kLanes;
    bias[v] = strip.epilogue.start(P::load_acc(p));
  }
  const int8_t* const weights = strip.args.weights + channel / kBlock * block_bytes;
  const size_t all = strip.scratch.outputs(), pitch = strip.args.y_pitch;
  uint8_t* const y = strip.args.y + strip.args.row_begin * s.out_w * pitch + channel;
  for (size_t done = 0; done < all; done += kPixels) {
    const size_t first = all - done >= kPixels ? done : all < kPixels ? 0 : all - kPixels;
    const uint8_t* pixel[kPixels];
    QRT_UNROLL
    for (int i = 0; i < kPixels; ++i)
      pixel[i] = strip.pixels + strip.places[first + static_cast<size_t>(i)];
    typename P::Acc acc[kPixels][kVectors];
    QRT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      QRT_UNROLL
      for (int v = 0; v < kVectors; ++v) acc[i][v] = bias[v];
    }
    const int8_t* w = weights;
    const auto multiply = [&](const auto& dword_of) QRT_INLINE_LAMBDA {
      typename P::Rhs b[kVectors];
      QRT_UNROLL
      for (int v = 0; v < kVectors; ++v)
        b[v] = P::load_rhs(w + static_cast<size_t>(v) * block_bytes, 0);
      w += 4 * kBlock;
      QRT_UNROLL
      for (int i = 0; i < kPixels; ++i) {
        const typename P::Lhs x = P::splat_lhs(dword_of(i), 0);
        QRT_UNROLL
        for (int v = 0; v < kVectors; ++v) P::dot(acc[i][v], x, b[v]);
      }
    };
    for (size_t step = 0; step < own; ++step) {
      const size_t at = strip.steps[step];
      multiply([&](int i) QRT_INLINE_LAMBDA { return pixel[i] + at; });
    }
    const uint8_t* dwords = strip.shared + 4 * first;
    for (size_t step = 0; step < shared; ++step, dwords += shared_pitch)
      multiply([&](int i) QRT_INLINE_LAMBDA { return dwords + 4 * i; });
    if (all >= kPixels) {
      store.rows(acc, y + first * pitch, pitch);
    } else {
      uint8_t part[kPixels * kBlock * kVectors];
      store.rows(acc, part, kBlock * kVectors);
      for (size_t i = 0; i < all; ++i) memcpy(y + i * pitch, part + i * kBlock * kVectors, columns);
    }
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
  uint8_t* const memory = args.scratch;
  const Strip strip = {args,
                       scratch,
                       epilogue,
                       memory,
                       reinterpret_cast<uint32_t*>(memory + scratch.places_at()),
                       reinterpret_cast<uint32_t*>(memory + scratch.steps_at()),
                       memory + scratch.shared_at()};
  fill_pixels(strip);
  find_places(strip);
  if (s.shared() > 0) fill_shared(strip);
  for (size_t channel = 0; channel < s.out_c;) {
    const size_t left = s.out_c - channel;
    if (left > kBlock + Avx512VnniHalf::kLanes) {
      run_panel<Avx512Vnni, 4, 2>(strip, channel, left < 2 * kBlock ? left : 2 * kBlock);
      channel += 2 * kBlock;
    } else if (left > Avx512VnniHalf::kLanes) {
      run_panel<Avx512Vnni, 8, 1>(strip, channel, left < kBlock ? left : kBlock);
      channel += kBlock;
    } else {
      run_panel<Avx512VnniHalf, 8, 1>(strip, channel, left);
      channel += kBlock;
    }
  }
}

}  // namespace qrt

// Planes with 512-bit vectors. Permutations of bytes from two registers interleave two to four planes
// and take them apart; other planes go in tiles whose output rows are whole cache lines.
#include "kernels/copy/tiles_x86.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

// Byte permutations between kGroups registers of pixels, one for each plane, and as many of
// interleaved pixels: byte o of the interleaved is byte o / kGroups of plane o % kGroups. Output
// register j is permuted from registers 0 and 1 by pairs[j][0], and where bytes of the others are
// wanted (their bits of `others`) from registers 2 and 3 by pairs[j][1].
template <size_t kGroups>
struct Interleaving {
  static constexpr size_t kPairs = (kGroups + 1) / 2;
  struct Register {
    alignas(64) uint8_t pairs[kPairs][64];
    uint64_t others;
  } join[kGroups], split[kGroups];
};

template <size_t kGroups>
constexpr Interleaving<kGroups> interleaving() {
  Interleaving<kGroups> t{};
  const auto take = [](auto& to, size_t byte, size_t from) {
    to.pairs[from / 128][byte] = static_cast<uint8_t>(from % 128);
    if (from >= 128) to.others |= uint64_t{1} << byte;
  };
  for (size_t o = 0; o < 64 * kGroups; ++o) {
    const size_t plane = o % kGroups, pixel = o / kGroups;
    take(t.join[o / 64], o % 64, 64 * plane + pixel);
    take(t.split[plane], pixel, o);
  }
  return t;
}

template <size_t kGroups>
constexpr Interleaving<kGroups> kInterleaving = interleaving<kGroups>();

template <size_t kGroups>
inline __m512i permute(const __m512i (&v)[kGroups],
                       const typename Interleaving<kGroups>::Register& by) {
  const __m512i first = _mm512_permutex2var_epi8(v[0], _mm512_load_si512(by.pairs[0]), v[1]);
  if constexpr (kGroups == 2) {
    return first;
  } else {
    const __m512i index = _mm512_load_si512(by.pairs[1]);
    if constexpr (kGroups == 3)
      return _mm512_mask_permutexvar_epi8(first, by.others, index, v[2]);
    else
      return _mm512_mask_mov_epi8(first, by.others, _mm512_permutex2var_epi8(v[2], index, v[3]));
  }
}

// kGroups planes of `pixels` bytes, `stride` bytes apart, and the interleaved pixels: kJoin from the
// former to the latter, else back. `count` times, in_step and out_step bytes apart.
template <size_t kGroups, bool kJoin>
void interleave(const uint8_t* in, size_t in_step, uint8_t* out, size_t out_step, size_t count,
                size_t pixels, size_t stride) {
  struct Masks {  // bytes of a register: of a plane, of interleaved pixels
    explicit Masks(size_t n) : plane(first(n)) {
      for (size_t k = 0; k < kGroups; ++k)
        joined[k] = first(n * kGroups > 64 * k ? n * kGroups - 64 * k : 0);
    }
    static uint64_t first(size_t n) { return n < 64 ? (uint64_t{1} << n) - 1 : ~uint64_t{0}; }
    uint64_t plane, joined[kGroups];
  };
  const auto& table = kJoin ? kInterleaving<kGroups>.join : kInterleaving<kGroups>.split;
  const Masks whole(64), last(pixels % 64);
  for (; count > 0; --count, in += in_step, out += out_step) {
    for (size_t i = 0; i < pixels; i += 64) {
      const Masks& m = pixels - i < 64 ? last : whole;
      __m512i v[kGroups];
#pragma GCC unroll 4
      for (size_t k = 0; k < kGroups; ++k)
        v[k] = kJoin ? _mm512_maskz_loadu_epi8(m.plane, in + k * stride + i)
                     : _mm512_maskz_loadu_epi8(m.joined[k], in + kGroups * i + 64 * k);
#pragma GCC unroll 4
      for (size_t k = 0; k < kGroups; ++k) {
        const __m512i w = permute<kGroups>(v, table[k]);
        if (kJoin)
          _mm512_mask_storeu_epi8(out + kGroups * i + 64 * k, m.joined[k], w);
        else
          _mm512_mask_storeu_epi8(out + k * stride + i, m.plane, w);
      }
    }
  }
}

struct Zip8x512 {
  static __m512i low(__m512i a, __m512i b) { return _mm512_unpacklo_epi8(a, b); }
  static __m512i high(__m512i a, __m512i b) { return _mm512_unpackhi_epi8(a, b); }
};

// 64 input rows of 16 bytes: row i + 16 k in lane k of register i.
struct ByteTile16x64 {
  static constexpr size_t kRows = 16, kCols = 64;

  template <size_t kFirst>
  static void rows_from(const uint8_t* in, size_t input_stride, uint8_t* out,
                        size_t output_stride) {
    __m512i v[16], w[16];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {
      const uint8_t* row = in + i * input_stride;
      __m512i lanes = _mm512_castsi128_si512(load16(row));
      lanes = _mm512_mask_broadcast_i32x4(lanes, 0x00f0, load16(row + 16 * input_stride));
      lanes = _mm512_mask_broadcast_i32x4(lanes, 0x0f00, load16(row + 32 * input_stride));
      v[i] = _mm512_mask_broadcast_i32x4(lanes, 0xf000, load16(row + 48 * input_stride));
    }
    zip_round<Zip8x512>(v, w);
    zip_round<Zip8x512>(w, v);
    zip_round<Zip8x512>(v, w);
    zip_round<Zip8x512>(w, v);
#pragma GCC unroll 16
    for (size_t i = kFirst; i < 16; ++i) _mm512_storeu_si512(out + i * output_stride, v[i]);
  }
  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                        size_t done) {
    if (done < 8)
      rows_from<0>(in, input_stride, out, output_stride);
    else
      rows_from<8>(in, input_stride, out, output_stride);
  }
};

// Many planes in a row, each joined or split; false where they are no such planes.
bool interleave_planes(const uint8_t* in, size_t input_stride, size_t in_step, uint8_t* out,
                       size_t output_stride, size_t out_step, size_t count, size_t rows,
                       size_t cols) {
  using Form = decltype(&interleave<2, true>);
  constexpr Form kJoins[] = {interleave<2, true>, interleave<3, true>, interleave<4, true>};
  constexpr Form kSplits[] = {interleave<2, false>, interleave<3, false>, interleave<4, false>};
  if (output_stride == cols && cols >= 2 && cols <= 4) {
    kJoins[cols - 2](in, in_step, out, out_step, count, rows, input_stride);
  } else if (input_stride == rows && rows >= 2 && rows <= 4) {
    kSplits[rows - 2](in, in_step, out, out_step, count, cols, output_stride);
  } else {
    return false;
  }
  return true;
}

void plane_bytes1_512(const void* input, size_t input_stride, void* output, size_t output_stride,
                      size_t rows, size_t cols) {
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  if (interleave_planes(in, input_stride, 0, out, output_stride, 0, 1, rows, cols)) return;
  if (rows >= ByteTile16x64::kRows && cols >= ByteTile16x64::kCols)
    transpose_in_tiles<ByteTile16x64>(in, input_stride, out, output_stride, rows, cols);
  else
    transpose_plane<ByteTile16x32, ByteTile8x8>(in, input_stride, out, output_stride, rows, cols);
}

void plane_bytes4_256(const void* input, size_t input_stride, void* output, size_t output_stride,
                      size_t rows, size_t cols) {
  transpose_plane<WordTile4x8, WordTile4x4>(static_cast<const uint32_t*>(input), input_stride,
                                            static_cast<uint32_t*>(output), output_stride, rows,
                                            cols);
}

}  // namespace

void transpose_avx512vbmi(const TransposePlan& plan, const void* input, void* output, size_t begin,
                          size_t end) {
  // A shuffle of the channels of every pixel: planes so small that a call for each would take longer
  // than the plane.
  const size_t pixel = plan.dims[1] * plan.dims[2];
  if (plan.rank == 3 && plan.element_bytes == 1 && plan.stride[1] == 1 &&
      interleave_planes(static_cast<const uint8_t*>(input) + begin * plan.stride[0], plan.stride[2],
                        plan.stride[0], static_cast<uint8_t*>(output) + begin * pixel, plan.dims[2],
                        pixel, end - begin, plan.dims[1], plan.dims[2])) {
    return;
  }
  transpose_by_planes({plane_bytes1_512, plane_bytes4_256}, plan, input, output, begin, end);
}

}  // namespace qrt

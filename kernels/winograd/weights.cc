// SPDX-License-Identifier: Apache-2.0
// Converts packed weights of the gemm family to those of Winograd's convolution, and computes sizes.
#include <string.h>

#include "kernels/winograd/scratch.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4;
// Bytes of a block's transformed pixels for each row of a register tile.
constexpr size_t kPixelBytes = 50 << 10;

// Returns the limit for the sum of a position's weights of one sign: 255 times that, or 128 times
// that of both signs, stays exact.
int32_t most_sum(const WinogradShape& shape) {
  return ((shape.kernel_h == 3 ? 1 << 25 : 1 << 28) - 1) / 256;
}

size_t blocks_of(const WinogradShape& shape) { return (shape.out_c + kBlock - 1) / kBlock; }

// Int16 of a vector that every instruction set has. A weight block, [16][4] bytes, is of eight.
typedef int16_t Vec __attribute__((vector_size(16)));
constexpr size_t kVecs = kBlock * kGroup * sizeof(int16_t) / sizeof(Vec);

// Weight blocks that are transformed before they are copied to their positions. Those lie far apart,
// often as far as lines of one set of the cache: each is given more than a line at a time.
constexpr size_t kRun = 4;

// Loads the first or second two channels of a group, [4][2] bytes, as [4 / kWeightLanes][2][kWeightLanes].
template <size_t kWeightLanes>
Vec load(const int8_t* w, size_t pair) {
  typedef uint32_t Words __attribute__((vector_size(16)));
  typedef int32_t Ints __attribute__((vector_size(16)));
  Words words;
  memcpy(&words, w, sizeof words);
  if (pair == 0) words <<= 16;
  const Ints even = reinterpret_cast<Ints>(words << 8) >> 24;
  const Ints odd = reinterpret_cast<Ints>(words) >> 8;
  const Vec v = reinterpret_cast<Vec>((even & 0xffff) | (odd & ~0xffff));
  return kWeightLanes == 1 ? v : Vec{v[0], v[2], v[4], v[6], v[1], v[3], v[5], v[7]};
}

// Transforms three weights, w_step apart, by G to six.
inline void transform(const Vec* w, size_t w_step, Vec* u, size_t u_step) {
  const Vec a = w[0], b = w[w_step], c = w[2 * w_step];
  const Vec outer = a + c, far = a + 4 * c;
  u[0] = a;
  u[u_step] = -outer - b;
  u[2 * u_step] = b - outer;
  u[3 * u_step] = far + 2 * b;
  u[4 * u_step] = far - 2 * b;
  u[5 * u_step] = c;
}

// Transforms one weight block to all positions, which are u_step apart in `u`. In `packed` each tap
// of the block is tap_bytes behind the previous one, all taps of a term before those of the next.
template <size_t kWeightLanes>
void transform_block(const int8_t* packed, size_t tap_bytes, const WinogradShape& shape, Vec* u,
                     size_t u_step) {
  for (size_t i = 0; i < kVecs; ++i) {
    const int8_t* w = packed + i % (kVecs / 2) * sizeof(Vec);
    Vec tap[9] = {}, rows[3 * 6];
    for (size_t term = 0; term < shape.terms; ++term)
      for (size_t t = 0; t < shape.taps(); ++t, w += tap_bytes)
        tap[t] += load<kWeightLanes>(w, i / (kVecs / 2));
    if (shape.kernel_h == 1) {
      transform(tap, 1, u + i, u_step);
      continue;
    }
    for (size_t y = 0; y < 3; ++y) transform(tap + 3 * y, 1, rows + 6 * y, 1);
    for (size_t x = 0; x < 6; ++x) transform(rows + x, 6, u + x * u_step + i, 6 * u_step);
  }
}

template <size_t kWeightLanes>
void weights_for(const int8_t* packed, const WinogradShape& shape, int16_t* weights) {
  constexpr size_t kElements = kBlock * kGroup;
  const size_t kc = shape.kc(), tap_bytes = kc * kBlock, groups = kc / kGroup;
  const size_t position = blocks_of(shape) * kBlock * kc;  // elements of one
  Vec u[36][kRun][kVecs];
  for (size_t block = 0; block < blocks_of(shape);
       ++block, packed += shape.terms * shape.taps() * tap_bytes) {
    for (size_t group = 0; group < groups; group += kRun) {
      const size_t run = groups - group < kRun ? groups - group : kRun;
      for (size_t i = 0; i < run; ++i)
        transform_block<kWeightLanes>(packed + (group + i) * kElements, tap_bytes, shape, u[0][i],
                                      kRun * kVecs);
      for (size_t p = 0; p < shape.positions(); ++p)
        for (size_t i = 0; i < run; ++i)
          memcpy(weights + p * position + i * kElements, u[p][i], sizeof u[p][i]);
      weights += run * kElements;
    }
  }
}

}  // namespace

uint64_t winograd_weight_bytes(const WinogradShape& shape) {
  return uint64_t{shape.positions()} * blocks_of(shape) * kBlock * shape.kc() * sizeof(int16_t);
}

bool winograd_is_exact(const int8_t* packed, const WinogradShape& shape) {
  // kInt16: number of weight blocks whose sums fit in int16.
  constexpr size_t kBytes = kBlock * kGroup, kInt16 = 255;
  const size_t groups = shape.terms * shape.taps() * shape.kc() / kGroup;
  for (size_t block = 0; block < blocks_of(shape); ++block) {
    int32_t most[kBytes] = {}, least[kBytes] = {};
    for (size_t rest = groups; rest > 0;) {
      const size_t some = rest < kInt16 ? rest : kInt16;
      int16_t positive[kBytes] = {}, negative[kBytes] = {};
      for (size_t i = 0; i < some; ++i, packed += kBytes) {
        for (size_t j = 0; j < kBytes; ++j) {
          const int8_t w = packed[j];
          positive[j] = static_cast<int16_t>(positive[j] + (w > 0 ? w : 0));
          negative[j] = static_cast<int16_t>(negative[j] + (w < 0 ? w : 0));
        }
      }
      for (size_t j = 0; j < kBytes; ++j) most[j] += positive[j], least[j] -= negative[j];
      rest -= some;
    }
    for (size_t j = 0; j < kBytes; j += kGroup) {
      for (size_t k = 1; k < kGroup; ++k) most[j] += most[j + k], least[j] += least[j + k];
      if (most[j] > most_sum(shape) || least[j] > most_sum(shape)) return false;
    }
  }
  return true;
}

void winograd_weights(const int8_t* packed, const WinogradShape& shape, size_t lanes,
                      int16_t* weights) {
  if (lanes == 1)
    weights_for<1>(packed, shape, weights);
  else
    weights_for<4>(packed, shape, weights);
}

size_t winograd_block(const WinogradKernel& kernel, const WinogradShape& shape) {
  const size_t rows = kernel.tile_rows;
  const size_t tile = shape.positions() * winograd_channels(shape) * sizeof(int16_t);
  const size_t fit = kPixelBytes * rows / tile, most = rows * (shape.kernel_h == 3 ? 2 : 4);
  return fit < rows ? rows : fit > most ? most : fit;
}

size_t winograd_scratch_bytes(const WinogradKernel& kernel, const WinogradShape& shape) {
  const size_t tiles = winograd_block(kernel, shape);
  return shape.positions() * (winograd_pixel_stride(shape, tiles) + winograd_sum_stride(tiles)) +
         kWinogradTileBytes;
}

}  // namespace qrt

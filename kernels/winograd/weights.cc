// Weights of the gemm family to those of Winograd's convolution; sizes.
#include <string.h>

#include "kernels/winograd/scratch.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4;
constexpr size_t kPixelBytes = 50 << 10;  // of a block, for each row of a register tile

// Of the weights of one sign: 255 times it, or 128 times that of both, is within what is exact.
int32_t most_sum(const WinogradShape& shape) {
  return ((shape.kernel_h == 3 ? 1 << 25 : 1 << 28) - 1) / 256;
}

size_t blocks_of(const WinogradShape& shape) { return (shape.out_c + kBlock - 1) / kBlock; }

constexpr size_t kLanes = 2 * kBlock;  // two channels of input for 16 of output

// G times three rows of lanes, `step` apart, to six.
void transform(const int16_t* __restrict w, size_t step, int16_t* __restrict u, size_t u_step) {
  for (size_t j = 0; j < kLanes; ++j) {
    const int16_t a = w[j], b = w[step + j], c = w[2 * step + j];
    const auto outer = static_cast<int16_t>(a + c), far = static_cast<int16_t>(a + 4 * c);
    u[j] = a;
    u[u_step + j] = static_cast<int16_t>(-outer - b);
    u[2 * u_step + j] = static_cast<int16_t>(b - outer);
    u[3 * u_step + j] = static_cast<int16_t>(far + 2 * b);
    u[4 * u_step + j] = static_cast<int16_t>(far - 2 * b);
    u[5 * u_step + j] = c;
  }
}

template <size_t kWeightLanes>
void weights_for(const int8_t* packed, const WinogradShape& shape, int16_t* weights) {
  const size_t kc = shape.kc(), tap_bytes = kc * kBlock, taps = shape.taps();
  const size_t position = blocks_of(shape) * kBlock * kc;  // elements of one
  for (size_t block = 0; block < blocks_of(shape);
       ++block, packed += shape.terms * taps * tap_bytes) {
    for (size_t k = 0; k < kc; k += 2, weights += kLanes) {
      const int8_t* w = packed + k / kGroup * kGroup * kBlock + k % kGroup;
      int16_t tap[9][kLanes] = {}, rows[3][6][kLanes], u[36][kLanes];
      for (size_t t = 0; t < shape.terms * taps; ++t, w += tap_bytes) {
        int16_t* const sum = tap[t % taps];
        for (size_t j = 0; j < kLanes; ++j) {
          const size_t channel = j / (2 * kWeightLanes) * kWeightLanes + j % kWeightLanes;
          sum[j] = static_cast<int16_t>(sum[j] + w[channel * kGroup + j / kWeightLanes % 2]);
        }
      }
      for (size_t y = 0; y < shape.kernel_h; ++y) transform(tap[3 * y], kLanes, rows[y][0], kLanes);
      for (size_t x = 0; x < 6 && shape.kernel_h == 3; ++x)
        transform(rows[0][x], 6 * kLanes, u[x], 6 * kLanes);
      const int16_t(*const all)[kLanes] = shape.kernel_h == 3 ? u : rows[0];
      for (size_t p = 0; p < shape.positions(); ++p)
        memcpy(weights + p * position, all[p], sizeof all[p]);
    }
  }
}

}  // namespace

uint64_t winograd_weight_bytes(const WinogradShape& shape) {
  return uint64_t{shape.positions()} * blocks_of(shape) * kBlock * shape.kc() * sizeof(int16_t);
}

bool winograd_is_exact(const int8_t* packed, const WinogradShape& shape) {
  constexpr size_t kBytes = kBlock * kGroup;
  const size_t groups = shape.terms * shape.taps() * shape.kc() / kGroup;
  const int32_t most_of_one_sign = most_sum(shape);
  for (size_t block = 0; block < blocks_of(shape); ++block) {
    int32_t most[kBytes] = {}, least[kBytes] = {};
    for (size_t i = 0; i < groups; ++i, packed += kBytes) {
      for (size_t j = 0; j < kBytes; ++j) {
        const int32_t w = packed[j];
        most[j] += w > 0 ? w : 0;
        least[j] -= w < 0 ? w : 0;
      }
    }
    for (size_t j = 0; j < kBytes; j += kGroup) {
      for (size_t k = 1; k < kGroup; ++k) most[j] += most[j + k], least[j] += least[j + k];
      if (most[j] > most_of_one_sign || least[j] > most_of_one_sign) return false;
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

// SPDX-License-Identifier: Apache-2.0
// Contract of the nbits family: products with weights of 2, 4 or 8 bits in blocks, which have a scale and a zero
// point each. nbits_seq.h defines those in integers. Those in float sum every block by itself, from 0 on and in the order
// of k, sum = fma(x, fl(f(u - zero point) * scale), sum), and then the sums of the blocks in their order, from 0 on:
// errors grow with the roots of both lengths. Results are equal on every instruction set, byte for byte, however rows and
// panels are split.
// REQUIRES: rounding to nearest even, subnormals kept. Thread-safe.
//
// Weights stand in panels of 16 outputs, a panel in blocks, a block in lines of 64 bytes, which every set reads as
// lanes of 32 bits, one for each output:
//
//          output 0      output 1            output 15
//   bits   k0 k1 k2 k3   k0 k1 k2 k3   ...   k0 k1 k2 k3    8: a line holds 4 indices of k
//   bits   low nibbles: k0 .. k3, high nibbles: k4 .. k7    4: 8
//   bits   from the low end of a byte: k0, k4, k8, k12 ...  2: 16
#ifndef QRT_KERNELS_NBITS_NBITS_H_
#define QRT_KERNELS_NBITS_NBITS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

constexpr size_t kNBitsPanel = 16;  // outputs
constexpr size_t kNBitsLine = 64;   // bytes
constexpr size_t kNBitsLeastBlock = 16, kNBitsMostBlock = 256;

struct NBitsWeights {
  size_t bits, block, blocks;  // blocks: of an output
  size_t k, n;                 // k > (blocks - 1) * block
  const uint8_t* w;            // [panels, blocks, 2 * block * bits]
  const float* scales;         // [panels, blocks, 16]
  const uint8_t* zero_points;  // the same; null: 2^(bits - 1) everywhere
  const float* bias;           // [n], or null
};

// Returns weight u of output o at index k.
inline int32_t nbits_weight(const NBitsWeights& w, size_t o, size_t k) {
  const size_t each = 32 / w.bits, panel = o / kNBitsPanel, at = k % w.block;
  const uint8_t* line =
      w.w + (panel * w.blocks + k / w.block) * 2 * w.block * w.bits + at / each * kNBitsLine;
  const int32_t byte = line[4 * (o % kNBitsPanel) + at % 4];
  return byte >> (at % each / 4 * w.bits) & ((1 << w.bits) - 1);
}

inline int32_t nbits_zero_point(const NBitsWeights& w, size_t o, size_t block) {
  if (w.zero_points == nullptr) return 1 << (w.bits - 1);
  return w.zero_points[(o / kNBitsPanel * w.blocks + block) * kNBitsPanel + o % kNBitsPanel];
}

inline float nbits_scale(const NBitsWeights& w, size_t o, size_t block) {
  return w.scales[(o / kNBitsPanel * w.blocks + block) * kNBitsPanel + o % kNBitsPanel];
}

// Rows of activations that a kernel quantised for its own products: q [rows, blocks * block], 0 beyond k; scales and sums
// [rows, blocks]. A sum is that of the block's q, times -1, and where there are no zero points times what stands for them.
struct NBitsRows {
  const int8_t* q;
  const float* scales;
  const int32_t* sums;
};

struct NBitsKernel {
  const char *name, *float_name;
  Isa isa;
  // Quantises rows x [rows, k]. `q`, `scales` and `sums` as in NBitsRows; q is aligned to 4 bytes.
  void (*quantize)(const NBitsWeights& w, const float* x, size_t rows, int8_t* q, float* scales,
                   int32_t* sums);
  // Multiplies rows by one panel: y [rows, n], of which the panel's columns are written.
  void (*product)(const NBitsWeights& w, const NBitsRows& x, size_t rows, size_t panel, float* y);
  void (*float_product)(const NBitsWeights& w, const float* x, size_t rows, size_t panel, float* y);
};

const NBitsKernel* nbits_kernels(size_t* count);
const NBitsKernel* select_nbits(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_NBITS_NBITS_H_

// SPDX-License-Identifier: Apache-2.0
// Packs a computed right-hand side into the form of gemm.h, at run time. A byte b of zero point z
// stands for the weight b - z in -255..255, which int8 does not hold, so b - 128 is written. The
// difference, (128 - z) times the sum of a row of the left-hand side, is equal for all channels.
// Bytes behind each row, its tail, hold that sum in parts, and constant weights multiply them.
//
//   left side    a[0 .. k-1]      zeros to a multiple of 4      tail
//   right side   b[0 .. k-1]-128  zeros to a multiple of 4      +-1, +-127, +-127 ...
#ifndef QRT_KERNELS_GEMM_PACK_ACTIVATIONS_H_
#define QRT_KERNELS_GEMM_PACK_ACTIVATIONS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

// Returns the bytes of a row's tail, a multiple of 4: about k * |128 - z| / 127; none for zero
// point 128, whose left side is read where it stands.
size_t activation_tail_bytes(size_t k, int32_t zero_point);

// Returns by how much the sum of a channel's packed weights exceeds its sum of b - z, modulo 2^32.
uint32_t activation_excess(size_t k, int32_t zero_point);

// Arguments of a kernel, which packs channels [begin, end) of n: begin is a multiple of 16, end a
// multiple of 16 or n.
struct ActivationPack {
  const uint8_t* b;  // [k][n], or [n][k] with `transposed`
  size_t stride;     // bytes from one row of b to the next
  size_t k;
  bool transposed;
  int32_t zero_point;  // zero point of b
  int8_t* packed;      // gemm_packed_bytes(n, 1, k rounded up to 4 + activation_tail_bytes())
  // bias[j] = factor * (sum over k of b - zero_point) + addend, modulo 2^32, for channels j < n.
  // The array has n rounded up to 16 elements; those from n on are arbitrary.
  uint32_t factor, addend;
  int32_t* bias;
};
using PackActivationsFn = void (*)(const ActivationPack& pack, size_t begin, size_t end);

struct PackActivationsKernel {
  const char* name;  // "pack_activations_avx2"
  Isa isa;
  PackActivationsFn fn;
};

const PackActivationsKernel* pack_activations_kernels(size_t* count);
const PackActivationsKernel* select_pack_activations(IsaSet isas);

// Writes the constant weights that follow the k weights of `channels` channels of a block; `bytes`
// of activation_tail_bytes() for each channel. For kernel files.
void write_tail_weights(int32_t zero_point, size_t bytes, size_t channels, int8_t* to);

// Copies rows a[rows][k], `stride` bytes apart, to y and appends their tails for a right side of
// this zero point, which is not 128.
void append_activation_tails(const uint8_t* a, size_t stride, size_t rows, size_t k,
                             int32_t zero_point, uint8_t* y);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PACK_ACTIVATIONS_H_

// SPDX-License-Identifier: Apache-2.0
// Contract of the gemm family: fully connected layers, 1x1 and k x k convolutions (by indirection
// or by strides), one group at a time.
//
//   acc[i][j] = bias[j] + sum over taps t and k of a(i, t)[k] * w[t][k][j]
//   c[i][j]   = requantize(acc[i][j]) as uint8, or acc[i][j] as int32 (RequantKind::kAcc)
//               or as float32 (kFloat)
//
// uint8 times int8, sums in int32 modulo 2^32.
//
// Packed weights of one group, int8, written by pack.h and used in place by every instruction set:
//
//   [ceil(n/16)][taps][kc/4][16][4]     kc = k of one tap rounded up to 4; n and k tails are zero
//
//   one weight block of 64 bytes = 16 output channels x 4 consecutive k: the operand of VPDPBUSD
//   (512 bits), of two of 256 bits, of four SDOT/UDOT. The weights of 16 channels are contiguous:
//   taps * kc * 16 bytes.
//
// Reading: a row of a tap is read in whole groups of 4 k and may be over-read by up to 64 bytes
// (arena slack). Weights of n channels are read in whole blocks of 16, bias and requantisation
// arrays as kernels/requant.h says. Kernels take every m >= 1, n >= 1 (tails included), store
// exactly m x n outputs, which overlap nothing that is read, and are thread-safe. Bytes need no
// alignment; int32 and float32 that of their type.
#ifndef QRT_KERNELS_GEMM_GEMM_H_
#define QRT_KERNELS_GEMM_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"

namespace qrt {

struct GemmArgs {
  size_t m, n;      // rows, output channels of this call
  size_t taps, kc;  // kc: bytes of k of one tap, multiple of 4

  // Left side, one of two forms:
  //  strided     (indirection == nullptr): row i, tap t at a + i * a_stride + t * a_tap_stride
  //  indirection: row i, tap t at indirection[i * taps + t], plus a_offset unless that pointer
  //  equals `zero`
  const uint8_t* a;
  size_t a_stride, a_tap_stride;  // bytes
  const uint8_t* const* indirection;
  ptrdiff_t a_offset;   // bytes: image and channel-group offset
  const uint8_t* zero;  // kc + 64 bytes of the input zero point; nullptr: no pointer equals it

  const int8_t* weights;  // packed, from the first channel of this call (which is a multiple of 16)
  // From the call's first channel on; readable to the next multiple of 64 channels.
  const int32_t* bias;
  Requant requant;  // its arrays begin at the call's first channel
  void* c;          // uint8, or int32 with RequantKind::kAcc, float32 with kFloat
  size_t c_stride;  // bytes between output rows

  // Bytes that a later call will stream, or nullptr: a kernel that has time for it prefetches them
  // into the second-level cache.
  const int8_t* ahead;
  size_t ahead_bytes;
};

using GemmFn = void (*)(const GemmArgs& args);

struct GemmKernel {
  const char* name;  // "gemm_u8s8_6x64_k4_avx512vnni"
  Isa isa;
  uint16_t mr, nr;      // tile: threads split m anywhere and n in multiples of nr (nr a multiple
                        // of 16)
  bool signed_lhs;      // reads x - 128: the caller adds 128 * sum(w) to bias
  bool pair_safe_only;  // exact only for weights proved pair-safe (VPMADDUBSW)
  GemmFn fn;
};

struct GemmShape {
  size_t m, n, taps, kc;
  RequantKind requant;
  bool pair_safe;
};

// Returns all rows compiled in, best first, ending with the scalar one. *count receives their number.
const GemmKernel* gemm_kernels(size_t* count);

// Returns the kernel to use; never null.
const GemmKernel* select_gemm(IsaSet isas, const GemmShape& shape);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_GEMM_H_

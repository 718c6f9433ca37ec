// A computed right side into the packed form of gemm.h, at run time. A byte b of zero point z
// stands for the weight b - z in -255..255, which an int8 does not hold: it is written as b - 128
// and one or two constants that add up to 128 - z, each a tap of its own that sees the same input.
#ifndef QRT_KERNELS_GEMM_PACK_ACTIVATIONS_H_
#define QRT_KERNELS_GEMM_PACK_ACTIVATIONS_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// Taps that zero point z in 0..255 takes: 1 for 128, 3 for 0, else 2.
size_t activation_taps(int32_t zero_point);

// Channels [begin, end) of n, begin a multiple of 16, end a multiple of 16 or n.
struct ActivationPack {
  const uint8_t* b;  // [k][n], or [n][k] with `transposed`
  size_t k, n;
  bool transposed;
  int32_t zero_point;  // of b
  int8_t* packed;      // gemm_packed_bytes(n, activation_taps(zero_point), k)
  uint32_t* sum;  // n rounded up to 16: the sum over k of b - zero_point, modulo 2^32; 0 beyond n
};
void pack_activations(const ActivationPack& pack, size_t begin, size_t end);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PACK_ACTIVATIONS_H_

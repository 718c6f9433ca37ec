// SPDX-License-Identifier: Apache-2.0
// Contract of the lut family: y[i] = table[x[i]] over bytes. Exactly n bytes are stored; x may be
// over-read by up to 64 bytes; y may equal x. Thread-safe.
#ifndef QRT_KERNELS_LUT_LUT_H_
#define QRT_KERNELS_LUT_LUT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

struct LutKernel {
  const char* name;  // "lut_u8_avx512vbmi"
  Isa isa;
  void (*map)(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n);
  // y[i] = table[256 * a[i] + b[i]]; 64 bytes are readable behind the table's 65536.
  void (*map_pairs)(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y, size_t n);
};

const LutKernel* lut_kernels(size_t* count);
const LutKernel* select_lut(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LUT_H_

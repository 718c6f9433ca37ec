// SPDX-License-Identifier: Apache-2.0
// Tails of rows and of packed channels, and the table of kernels that pack; see pack_activations.h.
#include "kernels/gemm/pack_activations.h"

#include <string.h>

#include "kernels/gemm/pack_activations_entry.h"
#include "kernels/select.h"

namespace qrt {
namespace {

constexpr size_t kGroup = 4, kWeightBlock = 64;

constexpr uint32_t kTailWeight = 127;

uint32_t missing(int32_t zero_point) {
  return static_cast<uint32_t>(zero_point < 128 ? 128 - zero_point : zero_point - 128);
}

constexpr PackActivationsKernel kKernels[] = {
#define QRT_PACK_ACTIVATIONS(isa, suffix) \
  {"pack_activations_" #suffix, Isa::isa, pack_activations_##suffix},
#include "kernels/gemm/pack_activations.inc"
};

}  // namespace

const PackActivationsKernel* pack_activations_kernels(size_t* count) {
  return all_rows(kKernels, count);
}
const PackActivationsKernel* select_pack_activations(IsaSet isas) {
  return first_row(kKernels, isas);
}

size_t activation_tail_bytes(size_t k, int32_t zero_point) {
  if (zero_point == 128) return 0;
  const size_t greatest = missing(zero_point) * 255 * k / kTailWeight;
  return (1 + (greatest + 254) / 255 + kGroup - 1) / kGroup * kGroup;
}

uint32_t activation_excess(size_t k, int32_t zero_point) {
  if (zero_point == 128) return 0;
  const uint32_t sum =
      1 + kTailWeight * static_cast<uint32_t>(activation_tail_bytes(k, zero_point) - 1);
  const uint32_t rest = static_cast<uint32_t>(128 - zero_point) * static_cast<uint32_t>(k);
  return (zero_point < 128 ? sum : 0 - sum) - rest;
}

// Writes +-1 for the first byte of the tail and +-127 for the others.
void write_tail_weights(int32_t zero_point, size_t bytes, size_t channels, int8_t* to) {
  const int sign = zero_point < 128 ? 1 : -1;
  for (size_t i = 0; i < bytes; i += kGroup, to += kWeightBlock) {
    memset(to, 0, kWeightBlock);
    memset(to, sign * static_cast<int>(kTailWeight), channels * kGroup);
    if (i > 0) continue;
    for (size_t c = 0; c < channels; ++c) to[c * kGroup] = static_cast<int8_t>(sign);
  }
}

void append_activation_tails(const uint8_t* a, size_t stride, size_t rows, size_t k,
                             int32_t zero_point, uint8_t* y) {
  const size_t tail = activation_tail_bytes(k, zero_point), kc = (k + kGroup - 1) / kGroup * kGroup;
  const uint32_t factor = missing(zero_point);
  for (size_t row = 0; row < rows; ++row, a += stride, y += kc + tail) {
    uint32_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += a[i];
    memcpy(y, a, k);
    memset(y + k, 0, kc - k + tail);
    uint8_t* const t = y + kc;
    const uint32_t value = sum * factor, parts = value / kTailWeight;
    t[0] = static_cast<uint8_t>(value % kTailWeight);
    memset(t + 1, 255, parts / 255);
    if (parts % 255 != 0) t[1 + parts / 255] = static_cast<uint8_t>(parts % 255);
  }
}

}  // namespace qrt

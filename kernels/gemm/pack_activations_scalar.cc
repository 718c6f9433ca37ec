// SPDX-License-Identifier: Apache-2.0
// A computed right side into the packed form of gemm.h, byte by byte: the definition.
#include <string.h>

#include "kernels/gemm/pack_activations_entry.h"

namespace qrt {

void pack_activations_scalar(const ActivationPack& p, size_t begin, size_t end) {
  constexpr size_t kBlock = 16, kGroup = 4;
  const size_t tail = activation_tail_bytes(p.k, p.zero_point);
  const size_t kc = (p.k + kGroup - 1) / kGroup * kGroup;
  const size_t k_step = p.transposed ? 1 : p.stride, channel_step = p.transposed ? p.stride : 1;
  for (size_t j = begin; j < end; j += kBlock) {
    const size_t channels = end - j < kBlock ? end - j : kBlock;
    int8_t* const block = p.packed + j / kBlock * (kc + tail) * kBlock;
    memset(block, 0, kc * kBlock);
    for (size_t c = 0; c < kBlock; ++c) {
      uint32_t sum = 0;
      const uint8_t* b = p.b + (j + c) * channel_step;
      for (size_t i = 0; c < channels && i < p.k; ++i, b += k_step) {
        block[(i / kGroup * kBlock + c) * kGroup + i % kGroup] = static_cast<int8_t>(*b ^ 0x80);
        sum += static_cast<uint32_t>(*b - p.zero_point);
      }
      p.bias[j + c] = static_cast<int32_t>(p.factor * sum + p.addend);
    }
    write_tail_weights(p.zero_point, tail, channels, block + kc * kBlock);
  }
}

}  // namespace qrt

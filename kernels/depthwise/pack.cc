// SPDX-License-Identifier: Apache-2.0
// Packs weights into the form of depthwise.h.
#include "kernels/depthwise/pack.h"

#include <cstring>

namespace qrt {

uint64_t depthwise_packed_bytes(size_t channels, size_t kernel_h, size_t kernel_w) {
  return uint64_t{(channels + 15) / 16} * ((kernel_h + 3) / 4) * kernel_w * 64;
}

bool depthwise_tails_are_zero(const int8_t* packed, size_t channels, size_t kernel_h,
                              size_t kernel_w) {
  const size_t quads = (kernel_h + 3) / 4, last_bytes = kernel_w * 64;
  if (kernel_h % 4 == 0) return true;
  uint8_t is_tail[4] = {};
  for (size_t i = kernel_h % 4; i < 4; ++i) is_tail[i] = 0xff;
  uint32_t mask, found = 0;
  memcpy(&mask, is_tail, sizeof mask);
  for (size_t block = 0; block < (channels + 15) / 16; ++block) {
    const int8_t* last = packed + ((block + 1) * quads - 1) * last_bytes;
    for (size_t i = 0; i < last_bytes; i += 4) {
      uint32_t quad;
      memcpy(&quad, last + i, sizeof quad);
      found |= quad & mask;
    }
  }
  return found == 0;
}

namespace {

// Returns the index of a weight in the packed form.
size_t packed_index(size_t kernel_h, size_t kernel_w, size_t ky, size_t kx, size_t c) {
  const size_t quads = (kernel_h + 3) / 4, block = (c / 16 * quads + ky / 4) * kernel_w + kx;
  return block * 64 + c % 16 * 4 + ky % 4;
}

}  // namespace

void depthwise_pack(const int8_t* weights, size_t channels, size_t kernel_h, size_t kernel_w,
                    int8_t* packed) {
  memset(packed, 0, static_cast<size_t>(depthwise_packed_bytes(channels, kernel_h, kernel_w)));
  for (size_t ky = 0; ky < kernel_h; ++ky)
    for (size_t kx = 0; kx < kernel_w; ++kx)
      for (size_t c = 0; c < channels; ++c)
        packed[packed_index(kernel_h, kernel_w, ky, kx, c)] = *weights++;
}

void depthwise_unpack(const int8_t* packed, size_t channels, size_t kernel_h, size_t kernel_w,
                      int16_t* weights) {
  for (size_t ky = 0; ky < kernel_h; ++ky)
    for (size_t kx = 0; kx < kernel_w; ++kx)
      for (size_t c = 0; c < channels; ++c)
        *weights++ = packed[packed_index(kernel_h, kernel_w, ky, kx, c)];
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Peak loops of architectures without kernels of their own: none, and plain memory loops.
#include "bench/peak_loops.h"

namespace qrt::bench {

const VectorLoop* vector_loops(size_t* count) {
  *count = 0;
  return nullptr;
}

void read_bytes(const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t v;
    __builtin_memcpy(&v, from + i, 8);
    __asm__ volatile("" : : "r"(v));
  }
}

void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  __builtin_memcpy(to, from, bytes);
}

}  // namespace qrt::bench

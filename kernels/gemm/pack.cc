// SPDX-License-Identifier: Apache-2.0
// Packs weights into the form of gemm.h.
#include "kernels/gemm/pack.h"

#include <string.h>

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4;

size_t groups_of(size_t n, size_t size) { return (n + size - 1) / size; }

}  // namespace

uint64_t gemm_packed_bytes(size_t n, size_t taps, size_t k) {
  return uint64_t{groups_of(n, kBlock) * kBlock} * taps * groups_of(k, kGroup) * kGroup;
}

void gemm_pack(const int8_t* weights, size_t n, size_t taps, size_t k, int8_t* packed) {
  const size_t groups = groups_of(k, kGroup);
  memset(packed, 0, static_cast<size_t>(gemm_packed_bytes(n, taps, k)));
  for (size_t j = 0; j < n; ++j) {
    int8_t* block = packed + j / kBlock * kBlock * taps * groups * kGroup;
    for (size_t t = 0; t < taps; ++t) {
      const int8_t* row = weights + (j * taps + t) * k;
      int8_t* out = block + t * groups * kGroup * kBlock + j % kBlock * kGroup;
      for (size_t i = 0; i < k; ++i) out[i / kGroup * kGroup * kBlock + i % kGroup] = row[i];
    }
  }
}

bool gemm_tails_are_zero(const int8_t* packed, size_t n, size_t taps, size_t k) {
  const size_t groups = groups_of(k, kGroup), weight_block_bytes = kBlock * kGroup;
  if (k % kGroup == 0) return true;
  for (size_t row = 0; row < groups_of(n, kBlock) * taps; ++row) {
    const int8_t* last = packed + ((row + 1) * groups - 1) * weight_block_bytes;
    for (size_t i = 0; i < weight_block_bytes; ++i) {
      if (i % kGroup >= k % kGroup && last[i] != 0) return false;
    }
  }
  return true;
}

void gemm_weight_sums(const int8_t* packed, size_t n, size_t taps, size_t k, int32_t* sums) {
  // The four bytes of a channel, each plus 128, two by two in words of 32 bits, for as many weight
  // blocks as 16 bits hold the sums of.
  constexpr size_t kWeightBlocks = 128;
  constexpr uint32_t kSigns = 0x80808080, kEven = 0x00ff00ff;
  const size_t weight_blocks = taps * groups_of(k, kGroup);
  for (size_t first = 0; first < n; first += kBlock) {
    int64_t block[kBlock] = {};
    for (size_t rest = weight_blocks; rest > 0;) {
      const size_t some = rest < kWeightBlocks ? rest : kWeightBlocks;
      uint32_t pairs[kBlock] = {};
      for (size_t i = 0; i < some; ++i, packed += kBlock * kGroup) {
        uint32_t words[kBlock];
        memcpy(words, packed, sizeof words);
        for (size_t j = 0; j < kBlock; ++j) {
          const uint32_t bytes = words[j] ^ kSigns;
          pairs[j] += (bytes & kEven) + (bytes >> 8 & kEven);
        }
      }
      const auto offset = static_cast<int64_t>(some * kGroup * 128);
      for (size_t j = 0; j < kBlock; ++j)
        block[j] += (pairs[j] & 0xffff) + (pairs[j] >> 16) - offset;
      rest -= some;
    }
    for (size_t j = first; j < n && j < first + kBlock; ++j)
      sums[j] = static_cast<int32_t>(block[j - first]);
  }
}

bool gemm_pair_safe(const int8_t* weights, size_t n, size_t taps, size_t k) {
  // 255 * 128 = 32640 fits int16, 255 * 129 does not; the negative side has the same limit.
  constexpr int kLimit = 128;
  for (size_t row = 0; row < n * taps; ++row) {
    const int8_t* w = weights + row * k;
    for (size_t i = 0; i < k; i += 2) {
      const int first = w[i], second = i + 1 < k ? w[i + 1] : 0;
      const int highest = (first > 0 ? first : 0) + (second > 0 ? second : 0);
      const int lowest = (first < 0 ? first : 0) + (second < 0 ? second : 0);
      if (highest > kLimit || lowest < -kLimit) return false;
    }
  }
  return true;
}

}  // namespace qrt

// A computed right side into the packed form of gemm.h; see pack_activations.h.
#include "kernels/gemm/pack_activations.h"

#include <string.h>

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4, kWeightBlock = kBlock * kGroup;

// Up to 4 rows of k by up to 16 channels: one weight block. Absent rows and channels become 0.
void pack_rows(const uint8_t* b, size_t stride, size_t rows, size_t channels, uint32_t* sum,
               int8_t* weight_block) {
  uint8_t rows_of[kGroup][kBlock];
  uint8_t flip[kGroup][kBlock] = {};
  memset(rows_of, 0, sizeof rows_of);
  for (size_t r = 0; r < rows; ++r) {
    memcpy(rows_of[r], b + r * stride, channels);
    memset(flip[r], 128, channels);
  }
  uint32_t words[kBlock];
  for (size_t c = 0; c < kBlock; ++c) {
    const uint32_t v0 = rows_of[0][c], v1 = rows_of[1][c], v2 = rows_of[2][c], v3 = rows_of[3][c];
    sum[c] += v0 + v1 + v2 + v3;
    words[c] = (v0 ^ flip[0][c]) | (v1 ^ flip[1][c]) << 8 | (v2 ^ flip[2][c]) << 16 |
               (v3 ^ flip[3][c]) << 24;
  }
  memcpy(weight_block, words, kWeightBlock);
}

// The same without tails: 4 rows of 16 channels.
void pack_whole(const uint8_t* b, size_t stride, uint32_t* sum, int8_t* weight_block) {
  uint32_t words[kBlock];
  for (size_t c = 0; c < kBlock; ++c) {
    const uint32_t v0 = b[c], v1 = b[stride + c], v2 = b[2 * stride + c], v3 = b[3 * stride + c];
    sum[c] += v0 + v1 + v2 + v3;
    words[c] = (v0 | v1 << 8 | v2 << 16 | v3 << 24) ^ 0x80808080u;
  }
  memcpy(weight_block, words, kWeightBlock);
}

// One channel, its k contiguous.
void pack_channel(const uint8_t* b, size_t k, uint32_t* sum, int8_t* first) {
  uint32_t total = 0;
  for (size_t i = 0; i < k; ++i) total += b[i];
  *sum = total;
  size_t i = 0;
  for (; i + kGroup <= k; i += kGroup, first += kWeightBlock) {
    uint32_t word;
    memcpy(&word, b + i, kGroup);
    word ^= 0x80808080u;
    memcpy(first, &word, kGroup);
  }
  for (size_t r = 0; i + r < k; ++r)
    first[r] = static_cast<int8_t>(static_cast<uint8_t>(b[i + r] ^ 128));
}

// A tap whose weights are all `value`, but for the tails.
void fill_tap(int value, size_t k, size_t channels, int8_t* tap) {
  for (size_t i = 0; i < k; i += kGroup, tap += kWeightBlock) {
    const size_t rows = k - i < kGroup ? k - i : kGroup;
    memset(tap, 0, kWeightBlock);
    for (size_t c = 0; c < channels; ++c) memset(tap + c * kGroup, value, rows);
  }
}

}  // namespace

size_t activation_taps(int32_t zero_point) {
  return zero_point == 128 ? 1 : zero_point == 0 ? 3 : 2;
}

void pack_activations(const ActivationPack& p, size_t begin, size_t end) {
  const size_t tap_bytes = (p.k + kGroup - 1) / kGroup * kWeightBlock;
  const size_t taps = activation_taps(p.zero_point);
  const int rest = 128 - p.zero_point;
  for (size_t j = begin; j < end; j += kBlock) {
    const size_t channels = end - j < kBlock ? end - j : kBlock;
    int8_t* tap = p.packed + j / kBlock * taps * tap_bytes;
    uint32_t* sum = p.sum + j;
    memset(sum, 0, kBlock * sizeof *sum);
    if (p.transposed) {
      if (channels < kBlock || p.k % kGroup != 0) memset(tap, 0, tap_bytes);
      for (size_t c = 0; c < channels; ++c)
        pack_channel(p.b + (j + c) * p.k, p.k, sum + c, tap + c * kGroup);
    } else {
      int8_t* weight_block = tap;
      for (size_t i = 0; i < p.k; i += kGroup, weight_block += kWeightBlock) {
        const uint8_t* rows = p.b + i * p.n + j;
        if (channels == kBlock && p.k - i >= kGroup)
          pack_whole(rows, p.n, sum, weight_block);
        else
          pack_rows(rows, p.n, p.k - i < kGroup ? p.k - i : kGroup, channels, sum, weight_block);
      }
    }
    for (size_t c = 0; c < channels; ++c)
      sum[c] -= static_cast<uint32_t>(p.k) * static_cast<uint32_t>(p.zero_point);
    if (taps > 1) fill_tap(rest > 127 ? 127 : rest, p.k, channels, tap + tap_bytes);
    if (taps > 2) fill_tap(rest - 127, p.k, channels, tap + 2 * tap_bytes);
  }
}

}  // namespace qrt

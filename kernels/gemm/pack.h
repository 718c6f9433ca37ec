// SPDX-License-Identifier: Apache-2.0
// Packs weights into the form of gemm.h. Portable; called by the converter and by tests.
#ifndef QRT_KERNELS_GEMM_PACK_H_
#define QRT_KERNELS_GEMM_PACK_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// Channels of one packed block, used or not.
constexpr size_t kPackedChannels = 16;

// Bytes of one group.
uint64_t gemm_packed_bytes(size_t n, size_t taps, size_t k);

// Packs weights [n][taps][k], row-major, into gemm_packed_bytes() bytes.
void gemm_pack(const int8_t* weights, size_t n, size_t taps, size_t k, int8_t* packed);

// Returns false if a packed byte that stands for no k is not zero: kernels multiply it with the
// bytes behind a row. packed: one group.
bool gemm_tails_are_zero(const int8_t* packed, size_t n, size_t taps, size_t k);

// Sums the weights of each channel j < n to sums[j]. packed: one group whose tails are zero, with
// up to 2^24 weights to a channel.
void gemm_weight_sums(const int8_t* packed, size_t n, size_t taps, size_t k, int32_t* sums);

// Returns whether for no channel a sum of two adjacent products 255 * w[2i], 255 * w[2i+1] (k order
// within a group of 4, either term zero or at its extreme) leaves int16: VPMADDUBSW cannot
// saturate.
bool gemm_pair_safe(const int8_t* weights, size_t n, size_t taps, size_t k);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PACK_H_

// SPDX-License-Identifier: Apache-2.0
// Weights that a file holds in 4 or 2 bits (schema/qrt_model.fbs, Packing), as the int8 that
// kernels read: made once, when the model is loaded, and shared by all its sessions.
//
// Why not in the kernels: a tile kernel that spreads the codes with AVX-512 as it goes (extend,
// shift, mask, one byte shuffle for 64 weights) was measured against the one that reads int8, on a
// Xeon with 2 MiB of second-level cache, microseconds for m rows by weights [n, k]:
//
//   n x k           m = 1 int8, int4    m = 6          m = 48
//   1024 x 1024       8.1   14.9        17.1   28.8     134.5   228.4
//   4096 x 1024     106.9   61.0       141.3  116.0     606.7   915.1
//   4096 x 4096     570.4  282.3       577.1  463.9    2501.4  3741.4
//
// Convolutions and batches, which use a weight many times, would take 1.5 to 1.7 times as long;
// only a few rows by more weights than the cache holds gain, up to twice. So the file and its pages
// shrink to a half or a quarter, and a session's speed stays that of int8.
#ifndef QRT_RUNTIME_PACKED_BITS_H_
#define QRT_RUNTIME_PACKED_BITS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/status.h"

namespace qrt {

// Elements of a weight block: 16 channels, 4 weights of each. Packed weights are whole blocks.
constexpr size_t kWeightBlock = 64;

// Returns whether a tensor is a constant in GEMM or DEPTHWISE packing of less than 8 bits per weight.
bool is_packed_bits(const fb::Tensor& tensor);

// Checks such a constant for check_tensor() of verify.cc: whole weight blocks, offsets for every 16
// channels, sums within int8. REQUIRES: `bytes` is its buffer's size.
Status check_packed_bits(const fb::Tensor& tensor, size_t bytes);

// Immutable once made.
class UnpackedWeights {
 public:
  struct View {
    const uint8_t* data = nullptr;  // aligned, with slack; null: not packed
    size_t bytes = 0;
  };

  // Unpacks every such constant of the model; those of the same buffer, type and offsets once.
  // kOutOfMemory, also beyond max_memory; kInvalidModel where they would take more than kMaxUnpacking
  // times file_bytes, as only crafted files do. REQUIRES: the model's tensors were checked.
  Status make(const fb::Model& model, size_t file_bytes, size_t max_memory = SIZE_MAX);

  View of(uint32_t tensor) const { return tensor < views_.size() ? views_[tensor] : View(); }
  size_t bytes() const { return bytes_; }  // size of all unpacked weights

 private:
  struct Release {
    void operator()(uint8_t* memory) const;
  };

  std::vector<View> views_;  // indexed by tensor; empty: none are packed
  std::vector<std::unique_ptr<uint8_t, Release>> memory_;
  size_t bytes_ = 0;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_PACKED_BITS_H_

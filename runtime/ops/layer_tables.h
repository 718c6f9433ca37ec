// SPDX-License-Identifier: Apache-2.0
// Makes the requantisation and the biases of a layer in the form that its kernels read. No shape changes
// them, so the plans of a model share them.
#ifndef QRT_RUNTIME_OPS_LAYER_TABLES_H_
#define QRT_RUNTIME_OPS_LAYER_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/op.h"
#include "runtime/requant_params.h"

namespace qrt {

// A layer as the file describes it.
struct LayerSource {
  const fb::Requant* requant;  // null: kind ACC
  const uint8_t* bias;         // int32 of every channel; null: zeros
  const flatbuffers::Vector<int32_t>* weight_sum;
  size_t channels, group;  // number of channels of all groups, and of each
  size_t terms;            // products of a sum
  const uint8_t* file_end = nullptr;
};

struct LayerRequant {
  RequantParams params;
  // The bias with the zero point in it; empty where that is not moved.
  PlanVector<int32_t> moved_bias;
};

// Returns the requantisation in its fastest form, for `channels` of it in groups of `group`.
// `knows_bias`: false where only a run knows the biases. `fits`: whether to look for affine fits.
std::shared_ptr<const LayerRequant> layer_requant(const LayerSource& source, bool knows_bias,
                                                  size_t channels, size_t group, IsaSet isas,
                                                  bool fits, SharedTables* shared);

// Returns bias[c] + 128 * weight_sum[c] (modulo 2^32) where the kernel reads x - 128, else bias[c]. Each
// group starts at a multiple of channel_stride(group). Readable up to 64 channels beyond the last.
std::shared_ptr<const PlanVector<int32_t>> layer_bias(const LayerSource& source,
                                                      const LayerRequant& requant, bool signed_lhs,
                                                      SharedTables* shared);

// Makes a row of `bytes` bytes of the zero point and takes them from the plan's budget. Fails with
// kOutOfMemory.
Status make_padding(const PrepareContext& context, uint8_t zero_point, size_t bytes,
                    std::shared_ptr<const TableBytes>* row);

// Counts what a shared table takes beside its own bytes: its key, and its entry among the others.
constexpr uint64_t kSharedTableBytes = 256;

// Returns the bytes of layer_bias() and of a moved bias.
uint64_t layer_bias_bytes(const fb::Requant* requant, size_t groups, size_t group);

// Channels between the groups in bias and requantisation arrays.
constexpr size_t channel_stride(size_t group) { return (group + 15) / 16 * 16; }

// Spreads the per-channel arrays of make_requant() the same way; those of one group are as they should be.
void repeat_requant_for_groups(size_t channels, size_t group, RequantParams* params);

// Reads a constant bias of int32, and brings one into the form of layer_bias().
PlanVector<int32_t> read_bias(const uint8_t* bias, size_t channels);
PlanVector<int32_t> fold_bias(PlanVector<int32_t> bias,
                              const flatbuffers::Vector<int32_t>* weight_sum, size_t group,
                              bool signed_lhs);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_LAYER_TABLES_H_

// SPDX-License-Identifier: Apache-2.0
// fb::Requant -> kernels' Requant: checks at load, per-channel arrays at plan time.
#ifndef QRT_RUNTIME_REQUANT_PARAMS_H_
#define QRT_RUNTIME_REQUANT_PARAMS_H_

#include <memory>

#include "kernels/requant.h"
#include "qrt_model_generated.h"
#include "runtime/plan_memory.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// Checks that every field is in range for `channels` output channels. `allow_acc` accepts kind ACC.
// `output`: UINT8; or INT16 or INT32, for kind INT only.
Status check_requant(const fb::Requant* requant, size_t channels, bool allow_acc,
                     DType output = DType::kUInt8);

// Checks at most kMaxStages stages, each field in range, for `channels` output channels; `what`
// names the field in messages. Missing: none.
using StageVector = flatbuffers::Vector<flatbuffers::Offset<fb::RequantStage>>;
Status check_stages(const char* what, const StageVector* stages, size_t channels);

// Checks one or two stages with one multiplier for the tensor.
Status check_tensor_stages(const char* what, const StageVector* stages);
// Checks one or two stages, per tensor, that must map 0 to 0: a softmax's greatest difference is 0,
// and must become the table's greatest entry.
Status check_stages_keep_zero(const char* what, const StageVector* stages);
// Checks a requantisation of kind INT with one multiplier for the tensor.
Status check_int_requant(const fb::Requant* requant, DType output = DType::kUInt8);

// Integer stages per tensor. Immovable: the stages point to the members before them.
struct StageParams {
  // REQUIRES: check_stages(stages, 1) succeeded.
  explicit StageParams(const StageVector* stages);
  StageParams(const StageParams&) = delete;

  // Returns a bound of the results for inputs of |v| <= bound <= 2^31.
  int64_t bound(int64_t bound) const;

  int32_t multiplier[kMaxStages] = {};
  uint8_t shift[kMaxStages] = {};
  int32_t count = 0;
  RequantStage stages[kMaxStages] = {};
};

// A Requant of the kernels and the arrays it points to, except arrays in the model file. Movable,
// not copyable (the Requant points into the vectors).
struct RequantParams {
  RequantParams() = default;
  RequantParams(RequantParams&&) = default;
  RequantParams& operator=(RequantParams&&) = default;

  Requant requant{};
  PlanVector<float> scale;
  PlanVector<int32_t> multiplier[kMaxStages];
  PlanVector<uint8_t> shift[kMaxStages];
  PlanVector<float> slope, intercept;
};

// Returns whether every array has one value for all channels, so that the values of any channel
// stand for all. REQUIRES: a kind other than ACC.
bool is_per_tensor(const fb::Requant& requant);

// Kernels read whole registers of up to 64 channels from any multiple of 16 on, and go by all values of 16
// channels, be they real or not: arrays with a value per channel have so many.
constexpr size_t kRequantRegister = 16;
constexpr size_t padded_channels(size_t channels) {
  return (channels + kRequantRegister - 1) / kRequantRegister * kRequantRegister + 64 -
         kRequantRegister;
}

// Returns the bytes of the arrays below, with those of the forms that are found from them.
uint64_t requant_bytes(const fb::Requant& requant, size_t channels);

// REQUIRES: check_requant() succeeded. With `file_end`, the end of the readable bytes that the table
// stands in, arrays with a value per channel are used where they stand, if whole registers of
// channels can be read there: what is behind the last channel is then whatever the file has.
RequantParams make_requant(const fb::Requant& requant, size_t channels,
                           const uint8_t* file_end = nullptr);

}  // namespace qrt

#endif  // QRT_RUNTIME_REQUANT_PARAMS_H_

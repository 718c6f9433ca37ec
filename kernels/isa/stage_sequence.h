// SPDX-License-Identifier: Apache-2.0
// Integer stages of one channel on runs of int32: tiles of isa/requantize_tile.h with the same
// constants in every column. For kernel files only; everything here is in the namespace of their instruction set.
#ifndef QRT_KERNELS_ISA_STAGE_SEQUENCE_H_
#define QRT_KERNELS_ISA_STAGE_SEQUENCE_H_

#include "kernels/isa/requantize_tile.h"
#include "kernels/stage_bound.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {

constexpr size_t kColumns = 16;
constexpr size_t kChunk = 64 * kColumns;  // elements; two buffers of int32 stay in L1

// Stages of one channel as stages of kColumns equal ones, and their forms.
class StageSequence {
 public:
  // Takes inputs |v| <= *bound, and sets *bound to that of the results.
  __attribute__((noinline)) StageSequence(const RequantStage* stages, int32_t count, int64_t* bound)
      : count_(count) {
    for (int i = 0; i < count; ++i) {
      for (size_t c = 0; c < kColumns; ++c) {
        multiplier_[i][c] = *stages[i].multiplier;
        shift_[i][c] = *stages[i].shift;
      }
      stages_[i] = stages[i];
      stages_[i].multiplier = multiplier_[i];
      stages_[i].shift = shift_[i];
      form_[i] = form_of(stages_[i], 0, 1, *bound);
      *bound = bound_of_clipped_stage(stages_[i], *bound);
    }
  }
  StageSequence(const StageSequence&) = delete;

  // Applies the stages in place to n values, n a multiple of kColumns.
  template <class V>
  void run(int32_t* v, size_t n) const {
    for (int i = 0; i < count_; ++i)
      stage_pass<V>(stages_[i], form_[i], 0, v, n / kColumns, kColumns);
  }

 private:
  int32_t count_;
  RequantStage stages_[kMaxStages];
  StageForm form_[kMaxStages];
  int32_t multiplier_[kMaxStages][kColumns];
  uint8_t shift_[kMaxStages][kColumns];
};

}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_STAGE_SEQUENCE_H_

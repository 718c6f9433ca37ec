// SPDX-License-Identifier: Apache-2.0
// A bound of what stages make, for kernels that go on in 32 bits and for checks that these may.
#ifndef QRT_KERNELS_STAGE_BOUND_H_
#define QRT_KERNELS_STAGE_BOUND_H_

#include "kernels/requant.h"

namespace qrt {

// Returns the bound as bound_of_stage(), for a stage whose limits need not lie around 0: such a clip
// moves results away from 0, to its nearer limit at least.
static inline int64_t bound_of_clipped_stage(const RequantStage& s, int64_t bound) {
  const int64_t nearest = s.clip_lo > 0   ? int64_t{s.clip_lo}
                          : s.clip_hi < 0 ? -int64_t{s.clip_hi}
                                          : 0;
  const int64_t result = bound_of_stage(s, bound);
  return result > nearest ? result : nearest;
}

}  // namespace qrt

#endif  // QRT_KERNELS_STAGE_BOUND_H_

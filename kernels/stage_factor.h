// SPDX-License-Identifier: Apache-2.0
// Properties of integer stages, for code that looks for a form of them in float.
#ifndef QRT_KERNELS_STAGE_FACTOR_H_
#define QRT_KERNELS_STAGE_FACTOR_H_

#include <cmath>

#include "kernels/requant.h"

namespace qrt {

// Returns the product of the factors of channel 0.
static inline double factor_of_stages(const RequantStage* stages, int32_t count) {
  double f = 1;
  for (int32_t i = 0; i < count; ++i)
    f *= std::ldexp(static_cast<double>(stages[i].multiplier[0]), -stages[i].shift[0]);
  return f;
}

// Returns how far the roundings before the last one take a value from the real one, in units of the
// output. 1: no bound is known, because the last one is not to the nearest or something is clipped.
static inline double error_of_stages(const Requant& r) {
  double error = 0;
  for (int32_t i = 0; i < r.stage_count; ++i) {
    const RequantStage& s = r.stages[i];
    const bool is_last = i + 1 == r.stage_count;
    if (s.clip_lo != INT32_MIN || s.clip_hi != INT32_MAX) return 1;
    if (is_last && s.round == Round::kFloor) return 1;
    error = error * factor_of_stages(&s, 1) + (is_last ? 0 : 1);
  }
  return error;
}

}  // namespace qrt

#endif  // QRT_KERNELS_STAGE_FACTOR_H_

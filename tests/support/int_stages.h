// SPDX-License-Identifier: Apache-2.0
// Integer requantisations as tests write them out: the definition, in more bits than any kernel
// has, and random ones to compare kernels with.
#ifndef QRT_TESTS_SUPPORT_INT_STAGES_H_
#define QRT_TESTS_SUPPORT_INT_STAGES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/requant.h"
#include "tests/support/random.h"

namespace qrt::testing {

// v / 2^shift as an integer.
inline int64_t rounded(__int128 v, int shift, Round round) {
  if (shift == 0) return static_cast<int64_t>(v);
  const __int128 one = 1, floor = v >> shift, rest = v - floor * (one << shift);
  const __int128 twice = rest * 2, unit = one << shift;
  switch (round) {
    case Round::kFloor: return static_cast<int64_t>(floor);
    case Round::kHalfUp: return static_cast<int64_t>(floor + (twice >= unit));
    case Round::kHalfAway:
      return static_cast<int64_t>(floor + (twice > unit || (twice == unit && v >= 0)));
    case Round::kHalfEven: break;
  }
  return static_cast<int64_t>(floor + (twice > unit || (twice == unit && (floor & 1) != 0)));
}

struct IntStages {
  std::vector<int32_t> multiplier[kMaxStages];
  std::vector<uint8_t> shift[kMaxStages];
  Requant requant{};

  int32_t apply(int64_t acc, size_t c) const {
    int64_t v = acc;
    for (int i = 0; i < requant.stage_count; ++i) {
      const RequantStage& s = requant.stages[i];
      const __int128 product = static_cast<__int128>(v) * s.multiplier[c];
      v = rounded(product, s.shift[c], s.round);
      v = std::clamp<int64_t>(v, s.clip_lo, s.clip_hi);
    }
    return static_cast<int32_t>(
        std::clamp<int64_t>(v + requant.zero_point, requant.lo, requant.hi));
  }
};

// Multipliers of 16 bits for accumulators of 64, of 31 for those of 32.
inline void make_stages(Random& random, size_t channels, bool is_narrow, int count, Round round,
                        IntStages* s) {
  s->requant.kind = RequantKind::kInt;
  s->requant.stage_count = count;
  s->requant.zero_point = static_cast<int32_t>(random.integer(-300, 300));
  s->requant.lo = random.coin() ? INT16_MIN : -20000;
  s->requant.hi = random.coin() ? INT16_MAX : 12345;
  for (int i = 0; i < count; ++i) {
    for (size_t c = 0; c < channels + 64; ++c) {
      const bool first = i == 0;
      s->multiplier[i].push_back(
          first ? static_cast<int32_t>(random.integer(0, is_narrow ? INT32_MAX : 32767)) : 1);
      s->shift[i].push_back(
          static_cast<uint8_t>(first ? is_narrow ? random.integer(30, 50) : random.integer(15, 46)
                                     : random.integer(0, 12)));
    }
    s->requant.stages[i] = {s->multiplier[i].data(), s->shift[i].data(),
                            i == 0 ? round : Round::kHalfAway, INT32_MIN, INT32_MAX};
  }
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_INT_STAGES_H_

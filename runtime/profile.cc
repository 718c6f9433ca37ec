// SPDX-License-Identifier: Apache-2.0
#include "runtime/profile.h"

#include <time.h>

#include <algorithm>

namespace qrt {

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

void Profile::reset() {
  std::fill(total_ns_.begin(), total_ns_.end(), uint64_t{0});
  runs_ = 0;
}

}  // namespace qrt

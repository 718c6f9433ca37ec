// SPDX-License-Identifier: Apache-2.0
// The loops behind peak.h that are written per architecture: peak_x86.cc, peak_arm.cc,
// peak_generic.cc, of which a build has one.
#ifndef QRT_BENCH_PEAK_LOOPS_H_
#define QRT_BENCH_PEAK_LOOPS_H_

#include "bench/peak.h"

namespace qrt::bench {

// A loop of this architecture; kernels/isa.inc names those of each set.
struct VectorLoop {
  const char* name;  // "vpdpbusd_512"
  bool pairs;        // exact only for weights proved pair-safe
  uint64_t macs;     // of one step
  void (*run)(uint64_t steps);
};
const VectorLoop* vector_loops(size_t* count);

// Read and copy by the widest vectors of this CPU. bytes: a multiple of 512. read() loads
// everything once, copy() copies in ascending order; both from and to 64-aligned addresses.
void read_bytes(const uint8_t* from, size_t bytes);
void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes);

}  // namespace qrt::bench

#endif  // QRT_BENCH_PEAK_LOOPS_H_

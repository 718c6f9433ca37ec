// SPDX-License-Identifier: Apache-2.0
// The greatest speed of one core: multiply-accumulates per second of each instruction set, and the
// bandwidth of caches and memory. Kernels are judged against these, measured in the same process on
// the same core, because nominal clock rates say little about a shared or throttled machine.
//
// The compute loops run from registers only, so no kernel can beat them except with fewer
// multiplications; the bandwidth loops load and store whole vectors in order.
#ifndef QRT_BENCH_PEAK_H_
#define QRT_BENCH_PEAK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/isa.h"

namespace qrt::bench {

// A loop of independent multiply-accumulates, the mix of instructions that a kernel of `isa` is
// built on.
struct PeakLoop {
  const char* name;  // "vpdpbusd_512"
  Isa isa;
  bool pairs;     // exact only for weights proved pair-safe
  uint64_t macs;  // of one step
  void (*run)(uint64_t steps);
};

// Loops of this build, best set first; the last is the scalar one.
const PeakLoop* peak_loops(size_t* count);

// Returns the loop that bounds a kernel of `isa` ("pairs": one that needs pair-safe weights). Never
// null: sets without multiplications of their own take the next smaller set's.
const PeakLoop& peak_loop(Isa isa, bool pairs);

// Returns the loop for a kernel's name, which ends in its set: "gemm_u8s8_6x16_k4_adjacent_avx2".
// `fallback` serves names without one.
const PeakLoop& peak_loop_of_kernel(const std::string& kernel, Isa fallback);

// Returns GMAC/s of one short sample (some 100 us). Take several: other processes may interrupt one.
double sample_gmacs(const PeakLoop& loop);

// Returns the median of `samples` of them.
double measure_gmacs(const PeakLoop& loop, int samples);

// One level of the memory hierarchy, as one core sees it.
struct MemoryLevel {
  const char* name;  // "L1", "L2", "L3", "memory"
  size_t capacity;   // bytes; of memory: SIZE_MAX
  size_t measured;   // bytes of the area that was read
  double read_gbs;   // 1e9 bytes per second
  double copy_gbs;   // bytes read plus bytes written
};

// Measures the memory of the core that the calling thread is on: caches as /sys tells them,
// ascending, then memory. Takes about a second.
std::vector<MemoryLevel> measure_memory();

// Returns the first level that holds `bytes`. REQUIRES: levels as of measure_memory().
const MemoryLevel& level_of(const std::vector<MemoryLevel>& levels, uint64_t bytes);

// Returns GB/s (read plus written) of one copy of `bytes` / 2 within an area of `bytes`, which is
// made warm before. `area`: 64-aligned.
double sample_copy_gbs(uint8_t* area, size_t bytes);

// Nanoseconds that the calling thread has been running: other programs on its core do not count.
// Reading it costs some 0.3 us.
double thread_ns();

double median(std::vector<double> values);

}  // namespace qrt::bench

#endif  // QRT_BENCH_PEAK_H_

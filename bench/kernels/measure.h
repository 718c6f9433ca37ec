// SPDX-License-Identifier: Apache-2.0
// Measures kernels: short samples of the thread's own running time, in turns with samples of the
// core's peak, medians of both. Programs that take the core away do not count; a neighbour that
// slows it down slows both.
#ifndef QRT_BENCH_KERNELS_MEASURE_H_
#define QRT_BENCH_KERNELS_MEASURE_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bench/peak.h"

namespace qrt::bench {

// The work of one call of a kernel.
struct Work {
  double macs = 0;                 // 0: a kernel that moves bytes
  double bytes = 0;                // read and written
  const PeakLoop* peak = nullptr;  // with macs: the loop that bounds it
};

// Bytes on a 64-byte boundary; zeros but for what the caller writes.
class Buffer {
 public:
  explicit Buffer(size_t bytes)
      : data_(static_cast<uint8_t*>(aligned_alloc(64, (bytes + 63) / 64 * 64))) {
    std::fill_n(data_, bytes, uint8_t{0});
  }
  ~Buffer() { free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_;
};

// Fills a buffer with the same values at every run, in no order.
inline void fill(uint8_t* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
}

// Runs the whole benchmark. Time is the median time of a call; counters GMAC/s (where there are macs), GB/s and
// peak_% (medians). peak_% is the share of work.peak, and for kernels without macs the bytes per second over
// those of a plain copy within as much memory. REQUIRES: registered with Iterations(1) and UseManualTime().
template <class Run>
void measure(benchmark::State& state, const Work& work, const Run& run) {
  constexpr double kSampleNs = 100e3, kTotalNs = 300e6;
  constexpr size_t kSamples = 101, kLeast = 5;
  const auto ns_of = [&](size_t calls) {
    const double start = thread_ns();
    for (size_t i = 0; i < calls; ++i) run();
    return thread_ns() - start;
  };
  const size_t bytes = static_cast<size_t>(work.bytes);
  const Buffer area(work.macs == 0 ? bytes + 4096 : 64);
  for (auto _ : state) {
    run();
    size_t calls = 1;
    while (ns_of(calls) < kSampleNs && calls < (size_t{1} << 30)) calls *= 2;
    std::vector<double> times, shares;
    const double start = thread_ns();
    const auto is_done = [&] {
      return times.size() >= kSamples || (times.size() >= kLeast && thread_ns() - start > kTotalNs);
    };
    while (!is_done()) {
      const double peak = work.peak != nullptr ? sample_gmacs(*work.peak)
                          : work.macs == 0     ? sample_copy_gbs(area.data(), bytes)
                                               : 0;
      if (work.macs == 0) run();  // the copy took the caches
      const double ns = ns_of(calls) / static_cast<double>(calls);
      times.push_back(ns);
      if (peak > 0) shares.push_back((work.macs > 0 ? work.macs : work.bytes) / ns / peak);
    }
    const double ns = median(times);
    state.SetIterationTime(ns * 1e-9);
    if (work.macs > 0) state.counters["GMAC/s"] = work.macs / ns;
    if (work.bytes > 0) state.counters["GB/s"] = work.bytes / ns;
    if (!shares.empty()) state.counters["peak_%"] = 100 * median(shares);
  }
}

// Registers measure()-based benchmarks the way they need it.
template <class... Args>
benchmark::internal::Benchmark* register_measured(const std::string& name, Args&&... args) {
  return benchmark::RegisterBenchmark(name.c_str(), std::forward<Args>(args)...)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

// Registers a row for a kernel that this CPU cannot run, so that it is seen to be missing.
inline void register_skipped(const std::string& kernel) {
  benchmark::RegisterBenchmark((kernel + "/skipped").c_str(), [](benchmark::State& state) {
    state.SkipWithError("this CPU lacks the instruction set");
  });
}

}  // namespace qrt::bench

#endif  // QRT_BENCH_KERNELS_MEASURE_H_

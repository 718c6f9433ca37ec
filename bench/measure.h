// The measurements that qrt_bench makes.
#ifndef QRT_BENCH_MEASURE_H_
#define QRT_BENCH_MEASURE_H_

#include <chrono>

#include "bench/measurement.h"
#include "qrt/qrt.hpp"

namespace qrt::bench {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Latency, noise and memory at options.batch. Throws what sessions throw.
Measurement measure(const Model& model, const Options& options, double load_ms);

// Fills m->ops, and with --roofline peaks, memory and limits. In a session of its own: reading
// clocks must not be part of the latency. With --roofline a sample of each compute peak stands
// between two runs: what slows the core down slows both.
void profile(const Model& model, const Options& options, Measurement* m);

// Fills m->scaling: batches 1, 2, 4 and so on up to options.scaling in turns, each as often as
// makes the same number of images, so that what slows the machine down for a while slows all.
void measure_scaling(const Model& model, const Options& options, Measurement* m);

}  // namespace qrt::bench

#endif  // QRT_BENCH_MEASURE_H_

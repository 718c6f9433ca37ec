// The measurements that qrt_bench makes.
#ifndef QRT_BENCH_MEASURE_H_
#define QRT_BENCH_MEASURE_H_

#include <chrono>
#include <functional>

#include "bench/measurement.h"
#include "qrt/qrt.hpp"
#include "runtime/status.h"

namespace qrt::bench {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What a measurement tells its user while it runs; `part` is done, 0 to 1. Null: nobody listens.
using Progress = std::function<void(const char* step, double part)>;

// All measurements end early when interrupted() (interrupt.h), with what they have.

// Latency, noise and memory at options.batch. Throws what sessions throw; kInvalidArgument and the
// like where the input files do not fit. m->runs is 0 where it was interrupted before the first run.
Status measure(const Model& model, const Options& options, const Progress& progress,
               Measurement* m);

// Fills m->ops, and with --roofline peaks, memory and limits. In a session of its own: reading
// clocks must not be part of the latency. With --roofline a sample of each compute peak stands
// between two runs: what slows the core down slows both.
Status profile(const Model& model, const Options& options, const Progress& progress,
               Measurement* m);

// Fills m->scaling: batches 1, 2, 4 and so on up to options.scaling in turns, each as often as
// makes the same number of images, so that what slows the machine down for a while slows all.
void measure_scaling(const Model& model, const Options& options, Measurement* m);

// Fills m->sustained: runs for options.sustained_minutes, in twenty intervals of a second or more.
Status measure_sustained(const Model& model, const Options& options, const Progress& progress,
                         Measurement* m);

}  // namespace qrt::bench

#endif  // QRT_BENCH_MEASURE_H_

// SPDX-License-Identifier: Apache-2.0
// The measurements that qrt_bench makes.
#ifndef QRT_BENCH_MEASURE_H_
#define QRT_BENCH_MEASURE_H_

#include <vector>

#include "bench/clock.h"
#include "bench/measurement.h"
#include "qrt/qrt.hpp"
#include "runtime/status.h"

namespace qrt::bench {

// A model, what is asked of it, and the result.
struct Subject {
  const Model* model;
  const Options* options;
  Measurement* m;
};

// All measurements end early when interrupted() (interrupt.h), with what they have.

// Measures latency, noise and memory at options.batch, with options.streams throughput, too; for several
// models, each while the streams of all of them run. Throws what sessions throw; fails with kInvalidArgument
// and the like where the input files do not fit. m->runs is 0 where it was interrupted before the first run.
Status measure(const std::vector<Subject>& subjects, const Progress& progress);

// Fills m->ops, and with --roofline peaks, memory and limits. In a session of its own: reading
// clocks must not be part of the latency. With --roofline a sample of each compute peak stands
// between two runs: what slows the core down slows both.
Status profile(const Model& model, const Options& options, const Progress& progress,
               Measurement* m);

// Fills m->scaling: batches 1, 2, 4 and so on up to options.scaling in turns, each as often as
// makes the same number of images, so that what slows the machine down for a while slows all.
void measure_scaling(const Model& model, const Options& options, Measurement* m);

// Runs the streams of measure() for options.sustained_minutes, and adds to each m->sustained what
// every twentieth of that time gave: its median and p90, the clock rate and the temperature. An
// interval lasts a second or more.
Status measure_sustained(const std::vector<Subject>& subjects, const Progress& progress);

}  // namespace qrt::bench

#endif  // QRT_BENCH_MEASURE_H_

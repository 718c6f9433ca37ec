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

// A model to be measured, the options of the measurement, and its result. The caller owns all
// three.
struct Subject {
  const Model* model;
  const Options* options;
  Measurement* m;
};

// All measurements end early when interrupted() (interrupt.h), and keep the results they have by
// then.

// Measures latency, noise and memory at options.batch, with options.streams throughput, too; for
// several models, each while the streams of all of them run. Throws what sessions throw. Fails, for
// example with kInvalidArgument, where input files do not fit the model. m->runs is 0 where the
// measurement was interrupted before the first run.
Status measure(const std::vector<Subject>& subjects, const Progress& progress);

// Fills m->ops, and with --roofline peaks, memory and limits. Uses a session of its own, since
// reading clocks for each operator would add to the latency. With --roofline a sample of each
// compute peak is taken between two runs, so that a slower core lowers both.
Status profile(const Model& model, const Options& options, const Progress& progress,
               Measurement* m);

// Fills m->scaling with batches 1, 2, 4 and so on up to options.scaling. Batches take turns, and
// each runs so often that all compute equally many images, so that a slow spell of the machine
// affects all of them.
void measure_scaling(const Model& model, const Options& options, Measurement* m);

// Runs the streams of measure() for options.sustained_minutes, and adds to each m->sustained the
// results of every twentieth of that time, but at least one second: median and p90 of the latency,
// clock rate and temperature.
Status measure_sustained(const std::vector<Subject>& subjects, const Progress& progress);

}  // namespace qrt::bench

#endif  // QRT_BENCH_MEASURE_H_

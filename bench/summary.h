// SPDX-License-Identifier: Apache-2.0
// The statistics of many runs: percentiles, noise, throughput.
#ifndef QRT_BENCH_SUMMARY_H_
#define QRT_BENCH_SUMMARY_H_

#include <vector>

#include "bench/measurement.h"
#include "bench/streams.h"

namespace qrt::bench {

// Returns all runs in one list, ordered by their ends.
std::vector<RunTime> runs_of(const std::vector<Stream*>& streams);

// Runs a second of streams that were never idle: those of each over the time until its own last ended, so
// that what ends first does not wait for the rest.
double closed_rate(const std::vector<Stream*>& streams);

// Nearest-rank percentile of latencies.
double latency_percentile(const std::vector<RunTime>& runs, double p);

// Summarises latency and noise, and with one thread running times where they were measured.
// REQUIRES: !runs.empty().
void summarise(const std::vector<RunTime>& runs, size_t threads, Measurement* m);

}  // namespace qrt::bench

#endif  // QRT_BENCH_SUMMARY_H_

// SPDX-License-Identifier: Apache-2.0
// Two measurements of the same work: is the new one slower than its noise explains?
#ifndef QRT_BENCH_COMPARE_H_
#define QRT_BENCH_COMPARE_H_

#include <string>
#include <vector>

#include "bench/measurement.h"
#include "runtime/status.h"

namespace qrt::bench {

// The figures of an earlier run's json that compare() reads.
struct OldRun {
  std::string model, isa;
  size_t threads = 0, batch = 0;
  uint64_t macs = 0;
  double median = 0, least = 0, min_noise = 0;  // ms of the wall clock
  double least_cpu = 0;      // ms of the thread's own running time; 0: not measured
  bool has_streams = false;  // its latency is that of runs beside others
};

struct Comparison {
  OldRun old_run;
  // The least times that decide, both by one clock: running time where both runs have it.
  bool is_cpu_time = false;
  double old_least = 0, least = 0;
  double median_change = 0,
         least_change = 0;  // new / old - 1; the median is told and decides nothing
  double tolerance = 0;     // how much slower still counts as the same
  bool is_regression = false;
};

// Reads what `qrt_bench --format json` or jsonl wrote: one run or more. kIoError, kInvalidModel for
// something else, or kInvalidArgument for runs of streams.
Status read_old_runs(const std::string& path, std::vector<OldRun>* runs);

// Finds the earlier run that a new one is to be compared with: the only one, or of several that of the
// same model (by its file's name), threads and batch. Fails with kInvalidArgument where there is none.
Status find_old_run(const std::vector<OldRun>& runs, const std::string& model, size_t threads,
                    size_t batch, OldRun* run);

// Checks that a run did the same work: threads, batch, multiply-accumulates; instruction sets may
// differ. Fails with kInvalidArgument.
Status check_same_work(const OldRun& old_run, size_t threads, size_t batch, uint64_t macs);

// Compares two runs. A regression is a least time that grew by more than the tolerance: the sum of
// both runs' min_noise, but at least 2 %. The least time is compared because other programs add to
// every other number: with one thread that of the thread's running time, else of the latency. Five
// of ten parts of the earlier run came within its noise, so that all of another run stay beyond it
// by chance in one of 2^10 runs. Fails with kInvalidArgument as check_same_work().
Status compare(const OldRun& old_run, const Measurement& m, size_t threads, Comparison* result);

}  // namespace qrt::bench

#endif  // QRT_BENCH_COMPARE_H_

// SPDX-License-Identifier: Apache-2.0
// Parses qrt_bench's command line.
#ifndef QRT_BENCH_REQUEST_H_
#define QRT_BENCH_REQUEST_H_

#include <string>
#include <vector>

#include "bench/measurement.h"
#include "runtime/status.h"
#include "runtime/tools/options.h"

namespace qrt::bench {

// Every model, or all at once, at every number of streams, of threads, every batch, size and rate.
struct Request {
  std::vector<std::string> models;
  std::vector<std::string> dims;  // NAME=SIZE,SIZE...
  std::string streams, threads = "1", batches, qps, warmup, format = "text", compare, cpu_mask,
                       affinity, trace, html;
  bool concurrent_models = false;
  Options options;  // the same for all
};

void declare(tool::CommandLine* line, Request* request);

// Sets what follows from what was asked for. kInvalidArgument where that cannot be asked for at once.
Status complete(Request* request);

struct Counts {
  std::vector<size_t> streams, threads, batches;  // streams, batch 0: not asked for, the model's
  std::vector<tool::Dims> dims;  // every combination; one that is empty: not asked for
  std::vector<double> qps;       // 0: not asked for
};
// REQUIRES: the command line was parsed.
Counts counts_of(const Request& request);

}  // namespace qrt::bench

#endif  // QRT_BENCH_REQUEST_H_

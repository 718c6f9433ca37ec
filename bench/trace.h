// SPDX-License-Identifier: Apache-2.0
// --trace: the profile as chrome://tracing and Perfetto read it.
#ifndef QRT_BENCH_TRACE_H_
#define QRT_BENCH_TRACE_H_

#include <string>
#include <vector>

#include "bench/report.h"
#include "runtime/status.h"

namespace qrt::bench {

// Writes a trace: each run of the measurement is a process, each traced run of its model a row of
// operators, one after the other. Fails with kIoError.
Status write_trace(const std::string& path, const std::vector<Run>& runs);

}  // namespace qrt::bench

#endif  // QRT_BENCH_TRACE_H_

// What qrt_bench prints: text for people, json and csv for programs (keys are stable).
#ifndef QRT_BENCH_REPORT_H_
#define QRT_BENCH_REPORT_H_

#include "bench/compare.h"
#include "bench/measurement.h"

namespace qrt::bench {

// To stdout, in options.format. `comparison` may be null; csv leaves it out.
void print(const Options& options, const Measurement& m, const Comparison* comparison);

// "least 2.41 -> 2.39 ms (-0.8 %), tolerance 2.0 %, median -0.5 %: no regression"
std::string describe(const Comparison& comparison, const Measurement& m);

}  // namespace qrt::bench

#endif  // QRT_BENCH_REPORT_H_

// SPDX-License-Identifier: Apache-2.0
// The roofline of a model: for each operator the least time that the core's multipliers and its
// memory allow.
//
//   compute_ms = macs / (peak of the operator's instruction set * threads)
//   memory_ms  = constants / (read bandwidth * threads) + activations / (bandwidth * threads)
//   limit      = the greater one
//
// A run touches every constant of the model once, so they come from the smallest level that holds
// all of them (a thread's share of them); an operator's activations come from the smallest level
// that holds those of this operator. No operator can be faster, but one whose data happens to lie
// nearer; one at 100 % is done.
#ifndef QRT_BENCH_ROOFLINE_H_
#define QRT_BENCH_ROOFLINE_H_

#include <vector>

#include "bench/measurement.h"

namespace qrt::bench {

// Returns the loops that bound the operators of `m`, without rates.
std::vector<PeakRate> loops_of(const Measurement& m);

// Returns why the operator took less than its limit; null: it did not.
const char* why_above(const OpTime& op);

// Fills the limit of every operator. REQUIRES: m->ops, m->peaks (loops_of() with rates) and
// m->memory are set.
void set_limits(size_t threads, Measurement* m);

}  // namespace qrt::bench

#endif  // QRT_BENCH_ROOFLINE_H_

// SPDX-License-Identifier: Apache-2.0
// The sessions that are measured, and what they read.
#ifndef QRT_BENCH_SESSIONS_H_
#define QRT_BENCH_SESSIONS_H_

#include <string>

#include "bench/measurement.h"
#include "qrt/qrt.hpp"
#include "runtime/status.h"

namespace qrt::bench {

// Returns the best instruction set that kernels are taken from.
std::string best_isa(const std::string& cap);

// Makes a session with options' threads, or those of `pool` where it is not null. Throws what sessions throw.
Session make_session(const Model& model, const Options& options, size_t batch, bool profile,
                     qrt_pool* pool = nullptr);

// Fills an input with the same values at every call: floats in [-1, 1), integers over their whole range.
void fill_input(Session* session, size_t i);

// Reads options->inputs, where there are any, into options->arrays. The batch and the sizes of open dimensions that *options does
// not give are those of the arrays. kInvalidArgument and the like where the files fit neither the model nor what is given.
Status read_inputs(const Model& model, Options* options);

// Fills all inputs from options.arrays, else with made-up values.
Status fill_inputs(const Model& model, const Options& options, Session* session);

// Runs a session. Where a cache among its states is full, or another place that they tell is outside, the stream begins
// anew, within the time of this run. Throws what a run throws.
void run(Session* session);

}  // namespace qrt::bench

#endif  // QRT_BENCH_SESSIONS_H_

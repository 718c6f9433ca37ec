// SPDX-License-Identifier: Apache-2.0
// The sessions that are measured, and what they read.
#ifndef QRT_BENCH_SESSIONS_H_
#define QRT_BENCH_SESSIONS_H_

#include <string>

#include "bench/measurement.h"
#include "qrt/qrt.hpp"
#include "runtime/status.h"

namespace qrt::bench {

// Returns the name of this CPU's best instruction set that is not above `cap`, or, if `cap` is
// empty, not above the environment's QRT_ISA.
std::string best_isa(const std::string& cap);

// Makes a session with options' threads, or those of `pool` where it is not null. Throws what sessions throw.
Session make_session(const Model& model, const Options& options, size_t batch, bool profile,
                     qrt_pool* pool = nullptr);

// Fills an input with pseudorandom values, equal at every call: floats in [-1, 1), 0 for integers
// of 32 and 64 bits, which may be indices, and all bit patterns for other types.
void fill_input(Session* session, size_t i);

// Reads options->inputs, where there are any, into options->arrays. Takes from the arrays the batch
// and the sizes of open dimensions that *options does not give. Fails, for example with
// kInvalidArgument, where files contradict the model or the given sizes.
Status read_inputs(const Model& model, Options* options);

// Fills all inputs from options.arrays, else with made-up values.
Status fill_inputs(const Model& model, const Options& options, Session* session);

// Runs a session. If that fails with QRT_OUT_OF_RANGE, as when a cache among its states is full,
// resets the states and runs once more. Throws what a run throws.
void run(Session* session);

}  // namespace qrt::bench

#endif  // QRT_BENCH_SESSIONS_H_

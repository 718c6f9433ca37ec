// SPDX-License-Identifier: Apache-2.0
// Runs one model in many ways and compares the bytes.
#ifndef QRT_TESTS_FUZZ_COMPARE_H_
#define QRT_TESTS_FUZZ_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "runtime/plan.h"
#include "runtime/verify.h"

namespace qrt::fuzz {

using ModelPtr = std::shared_ptr<const VerifiedModel>;

// Loads a model; null, with the status, where the bytes are none.
ModelPtr load(const uint8_t* data, size_t size, Status* status);

// Fills an input with random numbers: now and then extremes only, for floats specials among them.
void fill_input(DType dtype, size_t bytes, std::mt19937_64* random, uint8_t* data);

// Returns whether sessions of the plan take less than some megabytes, and a run less than some tens
// of milliseconds of the scalar kernels.
bool is_small(const Plan& plan);

// Runs the model at its own batch, and at one more where that is open, and compares with
// the scalar kernels on one thread: every instruction set; the best one cut for three threads; the
// best one with every tensor kept. Models that are not small are left alone. Inputs are made from
// `seed`.
void compare_runs(const ModelPtr& model, uint64_t seed);

// Runs the model once on the best instruction set, if it is small.
void run_once(const ModelPtr& model, uint64_t seed);

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_COMPARE_H_

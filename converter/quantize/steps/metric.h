// SPDX-License-Identifier: Apache-2.0
// The user's own measure of a model (--metric): a program that gets a folder of outputs and prints a number, the higher the
// better.
#ifndef QRT_CONVERTER_QUANTIZE_STEPS_METRIC_H_
#define QRT_CONVERTER_QUANTIZE_STEPS_METRIC_H_

#include <vector>

#include "converter/quantize/steps/work.h"

namespace qrt::quantize {

// Returns the samples whose outputs the program gets: those that judge first, then others, up to a number of them.
std::vector<size_t> measured_samples(const Work& work);

// Measures the integer model of some parameters, or with null the float model. The folder holds output_0.npy, output_1.npy
// ... of all samples, one behind the other, as `qrt_run --output-dir` writes them, and samples.npy, their indices.
// kInvalidArgument where the program fails or prints no number; kUnsupported where outputs differ in size.
Status measure(Work* work, const Parameters* parameters, double* score);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_STEPS_METRIC_H_

// SPDX-License-Identifier: Apache-2.0
// Runs the float model over the calibration samples, once, and keeps of every tensor only its histogram:
// one for each part of the samples, since parts are judged by the ranges of others.
#ifndef QRT_CONVERTER_QUANTIZE_RANGES_CALIBRATION_H_
#define QRT_CONVERTER_QUANTIZE_RANGES_CALIBRATION_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/ranges/histogram.h"
#include "converter/quantize/samples/samples.h"
#include "converter/quantize/schemes/placement.h"

namespace qrt::quantize {

// More of a tensor's values than this that are NaN or infinite are an error.
constexpr double kMostBad = 0.01;

// Is called with the part of a step that is done, from 0 to 1.
using Progress = std::function<void(const char* step, double part)>;

// The histograms of values whose coding others share, and of the outputs, by value.
using Calibration = std::map<std::string, Histogram>;

// Observes the samples of each part, which are given by their indices, apart from the others'.
Status calibrate(const FloatModel& model, const Placement& placement, Interpreter* interpreter,
                 Samples* samples, const std::vector<std::vector<size_t>>& parts,
                 const Progress& progress, std::vector<Calibration>* calibrations);

// Adds what another part has observed.
void add_calibration(const Calibration& part, Calibration* calibration);

// Returns kInvalidModel where too many values are no numbers.
Status check_values(const Calibration& calibration);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_RANGES_CALIBRATION_H_

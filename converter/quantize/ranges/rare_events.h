// SPDX-License-Identifier: Apache-2.0
// Detectors look for what is rare: one place in a thousand decides. A rule that clips one value in a
// thousand for the sake of all others may clip just these, so that on the way to such an output no range
// clips a greater share of the values than the events have.
#ifndef QRT_CONVERTER_QUANTIZE_RANGES_RARE_EVENTS_H_
#define QRT_CONVERTER_QUANTIZE_RANGES_RARE_EVENTS_H_

#include <map>
#include <string>
#include <vector>

#include "converter/quantize/ranges/calibration.h"
#include "converter/quantize/ranges/rules.h"

namespace qrt::quantize {

// Returns the greatest share of its values that a coding may clip, for each value whose coding others share
// and that leads to a detection head: an output of many places that is a Sigmoid, or whose values have heavy
// tails.
std::map<std::string, double> clipping_limits(const FloatModel& model, const Placement& placement,
                                              const Calibration& calibration);

// Removes the choices that clip more than `limit`, but not the one that clips least.
void limit_clipping(const Histogram& values, double limit, std::vector<RangeChoice>* choices);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_RANGES_RARE_EVENTS_H_

// SPDX-License-Identifier: Apache-2.0
// The operations that CVM's layers allow and its other operators do not.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_CVM_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_CVM_H_

#include <set>
#include <string>

#include "converter/quantize/schemes/placement.h"

namespace qrt::quantize {

// Roots whose bytes may have a zero point: layers read them, which put it into their bias and their
// pads, or tables, or operators that read the integers from before the rounding to bytes. Not a
// model's input, whose integers the caller makes, nor what is averaged or enlarged as bytes.
std::set<std::string> roots_with_zero_points(const FloatModel& model, const Placement& placement);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_CVM_H_

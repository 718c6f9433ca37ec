// SPDX-License-Identifier: Apache-2.0
// The demands of ESP-DL on a quantised model beyond powers of two.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_ESPDL_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_ESPDL_H_

#include "converter/quantize/schemes/placement.h"

namespace qrt::quantize {

// The reference whose arithmetic models of the schemes espdl-* have.
constexpr char kEspdlReference[] = "espdl-p4";

// Gives the operands and the result of a sum one coding, as ESP-DL's runtime adds the integers as they are.
void share_codings_of_sums(const FloatModel& model, Placement* placement);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_ESPDL_H_

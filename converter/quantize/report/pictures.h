// SPDX-License-Identifier: Apache-2.0
// Samples that are pictures, and what both models made of them, for the report.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_PICTURES_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_PICTURES_H_

#include "converter/quantize/float/float_model.h"
#include "converter/quantize/report/findings.h"

namespace qrt::quantize {

// Returns whether a tensor is one picture of one or three channels, in front or last.
bool is_picture(const Tensor& t);

// REQUIRES: the input is a picture.
PictureFinding picture_finding(const Tensor& input, const Tensor& real, const Tensor& got);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_PICTURES_H_

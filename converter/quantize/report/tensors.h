// SPDX-License-Identifier: Apache-2.0
// The table of tensors, worst first.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_TENSORS_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_TENSORS_H_

#include "converter/quantize/ladder/sweep.h"
#include "converter/quantize/report/findings.h"

namespace qrt::quantize {

std::vector<TensorFinding> tensor_findings(const FloatModel& model, const Placement& placement,
                                           const Parameters& parameters,
                                           const Calibration& calibration,
                                           const std::map<std::string, Rule>& rules,
                                           const std::map<std::string, TensorError>& errors,
                                           const Remedies& remedies);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_TENSORS_H_

// SPDX-License-Identifier: Apache-2.0
// The model as a graph that shows where the error arises.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_GRAPH_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_GRAPH_H_

#include <vector>

#include "converter/quantize/float/float_model.h"
#include "converter/quantize/report/findings.h"

namespace qrt::quantize {

GraphFinding graph_finding(const FloatModel& model, const std::vector<TensorFinding>& tensors);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_GRAPH_H_

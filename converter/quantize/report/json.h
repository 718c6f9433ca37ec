// SPDX-License-Identifier: Apache-2.0
// The findings of a quantisation as JSON: the file that --report writes, and the data of its page.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_JSON_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_JSON_H_

#include <nlohmann/json.hpp>

#include "converter/quantize/report/findings.h"

namespace qrt::quantize {

// Returns them in the form of runtime/tools/schemas/quantize.schema.json.
nlohmann::ordered_json findings_json(const Findings& findings);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_JSON_H_

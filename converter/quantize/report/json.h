// What --report writes as JSON, and the page shows.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_JSON_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_JSON_H_

#include <nlohmann/json.hpp>

#include "converter/quantize/report/findings.h"

namespace qrt::quantize {

nlohmann::ordered_json findings_json(const Findings& findings);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_JSON_H_

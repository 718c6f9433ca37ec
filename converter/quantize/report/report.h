// SPDX-License-Identifier: Apache-2.0
// Findings in words: one screen of text, JSON with everything, a page with pictures.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_REPORT_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_REPORT_H_

#include <string>
#include <vector>

#include "converter/quantize/report/findings.h"

namespace qrt::quantize {

size_t count_float_nodes(const convert::Report& nodes);
// Returns how many nodes are integers and how many run in float; with `all`, each node.
std::string plan_text(const convert::Report& nodes, bool all);

std::string text_report(const Findings& findings);
std::string json_report(const Findings& findings);
std::string html_report(const Findings& findings);  // one file with everything in it

// Returns why the model should not be used: its answers on the held-out samples are too far from
// the float model's. "" if nothing is known against it.
std::string why_not_to_ship(const Findings& findings);
// Returns what a user should know before the model is used, a sentence each.
std::vector<std::string> warnings(const Findings& findings);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_REPORT_H_

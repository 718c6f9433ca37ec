// SPDX-License-Identifier: Apache-2.0
// --state: pairs of a model's inputs and outputs that become variables of the session.
#ifndef QRT_CONVERTER_IMPORT_COMMON_STATES_H_
#define QRT_CONVERTER_IMPORT_COMMON_STATES_H_

#include <string>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// Makes variables of pairs "IN=OUT" of an imported graph's input and output: they leave its interface, and a run
// begins with what the last one gave as OUT. The first begins with the real number 0: the zero point, where the
// input is quantised. Later imports at other sizes (graph->import_at) are changed likewise. kInvalidArgument where
// a pair does not name an input and an output of one type, kUnsupported where their shapes differ.
Status make_states(const std::vector<std::string>& pairs, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_STATES_H_

// SPDX-License-Identifier: Apache-2.0
// Levels of arithmetic as the written file has them: those of its operators, which each operator tells
// in its traits. The report, --require-level and the reference that a file names all read these, as
// qrt_inspect does.
#ifndef QRT_CONVERTER_LEVELS_H_
#define QRT_CONVERTER_LEVELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/report.h"

namespace qrt::convert {

struct Graph;

// Gives each converted node the highest level of the file's operators that bear its name; none to a
// node without such an operator. A node without a name keeps its level. REQUIRES: write_model() made
// the file.
void set_levels(const std::vector<uint8_t>& file, Report* report);

// Returns the operators above `level` (0 is I0, 1 is I1), as messages name them: "fc1 (Gemm) -> Float [F]".
std::vector<std::string> operators_above(const std::vector<uint8_t>& file, int level);

// Returns whether operators of an imported graph compute, and all of these in float.
bool is_wholly_float(const Graph& graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_LEVELS_H_

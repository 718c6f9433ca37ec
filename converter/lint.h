// SPDX-License-Identifier: Apache-2.0
// Warnings about a quantised model that converts, and runs exactly, but may answer badly: what its
// numbers alone show to be a mistake of the quantisation, without any data. Looks at the graph as a
// front end leaves it, so all source formats share it, and at what a front end alone sees and notes
// in the report (scales that are no usable numbers).
#ifndef QRT_CONVERTER_LINT_H_
#define QRT_CONVERTER_LINT_H_

#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert {

// Checks the graph by these rules, with the names of Warning::rule:
//   wide-range-concat  an input takes few steps of the output's range
//   bias-clipped       a bias stands at the limit of int32
//   scale              a scale is zero, denormal or not finite
//   dead-channels      a channel's output is one value, whatever the input
//   add-scale-ratio    the scales of an Add's operands are beyond 2^8 of each other
//   accumulator        255 * sum|w| + |bias| is beyond int32
//   padding            a window is padded with something else than the input's zero
//   pointless-range    a Relu or the like makes a quarter of an activation's codes useless
// REQUIRES: a graph from a front end, before the passes. An import that refused nodes leaves a part
// of one, which is looked at as far as it goes.
void lint(const Graph& graph, Report* report);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_LINT_H_

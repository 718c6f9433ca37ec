// SPDX-License-Identifier: Apache-2.0
// Prints the description of a model that qrt_inspect makes.
#ifndef QRT_RUNTIME_TOOLS_INSPECT_PRINT_H_
#define QRT_RUNTIME_TOOLS_INSPECT_PRINT_H_

#include "runtime/tools/inspect/describe.h"

namespace qrt::tool {

// Prints the facts that a user asks for first, in lines of columns() (terminal.h); behind them the long tables.
void print_text(const nlohmann::ordered_json& all, bool with_operators, bool with_tensors);
// Prints the graph for Graphviz.
void print_dot(const nlohmann::ordered_json& all);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_INSPECT_PRINT_H_

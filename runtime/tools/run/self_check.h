// SPDX-License-Identifier: Apache-2.0
// qrt_run --check: runs the values that a model holds to test it with.
#ifndef QRT_RUNTIME_TOOLS_RUN_SELF_CHECK_H_
#define QRT_RUNTIME_TOOLS_RUN_SELF_CHECK_H_

#include "runtime/status.h"
#include "runtime/tools/run/options.h"

namespace qrt::tool {

// Prints a line for each output, and one for the operators where the file holds their digests.
// *equal: no byte differs.
Status self_check(const RunOptions& options, bool* equal);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_RUN_SELF_CHECK_H_

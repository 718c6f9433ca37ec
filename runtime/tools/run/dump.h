// SPDX-License-Identifier: Apache-2.0
// qrt_run --dump-all: every tensor that an operator wrote.
#ifndef QRT_RUNTIME_TOOLS_RUN_DUMP_H_
#define QRT_RUNTIME_TOOLS_RUN_DUMP_H_

#include "qrt/qrt.hpp"
#include "runtime/status.h"
#include "runtime/tools/npz_writer.h"
#include "runtime/tools/run/options.h"

namespace qrt::tool {

// Writes all tensors as they are after the last run, under the names and in the order of dimensions that they have
// in the source model; with --output-dir the inputs, too, and a list of all, index.json. `archive` as of deliver().
Status dump_tensors(const RunOptions& options, const Model& model, const Session& session,
                    NpzWriter* archive);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_RUN_DUMP_H_

// SPDX-License-Identifier: Apache-2.0
// Decides whether a model with a symbolic batch is the same function of each image at every batch.
#ifndef QRT_CONVERTER_IMPORT_ONNX_BATCH_H_
#define QRT_CONVERTER_IMPORT_ONNX_BATCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_onnx {

// Imports the model with this number for its symbolic batch.
using ImportAtBatch = std::function<Status(int64_t batch, Graph* graph, Report* report)>;

// Finds why the batch may not be open: *why is "" where it may. `graph`: the model as it is
// imported at batch 1.
Status find_why_batch_is_closed(const Graph& graph, const ImportAtBatch& import, std::string* why);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_BATCH_H_

// SPDX-License-Identifier: Apache-2.0
// Model-local functions. Each call becomes the nodes of its function, as ONNX Runtime makes of it
// before it looks for anything else.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_FUNCTIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_FUNCTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

// Versions of operator sets by domain, "" for "ai.onnx".
using OpsetVersions = std::unordered_map<std::string, int64_t>;

// Nodes that come from functions with versions of their own. The others have the model's.
using NodeVersions =
    std::unordered_map<const onnx::NodeProto*, std::shared_ptr<const OpsetVersions>>;

// Replaces the calls in the model's graph and its subgraphs. kInvalidModel for a function that calls
// itself; kUnsupported where the graph grows beyond what an honest file becomes.
Status inline_functions(onnx::ModelProto* model, NodeVersions* versions);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_FUNCTIONS_H_

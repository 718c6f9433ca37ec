// SPDX-License-Identifier: Apache-2.0
// Nodes of old operator sets written as the sets from 10 on have them, which is what the importer
// knows: numbers that were attributes become constant inputs.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_UPGRADE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_UPGRADE_H_

#include <functional>

#include "converter/import/onnx/file/proto.h"

namespace qrt::convert::from_onnx {

// Rewrites nodes of old operator sets as the sets from 10 on have them. `opset` gives the version
// of the standard operator set that counts for a node.
void upgrade_nodes(const std::function<int64_t(const onnx::NodeProto&)>& opset,
                   onnx::GraphProto* graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_UPGRADE_H_

// SPDX-License-Identifier: Apache-2.0
// QONNX's Quant, which ONNX Runtime does not know, as the operators that QONNX itself exports for it:
// QuantizeLinear, Clip where the integers have fewer than 8 bits, DequantizeLinear.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_QONNX_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_QONNX_H_

#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

// Nodes whose width or zero point is not known, of more than 8 bits, or that round otherwise than half
// to even stay as they are. kUnsupported where the graph grows beyond what an honest file becomes.
Status rewrite_quant_nodes(onnx::ModelProto* model);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_QONNX_H_

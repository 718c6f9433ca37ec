// SPDX-License-Identifier: Apache-2.0
// Operators that ONNX Runtime puts into the models it saves after optimisation, as the standard operators that they were made of:
// FusedConv is Conv, Add and an activation, FusedMatMul is Transpose, MatMul and Mul, BiasGelu is Add and Gelu, and an operator on
// images whose channels come last stands between two Transposes. QEmbedLayerNormalization is an EmbedLayerNormalization behind a
// DequantizeLinear for each of its tables.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_FUSED_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_FUSED_H_

#include <string>
#include <vector>

#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

// Every Transpose that is made here has this attribute, an integer of AxisOrder, in place of `perm`:
// saved models do not tell the rank of most tensors. ONNX Runtime has no Transpose in its place, so
// what follows how it moves Transposes passes over these.
constexpr char kAxisOrder[] = "qrt_axis_order";
enum class AxisOrder : int {
  kChannelsFirst,     // [n, spatial, c] to [n, c, spatial]
  kChannelsLast,      // [n, c, spatial] to [n, spatial, c]
  kSwapped,           // [batch, rows, columns] to [batch, columns, rows]
  kBatchOuter,        // [rows, batch, columns] to [batch, rows, columns]
  kBatchOuterSwapped  // [rows, batch, columns] to [batch, columns, rows]
};
// Returns the permutation for tensors of `rank`, {} where `order` is none of the above.
std::vector<int64_t> permutation_of(int64_t order, int rank);

// Replaces such operators. One whose activation is not known stays as it is. kUnsupported where the
// graph grows beyond what an honest file becomes.
Status expand_fused_nodes(onnx::ModelProto* model);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_FUSED_H_

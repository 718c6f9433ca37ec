// SPDX-License-Identifier: Apache-2.0
// Products with constant weights as ONNX Runtime's quantize_dynamic writes them: int8 weights with a scale
// for each channel, activations that become integers at run time.
//
//   MatMul, Gemm   DynamicQuantizeLinear, MatMulInteger, Cast, Mul (and Add)
//   Conv           the same with ConvInteger, whose weights are uint8 with zero point 128: ONNX Runtime has
//                  no ConvInteger of int8
//   LSTM           com.microsoft.DynamicQuantizeLSTM
//   Gather         of a table: its rows as int8, each with a scale
// All else stays as it is.
#ifndef QRT_CONVERTER_QUANTIZE_DYNAMIC_REWRITE_H_
#define QRT_CONVERTER_QUANTIZE_DYNAMIC_REWRITE_H_

#include <set>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace qrt::quantize {

// The result of a rewrite: the names of the nodes that it replaced.
struct Rewritten {
  std::vector<std::string> nodes;
};

// Rewrites a model. `exclude`: names, patterns or types of nodes that stay as they are. REQUIRES: no tensor's
// data lies in another file. Fails with kUnsupported where the operator set has no dynamic quantisation.
Status rewrite_dynamic(const std::vector<std::string>& exclude, onnx::ModelProto* model,
                       Rewritten* rewritten);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_DYNAMIC_REWRITE_H_

// Operators that are known and have no integer form, each with its reason.
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {

Status import_refused(Importer& importer, const NodeView& node) {
  const std::string& op = node.op();
  if (op.find("Normalization") != std::string::npos || op == "LRN")
    return importer.refuse(
        node,
        "it divides by statistics of its input, computed in float, and the order "
        "of their sums varies: no integer form has its bits",
        node.output(0), "use BatchNormalization folded into convolutions, or keep it outside");
  if (op == "QAttention")
    return importer.refuse(
        node,
        "its softmax and its products of activations are float, by "
        "approximations and in orders that differ between CPUs",
        node.output(0),
        "convert the model that ONNX Runtime has not optimised: attention stands "
        "there as MatMulInteger, MatMul and Softmax, the latter with --allow-float");
  if (op == "DynamicQuantizeLSTM")
    return importer.refuse(
        node,
        "its gates are float, by approximations of tanh and the logistic function "
        "that differ between CPUs",
        node.output(0), "use TFLite's integer LSTM, or keep it outside");
  return importer.refuse(node,
                         "ONNX Runtime computes it by the C library, whose last bits differ from "
                         "system to system",
                         node.output(0), "keep it outside the quantised model");
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
// Operators that are known and have no integer form, each with its reason.
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {

Status import_refused(Importer& importer, const NodeView& node) {
  const std::string& op = node.op();
  if (op.find("Normalization") != std::string::npos || op == "LRN")
    return importer.refuse(
        node,
        "it divides by statistics of its input, computed in float, and the order "
        "of their sums varies: no integer form has its bits",
        node.output(0),
        has_float_form(node)
            ? remedy_to_compute_outside(importer, node)
            : "export it as the operators it stands for (Mul, ReduceMean, Add, Sqrt, Div), "
              "which run in float (--allow-float); or " +
                  remedy_to_compute_outside(importer, node));
  for (const char* computed :
       {"IsNaN", "IsInf", "Sum", "Mean", "GridSample", "STFT", "DFT", "Hardmax"})
    if (op == computed) return refuse_float_operator(importer, node);
  return importer.refuse(node,
                         "ONNX Runtime computes it by the C library, whose last bits differ from "
                         "system to system",
                         node.output(0), remedy_to_compute_outside(importer, node));
}

Status refuse_unknown(Importer& importer, const NodeView& node) {
  if (node.domain() == "com.microsoft.nchwc")
    return importer.refuse(
        node,
        "its channels are in blocks whose size depends on the CPU on which ONNX Runtime saved the "
        "model",
        node.output(0),
        "convert the model that ONNX Runtime has not optimised, or save it again with the "
        "optimisation "
        "level 'extended' (ORT_ENABLE_EXTENDED)");
  if (node.op() == "QLinearConvTranspose")
    return importer.refuse(
        node, "ONNX Runtime computes it on accelerators only, each with an arithmetic of its own",
        node.output(0),
        "convert the model that ONNX Runtime has not optimised: there it is DequantizeLinear, "
        "ConvTranspose and QuantizeLinear");
  if (node.op() == "MatMulBnb4")
    return importer.refuse(node,
                           "the codes of its weights stand for the values of a table (FP4, NF4), "
                           "not for integers with a scale",
                           node.output(0),
                           "quantise the float model to blocks of integers (MatMulNBits), or to 8 "
                           "bits by qrt_quantize MODEL --calibration SAMPLES; or " +
                               remedy_to_compute_outside(importer, node));
  return importer.refuse(node, "qrt has no form of this operator", node.output(0),
                         remedy_to_compute_outside(importer, node));
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
// L2_NORMALIZATION of int8: rows divided by their Euclidean norm.
#include "converter/import/tflite/ops/unary.h"
#include "kernels/normalize/l2_normalization.h"

namespace qrt::convert::from_tflite {

Status import_l2_normalization(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  if (in.type != DType::kInt8)
    return importer.refuse(op, "the input is uint8, whose form is not read", x.name,
                           "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  if (out.scale[0] != 1.0f / 128 || out.zero_point[0] != 0)
    return importer.refuse(op,
                           "the output's scale and zero point are not 1/128 and 0, which the "
                           "reference takes for granted",
                           y.name, "quantise the output with scale 1/128 and zero point 0");
  if (op.options<tflite::L2NormOptions>().fused_activation_function !=
      tflite::ActivationFunctionType::NONE)
    return importer.refuse(op, "its fused activation has no meaning in the reference", y.name,
                           "keep the activation an operator of its own");
  QRT_TRY(check_same_shape(importer, op));
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape.elements() > 0, "the input has shape %s",
                  x.shape.to_string().c_str());
  if (x.shape[x.shape.rank() - 1] > static_cast<int64_t>(kMaxL2Row))
    return importer.refuse(
        op,
        "rows of more than " + std::to_string(kMaxL2Row) + " values overflow the reference's sum",
        x.name, "split the rows into shorter ones, and normalise each");
  const ValueId value = importer.value(op, 0);
  auto& o = importer.builder().add<fb::L2NormalizationOptionsT>(op, {value},
                                                                importer.new_output(op, out));
  o.zero_point = static_cast<uint8_t>(in.stored_zero_point());
  if (importer.rounding() == Rounding::kSingle) o.kind = fb::L2NormalizationKind::ONE_ROUNDING;
  importer.became(op, "L2Normalization", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite

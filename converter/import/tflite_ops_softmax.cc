// SOFTMAX of int8: every difference to a row's greatest value has its exponential in a table, made
// here as the reference kernel computes it.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite_ops.h"
#include "kernels/fixed_point.h"
#include "kernels/softmax/softmax_int.h"

namespace qrt::convert::from_tflite {
namespace {

// exp(d * beta * scale) for d = -255..0 as Q0.31; -1 where the reference counts it as 0.
std::vector<int32_t> exponentials(double beta_times_scale, Rounding rounding) {
  const double limit = rounding == Rounding::kSingle ? 1073741823.0 : 2147483647.0;
  const Multiplier m =
      quantize_multiplier(std::min(std::ldexp(beta_times_scale, 26), limit), rounding);
  const double least = -std::floor(std::ldexp(31.0, 26 - m.shift));
  std::vector<int32_t> table(256, -1);
  for (int d = -255; d <= 0; ++d)
    if (d >= least)
      table[static_cast<size_t>(d + 255)] = fixed::exp_of_negative(multiply(d, m, rounding), 5);
  return table;
}

}  // namespace

Status import_softmax(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  if (in.type != TensorType::INT8)
    return importer.refuse(op, "the input is uint8: only the int8 form is defined", x.name,
                           "quantise the model to int8");
  if (out.scale != 1.0f / 256 || out.zero_point != -128)
    return importer.refuse(op,
                           "the output's scale and zero point are not 1/256 and -128, which the "
                           "reference takes for granted",
                           y.name, "quantise the output with scale 1/256 and zero point -128");
  QRT_TRY(check_output_shape(importer, op, x.shape));
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape.elements() > 0, "the input has shape %s",
                  x.shape.to_string().c_str());
  if (x.shape[x.shape.rank() - 1] > static_cast<int64_t>(kMaxSoftmaxIntRow))
    return importer.refuse(op, "rows of more than 4095 values overflow the reference's sum", x.name,
                           "reduce the number of classes");
  const double beta = static_cast<double>(op.options<tflite::SoftmaxOptions>().beta);
  QRT_MODEL_CHECK(std::isfinite(beta) && beta >= 0, "beta is %g", beta);
  const double factor = beta * static_cast<double>(in.scale);
  const ValueId table = importer.graph().add_constant("", DType::kInt32, {256},
                                                      exponentials(factor, importer.rounding()));
  const ValueId value = importer.value(op, 0);
  importer.add_node<fb::SoftmaxOptionsT>(op, {value, table}, importer.new_output(op, out)).kind =
      fb::SoftmaxKind::Q5_26;
  importer.became(op, "Softmax", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite

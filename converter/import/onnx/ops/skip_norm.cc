// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization and SkipSimplifiedLayerNormalization of com.microsoft: a sum and the normalisation of its rows.
#include <cmath>

#include "converter/import/onnx/float_fallback/normalization.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {

Status import_skip_norm(Importer& importer, const NodeView& node) {
  using F = fb::FloatFunction;
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  for (const int i : {1, 2})
    if (node.has_output(i) && importer.uses(node.output(i)) > 0)
      return refuse_form(importer, node, "its output '" + node.output(i) + "' is read");
  const bool has_mean = node.op() == "SkipLayerNormalization";
  const NormInputs inputs = {2, has_mean ? 3 : -1};
  const int bias = has_mean ? 4 : 3;
  FloatGraph f(importer, node);
  ValueId sum, other, y = kNoValue;
  if (!f.read(0, &sum)) return importer.refuse_float(node, 0);
  for (const int i : {1, bias}) {
    if (i == bias && !node.has_input(i)) continue;
    if (!f.read(i, &other)) return importer.refuse_float(node, i);
    QRT_TRY(f.binary(F::ADD, sum, other, &sum));
  }
  const float epsilon = node.real("epsilon", 1e-12f);
  const int rank = f.shape_of(sum).rank();
  QRT_MODEL_CHECK(rank >= 1 && epsilon >= 0 && std::isfinite(epsilon),
                  "its input has %d dimensions and its epsilon is %g", rank,
                  static_cast<double>(epsilon));
  std::vector<bool> last(static_cast<size_t>(rank), false);
  last.back() = true;
  QRT_TRY(has_mean ? layer_norm(&f, last, epsilon, inputs, sum, &y)
                   : rms_norm(&f, last, epsilon, inputs, sum, &y));
  if (y == kNoValue) return importer.refuse_float(node, 2);
  importer.became(node, "Float", "F");
  set_float_output(importer, node, 0, y);
  set_float_output(importer, node, 3, sum);
  return Status();
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
// Chains of int32 arithmetic on elements, as operators Formula.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_FORMULA_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_FORMULA_H_

#include <vector>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {

struct FormulaStep {
  fb::FormulaFunction function;
  int32_t value = 0;
};

// A formula's input: x - zero_point, passed through the steps. x is UINT8, INT16 or INT32.
struct FormulaTerm {
  ValueId x;
  int zero_point = 0;
  std::vector<FormulaStep> steps;
};

// A formula's result: saturate(v + zero_point) of the type.
struct FormulaResult {
  DType dtype = DType::kInt32;
  int zero_point = 0;
};

ValueId formula(Importer& importer, const Op& op, const FormulaTerm& a, FormulaResult result);
// Adds steps(pair(a, b)), broadcast as in numpy.
ValueId formula(Importer& importer, const Op& op, const FormulaTerm& a, fb::FormulaPair pair,
                const FormulaTerm& b, const std::vector<FormulaStep>& steps, FormulaResult result);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_FORMULA_H_

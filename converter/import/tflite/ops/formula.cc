// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/ops/formula.h"

#include <memory>

namespace qrt::convert::from_tflite {
namespace {

std::vector<std::unique_ptr<fb::FormulaStepT>> written(const std::vector<FormulaStep>& steps) {
  std::vector<std::unique_ptr<fb::FormulaStepT>> result;
  for (const FormulaStep& s : steps) {
    result.push_back(std::make_unique<fb::FormulaStepT>());
    result.back()->function = s.function;
    result.back()->value = s.value;
  }
  return result;
}

}  // namespace

ValueId formula(Importer& importer, const Op& op, const FormulaTerm& a, FormulaResult result) {
  GraphBuilder& builder = importer.builder();
  const ValueId y = builder.new_value("", result.dtype, builder.shape_of(a.x));
  auto& o = builder.add<fb::FormulaOptionsT>(op, {a.x}, y);
  o.a_zero_point = a.zero_point;
  o.a_steps = written(a.steps);
  o.zero_point = result.zero_point;
  return y;
}

ValueId formula(Importer& importer, const Op& op, const FormulaTerm& a, fb::FormulaPair pair,
                const FormulaTerm& b, const std::vector<FormulaStep>& steps, FormulaResult result) {
  GraphBuilder& builder = importer.builder();
  Shape shape;
  broadcast(builder.shape_of(a.x), builder.shape_of(b.x), &shape);
  const ValueId y = builder.new_value("", result.dtype, shape);
  auto& o = builder.add<fb::FormulaOptionsT>(op, {a.x, b.x}, y);
  o.a_zero_point = a.zero_point;
  o.a_steps = written(a.steps);
  o.pair = pair;
  o.b_zero_point = b.zero_point;
  o.b_steps = written(b.steps);
  o.steps = written(steps);
  o.zero_point = result.zero_point;
  return y;
}

}  // namespace qrt::convert::from_tflite

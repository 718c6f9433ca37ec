// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two tensors. A constant of one element is a step of the other's sequence, one of an
// element per channel a part of its product's requantisation.
#include <algorithm>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

using F = fb::FormulaFunction;

Status broadcast(Inference* inference, Shape* shape) {
  QRT_TRY(inference->attributes().check_names({}));
  return broadcast_shapes(inference->input(0).shape, inference->input(1).shape, shape);
}

int greater_precision(const Inference& inference) {
  return std::max(inference.input(0).precision, inference.input(1).precision);
}

// Returns the value of input i where that is one number which does not change the other's shape.
const int32_t* single(const Importer& importer, const Op& op, int i) {
  const auto* values = importer.constant(op.input(i));
  const bool is_one = values && values->size() == 1 &&
                      importer.shape(op.output()) == importer.shape(op.input(1 - i));
  return is_one ? values->data() : nullptr;
}

// Appends a step to the other input, if input i is one number. Returns whether it is.
bool step_by_constant(Importer& importer, const Op& op, int i, F function, bool negated = false) {
  const int32_t* k = single(importer, op, i);
  if (!k) return false;
  ElementOp operation;
  operation.function = function;
  operation.value = negated ? -*k : *k;
  importer.extend(op, 1 - i, std::move(operation));
  return true;
}

}  // namespace

Status infer_elementwise_sum(Inference* inference) {
  QRT_TRY(inference->attributes().check_names({}));
  const Shape &a = inference->input(0).shape, &b = inference->input(1).shape;
  QRT_MODEL_CHECK(a == b, "its inputs have the shapes %s and %s, expected equal ones",
                  a.to_string().c_str(), b.to_string().c_str());
  return inference->output(a, greater_precision(*inference) + 1);
}

Status infer_broadcast_sum(Inference* inference) {
  Shape shape;
  QRT_TRY(broadcast(inference, &shape));
  return inference->output(shape, greater_precision(*inference) + 1);
}

Status infer_broadcast_product(Inference* inference) {
  Shape shape;
  QRT_TRY(broadcast(inference, &shape));
  return inference->output(shape, inference->input(0).precision + inference->input(1).precision);
}

Status infer_broadcast_maximum(Inference* inference) {
  Shape shape;
  QRT_TRY(broadcast(inference, &shape));
  return inference->output(shape, greater_precision(*inference));
}

Status infer_broadcast_first(Inference* inference) {
  Shape shape;
  QRT_TRY(broadcast(inference, &shape));
  return inference->output(shape, inference->input(0).precision);
}

Status import_add(Importer& importer, const Op& op) {
  if (!step_by_constant(importer, op, 1, F::ADD) && !step_by_constant(importer, op, 0, F::ADD))
    importer.join(op, fb::FormulaPair::ADD);
  return Status();
}

Status import_subtract(Importer& importer, const Op& op) {
  if (!step_by_constant(importer, op, 1, F::ADD, /*negated=*/true))
    importer.join(op, fb::FormulaPair::SUBTRACT);
  return Status();
}

Status import_multiply(Importer& importer, const Op& op) {
  if (!step_by_constant(importer, op, 1, F::MULTIPLY) &&
      !step_by_constant(importer, op, 0, F::MULTIPLY) &&
      !importer.scale_channels(op, 0, op.input(1)) && !importer.scale_channels(op, 1, op.input(0)))
    importer.join(op, fb::FormulaPair::MULTIPLY);
  return Status();
}

Status import_maximum(Importer& importer, const Op& op) {
  for (const int i : {1, 0}) {
    const int32_t* k = single(importer, op, i);
    if (!k) continue;
    importer.extend(op, 1 - i, clamp_to(*k, INT32_MAX));
    return Status();
  }
  importer.join(op, fb::FormulaPair::MAXIMUM);
  return Status();
}

Status import_divide(Importer& importer, const Op& op) {
  importer.join(op, fb::FormulaPair::DIVIDE);
  return Status();
}

Status import_greater(Importer& importer, const Op& op) {
  importer.join(op, fb::FormulaPair::GREATER);
  return Status();
}

}  // namespace qrt::convert::from_cvm

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/no_op.h"

#include <limits>

#include "converter/import/onnx/file/borders.h"

namespace qrt::convert::from_onnx {
namespace {

// Reads input i as a plain constant; null where it is none.
Status read_constant(const NodeView& node, int i, Tensors* tensors, const Constant** constant) {
  *constant = nullptr;
  if (!node.has_input(i)) return Status();
  QRT_TRY(tensors->load_initializer(node.input(i)));
  const Tensor& t = tensors->input(node, i);
  if (t.is_plain_constant()) *constant = t.constant.get();
  return Status();
}

// Sets *result to whether an input is a constant of one element, of this value.
Status is_one(const NodeView& node, int i, float value, Tensors* tensors, bool* result) {
  const Constant* c;
  QRT_TRY(read_constant(node, i, tensors, &c));
  *result = c && c->shape.rank() <= 1 && c->elements() == 1 && c->is_real() && c->real(0) == value;
  return Status();
}

// Sets *result to whether all elements of a constant input, one for each axis, are this integer.
Status are_all(const NodeView& node, int i, int64_t value, Tensors* tensors, bool* result) {
  const Constant* c;
  QRT_TRY(read_constant(node, i, tensors, &c));
  *result = c && c->is_integer() && c->elements() <= kMaxTensorRank;
  for (int64_t at = 0; *result && at < c->elements(); ++at) *result = c->integer(at) == value;
  return Status();
}

}  // namespace

Status neutral_operand(const NodeView& node, Tensors* tensors, int* input) {
  *input = -1;
  const std::string& op = node.op();
  const bool is_product = op == "Mul" || op == "Div";
  if ((!is_product && op != "Add" && op != "Sub") || node.input_count() != 2) return Status();
  for (int i = 0; i < (op == "Mul" || op == "Add" ? 2 : 1); ++i) {
    bool neutral;
    QRT_TRY(is_one(node, 1 - i, is_product ? 1.0f : 0.0f, tensors, &neutral));
    if (neutral) *input = i;
  }
  return Status();
}

Status changes_nothing(const NodeView& node, const std::string& tensor, const Shape& shape,
                       const Model& model, Tensors* tensors, bool* result) {
  const std::string& op = node.op();
  const bool first = node.input(0) == tensor;
  *result = false;
  if (node.has(kBorder)) return Status();
  *result = op == "Identity" || (op == "Cast" && node.integer("to", 0) == kFloat) ||
            (op == "Dropout" && (!node.has_output(1) || model.uses(node.output(1)) == 0));
  if (*result) return Status();
  int operand;
  QRT_TRY(neutral_operand(node, tensors, &operand));
  if (operand >= 0) {
    *result = node.input(operand) == tensor;
    return Status();
  }
  if (op == "Slice" && first) {  // of everything
    bool ends, steps = true;
    QRT_TRY(are_all(node, 1, 0, tensors, result));
    QRT_TRY(are_all(node, 2, std::numeric_limits<int64_t>::max(), tensors, &ends));
    if (node.has_input(4)) QRT_TRY(are_all(node, 4, 1, tensors, &steps));
    *result = *result && ends && steps;
  }
  if (op != "Expand" || !first) return Status();
  const Constant* to;
  QRT_TRY(read_constant(node, 1, tensors, &to));
  if (!to || !to->is_integer() || to->elements() > kMaxTensorRank) return Status();
  Shape wanted, made;
  for (int64_t i = 0; i < to->elements(); ++i) wanted.push_back(to->integer(i));
  *result = broadcast(shape, wanted, &made) && made == shape;
  return Status();
}

}  // namespace qrt::convert::from_onnx

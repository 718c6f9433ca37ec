// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/transpose_moves.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "converter/import/onnx/file/fused.h"

namespace qrt::convert::from_onnx {
namespace {

// Operators through which ONNX Runtime moves Transposes.
// clang-format off
constexpr std::string_view kPassed[] = {  // sorted
  "Abs", "Acos", "Acosh", "Add", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh",
  "BitShift", "Cast", "CastLike", "Ceil", "Celu", "Clip", "Concat", "Cos", "Cosh",
  "DequantizeLinear", "Div", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual",
  "HardSigmoid", "HardSwish", "Hardmax", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Less",
  "LessOrEqual", "Log", "LogSoftmax", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Not", "Or",
  "PRelu", "Pad", "Pow", "QuantizeLinear", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum",
  "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
  "ReduceSumSquare", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Slice",
  "Softmax", "Softplus", "Softsign", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tan", "Tanh",
  "ThresholdedRelu", "Tile", "Unsqueeze", "Where", "Xor"};
// clang-format on

bool is_passed(const NodeView& node) {
  return node.domain().empty() &&
         std::binary_search(std::begin(kPassed), std::end(kPassed), node.op());
}

bool is_transpose(const NodeView& node) {
  return node.op() == "Transpose" && !node.has(kAxisOrder);
}

// Operators that become one with a Transpose in front.
bool is_joined(const NodeView& node) {
  return node.domain().empty() && (is_transpose(node) || node.op() == "Reshape");
}

}  // namespace

bool TransposeMoves::move_from_all_readers(const NodeView& transpose) const {
  const std::string& y = transpose.output(0);
  const size_t readers = model_.readers(y).size();
  if (static_cast<int>(readers) != model_.uses(y) || readers > kMostReaders) return false;
  for (int i : model_.readers(y)) {
    const NodeView& reader = *nodes_[static_cast<size_t>(i)];
    if (!is_passed(reader) && !is_joined(reader)) return false;
  }
  return true;
}

bool TransposeMoves::lead_on_from(const NodeView& node) {
  const auto lets_come = [this](const NodeView& n) {
    if (is_transpose(n)) return true;
    if (!is_passed(n)) return false;
    for (int k = 0; k < n.output_count(); ++k)
      if (leading_.count(n.output(k)) != 0) return true;
    return false;
  };
  if (!leading_known_) {
    const std::vector<int>& order = model_.execution_order();
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const NodeView& n = *nodes_[static_cast<size_t>(*i)];
      if (!lets_come(n)) continue;
      for (int k = 0; k < n.input_count(); ++k) leading_.insert(n.input(k));
    }
    leading_known_ = true;
  }
  return lets_come(node);
}

bool TransposeMoves::gets_pair(const NodeView& node) const {
  if (!is_transpose(node) || model_.uses(node.output(0)) != 1) return false;
  const std::vector<int>& readers = model_.readers(node.output(0));
  return readers.empty() || nodes_[static_cast<size_t>(readers[0])]->op() != "QuantizeLinear";
}

}  // namespace qrt::convert::from_onnx

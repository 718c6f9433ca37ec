// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/roles.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace qrt::quantize {
namespace {

template <size_t n>
bool is_one_of(const std::string& op, const std::array<const char*, n>& names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return op == name; });
}

constexpr std::array kFunctions = {
    "LeakyRelu", "Sigmoid",  "Tanh",     "HardSigmoid", "HardSwish",  "Elu",
    "Selu",      "Softplus", "Softsign", "Mish",        "Gelu",       "Erf",
    "Exp",       "Log",      "Celu",     "Shrink",      "Reciprocal", "ThresholdedRelu",
    "Floor",     "Ceil",     "Round",    "Sign",        "Swish",      "Abs",
    "Neg",       "Sqrt",     "QuickGelu"};
constexpr std::array kBinaries = {"Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", "Pow"};
constexpr std::array kMoves = {
    "Reshape",   "Transpose",    "Flatten",      "Squeeze",       "Unsqueeze",     "Slice",
    "Split",     "Pad",          "Gather",       "Expand",        "Tile",          "MaxPool",
    "ReduceMax", "ReduceMin",    "Resize",       "Upsample",      "GatherND",      "Identity",
    "Dropout",   "DepthToSpace", "SpaceToDepth", "GlobalMaxPool", "GatherElements"};
constexpr std::array kMeans = {"AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum"};
constexpr std::array kLayers = {"Conv", "ConvTranspose", "Gemm", "MatMul"};

bool is_constant(const FloatModel& model, const Node& node, size_t i) {
  return node.has_input(i) && model.constant(node.inputs[i]) != nullptr;
}

Role binary(const FloatModel& model, const Node& node) {
  const bool a = is_constant(model, node, 0), b = is_constant(model, node, 1);
  if (!a && !b) return Role::kPair;
  const Tensor& constant = *model.constant(node.inputs[a ? 0 : 1]);
  return node.op == "Pow" && constant.size() != 1 ? Role::kFloat : Role::kFunction;
}

}  // namespace

Roles::Roles(const FloatModel& model) : model_(model) {
  for (const Node& n : model.nodes)
    if (n.op == "Sub") differences_.emplace(n.inputs[0], n.inputs[1]);
}

// Returns whether the node is the mean that a LayerNormalization written as single nodes subtracts
// from its input.
bool Roles::centres(const Node& mean) const {
  return differences_.count({mean.inputs[0], mean.outputs[0]}) != 0;
}

Role Roles::of(const Node& node) const {
  const auto result = model_.values.find(node.outputs[0]);
  if (result != model_.values.end() && result->second.element != Element::kFloat)
    return Role::kIndices;
  const std::string& op = node.op;
  if (op == "DequantizeLinear") return Role::kCodes;
  if (!node.domain.empty()) return is_one_of(op, kFunctions) ? Role::kFunction : Role::kFloat;
  if (is_one_of(op, kLayers)) {
    if (!is_constant(model_, node, 1))
      return is_constant(model_, node, 0) ? Role::kFloat : Role::kProduct;
    return is_constant(model_, node, 0) ? Role::kFloat : Role::kLayer;
  }
  if (op == "Relu" || op == "Clip") return Role::kLimit;
  if (is_one_of(op, kFunctions)) return Role::kFunction;
  if (is_one_of(op, kBinaries) && node.inputs.size() == 2) return binary(model_, node);
  if (is_one_of(op, kMoves)) return Role::kMove;
  if (op == "Concat") return Role::kConcat;
  if (op == "ReduceMean" && centres(node)) return Role::kFloat;
  if (is_one_of(op, kMeans)) return Role::kMean;
  if (op == "Softmax") return has_open_rows(node) ? Role::kFloat : Role::kSoftmax;
  return Role::kFloat;
}

// Returns whether the rows of a Softmax have an open length: of integers its table would be another for another length.
bool Roles::has_open_rows(const Node& softmax) const {
  const auto result = model_.values.find(softmax.outputs[0]);
  if (model_.sizes.empty() || result == model_.values.end()) return false;
  const Dims& shape = result->second.shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = softmax.integer("axis", -1), first = axis < 0 ? axis + rank : axis;
  const int64_t end = softmax.has("flatten") ? rank : first + 1;
  for (int64_t d = first; d >= 0 && d < std::min(end, rank); ++d)
    if (shape[static_cast<size_t>(d)] < 0) return true;
  return false;
}

bool varies_along_several(const Tensor& constant) {
  return std::count_if(constant.shape.begin(), constant.shape.end(),
                       [](int64_t d) { return d != 1; }) > 1;
}

}  // namespace qrt::quantize

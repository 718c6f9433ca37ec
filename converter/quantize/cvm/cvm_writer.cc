// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/cvm/cvm_writer.h"

#include "converter/quantize/cvm/operators.h"
#include "converter/quantize/schemes/roles.h"

namespace qrt::quantize {
namespace {

Status cvm_none(const Node& /*node*/, CvmValues* /*values*/) {
  return error(Code::kUnsupported, "CVM has no operators for it");
}

CvmOperator of_move(const std::string& op) {
  static const std::map<std::string, CvmOperator> rows = {{"Reshape", cvm_reshape},
                                                          {"Flatten", cvm_reshape},
                                                          {"Squeeze", cvm_reshape},
                                                          {"Unsqueeze", cvm_reshape},
                                                          {"Identity", cvm_reshape},
                                                          {"Dropout", cvm_reshape},
                                                          {"Transpose", cvm_transpose},
                                                          {"Slice", cvm_slice},
                                                          {"MaxPool", cvm_max_pool},
                                                          {"Resize", cvm_resize},
                                                          {"DepthToSpace", cvm_depth_to_space}};
  const auto row = rows.find(op);
  return row == rows.end() ? cvm_none : row->second;
}

CvmOperator operator_for(const Roles& roles, const Node& node) {
  switch (roles.of(node)) {
    case Role::kLayer:
      if (node.op == "Conv") return cvm_conv;
      return node.op == "ConvTranspose" ? cvm_none : cvm_dense;
    case Role::kLimit: return cvm_limit;
    case Role::kFunction: return cvm_function;
    case Role::kPair: return cvm_pair;
    case Role::kConcat: return cvm_concat;
    case Role::kMean: return node.op == "AveragePool" ? cvm_average_pool : cvm_mean;
    case Role::kMove: return of_move(node.op);
    default: return cvm_none;
  }
}

}  // namespace

Status write_cvm(const FloatModel& model, const Placement& placement, const Parameters& parameters,
                 const Interpreter& interpreter, CvmModel* cvm) {
  *cvm = CvmModel();
  if (model.inputs.size() != 1 || !placement.is_coded(model.inputs[0].name))
    return error(Code::kUnsupported,
                 "a CVM model has one input, of numbers, and this one has %zu: try --scheme ort-u8",
                 model.inputs.size());
  CvmSymbol symbol;
  CvmNumbers numbers(&symbol);
  CvmValues values(model, placement, parameters, interpreter, &numbers);
  cvm->input = {model.inputs[0].name, values.step(model.inputs[0].name)};
  Dims shape;
  QRT_TRY(values.shape(cvm->input.name, &shape));
  values.set(cvm->input.name, {symbol.add_input(shape, kCvmByte), cvm->input.step, {}, 0});
  const Roles roles(model);
  for (const Node& node : model.nodes) {
    numbers.set_name(node.name);
    Status status = operator_for(roles, node)(node, &values);
    if (!status.ok())
      return std::move(status).at(
          node.label() + " (the scheme cvm is for convolutional networks: try --scheme ort-u8)");
  }
  std::vector<int> heads;
  for (const Value& v : model.outputs) {
    const CvmNumber* made = values.number(v.name);
    CvmNumber y;
    if (made)
      y = numbers.without_factors(*made);
    else
      QRT_TRY(values.as_int32(v.name, &y));
    heads.push_back(y.entry);
    cvm->outputs.push_back({v.name, y.step});
  }
  cvm->symbol = symbol.symbol(heads);
  cvm->params = symbol.params();
  return {};
}

}  // namespace qrt::quantize

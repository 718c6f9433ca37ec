// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

// The most elements of a folded result; a larger one is folded only where it has no more elements
// than its operands together.
constexpr int64_t kSmall = 4096;
// The most terms of a node's sums: longer ones are left to the model's runs.
constexpr double kFoldedTerms = 0x1p28;

// Returns limits for a run that folds constants: results that would be left out for their size are not made.
RunLimits limits_of(const FloatModel& model) {
  RunLimits limits = model.limits;
  int64_t most = kSmall;
  for (const auto& [name, constant] : model.constants) most += constant.size();
  limits.value = std::min(limits.value, most);
  limits.terms = std::min(limits.terms, kFoldedTerms);
  return limits;
}

}  // namespace

Status fold_constants(FloatModel* model) {
  Interpreter interpreter;
  FloatModel nothing;
  nothing.limits = limits_of(*model);
  QRT_TRY(interpreter.create(nothing, 1));
  std::set<std::string> outputs;
  for (const Value& v : model->outputs) outputs.insert(v.name);
  for (Node& node : model->nodes) {
    if (node.op == "DequantizeLinear") continue;  // its integers are the model's own
    std::vector<const Tensor*> inputs;
    bool all = true;
    int64_t most = kSmall;
    for (const std::string& name : node.inputs) {
      const Tensor* constant = name.empty() ? nullptr : model->constant(name);
      all = all && (name.empty() || constant != nullptr);
      if (constant != nullptr) most += constant->size();
      inputs.push_back(constant);
    }
    if (!all) continue;
    std::vector<Tensor> results;
    // Nodes that cannot be computed are reported when the model runs.
    if (!interpreter.run_node(node, inputs, &results).ok()) continue;
    bool fits = true;
    for (const Tensor& t : results) fits = fits && t.size() <= most;
    for (const std::string& name : node.outputs) fits = fits && outputs.count(name) == 0;
    if (!fits) continue;
    for (size_t i = 0; i < results.size(); ++i)
      if (!node.outputs[i].empty()) model->constants[node.outputs[i]] = std::move(results[i]);
    node = Node();
  }
  drop_unused(model);
  return Status();
}

}  // namespace qrt::quantize

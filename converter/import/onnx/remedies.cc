// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/remedies.h"

#include <algorithm>

#include "converter/import/common/shell_word.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns the tensors that the node reads, that nodes compute and that are not refused, each once.
std::vector<std::string> computed_inputs(Importer& importer, const NodeView& node) {
  std::vector<std::string> names;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i) || importer.is_free_of_inputs(node.input(i))) continue;
    const std::string name = node.input(i);
    if (!importer.producer(name) || importer.input(node, i).is_refused()) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Returns the first result that the node has.
const std::string& result_of(const NodeView& node) {
  int i = 0;
  while (!node.has_output(i) && i + 1 < node.output_count()) ++i;
  return node.output(i);
}

}  // namespace

std::string input_shape_option(Importer& importer, int64_t first) {
  const Graph& graph = importer.graph();
  if (graph.inputs.empty()) return "--input-shape NAME=" + std::to_string(first) + "x3x224x224";
  const Value& input = graph.values[graph.inputs[0]];
  std::string sizes = std::to_string(first);
  for (int d = 1; d < input.type.shape.rank(); ++d)
    sizes += "x" + std::to_string(input.type.shape[d]);
  return "--input-shape " + shell_word(input.name + "=" + sizes);
}

std::string remedy_for_file(const Model& model) {
  const int64_t opset = model.opset("");
  if (opset == 0 || (opset >= kMinOpset && opset <= kMaxOpset))
    return "export the model again with fewer nodes and without functions in functions, as ONNX of "
           "IR version 3 to 13";
  const std::string range = std::to_string(kMinOpset) + " to " + std::to_string(kMaxOpset);
  return "convert the file to an opset from " + range +
         " by onnx.version_converter.convert_version, or export the model with one";
}

std::string remedy_for_shapes(Importer& importer) {
  if (importer.graph().batch_is_symbolic && !importer.graph().inputs.empty())
    return "the first dimension of '" + importer.graph().values[importer.graph().inputs[0]].name +
           "', which the file leaves open, was taken for a batch of " +
           std::to_string(importer.batch()) + ": where it is a length, give its size, " +
           input_shape_option(importer, 20);
  return "export the model for inputs of another size, so that no tensor is empty, has more than 6 "
         "dimensions or 2^31 elements";
}

std::string remedy_to_compute_outside(Importer& importer, const NodeView& node) {
  const std::string result = "make its result '" + result_of(node) + "' an input of the model";
  const std::vector<std::string> names = computed_inputs(importer, node);
  if (names.empty() && importer.is_output(result_of(node)))
    return "compute it elsewhere: between the model's inputs and its output '" + result_of(node) +
           "' qrt finds nothing else to do";
  if (names.empty()) return result + ", and compute it outside";
  std::string options;
  for (const std::string& name : names) options += " --outputs " + shell_word(name);
  return "end the model before it," + options + ", and compute the rest elsewhere; or " + result;
}

std::string remedy_for_constant(Importer& importer, const NodeView& node, int i) {
  const std::string quoted = "'" + node.input(i) + "'";
  const NodeView* maker = importer.producer(node.input(i));
  if (!maker)
    return quoted +
           " is an input of the model: where it is the same in every run, make it an initialiser; "
           "else " +
           remedy_to_compute_outside(importer, node);
  const std::string made =
      quoted + ", which node " + maker->label() + " (" + maker->op_label() + ") computes";
  if (importer.graph().batch_is_symbolic)
    return "fix the inputs' shapes, " + input_shape_option(importer, 1) + ": where " + made +
           ", follows from them alone, it becomes a constant; else " +
           remedy_to_compute_outside(importer, node);
  return "export the model with " + made + " in every run, as a constant; or " +
         remedy_to_compute_outside(importer, node);
}

}  // namespace qrt::convert::from_onnx

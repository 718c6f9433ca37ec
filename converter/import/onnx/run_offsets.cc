// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/run_offsets.h"

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {
namespace {

// The most nodes that are traced back from a number to its origin; exporters put fewer between
// them.
constexpr int kMostSteps = 64;

// Returns the index of the element of input i that element `element` of the output is computed
// from. REQUIRES: the input has one element, or its elements are in the output's order.
int64_t element_of(Importer& importer, const NodeView& node, int i, int64_t element) {
  return importer.input(node, i).shape.elements() == 1 ? 0 : element;
}

// Sets *value to element `element` of input i. Returns false where that is no known integer.
bool constant_element(Importer& importer, const NodeView& node, int i, int64_t element,
                      int64_t* value) {
  const Tensor& t = importer.input(node, i);
  const bool is_known = t.is_plain_constant() && t.constant->is_integer() && element >= 0 &&
                        element < t.constant->elements();
  if (is_known) *value = t.constant->integer(element);
  return is_known;
}

// Traces element *element of the node's output back: sets *input and *element to the input element
// that, plus *offset, equals it. Returns false where the node may do more than add a number.
bool step_back(Importer& importer, const NodeView& node, int* input, int64_t* element,
               int64_t* offset) {
  const std::string& op = node.op();
  *input = 0;
  *offset = 0;
  if (op == "Identity" || op == "Unsqueeze" || op == "Squeeze" || op == "Reshape" ||
      op == "Flatten")
    return true;
  if (op == "Cast") {
    const int from = importer.input(node, 0).type;
    const int64_t to = node.integer("to", 0);
    // A narrower type may hold another number.
    return to == kInt64 ? from == kInt64 || from == kInt32 : to == kInt32 && from == kInt32;
  }
  int64_t value;
  if (op == "Add" || op == "Sub") {
    const Shape &a = importer.input(node, 0).shape, &b = importer.input(node, 1).shape;
    if (a.elements() != 1 && b.elements() != 1 && a != b) return false;  // broadcast
    const bool second =
        constant_element(importer, node, 1, element_of(importer, node, 1, *element), &value);
    if (!second &&
        (op == "Sub" ||
         !constant_element(importer, node, 0, element_of(importer, node, 0, *element), &value)))
      return false;
    *input = second ? 0 : 1;
    if (value == INT64_MIN) return false;
    *offset = op == "Sub" ? -value : value;
    *element = element_of(importer, node, *input, *element);
    return true;
  }
  if (op == "Concat" && node.input_count() <= kMostSteps &&
      importer.input(node, 0).shape.rank() == 1) {
    for (int i = 0; i < node.input_count(); ++i) {
      const int64_t n = importer.input(node, i).shape.elements();
      if (*element < n) {
        *input = i;
        return true;
      }
      *element -= n;
    }
  }
  if (op == "Gather" && importer.input(node, 0).shape.rank() == 1 &&
      constant_element(importer, node, 1, element_of(importer, node, 1, *element), &value)) {
    const int64_t n = importer.input(node, 0).shape[0];
    *element = value < 0 ? value + n : value;
    return true;
  }
  return false;
}

// Traces *found back through the node that writes its tensor. *is_done: step_back() does not know
// the node. Returns false where the offset overflows.
bool step_before(Importer& importer, RunOffset* found, bool* is_done) {
  const NodeView* node = importer.producer(found->base);
  int input;
  int64_t offset, at = found->element;
  *is_done = node == nullptr || node->output(0) != found->base ||
             !step_back(importer, *node, &input, &at, &offset);
  if (*is_done) return true;
  found->base = node->input(input);
  found->element = at;
  return !__builtin_add_overflow(found->offset, offset, &found->offset);
}

}  // namespace

bool find_run_offset(Importer& importer, const std::string& tensor, int64_t element,
                     RunOffset* found) {
  *found = {tensor, element, 0};
  for (int steps = 0; steps < kMostSteps; ++steps) {
    const Tensor& t = importer.tensors().at(found->base);
    if (t.is_plain_constant() && t.constant->is_integer()) {
      if (found->element < 0 || found->element >= t.constant->elements()) return false;
      found->base.clear();
      return !__builtin_add_overflow(found->offset, t.constant->integer(found->element),
                                     &found->offset);
    }
    bool is_done;
    if (!step_before(importer, found, &is_done)) return false;
    if (is_done) return true;
  }
  return true;
}

bool find_origin(Importer& importer, const std::string& tensor, int64_t element, RunOffset* found) {
  *found = {tensor, element, 0};
  bool is_done = false;
  for (int steps = 0; steps < kMostSteps && !is_done; ++steps)
    if (!step_before(importer, found, &is_done)) return false;
  return is_done;
}

}  // namespace qrt::convert::from_onnx

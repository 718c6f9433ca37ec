// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/resources.h"

#include <cstring>
#include <vector>

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;

// Reads the stored value of a constant whose elements are all equal. Returns false where they are
// not, or are of a type that no variable has.
bool read_uniform(const Tensor& t, int32_t* value) {
  const size_t element = t.type == TensorType::INT16 ? 2 : 1;
  if (t.type != TensorType::INT8 && t.type != TensorType::UINT8 && element == 1) return false;
  if (memcmp(t.data, t.data + element, t.bytes - element) != 0) return false;
  int16_t wide;
  if (element == 2) memcpy(&wide, t.data, 2);
  *value = element == 2                 ? wide
           : t.type == TensorType::INT8 ? static_cast<int8_t>(t.data[0]) + 128
                                        : t.data[0];
  return true;
}

}  // namespace

std::pair<std::string, std::string> resource_name(const Op& op) {
  const auto o = op.options<tflite::VarHandleOptions>();
  return {o.container, o.shared_name};
}

Resource* Resources::find_or_add(const std::string& container, const std::string& name) {
  Resource*& found = by_name_[{container, name}];
  if (!found) {
    all_.emplace_back();
    found = &all_.back();
    found->name = name;
  }
  return found;
}

Status Resources::initialise(const Model& model, int index, const Graph& graph, Growth* growth,
                             std::string* rule) {
  QRT_MODEL_CHECK(index != model.subgraph(),
                  "its subgraph is %d, expected another than the model's", index);
  if (!initialised_.insert(index).second) return Status();
  Subgraph subgraph;
  QRT_TRY(model.read_subgraph(index, &subgraph));
  std::vector<Resource*> handles(subgraph.tensors.size());
  for (const Op& op : subgraph.ops) {
    if (op.code == B::VAR_HANDLE && op.outputs.size() == 1) {
      const auto [container, name] = resource_name(op);
      handles[static_cast<size_t>(op.outputs[0])] = find_or_add(container, name);
      continue;
    }
    Resource* r = op.code == B::ASSIGN_VARIABLE && op.has_input(0) && op.has_input(1)
                      ? handles[static_cast<size_t>(op.inputs[0])]
                      : nullptr;
    const Tensor* t = r ? &subgraph.tensors[static_cast<size_t>(op.inputs[1])] : nullptr;
    if (!t || !t->is_constant || !t->problem.empty()) {
      *rule = "its subgraph has " + op.name + " beside assignments of constants";
      return Status();
    }
    growth->charge(t->bytes);
    QRT_TRY(growth->check(graph, model.file_bytes()));
    if (r->current != kNoValue) {
      *rule = "it sets '" + r->name + "' after an operator has used that";
      return Status();
    }
    if (!read_uniform(*t, &r->initial)) {
      *rule = "the first content of '" + r->name +
              "' is not one value for all elements, of int8, uint8 or int16";
      return Status();
    }
    r->type = t->type;
    r->shape = t->shape;
    r->has_type = r->has_initial = true;
  }
  return Status();
}

Status Resources::find_assigned(const Model& model, int index, const Resource** assigned) const {
  *assigned = nullptr;
  if (initialised_.count(index)) return Status();
  Subgraph subgraph;
  QRT_TRY(model.read_subgraph(index, &subgraph));
  std::vector<const Resource*> handles(subgraph.tensors.size());
  for (const Op& op : subgraph.ops) {
    if (op.code == B::VAR_HANDLE && op.outputs.size() == 1)
      if (const auto found = by_name_.find(resource_name(op)); found != by_name_.end())
        handles[static_cast<size_t>(op.outputs[0])] = found->second;
    if (op.code == B::ASSIGN_VARIABLE && op.has_input(0) && !*assigned)
      *assigned = handles[static_cast<size_t>(op.inputs[0])];
  }
  return Status();
}

}  // namespace qrt::convert::from_tflite

// SPDX-License-Identifier: Apache-2.0
// The model's inputs, outputs and variables.
#include <cmath>
#include <map>

#include "converter/import/tflite/importer.h"

namespace qrt::convert::from_tflite {

bool graph_type(TensorType type, DType* dtype) {
  switch (type) {
    case TensorType::FLOAT32: *dtype = DType::kFloat32; return true;
    case TensorType::UINT8: *dtype = DType::kUInt8; return true;
    case TensorType::INT8: *dtype = DType::kInt8; return true;
    case TensorType::INT16: *dtype = DType::kInt16; return true;
    case TensorType::INT32: *dtype = DType::kInt32; return true;
    case TensorType::INT64: *dtype = DType::kInt64; return true;
    case TensorType::BOOL: *dtype = DType::kBool; return true;
    default: return false;
  }
}

// Parameters as they stand at the model's edges, in the file's own domain.
Quantization edge_quantization(const Tensor& tensor) {
  Quantization q;
  if (tensor.scale.size() != 1 || !std::isnormal(tensor.scale[0])) return q;
  const int64_t zero_point = tensor.zero_point[0];
  DType dtype;
  if (!graph_type(tensor.type, &dtype) ||
      (tensor.type != TensorType::INT8 && tensor.type != TensorType::UINT8 &&
       tensor.type != TensorType::INT16))
    return q;
  const Limits limits = Limits::of_source(tensor_quant(dtype, 1, 0));
  if (zero_point < limits.lo || zero_point > limits.hi) return q;
  q.scale = {tensor.scale[0]};
  q.zero_point = {static_cast<int32_t>(zero_point)};
  return q;
}

Quantization stored_quantization(const Tensor& tensor) {
  Quantization q = edge_quantization(tensor);
  for (int32_t& zero_point : q.zero_point) zero_point += tensor.type == TensorType::INT8 ? 128 : 0;
  return q;
}

namespace {

// Adds the same 8-bit tensor with the other sign, and names it.
ValueId flip_sign(GraphBuilder* builder, const Tensor& tensor, const char* what, ValueId x,
                  DType dtype) {
  const ValueId y = builder->flip_sign({tensor.name, what}, x, dtype);
  builder->graph().values[y].quantization = stored_quantization(tensor);
  return y;
}

}  // namespace

Status Importer::import_inputs() {
  for (int i : model_.inputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    State& state = states_[static_cast<size_t>(i)];
    DType dtype = DType::kInt8;
    std::string problem = tensor.problem, remedy = tensor.remedy;
    if (problem.empty() && !graph_type(tensor.type, &dtype)) {
      problem = std::string("has the type ") + type_name(tensor.type);
      remedy = "declare the input as int8, uint8, int16, int32, int64, bool or float32";
    }
    if (!problem.empty()) {
      outcomes_.refuse_outside("input", tensor.name, "the model's input " + problem, remedy);
      state.refused = true;
      state.origin = "refused input '" + tensor.name + "'";
      continue;
    }
    if (graph().inputs.empty() && tensor.shape.rank() > 0) graph().default_batch = tensor.shape[0];
    state.value = builder_.new_value(tensor.name, dtype, tensor.shape);
    graph().values[state.value].quantization = edge_quantization(tensor);
    graph().inputs.push_back(state.value);
    if (tensor.type == TensorType::INT8)
      state.value = flip_sign(&builder_, tensor, "input", state.value, DType::kUInt8);
    if (tensor.type == TensorType::BOOL)
      state.value = builder_.relabel({tensor.name, "input"}, state.value, DType::kUInt8);
  }
  return Status();
}

Status Importer::export_outputs() {
  for (int i : model_.outputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    State& state = states_[static_cast<size_t>(i)];
    if (state.refused) continue;
    make_value(&state, tensor);
    if (state.value == kNoValue) {
      state.value = known_integers(state, tensor);
      if (state.value != kNoValue)
        graph().batch_closed = "output '" + tensor.name + "' is known when the model is converted";
    }
    if (state.value == kNoValue) {
      outcomes_.refuse_outside("output", tensor.name,
                               "the model's output does not depend on its inputs",
                               "end the model at outputs that depend on its inputs, by --outputs");
      continue;
    }
    ValueId y = state.value;
    if (tensor.type == TensorType::INT8) {
      y = flip_sign(&builder_, tensor, "output", y, DType::kInt8);
      graph().values[y].quantization = edge_quantization(tensor);
    } else if (tensor.type == TensorType::BOOL) {
      y = builder_.relabel({tensor.name, "output"}, y, DType::kBool);
    } else if (graph().producer(y) < 0 || graph().is_output(y)) {
      y = builder_.reshape({tensor.name, "output"}, y, builder_.shape_of(y), tensor.name);
    }
    graph().outputs.push_back(y);
  }
  return Status();
}

ValueId Importer::variable(const Op& op, int i, DType dtype, const Shape& shape, int32_t initial) {
  const Tensor& t = input(op, i);
  State& state = states_[static_cast<size_t>(op.inputs[static_cast<size_t>(i)])];
  const auto no = [&](const char* rule, const char* remedy) {
    (void)refuse(op, quoted_input(op, i) + rule, t.name, remedy);
    return kNoValue;
  };
  if (!t.is_variable || t.is_constant)
    return no(" is not a variable tensor", "declare the state as a variable");
  if (state.value != kNoValue)
    return no(" is the state of an earlier operator, too", "give every operator its own state");
  state.value = builder_.new_value(t.name, dtype, shape);
  variables_.push_back({state.value, kNoValue, initial});
  return state.value;
}

void Importer::set_next(ValueId variable, ValueId next) {
  for (Variable& v : variables_)
    if (v.value == variable) v.next = next;
}

Resource* Importer::resource(const Op& op, int i) {
  Resource* found = state(op, i).resource;
  if (!found)
    (void)refuse(op, quoted_input(op, i) + " is not a handle of a variable", input(op, i).name,
                 "read and assign the handle that VAR_HANDLE makes");
  return found;
}

void Importer::set_resource(const Op& op, const std::pair<std::string, std::string>& name) {
  states_[static_cast<size_t>(op.outputs[0])].resource =
      resources_.find_or_add(name.first, name.second);
}

Status Importer::call_once(const Op& op) {
  std::string rule;
  QRT_TRY(resources_.initialise(model_, op.options<tflite::CallOnceOptions>().init_subgraph_index,
                                graph(), &growth_, &rule));
  if (!rule.empty())
    return refuse(op, rule, "", "give every variable one value for all its elements at first");
  became(op, "variable", "I0");
  return Status();
}

Status Importer::check_shared_variables() {
  if (model_.signatures().size() < 2 || resources_.all().empty()) return Status();
  for (int i = 0; i < model_.subgraph_count(); ++i) {
    if (i == model_.subgraph()) continue;
    const Resource* shared;
    QRT_TRY(resources_.find_assigned(model_, i, &shared));
    if (!shared) continue;
    outcomes_.refuse_outside("variable", shared->name,
                             "another signature of the file sets the variable, too",
                             "put all that uses the variable into one signature");
    return Status();
  }
  return Status();
}

void Importer::name_edges() {
  const Signature* signature = model_.chosen();
  if (!signature) return;
  graph().name = signature->name;
  const auto name = [&](const std::vector<int>& tensors, const Signature::Names& names,
                        const std::vector<ValueId>& values) {
    std::multimap<int, std::string> by_tensor;
    for (const auto& [text, tensor] : names) by_tensor.emplace(tensor, text);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto found = by_tensor.lower_bound(tensors[i]);
      if (found == by_tensor.end() || found->first != tensors[i]) continue;
      graph().values[values[i]].name = found->second;
      by_tensor.erase(found);  // a tensor that stands at several places has a name for each
    }
  };
  name(model_.inputs(), signature->inputs, graph().inputs);
  name(model_.outputs(), signature->outputs, graph().outputs);
}

// Makes the variables' values the last inputs and outputs of the graph (ir.h).
void Importer::export_variables() {
  for (const Resource& r : resources_.all())
    if (r.variable != kNoValue) variables_.push_back({r.variable, r.current, r.initial});
  for (const Variable& v : variables_) {
    if (v.next == kNoValue) continue;  // its operator was refused
    ValueId next = v.next;
    if (graph().producer(next) < 0 || graph().is_output(next))
      next = builder_.reshape({graph().values[v.value].name, "variable"}, next,
                              builder_.shape_of(next), "");
    graph().inputs.push_back(v.value);
    graph().outputs.push_back(next);
    graph().variables.push_back({v.initial});
  }
}

}  // namespace qrt::convert::from_tflite

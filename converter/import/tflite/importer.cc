// SPDX-License-Identifier: Apache-2.0
// Imports the operators in the file's order, and keeps the states of tensors. Inputs, outputs and
// variables: edges.cc.
#include "converter/import/tflite/importer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/common/shell_word.h"
#include "converter/import/tflite/floats/float_op.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Custom operators that a compiler for an accelerator puts in the place of others, by the beginning of
// their names.
struct Accelerator {
  const char* mark;
  const char* title;
};
constexpr Accelerator kAccelerators[] = {{"ethos-u", "an Arm Ethos-U (Vela)"},
                                         {"edgetpu-custom-op", "a Coral Edge TPU"},
                                         {"NeutronGraph", "an NXP eIQ Neutron NPU"},
                                         {"XC_", "xmos xcore"}};

const Accelerator* find_accelerator(const Op& op) {
  for (const Accelerator& a : kAccelerators)
    if (op.custom_code.compare(0, strlen(a.mark), a.mark) == 0) return &a;
  return nullptr;
}

// Returns a constant's elements as the file has them.
template <class T>
std::vector<T> elements_of(const Tensor& t) {
  std::vector<T> values(t.bytes / sizeof(T));
  __builtin_memcpy(values.data(), t.data, t.bytes);
  return values;
}

bool is_control_flow(tflite::BuiltinOperator code) {
  return code == tflite::BuiltinOperator::IF || code == tflite::BuiltinOperator::WHILE ||
         code == tflite::BuiltinOperator::CALL;
}

}  // namespace

ValueId add_integers(Graph* graph, const std::string& name, TensorType type, const Shape& shape,
                     const std::vector<int32_t>& values) {
  if (type == TensorType::INT64)
    return graph->add_constant(name, DType::kInt64, shape,
                               std::vector<int64_t>(values.begin(), values.end()));
  return graph->add_constant(name, DType::kInt32, shape, values);
}

Importer::Importer(const Model& model, Rounding rounding, Graph* graph, Report* report)
    : model_(model),
      rounding_(rounding),
      has_floats_(has_dynamic_range(model)),
      builder_(graph),
      outcomes_(report),
      states_(model.tensors().size()) {
  for (const Op& op : model.ops()) {
    const std::string unnamed = "#" + std::to_string(op.index) + " (" + op.name + ")";
    outcomes_.add_node(op.output_name.empty() ? unnamed : op.output_name, op.name);
  }
}

Status Importer::run() {
  graph().name = model_.name();
  graph().source_format = "tflite";
  graph().source_producer = model_.description();
  graph().reference = has_floats_                      ? "tflite-hybrid"
                      : rounding_ == Rounding::kSingle ? "tflite-single"
                                                       : "tflite-ref";
  QRT_TRY(import_inputs());
  note_scales();
  size_t visited = 0;
  Status status = visit_all(&visited);
  outcomes_.write(visited);
  QRT_TRY(std::move(status));
  QRT_TRY(export_outputs());
  QRT_TRY(check_shared_variables());
  if (!outcomes_.any_refused()) name_edges();
  export_variables();
  if (!outcomes_.any_refused()) return Status();
  return error(Code::kUnsupported, "the model cannot be converted: %s",
               outcomes_.refusals().c_str());
}

Status Importer::visit_all(size_t* visited) {
  for (const Op& op : model_.ops()) {
    Status status = visit(op);
    if (!status.ok()) return std::move(status).at("operator " + outcomes_.label(op.index));
    ++*visited;
  }
  return Status();
}

Status Importer::visit(const Op& op) {
  const Handler* handler = handler_of(op);
  QRT_MODEL_CHECK(!op.outputs.empty() || (handler && handler->outputs == 0), "has no output");
  if (is_control_flow(op.code))
    return refuse(op, "control flow is not supported", "",
                  end_before(op) + "convert a model for each branch, or with loops unrolled");
  if (!handler) return refuse_unknown(op);
  QRT_MODEL_CHECK(static_cast<int>(op.inputs.size()) >= handler->inputs,
                  "has %zu inputs, expected at least %d", op.inputs.size(), handler->inputs);
  for (int i = 0; i < handler->inputs; ++i)
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
  QRT_MODEL_CHECK(static_cast<int>(op.outputs.size()) >= handler->outputs,
                  "has %zu outputs, expected at least %d", op.outputs.size(), handler->outputs);
  std::string origin;
  for (int i : op.inputs) {
    if (i < 0) continue;
    const State& state = states_[static_cast<size_t>(i)];
    if (origin.empty()) origin = state.origin;
    if (!state.refused || stand_in(i)) continue;
    not_assessed(op, state.origin);
    return Status();
  }
  for (int i : op.outputs) states_[static_cast<size_t>(i)].origin = origin;

  for (int i : op.inputs)
    if (i >= 0 && (!is_usable(op, i, handler->has_state, handler->has_state) || !is_made(op, i)))
      return Status();
  for (int i : op.outputs)
    if (!is_usable(op, i, false, handler->has_state)) return Status();
  for (int i : op.inputs)
    if (i >= 0) growth_.read(model_.tensors()[static_cast<size_t>(i)].bytes_read());
  Status status = growth_.check(graph(), model_.file_bytes());
  if (status.ok()) status = handler->handle(*this, op);
  if (status.code() == Code::kUnsupported)
    return refuse(op, status.message(), op.output_name,
                  "make it smaller: at most 6 dimensions, 2^31 - 1 elements, windows of 65535, "
                  "1024 summands, and floats of two quantised tensors");
  // The file's description of a tensor that is never made may be wrong.
  if (status.code() == Code::kInvalidModel && !origin.empty()) {
    not_assessed(op, origin);
    return Status();
  }
  QRT_TRY(std::move(status));
  return Status();
}

Status Importer::refuse_unknown(const Op& op) {
  if (const Accelerator* a = find_accelerator(op))
    return refuse(op,
                  "the file was compiled for " + std::string(a->title) +
                      ", whose code this custom operator holds",
                  "", "convert the TFLite file that the compiler read");
  const bool is_custom = op.code == tflite::BuiltinOperator::CUSTOM;
  return refuse(
      op,
      is_custom ? "this custom operator is not supported" : "qrt has no form of this operator yet",
      "",
      end_before(op) + "build it of the operators that converter/import/tflite/README.md lists");
}

std::string Importer::end_before(const Op& op) const {
  constexpr size_t kMost = 4;
  std::vector<int> ends;
  const auto has = [](const std::vector<int>& tensors, int i) {
    return std::find(tensors.begin(), tensors.end(), i) != tensors.end();
  };
  for (const int i : op.inputs) {
    if (i < 0 || has(ends, i) || has(model_.inputs(), i)) continue;
    const State& state = states_[static_cast<size_t>(i)];
    const std::string& name = model_.tensors()[static_cast<size_t>(i)].name;
    if (!state.origin.empty() || name.empty())
      return "";  // the refusals before it tell where to end
    if (state.value != kNoValue || state.real) ends.push_back(i);
  }
  if (ends.empty() || ends.size() > kMost) return "";
  std::string text = "end the model before it (";
  for (const int i : ends)
    text += std::string(i == ends[0] ? "" : " ") + "--outputs " +
            shell_word(model_.tensors()[static_cast<size_t>(i)].name);
  return text + "), or ";
}

bool Importer::may_be_blocks(const Op& op, int i) const {
  return op.code == tflite::BuiltinOperator::FULLY_CONNECTED && op.inputs[1] == i &&
         op.inputs[0] != i && input(op, 0).type == TensorType::FLOAT32;
}

bool Importer::is_usable(const Op& op, int i, bool may_be_variable, bool may_be_resource) {
  const Tensor& t = model_.tensors()[static_cast<size_t>(i)];
  if (!t.problem.empty())
    (void)refuse(op, "tensor '" + t.name + "' " + t.problem, t.name, t.remedy);
  else if (t.is_variable && !may_be_variable)
    (void)refuse(op, "tensor '" + t.name + "' keeps its content between runs", t.name,
                 "keep state in SVDF and LSTM operators, or in resource variables");
  else if (t.block != 0 && !may_be_blocks(op, i))
    (void)refuse(op, "tensor '" + t.name + "' is quantised in blocks", t.name,
                 "quantise in blocks the weights of FULLY_CONNECTED with float activations only");
  else if (t.type == TensorType::RESOURCE && !may_be_resource)
    (void)refuse(op, "tensor '" + t.name + "' is a resource", t.name,
                 "read and assign resource variables only");
  else
    return true;
  return false;
}

// Returns whether an operator makes output i: nothing makes outputs beyond those that its handler knows
// of, nor the scratch memory of custom operators.
bool Importer::is_made(const Op& op, int i) {
  const Tensor& t = model_.tensors()[static_cast<size_t>(i)];
  const State& s = states_[static_cast<size_t>(i)];
  if (t.is_constant || t.is_variable || t.shape.elements() == 0) return true;
  if (s.value != kNoValue || s.folded || s.real || s.resource) return true;
  (void)refuse(op, "tensor '" + t.name + "' is made by no operator", t.name,
               "make it an input of the model");
  return false;
}

// Notes the scales for --lint. A tensor is named with the first operator that has it.
void Importer::note_scales() {
  std::vector<bool> seen(model_.tensors().size(), false);
  const auto look = [&](const Op& op, int i) {
    if (i < 0 || seen[static_cast<size_t>(i)]) return;
    seen[static_cast<size_t>(i)] = true;
    const Tensor& t = model_.tensors()[static_cast<size_t>(i)];
    outcomes_.note_scales(op.index, t.name, t.scale);
  };
  for (const Op& op : model_.ops()) {
    for (int i : op.inputs) look(op, i);
    for (int i : op.outputs) look(op, i);
  }
}

const Importer::State& Importer::state(const Op& op, int i) const {
  return states_[static_cast<size_t>(op.inputs[static_cast<size_t>(i)])];
}

const Tensor& Importer::input(const Op& op, int i) const {
  return model_.tensors()[static_cast<size_t>(op.inputs[static_cast<size_t>(i)])];
}

const Tensor& Importer::output(const Op& op, int i) const {
  return model_.tensors()[static_cast<size_t>(op.outputs[static_cast<size_t>(i)])];
}

std::string Importer::quoted_input(const Op& op, int i) const {
  return "input '" + input(op, i).name + "'";
}

bool Importer::read_quant(const Op& op, const Tensor& tensor, Quant* quant, bool any_scale) {
  const std::string quoted = "tensor '" + tensor.name + "'";
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)refuse(op, quoted + " " + rule, tensor.name, remedy);
    return false;
  };
  if (tensor.type == TensorType::FLOAT32)
    return no("is float32: only integer operators are supported",
              "convert the model with full integer quantisation: representative_dataset and "
              "TFLITE_BUILTINS_INT8 in TFLite's converter");
  const Handler* handler = find_handler(op);
  const bool takes_int16 = handler && handler->takes_int16;
  const bool fits = tensor.type == TensorType::INT8 || tensor.type == TensorType::UINT8 ||
                    (tensor.type == TensorType::INT16 && takes_int16);
  if (!fits)
    return no(std::string("is ") + type_name(tensor.type) + ": only " +
                  (takes_int16 ? "int8, uint8 and int16" : "int8 and uint8") +
                  " are supported here",
              "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  if (tensor.scale.empty())
    return no("has no quantisation parameters",
              "convert the model with full integer quantisation: representative_dataset and "
              "TFLITE_BUILTINS_INT8 in TFLite's converter");
  if (tensor.scale.size() > 1)
    return no("is quantised per channel",
              "convert the model with activations quantised per tensor, with one scale");
  if (!any_scale && (!std::isnormal(tensor.scale[0]) || tensor.scale[0] < 0))
    return no("has a scale that is not a normal positive number",
              "calibrate again with samples in which this tensor takes its usual values: "
              "qrt_convert --lint names the scales");
  DType dtype;
  graph_type(tensor.type, &dtype);
  *quant = tensor_quant(dtype, tensor.scale[0], 0);
  const Limits limits = Limits::of_source(*quant);
  if (tensor.zero_point[0] < limits.lo || tensor.zero_point[0] > limits.hi)
    return no("has the zero point " + std::to_string(tensor.zero_point[0]) + ", outside its type",
              "quantise the tensor with a zero point that its type holds");
  quant->zero_point[0] = static_cast<int32_t>(tensor.zero_point[0]);
  return true;
}

bool Importer::read_quants(const Op& op, int i, Quant* in, Quant* out, bool any_scale) {
  if (!read_quant(op, input(op, i), in, any_scale) || !read_quant(op, output(op), out, any_scale))
    return false;
  if (in->type == out->type) return true;
  (void)refuse(
      op,
      std::string("the input is ") + dtype_name(in->type) + ", the output " + dtype_name(out->type),
      output(op).name, "build the model so that input and output have one type");
  return false;
}

const std::vector<int32_t>* Importer::folded(const Op& op, int i) const {
  return state(op, i).folded.get();
}

void Importer::fold(const Op& op, std::vector<int32_t> values, int output) {
  growth_.charge(values.size() * sizeof(values[0]));
  states_[static_cast<size_t>(op.outputs[static_cast<size_t>(output)])].folded =
      std::make_shared<const std::vector<int32_t>>(std::move(values));
}

bool Importer::read_integers(const Op& op, int i, std::vector<int32_t>* values) {
  if (const auto* known = folded(op, i)) {
    *values = *known;
    return true;
  }
  const Tensor& t = input(op, i);
  const bool is_int64 = t.type == TensorType::INT64;
  if (!t.is_constant || (t.type != TensorType::INT32 && !is_int64)) {
    (void)refuse(op, quoted_input(op, i) + " is not an int32 constant", t.name,
                 "store it as a constant of the model");
    return false;
  }
  if (!is_int64) {
    *values = elements_of<int32_t>(t);
    return true;
  }
  values->clear();
  for (const int64_t v : elements_of<int64_t>(t)) {
    if (v < INT32_MIN || v > INT32_MAX) {
      (void)refuse(op, quoted_input(op, i) + " has an element beyond int32", t.name,
                   "build the model with numbers within int32");
      return false;
    }
    values->push_back(static_cast<int32_t>(v));
  }
  return true;
}

Status Importer::refuse(const Op& op, const std::string& rule, const std::string& tensor,
                        const std::string& remedy) {
  for (int i : op.outputs) {
    states_[static_cast<size_t>(i)].refused = true;
    states_[static_cast<size_t>(i)].origin = "refused operator " + outcomes_.label(op.index);
  }
  outcomes_.refuse(op.index, rule, tensor, remedy);
  return Status();
}

void Importer::became(const Op& op, const std::string& result, const std::string& level) {
  outcomes_.became(op.index, result, level);
}

void Importer::not_assessed(const Op& op, const std::string& origin) {
  outcomes_.depends_on(op.index, origin);
  for (int i : op.outputs) {
    states_[static_cast<size_t>(i)].refused = true;
    states_[static_cast<size_t>(i)].origin = origin;
  }
}

bool Importer::stand_in(int tensor) {
  const Tensor& t = model_.tensors()[static_cast<size_t>(tensor)];
  State& state = states_[static_cast<size_t>(tensor)];
  const bool activation = t.type == TensorType::INT8 || t.type == TensorType::UINT8 ||
                          t.type == TensorType::INT16 || t.type == TensorType::FLOAT32 ||
                          t.type == TensorType::BOOL;
  DType dtype;
  if (!activation || !t.problem.empty() || !graph_type(t.type, &dtype)) return false;
  state.refused = false;
  const bool is_byte = t.type == TensorType::INT8 || t.type == TensorType::BOOL;
  state.value = builder_.new_value(t.name, is_byte ? DType::kUInt8 : dtype, t.shape);
  graph().values[state.value].quantization = stored_quantization(t);
  return true;
}

void Importer::set_real(const Op& op, Real real, int output) {
  growth_.charge(real.table.size() * sizeof(real.table[0]));
  states_[static_cast<size_t>(op.outputs[static_cast<size_t>(output)])].real =
      std::make_shared<const Real>(std::move(real));
}

void Importer::make_value(State* state, const Tensor& tensor) {
  if (state->value != kNoValue || !state->real) return;
  const Real& real = *state->real;
  const auto n = static_cast<size_t>(tensor.shape.elements());
  state->value =
      real.is_constant()
          ? graph().add_constant(tensor.name, DType::kFloat32, tensor.shape,
                                 std::vector<float>(n, real.table[0]))
          : real_value(&builder_, {tensor.name, "float"}, real, tensor.shape, tensor.name);
}

bool Importer::reads_real(const Op& op) const {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const int at = static_cast<int>(i);
    if (!op.has_input(at) || input(op, at).type != TensorType::FLOAT32 || real(op, at)) continue;
    if (!input(op, at).is_constant || input(op, at).shape.elements() != 1) return false;
  }
  return true;
}

const Handler* Importer::handler_of(const Op& op) const {
  if (!op.outputs.empty() && output(op).type == TensorType::FLOAT32) {
    const Handler* of_bytes = find_float_handler(op);
    if (of_bytes && (!has_floats_ || reads_real(op))) return of_bytes;
    const Handler* of_floats = has_floats_ ? find_dynamic_handler(op) : nullptr;
    if (of_floats) return of_floats;
  }
  return find_handler(op);
}

ValueId Importer::value(const Op& op, int i) {
  State& state = states_[static_cast<size_t>(op.inputs[static_cast<size_t>(i)])];
  const Tensor& t = input(op, i);
  make_value(&state, t);
  if (state.value != kNoValue) return state.value;
  state.value = known_integers(state, t);
  if (state.value != kNoValue || !t.is_constant) return state.value;
  if (has_floats_ && t.type == TensorType::FLOAT32) {
    state.value = graph().add_constant(t.name, DType::kFloat32, t.shape, elements_of<float>(t));
    return state.value;
  }
  // Only operands whose parameters were read before are asked for.
  Quant quant;
  if (!read_quant(op, t, &quant, /*any_scale=*/true)) return kNoValue;
  std::vector<int32_t> stored(static_cast<size_t>(t.shape.elements()));
  for (size_t k = 0; k < stored.size(); ++k) {
    int16_t element = quant.type == DType::kInt8 ? static_cast<int8_t>(t.data[k]) : t.data[k];
    if (quant.is_int16()) __builtin_memcpy(&element, t.data + 2 * k, 2);
    stored[k] = element + quant.offset();
  }
  state.value = builder_.stored_constant(t.name, quant.stored_type(), t.shape, stored);
  graph().values[state.value].quantization = convert::stored_quantization(quant);
  return state.value;
}

ValueId Importer::known_integers(const State& state, const Tensor& t) {
  if (state.folded) return add_integers(&graph(), t.name, t.type, t.shape, *state.folded);
  if (!t.is_constant) return kNoValue;
  switch (t.type) {
    case TensorType::INT32:
      return graph().add_constant(t.name, DType::kInt32, t.shape, elements_of<int32_t>(t));
    case TensorType::INT64:
      return graph().add_constant(t.name, DType::kInt64, t.shape, elements_of<int64_t>(t));
    case TensorType::BOOL: {
      std::vector<uint8_t> truth = elements_of<uint8_t>(t);
      for (uint8_t& v : truth) v = v != 0;
      return graph().add_constant(t.name, DType::kUInt8, t.shape, truth);
    }
    default: return kNoValue;
  }
}

void Importer::set_output(const Op& op, ValueId value, int i) {
  states_[static_cast<size_t>(op.outputs[static_cast<size_t>(i)])].value = value;
}

ValueId Importer::new_output(const Op& op, const Quant& quant) {
  const ValueId y =
      builder_.new_value(output(op).name, quant.stored_type(), output(op).shape, &quant);
  set_output(op, y);
  return y;
}

Status Importer::finish_copy(const Op& op, ValueId x, const std::string& result, int i) {
  const Tensor& to = output(op, i);
  Value& made = graph().values[x];
  if (to.type == TensorType::INT16) {
    const Quantization q = edge_quantization(to);
    if (made.quantization.zero_point != q.zero_point)
      return refuse(op, "the copy has another zero point than its source", to.name,
                    "quantise 16-bit activations with zero point 0");
  }
  if (to.type == TensorType::INT8 || to.type == TensorType::UINT8) {
    // The file may give a copy other parameters than its source: the bytes stay, what they mean
    // does not. An identity table keeps the two apart until the passes have looked.
    Quantization q = stored_quantization(to);
    if (made.quantization.zero_point != q.zero_point || made.quantization.scale != q.scale) {
      std::vector<uint8_t> identity(256);
      for (size_t k = 0; k < 256; ++k) identity[k] = static_cast<uint8_t>(k);
      x = builder_.lut(op, x, identity, false, to.name, nullptr);
      graph().values[x].quantization = q;
    }
  }
  set_output(op, x, i);
  became(op, result, "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite

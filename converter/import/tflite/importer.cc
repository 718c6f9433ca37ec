// The walk over the operators: inputs, operators in order, outputs, and what handlers add to the
// graph.
#include "converter/import/tflite/importer.h"

#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/handlers.h"
#include "converter/lint.h"

namespace qrt::convert::from_tflite {
namespace {

bool graph_type(TensorType type, DType* dtype) {
  switch (type) {
    case TensorType::FLOAT32: *dtype = DType::kFloat32; return true;
    case TensorType::UINT8: *dtype = DType::kUInt8; return true;
    case TensorType::INT8: *dtype = DType::kInt8; return true;
    case TensorType::INT16: *dtype = DType::kInt16; return true;
    case TensorType::INT32: *dtype = DType::kInt32; return true;
    default: return false;
  }
}

bool is_control_flow(tflite::BuiltinOperator code) {
  return code == tflite::BuiltinOperator::IF || code == tflite::BuiltinOperator::WHILE ||
         code == tflite::BuiltinOperator::CALL || code == tflite::BuiltinOperator::CALL_ONCE;
}

// Parameters as they stand at the model's edges, in the file's own domain.
Quantization edge_quantization(const Tensor& tensor) {
  Quantization q;
  if (tensor.scale.size() != 1 || !std::isnormal(tensor.scale[0])) return q;
  const int64_t zero_point = tensor.zero_point[0];
  if (tensor.type != TensorType::INT8 && tensor.type != TensorType::UINT8 &&
      tensor.type != TensorType::INT16)
    return q;
  const Limits limits = Quant{tensor.type}.limits();
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

}  // namespace

Importer::Importer(const Model& model, Rounding rounding, Graph* graph, Report* report)
    : model_(model),
      rounding_(rounding),
      graph_(graph),
      report_(report),
      states_(model.tensors().size()),
      reported_(model.ops().size()) {}

Status Importer::run() {
  graph_->name = model_.name();
  graph_->source_format = "tflite";
  graph_->source_producer = model_.description();
  graph_->reference = rounding_ == Rounding::kSingle ? "tflite-single" : "tflite-ref";
  QRT_TRY(import_inputs());
  note_scales();
  for (const Op& op : model_.ops()) {
    Status status = visit(op);
    if (!status.ok()) return std::move(status).at("operator " + label(op));
  }
  QRT_TRY(export_outputs());
  export_variables();
  if (!report_->has_refusals()) return Status();
  return error(Code::kUnsupported, "%zu of %zu operators cannot be converted",
               report_->count(convert::Outcome::kRefused), model_.ops().size());
}

Status Importer::import_inputs() {
  for (int i : model_.inputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    State& state = states_[static_cast<size_t>(i)];
    DType dtype;
    std::string problem = tensor.problem, remedy = tensor.remedy;
    if (problem.empty() && !graph_type(tensor.type, &dtype)) {
      problem = std::string("has the type ") + type_name(tensor.type);
      remedy = "declare the input as int8, uint8, int16 or float32";
    }
    if (!problem.empty()) {
      report_->refused(tensor.name, "input", "the model's input " + problem, tensor.name, remedy);
      state.refused = true;
      state.origin = "refused input '" + tensor.name + "'";
      continue;
    }
    if (graph_->inputs.empty() && tensor.shape.rank() > 0) graph_->default_batch = tensor.shape[0];
    state.value = new_value(tensor.name, dtype, tensor.shape);
    graph_->values[state.value].quantization = edge_quantization(tensor);
    graph_->inputs.push_back(state.value);
    if (tensor.type == TensorType::INT8)
      state.value = flip_sign(tensor, "input", state.value, DType::kUInt8);
  }
  return Status();
}

Status Importer::visit(const Op& op) {
  QRT_MODEL_CHECK(!op.outputs.empty(), "has no output");
  const Handler* handler = find_handler(op.code);
  if (is_control_flow(op.code))
    return refuse(op, "control flow is not supported", "", "export the model without it");
  if (op.code == tflite::BuiltinOperator::CUSTOM)
    return refuse(op, "custom operators are not supported", "",
                  "keep it outside the model, or express it by builtin operators");
  if (!handler)
    return refuse(op, "qrt has no integer form of this operator yet", "",
                  "remove it from the exported graph, or keep it outside the model");
  QRT_MODEL_CHECK(static_cast<int>(op.inputs.size()) >= handler->inputs,
                  "has %zu inputs, expected at least %d", op.inputs.size(), handler->inputs);
  for (int i = 0; i < handler->inputs; ++i)
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
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

  const auto check = [&](int i, bool variable) {
    const Tensor& t = model_.tensors()[static_cast<size_t>(i)];
    if (!t.problem.empty())
      (void)refuse(op, "tensor '" + t.name + "' " + t.problem, t.name, t.remedy);
    else if (t.is_variable && !variable)
      (void)refuse(op, "tensor '" + t.name + "' keeps its content between runs", t.name,
                   "keep state in SVDF and LSTM operators only");
    else
      return true;
    return false;
  };
  for (int i : op.inputs)
    if (i >= 0 && !check(i, handler->has_state)) return Status();
  for (int i : op.outputs)
    if (!check(i, false)) return Status();
  Status status = handler->handle(*this, op);
  if (status.code() == Code::kUnsupported)
    return refuse(op, status.message(), output(op).name, "keep the operator's parameters small");
  // What the file says of a tensor that is never made may be wrong.
  if (status.code() == Code::kInvalidModel && !origin.empty()) {
    not_assessed(op, origin);
    return Status();
  }
  QRT_TRY(std::move(status));
  if (!reported_[static_cast<size_t>(op.index)]) became(op, "folded", "I0");
  return Status();
}

// For --lint. A tensor is named with the first operator that has it.
void Importer::note_scales() {
  std::vector<bool> seen(model_.tensors().size(), false);
  const auto look = [&](const Op& op, int i) {
    if (i < 0 || seen[static_cast<size_t>(i)]) return;
    seen[static_cast<size_t>(i)] = true;
    const Tensor& t = model_.tensors()[static_cast<size_t>(i)];
    for (float s : t.scale)
      if (!std::isnormal(s) || s < 0) return lint_scale(label(op), op.name, t.name, s, report_);
  };
  for (const Op& op : model_.ops()) {
    for (int i : op.inputs) look(op, i);
    for (int i : op.outputs) look(op, i);
  }
}

Status Importer::export_outputs() {
  for (int i : model_.outputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    const State& state = states_[static_cast<size_t>(i)];
    if (state.refused) continue;
    if (state.value == kNoValue) {
      report_->refused(tensor.name, "output", "the model's output does not depend on its inputs",
                       tensor.name, "remove this output");
      continue;
    }
    ValueId y = state.value;
    if (tensor.type == TensorType::INT8) {
      y = flip_sign(tensor, "output", y, DType::kInt8);
      graph_->values[y].quantization = edge_quantization(tensor);
    } else if (graph_->producer(y) < 0 || graph_->is_output(y)) {
      const ValueId copy = new_value(tensor.name, graph_->values[y].type.dtype, shape_of(y));
      graph_->values[copy].quantization = graph_->values[y].quantization;
      graph_->nodes.push_back(make_node<fb::ReshapeOptionsT>(tensor.name, "output", {y}, {copy}));
      const Shape& shape = shape_of(copy);
      options<fb::ReshapeOptionsT>(graph_->nodes.back()).shape.assign(shape.begin(), shape.end());
      y = copy;
    }
    graph_->outputs.push_back(y);
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
  state.value = new_value(t.name, dtype, shape);
  variables_.push_back({state.value, kNoValue, initial});
  return state.value;
}

void Importer::set_next(ValueId variable, ValueId next) {
  for (Variable& v : variables_)
    if (v.value == variable) v.next = next;
}

// The values become the last inputs and outputs of the graph (ir.h).
void Importer::export_variables() {
  for (const Variable& v : variables_) {
    if (v.next == kNoValue) continue;  // its operator was refused
    graph_->inputs.push_back(v.value);
    graph_->outputs.push_back(v.next);
    graph_->variables.push_back({v.initial});
  }
}

std::string Importer::node_name(const Op& op) const { return output(op).name; }

std::string Importer::label(const Op& op) const {
  if (!op.outputs.empty() && !node_name(op).empty()) return node_name(op);
  return "#" + std::to_string(op.index) + " (" + op.name + ")";
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

bool Importer::read_quant(const Op& op, const Tensor& tensor, Quant* quant) {
  const std::string quoted = "tensor '" + tensor.name + "'";
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)refuse(op, quoted + " " + rule, tensor.name, remedy);
    return false;
  };
  if (tensor.type == TensorType::FLOAT32)
    return no("is float32: only integer operators are supported",
              "convert the model with full integer quantisation");
  const Handler* handler = find_handler(op.code);
  const bool takes_int16 = handler && handler->takes_int16;
  const bool fits = tensor.type == TensorType::INT8 || tensor.type == TensorType::UINT8 ||
                    (tensor.type == TensorType::INT16 && takes_int16);
  if (!fits)
    return no(std::string("is ") + type_name(tensor.type) + ": only " +
                  (takes_int16 ? "int8, uint8 and int16" : "int8 and uint8") +
                  " are supported here",
              "quantise the activations to int8");
  if (tensor.scale.empty())
    return no("has no quantisation parameters", "convert the model with full integer quantisation");
  if (tensor.scale.size() > 1)
    return no("is quantised per channel", "quantise activations per tensor");
  if (!std::isnormal(tensor.scale[0]))
    return no("has a scale that is not a normal positive number",
              "quantise the model with scales of usual size");
  quant->type = tensor.type;
  quant->scale = tensor.scale[0];
  const Limits limits = quant->limits();
  if (tensor.zero_point[0] < limits.lo || tensor.zero_point[0] > limits.hi)
    return no("has the zero point " + std::to_string(tensor.zero_point[0]) + ", outside its type",
              "quantise the model with a zero point of the tensor's type");
  quant->zero_point = static_cast<int>(tensor.zero_point[0]);
  return true;
}

bool Importer::read_quants(const Op& op, int i, Quant* in, Quant* out) {
  if (!read_quant(op, input(op, i), in) || !read_quant(op, output(op), out)) return false;
  if (in->type == out->type) return true;
  (void)refuse(
      op,
      std::string("the input is ") + type_name(in->type) + ", the output " + type_name(out->type),
      output(op).name, "give both one type");
  return false;
}

const std::vector<int32_t>* Importer::folded(const Op& op, int i) const {
  return state(op, i).folded.get();
}

void Importer::fold(const Op& op, std::vector<int32_t> values, int output) {
  states_[static_cast<size_t>(op.outputs[static_cast<size_t>(output)])].folded =
      std::make_shared<const std::vector<int32_t>>(std::move(values));
}

bool Importer::read_integers(const Op& op, int i, std::vector<int32_t>* values) {
  if (const auto* known = folded(op, i)) {
    *values = *known;
    return true;
  }
  const Tensor& t = input(op, i);
  if (!t.is_constant || t.type != TensorType::INT32) {
    (void)refuse(op, quoted_input(op, i) + " is not an int32 constant", t.name,
                 "make it a constant of the model");
    return false;
  }
  values->resize(t.bytes / sizeof(int32_t));
  __builtin_memcpy(values->data(), t.data, t.bytes);
  return true;
}

Status Importer::refuse(const Op& op, const std::string& rule, const std::string& tensor,
                        const std::string& remedy) {
  for (int i : op.outputs) {
    states_[static_cast<size_t>(i)].refused = true;
    states_[static_cast<size_t>(i)].origin = "refused operator " + label(op);
  }
  reported_[static_cast<size_t>(op.index)] = true;
  report_->refused(label(op), op.name, rule, tensor, remedy);
  return Status();
}

void Importer::became(const Op& op, const std::string& result, const std::string& level) {
  reported_[static_cast<size_t>(op.index)] = true;
  report_->converted(label(op), op.name, result, level);
}

bool Importer::stand_in(int tensor) {
  const Tensor& t = model_.tensors()[static_cast<size_t>(tensor)];
  State& state = states_[static_cast<size_t>(tensor)];
  const bool activation = t.type == TensorType::INT8 || t.type == TensorType::UINT8 ||
                          t.type == TensorType::INT16 || t.type == TensorType::FLOAT32;
  DType dtype;
  if (!activation || !t.problem.empty() || !graph_type(t.type, &dtype)) return false;
  state.refused = false;
  state.value = new_value(t.name, t.type == TensorType::INT8 ? DType::kUInt8 : dtype, t.shape);
  graph_->values[state.value].quantization = stored_quantization(t);
  return true;
}

void Importer::not_assessed(const Op& op, const std::string& origin) {
  if (!reported_[static_cast<size_t>(op.index)])
    report_->not_assessed(label(op), op.name, "depends on " + origin);
  reported_[static_cast<size_t>(op.index)] = true;
  for (int i : op.outputs) {
    states_[static_cast<size_t>(i)].refused = true;
    states_[static_cast<size_t>(i)].origin = origin;
  }
}

ValueId Importer::value(const Op& op, int i) {
  State& state = states_[static_cast<size_t>(op.inputs[static_cast<size_t>(i)])];
  const Tensor& t = input(op, i);
  if (state.value != kNoValue || !t.is_constant) return state.value;
  // Only operands whose parameters were read before are asked for.
  Quant quant;
  if (!read_quant(op, t, &quant)) return kNoValue;
  if (quant.is_wide()) {
    std::vector<int16_t> values(t.bytes / sizeof(int16_t));
    __builtin_memcpy(values.data(), t.data, t.bytes);
    state.value = graph_->add_constant(t.name, DType::kInt16, t.shape, values);
    graph_->values[state.value].quantization.scale = {quant.scale};
    graph_->values[state.value].quantization.zero_point = {quant.zero_point};
    return state.value;
  }
  std::vector<uint8_t> bytes(t.data, t.data + t.bytes);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(b + quant.offset());
  state.value = graph_->add_constant(t.name, DType::kUInt8, t.shape, bytes);
  graph_->values[state.value].quantization.scale = {quant.scale};
  graph_->values[state.value].quantization.zero_point = {quant.stored_zero_point()};
  return state.value;
}

void Importer::set_output(const Op& op, ValueId value, int i) {
  states_[static_cast<size_t>(op.outputs[static_cast<size_t>(i)])].value = value;
}

ValueId Importer::new_value(const std::string& name, DType dtype, const Shape& shape,
                            const Quant* quant) {
  Value v;
  v.name = name;
  v.type = {dtype, shape};
  if (quant) {
    v.quantization.scale = {quant->scale};
    v.quantization.zero_point = {quant->stored_zero_point()};
  }
  return graph_->add_value(std::move(v));
}

ValueId Importer::new_output(const Op& op, const Quant& quant) {
  const ValueId y = new_value(output(op).name, quant.stored_type(), output(op).shape, &quant);
  set_output(op, y);
  return y;
}

ValueId Importer::reshape(const Op& op, ValueId x, const Shape& shape, const std::string& name) {
  const ValueId y = new_value(name, graph_->values[x].type.dtype, shape);
  graph_->values[y].quantization = graph_->values[x].quantization;
  add_node<fb::ReshapeOptionsT>(op, {x}, y).shape.assign(shape.begin(), shape.end());
  return y;
}

ValueId Importer::lut(const Op& op, ValueId x, const std::vector<uint8_t>& table,
                      const std::string& name, const Quant* quant) {
  const ValueId y = new_value(name, DType::kUInt8, shape_of(x), quant);
  const bool per_channel = table.size() > 256;
  const Shape shape =
      per_channel ? Shape{static_cast<int64_t>(table.size() / 256), 256} : Shape{256};
  const ValueId constant = graph_->add_constant("", DType::kUInt8, shape, table);
  add_node<fb::LutOptionsT>(op, {x, constant}, y).per_channel = per_channel;
  return y;
}

ValueId Importer::lut_16(const Op& op, ValueId x, const std::vector<int16_t>& table,
                         const Quant& quant) {
  const ValueId y = new_value(output(op).name, DType::kInt16, shape_of(x), &quant);
  const Shape shape{static_cast<int64_t>(table.size())};
  const ValueId constant = graph_->add_constant("", DType::kInt16, shape, table);
  add_node<fb::LutOptionsT>(op, {x, constant}, y);
  return y;
}

ValueId Importer::limit(const Op& op, ValueId x, const Quant& quant, Limits limits) {
  const ValueId y = new_value(output(op).name, DType::kInt16, shape_of(x), &quant);
  auto& o = add_node<fb::RequantizeOptionsT>(op, {x}, y);
  o.requant = std::make_unique<fb::RequantT>();
  o.requant->kind = fb::RequantKind::INT;
  o.requant->lo = limits.lo;
  o.requant->hi = limits.hi;
  o.requant->stages.push_back(std::make_unique<fb::RequantStageT>());
  o.requant->stages[0]->multiplier = {1};
  o.requant->stages[0]->shift = {0};
  return y;
}

ValueId Importer::flip_sign(const Tensor& tensor, const char* source_op, ValueId x, DType dtype) {
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i ^ 128);
  const ValueId y = new_value(tensor.name, dtype, shape_of(x));
  graph_->values[y].quantization = stored_quantization(tensor);
  const ValueId constant = graph_->add_constant("", DType::kUInt8, {256}, table);
  graph_->nodes.push_back(make_node<fb::LutOptionsT>(tensor.name, source_op, {x, constant}, {y}));
  return y;
}

Status Importer::finish_copy(const Op& op, ValueId x, const std::string& result, int i) {
  const Tensor& to = output(op, i);
  Value& made = graph_->values[x];
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
      x = lut(op, x, identity, to.name, nullptr);
      graph_->values[x].quantization = q;
    }
  }
  set_output(op, x, i);
  became(op, result, "I0");
  return Status();
}

std::unique_ptr<fb::RequantT> Importer::requant_64(const Op& op,
                                                   const std::vector<Multiplier>& multipliers,
                                                   const Quant& out, Limits limits) {
  for (const Multiplier& m : multipliers) {
    if (m.shift <= 7) continue;
    (void)refuse(op, "the scales make a multiplier beyond 2^7", output(op).name,
                 "quantise the model with scales of usual size");
    return nullptr;
  }
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::INT;
  r->zero_point = out.zero_point;
  r->lo = limits.lo;
  r->hi = limits.hi;
  r->stages = requant_stages_64(multipliers);
  return r;
}

std::unique_ptr<fb::RequantT> Importer::requant(const Op& op,
                                                const std::vector<Multiplier>& multipliers,
                                                const Quant& out, Limits limits) {
  for (const Multiplier& m : multipliers) {
    if (m.value >= 0 && m.shift <= 30) continue;
    (void)refuse(op, "the scales make a multiplier beyond 2^30", output(op).name,
                 "quantise the model with scales of usual size");
    return nullptr;
  }
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::INT;
  r->zero_point = out.stored_zero_point();
  r->lo = limits.lo + out.offset();
  r->hi = limits.hi + out.offset();
  r->stages = requant_stages(multipliers, rounding_);
  return r;
}

}  // namespace qrt::convert::from_tflite

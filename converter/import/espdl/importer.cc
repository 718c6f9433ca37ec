// The walk over the operators: inputs, operators in order, outputs, and what handlers add to the graph.
#include "converter/import/espdl/importer.h"

#include <algorithm>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

bool is_float(DataType type) { return type == DataType::FLOAT; }

// As the model's edges declare it.
DType edge_type(DataType type) {
  switch (type) {
    case DataType::INT8: return DType::kInt8;
    case DataType::INT16: return DType::kInt16;
    case DataType::BOOL: return DType::kBool;
    default: return DType::kFloat32;
  }
}

Quantization quantization_of(const Format& format, int zero_point) {
  Quantization q;
  if (!format.is_integer()) return q;
  q.scale = {power_of_two(format.exponent)};
  q.zero_point = {zero_point};
  return q;
}

// Files of August 2024 leave out the batch of images: an input of three dimensions goes into a filter of four.
bool lacks_batch(const Model& model) {
  const auto rank = [&](int i) { return model.tensors()[static_cast<size_t>(i)].shape.rank(); };
  for (const Node& node : model.nodes()) {
    if (node.op != "Conv" || !node.has_input(0) || !node.has_input(1)) continue;
    const auto& inputs = model.inputs();
    const bool is_input = std::find(inputs.begin(), inputs.end(), node.inputs[0]) != inputs.end();
    if (is_input && rank(node.inputs[0]) == 3 && rank(node.inputs[1]) == 4) return true;
  }
  return false;
}

Shape with_batch(const Shape& shape) {
  Shape with{1};
  for (int64_t d : shape) with.push_back(d);
  return with;
}

Shape behind_batch(const Shape& shape) {
  Shape behind;
  for (int i = 1; i < shape.rank(); ++i) behind.push_back(shape[i]);
  return behind;
}

}  // namespace

DType Format::stored_type() const {
  switch (type) {
    case DataType::INT8:
    case DataType::BOOL: return DType::kUInt8;
    case DataType::INT16: return DType::kInt16;
    default: return DType::kFloat32;
  }
}

void set_quantize(const Format& format, Target target, float divisor,
                  fb::QuantizeOptionsT* options) {
  options->scale = {float_bits(divisor)};
  options->zero_point = {format.offset()};
  options->rounding = rounding_of(target);
}

void set_dequantize(const Format& format, fb::DequantizeOptionsT* options) {
  options->scale = {float_bits(power_of_two(format.exponent))};
  options->zero_point = {format.offset()};
}

Importer::Importer(const Model& model, Target target, Graph* graph, Report* report)
    : model_(model),
      target_(target),
      graph_(graph),
      report_(report),
      without_batch_(lacks_batch(model)),
      states_(model.tensors().size()),
      reported_(model.nodes().size()) {}

Status Importer::run(bool float_io) {
  graph_->name = model_.name();
  graph_->source_format = "espdl";
  graph_->source_producer = model_.producer();
  graph_->reference = reference_of(target_);
  QRT_TRY(import_inputs(float_io));
  for (const Node& node : model_.nodes()) {
    Status status = visit(node);
    if (!status.ok()) return std::move(status).at("operator " + label(node));
  }
  QRT_TRY(export_outputs(float_io));
  if (s3_unproven_ > 0) graph_->reference += " (ESP_S3_ACC20_UNPROVEN)";
  // The values become the last inputs and outputs of the graph (ir.h).
  for (const Variable& v : variables_) {
    graph_->inputs.push_back(v.value);
    graph_->outputs.push_back(v.next);
    graph_->variables.push_back({v.initial});
  }
  if (!report_->has_refusals()) return Status();
  return error(Code::kUnsupported, "%zu of %zu operators cannot be converted",
               report_->count(Outcome::kRefused), model_.nodes().size());
}

Status Importer::import_inputs(bool float_io) {
  for (int i : model_.inputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    State& state = states_[static_cast<size_t>(i)];
    Format format{tensor.type, tensor.exponents.empty() ? 0 : tensor.exponents[0]};
    std::string problem = tensor.problem;
    if (problem.empty() && !format.is_integer() && !is_float(format.type))
      problem = std::string("is ") + type_name(tensor.type) + ", expected int8, int16 or float32";
    if (problem.empty() && tensor.shape.elements() <= 0) problem = "has no elements";
    if (!problem.empty()) {
      report_->refused(tensor.name, "input", "the model's input " + problem, tensor.name,
                       "export the model with inputs of int8, int16 or float32");
      state.refused = true;
      state.origin = "refused input '" + tensor.name + "'";
      continue;
    }
    if (graph_->inputs.empty() && tensor.shape.rank() > 0)
      graph_->default_batch = without_batch_ ? 1 : tensor.shape[0];
    const bool quantizes = float_io && format.is_integer();
    ValueId x =
        new_value(tensor.name, quantizes ? DType::kFloat32 : edge_type(format.type), tensor.shape);
    graph_->inputs.push_back(x);
    if (quantizes) {
      const ValueId q = new_value(tensor.name, format, tensor.shape);
      graph_->nodes.push_back(make_node<fb::QuantizeOptionsT>(tensor.name, "input", {x}, {q}));
      auto& o = options<fb::QuantizeOptionsT>(graph_->nodes.back());
      set_quantize(format, target_, power_of_two(format.exponent), &o);
      x = q;
    } else {
      graph_->values[x].quantization = quantization_of(format, 0);
      if (format.type == DataType::INT8) {
        x = at_edge(tensor.name, "input", x, DType::kUInt8);
        graph_->values[x].quantization = quantization_of(format, format.offset());
      }
    }
    if (without_batch_ && tensor.shape.rank() == 3) {
      const ValueId image = new_value(tensor.name, format, with_batch(tensor.shape));
      graph_->nodes.push_back(make_node<fb::ReshapeOptionsT>(tensor.name, "input", {x}, {image}));
      const Shape shape = shape_of(image);
      options<fb::ReshapeOptionsT>(graph_->nodes.back()).shape.assign(shape.begin(), shape.end());
      x = image;
    }
    state.activation = {format, x};
  }
  return Status();
}

Status Importer::visit(const Node& node) {
  QRT_MODEL_CHECK(!node.outputs.empty() && node.outputs[0] >= 0, "has no output");
  for (int i : node.outputs) QRT_MODEL_CHECK(i >= 0, "has an output without a name");
  const Handler* handler = find_handler(node.op);
  if (!handler || (handler->is_specified_only && !is_plain())) {
    const char* why = why_refused(node.op);
    return refuse(node, why ? why : "ESP-DL's runtime has no such operator", "",
                  "replace the operator before exporting, or keep it outside the model");
  }
  for (int i = 0; i < handler->inputs; ++i)
    QRT_MODEL_CHECK(node.has_input(i), "lacks its input %d", i);
  for (int i : node.inputs) {
    if (i < 0 || !states_[static_cast<size_t>(i)].refused) continue;
    const std::string origin = states_[static_cast<size_t>(i)].origin;
    for (int y : node.outputs)
      states_[static_cast<size_t>(y)].refused = true,
      states_[static_cast<size_t>(y)].origin = origin;
    report_->not_assessed(label(node), node.op, "depends on " + origin);
    return Status();
  }
  Status status = handler->handle(*this, node);
  if (status.code() == Code::kUnsupported)
    return refuse(node, status.message(), output(node).name,
                  "keep the operator's parameters small");
  QRT_TRY(std::move(status));
  if (!reported_[static_cast<size_t>(node.index)]) became(node, "folded", "I0");
  return Status();
}

Status Importer::export_outputs(bool float_io) {
  for (int i : model_.outputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    const State& state = states_[static_cast<size_t>(i)];
    if (state.refused) continue;
    if (state.activation.value == kNoValue) {
      report_->refused(tensor.name, "output", "the model's output is a constant", tensor.name,
                       "remove this output");
      continue;
    }
    ValueId y = state.activation.value;
    const Format format = state.activation.format;
    const Shape shape = shape_of(y);
    if (without_batch_ && shape.rank() == 4 && shape[0] == 1) {
      const ValueId image = new_value(tensor.name, format, behind_batch(shape));
      graph_->nodes.push_back(make_node<fb::ReshapeOptionsT>(tensor.name, "output", {y}, {image}));
      const Shape to = shape_of(image);
      options<fb::ReshapeOptionsT>(graph_->nodes.back()).shape.assign(to.begin(), to.end());
      y = image;
    }
    if (float_io && format.is_integer()) {
      const ValueId real = new_value(tensor.name, DType::kFloat32, shape_of(y));
      graph_->nodes.push_back(
          make_node<fb::DequantizeOptionsT>(tensor.name, "output", {y}, {real}));
      set_dequantize(format, &options<fb::DequantizeOptionsT>(graph_->nodes.back()));
      y = real;
    } else if (format.type == DataType::INT8 || format.type == DataType::BOOL) {
      y = at_edge(tensor.name, "output", y, edge_type(format.type));
      graph_->values[y].quantization = quantization_of(format, 0);
    } else if (graph_->producer(y) < 0 || graph_->is_output(y)) {
      const ValueId copy = new_value(tensor.name, format, shape_of(y));
      graph_->nodes.push_back(make_node<fb::ReshapeOptionsT>(tensor.name, "output", {y}, {copy}));
      const Shape to = shape_of(copy);
      options<fb::ReshapeOptionsT>(graph_->nodes.back()).shape.assign(to.begin(), to.end());
      y = copy;
    }
    graph_->values[y].name = tensor.name;
    graph_->outputs.push_back(y);
  }
  return Status();
}

// Bytes between what the edge declares and what is stored: int8 turns its sign bit, bool stays.
ValueId Importer::at_edge(const std::string& name, const char* source_op, ValueId x, DType dtype) {
  const uint8_t flip = dtype == DType::kBool ? 0 : 128;
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(i ^ flip);
  const ValueId y = new_value(name, dtype, shape_of(x));
  const ValueId constant = graph_->add_constant("", DType::kUInt8, {256}, table);
  graph_->nodes.push_back(make_node<fb::LutOptionsT>(name, source_op, {x, constant}, {y}));
  return y;
}

std::string Importer::label(const Node& node) const {
  if (!node.name.empty()) return node.name;
  return "#" + std::to_string(node.index) + " (" + node.op + ")";
}

const Tensor& Importer::input(const Node& node, int i) const {
  return model_.tensors()[static_cast<size_t>(node.inputs[static_cast<size_t>(i)])];
}

const Tensor& Importer::output(const Node& node, int i) const {
  return model_.tensors()[static_cast<size_t>(node.outputs[static_cast<size_t>(i)])];
}

const Tensor* Importer::find(const std::string& name) const {
  const int i = model_.find(name);
  return i < 0 ? nullptr : &model_.tensors()[static_cast<size_t>(i)];
}

std::string Importer::quoted_input(const Node& node, int i) const {
  return "input '" + input(node, i).name + "'";
}

bool Importer::refuse_activation(const Node& node, const Tensor& tensor, const std::string& rule,
                                 const std::string& remedy) {
  (void)refuse(node, "tensor '" + tensor.name + "' " + rule, tensor.name, remedy);
  return false;
}

bool Importer::format_of(const Node& node, const Tensor& tensor, Format* format) {
  if (!tensor.problem.empty())
    return refuse_activation(node, tensor, tensor.problem, "change the model's shapes");
  format->type = tensor.type;
  format->exponent = tensor.exponents.empty() ? 0 : tensor.exponents[0];
  if (tensor.type == DataType::UNDEFINED)
    return refuse_activation(node, tensor,
                             "stands in no value_info: its type and exponent are unknown",
                             "export the model with its value_info");
  if (!format->is_integer() && !is_float(format->type) && format->type != DataType::BOOL)
    return refuse_activation(
        node, tensor,
        std::string("is ") + type_name(tensor.type) + ", for which the runtime has no kernel",
        "quantise the model to int8 or int16");
  if (format->is_integer() && tensor.exponents.size() != 1)
    return refuse_activation(
        node, tensor, "has " + std::to_string(tensor.exponents.size()) + " exponents, expected one",
        "quantise activations per tensor");
  return true;
}

bool Importer::read(const Node& node, int i, Activation* activation) {
  const Tensor& tensor = input(node, i);
  State& state = states_[static_cast<size_t>(node.inputs[static_cast<size_t>(i)])];
  if (state.activation.value == kNoValue) {
    Format format;
    if (!format_of(node, tensor, &format)) return false;
    if (!tensor.is_constant || tensor.bytes == 0)
      return refuse_activation(node, tensor, "has no elements", "remove it from the model");
    state.activation = {format, constant(tensor, format)};
  }
  *activation = state.activation;
  return true;
}

bool Importer::read_integer(const Node& node, int i, Activation* activation) {
  if (!read(node, i, activation)) return false;
  if (activation->format.is_integer()) return true;
  return refuse_activation(
      node, input(node, i),
      std::string("is ") + type_name(activation->format.type) + ", expected int8 or int16",
      "quantise this operator");
}

bool Importer::read_format(const Node& node, int i, Format* format) {
  return format_of(node, output(node, i), format);
}

bool Importer::read_pair(const Node& node, Activation* in, Format* out) {
  if (!read_integer(node, 0, in) || !read_format(node, 0, out)) return false;
  if (in->format.type == out->type) return true;
  return refuse_activation(
      node, output(node),
      std::string("is ") + type_name(out->type) + ", the input " + type_name(in->format.type),
      "give both one type");
}

ValueId Importer::constant(const Tensor& tensor, const Format& format) {
  Value v;
  v.name = tensor.name;
  v.type = {format.stored_type(), tensor.shape};
  v.quantization = quantization_of(format, format.offset());
  v.is_constant = true;
  v.data.assign(tensor.data, tensor.data + tensor.bytes);
  if (format.type == DataType::INT8)
    for (uint8_t& b : v.data) b = static_cast<uint8_t>(b ^ 128);
  return graph_->add_value(std::move(v));
}

bool Importer::read_integers(const Node& node, int i, std::vector<int64_t>* values) {
  const Tensor& t = input(node, i);
  const bool is_known = t.is_constant && t.problem.empty() &&
                        (t.type == DataType::INT64 || t.type == DataType::INT32);
  if (!is_known)
    return refuse_activation(node, t, "is not a constant of int64",
                             "make it a constant of the model");
  *values = t.integers();
  return true;
}

Status Importer::refuse(const Node& node, const std::string& rule, const std::string& tensor,
                        const std::string& remedy) {
  for (int i : node.outputs) {
    states_[static_cast<size_t>(i)].refused = true;
    states_[static_cast<size_t>(i)].origin = "refused operator " + label(node);
  }
  reported_[static_cast<size_t>(node.index)] = true;
  report_->refused(label(node), node.op, rule, tensor, remedy);
  return Status();
}

void Importer::became(const Node& node, const std::string& result, const std::string& level) {
  reported_[static_cast<size_t>(node.index)] = true;
  report_->converted(label(node), node.op, result, level);
}

void Importer::warn(const Node& node, const std::string& rule, const std::string& what,
                    const std::string& remedy) {
  report_->warn({rule, label(node), node.op, what, remedy, {}});
}

ValueId Importer::new_value(const std::string& name, DType dtype, const Shape& shape) {
  Value v;
  v.name = name;
  v.type = {dtype, shape};
  return graph_->add_value(std::move(v));
}

ValueId Importer::new_value(const std::string& name, const Format& format, const Shape& shape) {
  const ValueId id = new_value(name, format.stored_type(), shape);
  graph_->values[id].quantization = quantization_of(format, format.offset());
  return id;
}

ValueId Importer::reshape(const Node& node, ValueId x, const Shape& shape) {
  if (shape_of(x) == shape) return x;
  const ValueId y = new_value("", graph_->values[x].type.dtype, shape);
  graph_->values[y].quantization = graph_->values[x].quantization;
  add_node<fb::ReshapeOptionsT>(node, {x}, y).shape.assign(shape.begin(), shape.end());
  return y;
}

ValueId Importer::transpose(const Node& node, ValueId x, const std::vector<uint8_t>& perm) {
  Shape shape;
  for (uint8_t d : perm) shape.push_back(shape_of(x)[d]);
  const ValueId y = new_value("", graph_->values[x].type.dtype, shape);
  graph_->values[y].quantization = graph_->values[x].quantization;
  add_node<fb::TransposeOptionsT>(node, {x}, y).perm = perm;
  return y;
}

ValueId Importer::gather(const Node& node, ValueId x, const IndexMaps& maps, int64_t fill) {
  if (maps.is_identity()) return x;
  const ValueId y = new_value("", graph_->values[x].type.dtype, maps.to());
  graph_->values[y].quantization = graph_->values[x].quantization;
  add_node<fb::GatherOptionsT>(node, {x}, y) = maps.options(fill);
  return y;
}

ValueId Importer::table(const Node& node, const Activation& x, const std::vector<int16_t>& values,
                        const Format& out) {
  const ValueId y = new_value("", out, shape_of(x.value));
  const Shape shape{static_cast<int64_t>(values.size())};
  ValueId constant;
  // Stored bytes stand in the order of the integers they mean, int16 from the least on.
  if (out.is_int16()) {
    constant = graph_->add_constant("", DType::kInt16, shape, values);
  } else {
    std::vector<uint8_t> bytes;
    for (int16_t v : values) bytes.push_back(static_cast<uint8_t>(v + 128));
    constant = graph_->add_constant("", DType::kUInt8, shape, bytes);
  }
  add_node<fb::LutOptionsT>(node, {x.value, constant}, y);
  return y;
}

ValueId Importer::rescale(const Node& node, const Activation& x, const Format& out) {
  const int shift = out.exponent - x.format.exponent;
  if (x.format.type == out.type && shift == 0) return x.value;
  if (!x.format.is_int16()) {
    std::vector<int16_t> values;
    for (int q = kInt8Limits.lo; q <= kInt8Limits.hi; ++q)
      values.push_back(static_cast<int16_t>(shift_to(target_, q, shift, out.limits())));
    return table(node, x, values, out);
  }
  const ValueId y = new_value("", out, shape_of(x.value));
  add_node<fb::RequantizeOptionsT>(node, {x.value}, y).requant = requant({shift}, kMostLeft64, out);
  return y;
}

ValueId Importer::to_float(const Node& node, const Activation& x) {
  if (!x.format.is_integer()) return x.value;
  const ValueId y = new_value("", DType::kFloat32, shape_of(x.value));
  set_dequantize(x.format, &add_node<fb::DequantizeOptionsT>(node, {x.value}, y));
  return y;
}

ValueId Importer::from_float(const Node& node, ValueId x, float divisor, const Format& out) {
  const ValueId y = new_value("", out, shape_of(x));
  set_quantize(out, target_, divisor, &add_node<fb::QuantizeOptionsT>(node, {x}, y));
  return y;
}

ValueId Importer::float_function(const Node& node, fb::FloatFunction function,
                                 std::vector<ValueId> inputs, const Shape& shape) {
  const ValueId y = new_value("", DType::kFloat32, shape);
  add_node<fb::FloatOptionsT>(node, std::move(inputs), y).function = function;
  return y;
}

ValueId Importer::float_constant(float value) {
  return graph_->add_constant("", DType::kFloat32, {1}, std::vector<float>{value});
}

std::unique_ptr<fb::RequantT> Importer::requant(const std::vector<int>& shifts, int most_left,
                                                const Format& out, Limits limits) {
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::INT;
  r->zero_point = out.offset();
  r->lo = limits.lo + out.offset();
  r->hi = limits.hi + out.offset();
  r->stages.push_back(shift_stage(shifts, rounding(), most_left));
  return r;
}

void Importer::finish(const Node& node, ValueId value, const Format& format, int i) {
  Value& v = graph_->values[value];
  if (v.name.empty()) v.name = output(node, i).name;
  states_[static_cast<size_t>(node.outputs[static_cast<size_t>(i)])].activation = {format, value};
}

ValueId Importer::new_variable(const std::string& name, const Format& format, const Shape& shape) {
  const ValueId value = new_value(name, format, shape);
  variables_.push_back({value, kNoValue, format.offset()});
  return value;
}

void Importer::set_next(ValueId variable, ValueId next) {
  for (Variable& v : variables_)
    if (v.value == variable) v.next = next;
}

Status choose_target(const Model& model, const std::string& asked, Target* target) {
  std::string told = model.target(), why = "its metadata";
  if (told.empty()) {
    for (const Node& node : model.nodes()) {
      if ((node.op != "Conv" && node.op != "Gemm" && node.op != "MatMul") || !node.has_input(1))
        continue;
      const Tensor& w = model.tensors()[static_cast<size_t>(node.inputs[1])];
      if (!w.is_constant) continue;
      const bool is_c =
          w.layout == "NHWC" || w.layout == "NWC" || w.layout == "HWCN" || w.layout == "WCN";
      if (!is_c && w.exponents.size() <= 1) continue;
      told = is_c ? "c" : "esp32p4";
      why = is_c ? "the layout '" + w.layout + "' of '" + w.name + "'"
                 : "the exponents per channel of '" + w.name + "'";
      break;
    }
  }
  if (told.empty() && asked.empty())
    return error(Code::kInvalidArgument,
                 "does not say for which chip it was exported, and rounding depends on it: say "
                 "--target esp32p4, esp32s3 or c");
  const std::string& name = asked.empty() ? told : asked;
  if (!parse_target(name, target))
    return error(Code::kUnsupported,
                 "was exported for the target '%s'; esp32p4, esp32s3 and c are known",
                 name.c_str());
  Target other;
  if (!told.empty() && !asked.empty() && parse_target(told, &other) && other != *target)
    return error(Code::kInvalidArgument, "was exported for %s, as %s says, not for %s",
                 told.c_str(), why.c_str(), asked.c_str());
  return Status();
}

}  // namespace qrt::convert::from_espdl

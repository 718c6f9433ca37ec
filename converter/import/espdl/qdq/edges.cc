// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs, QuantizeLinear and DequantizeLinear: where a QDQ graph says what its integers mean.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/espdl/qdq/ops.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_qdq {
namespace {

constexpr int kMostExponent = 100;  // of an ESP-DL file

// Finds the exponent of a scale. Returns false where it is no power of two of usual size.
bool exponent_of(float scale, int64_t* exponent) {
  int e = 0;
  if (!(scale > 0) || std::frexp(scale, &e) != 0.5f) return false;
  *exponent = e - 1;
  return std::abs(e - 1) <= kMostExponent;
}

DataType data_type(int type) {
  switch (type) {
    case from_onnx::kInt2:
    case from_onnx::kInt4:
    case from_onnx::kInt8: return DataType::INT8;
    case from_onnx::kInt16: return DataType::INT16;
    case from_onnx::kInt32: return DataType::INT32;
    case from_onnx::kFloat: return DataType::FLOAT;
    default: return DataType::UNDEFINED;
  }
}

std::string number(float v) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", static_cast<double>(v));
  return text;
}

template <class T>
ConstantPtr constant_of(int type, const std::vector<T>& values, bool is_scalar) {
  auto c = std::make_shared<Constant>();
  c->type = type;
  if (!is_scalar) c->shape = {static_cast<int64_t>(values.size())};
  c->data.resize(values.size() * sizeof(T));
  if (!values.empty()) memcpy(c->data.data(), values.data(), c->data.size());
  return c;
}

}  // namespace

ConstantPtr Translator::read_constant(const std::string& name) {
  const auto term = terms_.find(name);
  if (term != terms_.end() && term->second.kind == Term::Kind::kConstant)
    return term->second.constant;
  const auto initializer = model_.initializers().find(name);
  const onnx::TensorProto* proto =
      initializer != model_.initializers().end() ? initializer->second : nullptr;
  const int producer = proto ? -1 : model_.producer(name);
  if (producer >= 0 && node(producer).op() == "Constant") {
    const NodeView& n = node(producer);
    proto = n.tensor("value");
    if (n.has("value_float"))
      return constant_of<float>(from_onnx::kFloat, {n.real("value_float", 0)}, true);
    if (n.has("value_int"))
      return constant_of<int64_t>(from_onnx::kInt64, {n.integer("value_int", 0)}, true);
    if (n.has("value_floats"))
      return constant_of(from_onnx::kFloat, n.reals("value_floats"), false);
    if (n.has("value_ints")) return constant_of(from_onnx::kInt64, n.integers("value_ints"), false);
  }
  ConstantPtr constant;
  if (proto == nullptr) {
    if (producer >= 0 && node(producer).op() == "Constant")
      problem_ = error(Code::kInvalidModel, "node %s (Constant) has no value that is known",
                       node(producer).label().c_str());
    return nullptr;
  }
  Status status = from_onnx::read_constant(*proto, &files_, &constant);
  if (!status.ok()) problem_ = std::move(status);
  return constant;
}

// Reads the scales of a QuantizeLinear or DequantizeLinear. Returns false where the node was refused.
bool Translator::parse_scales(const NodeView& n, Scales* scales) {
  const auto no = [&](const std::string& rule, const std::string& tensor, const char* remedy) {
    (void)refuse(n, rule, tensor, remedy);
    return false;
  };
  const bool quantizes = n.op() == "QuantizeLinear";
  if (!n.has_input(1))
    return no("it has no scale", n.input(0), "store a scale for it as an initialiser");
  const ConstantPtr scale = read_constant(n.input(1));
  if (!scale || !scale->is_real() || scale->elements() < 1)
    return no("the scale '" + n.input(1) + "' is not a constant", n.input(1),
              "store it as an initialiser: quantise the model statically, as qrt_quantize MODEL "
              "--scheme espdl-s8 --onnx FILE does");
  if (n.integer("block_size", 0) != 0 || (scale->shape.rank() > 1 && scale->elements() > 1))
    return no("it quantises in blocks", n.input(0),
              "quantise it per tensor or per output channel, not in blocks");
  for (int64_t i = 0; i < scale->elements(); ++i) {
    int64_t exponent;
    if (!exponent_of(scale->real(i), &exponent))
      return no("the scale '" + n.input(1) + "' of the tensor '" + n.input(0) + "' is " +
                    number(scale->real(i)) + ", which is not a power of two from 2^-100 to 2^100",
                n.input(0),
                "quantise with scales that are powers of two, as qrt_quantize MODEL --scheme "
                "espdl-s8 --onnx FILE does; or convert it without --reference");
    scales->exponents.push_back(exponent);
  }
  int type = static_cast<int>(n.integer("output_dtype", from_onnx::kUndefined));
  if (!quantizes) type = from_onnx::kUndefined;
  if (n.has_input(2)) {
    const ConstantPtr zero = read_constant(n.input(2));
    if (!zero || !zero->is_integer())
      return no("the zero point '" + n.input(2) + "' is not a constant", n.input(2),
                "store it as an initialiser: quantise the model statically, as qrt_quantize MODEL "
                "--scheme espdl-s8 --onnx FILE does");
    for (int64_t i = 0; i < zero->elements(); ++i)
      if (zero->integer(i) != 0)
        return no("the zero point '" + n.input(2) + "' of the tensor '" + n.input(0) + "' is " +
                      std::to_string(zero->integer(i)) + ", ESP-DL's integers have none",
                  n.input(0),
                  "quantise with zero points 0, as qrt_quantize MODEL --scheme espdl-s8 --onnx "
                  "FILE does; or convert it without --reference");
    type = zero->type;
  } else if (quantizes && type == from_onnx::kUndefined) {
    type = from_onnx::kUint8;
  }
  if (type != from_onnx::kUndefined) {
    scales->type = data_type(type);
    const bool fits = scales->type == DataType::INT8 || scales->type == DataType::INT16 ||
                      (!quantizes && scales->type == DataType::INT32);
    if (!fits)
      return no(
          "the tensor '" + n.input(0) + "' is quantised to " + from_onnx::element_type_name(type) +
              ", ESP-DL has int8 and int16",
          n.input(0),
          "quantise to int8 or int16, as qrt_quantize MODEL --scheme espdl-s8 --onnx FILE does");
  }
  scales->axis = n.integer("axis", 1);
  return true;
}

// Checks all scales before anything else, as operators in front of a QuantizeLinear ask for its format.
Status Translator::check_scales() {
  for (const int i : model_.execution_order()) {
    const NodeView& n = node(i);
    if (!is_onnx(n) || (n.op() != "QuantizeLinear" && n.op() != "DequantizeLinear")) continue;
    // Behind a QuantizeLinear that was refused, a second refusal would only repeat the reason.
    const int producer = model_.producer(n.input(0));
    if (producer >= 0 && outcomes_.is_refused(producer)) continue;
    Scales scales;
    if (parse_scales(n, &scales)) scales_[i] = std::move(scales);
    QRT_TRY(std::move(problem_));
  }
  return Status();
}

Status Translator::add_inputs() {
  for (const onnx::ValueInfoProto& info : model_.graph().output()) writer_.fresh(info.name());
  for (const onnx::ValueInfoProto& info : model_.graph().input()) {
    const std::string& name = info.name();
    if (model_.initializers().count(name) != 0) continue;
    QRT_MODEL_CHECK(
        info.has_type() && info.type().has_tensor_type() && info.type().tensor_type().has_shape(),
        "graph input '%s' has no tensor type with a shape", name.c_str());
    const auto& type = info.type().tensor_type();
    const auto no = [&](const std::string& rule, const char* remedy) {
      outcomes_.refuse_outside("input", name, rule, remedy);
      outcomes_.set_origin(name, "refused input '" + name + "'");
    };
    Term x;
    x.kind = Term::Kind::kReal;
    x.name = name;
    x.rank = type.shape().dim_size();
    x.format = {data_type(type.elem_type()), 0};
    std::vector<int64_t> dims;
    std::string symbolic;
    for (int i = 0; i < x.rank; ++i) {
      const auto& dim = type.shape().dim(i);
      if (!dim.has_dim_value() && i > 0)
        symbolic = "dimension " + std::to_string(i) + " is symbolic";
      batch_is_symbolic_ |= !dim.has_dim_value() && i == 0;
      dims.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
    }
    if (!symbolic.empty()) {
      no(symbolic + ": only the first, the batch, may be",
         "give every dimension its size by --input-shape NAME=1x3x224x224, or export the model "
         "with this dimension fixed");
      continue;
    }
    if (x.format.is_integer()) {
      x.kind = Term::Kind::kInteger;
      bool is_known = false;
      for (const int reader : model_.readers(name)) {
        const auto scales = scales_.find(reader);
        if (scales == scales_.end() || !scales->second.per_tensor()) continue;
        is_known = true;
        x.format.exponent = static_cast<int>(scales->second.exponents[0]);
      }
      if (!is_known) {
        no("it is integers that no DequantizeLinear reads",
           "put a DequantizeLinear behind that input");
        continue;
      }
    } else if (x.format.type != DataType::FLOAT) {
      no(std::string("element type ") + from_onnx::element_type_name(type.elem_type()) +
             " is not supported",
         "declare the input as float32, int8 or int16");
      continue;
    }
    writer_.add_input(name, x.format, dims);
    terms_[name] = std::move(x);
  }
  return Status();
}

Status Translator::add_outputs() {
  for (const onnx::ValueInfoProto& info : model_.graph().output()) {
    const std::string& name = info.name();
    const auto found = terms_.find(name);
    if (found == terms_.end()) {
      QRT_MODEL_CHECK(!outcomes_.origin(name).empty(), "nothing makes the output '%s'",
                      name.c_str());
      continue;
    }
    const Term& y = found->second;
    if (y.kind == Term::Kind::kConstant || y.kind == Term::Kind::kGate) {
      outcomes_.refuse_outside("output", name, "it is a constant, or is not quantised",
                               "end the model at quantised outputs by --outputs");
      continue;
    }
    const bool dequantizes = y.is_activation();
    const Format format = dequantizes ? Format{DataType::FLOAT, 0} : y.format;
    writer_.add_node(name, dequantizes ? "DequantizeLinear" : "Identity", {y.name}, name, format);
    writer_.add_output(name, format);
  }
  return Status();
}

namespace {

// Floats as the integers that ONNX makes of them: half to even.
std::vector<int64_t> quantized(const std::vector<float>& real, const Scales& s, const Shape& shape,
                               int axis) {
  const from_espdl::Limits limits =
      s.type == DataType::INT16 ? from_espdl::kInt16Limits : from_espdl::kInt8Limits;
  int64_t inner = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  std::vector<int64_t> values;
  for (size_t i = 0; i < real.size(); ++i) {
    const size_t at =
        s.per_tensor() ? 0 : static_cast<size_t>(static_cast<int64_t>(i) / inner % shape[axis]);
    const auto divisor = from_espdl::power_of_two(static_cast<int>(s.exponents[at]));
    values.push_back(from_espdl::round_to(Target::kEsp32P4, real[i] / divisor, limits));
  }
  return values;
}

// Finds the axis of scales on a tensor, from 0 on. Fails with kInvalidModel where they do not fit it.
Status place_scales(const Scales& s, const Shape& shape, int* axis) {
  *axis = 0;
  if (s.per_tensor()) return Status();
  const int rank = shape.rank();
  QRT_MODEL_CHECK(s.axis >= -rank && s.axis < rank, "axis %lld of %d dimensions",
                  static_cast<long long>(s.axis), rank);
  *axis = static_cast<int>(s.axis < 0 ? s.axis + rank : s.axis);
  QRT_MODEL_CHECK(shape[*axis] == static_cast<int64_t>(s.exponents.size()),
                  "%zu scales along axis %d of shape %s", s.exponents.size(), *axis,
                  shape.to_string().c_str());
  return Status();
}

}  // namespace

Status Translator::quantize(const NodeView& n) {
  const Scales& s = scales_.at(n.index());
  const Term x = input(n, 0);
  if (x.kind == Term::Kind::kConstant) {
    if (x.scales || !x.constant->is_real())
      return refuse(n, "input '" + n.input(0) + "' is no constant of floats", n.input(0),
                    "fold the model's constants in the exporter before conversion");
    int axis;
    QRT_TRY(place_scales(s, x.constant->shape, &axis));
    std::vector<float> real;
    for (int64_t i = 0; i < x.constant->elements(); ++i) real.push_back(x.constant->real(i));
    auto constant = std::make_shared<Constant>();
    constant->type = s.type == DataType::INT16 ? from_onnx::kInt16 : from_onnx::kInt8;
    constant->shape = x.constant->shape;
    for (const int64_t v : quantized(real, s, constant->shape, axis))
      for (size_t k = 0; k < from_espdl::element_bytes(s.type); ++k)
        constant->data.push_back(static_cast<uint8_t>(v >> (8 * k)));
    Term y = x;
    y.constant = std::move(constant);
    set_output(n, 0, std::move(y));
    return Status();
  }
  if (!s.per_tensor())
    return refuse(n, "an activation is quantised per axis", n.input(0),
                  "quantise activations per tensor, with one scale");
  if (x.kind != Term::Kind::kReal)
    return refuse(n, "input '" + n.input(0) + "' is not a float tensor", n.input(0),
                  "put QuantizeLinear on floats only");
  Term y = x;
  y.kind = Term::Kind::kInteger;
  y.format = {s.type, static_cast<int>(s.exponents[0])};
  const bool same = x.format.type == y.format.type && x.format.exponent == y.format.exponent;
  if (!same)
    add(n, x.format.is_integer() ? "RequantizeLinear" : "QuantizeLinear", {x.name}, y.format,
        &y.name);
  set_output(n, 0, std::move(y));
  return Status();
}

Status Translator::dequantize(const NodeView& n) {
  const Scales& s = scales_.at(n.index());
  Term y = input(n, 0);
  if (y.kind == Term::Kind::kConstant) {
    if (y.scales || !y.constant->is_integer() || data_type(y.constant->type) == DataType::UNDEFINED)
      return refuse(
          n,
          "input '" + n.input(0) + "' is " + from_onnx::element_type_name(y.constant->type) +
              ", ESP-DL has int8, int16 and biases of int32",
          n.input(0),
          "quantise to int8 or int16, as qrt_quantize MODEL --scheme espdl-s8 --onnx FILE does");
    y.scales = s;
    int axis;
    QRT_TRY(place_scales(s, y.constant->shape, &axis));
    y.scales->axis = axis;
    y.scales->type = data_type(y.constant->type);
    set_output(n, 0, std::move(y));
    return Status();
  }
  QRT_MODEL_CHECK(y.kind == Term::Kind::kInteger, "input '%s' is a float tensor",
                  n.input(0).c_str());
  if (!s.per_tensor())
    return refuse(n, "an activation is quantised per axis", n.input(0),
                  "quantise activations per tensor, with one scale");
  QRT_MODEL_CHECK(s.type == DataType::UNDEFINED || s.type == y.format.type,
                  "its zero point has another type than its input");
  y.kind = Term::Kind::kReal;
  const Format format{y.format.type, static_cast<int>(s.exponents[0])};
  // The integers stay, read with another scale.
  if (format.exponent != y.format.exponent) add(n, "Identity", {y.name}, format, &y.name);
  y.format = format;
  set_output(n, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_qdq

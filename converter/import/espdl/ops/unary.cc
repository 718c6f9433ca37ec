// Functions of one number: of 8 bits and mostly of 16, too, a table that holds what the runtime computes in float32.
#include <algorithm>
#include <cstring>

#include "converter/import/espdl/ops.h"
#include "converter/portable_math.h"

namespace qrt::convert::from_espdl {
namespace {

int16_t element(const Tensor& t, size_t i) {
  if (t.type == DataType::INT8) return static_cast<int8_t>(t.data[i]);
  int16_t value;
  memcpy(&value, t.data + 2 * i, sizeof value);
  return value;
}

// The operator as a table.
Status finish_table(Importer& importer, const Node& node, const Activation& x,
                    const std::vector<int16_t>& values, const Format& out) {
  importer.finish(node, importer.builder().table(node, x, values, out), out);
  importer.became(node, "Lut", "I0");
  return Status();
}

template <class F>
std::vector<int16_t> tabulated(const Format& in, const F& f) {
  std::vector<int16_t> values;
  for (int q = in.limits().lo; q <= in.limits().hi; ++q)
    values.push_back(static_cast<int16_t>(f(q)));
  return values;
}

// The table that attribute `lut` names, one value for every integer of x. *has: there is one, and the runtime obeys it.
Status read_lut(Importer& importer, const Node& node, const Format& in, const Format& out,
                std::vector<int16_t>* values, bool* has) {
  const std::string name = node.text("lut");
  *has = !name.empty() && (!in.is_int16() || node.op == "LUT" || node.op == "Gelu");
  if (!*has) return Status();
  const Tensor* t = importer.find(name);
  QRT_MODEL_CHECK(t && t->is_constant && t->bytes > 0 && t->type == out.type,
                  "its table '%s' is no constant of %s", name.c_str(), type_name(out.type));
  const int64_t count = t->shape.elements();
  if (!in.is_int16()) {
    QRT_MODEL_CHECK(count == 256, "its table has %lld entries, expected 256",
                    static_cast<long long>(count));
    for (size_t i = 0; i < 256; ++i) values->push_back(element(*t, i));
    return Status();
  }
  int log2_step = 0;
  while (log2_step < 16 && (int64_t{65536} >> log2_step) + 1 != count) ++log2_step;
  QRT_MODEL_CHECK(log2_step < 16,
                  "its table has %lld entries, expected 65536 / step + 1 of a power of two",
                  static_cast<long long>(count));
  for (int u = 0; u < 65536; ++u)
    values->push_back(
        element(*t, static_cast<size_t>(shift_to(importer.target(), u, log2_step, {0, 65536}))));
  return Status();
}

}  // namespace

Status import_function(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  if (x.format.type == DataType::FLOAT && out.type == DataType::FLOAT) {
    const bool is_sqrt = node.op == "Sqrt";
    if (!is_sqrt && node.op != "Exp" && node.op != "Log")
      return importer.refuse(node,
                             "it computes in float32, where its last bits are the chip's library's",
                             importer.output(node).name, "quantise this operator");
    const auto function = is_sqrt            ? fb::FloatFunction::SQRT
                          : node.op == "Exp" ? fb::FloatFunction::EXP
                                             : fb::FloatFunction::LOG;
    importer.finish(node,
                    importer.builder().float_function(node, function, {x.value},
                                                      importer.builder().shape_of(x.value)),
                    out);
    importer.became(node, "Float", is_sqrt ? "I1" : "F");
    return Status();
  }
  if (!importer.read_pair(node, &x, &out)) return Status();
  std::vector<int16_t> values;
  bool has_lut;
  QRT_TRY(read_lut(importer, node, x.format, out, &values, &has_lut));
  if (!has_lut) {
    const bool is_hard_sigmoid = node.op == "HardSigmoid";
    const Function g = function_of(node.op, node.real("alpha", is_hard_sigmoid ? 0.2f : 1.0f),
                                   node.real("beta", 0.5f));
    values = table_of(importer.target(), g, x.format.limits(), x.format.exponent, out.limits(),
                      out.exponent);
  }
  return finish_table(importer, node, x, values, out);
}

Status import_lut(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  std::vector<int16_t> values;
  bool has_lut;
  if (!importer.read_pair(node, &x, &out)) return Status();
  QRT_TRY(read_lut(importer, node, x.format, out, &values, &has_lut));
  if (!has_lut)
    return importer.refuse(node, "it names no table in the attribute lut",
                           importer.output(node).name, "export the model with its tables");
  return finish_table(importer, node, x, values, out);
}

namespace {

// limits(q) of int16 without a table.
Status finish_limits(Importer& importer, const Node& node, const Activation& x, const Format& out,
                     Limits limits) {
  const ValueId y = importer.builder().new_value("", out, importer.builder().shape_of(x.value));
  importer.builder().add<fb::RequantizeOptionsT>(node, {x.value}, y).requant =
      importer.builder().requant({0}, 0, out, limits);
  importer.finish(node, y, out);
  importer.became(node, "Requantize", "I0");
  return Status();
}

// A table of its own, or f(q).
template <class F>
Status import_table(Importer& importer, const Node& node, const Activation& x, const Format& out,
                    const F& f) {
  std::vector<int16_t> values;
  bool has_lut;
  QRT_TRY(read_lut(importer, node, x.format, out, &values, &has_lut));
  return finish_table(importer, node, x, has_lut ? values : tabulated(x.format, f), out);
}

}  // namespace

Status import_relu(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  if (x.format.type == DataType::FLOAT && out.type == DataType::FLOAT) {
    const ValueId zero = importer.builder().float_constant(0);
    importer.finish(
        node,
        importer.builder().float_function(node, fb::FloatFunction::MAXIMUM, {x.value, zero},
                                          importer.builder().shape_of(x.value)),
        out);
    importer.became(node, "Float", "I1");
    return Status();
  }
  if (!importer.read_pair(node, &x, &out)) return Status();
  const bool same = x.format.exponent == out.exponent;
  if (same && out.is_int16()) return finish_limits(importer, node, x, out, {0, out.limits().hi});
  const float step = power_of_two(x.format.exponent), scale = power_of_two(-out.exponent);
  return import_table(importer, node, x, out, [&](int q) {
    if (q < 0) return 0;
    return same ? q
                : round_to(importer.target(), static_cast<float>(q) * step * scale, out.limits());
  });
}

Status import_leaky_relu(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read_pair(node, &x, &out)) return Status();
  const float alpha = node.real("alpha", 0.01f), step = power_of_two(x.format.exponent),
              scale = power_of_two(-out.exponent);
  return import_table(importer, node, x, out, [&](int q) {
    const float v = static_cast<float>(q) * step * scale;
    return round_to(importer.target(), q < 0 ? v * alpha : v, out.limits());
  });
}

Status import_clip(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read_pair(node, &x, &out)) return Status();
  Limits limits = x.format.limits();
  for (int i = 1; i <= 2; ++i) {
    if (!node.has_input(i)) continue;
    const Tensor& t = importer.input(node, i);
    if (!t.is_constant || t.type != x.format.type || !t.problem.empty() || t.shape.elements() != 1)
      return importer.refuse(
          node, importer.quoted_input(node, i) + " is not one constant number of the input's type",
          t.name, "make the limits constants of the model");
    if (t.exponents.size() == 1 && t.exponents[0] != x.format.exponent)
      return importer.refuse(
          node, importer.quoted_input(node, i) + " has another exponent than what it limits",
          t.name, "export the model again");
    (i == 1 ? limits.lo : limits.hi) = element(t, 0);
  }
  QRT_MODEL_CHECK(limits.lo <= limits.hi, "its limits are %d and %d", limits.lo, limits.hi);
  if (x.format.exponent == out.exponent && out.is_int16())
    return finish_limits(importer, node, x, out, limits);
  const float factor = power_of_two(x.format.exponent - out.exponent);
  return import_table(importer, node, x, out, [&](int q) {
    return round_to(importer.target(),
                    static_cast<float>(std::clamp(q, limits.lo, limits.hi)) * factor, out.limits());
  });
}

// Negative numbers times their channel's alpha, shifted by its exponent without rounding. The P4 has vector code for int8, whose
// rounding is not known of a chip; its specification's is half to even.
Status import_prelu(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  std::vector<int16_t> values;
  bool has_lut;
  if (!importer.read_pair(node, &x, &out)) return Status();
  QRT_TRY(read_lut(importer, node, x.format, out, &values, &has_lut));
  if (has_lut) return finish_table(importer, node, x, values, out);
  const Tensor& alpha = importer.input(node, 1);
  const Shape& shape = importer.builder().shape_of(x.value);
  if (!alpha.is_constant || alpha.type != x.format.type || !alpha.problem.empty() ||
      alpha.exponents.size() != 1)
    return importer.refuse(
        node,
        importer.quoted_input(node, 1) + " is not a constant of the input's type with one exponent",
        alpha.name, "quantise alpha per tensor");
  // One slope for all channels: the runtime repeats it of int16 only.
  const bool is_one = alpha.shape.elements() == 1 && (x.format.is_int16() || importer.is_plain());
  QRT_MODEL_CHECK(shape.rank() >= 1 && alpha.bytes > 0 &&
                      (is_one || alpha.shape.elements() == shape[shape.rank() - 1]),
                  "%lld slopes for an input of shape %s",
                  static_cast<long long>(alpha.shape.elements()), shape.to_string().c_str());
  if (x.format.exponent != out.exponent && importer.target() != Target::kC)
    return importer.refuse(
        node,
        "input and output have different exponents, for which the chips' arithmetic is not known",
        importer.output(node).name, "export the model for target c, or with equal exponents");
  if (importer.target() == Target::kEsp32P4 && !x.format.is_int16() && !importer.is_plain())
    return importer.refuse(node, "how the ESP32-P4 rounds the negative side of int8 is not known",
                           importer.output(node).name,
                           "export the operator as a table (attribute lut)");
  const int shift = out.exponent - x.format.exponent - alpha.exponents[0];
  const auto channels = static_cast<size_t>(shape[shape.rank() - 1]);
  if (x.format.is_int16()) {
    std::vector<int16_t> slopes;
    for (size_t c = 0; c < channels; ++c) slopes.push_back(element(alpha, is_one ? 0 : c));
    const ValueId slope = importer.graph().add_constant(alpha.name, DType::kInt16,
                                                        {static_cast<int64_t>(channels)}, slopes);
    const ValueId y = importer.builder().new_value("", out, shape);
    auto& o = importer.builder().add<fb::RequantizeOptionsT>(node, {x.value, slope}, y);
    o.requant = importer.builder().requant({0}, 0, out);
    o.negative.push_back(shift_stage({shift}, fb::Rounding::FLOOR, kMostLeft64));
    importer.finish(node, y, out);
    importer.became(node, "Requantize", "I0");
    return Status();
  }
  std::vector<uint8_t> table;
  for (size_t c = 0; c < channels; ++c)
    for (int q = -128; q < 128; ++q) {
      const int product = q * element(alpha, is_one ? 0 : c);
      const bool rounds = shift < 0 || importer.target() == Target::kEsp32P4;
      const int v = rounds ? shift_to(importer.target(), product, shift, kInt8Limits)
                           : product >> std::min(shift, 31);
      table.push_back(static_cast<uint8_t>((q < 0 ? std::clamp(v, -128, 127) : q) + 128));
    }
  const Shape tables = channels > 1 ? Shape{static_cast<int64_t>(channels), 256} : Shape{256};
  const ValueId constant = importer.graph().add_constant("", DType::kUInt8, tables, table);
  const ValueId y = importer.builder().new_value("", out, shape);
  importer.builder().add<fb::LutOptionsT>(node, {x.value, constant}, y).per_channel = channels > 1;
  importer.finish(node, y, out);
  importer.became(node, "Lut", "I0");
  return Status();
}

// QuantizeLinear, RequantizeLinear and DequantizeLinear are one operator: the types say what it does.
Status import_requantize(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  const bool from_float = x.format.type == DataType::FLOAT, to_float = out.type == DataType::FLOAT;
  if ((!from_float && !x.format.is_integer()) || (!to_float && !out.is_integer()))
    return importer.refuse(
        node, std::string("it makes ") + type_name(out.type) + " of " + type_name(x.format.type),
        importer.output(node).name, "quantise int8, int16 and float32 only");
  const ValueId y =
      from_float && to_float ? x.value
      : from_float ? importer.builder().from_float(node, x.value, power_of_two(out.exponent), out)
      : to_float   ? importer.builder().to_float(node, x)
                   : importer.builder().rescale(node, x, out);
  importer.finish(node, y, out);
  importer.became(node,
                  from_float && to_float ? "nothing"
                  : from_float           ? "Quantize"
                  : to_float             ? "Dequantize"
                                         : "Requantize",
                  from_float || to_float ? "edge" : "I0");
  return Status();
}

// The output is float32. Of int8 nothing is subtracted before the exponential.
Status import_softmax(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  if (out.type != DataType::FLOAT || x.format.type == DataType::BOOL)
    return importer.refuse(
        node, std::string("its output is ") + type_name(out.type) + ", the runtime makes float32",
        importer.output(node).name, "export the model again");
  const int rank = importer.builder().shape_of(x.value).rank();
  int axis;
  QRT_TRY(place_axis(node.integer("axis", -1), rank, &axis));
  std::vector<int> perm;
  for (int d = 0; d < rank; ++d) perm.push_back(d);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  if (axis != rank - 1) x.value = importer.builder().transpose(node, x.value, perm);
  const Shape shape = importer.builder().shape_of(x.value);
  Shape row = shape;
  row[rank - 1] = 1;
  ValueId z;
  if (x.format.type == DataType::INT8) {
    const Function exp = function_of("Exp", 0, 0);
    const float step = power_of_two(x.format.exponent);
    std::vector<float> table;
    for (int q = -128; q < 128; ++q) table.push_back(exp(static_cast<float>(q) * step));
    const ValueId constant = importer.graph().add_constant("", DType::kFloat32, {256}, table);
    z = importer.builder().new_value("", DType::kFloat32, shape);
    importer.builder().add<fb::LutOptionsT>(node, {x.value, constant}, z).to_float = true;
  } else {
    const ValueId t = importer.builder().to_float(node, x);
    const ValueId most =
        importer.builder().float_function(node, fb::FloatFunction::REDUCE_MAX, {t}, row);
    const ValueId less =
        importer.builder().float_function(node, fb::FloatFunction::SUB, {t, most}, shape);
    z = importer.builder().float_function(node, fb::FloatFunction::EXP, {less}, shape);
  }
  const ValueId sum =
      importer.builder().float_function(node, fb::FloatFunction::REDUCE_SUM, {z}, row);
  ValueId y = importer.builder().float_function(node, fb::FloatFunction::DIV, {z, sum}, shape);
  if (axis != rank - 1) y = importer.builder().transpose(node, y, perm);
  importer.finish(node, y, out);
  importer.became(node, "Float", "F");
  return Status();
}

}  // namespace qrt::convert::from_espdl

// SPDX-License-Identifier: Apache-2.0
// Functions of one number: of 8 bits and mostly of 16, too, a table that holds what the runtime computes in float32.
#include <algorithm>

#include "converter/import/espdl/layout.h"
#include "converter/import/espdl/ops.h"
#include "converter/portable_math.h"

namespace qrt::convert::from_espdl {
namespace {

template <class F>
std::vector<int16_t> tabulated(const Format& in, const F& f) {
  std::vector<int16_t> values;
  for (int q = in.limits().lo; q <= in.limits().hi; ++q)
    values.push_back(static_cast<int16_t>(f(q)));
  return values;
}

}  // namespace

Status finish_table(Importer& importer, const Node& node, const Activation& x,
                    const std::vector<int16_t>& values, const Format& out) {
  importer.finish(node, importer.builder().table(node, x, values, out), out);
  importer.became(node, "Lut", "I0");
  return Status();
}

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
    for (size_t i = 0; i < 256; ++i) values->push_back(value_at(*t, static_cast<int64_t>(i)));
    return Status();
  }
  int log2_step = 0;
  while (log2_step < 16 && (int64_t{65536} >> log2_step) + 1 != count) ++log2_step;
  QRT_MODEL_CHECK(log2_step < 16,
                  "its table has %lld entries, expected 65536 / step + 1 of a power of two",
                  static_cast<long long>(count));
  for (int u = 0; u < 65536; ++u)
    values->push_back(value_at(*t, shift_to(importer.target(), u, log2_step, {0, 65536})));
  return Status();
}

Status import_function(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  if (x.format.type == DataType::FLOAT && out.type == DataType::FLOAT) {
    const bool is_sqrt = node.op == "Sqrt";
    if (!is_sqrt && node.op != "Exp" && node.op != "Log")
      return importer.refuse(node,
                             "it computes in float32, where its last bits are the chip's library's",
                             importer.output(node).name, "quantise this operator to int8 or int16");
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
    return importer.refuse(
        node, "it names no table in the attribute lut", importer.output(node).name,
        "export the model again with ESP-PPQ, which stores the operator's table");
  return finish_table(importer, node, x, values, out);
}

namespace {

// Finishes limits(q) of int16, without a table.
Status finish_limits(Importer& importer, const Node& node, const Activation& x, const Format& out,
                     Limits limits) {
  const ValueId y = importer.builder().new_value("", out, importer.builder().shape_of(x.value));
  importer.builder().add<fb::RequantizeOptionsT>(node, {x.value}, y).requant =
      importer.builder().requant({0}, 0, out, limits);
  importer.finish(node, y, out);
  importer.became(node, "Requantize", "I0");
  return Status();
}

// Imports a function by the operator's own table, where it has one, else by f(q).
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
          t.name, "store the limits as constants of the model");
    if (t.exponents.size() == 1 && t.exponents[0] != x.format.exponent)
      return importer.refuse(
          node, importer.quoted_input(node, i) + " has another exponent than what it limits",
          t.name,
          "export the model again with ESP-PPQ: its exporter stores what the runtime expects here");
    (i == 1 ? limits.lo : limits.hi) = value_at(t, 0);
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

// Imports QuantizeLinear, RequantizeLinear and DequantizeLinear, which are one operator: the types
// say what it does.
Status import_requantize(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  const bool from_float = x.format.type == DataType::FLOAT, to_float = out.type == DataType::FLOAT;
  if ((!from_float && !x.format.is_integer()) || (!to_float && !out.is_integer()))
    return importer.refuse(
        node, std::string("it makes ") + type_name(out.type) + " of " + type_name(x.format.type),
        importer.output(node).name,
        "quantise its input and output to int8 or int16, or leave them float32");
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

// Imports Softmax to float32. Nothing is subtracted from int8 before the exponential.
Status import_softmax(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read(node, 0, &x) || !importer.read_format(node, 0, &out)) return Status();
  if (out.type != DataType::FLOAT || x.format.type == DataType::BOOL)
    return importer.refuse(
        node, std::string("its output is ") + type_name(out.type) + ", the runtime makes float32",
        importer.output(node).name,
        "export the model again with ESP-PPQ: its exporter stores what the runtime expects here");
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

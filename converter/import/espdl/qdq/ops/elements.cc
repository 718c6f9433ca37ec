// SPDX-License-Identifier: Apache-2.0
// Operators on single elements, and Softmax.
#include <algorithm>
#include <cmath>

#include "converter/import/espdl/qdq/ops.h"

namespace qrt::convert::from_qdq {
namespace {

int rank_of(const Term& x) {
  return x.kind == Term::Kind::kConstant ? x.constant->shape.rank() : x.rank;
}

// An operator on elements of broadcast operands, at least one of which is no constant.
struct Elements {
  Format out, made;  // of the output, and of what is computed: of 16 bits where an operand is
  std::vector<Term> operands;
  int rank = 0;
};

// Reads the operands and the output's format. Returns false where the node was refused.
bool read_elements(Translator& t, const NodeView& n, Elements* e) {
  if (!t.read_format(n, 0, &e->out)) return false;
  e->made = e->out;
  int constants = 0;
  for (int i = 0; i < n.input_count(); ++i) {
    Term x = t.input(n, i);
    const bool is_constant =
        x.is_quantized_constant() && x.scales->per_tensor() && x.scales->type != DataType::INT32;
    if (is_constant) {
      ++constants;
      x.format = {x.scales->type, static_cast<int>(x.scales->exponents[0])};
    } else if (x.kind != Term::Kind::kGate && !t.read_activation(n, i, &x)) {
      return false;
    }
    if (x.format.type == DataType::INT16) e->made.type = DataType::INT16;
    e->rank = std::max(e->rank, rank_of(x));
    e->operands.push_back(std::move(x));
  }
  if (constants < n.input_count()) return true;
  (void)t.refuse(n, "all its inputs are constants", n.output(0),
                 "fold the model's constants in the exporter before conversion");
  return false;
}

std::string operand(Translator& t, const NodeView& n, int i, const Term& x, const Format& format) {
  return x.kind == Term::Kind::kConstant ? t.constant_in(n, i, format) : t.in_format(n, x, format);
}

}  // namespace

// Translates a sum. ESP-DL adds the integers as they are, so operands get the output's exponent
// first. One of a greater exponent might saturate where the sum does not.
Status translate_sum(Translator& t, const NodeView& n) {
  Elements e;
  if (!read_elements(t, n, &e)) return Status();
  std::vector<std::string> inputs;
  for (int i = 0; i < 2; ++i) {
    const Term& x = e.operands[static_cast<size_t>(i)];
    if (x.kind == Term::Kind::kGate || x.format.exponent > e.out.exponent)
      return t.refuse(n,
                      "input '" + n.input(i) + "' has the scale 2^" +
                          std::to_string(x.format.exponent) + ", greater than the output's 2^" +
                          std::to_string(e.out.exponent) + ": ESP-DL adds integers of one scale",
                      n.input(i), "quantise the inputs and the output of a sum with one scale");
    inputs.push_back(operand(t, n, i, x, e.made));
  }
  std::string y;
  t.add(n, n.op(), inputs, e.made, &y);
  t.finish(n, y, e.made, e.out, e.rank);
  return Status();
}

Status translate_product(Translator& t, const NodeView& n) {
  Elements e;
  if (!read_elements(t, n, &e)) return Status();
  std::string y;
  const bool gates[] = {e.operands[0].kind == Term::Kind::kGate,
                        e.operands[1].kind == Term::Kind::kGate};
  if (gates[0] || gates[1]) {
    const Term& gate = e.operands[gates[0] ? 0 : 1];
    t.add(n, gate.gate, {t.in_type(n, gate, e.made.type)}, e.made, &y);
    t.finish(n, y, e.made, e.out, e.rank);
    return Status();
  }
  std::vector<std::string> inputs;
  for (int i = 0; i < 2; ++i) {
    const Term& x = e.operands[static_cast<size_t>(i)];
    inputs.push_back(operand(t, n, i, x, {e.made.type, x.format.exponent}));
  }
  t.add(n, n.op(), inputs, e.made, &y);
  t.finish(n, y, e.made, e.out, e.rank);
  return Status();
}

// Translates Max and Min of any number of tensors, in turn, with the output's exponent: rounding
// keeps the order.
Status translate_extreme(Translator& t, const NodeView& n) {
  Elements e;
  if (!read_elements(t, n, &e)) return Status();
  std::string y = operand(t, n, 0, e.operands[0], e.made);
  for (int i = 1; i < n.input_count(); ++i) {
    const std::string x = operand(t, n, i, e.operands[static_cast<size_t>(i)], e.made);
    t.add(n, n.op(), {y, x}, e.made, &y);
  }
  t.finish(n, y, e.made, e.out, e.rank);
  return Status();
}

// Translates a function of one number, with the attributes of ONNX. Relu may keep its input's exponent.
Status translate_function(Translator& t, const NodeView& n) {
  Term x;
  Format out;
  if (!t.read_activation(n, 0, &x)) return Status();
  if (n.op() == "Relu")
    out = t.format_or(n, 0, x.format);
  else if (!t.read_format(n, 0, &out))
    return Status();
  const Format made{wider(x.format, out), out.exponent};
  std::string y;
  espdl::NodeT& node = t.add(n, n.op(), {t.in_type(n, x, made.type)}, made, &y);
  copy_reals(n, {"alpha", "beta"}, &node);
  if (n.op() == "Swish" && n.real("alpha", 1) != 1)
    return t.refuse(n, "its alpha is not 1", n.output(0),
                    "multiply the input by alpha in a Mul in front of it");
  t.finish(n, y, made, out, x.rank);
  return Status();
}

// Translates Sigmoid and HardSigmoid: as functions, or, with the Mul behind them, as Swish and HardSwish.
Status translate_gate(Translator& t, const NodeView& n) {
  const NodeView* product = t.sole_reader(n.output(0));
  const bool is_gate = product != nullptr && product->op() == "Mul" &&
                       (product->input(0) == n.input(0) || product->input(1) == n.input(0));
  const bool is_sigmoid = n.op() == "Sigmoid";
  const bool is_sixth = n.real("alpha", 0.2f) == 1.0f / 6.0f && n.real("beta", 0.5f) == 0.5f;
  if (!is_gate || !(is_sigmoid || is_sixth)) return translate_function(t, n);
  Term x;
  if (!t.read_activation(n, 0, &x)) return Status();
  x.kind = Term::Kind::kGate;
  x.gate = is_sigmoid ? "Swish" : "HardSwish";
  t.set_output(n, 0, std::move(x));
  t.fused(n, *product);
  return Status();
}

namespace {

// Reads a limit as an integer of the format; *bound keeps its value where there is none. Returns
// false where the node was refused.
bool read_bound(Translator& t, const NodeView& n, int i, const char* attribute,
                const Format& format, int32_t* bound) {
  float real = n.real(attribute, 0);
  if (n.has_input(i)) {
    if (!is_number(t.input(n, i))) {
      (void)t.refuse(n, "the limit '" + n.input(i) + "' is not a constant number", n.input(i),
                     "store the limits as initialisers");
      return false;
    }
    real = real_of(t.input(n, i));
  } else if (!n.has(attribute)) {
    return true;
  }
  *bound = from_espdl::round_to(t.target(), real * from_espdl::power_of_two(-format.exponent),
                                format.limits());
  return true;
}

}  // namespace

Status translate_clip(Translator& t, const NodeView& n) {
  Term x;
  if (!t.read_activation(n, 0, &x)) return Status();
  const Format out = t.format_or(n, 0, x.format);
  const Format in{wider(x.format, out), x.format.exponent}, made{in.type, out.exponent};
  from_espdl::Limits limits = in.limits();
  if (!read_bound(t, n, 1, "min", in, &limits.lo) || !read_bound(t, n, 2, "max", in, &limits.hi))
    return Status();
  limits.lo = std::min(limits.lo, limits.hi);  // ONNX: the greater one counts
  const auto bound = [&](int32_t value) {
    return t.writer().add_constant(n.output(0), {in.type, {1}, {value}, {in.exponent}});
  };
  const std::string lo = bound(limits.lo), hi = bound(limits.hi);
  std::string y;
  t.add(n, "Clip", {t.in_type(n, x, in.type), lo, hi}, made, &y);
  t.finish(n, y, made, out, x.rank);
  return Status();
}

// Translates PRelu, with a slope for each channel. The result keeps its input's exponent.
Status translate_prelu(Translator& t, const NodeView& n) {
  Term x;
  Format out;
  if (!t.read_activation(n, 0, &x) || !t.read_format(n, 0, &out)) return Status();
  const Term& slope = t.input(n, 1);
  if (!slope.is_quantized_constant() || !slope.scales->per_tensor() ||
      slope.scales->type == DataType::INT32)
    return t.refuse(n, "the slopes '" + n.input(1) + "' are not constants quantised per tensor",
                    n.input(1), "store the slopes as initialisers, quantised per tensor");
  const Shape& s = slope.constant->shape;
  const int64_t count = s.elements();
  const int channels_at = x.rank >= 3 ? s.rank() - (x.rank - 1) : s.rank() - 1;
  if (count != 1 && (channels_at < 0 || s[channels_at] != count))
    return t.refuse(n, "the slopes have shape " + s.to_string() + ", not one for each channel",
                    n.input(1), "store one slope per channel, of shape [C, 1, 1]");
  const DataType type =
      slope.scales->type == DataType::INT16 ? DataType::INT16 : wider(x.format, out);
  const Format made{type, x.format.exponent};
  const std::string alpha =
      t.constant_in(n, 1, {type, static_cast<int>(slope.scales->exponents[0])});
  std::string from = t.in_type(n, x, type), y;
  if (x.rank >= 3) from = t.to_last(n, from, made, x.rank);
  t.add(n, "PRelu", {from, alpha}, made, &y);
  if (x.rank >= 3) y = t.from_last(n, y, made, x.rank);
  t.finish(n, y, made, out, x.rank);
  return Status();
}

// Translates Softmax, whose result is float32, as on the chips.
Status translate_softmax(Translator& t, const NodeView& n) {
  Term x;
  if (!t.read_activation(n, 0, &x)) return Status();
  const bool is_row = t.opset() >= 13;
  const int64_t axis = n.integer("axis", is_row ? -1 : 1);
  if (!is_row && axis != -1 && axis != x.rank - 1)
    return t.refuse(
        n, "before opset 13 it flattens the dimensions behind its axis", n.output(0),
        "export the model with opset 13 or more, or take the softmax over the last dimension");
  const Format made{DataType::FLOAT, 0};
  std::string y;
  set(&t.add(n, "Softmax", {x.name}, made, &y), "axis", axis);
  t.finish(n, y, made, made, x.rank);
  return Status();
}

}  // namespace qrt::convert::from_qdq

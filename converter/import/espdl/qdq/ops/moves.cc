// SPDX-License-Identifier: Apache-2.0
// Operators that move values: their result has the input's type and exponent. Dimensions are those of the ONNX file.
#include <algorithm>

#include "converter/import/espdl/qdq/ops.h"

namespace qrt::convert::from_qdq {
namespace {

// Reads input 0 as integers whose scale is a power of two, or as floats. Returns false where the
// node was refused.
bool read_moved(Translator& t, const NodeView& n, Term* x) {
  *x = t.input(n, 0);
  return x->kind == Term::Kind::kReal || t.read_activation(n, 0, x);
}

// Adds the operator with its input and constants of integers.
espdl::NodeT& move(Translator& t, const NodeView& n, const Term& x,
                   const std::vector<std::vector<int64_t>>& constants, int rank) {
  std::vector<std::string> inputs = {x.name};
  for (const auto& values : constants)
    inputs.push_back(t.writer().add_integers(n.output(0), values));
  std::string y;
  espdl::NodeT& node = t.add(n, n.op(), inputs, x.format, &y);
  t.finish(n, y, x.format, x.format, rank);
  return node;
}

}  // namespace

Status translate_identity(Translator& t, const NodeView& n) {
  Term x;
  if (read_moved(t, n, &x)) t.set_output(n, 0, std::move(x));
  return Status();
}

Status translate_reshape(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> shape;
  if (!read_moved(t, n, &x) || !t.read_integers(n, nullptr, 1, &shape)) return Status();
  copy_integers(n, {"allowzero"}, &move(t, n, x, {shape}, static_cast<int>(shape.size())));
  return Status();
}

Status translate_flatten(Translator& t, const NodeView& n) {
  Term x;
  if (read_moved(t, n, &x)) copy_integers(n, {"axis"}, &move(t, n, x, {}, 2));
  return Status();
}

// Squeeze and Unsqueeze.
Status translate_squeeze(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> axes;
  if (!read_moved(t, n, &x) || !t.read_integers(n, "axes", 1, &axes)) return Status();
  if (axes.empty())
    return t.refuse(n, "it names no axes", n.output(0), "store the axes as an initialiser");
  const int count = static_cast<int>(axes.size());
  move(t, n, x, {axes}, n.op() == "Squeeze" ? x.rank - count : x.rank + count);
  return Status();
}

Status translate_transpose(Translator& t, const NodeView& n) {
  Term x;
  if (read_moved(t, n, &x)) copy_lists(n, {"perm"}, &move(t, n, x, {}, x.rank));
  return Status();
}

Status translate_slice(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> starts, ends, axes, steps;
  if (!read_moved(t, n, &x) || !t.read_integers(n, nullptr, 1, &starts) ||
      !t.read_integers(n, nullptr, 2, &ends) || !t.read_integers(n, nullptr, 3, &axes) ||
      !t.read_integers(n, nullptr, 4, &steps))
    return Status();
  for (size_t i = 0; i < starts.size() && !n.has_input(3); ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (!n.has_input(4)) steps.assign(starts.size(), 1);
  move(t, n, x, {starts, ends, axes, steps}, x.rank);
  return Status();
}

Status translate_split(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> sizes;
  if (!read_moved(t, n, &x) || !t.read_integers(n, "split", 1, &sizes)) return Status();
  std::vector<std::vector<int64_t>> constants;
  if (!sizes.empty()) constants.push_back(sizes);
  espdl::NodeT& node = move(t, n, x, constants, x.rank);
  copy_integers(n, {"axis"}, &node);
  for (int i = 1; i < n.output_count(); ++i) {
    Term part = x;
    part.name = t.writer().fresh(n.output(i));
    t.writer().add_result(&node, part.name, x.format);
    t.set_output(n, i, std::move(part));
  }
  return Status();
}

Status translate_gather(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> indices;
  if (!read_moved(t, n, &x) || !t.read_integers(n, nullptr, 1, &indices)) return Status();
  const Shape& shape = t.input(n, 1).constant->shape;
  const std::string index = t.writer().add_constant(
      n.input(1), {DataType::INT64, {shape.begin(), shape.end()}, indices, {0}});
  std::string y;
  copy_integers(n, {"axis"}, &t.add(n, n.op(), {x.name, index}, x.format, &y));
  t.finish(n, y, x.format, x.format, x.rank - 1 + shape.rank());
  return Status();
}

// Translates Pad, whose value is an input since opset 11, an attribute before.
Status translate_pad(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> pads;
  if (!t.read_activation(n, 0, &x) || !t.read_integers(n, "pads", 1, &pads)) return Status();
  if (n.has_input(3))
    return t.refuse(n, "it pads some axes by a fourth input", n.input(3),
                    "build the Pad with pads of all axes, without its fourth input");
  float real = n.real("value", 0);
  if (n.has_input(2)) {
    if (!is_number(t.input(n, 2)))
      return t.refuse(n, "the value '" + n.input(2) + "' is not a constant number", n.input(2),
                      "store the padding value as a constant of the input's type");
    real = real_of(t.input(n, 2));
  }
  const int32_t fill = from_espdl::round_to(
      t.target(), real * from_espdl::power_of_two(-x.format.exponent), x.format.limits());
  const std::string amounts = t.writer().add_integers(n.output(0), pads),
                    value = t.writer().add_constant(
                        n.output(0), {x.format.type, {1}, {fill}, {x.format.exponent}});
  std::string y;
  espdl::NodeT& node = t.add(n, n.op(), {x.name, amounts, value}, x.format, &y);
  set(&node, "mode", n.text("mode", "constant"));
  t.finish(n, y, x.format, x.format, x.rank);
  return Status();
}

// Translates Concat: every part with the output's exponent.
Status translate_concat(Translator& t, const NodeView& n) {
  std::vector<Term> parts;
  bool alike = true;
  DataType type = DataType::INT8;
  for (int i = 0; i < n.input_count(); ++i) {
    Term x = t.input(n, i);
    if (x.is_quantized_constant() && x.scales->per_tensor() && x.scales->type != DataType::INT32)
      x.format = {x.scales->type, static_cast<int>(x.scales->exponents[0])};
    else if (!t.read_activation(n, i, &x))
      return Status();
    if (x.format.is_int16()) type = DataType::INT16;
    parts.push_back(std::move(x));
    alike = alike && parts.back().format.type == parts[0].format.type &&
            parts.back().format.exponent == parts[0].format.exponent;
  }
  Format out = t.format_or(n, 0, parts[0].format);
  if (!alike && !t.read_format(n, 0, &out)) return Status();
  const Format made{out.is_int16() ? out.type : type, out.exponent};
  std::vector<std::string> inputs;
  int rank = 0;
  for (int i = 0; i < n.input_count(); ++i) {
    const Term& x = parts[static_cast<size_t>(i)];
    const bool is_constant = x.kind == Term::Kind::kConstant;
    inputs.push_back(is_constant ? t.constant_in(n, i, made) : t.in_format(n, x, made));
    rank = is_constant ? x.constant->shape.rank() : x.rank;
  }
  std::string y;
  set(&t.add(n, n.op(), inputs, made, &y), "axis", n.integer("axis", 1));
  t.finish(n, y, made, out, rank);
  return Status();
}

}  // namespace qrt::convert::from_qdq

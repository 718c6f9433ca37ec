// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors that broadcast as in numpy.
#include <algorithm>
#include <cmath>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

// Two operands of one type and the output's format and shape.
struct Operands {
  Activation a, b;
  Format out;
  Shape shape;
};

// *known stays false where the operator was refused. `keeps_type`: the output is of the inputs' type.
Status read_operands(Importer& importer, const Node& node, bool keeps_type, Operands* p,
                     bool* known) {
  *known = false;
  if (!importer.read(node, 0, &p->a) || !importer.read(node, 1, &p->b) ||
      !importer.read_format(node, 0, &p->out))
    return Status();
  const auto is_number = [](const Format& f) {
    return f.is_integer() || f.type == DataType::FLOAT;
  };
  const bool fits = p->a.format.type == p->b.format.type && is_number(p->a.format) &&
                    (keeps_type ? p->out.type == p->a.format.type : p->out.type == DataType::BOOL);
  if (!fits)
    return importer.refuse(node,
                           std::string("it makes ") + type_name(p->out.type) + " of " +
                               type_name(p->a.format.type) + " and " + type_name(p->b.format.type),
                           importer.output(node).name,
                           "quantise all its tensors to one type, int8 or int16");
  if (const std::string activation = node.text("activation", "Linear"); activation != "Linear")
    return importer.refuse(node, "its activation is '" + activation + "'",
                           importer.output(node).name,
                           "export the activation as an operator of its own");
  QRT_TRY(broadcast_shape(importer.builder().shape_of(p->a.value),
                          importer.builder().shape_of(p->b.value), &p->shape));
  *known = true;
  return Status();
}

Status finish_floats(Importer& importer, const Node& node, const Operands& p,
                     fb::FloatFunction function) {
  importer.finish(
      node, importer.builder().float_function(node, function, {p.a.value, p.b.value}, p.shape),
      p.out);
  importer.became(node, "Float", "I1");
  return Status();
}

// Imports a sum, which adds the raw integers, whatever their exponents.
Status import_sum(Importer& importer, const Node& node, bool subtract) {
  Operands p;
  bool known;
  QRT_TRY(read_operands(importer, node, true, &p, &known));
  if (!known) return Status();
  if (!p.out.is_integer())
    return finish_floats(importer, node, p,
                         subtract ? fb::FloatFunction::SUB : fb::FloatFunction::ADD);
  const int ea = p.a.format.exponent, eb = p.b.format.exponent, e = p.out.exponent;
  if (ea != eb || ea != e)
    importer.warn(node, "espdl-exponents",
                  "inputs of the exponents " + std::to_string(ea) + " and " + std::to_string(eb) +
                      " and an output of " + std::to_string(e) +
                      ": the runtime adds the integers as they are",
                  "export the model with a newer ESP-PPQ, which gives the three one exponent");
  const ValueId y = importer.builder().new_value("", p.out, p.shape);
  auto& o = importer.builder().add<fb::AddOptionsT>(node, {p.a.value, p.b.value}, y);
  o.kind = fb::AddKind::INT;
  set_zero_point(p.out, &o.a_zero_point, &o.a_zero_point_16);
  set_zero_point(p.out, &o.b_zero_point, &o.b_zero_point_16);
  o.subtract = subtract;
  o.requant = importer.builder().requant({0}, 0, p.out);
  importer.finish(node, y, p.out);
  importer.became(node, "Add", "I0");
  return Status();
}

}  // namespace

Status import_add(Importer& importer, const Node& node) {
  return import_sum(importer, node, false);
}

Status import_sub(Importer& importer, const Node& node) { return import_sum(importer, node, true); }

Status import_mul(Importer& importer, const Node& node) {
  Operands p;
  bool known;
  QRT_TRY(read_operands(importer, node, true, &p, &known));
  if (!known) return Status();
  if (!p.out.is_integer()) return finish_floats(importer, node, p, fb::FloatFunction::MUL);
  const int shift = p.out.exponent - p.a.format.exponent - p.b.format.exponent;
  // The C code rounds products of int16 to float32 before it shifts them. The rounding can change a
  // result only for shifts of at least this: with smaller ones, a product that is large enough to
  // lose a bit saturates anyway.
  constexpr int kFirstInexact = 9;
  if (importer.target() == Target::kC && p.out.is_int16() && shift >= kFirstInexact) {
    const auto raw = [&](Activation x) {
      x.format.exponent = 0;
      return importer.builder().to_float(node, x);
    };
    const ValueId a = raw(p.a), b = raw(p.b),
                  product = importer.builder().float_function(node, fb::FloatFunction::MUL, {a, b},
                                                              p.shape);
    importer.finish(node, importer.builder().from_float(node, product, power_of_two(shift), p.out),
                    p.out);
    importer.became(node, "Float, Quantize", "I1");
    return Status();
  }
  const ValueId y = importer.builder().new_value("", p.out, p.shape);
  auto& o = importer.builder().add<fb::MulOptionsT>(node, {p.a.value, p.b.value}, y);
  set_zero_point(p.out, &o.a_zero_point, &o.a_zero_point_16);
  set_zero_point(p.out, &o.b_zero_point, &o.b_zero_point_16);
  o.requant =
      importer.builder().requant({shift}, p.out.is_int16() ? kMostLeft64 : kMostLeft32, p.out);
  importer.finish(node, y, p.out);
  importer.became(node, "Mul", "I0");
  return Status();
}

namespace {

// Tells which operands have one element in the innermost run of dimensions, as the runtime merges
// them. By such a divisor it divides as by a scalar, multiplying with its reciprocal.
struct Scalars {
  bool a = false, b = false;
};

Scalars innermost_scalars(const Shape& a, const Shape& b, int rank) {
  std::vector<int64_t> da(static_cast<size_t>(rank), 1), db = da;
  std::copy(a.begin(), a.end(), da.end() - a.rank());
  std::copy(b.begin(), b.end(), db.end() - b.rank());
  size_t i = 0;
  for (; i + 1 < da.size(); ++i) {
    size_t j = i + 1;
    for (; j < da.size(); ++j) {
      const bool alike = da[i] == db[i] && da[j] == db[j];
      if (!alike && (da[i] != 1 || da[j] != 1) && (db[i] != 1 || db[j] != 1)) break;
      da[i] *= da[j];
      db[i] *= db[j];
      da[j] = db[j] = 1;
    }
    if (j == da.size()) break;
  }
  return {rank == 0 || da[i] == 1, rank == 0 || db[i] == 1};
}

// Returns one quotient of int8. r: the power of two by the exponents. `a_is_one`: the dividend is a
// single element.
int divided(Target target, int a, int b, float r, bool a_is_one, Scalars scalars) {
  if (b == 0) {
    if (a == 0) return a_is_one ? kInt8Limits.lo : 0;
    return a > 0 ? kInt8Limits.hi : kInt8Limits.lo;
  }
  const auto x = static_cast<float>(a), d = static_cast<float>(b);
  const float quotient = scalars.b && !scalars.a ? x * (r / d) : (x * r) / d;
  return round_to(target, quotient, kInt8Limits);
}

// Returns int16 as float32, with 0 as a number so small that every quotient x * r by it leaves
// int16, except that of x = 0.
ValueId divisor_of(Importer& importer, const Node& node, const Activation& b, float r) {
  std::vector<float> table;
  for (int q = kInt16Limits.lo; q <= kInt16Limits.hi; ++q)
    table.push_back(q == 0 ? r * 0x1p-40f : static_cast<float>(q));
  const ValueId y =
      importer.builder().new_value("", DType::kFloat32, importer.builder().shape_of(b.value));
  const ValueId constant = importer.graph().add_constant("", DType::kFloat32, {65536}, table);
  importer.builder().add<fb::LutOptionsT>(node, {b.value, constant}, y).to_float = true;
  return y;
}

}  // namespace

Status import_div(Importer& importer, const Node& node) {
  Operands p;
  bool known;
  QRT_TRY(read_operands(importer, node, true, &p, &known));
  if (!known) return Status();
  const Shape &sa = importer.builder().shape_of(p.a.value),
              &sb = importer.builder().shape_of(p.b.value);
  const bool a_is_one = sa.elements() == 1;
  const Scalars scalars = innermost_scalars(sa, sb, p.shape.rank());
  // a * (r / b), of floats.
  const auto by_reciprocal = [&](ValueId a, float r, ValueId b) {
    const ValueId factor = importer.builder().float_function(
        node, fb::FloatFunction::DIV, {importer.builder().float_constant(r), b},
        sb.rank() == 0 ? Shape{1} : importer.builder().shape_of(b));
    return importer.builder().float_function(node, fb::FloatFunction::MUL, {a, factor}, p.shape);
  };
  if (!p.out.is_integer()) {
    if (!scalars.b) return finish_floats(importer, node, p, fb::FloatFunction::DIV);
    importer.finish(node, by_reciprocal(p.a.value, 1.0f, p.b.value), p.out);
    importer.became(node, "Float", "I1");
    return Status();
  }
  const int exponent = p.a.format.exponent - p.b.format.exponent - p.out.exponent;
  if (exponent < -60 || exponent > 60)
    return importer.refuse(node, "the exponents make a factor of 2^" + std::to_string(exponent),
                           importer.output(node).name,
                           "calibrate again with samples that reach this tensor, so that the "
                           "exponents lie nearer to each other");
  const float r = power_of_two(exponent);
  if (!p.out.is_int16()) {
    std::vector<uint8_t> table;
    for (int a = -128; a < 128; ++a)
      for (int b = -128; b < 128; ++b)
        table.push_back(
            static_cast<uint8_t>(divided(importer.target(), a, b, r, a_is_one, scalars) + 128));
    const ValueId constant = importer.graph().add_constant("", DType::kUInt8, {65536}, table);
    const ValueId y = importer.builder().new_value("", p.out, p.shape);
    importer.builder().add<fb::PairLutOptionsT>(node, {p.a.value, p.b.value, constant}, y);
    importer.finish(node, y, p.out);
    importer.became(node, "PairLut", "I0");
    return Status();
  }
  Activation scaled = p.a;
  const ValueId b = divisor_of(importer, node, p.b, r);
  ValueId quotient;
  if (scalars.b) {
    scaled.format.exponent = 0;
    quotient = by_reciprocal(importer.builder().to_float(node, scaled), r, b);
  } else {
    scaled.format.exponent = exponent;
    const ValueId a = importer.builder().to_float(node, scaled);
    quotient = importer.builder().float_function(node, fb::FloatFunction::DIV, {a, b}, p.shape);
  }
  importer.finish(node, importer.builder().from_float(node, quotient, 1.0f, p.out), p.out);
  importer.became(node, "Float, Quantize", "I1");
  return Status();
}

// Imports Min or Max of the raw integers: the operands have one exponent.
Status import_min_max(Importer& importer, const Node& node) {
  Operands p;
  bool known;
  QRT_TRY(read_operands(importer, node, true, &p, &known));
  if (!known) return Status();
  if (!p.out.is_integer() || p.a.format.exponent != p.out.exponent ||
      p.b.format.exponent != p.out.exponent)
    return importer.refuse(node, "its tensors are no integers of one exponent",
                           importer.output(node).name, "quantise the three with one exponent");
  const ValueId y = importer.builder().new_value("", p.out, p.shape);
  importer.builder().add<fb::MinMaxOptionsT>(node, {p.a.value, p.b.value}, y).maximum =
      node.op == "Max";
  importer.finish(node, y, p.out);
  importer.became(node, "MinMax", "I0");
  return Status();
}

// Imports a comparison of the raw integers, or of floats.
Status import_comparison(Importer& importer, const Node& node) {
  Operands p;
  bool known;
  QRT_TRY(read_operands(importer, node, false, &p, &known));
  if (!known) return Status();
  const bool is_equal = node.op == "Equal",
             or_equal = node.op == "LessOrEqual" || node.op == "GreaterOrEqual";
  if (node.op[0] == 'G') std::swap(p.a, p.b);
  ValueId y;
  if (p.a.format.is_integer()) {
    if (p.a.format.exponent != p.b.format.exponent)
      importer.warn(node, "espdl-exponents",
                    "the exponents are " + std::to_string(p.a.format.exponent) + " and " +
                        std::to_string(p.b.format.exponent) +
                        ": the runtime compares the integers as they are",
                    "export the model with a newer ESP-PPQ, which gives both one exponent");
    y = importer.builder().new_value("", DType::kUInt8, p.shape);
    importer.builder().add<fb::IntegerOptionsT>(node, {p.a.value, p.b.value}, y).function =
        is_equal   ? fb::IntegerFunction::EQUAL
        : or_equal ? fb::IntegerFunction::LESS_OR_EQUAL
                   : fb::IntegerFunction::LESS;
    importer.became(node, "Integer", "I0");
  } else {
    const auto function = is_equal   ? fb::FloatFunction::EQUAL
                          : or_equal ? fb::FloatFunction::LESS_OR_EQUAL
                                     : fb::FloatFunction::LESS;
    const ValueId real =
        importer.builder().float_function(node, function, {p.a.value, p.b.value}, p.shape);
    y = importer.builder().new_value("", DType::kUInt8, p.shape);
    set_quantize(p.out, Target::kEsp32P4, 1.0f,
                 &importer.builder().add<fb::QuantizeOptionsT>(node, {real}, y));
    importer.became(node, "Float, Quantize", "I1");
  }
  importer.finish(node, y, p.out);
  return Status();
}

}  // namespace qrt::convert::from_espdl

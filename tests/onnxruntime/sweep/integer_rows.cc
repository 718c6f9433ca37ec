// SPDX-License-Identifier: Apache-2.0
// Operators on integers and conditions, edges, conversions, and what makes constants of shapes.
#include "tests/onnxruntime/sweep/rows.h"

namespace qrt::sweep {
namespace {

Value integers(const std::string& name, const Dims& dims) { return {name, dims, 1, kExact, true}; }

Row quantize(const char* op, const char* domain) {
  RowBuilder row(op, domain);
  const auto codes = [=](Graph& g, const Value& x, const std::string& scale,
                         const std::string& zero_point, const std::vector<Attr>& attributes) {
    return Value{g.b.node(op, {x.name, scale, zero_point}, attributes, domain), x.dims, 1, 1, true};
  };
  row.ranks(1, 5, "", [=](Graph& g, const Value& x) {
    const auto p = g.parameters(x.amplitude);
    return codes(g, x, p.scale, p.zero_point, {});
  });
  row.ranks(1, 4, "int16", [=](Graph& g, const Value& x) {
    return codes(g, x, g.b.scalar(g.scale_of<int16_t>(x.amplitude)), g.b.scalar<int16_t>(0), {});
  });
  return row.row();
}

Row quantize_along(const char* op, const char* domain) {
  return RowBuilder(op, domain)
      .axes(2, 4, "scales along ",
            [=](Graph& g, const Value& x, size_t axis) {
              const Dims n = {x.dims[axis]};
              const std::vector<uint8_t> zeros(static_cast<size_t>(n[0]), 120);
              return Value{g.b.node(op, {x.name, g.constant(n, 0.01, 0.03), g.b.constant(n, zeros)},
                                    {axis_attr(axis)}, domain),
                           x.dims, 1, 1, true};
            })
      // ONNX Runtime puts what makes these into one integer operator with the QuantizeLinear, which takes the first scale for
      // all, or ends with "Scale and Zero-point must be a scalar".
      .leave_out({"Softmax", "AveragePool", "pair function", "Concat of two scales",
                  "Mul of a whole stored constant", "Sigmoid"})
      .row();
}

Row dequantize(const char* domain) {
  RowBuilder row("DequantizeLinear", domain);
  const auto reals = [=](Graph& g, const Value& x, const std::string& codes,
                         const std::string& scale, const std::string& zero_point,
                         const std::vector<Attr>& attributes) {
    return Value{g.b.node("DequantizeLinear", {codes, scale, zero_point}, attributes, domain),
                 x.dims, x.amplitude};
  };
  row.ranks(1, 5, "", [=](Graph& g, const Value& x) {
    const auto c = g.quantized(x);
    return reals(g, x, c.name, c.scale, c.zero_point, {});
  });
  row.ranks(3, 4, "another scale", [=](Graph& g, const Value& x) {
    const auto c = g.quantized(x);
    return reals(g, x, c.name, g.b.scalar(0.0123f), c.zero_point, {});
  });
  row.axes(2, 4, "scales along ", [=](Graph& g, const Value& x, size_t axis) {
    const Dims n = {x.dims[axis]};
    const std::string q =
        g.b.node("QuantizeLinear", {x.name, g.b.scalar(0.02f), g.b.scalar<uint8_t>(128)});
    const std::vector<uint8_t> zeros(static_cast<size_t>(n[0]), 120);
    return reals(g, x, q, g.constant(n, 0.01, 0.03), g.b.constant(n, zeros), {axis_attr(axis)});
  });
  return row.row();
}

Row dynamic_quantize() {
  RowBuilder row("DynamicQuantizeLinear");
  for (size_t rank = 1; rank <= 4; ++rank)
    row.outputs(std::to_string(rank) + "-D", shape_of_rank(rank), [](Graph& g, const Value& x) {
      Value scale = Graph::shaped(x, {});
      scale.unit = 0, scale.is_integers = true;  // no QuantizeLinear of it
      return node_outputs(g, "DynamicQuantizeLinear", {x.name}, {},
                          {integers_of(x), scale, integers_of(Graph::shaped(x, {}))});
    });
  return row.row();
}

// Returns a row of operators that ONNX Runtime has only where AMD's library of them is loaded.
Row extended(const char* op, const char* domain) { return RowBuilder(op, domain).row(); }

std::string codes_of(Graph& g, const Value& x) { return g.quantized(x).name; }

// Makes a row of an operator on codes of 8 bits and on int32.
Row of_integers(const char* op, const std::vector<Attr>& attributes = {}) {
  RowBuilder row(op);
  row.ranks(1, 4, "codes by a scalar", [=](Graph& g, const Value& x) {
    const std::string q =
        g.b.node("QuantizeLinear", {x.name, g.b.scalar(0.02f), g.b.scalar<uint8_t>(128)});
    const std::string other = g.b.scalar(static_cast<uint8_t>(g.dice.integer(1, 7)));
    return integers(g.b.node(op, {q, other}, attributes), x.dims);
  });
  row.ranks(3, 4, "codes by codes", [=](Graph& g, const Value& x) {
    const std::string q =
        g.b.node("QuantizeLinear", {x.name, g.b.scalar(0.02f), g.b.scalar<uint8_t>(128)});
    std::vector<uint8_t> v = g.integers<uint8_t>(x.dims, 7);
    for (uint8_t& c : v) c = static_cast<uint8_t>(c + 1);
    return integers(g.b.node(op, {q, g.b.constant(x.dims, v)}, attributes), x.dims);
  });
  return row.row();
}

// Makes remainders of floats, which have the sign of the dividend.
Row remainders() {
  return RowBuilder("Mod")
      .ranks(2, 3, "of floats",
             [](Graph& g, const Value& x) {
               const std::string other = g.constant({}, 0.5, 0.9);
               return g.node("Mod", x, {other}, {Attr("fmod", 1)});
             })
      .row();
}

Row of_conditions(const char* op) {
  return RowBuilder(op)
      .ranks(1, 4, "",
             [op](Graph& g, const Value& x) {
               const std::string a = g.b.node("Greater", {x.name, g.b.scalar(0.1f)});
               const std::string b = g.b.node("Less", {g.image(x.dims).name, g.b.scalar(0.4f)});
               return integers(g.b.node(op, {a, b}), x.dims);
             })
      .row();
}

Row casts() {
  const auto cast = [](int to) {
    return [to](Graph& g, const Value& x) {
      Value y = g.node("Cast", x, {}, {Attr("to", to)});
      return to == kFloatType ? y : integers_of(y);
    };
  };
  return RowBuilder("Cast")
      .ranks(1, 5, "to float", cast(kFloatType))
      .ranks(3, 4, "to int32", cast(kInt32Type))
      .ranks(4, 4, "to int64", cast(kInt64Type))
      .ranks(4, 4, "to bool", cast(kBoolType))
      .ranks(4, 4, "to float16", cast(kHalfType))
      .form(
          "of codes", shape_of_rank(4),
          [](Graph& g, const Value& x) {
            return Value{g.b.node("Cast", {codes_of(g, x)}, {Attr("to", kFloatType)}), x.dims, 255};
          })
      .form("of a condition", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              const std::string c = g.b.node("Greater", {x.name, g.b.scalar(0.0f)});
              return Value{g.b.node("Cast", {c}, {Attr("to", kFloatType)}), x.dims, 1};
            })
      .row();
}

// Returns an If: one branch hands x on, the other negates it.
Value choice(Graph& g, const Value& x, const std::string& condition) {
  Value y = x;
  y.name = g.b.node("If", {condition});
  auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    auto* branch = attribute->mutable_g();
    branch->set_name(name);
    auto* inner = branch->add_node();
    inner->set_op_type(name[0] == 't' ? "Identity" : "Neg");
    inner->add_input(x.name);
    inner->add_output(name);
    OnnxBuilder::declare(branch->add_output(), name, kFloatType, x.dims);
  }
  return y;
}

// Returns a condition that is constant.
std::string constant_condition(Graph& g) {
  return g.b.node("Equal", {g.b.scalar<int64_t>(1), g.b.scalar<int64_t>(g.dice.integer(0, 1))});
}

// Returns a condition that a run computes.
std::string run_condition(Graph& g) {
  const std::string first = g.b.node("Gather", {g.image({4}).name, g.b.scalar<int64_t>(0)});
  return g.b.node("Greater", {first, g.b.scalar(0.0f)});
}

// Gives the last node a body of this one operator, and returns the body.
onnx::GraphProto* add_body(Graph& g, const std::string& op, const std::string& input,
                           const std::string& output) {
  auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
  auto* attribute = node->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* body = attribute->mutable_g();
  body->set_name("body");
  auto* inner = body->add_node();
  inner->set_op_type(op);
  inner->add_input(input);
  inner->add_output(output);
  return body;
}

// Returns a Loop of one to three steps, each of which negates what the one before gave.
Value loop(Graph& g, const Value& x) {
  const std::string count = g.b.scalar<int64_t>(g.dice.integer(1, 3));
  Value y = x;
  y.name = g.b.node("Loop", {count, "", x.name});
  onnx::GraphProto* body = add_body(g, "Neg", "before", "after");
  auto* condition = body->add_node();
  condition->set_op_type("Identity");
  condition->add_input("goes_on");
  condition->add_output("still_goes_on");
  OnnxBuilder::declare(body->add_input(), "step", kInt64Type, {});
  OnnxBuilder::declare(body->add_input(), "goes_on", kBoolType, {});
  OnnxBuilder::declare(body->add_input(), "before", kFloatType, x.dims);
  OnnxBuilder::declare(body->add_output(), "still_goes_on", kBoolType, {});
  OnnxBuilder::declare(body->add_output(), "after", kFloatType, x.dims);
  return y;
}

// Returns a Scan along the first axis, each step of which negates its part.
Value scan(Graph& g, const Value& x) {
  Value y = x;
  y.name = g.b.node("Scan", {x.name}, {Attr("num_scan_inputs", 1)});
  onnx::GraphProto* body = add_body(g, "Neg", "part", "negated");
  const Dims part(x.dims.begin() + 1, x.dims.end());
  OnnxBuilder::declare(body->add_input(), "part", kFloatType, part);
  OnnxBuilder::declare(body->add_output(), "negated", kFloatType, part);
  return y;
}

}  // namespace

std::vector<Row> integer_rows() {
  std::vector<Row> all = {quantize("QuantizeLinear", ""),
                          quantize("QuantizeLinear", kMicrosoft),
                          quantize_along("QuantizeLinear", ""),
                          quantize_along("QuantizeLinear", kMicrosoft),
                          dequantize(""),
                          dequantize(kMicrosoft),
                          dynamic_quantize(),
                          casts(),
                          of_integers("Mod"),
                          remainders(),
                          of_integers("BitShift", {Attr("direction", "RIGHT")}),
                          of_integers("BitwiseAnd"),
                          of_integers("BitwiseOr"),
                          of_integers("BitwiseXor"),
                          of_conditions("And"),
                          of_conditions("Or"),
                          of_conditions("Xor")};
  for (const char* domain : {"com.amd.quark", "com.vai.quantize"})
    for (const char* op : {"ExtendedQuantizeLinear", "ExtendedDequantizeLinear"})
      all.push_back(extended(op, domain));
  for (const char* op : {"VitisQuantizeLinear", "VitisDequantizeLinear"})
    all.push_back(extended(op, "com.vai.quantize"));
  all.push_back(RowBuilder("BitwiseNot")
                    .ranks(1, 4, "",
                           [](Graph& g, const Value& x) {
                             return integers(g.b.node("BitwiseNot", {codes_of(g, x)}), x.dims);
                           })
                    .row());
  all.push_back(RowBuilder("Not")
                    .ranks(1, 4, "",
                           [](Graph& g, const Value& x) {
                             const std::string c = g.b.node("Greater", {x.name, g.b.scalar(0.0f)});
                             return integers(g.b.node("Not", {c}), x.dims);
                           })
                    .row());
  all.push_back(
      RowBuilder("CastLike")
          .ranks(3, 4, "of a float",
                 [](Graph& g, const Value& x) { return g.node("CastLike", x, {g.b.scalar(0.0f)}); })
          .row());
  all.push_back(RowBuilder("BitCast")
                    .form(
                        "of codes", shape_of_rank(3),
                        [](Graph& g, const Value& x) {
                          return integers(
                              g.b.node("BitCast", {codes_of(g, x)}, {Attr("to", kInt8Type)}),
                              x.dims);
                        },
                        26)
                    .row());
  all.push_back(RowBuilder("If")
                    .ranks(1, 4, "",
                           [](Graph& g, const Value& x) {
                             return Graph::shaped(choice(g, x, constant_condition(g)), x.dims);
                           })
                    .ranks(1, 4, "in the run",
                           [](Graph& g, const Value& x) {
                             return Graph::shaped(choice(g, x, run_condition(g)), x.dims);
                           })
                    .row());
  all.push_back(
      RowBuilder("Loop")
          .ranks(1, 4, "",
                 [](Graph& g, const Value& x) { return Graph::shaped(loop(g, x), x.dims); })
          .row());
  all.push_back(
      RowBuilder("Scan")
          .ranks(2, 4, "",
                 [](Graph& g, const Value& x) { return Graph::shaped(scan(g, x), x.dims); })
          .row());
  // Shapes: what is computed of them is constant.
  all.push_back(RowBuilder("Shape")
                    .form("reshapes another", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            const Value row = g.image({elements(x.dims)});
                            const std::string shape = g.b.node("Shape", {x.name});
                            return Value{g.b.node("Reshape", {row.name, shape}), x.dims, 2};
                          })
                    .row());
  all.push_back(RowBuilder("Size")
                    .form("reshapes it", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            const std::string n = g.b.node("Size", {x.name});
                            const std::string shape = g.b.node("Reshape", {n, g.numbers({1})});
                            return Graph::shaped(g.node("Reshape", x, {shape}), {elements(x.dims)});
                          })
                    .row());
  all.push_back(
      RowBuilder("ReduceProd")
          .form("reshapes it", shape_of_rank(4),
                [](Graph& g, const Value& x) {
                  const std::string n = g.b.node("ReduceProd", {g.b.node("Shape", {x.name})});
                  return Graph::shaped(g.node("Reshape", x, {n}), {elements(x.dims)});
                })
          .axes(2, 3, "of floats, ",
                [](Graph& g, const Value& x, size_t axis) {
                  Dims to = x.dims;
                  to[axis] = 1;
                  const std::string axes = g.numbers({static_cast<int64_t>(axis)});
                  return Graph::sized(Graph::shaped(g.node("ReduceProd", x, {axes}), to), 4);
                })
          .row());
  all.push_back(RowBuilder("ConstantOfShape")
                    .form("added", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            const std::string shape = g.b.node("Shape", {x.name});
                            return g.node("Add", x, {g.b.node("ConstantOfShape", {shape})});
                          })
                    .row());
  all.push_back(RowBuilder("Range")
                    .form("gathers", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            const std::string at =
                                g.b.node("Range", {g.b.scalar<int64_t>(3), g.b.scalar<int64_t>(-1),
                                                   g.b.scalar<int64_t>(-1)});
                            return g.node("Gather", x, {at}, {Attr("axis", 1)});
                          })
                    .row());
  all.push_back(RowBuilder("CumSum")
                    .form("gathers", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            const std::string at =
                                g.b.node("CumSum", {g.numbers({0, 1, 1}), g.b.scalar<int64_t>(0)});
                            return g.node("Gather", x, {at}, {Attr("axis", 1)});
                          })
                    .axes(2, 3, "of floats, ",
                          [](Graph& g, const Value& x, size_t axis) {
                            const std::string at = g.b.scalar(static_cast<int64_t>(axis));
                            return Graph::sized(
                                g.node("CumSum", x, {at}, {Attr("reverse", axis == 1 ? 1 : 0)}),
                                x.amplitude * 4);
                          })
                    .row());
  all.push_back(RowBuilder("OneHot")
                    .form("added", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            const std::string values = g.b.constant<float>({2}, {0.0f, 0.375f});
                            return g.node("Add", x,
                                          {g.b.node("OneHot", {g.numbers({0, 2, 1, 5, 3}),
                                                               g.b.scalar<int64_t>(6), values})});
                          })
                    .row());
  all.push_back(RowBuilder("Constant")
                    .form("added", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            Attr value("value_float", 0.375f);
                            return g.node("Add", x, {g.b.node("Constant", {}, {value})});
                          })
                    .row());
  return all;
}

}  // namespace qrt::sweep

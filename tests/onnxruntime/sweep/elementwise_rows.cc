// SPDX-License-Identifier: Apache-2.0
// Operators on elements: functions of one tensor, of two, choices and comparisons.
#include "tests/onnxruntime/sweep/rows.h"

namespace qrt::sweep {
namespace {

// Returns a function of one tensor, in every rank.
Row unary(const char* op, const std::vector<Attr>& attributes = {}, double amplitude = 0,
          int64_t opset = 21, const char* domain = "") {
  return RowBuilder(op, domain)
      .ranks(
          1, 5, "",
          [=](Graph& g, const Value& x) {
            return Graph::sized(g.node(op, x, {}, attributes, domain),
                                amplitude > 0 ? amplitude : x.amplitude);
          },
          opset)
      .row();
}

Row binary(const char* op, double factor) {
  const auto apply = [=](Graph& g, const std::string& a, const std::string& b, const Value& x) {
    return Value{g.b.node(op, {a, b}), x.dims, x.amplitude * factor};
  };
  // Divisors stay away from 0.
  const double least = std::string(op) == "Div" ? 0.5 : -2;
  RowBuilder row(op);
  row.ranks(1, 5, "another image", [=](Graph& g, const Value& x) {
    Value y = g.image(x.dims);
    if (least > 0) y = g.node("Exp", y);
    return apply(g, x.name, y.name, x);
  });
  if (least < 0) {
    row.ranks(3, 4, "behind an image",
              [=](Graph& g, const Value& x) { return apply(g, g.image(x.dims).name, x.name, x); });
    row.ranks(4, 4, "itself",
              [=](Graph& g, const Value& x) { return apply(g, x.name, x.name, x); });
  }
  row.ranks(3, 4, "a scalar", [=](Graph& g, const Value& x) {
    return apply(g, x.name, g.constant({}, least, 2), x);
  });
  row.axes(1, 4, "constant along ", [=](Graph& g, const Value& x, size_t axis) {
    return apply(g, x.name, g.constant(along(x.dims, axis), least, 2), x);
  });
  row.axes(3, 4, "image along ", [=](Graph& g, const Value& x, size_t axis) {
    Value y = g.image(along(x.dims, axis));
    if (least > 0) y = g.node("Exp", y);
    return apply(g, x.name, y.name, x);
  });
  row.ranks(2, 4, "a whole constant", [=](Graph& g, const Value& x) {
    return apply(g, x.name, g.constant(x.dims, least, 2), x);
  });
  row.form("floats", shape_of_rank(4), [=](Graph& g, const Value& x) {
    Value y = g.floats(x.dims);
    if (least > 0) y = g.node("Exp", y);
    return apply(g, x.name, y.name, x);
  });
  return row.row();
}

Row comparison(const char* op) {
  return RowBuilder(op)
      .ranks(1, 4, "a scalar",
             [=](Graph& g, const Value& x) {
               return integers_of(g.node(op, x, {g.constant({}, -0.5, 0.5)}));
             })
      .ranks(3, 4, "another image",
             [=](Graph& g, const Value& x) {
               return integers_of(g.node(op, x, {g.image(x.dims, x.amplitude).name}));
             })
      .row();
}

Row wheres() {
  const auto chosen = [](Graph& g, const Value& x, const std::string& condition,
                         const std::string& other) {
    return Value{g.b.node("Where", {condition, x.name, other}), x.dims, x.amplitude};
  };
  const auto coin = [](Graph& g, const Dims& dims) {
    return g.b.node("Greater", {g.image(dims).name, g.b.scalar(0.0f)});
  };
  return RowBuilder("Where")
      .ranks(1, 4, "another image",
             [=](Graph& g, const Value& x) {
               const std::string other = g.image(x.dims, x.amplitude).name;
               return chosen(g, x, coin(g, x.dims), other);
             })
      .ranks(3, 4, "a scalar",
             [=](Graph& g, const Value& x) {
               const std::string other = g.constant({}, -1, 1);
               return chosen(g, x, coin(g, x.dims), other);
             })
      .form("by itself", shape_of_rank(4),
            [=](Graph& g, const Value& x) {
              const std::string other = g.constant({}, -1, 1);
              return chosen(g, x, g.b.node("Greater", {x.name, g.b.scalar(0.0f)}), other);
            })
      .form("behind another image", shape_of_rank(4),
            [=](Graph& g, const Value& x) {
              return Value{g.b.node("Where", {coin(g, x.dims), g.image(x.dims).name, x.name}),
                           x.dims, x.amplitude};
            })
      .row();
}

Row qlinear_binary(const char* op) {
  return RowBuilder(op, kMicrosoft)
      .ranks(1, 4, "",
             [=](Graph& g, const Value& x) {
               const auto a = g.quantized(x), b = g.quantized(g.image(x.dims, 1));
               const auto y = g.parameters(x.amplitude * 2);
               return g.dequantized(g.b.node(op,
                                             {a.name, a.scale, a.zero_point, b.name, b.scale,
                                              b.zero_point, y.scale, y.zero_point},
                                             {}, kMicrosoft),
                                    y, x.dims);
             })
      .row();
}

Row qlinear_unary(const char* op, double amplitude) {
  return RowBuilder(op, kMicrosoft)
      .ranks(1, 4, "",
             [=](Graph& g, const Value& x) {
               const auto a = g.quantized(x);
               const auto y = g.parameters(amplitude > 0 ? amplitude : x.amplitude);
               return g.dequantized(
                   g.b.node(op, {a.name, a.scale, a.zero_point, y.scale, y.zero_point}, {},
                            kMicrosoft),
                   y, x.dims);
             })
      .row();
}

Row qlinear_where() {
  return RowBuilder("QLinearWhere", kMicrosoft)
      .ranks(2, 4, "",
             [](Graph& g, const Value& x) {
               const std::string condition =
                   g.b.node("Greater", {g.image(x.dims).name, g.b.scalar(0.0f)});
               const auto a = g.quantized(x), b = g.quantized(g.image(x.dims, x.amplitude));
               const auto y = g.parameters(x.amplitude);
               return g.dequantized(g.b.node("QLinearWhere",
                                             {condition, a.name, a.scale, a.zero_point, b.name,
                                              b.scale, b.zero_point, y.scale, y.zero_point},
                                             {}, kMicrosoft),
                                    y, x.dims);
             })
      .row();
}

Row clips() {
  const auto clip = [](double least, double most) {
    return [=](Graph& g, const Value& x) {
      return g.node("Clip", x,
                    {g.b.scalar(static_cast<float>(least)), g.b.scalar(static_cast<float>(most))});
    };
  };
  return RowBuilder("Clip")
      .ranks(1, 5, "both", clip(-0.7, 0.9))
      .ranks(4, 4, "from 0 to 6", clip(0, 6))
      .form("below", shape_of_rank(4),
            [](Graph& g, const Value& x) { return g.node("Clip", x, {g.b.scalar(-0.3f)}); })
      .row();
}

Row pows() {
  const auto pow = [](float exponent) {
    return [=](Graph& g, const Value& x) {
      return Graph::sized(g.node("Pow", x, {g.b.scalar(exponent)}),
                          std::pow(x.amplitude, static_cast<double>(exponent)));
    };
  };
  return RowBuilder("Pow")
      .ranks(1, 4, "square", pow(2))
      .ranks(4, 4, "cube", pow(3))
      .form("another image", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              const Value base = g.node("Exp", g.image(x.dims, 1));
              return Graph::sized(g.node("Pow", base, {x.name}), 4);
            })
      .row();
}

// Operators on the numbers above 0.
Row of_positive(const char* op, double amplitude) {
  return RowBuilder(op)
      .ranks(1, 4, "of Exp",
             [=](Graph& g, const Value& x) {
               return Graph::sized(g.node(op, g.node("Exp", x)), amplitude);
             })
      .form("of Abs", shape_of_rank(4),
            [=](Graph& g, const Value& x) {
              const Value positive = g.node("Add", g.node("Abs", x), {g.b.scalar(0.5f)});
              return Graph::sized(g.node(op, positive), amplitude);
            })
      .row();
}

Row prelu() {
  return RowBuilder("PRelu")
      .ranks(2, 5, "by channel",
             [](Graph& g, const Value& x) {
               return g.node("PRelu", x, {g.constant(along(x.dims, 1), 0, 0.5)});
             })
      .ranks(1, 4, "one slope",
             [](Graph& g, const Value& x) { return g.node("PRelu", x, {g.constant({1}, 0, 0.5)}); })
      .row();
}

}  // namespace

std::vector<Row> elementwise_rows() {
  std::vector<Row> all = {binary("Add", 1.5),
                          binary("Sub", 1.5),
                          binary("Mul", 1.5),
                          binary("Div", 1.5),
                          binary("Min", 1),
                          binary("Max", 1),
                          prelu(),
                          pows(),
                          clips(),
                          wheres(),
                          qlinear_where(),
                          comparison("Equal"),
                          comparison("Less"),
                          comparison("LessOrEqual"),
                          comparison("Greater"),
                          comparison("GreaterOrEqual"),
                          qlinear_binary("QLinearAdd"),
                          qlinear_binary("QLinearMul"),
                          qlinear_unary("QLinearLeakyRelu", 0),
                          qlinear_unary("QLinearSigmoid", 1),
                          of_positive("Log", 4),
                          of_positive("Sqrt", 4),
                          of_positive("Reciprocal", 4)};
  for (const char* op :
       {"Relu", "LeakyRelu", "HardSwish", "Elu", "Selu", "Softplus", "Celu", "ThresholdedRelu",
        "Shrink", "Floor", "Ceil", "Round", "Sign", "Abs", "Neg"})
    all.push_back(unary(op));
  for (const char* op :
       {"Sigmoid", "Tanh", "HardSigmoid", "Softsign", "Erf", "Sin", "Cos", "Tan", "Atan", "Asinh"})
    all.push_back(unary(op, {}, 1));
  for (const char* op : {"Exp", "Sinh", "Cosh"}) all.push_back(unary(op, {}, 8));
  // Their arguments lie between -1 and 1, or above 1.
  const auto of_sigmoid = [](const char* op, float addend) {
    return RowBuilder(op)
        .ranks(2, 4, "of Sigmoid",
               [=](Graph& g, const Value& x) {
                 const Value y = g.node("Sigmoid", x);
                 return Graph::sized(
                     g.node(op, addend == 0 ? y : g.node("Add", y, {g.b.scalar(addend)})), 2);
               })
        .row();
  };
  for (const char* op : {"Asin", "Acos", "Atanh"}) all.push_back(of_sigmoid(op, 0));
  all.push_back(of_sigmoid("Acosh", 1.0f));
  for (const char* op : {"IsNaN", "IsInf"})
    all.push_back(
        RowBuilder(op)
            .ranks(2, 4, "chooses",
                   [=](Graph& g, const Value& x) {
                     Value y = x;
                     y.name = g.b.node("Where", {g.node(op, x).name, g.b.scalar(1.0f), x.name});
                     return y;
                   })
            .row());
  for (const char* op : {"Sum", "Mean"})
    all.push_back(RowBuilder(op)
                      .ranks(2, 4, "of three",
                             [=](Graph& g, const Value& x) {
                               const std::string other = g.constant(x.dims, -1.0f, 1.0f);
                               return g.node(op, x, {other, x.name});
                             })
                      .row());
  all.push_back(RowBuilder("Hardmax")
                    .axes(2, 3, "",
                          [](Graph& g, const Value& x, size_t axis) {
                            return Graph::sized(g.node("Hardmax", x, {}, {axis_attr(axis)}), 1);
                          })
                    .row());
  all.push_back(
      RowBuilder("STFT")
          .form("frames of 8", {2, 32, 1},
                [](Graph& g, const Value& x) {
                  const Names more = {g.b.scalar<int64_t>(4), g.constant({8}, 0.1f, 1.0f)};
                  Value y = g.node("STFT", x, more);
                  y.dims = {2, 7, 5, 2};
                  return Graph::sized(y, 8);
                })
          .row());
  all.push_back(RowBuilder("DFT")
                    .form(
                        "of 32", {2, 32, 1},
                        [](Graph& g, const Value& x) {
                          Value y = g.node("DFT", x, {}, {Attr("axis", 1), Attr("onesided", 1)});
                          y.dims = {2, 17, 2};
                          return Graph::sized(y, 16);
                        },
                        17)
                    .row());
  all.push_back(unary("Mish", {}, 0, 21));
  all.push_back(unary("Gelu", {}, 0, 21));
  all.push_back(unary("Gelu", {}, 0, 21, kMicrosoft));
  all.push_back(unary("QuickGelu", {}, 0, 21, kMicrosoft));
  all.push_back(unary("Swish", {}, 0, 24));
  return all;
}

}  // namespace qrt::sweep

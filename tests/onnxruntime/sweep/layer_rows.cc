// SPDX-License-Identifier: Apache-2.0
// Products: convolutions and matrices, of floats, of integers and with parameters for both.
#include "tests/onnxruntime/sweep/rows.h"

namespace qrt::sweep {
namespace {

// Adds a convolution of [n, c, ...] by a kernel of 3, or of 1 without padding.
Value conv(Graph& g, const Value& x, int64_t kernel, int64_t group, bool has_bias) {
  const size_t spatial = x.dims.size() - 2;
  const int64_t out = 4;
  Dims w = {out, x.dims[1] / group};
  w.insert(w.end(), spatial, kernel);
  Names more = {g.weights(w, 0).name};
  if (has_bias) more.push_back(g.constant({out}, -1, 1));
  Dims to = x.dims;
  to[1] = out;
  return Graph::sized(
      Graph::shaped(g.node("Conv", x, more,
                           {Attr("group", group), Attr("pads", Dims(2 * spatial, kernel / 2))}),
                    to),
      x.amplitude * 2);
}

Row convs() {
  return RowBuilder("Conv")
      .ranks(3, 5, "", [](Graph& g, const Value& x) { return conv(g, x, 3, 1, false); })
      .ranks(3, 5, "bias", [](Graph& g, const Value& x) { return conv(g, x, 3, 1, true); })
      .ranks(3, 4, "1x1", [](Graph& g, const Value& x) { return conv(g, x, 1, 1, true); })
      .ranks(3, 5, "depthwise",
             [](Graph& g, const Value& x) { return conv(g, x, 3, x.dims[1], true); })
      .ranks(3, 4, "two groups", [](Graph& g, const Value& x) { return conv(g, x, 3, 2, false); })
      .form("Relu", shape_of_rank(4),
            [](Graph& g, const Value& x) { return g.node("Relu", conv(g, x, 3, 1, true)); })
      .form("as the weights", {4, 3, 3, 3},
            [](Graph& g, const Value& x) {
              const Value image = g.image({2, 3, 5, 6});
              return Value{g.b.node("Conv", {image.name, x.name}), {2, 4, 3, 4}, x.amplitude * 4};
            })
      .row();
}

Row conv_transposes() {
  return RowBuilder("ConvTranspose")
      .ranks(3, 4, "",
             [](Graph& g, const Value& x) {
               const size_t spatial = x.dims.size() - 2;
               Dims w = {x.dims[1], 3}, to = x.dims;
               w.insert(w.end(), spatial, 2);
               to[1] = 3;
               for (size_t i = 2; i < to.size(); ++i) to[i] *= 2;
               return Graph::sized(Graph::shaped(g.node("ConvTranspose", x,
                                                        {g.weights(w).name, g.constant({3}, -1, 1)},
                                                        {Attr("strides", Dims(spatial, 2))}),
                                                 to),
                                   x.amplitude * 1.5);
             })
      .row();
}

Value matmul(Graph& g, const Value& x, const Value& w) {
  Dims to = x.dims;
  to.back() = w.dims.back();
  return Graph::sized(Graph::shaped(g.node("MatMul", x, {w.name}), to), x.amplitude * 2);
}

Row matmuls() {
  return RowBuilder("MatMul")
      .ranks(1, 5, "",
             [](Graph& g, const Value& x) {
               Value y = matmul(g, x, g.weights({x.dims.back(), 5}));
               return y;
             })
      .ranks(2, 4, "scales along columns",
             [](Graph& g, const Value& x) {
               return matmul(g, x, g.weights({x.dims.back(), 5}, 1));
             })
      .ranks(2, 3, "scales along rows",
             [](Graph& g, const Value& x) {
               return matmul(g, x, g.weights({x.dims.back(), 5}, 0));
             })
      .ranks(2, 4, "bias",
             [](Graph& g, const Value& x) {
               const std::string bias = g.constant({5}, -1, 1);
               return g.node("Add", matmul(g, x, g.weights({x.dims.back(), 5})), {bias});
             })
      .ranks(2, 5, "by a computed one",
             [](Graph& g, const Value& x) {
               Dims w = x.dims;
               w[w.size() - 2] = w.back(), w.back() = 5;
               return matmul(g, x, g.image(w, 1));
             })
      .ranks(2, 5, "of a computed one",
             [](Graph& g, const Value& x) {
               Dims a = x.dims, to = x.dims;
               a.back() = a[a.size() - 2], a[a.size() - 2] = to[to.size() - 2] = 5;
               return Value{g.b.node("MatMul", {g.image(a, 1).name, x.name}), to, x.amplitude * 2};
             })
      .form("by itself", {2, 4, 4},
            [](Graph& g, const Value& x) {
              return Graph::sized(g.node("MatMul", x, {x.name}), x.amplitude * 4);
            })
      .form("of constant weights", {6, 5},
            [](Graph& g, const Value& x) {
              return Value{
                  g.b.node("MatMul", {g.weights({3, 6}).name, x.name}), {3, 5}, x.amplitude * 2};
            })
      .row();
}

Row einsums() {
  return RowBuilder("Einsum")
      .form("product", shape_of_rank(3),
            [](Graph& g, const Value& x) {
              const Value w = g.weights({7, 5});
              return Graph::sized(
                  Graph::shaped(g.node("Einsum", x, {w.name}, {Attr("equation", "abc,cd->abd")}),
                                {2, 4, 5}),
                  x.amplitude * 2);
            })
      .form("transposes", shape_of_rank(3),
            [](Graph& g, const Value& x) {
              return Graph::shaped(g.node("Einsum", x, {}, {Attr("equation", "abc->acb")}),
                                   {2, 7, 4});
            })
      .form("ellipsis", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              const Value w = g.weights({6, 3});
              const Attr equation("equation", "...c,cd->...d");
              return Graph::sized(
                  Graph::shaped(g.node("Einsum", x, {w.name}, {equation}), {2, 4, 5, 3}),
                  x.amplitude * 2);
            })
      .form("of three", shape_of_rank(3),
            [](Graph& g, const Value& x) {
              const Names more = {g.weights({7, 5}).name, g.constant({5, 3}, -1, 1)};
              const Attr equation("equation", "abc,cd,de->abe");
              return Graph::sized(Graph::shaped(g.node("Einsum", x, more, {equation}), {2, 4, 3}),
                                  x.amplitude * 4);
            })
      .form("ellipses, no arrow", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              const std::string other = g.constant({2, 4, 6, 3}, -1, 1);
              const Attr equation("equation", "...ba, ...ac");
              return Graph::sized(
                  Graph::shaped(g.node("Einsum", x, {other}, {equation}), {2, 4, 5, 3}),
                  x.amplitude * 4);
            })
      .form("sums what one has", shape_of_rank(3),
            [](Graph& g, const Value& x) {
              const std::string other = g.constant({4, 5}, -1, 1);
              const Attr equation("equation", "abc,bd->ab");
              return Graph::sized(Graph::shaped(g.node("Einsum", x, {other}, {equation}), {2, 4}),
                                  x.amplitude * 8);
            })
      .row();
}

Row grid_samples() {
  RowBuilder row("GridSample");
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const int align : {0, 1})
        row.form(
            std::string(mode) + ", " + padding + (align != 0 ? ", corners aligned" : ""),
            shape_of_rank(4),
            [=](Graph& g, const Value& x) {
              const std::string grid = g.constant({2, 3, 4, 2}, -1.3, 1.3);
              Value y = g.node("GridSample", x, {grid},
                               {Attr("mode", mode), Attr("padding_mode", padding),
                                Attr("align_corners", align)});
              y.dims = {2, 4, 3, 4};
              return Graph::sized(y, x.amplitude * 2);
            },
            22);
  return row.row();
}

Row gemms() {
  const auto gemm = [](Graph& g, const Value& x, bool transposed, bool has_bias,
                       const std::vector<Attr>& more_attributes) {
    Names more = {transposed ? g.weights({5, 8}, 0).name : g.weights({8, 5}).name};
    if (has_bias) more.push_back(g.constant({5}, -1, 1));
    std::vector<Attr> attributes = more_attributes;
    if (transposed) attributes.push_back(Attr("transB", 1));
    return Graph::sized(Graph::shaped(g.node("Gemm", x, more, attributes), {3, 5}),
                        x.amplitude * 2);
  };
  return RowBuilder("Gemm")
      .form("bias", shape_of_rank(2),
            [=](Graph& g, const Value& x) { return gemm(g, x, true, true, {}); })
      .form("no bias", shape_of_rank(2),
            [=](Graph& g, const Value& x) { return gemm(g, x, false, false, {}); })
      .form("alpha and beta", shape_of_rank(2),
            [=](Graph& g, const Value& x) {
              return gemm(g, x, false, true, {Attr("alpha", 0.5f), Attr("beta", 2.0f)});
            })
      .form("transposed", {8, 3},
            [](Graph& g, const Value& x) {
              return Graph::sized(
                  Graph::shaped(g.node("Gemm", x, {g.weights({8, 5}).name}, {Attr("transA", 1)}),
                                {3, 5}),
                  x.amplitude * 2);
            })
      .form(
          "as the weights", {8, 5},
          [](Graph& g, const Value& x) {
            return Value{g.b.node("Gemm", {g.image({3, 8}).name, x.name}), {3, 5}, x.amplitude * 3};
          })
      .form("as the bias", {3, 5},
            [](Graph& g, const Value& x) {
              return Value{g.b.node("Gemm", {g.image({3, 8}).name, g.weights({8, 5}).name, x.name}),
                           {3, 5},
                           x.amplitude + 2};
            })
      .row();
}

std::string int8_weights(Graph& g, const Dims& dims) {
  return g.b.constant<int8_t>(dims, g.integers<int8_t>(dims, kMostWeight));
}

Row qlinear_convs(const char* domain) {
  return RowBuilder("QLinearConv", domain)
      .ranks(3, 4, "",
             [=](Graph& g, const Value& x) {
               const size_t spatial = x.dims.size() - 2;
               const auto in = g.quantized(x);
               const auto out = g.parameters(x.amplitude * 2);
               Dims w = {4, x.dims[1]}, to = x.dims;
               w.insert(w.end(), spatial, 3);
               to[1] = 4;
               return g.dequantized(
                   g.b.node("QLinearConv",
                            {in.name, in.scale, in.zero_point, int8_weights(g, w),
                             g.constant({4}, 0.006, 0.012), g.b.constant<int8_t>({4}, {0, 0, 0, 0}),
                             out.scale, out.zero_point},
                            {Attr("pads", Dims(2 * spatial, 1))}, domain),
                   out, to);
             })
      .row();
}

Row qlinear_matmul() {
  return RowBuilder("QLinearMatMul")
      .ranks(2, 4, "",
             [](Graph& g, const Value& x) {
               const auto in = g.quantized(x);
               const auto out = g.parameters(x.amplitude * 2);
               Dims to = x.dims;
               to.back() = 5;
               return g.dequantized(
                   g.b.node("QLinearMatMul",
                            {in.name, in.scale, in.zero_point, int8_weights(g, {x.dims.back(), 5}),
                             g.constant({}, 0.006, 0.012), g.b.scalar<int8_t>(0), out.scale,
                             out.zero_point}),
                   out, to);
             })
      .row();
}

Row qgemm() {
  return RowBuilder("QGemm", kMicrosoft)
      .form("", shape_of_rank(2),
            [](Graph& g, const Value& x) {
              const auto in = g.quantized(x);
              const auto out = g.parameters(x.amplitude * 2);
              const std::string bias = g.b.constant<int32_t>({5}, g.integers<int32_t>({5}, 1000));
              return g.dequantized(
                  g.b.node("QGemm",
                           {in.name, in.scale, in.zero_point, int8_weights(g, {8, 5}),
                            g.constant({}, 0.006, 0.012), g.b.scalar<int8_t>(0), bias, out.scale,
                            out.zero_point},
                           {}, kMicrosoft),
                  out, {3, 5});
            })
      .row();
}

Row matmul_integer() {
  return RowBuilder("MatMulInteger")
      .ranks(2, 4, "",
             [](Graph& g, const Value& x) {
               const auto in = g.quantized(x);
               Dims to = x.dims;
               to.back() = 5;
               return integers_of(
                   {g.b.node("MatMulInteger", {in.name, int8_weights(g, {x.dims.back(), 5}),
                                               in.zero_point, g.b.scalar<int8_t>(0)}),
                    to, 1});
             })
      .ranks(2, 3, "scaled",
             [](Graph& g, const Value& x) {
               const auto in = g.quantized(x);
               Dims to = x.dims;
               to.back() = 5;
               const std::string sum =
                   g.b.node("MatMulInteger", {in.name, int8_weights(g, {x.dims.back(), 5}),
                                              in.zero_point, g.b.scalar<int8_t>(0)});
               const std::string real = g.b.node("Cast", {sum}, {Attr("to", kFloatType)});
               return Value{g.b.node("Mul", {real, g.b.scalar(in.scale_value * 0.01f)}), to,
                            x.amplitude * 2};
             })
      .row();
}

Row conv_integer() {
  return RowBuilder("ConvInteger")
      .form("4-D", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              const auto in = g.quantized(x);
              return integers_of({g.b.node("ConvInteger", {in.name, int8_weights(g, {3, 4, 3, 3}),
                                                           in.zero_point, g.b.scalar<int8_t>(0)}),
                                  {2, 3, 3, 4},
                                  1});
            })
      .row();
}

Row matmul_integer_to_float() {
  return RowBuilder("MatMulIntegerToFloat", kMicrosoft)
      .ranks(2, 3, "",
             [](Graph& g, const Value& x) {
               const auto in = g.quantized(x);
               Dims to = x.dims;
               to.back() = 5;
               return Value{
                   g.b.node("MatMulIntegerToFloat",
                            {in.name, int8_weights(g, {x.dims.back(), 5}), in.scale,
                             g.constant({}, 0.006, 0.012), in.zero_point, g.b.scalar<int8_t>(0)},
                            {}, kMicrosoft),
                   to, x.amplitude * 2};
             })
      .row();
}

Row dynamic_quantize_matmul() {
  return RowBuilder("DynamicQuantizeMatMul", kMicrosoft)
      .ranks(2, 3, "",
             [](Graph& g, const Value& x) {
               Dims to = x.dims;
               to.back() = 5;
               return Graph::sized(
                   Graph::shaped(g.node("DynamicQuantizeMatMul", x,
                                        {int8_weights(g, {x.dims.back(), 5}),
                                         g.constant({}, 0.006, 0.012), g.b.scalar<int8_t>(0)},
                                        {}, kMicrosoft),
                                 to),
                   x.amplitude * 2);
             })
      .row();
}

Row attention() {
  return RowBuilder("QAttention", kMicrosoft)
      .form("", {2, 3, 8},
            [](Graph& g, const Value& x) {
              const auto in = g.quantized(x);
              return Value{
                  g.b.node("QAttention",
                           {in.name, int8_weights(g, {8, 24}), g.constant({24}, -1, 1), in.scale,
                            g.constant({}, 0.006, 0.012), "", in.zero_point, g.b.scalar<int8_t>(0)},
                           {Attr("num_heads", 2)}, kMicrosoft),
                  x.dims, x.amplitude * 2};
            })
      .row();
}

Row lstm() {
  return RowBuilder("DynamicQuantizeLSTM", kMicrosoft)
      .form("", {5, 2, 8},
            [](Graph& g, const Value& x) {
              const std::string scale = g.b.constant<float>({1}, {0.01f});
              const std::string zero = g.b.constant<int8_t>({1}, {0});
              return Value{
                  g.b.node("DynamicQuantizeLSTM",
                           {x.name, int8_weights(g, {1, 8, 12}), int8_weights(g, {1, 3, 12}),
                            g.constant({1, 24}, -1, 1), "", "", "", "", scale, zero, scale, zero},
                           {Attr("hidden_size", 3)}, kMicrosoft),
                  {5, 1, 2, 3},
                  1};
            })
      .row();
}

// Makes a layer of x [5, 2, 8] with 3 cells; `more`: inputs behind the bias.
Value recurrent(Graph& g, const Value& x, const char* op, int64_t gates, const char* direction,
                const Names& more, std::vector<Attr> attributes = {}) {
  const int64_t d = std::string(direction) == "bidirectional" ? 2 : 1;
  Names inputs = {x.name, g.constant({d, gates * 3, 8}, -1, 1)};
  inputs.push_back(g.constant({d, gates * 3, 3}, -1, 1));
  inputs.push_back(g.constant({d, 2 * gates * 3}, -1, 1));
  inputs.insert(inputs.end(), more.begin(), more.end());
  attributes.insert(attributes.end(), {Attr("hidden_size", 3), Attr("direction", direction)});
  return Value{g.b.node(op, inputs, attributes), {5, d, 2, 3}, 1};
}

Row recurrent_layers(const char* op, int64_t gates) {
  RowBuilder row(op);
  const Dims dims = {5, 2, 8};
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    row.form(direction, dims,
             [=](Graph& g, const Value& x) { return recurrent(g, x, op, gates, direction, {}); });
  row.form("lengths", dims, [=](Graph& g, const Value& x) {
    const std::string lengths = g.b.constant<int32_t>({2}, {5, 3});
    return recurrent(g, x, op, gates, "reverse", {lengths});
  });
  row.form("state", dims, [=](Graph& g, const Value& x) {
    const std::string state = g.constant({2, 2, 3}, -1, 1);
    return recurrent(g, x, op, gates, "bidirectional", {"", state});
  });
  row.form("clip", dims, [=](Graph& g, const Value& x) {
    return recurrent(g, x, op, gates, "forward", {}, {Attr("clip", 0.5f)});
  });
  if (gates == 3)
    row.form("linear before reset", dims, [=](Graph& g, const Value& x) {
      return recurrent(g, x, op, gates, "bidirectional", {}, {Attr("linear_before_reset", 1)});
    });
  if (gates == 4)
    row.form("peepholes", dims, [=](Graph& g, const Value& x) {
      const std::string peepholes = g.constant({1, 9}, -1, 1);
      return recurrent(g, x, op, gates, "forward", {"", "", "", peepholes});
    });
  return row.row();
}

}  // namespace

std::vector<Row> layer_rows() {
  return {convs(),
          conv_transposes(),
          matmuls(),
          gemms(),
          einsums(),
          grid_samples(),
          qlinear_convs(""),
          qlinear_convs(kMicrosoft),
          qlinear_matmul(),
          qgemm(),
          matmul_integer(),
          conv_integer(),
          matmul_integer_to_float(),
          dynamic_quantize_matmul(),
          attention(),
          lstm(),
          recurrent_layers("LSTM", 4),
          recurrent_layers("GRU", 3),
          recurrent_layers("RNN", 1)};
}

}  // namespace qrt::sweep

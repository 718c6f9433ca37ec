// SPDX-License-Identifier: Apache-2.0
// Operators on windows and rows: pools, reductions, Softmax, normalisations, what chooses places.
#include "tests/onnxruntime/sweep/rows.h"

namespace qrt::sweep {
namespace {

struct Window {
  int64_t kernel, stride, pad;
};

Value pool(Graph& g, const std::string& op, const Value& x, Window w, std::vector<Attr> more = {}) {
  const size_t spatial = x.dims.size() - 2;
  Dims to = x.dims;
  for (size_t i = 2; i < to.size(); ++i) to[i] = (to[i] + 2 * w.pad - w.kernel) / w.stride + 1;
  std::vector<Attr> attributes = {Attr("kernel_shape", Dims(spatial, w.kernel)),
                                  Attr("strides", Dims(spatial, w.stride)),
                                  Attr("pads", Dims(2 * spatial, w.pad))};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return Graph::shaped(g.node(op, x, {}, attributes), to);
}

Row max_pool() {
  return RowBuilder("MaxPool")
      .ranks(3, 5, "",
             [](Graph& g, const Value& x) {
               return pool(g, "MaxPool", x, {2, 1, 0});
             })
      .ranks(3, 5, "stride and padding",
             [](Graph& g, const Value& x) {
               return pool(g, "MaxPool", x, {3, 2, 1});
             })
      .form("along rows only", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              return Graph::shaped(g.node("MaxPool", x, {}, {Attr("kernel_shape", Dims{1, 3})}),
                                   {2, 4, 5, 4});
            })
      .row();
}

Row average_pool() {
  return RowBuilder("AveragePool")
      .ranks(3, 5, "",
             [](Graph& g, const Value& x) {
               return pool(g, "AveragePool", x, {2, 1, 0});
             })
      .ranks(3, 4, "stride and padding",
             [](Graph& g, const Value& x) {
               return pool(g, "AveragePool", x, {3, 2, 1});
             })
      .ranks(3, 4, "counts padding",
             [](Graph& g, const Value& x) {
               return pool(g, "AveragePool", x, {3, 1, 1}, {Attr("count_include_pad", 1)});
             })
      .row();
}

Row global_pool(const char* op) {
  return RowBuilder(op)
      .ranks(3, 5, "",
             [op](Graph& g, const Value& x) {
               Dims to = x.dims;
               for (size_t i = 2; i < to.size(); ++i) to[i] = 1;
               return Graph::shaped(g.node(op, x), to);
             })
      .row();
}

// Adds a reduction. ReduceSum takes axes as an input since opset 13, the others since 18.
Row reduction(const char* op) {
  RowBuilder row(op);
  row.axes(1, 5, "", [op](Graph& g, const Value& x, size_t axis) {
    Dims to = x.dims;
    to[axis] = 1;
    return Graph::sized(Graph::shaped(g.node(op, x, {g.numbers({static_cast<int64_t>(axis)})}), to),
                        x.amplitude * (std::string(op) == "ReduceSum" ? 2 : 1));
  });
  row.form("spatial, without dimensions", shape_of_rank(4), [op](Graph& g, const Value& x) {
    return Graph::shaped(g.node(op, x, {g.numbers({2, 3})}, {Attr("keepdims", 0)}), {2, 4});
  });
  row.form("channels and rows", shape_of_rank(4), [op](Graph& g, const Value& x) {
    return Graph::shaped(g.node(op, x, {g.numbers({1, 2})}), {2, 1, 1, 6});
  });
  row.form("all", shape_of_rank(3), [op](Graph& g, const Value& x) {
    return Graph::shaped(g.node(op, x), {1, 1, 1});
  });
  return row.row();
}

Row softmax(const char* op, double amplitude) {
  return RowBuilder(op)
      .axes(1, 4, "",
            [=](Graph& g, const Value& x, size_t axis) {
              return Graph::sized(g.node(op, x, {}, {axis_attr(axis)}), amplitude);
            })
      .form(
          "over the rest (opset 11)", shape_of_rank(4),
          [=](Graph& g, const Value& x) {
            return Graph::sized(g.node(op, x, {}, {Attr("axis", 1)}), amplitude);
          },
          11)
      .row();
}

Row qlinear_softmax() {
  return RowBuilder("QLinearSoftmax", kMicrosoft)
      .ranks(2, 4, "",
             [](Graph& g, const Value& x) {
               const auto in = g.quantized(x);
               const auto out = g.parameters(1);
               return g.dequantized(
                   g.b.node("QLinearSoftmax",
                            {in.name, in.scale, in.zero_point, out.scale, out.zero_point},
                            {Attr("axis", -1), Attr("opset", 13)}, kMicrosoft),
                   out, x.dims);
             })
      .row();
}

Row qlinear_average_pool() {
  return RowBuilder("QLinearAveragePool", kMicrosoft)
      .ranks(3, 4, "",
             [](Graph& g, const Value& x) {
               const auto in = g.quantized(x);
               const auto out = g.parameters(x.amplitude);
               Dims to = x.dims;
               for (size_t i = 2; i < to.size(); ++i) to[i] -= 1;
               return g.dequantized(
                   g.b.node("QLinearAveragePool",
                            {in.name, in.scale, in.zero_point, out.scale, out.zero_point},
                            {Attr("kernel_shape", Dims(x.dims.size() - 2, 2))}, kMicrosoft),
                   out, to);
             })
      .row();
}

Row qlinear_global_average_pool() {
  return RowBuilder("QLinearGlobalAveragePool", kMicrosoft)
      .form("4-D", shape_of_rank(4),
            [](Graph& g, const Value& x) {
              const auto in = g.quantized(x);
              const auto out = g.parameters(x.amplitude);
              return g.dequantized(
                  g.b.node("QLinearGlobalAveragePool",
                           {in.name, in.scale, in.zero_point, out.scale, out.zero_point},
                           {Attr("channels_last", 0)}, kMicrosoft),
                  out, {2, 4, 1, 1});
            })
      .row();
}

Row arg(const char* op) {
  return RowBuilder(op)
      .axes(1, 4, "",
            [op](Graph& g, const Value& x, size_t axis) {
              Dims to = x.dims;
              to[axis] = 1;
              return integers_of(Graph::shaped(g.node(op, x, {}, {axis_attr(axis)}), to));
            })
      .form("last index, without dimensions", shape_of_rank(4),
            [op](Graph& g, const Value& x) {
              return integers_of(Graph::shaped(
                  g.node(op, x, {},
                         {Attr("axis", 1), Attr("keepdims", 0), Attr("select_last_index", 1)}),
                  {2, 5, 6}));
            })
      .row();
}

Row top_k() {
  RowBuilder row("TopK");
  for (size_t rank = 1; rank <= 4; ++rank) {
    for (size_t axis = 0; axis < rank; ++axis) {
      row.outputs(std::to_string(rank) + "-D, axis " + std::to_string(axis), shape_of_rank(rank),
                  [axis](Graph& g, const Value& x) {
                    Value values = x;
                    values.dims[axis] = 2;
                    return node_outputs(g, "TopK", {x.name, g.numbers({2})}, {axis_attr(axis)},
                                        {values, integers_of(values)});
                  });
    }
  }
  return row.row();
}

// Boxes of x, a row of four numbers for each; how many are found, only a run knows.
Row non_max_suppression() {
  RowBuilder row("NonMaxSuppression");
  for (const int centered : {0, 1})
    for (const bool is_of_scores : {false, true})
      row.form(std::string(is_of_scores ? "of scores" : "of boxes") +
                   (centered != 0 ? ", middles and sizes" : ""),
               is_of_scores ? Dims{2, 3, 12} : Dims{2, 12, 4}, [=](Graph& g, const Value& x) {
                 const std::string other =
                     is_of_scores ? g.constant({2, 12, 4}, 0, 2) : g.constant({2, 3, 12}, -1, 1);
                 const Names inputs = {is_of_scores ? other : x.name, is_of_scores ? x.name : other,
                                       g.b.scalar<int64_t>(5), g.b.scalar(0.3f), g.b.scalar(-0.5f)};
                 Value y = {
                     g.b.node("NonMaxSuppression", inputs, {Attr("center_point_box", centered)}),
                     {30, 3}};
                 return integers_of(y);
               });
  return row.row();
}

Row non_zero() {
  return RowBuilder("NonZero")
      .ranks(1, 4, "transposed",
             [](Graph& g, const Value& x) {
               const std::string places = g.b.node("NonZero", {g.node("Relu", x).name});
               Value y = {g.b.node("Transpose", {places}),
                          {elements(x.dims), static_cast<int64_t>(x.dims.size())}};
               return integers_of(y);
             })
      .row();
}

Row batch_normalization() {
  return RowBuilder("BatchNormalization")
      .ranks(2, 5, "",
             [](Graph& g, const Value& x) {
               const Dims c = {x.dims[1]};
               const Names more = {g.constant(c, 0.5, 1.5), g.constant(c, -1, 1),
                                   g.constant(c, -1, 1), g.constant(c, 0.5, 1.5)};
               return Graph::sized(g.node("BatchNormalization", x, more), x.amplitude * 2);
             })
      .row();
}

// Returns a normalisation over the last dimension.
Row of_rows(const char* op, const char* domain, bool has_bias, int64_t opset) {
  return RowBuilder(op, domain)
      .ranks(
          2, 4, "",
          [=](Graph& g, const Value& x) {
            const Dims c = {x.dims.back()};
            Names more = {g.constant(c, 0.5, 1.5)};
            if (has_bias) more.push_back(g.constant(c, -1, 1));
            return Graph::sized(g.node(op, x, more, {Attr("axis", -1)}, domain), 3);
          },
          opset)
      .row();
}

// Returns a row that normalises x plus a skipped tensor, over the last dimension.
Row of_sums(const char* op, bool has_bias) {
  return RowBuilder(op, kMicrosoft)
      .form("3-D", shape_of_rank(3),
            [=](Graph& g, const Value& x) {
              const Dims c = {x.dims.back()};
              Names more = {g.image(x.dims).name, g.constant(c, 0.5, 1.5)};
              if (has_bias) more.push_back(g.constant(c, -1, 1));
              return Graph::sized(g.node(op, x, more, {}, kMicrosoft), 3);
            })
      .row();
}

}  // namespace

std::vector<Row> window_rows() {
  std::vector<Row> all = {
      max_pool(), average_pool(), global_pool("GlobalMaxPool"), global_pool("GlobalAveragePool"),
      qlinear_average_pool(), qlinear_global_average_pool(), reduction("ReduceMax"),
      reduction("ReduceMin"), reduction("ReduceMean"), reduction("ReduceSum"),
      reduction("ReduceL1"), reduction("ReduceL2"), reduction("ReduceSumSquare"),
      reduction("ReduceLogSumExp"), softmax("Softmax", 1), softmax("LogSoftmax", 6),
      qlinear_softmax(), arg("ArgMax"), arg("ArgMin"), top_k(), non_max_suppression(), non_zero(),
      batch_normalization(), of_rows("LayerNormalization", "", true, 21),
      of_rows("RMSNormalization", "", false, 23),
      of_rows("SimplifiedLayerNormalization", "", false, 21),
      // ONNX Runtime has it in ONNX's domain only.
      RowBuilder("SimplifiedLayerNormalization", kMicrosoft).row(),
      of_sums("SkipLayerNormalization", true), of_sums("SkipSimplifiedLayerNormalization", false)};
  all.push_back(RowBuilder("ReduceLogSum")
                    .form("of squares", shape_of_rank(3),
                          [](Graph& g, const Value& x) {
                            const Value squares = g.node("Mul", x, {x.name});
                            return Graph::sized(
                                Graph::shaped(g.node("ReduceLogSum", squares, {g.numbers({2})}),
                                              {x.dims[0], x.dims[1], 1}),
                                4);
                          })
                    .row());
  all.push_back(RowBuilder("InstanceNormalization")
                    .ranks(3, 4, "",
                           [](Graph& g, const Value& x) {
                             const Dims c = {x.dims[1]};
                             return Graph::sized(
                                 g.node("InstanceNormalization", x,
                                        {g.constant(c, 0.5, 1.5), g.constant(c, -1, 1)}),
                                 3);
                           })
                    .row());
  all.push_back(RowBuilder("GroupNormalization")
                    .form("4-D", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            return Graph::sized(
                                g.node("GroupNormalization", x,
                                       {g.constant({4}, 0.5, 1.5), g.constant({4}, -1, 1)},
                                       {Attr("num_groups", 2)}),
                                3);
                          })
                    .row());
  all.push_back(RowBuilder("MeanVarianceNormalization")
                    .form("4-D", shape_of_rank(4),
                          [](Graph& g, const Value& x) {
                            return Graph::sized(g.node("MeanVarianceNormalization", x), 3);
                          })
                    .row());
  all.push_back(RowBuilder("LpNormalization")
                    .axes(2, 3, "",
                          [](Graph& g, const Value& x, size_t axis) {
                            return Graph::sized(g.node("LpNormalization", x, {}, {axis_attr(axis)}),
                                                1);
                          })
                    .row());
  all.push_back(
      RowBuilder("LRN")
          .form("4-D", shape_of_rank(4),
                [](Graph& g, const Value& x) { return g.node("LRN", x, {}, {Attr("size", 3)}); })
          .row());
  return all;
}

}  // namespace qrt::sweep

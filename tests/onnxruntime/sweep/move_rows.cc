// SPDX-License-Identifier: Apache-2.0
// Operators that move elements.
#include "tests/onnxruntime/sweep/rows.h"

namespace qrt::sweep {
namespace {

Value transpose(Graph& g, const Value& x, const Dims& perm) {
  Dims to;
  for (const int64_t i : perm) to.push_back(x.dims[static_cast<size_t>(i)]);
  return Graph::shaped(g.node("Transpose", x, {}, {Attr("perm", perm)}), to);
}

Value reshape(Graph& g, const Value& x, const Dims& to) {
  return Graph::shaped(g.node("Reshape", x, {g.numbers(to)}), to);
}

Row transposes() {
  RowBuilder row("Transpose");
  row.ranks(2, 5, "reversed", [](Graph& g, const Value& x) {
    Dims perm;
    for (size_t i = x.dims.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
    return transpose(g, x, perm);
  });
  row.form("to NHWC", shape_of_rank(4), [](Graph& g, const Value& x) {
    return transpose(g, x, {0, 2, 3, 1});
  });
  row.form("last two", shape_of_rank(3), [](Graph& g, const Value& x) {
    return transpose(g, x, {0, 2, 1});
  });
  return row.row();
}

Row reshapes() {
  RowBuilder row("Reshape");
  row.ranks(1, 5, "to a row",
            [](Graph& g, const Value& x) { return reshape(g, x, {elements(x.dims)}); });
  row.form("keeps the batch", shape_of_rank(4), [](Graph& g, const Value& x) {
    return Graph::shaped(g.node("Reshape", x, {g.numbers({0, -1})}), {2, 120});
  });
  row.form("splits channels", shape_of_rank(4), [](Graph& g, const Value& x) {
    return reshape(g, x, {2, 2, 2, 5, 6});
  });
  row.form("joins rows", shape_of_rank(4), [](Graph& g, const Value& x) {
    return reshape(g, x, {2, 4, 30});
  });
  row.form("cuts a vector", shape_of_rank(1), [](Graph& g, const Value& x) {
    return reshape(g, x, {3, 3});
  });
  row.form("across axes", shape_of_rank(2), [](Graph& g, const Value& x) {
    return reshape(g, x, {4, 6});
  });
  return row.row();
}

Row slices() {
  RowBuilder row("Slice");
  row.axes(1, 5, "", [](Graph& g, const Value& x, size_t axis) {
    const auto a = static_cast<int64_t>(axis);
    Dims to = x.dims;
    to[axis] -= 1;
    return Graph::shaped(
        g.node("Slice", x, {g.numbers({1}), g.numbers({1000}), g.numbers({a}), g.numbers({1})}),
        to);
  });
  row.form("backwards by 2", shape_of_rank(4), [](Graph& g, const Value& x) {
    return Graph::shaped(
        g.node("Slice", x,
               {g.numbers({-1, 3}), g.numbers({-1000, 0}), g.numbers({3, 1}), g.numbers({-2, -1})}),
        {2, 3, 5, 3});
  });
  return row.row();
}

Row splits() {
  RowBuilder row("Split");
  for (size_t rank = 1; rank <= 4; ++rank) {
    for (size_t axis = 0; axis < rank; ++axis) {
      row.outputs(std::to_string(rank) + "-D, axis " + std::to_string(axis), shape_of_rank(rank),
                  [axis](Graph& g, const Value& x) {
                    Value a = x, b = x;
                    a.dims[axis] = 1, b.dims[axis] -= 1;
                    return node_outputs(g, "Split", {x.name, g.numbers({1, b.dims[axis]})},
                                        {axis_attr(axis)}, {a, b});
                  });
    }
  }
  return row.row();
}

Row pads() {
  RowBuilder row("Pad");
  const auto padded = [](Graph& g, const Value& x, size_t axis, const char* mode, bool has_value) {
    Dims pads(2 * x.dims.size(), 0), to = x.dims;
    pads[axis] = 1, pads[axis + x.dims.size()] = 1, to[axis] += 2;
    Names more = {g.numbers(pads)};
    if (has_value) more.push_back(g.constant({}, -1, 1));
    return Graph::shaped(g.node("Pad", x, more, {Attr("mode", mode)}), to);
  };
  row.axes(1, 5, "zeros, ", [=](Graph& g, const Value& x, size_t axis) {
    return padded(g, x, axis, "constant", false);
  });
  row.axes(3, 4, "value, ", [=](Graph& g, const Value& x, size_t axis) {
    return padded(g, x, axis, "constant", true);
  });
  row.form("edge", shape_of_rank(4),
           [=](Graph& g, const Value& x) { return padded(g, x, 3, "edge", false); });
  row.form("reflect", shape_of_rank(4),
           [=](Graph& g, const Value& x) { return padded(g, x, 2, "reflect", false); });
  row.form("cuts", shape_of_rank(4), [](Graph& g, const Value& x) {
    return Graph::shaped(g.node("Pad", x, {g.numbers({0, 0, -1, 0, 0, 0, 0, -1})}), {2, 4, 4, 5});
  });
  return row.row();
}

Row gathers() {
  RowBuilder row("Gather");
  row.axes(1, 5, "", [](Graph& g, const Value& x, size_t axis) {
    Dims to = x.dims;
    const Dims indices = {to[axis] - 1, 0, -1};
    to[axis] = 3;
    return Graph::shaped(g.node("Gather", x, {g.numbers(indices)}, {axis_attr(axis)}), to);
  });
  row.axes(2, 4, "one index, ", [](Graph& g, const Value& x, size_t axis) {
    Dims to = x.dims;
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
    return Graph::shaped(g.node("Gather", x, {g.b.scalar<int64_t>(1)}, {axis_attr(axis)}), to);
  });
  row.form("matrix of indices", shape_of_rank(3), [](Graph& g, const Value& x) {
    const std::string at = g.b.constant<int64_t>({2, 2}, {3, 1, 0, 2});
    return Graph::shaped(g.node("Gather", x, {at}, {Attr("axis", 1)}), {2, 2, 2, 7});
  });
  return row.row();
}

Row concats() {
  RowBuilder row("Concat");
  const auto joined = [](Graph& g, const Value& x, size_t axis, const Names& all, int64_t count) {
    Dims to = x.dims;
    to[axis] *= count;
    return Value{g.b.node("Concat", all, {axis_attr(axis)}), to, x.amplitude};
  };
  row.axes(1, 5, "image behind, ", [=](Graph& g, const Value& x, size_t axis) {
    return joined(g, x, axis, {x.name, g.image(x.dims, x.amplitude).name}, 2);
  });
  row.axes(3, 4, "image in front, ", [=](Graph& g, const Value& x, size_t axis) {
    return joined(g, x, axis, {g.image(x.dims, x.amplitude).name, x.name}, 2);
  });
  row.axes(2, 4, "itself, ", [=](Graph& g, const Value& x, size_t axis) {
    return joined(g, x, axis, {x.name, x.name}, 2);
  });
  row.form("floats", shape_of_rank(4), [=](Graph& g, const Value& x) {
    return joined(g, x, 1, {x.name, g.floats(x.dims).name}, 2);
  });
  row.form("constant", shape_of_rank(4), [=](Graph& g, const Value& x) {
    return joined(g, x, 3, {x.name, g.constant(x.dims, -2, 2)}, 2);
  });
  row.form("alone", shape_of_rank(3),
           [=](Graph& g, const Value& x) { return joined(g, x, 1, {x.name}, 1); });
  return row.row();
}

Row resizes(const char* op, int64_t opset) {
  RowBuilder row(op);
  const auto resized = [=](Graph& g, const Value& x, const std::vector<Attr>& attributes,
                           const std::vector<float>& scales) {
    Dims to = x.dims;
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<int64_t>(static_cast<float>(to[i]) * scales[i]);
    const std::string s = g.b.constant<float>({static_cast<int64_t>(scales.size())}, scales);
    Names more = {s};
    if (opset >= 11) more.insert(more.begin(), "");
    return Graph::shaped(g.node(op, x, more, attributes), to);
  };
  row.form(
      "nearest 3-D", shape_of_rank(3),
      [=](Graph& g, const Value& x) {
        return resized(g, x, {Attr("mode", "nearest")}, {1, 1, 2});
      },
      opset);
  row.form(
      "nearest 4-D", shape_of_rank(4),
      [=](Graph& g, const Value& x) {
        return resized(g, x, {Attr("mode", "nearest")}, {1, 1, 2, 2});
      },
      opset);
  row.form(
      "linear 4-D", shape_of_rank(4),
      [=](Graph& g, const Value& x) {
        return resized(g, x, {Attr("mode", "linear")}, {1, 1, 2, 2});
      },
      opset);
  if (opset < 11) return row.row();
  row.form("nearest 5-D", shape_of_rank(5), [=](Graph& g, const Value& x) {
    return resized(g, x, {Attr("mode", "nearest")}, {1, 1, 2, 2, 2});
  });
  row.form("nearest, asymmetric, smaller", shape_of_rank(4), [=](Graph& g, const Value& x) {
    return resized(g, x,
                   {Attr("mode", "nearest"), Attr("coordinate_transformation_mode", "asymmetric"),
                    Attr("nearest_mode", "floor")},
                   {1, 1, 0.6f, 0.5f});
  });
  row.form("linear, corners aligned", shape_of_rank(4), [=](Graph& g, const Value& x) {
    return resized(
        g, x, {Attr("mode", "linear"), Attr("coordinate_transformation_mode", "align_corners")},
        {1, 1, 1.8f, 1.5f});
  });
  row.form("linear 3-D", shape_of_rank(3), [=](Graph& g, const Value& x) {
    return resized(g, x, {Attr("mode", "linear")}, {1, 1, 2});
  });
  row.form("cubic 4-D", shape_of_rank(4), [=](Graph& g, const Value& x) {
    return resized(g, x, {Attr("mode", "cubic")}, {1, 1, 2, 2});
  });
  row.form("linear NHWC", {2, 5, 6, 4}, [=](Graph& g, const Value& x) {
    return resized(g, x, {Attr("mode", "linear")}, {1, 2, 2, 1});
  });
  row.form("sizes", shape_of_rank(4), [](Graph& g, const Value& x) {
    return Graph::shaped(
        g.node("Resize", x, {"", "", g.numbers({2, 4, 7, 9})}, {Attr("mode", "linear")}),
        {2, 4, 7, 9});
  });
  return row.row();
}

}  // namespace

std::vector<Row> move_rows() {
  std::vector<Row> all = {transposes(), reshapes(), slices(), splits(), pads(), gathers(),
                          concats(), resizes("Resize", 21),
                          // Opset 10 has both, and ONNX Runtime takes Upsample only up to 9.
                          resizes("Upsample", 9)};
  all.push_back(RowBuilder("Identity")
                    .ranks(1, 5, "", [](Graph& g, const Value& x) { return g.node("Identity", x); })
                    .row());
  all.push_back(RowBuilder("Dropout")
                    .ranks(2, 2, "", [](Graph& g, const Value& x) { return g.node("Dropout", x); })
                    .row());
  all.push_back(RowBuilder("Flatten")
                    .axes(1, 4, "",
                          [](Graph& g, const Value& x, size_t axis) {
                            int64_t before = 1;
                            for (size_t i = 0; i < axis; ++i) before *= x.dims[i];
                            return Graph::shaped(g.node("Flatten", x, {}, {axis_attr(axis)}),
                                                 {before, elements(x.dims) / before});
                          })
                    .row());
  all.push_back(RowBuilder("Squeeze")
                    .form("1-D", {1},
                          [](Graph& g, const Value& x) {
                            return Graph::shaped(g.node("Squeeze", x, {g.numbers({0})}), {});
                          })
                    .form("in the middle", {3, 1, 5},
                          [](Graph& g, const Value& x) {
                            return Graph::shaped(g.node("Squeeze", x, {g.numbers({1})}), {3, 5});
                          })
                    .form("all", {1, 4, 1, 5},
                          [](Graph& g, const Value& x) {
                            return Graph::shaped(g.node("Squeeze", x), {4, 5});
                          })
                    .row());
  all.push_back(RowBuilder("Unsqueeze")
                    .ranks(1, 4, "in front",
                           [](Graph& g, const Value& x) {
                             Dims to = x.dims;
                             to.insert(to.begin(), 1);
                             return Graph::shaped(g.node("Unsqueeze", x, {g.numbers({0})}), to);
                           })
                    .ranks(1, 3, "twice",
                           [](Graph& g, const Value& x) {
                             Dims to = x.dims;
                             to.insert(to.begin() + 1, 1);
                             to.push_back(1);
                             return Graph::shaped(g.node("Unsqueeze", x, {g.numbers({1, -1})}), to);
                           })
                    .row());
  all.push_back(RowBuilder("Tile")
                    .axes(1, 4, "",
                          [](Graph& g, const Value& x, size_t axis) {
                            Dims repeats(x.dims.size(), 1), to = x.dims;
                            repeats[axis] = 2, to[axis] *= 2;
                            return Graph::shaped(g.node("Tile", x, {g.numbers(repeats)}), to);
                          })
                    .row());
  all.push_back(
      RowBuilder("Expand")
          .form("1-D", {9},
                [](Graph& g, const Value& x) {
                  return Graph::shaped(g.node("Expand", x, {g.numbers({3, 9})}), {3, 9});
                })
          .form("3-D", {2, 1, 7},
                [](Graph& g, const Value& x) {
                  return Graph::shaped(g.node("Expand", x, {g.numbers({2, 4, 7})}), {2, 4, 7});
                })
          .form(
              "4-D", {2, 4, 1, 1},
              [](Graph& g, const Value& x) {
                return Graph::shaped(g.node("Expand", x, {g.numbers({2, 4, 3, 5})}), {2, 4, 3, 5});
              })
          .row());
  all.push_back(
      RowBuilder("GatherND")
          .form("2-D", shape_of_rank(2),
                [](Graph& g, const Value& x) {
                  const std::string at = g.b.constant<int64_t>({3, 2}, {0, 1, 2, 7, 1, 0});
                  return Graph::shaped(g.node("GatherND", x, {at}), {3});
                })
          .form("rows", shape_of_rank(3),
                [](Graph& g, const Value& x) {
                  const std::string at = g.b.constant<int64_t>({2, 2}, {0, 3, 1, 2});
                  return Graph::shaped(g.node("GatherND", x, {at}), {2, 7});
                })
          .row());
  all.push_back(
      RowBuilder("GatherElements")
          .axes(1, 4, "",
                [](Graph& g, const Value& x, size_t axis) {
                  Dims to = x.dims;
                  to[axis] = 2;
                  std::vector<int64_t> at(static_cast<size_t>(elements(to)));
                  for (int64_t& i : at) i = g.dice.integer(0, x.dims[axis] - 1);
                  return Graph::shaped(
                      g.node("GatherElements", x, {g.b.constant(to, at)}, {axis_attr(axis)}), to);
                })
          .row());
  all.push_back(
      RowBuilder("ScatterND")
          .form("rows", shape_of_rank(3),
                [](Graph& g, const Value& x) {
                  const std::string from = g.b.constant<int64_t>({2, 2}, {0, 1, 1, 0});
                  const std::string to = g.b.constant<int64_t>({2, 2}, {0, 3, 1, 2});
                  return g.node("ScatterND", x, {to, g.b.node("GatherND", {x.name, from})});
                })
          .form("added rows", shape_of_rank(3),
                [](Graph& g, const Value& x) {
                  const std::string from = g.b.constant<int64_t>({2, 2}, {0, 1, 1, 0});
                  const std::string to = g.b.constant<int64_t>({2, 2}, {1, 2, 1, 2});
                  return Graph::sized(
                      g.node("ScatterND", x, {to, g.b.node("GatherND", {x.name, from})},
                             {Attr("reduction", "add")}),
                      x.amplitude * 3);
                })
          .row());
  const auto scatter = [](const char* op) {
    return [op](Graph& g, const Value& x, size_t axis) {
      Dims to = x.dims;
      to[axis] = 2;
      int64_t inner = 1;
      for (size_t d = axis + 1; d < to.size(); ++d) inner *= to[d];
      std::vector<int64_t> at(static_cast<size_t>(elements(to)));
      for (size_t i = 0; i < at.size(); ++i)
        at[i] = static_cast<int64_t>(i) / inner % 2 == 0 ? x.dims[axis] - 1 : 0;
      const std::string updates = g.b.node("Slice", {x.name, g.numbers({0}), g.numbers({2}),
                                                     g.numbers({static_cast<int64_t>(axis)})});
      return g.node(op, x, {g.b.constant(to, at), updates}, {axis_attr(axis)});
    };
  };
  const auto scatter_add = [](Graph& g, const Value& x, size_t axis) {
    Dims to = x.dims;
    to[axis] = 2;
    const std::string updates = g.b.node(
        "Slice", {x.name, g.numbers({0}), g.numbers({2}), g.numbers({static_cast<int64_t>(axis)})});
    const std::vector<int64_t> at(static_cast<size_t>(elements(to)), x.dims[axis] - 1);
    return Graph::sized(g.node("ScatterElements", x, {g.b.constant(to, at), updates},
                               {axis_attr(axis), Attr("reduction", "add")}),
                        x.amplitude * 3);
  };
  all.push_back(RowBuilder("ScatterElements")
                    .axes(2, 4, "", scatter("ScatterElements"))
                    .axes(2, 3, "added, ", scatter_add)
                    .row());
  all.push_back(RowBuilder("Scatter").axes(2, 3, "", scatter("Scatter"), 10).row());
  const auto triangle = [](int64_t upper) {
    return [upper](Graph& g, const Value& x) {
      return g.node("Trilu", x, {}, {Attr("upper", upper)});
    };
  };
  all.push_back(RowBuilder("Trilu")
                    .ranks(2, 4, "upper", triangle(1))
                    .ranks(2, 4, "lower", triangle(0))
                    .row());
  const auto depth_to_space = [](const char* mode) {
    return [mode](Graph& g, const Value& x) {
      return Graph::shaped(
          g.node("DepthToSpace", x, {}, {Attr("blocksize", 2), Attr("mode", mode)}),
          {2, 1, 10, 12});
    };
  };
  all.push_back(RowBuilder("DepthToSpace")
                    .form("DCR", shape_of_rank(4), depth_to_space("DCR"))
                    .form("CRD", shape_of_rank(4), depth_to_space("CRD"))
                    .row());
  all.push_back(RowBuilder("SpaceToDepth")
                    .form("4-D", {2, 3, 4, 6},
                          [](Graph& g, const Value& x) {
                            return Graph::shaped(
                                g.node("SpaceToDepth", x, {}, {Attr("blocksize", 2)}),
                                {2, 12, 2, 3});
                          })
                    .row());
  all.push_back(RowBuilder("QLinearConcat", kMicrosoft)
                    .axes(2, 4, "",
                          [](Graph& g, const Value& x, size_t axis) {
                            const auto a = g.quantized(x), b = g.quantized(g.image(x.dims, 1));
                            const auto y = g.parameters(x.amplitude);
                            Dims to = x.dims;
                            to[axis] *= 2;
                            return g.dequantized(
                                g.b.node("QLinearConcat",
                                         {y.scale, y.zero_point, a.name, a.scale, a.zero_point,
                                          b.name, b.scale, b.zero_point},
                                         {axis_attr(axis)}, kMicrosoft),
                                y, to);
                          })
                    .row());
  return all;
}

}  // namespace qrt::sweep

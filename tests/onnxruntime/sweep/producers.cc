// SPDX-License-Identifier: Apache-2.0
// Producers of pending tensors, of every kind that the importer has.
#include <numeric>

#include "tests/onnxruntime/sweep/cells.h"

namespace qrt::sweep {
namespace {

constexpr size_t kMostAxes = 5;

bool any_shape(const Dims&) { return true; }
std::function<bool(const Dims& dims)> of_rank(size_t least, size_t most) {
  return [=](const Dims& dims) { return dims.size() >= least && dims.size() <= most; };
}

// Calls f(graph, dims, axis) for each axis that a tensor may have, for one producer each.
template <class F>
void for_each_axis(const std::string& name, const std::string& group, const F& f,
                   std::vector<Producer>* all, int64_t opset = 10) {
  for (size_t axis = 0; axis < kMostAxes; ++axis)
    all->push_back({name + " along axis " + std::to_string(axis), group,
                    [axis](const Dims& dims) { return dims.size() > axis && dims.size() <= 5; },
                    [=](Graph& g, const Dims& dims) { return f(g, dims, axis); }, opset});
}

// --- kTable: functions of the codes of one tensor

Value dequantized_along(Graph& g, const Dims& dims, size_t axis) {
  const Dims scales = {dims[axis]};
  const std::string zero = g.b.constant<uint8_t>(scales, [&] {
    std::vector<uint8_t> v(static_cast<size_t>(dims[axis]));
    for (uint8_t& z : v) z = static_cast<uint8_t>(g.dice.integer(100, 156));
    return v;
  }());
  const std::string codes = g.codes<uint8_t>(dims);
  return {g.b.node("DequantizeLinear", {codes, g.constant(scales, 0.004, 0.02), zero},
                   {Attr("axis", static_cast<int64_t>(axis))}),
          dims, 1.6};
}

// Numbers of both signs, none close to 0.
std::string factors(Graph& g, const Dims& dims) {
  std::vector<float> v(static_cast<size_t>(elements(dims)));
  for (float& f : v) {
    const double magnitude = g.dice.real(0.5, 2);
    f = static_cast<float>(g.dice.coin() ? magnitude : -magnitude);
  }
  return g.b.constant<float>(dims, v);
}

std::vector<Producer> tables() {
  std::vector<Producer> all = {
      {"DequantizeLinear", "pair", any_shape,
       [](Graph& g, const Dims& dims) { return g.image(dims); }},
      {"DequantizeLinear of int16", "pair", any_shape,
       [](Graph& g, const Dims& dims) { return g.image_of<int16_t>(dims); }, 21},
      {"DequantizeLinear of uint16", "pair", any_shape,
       [](Graph& g, const Dims& dims) { return g.image_of<uint16_t>(dims); }, 21},
      {"Sigmoid", "table", any_shape,
       [](Graph& g, const Dims& dims) {
         return Graph::sized(g.node("Sigmoid", g.image(dims)), 1);
       }},
      {"Neg", "table", any_shape,
       [](Graph& g, const Dims& dims) { return g.node("Neg", g.image(dims)); }},
      {"Abs of int16", "table", any_shape,
       [](Graph& g, const Dims& dims) { return g.node("Abs", g.image_of<int16_t>(dims)); }, 21},
      {"BatchNormalization", "other operator", of_rank(2, 5),
       [](Graph& g, const Dims& dims) {
         const Dims c = {dims[1]};
         const Names more = {g.constant(c, 0.5, 1.5), g.constant(c, -1, 1), g.constant(c, -1, 1),
                             g.constant(c, 0.5, 1.5)};
         return Graph::sized(g.node("BatchNormalization", g.image(dims), more), 4);
       }},
      {"Add of a scalar", "table", any_shape,
       [](Graph& g, const Dims& dims) {
         const std::string c = g.constant({}, 0.2, 0.9);
         return Graph::sized(g.node("Add", g.image(dims), {c}), 2.6);
       }},
      {"Relu", "table", any_shape,
       [](Graph& g, const Dims& dims) { return g.node("Relu", g.image(dims)); }},
  };
  for_each_axis("DequantizeLinear", "pair along an axis", dequantized_along, &all, 13);
  for_each_axis(
      "Add of a vector", "vector",
      [](Graph& g, const Dims& dims, size_t axis) {
        const std::string c = g.constant(along(dims, axis), -2, 2);
        return Graph::sized(g.node("Add", g.image(dims), {c}), 4);
      },
      &all);
  for_each_axis(
      "Mul of a vector", "vector",
      [](Graph& g, const Dims& dims, size_t axis) {
        const std::string c = factors(g, along(dims, axis));
        return Graph::sized(g.node("Mul", g.image(dims), {c}), 4);
      },
      &all);
  for_each_axis(
      "Transpose of an Add of a vector", "moved",
      [](Graph& g, const Dims& dims, size_t axis) {
        Dims perm, before;
        for (size_t i = dims.size(); i-- > 0;)
          perm.push_back(static_cast<int64_t>(i)), before.push_back(dims[i]);
        const std::string c = g.constant(along(before, axis), -2, 2);
        const Value x = g.node("Add", g.image(before), {c});
        return Graph::sized(Graph::shaped(g.node("Transpose", x, {}, {Attr("perm", perm)}), dims),
                            4);
      },
      &all);
  return all;
}

// --- kTable: elements of a stored tensor behind a movement that no pair stands behind

// Returns the shape with axis 0 of another length.
Dims with_rows(Dims dims, int64_t rows) { return dims[0] = rows, dims; }

// Returns 0, 1, ... n - 1.
Dims counted(int64_t n) {
  Dims all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Producer> moved_tables() {
  constexpr int64_t kRows = 5;
  return {
      {"Gather at indices of a run", "moved", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value x = g.image(with_rows(dims, kRows));
         const std::string at = g.codes<int64_t>({dims[0]}, kRows - 1);
         return Graph::shaped(g.node("Gather", x, {at}), dims);
       },
       13},
      {"Gather of a stored table at indices of a run", "moved", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value x = g.stored_constant(with_rows(dims, kRows), 2);
         const std::string at = g.codes<int32_t>({dims[0]}, kRows - 1);
         return Graph::shaped(g.node("Gather", x, {at}), dims);
       },
       13},
      {"Gather at constant indices", "moved", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value x = g.image(with_rows(dims, dims[0] + 2));
         return Graph::shaped(g.node("Gather", x, {g.numbers(counted(dims[0]))}), dims);
       }},
      {"Expand", "moved", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value x = g.image(with_rows(dims, 1));
         return Graph::shaped(g.node("Expand", x, {g.numbers(dims)}), dims);
       }},
      {"Slice", "moved", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value x = g.image(with_rows(dims, dims[0] + 2));
         const Names range = {g.numbers({1}), g.numbers({dims[0] + 1}), g.numbers({0})};
         return Graph::shaped(g.node("Slice", x, range), dims);
       }},
      {"Reshape", "moved", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value x = g.image({elements(dims)});
         return Graph::shaped(g.node("Reshape", x, {g.numbers(dims)}), dims);
       }},
      {"Squeeze", "moved", of_rank(1, 4),
       [](Graph& g, const Dims& dims) {
         Dims before = dims;
         before.insert(before.begin(), 1);
         return Graph::shaped(g.node("Squeeze", g.image(before), {g.numbers({0})}), dims);
       },
       13},
      {"Transpose", "moved", of_rank(2, 5),
       [](Graph& g, const Dims& dims) {
         const Dims before(dims.rbegin(), dims.rend());
         return Graph::shaped(g.node("Transpose", g.image(before)), dims);
       }},
      {"SpaceToDepth", "moved",
       [](const Dims& dims) { return dims.size() == 4 && dims[1] % 4 == 0; },
       [](Graph& g, const Dims& dims) {
         const Value x = g.image({dims[0], dims[1] / 4, dims[2] * 2, dims[3] * 2});
         return Graph::shaped(g.node("SpaceToDepth", x, {}, {Attr("blocksize", 2)}), dims);
       }},
      {"Pad", "moved", of_rank(2, 5),
       [](Graph& g, const Dims& dims) {
         Dims pads(2 * dims.size(), 0), before = dims;
         pads[1] = 1, before[1] -= 1;
         return Graph::shaped(g.node("Pad", g.image(before), {g.numbers(pads)}), dims);
       },
       11},
      {"Concat of one scale", "moved", of_rank(2, 5),
       [](Graph& g, const Dims& dims) {
         Dims a = dims, b = dims;
         a[1] = 1, b[1] -= 1;
         const auto like = g.parameters(2);
         const std::string x = g.stored_input(a), y = g.stored_input(b);
         const Value first = g.dequantized(x, like, a);
         const std::string second = g.dequantized(y, like, b).name;
         return Graph::shaped(g.node("Concat", first, {second}, {Attr("axis", 1)}), dims);
       }},
      {"MaxPool", "moved", of_rank(3, 5),
       [](Graph& g, const Dims& dims) {
         const Dims kernel(dims.size() - 2, 3), pads(2 * (dims.size() - 2), 1);
         return g.node("MaxPool", g.image(dims), {},
                       {Attr("kernel_shape", kernel), Attr("pads", pads)});
       },
       12},
      {"ReduceMax", "moved", of_rank(1, 4),
       [](Graph& g, const Dims& dims) {
         Dims before = dims;
         before.push_back(3);
         const std::string last = g.numbers({static_cast<int64_t>(dims.size())});
         const Value x = g.image(before);
         return Graph::shaped(g.node("ReduceMax", x, {last}, {Attr("keepdims", 0)}), dims);
       },
       18},
  };
}

// --- kPairFunction: functions of the codes of two tensors, and what is of a whole constant

Value silu(Graph& g, const Value& x) { return g.node("Mul", x, {g.node("Sigmoid", x).name}); }

std::vector<Producer> pair_functions() {
  std::vector<Producer> all = {
      {"Add of a whole constant", "whole constant", any_shape,
       [](Graph& g, const Dims& dims) {
         const std::string c = g.constant(dims, -2, 2);
         return Graph::sized(g.node("Add", g.image(dims), {c}), 4);
       }},
      {"Sub of two", "pair function", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = g.image(dims);
         return Graph::sized(g.node("Sub", a, {g.image(dims).name}), 4);
       }},
      {"Add of two SiLU", "functions of two", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = silu(g, g.image(dims));
         return Graph::sized(g.node("Add", a, {silu(g, g.image(dims)).name}), 3);
       }},
      {"Mul by a Sigmoid of another", "functions of two", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = g.image(dims);
         return g.node("Mul", a, {g.node("Sigmoid", g.image(dims)).name});
       }},
      {"Div of two", "functions of two", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = g.image(dims), b = g.node("Exp", g.image(dims, 1));
         return Graph::sized(g.node("Div", a, {b.name}), 4);
       }},
  };
  for_each_axis(
      "Mul by a Sigmoid of a computed vector", "functions of two",
      [](Graph& g, const Dims& dims, size_t axis) {
        const Value a = g.image(dims), b = g.image(along(dims, axis));
        return g.node("Mul", a, {g.node("Sigmoid", b).name});
      },
      &all);
  return all;
}

// --- kPending: operators that wait for the quantisation of their result

// Returns the shape [n, 3, ...] for an output [n, c, ...].
Dims before_channels(const Dims& dims) {
  Dims in = dims;
  return in[1] = 3, in;
}

Value conv(Graph& g, const Dims& dims, bool has_bias) {
  const Value x = g.image(before_channels(dims));
  Dims kernel = {dims[1], 3};
  kernel.insert(kernel.end(), dims.size() - 2, 3);
  Names more = {g.weights(kernel, 0).name};
  if (has_bias) more.push_back(g.constant({dims[1]}, -1, 1));
  const Dims pads(2 * (dims.size() - 2), 1);
  Value y = g.node("Conv", x, more, {Attr("pads", pads)});
  return Graph::sized(Graph::shaped(y, dims), 3);
}

std::vector<Producer> pending() {
  std::vector<Producer> all = {
      {"Conv", "product", of_rank(3, 5),
       [](Graph& g, const Dims& dims) { return conv(g, dims, false); }},
      {"Conv with bias and Relu", "product", of_rank(3, 5),
       [](Graph& g, const Dims& dims) { return g.node("Relu", conv(g, dims, true)); }},
      {"MatMul", "product", of_rank(1, 5),
       [](Graph& g, const Dims& dims) {
         Dims in = dims;
         in.back() = 6;
         const Value x = g.image(in);
         const Value y = g.node("MatMul", x, {g.weights({6, dims.back()}).name});
         return Graph::sized(Graph::shaped(y, dims), 2);
       }},
      {"MatMul of two computed", "product", of_rank(2, 5),
       [](Graph& g, const Dims& dims) {
         Dims a = dims, b = dims;
         a.back() = b[b.size() - 2] = 5;
         const Value x = g.image(a);
         const Value y = g.node("MatMul", x, {g.image(b, 1).name});
         return Graph::sized(Graph::shaped(y, dims), 3);
       }},
      {"Gemm", "product", of_rank(2, 2),
       [](Graph& g, const Dims& dims) {
         const Value x = g.image({dims[0], 6});
         const Names more = {g.weights({dims[1], 6}, 0).name, g.constant({dims[1]}, -1, 1)};
         Value y = g.node("Gemm", x, more, {Attr("transB", 1)});
         return Graph::sized(Graph::shaped(y, dims), 2);
       }},
      {"Add of two", "pair function", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = g.image(dims);
         return Graph::sized(g.node("Add", a, {g.image(dims).name}), 4);
       }},
      {"Mul of two and Relu", "pair function", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = g.image(dims);
         return Graph::sized(g.node("Relu", g.node("Mul", a, {g.image(dims).name})), 4);
       }},
      {"Mul of a whole stored constant", "whole constant", any_shape,
       [](Graph& g, const Dims& dims) {
         const std::string c = g.stored_constant(dims, 2).name;
         return Graph::sized(g.node("Mul", g.image(dims), {c}), 4);
       }},
      {"Max of two", "pair function", any_shape,
       [](Graph& g, const Dims& dims) {
         const Value a = g.image(dims);
         return g.node("Max", a, {g.image(dims).name});
       }},
      {"Softmax", "other operator", any_shape,
       [](Graph& g, const Dims& dims) {
         return Graph::sized(g.node("Softmax", g.image(dims)), 1);
       }},
      {"AveragePool", "other operator", of_rank(3, 4),
       [](Graph& g, const Dims& dims) {
         const Dims kernel(dims.size() - 2, 3), pads(2 * (dims.size() - 2), 1);
         return g.node("AveragePool", g.image(dims), {},
                       {Attr("kernel_shape", kernel), Attr("pads", pads)});
       }},
      {"Concat of two scales", "other operator", of_rank(2, 5),
       [](Graph& g, const Dims& dims) {
         Dims a = dims, b = dims;
         a[1] = 1, b[1] -= 1;
         const Value x = g.image(a, 1);
         const Value y = g.node("Concat", x, {g.image(b).name}, {Attr("axis", 1)});
         return Graph::sized(Graph::shaped(y, dims), 2);
       }},
  };
  for_each_axis(
      "Add of a computed vector", "pair function",
      [](Graph& g, const Dims& dims, size_t axis) {
        const Value a = g.image(dims);
        return Graph::sized(g.node("Add", a, {g.image(along(dims, axis)).name}), 4);
      },
      &all);
  return all;
}

// --- kValue: integers and floats that are there

std::vector<Producer> values() {
  std::vector<Producer> all = {
      {"float input", "float", any_shape, [](Graph& g, const Dims& dims) { return g.floats(dims); },
       1},
      {"MatMulInteger of DynamicQuantizeLinear", "dynamic product", of_rank(2, 4),
       [](Graph& g, const Dims& dims) {
         Dims in = dims;
         in.back() = 6;
         const Value x = g.floats(in);
         auto* q = g.b.graph().add_node();
         q->set_op_type("DynamicQuantizeLinear");
         q->add_input(x.name);
         for (const char* name : {"dyn_y", "dyn_scale", "dyn_zero"}) q->add_output(name);
         const Dims shape = {6, dims.back()};
         const std::string w = g.b.constant<int8_t>(shape, g.integers<int8_t>(shape, kMostWeight));
         const std::string sum =
             g.b.node("MatMulInteger", {"dyn_y", w, "dyn_zero", g.b.scalar<int8_t>(0)});
         const std::string scale = g.b.node("Mul", {"dyn_scale", g.constant({}, 0.006, 0.012)});
         const std::string real = g.b.node("Cast", {sum}, {Attr("to", kFloatType)});
         return Value{g.b.node("Mul", {real, scale}), dims, 2};
       }},
      {"ConvInteger of DynamicQuantizeLinear", "dynamic product", of_rank(4, 4),
       [](Graph& g, const Dims& dims) {
         const Value x = g.floats(before_channels(dims));
         auto* q = g.b.graph().add_node();
         q->set_op_type("DynamicQuantizeLinear");
         q->add_input(x.name);
         for (const char* name : {"dyn_y", "dyn_scale", "dyn_zero"}) q->add_output(name);
         const Dims shape = {dims[1], 3, 1, 1};
         const std::string w = g.b.constant<int8_t>(shape, g.integers<int8_t>(shape, kMostWeight));
         const std::string sum =
             g.b.node("ConvInteger", {"dyn_y", w, "dyn_zero", g.b.scalar<int8_t>(0)});
         const std::string scale = g.b.node("Mul", {"dyn_scale", g.constant({}, 0.006, 0.012)});
         const std::string real = g.b.node("Cast", {sum}, {Attr("to", kFloatType)});
         return Value{g.b.node("Mul", {real, scale}), dims, 1};
       }},
  };
  for (Producer& p : all)
    if (p.group == "dynamic product") p.opset = 11;
  return all;
}

// --- kConstant

std::vector<Producer> constants() {
  return {{"constant of floats", "constant", any_shape,
           [](Graph& g, const Dims& dims) {
             return Value{g.constant(dims, -2, 2), dims, 2};
           },
           1},
          {"stored constant", "constant", any_shape,
           [](Graph& g, const Dims& dims) { return g.stored_constant(dims, 2); }}};
}

}  // namespace

namespace {

std::vector<Producer> joined(std::vector<Producer> all, const std::vector<Producer>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

std::vector<Producer> producers(Kind kind) {
  switch (kind) {  // without a default: a new kind has to be written down here
    case Kind::kRefused: return {};
    case Kind::kConstant: return constants();
    case Kind::kValue: return values();
    case Kind::kTable: return joined(tables(), moved_tables());
    case Kind::kPending: return pending();
    case Kind::kPairFunction: return pair_functions();
  }
  return {};
}

std::vector<Producer> all_producers() {
  std::vector<Producer> all;
  for (int kind = 0; kind <= static_cast<int>(convert::from_onnx::Tensor::kLastKind); ++kind)
    for (Producer& p : producers(static_cast<Kind>(kind))) all.push_back(std::move(p));
  return all;
}

}  // namespace qrt::sweep

// SPDX-License-Identifier: Apache-2.0
// Layers of text and speech models: products, attention, positions, masks.
#include <algorithm>

#include "tests/onnxruntime/open/sized_maker.h"

namespace qrt::open_onnx {

// Adds a product with weights over the last dimension, sometimes with a bias.
bool SizedMaker::linear() {
  const size_t x = pick(2, 4, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t k = from.dims.back()[0], n = 4 * dice_.integer(1, 6);
  Sizes dims = from.dims;
  dims.back() = fixed(n);
  const double amplitude = from.amplitude * std::sqrt(static_cast<double>(k)) * 0.1;
  if (flavour_ == Flavour::kOperators && !from.stored.empty()) {
    const Weights w = weights({k, n}, 1, false);
    const Quant q = random_quant(amplitude);
    live_[x].is_read = true;
    const std::string y = b_.node(
        "QLinearMatMul", {from.stored, b_.scalar(from.quant.scale), zero_point(from.quant),
                          w.stored, w.scale, w.zero_point, b_.scalar(q.scale), zero_point(q)});
    return add({dequantise(y, q), y, dims, q, amplitude});
  }
  if (flavour_ == Flavour::kDynamic) {
    const Weights w = weights({k, n}, 1, false);
    const std::string stored = b_.node("DynamicQuantizeLinear", {read(x)});
    auto* node = b_.graph().mutable_node(b_.graph().node_size() - 1);
    node->add_output(stored + "_scale"), node->add_output(stored + "_zero");
    const std::string sums = b_.node(
        "Cast", {b_.node("MatMulInteger", {stored, w.stored, stored + "_zero", w.zero_point})},
        {Attr("to", 1)});
    std::string y = b_.node("Mul", {sums, b_.node("Mul", {stored + "_scale", w.scale})});
    if (dice_.coin()) y = b_.node("Add", {y, floats({n}, 1)});
    return add({y, "", dims, {}, amplitude});
  }
  const Weights w = weights({k, n}, 1, dice_.coin());
  std::string y = b_.node("MatMul", {read(x), w.real});
  if (dice_.coin()) y = b_.node("Add", {y, floats({n}, 1)});
  if (dice_.one_in(4)) y = b_.node("Relu", {y});
  return finish(y, dims, amplitude);
}

// Reshapes [b, s, c] to [b, h, s, c / h], with one of the ways to write the shape.
bool SizedMaker::heads() {
  const size_t x = pick(3, 3, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t c = from.dims[2][0], h = c % 4 == 0 && dice_.coin() ? 4 : 2;
  if (c % h != 0) return false;
  std::vector<Number> shape;
  const int64_t how = dice_.integer(0, 3);
  if (how == 0) shape = {constant(0), constant(0), constant(h), constant(c / h)};
  if (how == 1) shape = {dimension(x, 0), dimension(x, 1), constant(h), constant(-1)};
  if (how == 2) shape = {dimension(x, 0), constant(-1), constant(h), constant(c / h)};
  if (how == 3)
    shape = {dimension(x, 0), dimension(x, 1), constant(h),
             combine("Div", dimension(x, 2), constant(h))};
  const std::string split = b_.node("Reshape", {read(x), vector_of(shape)});
  const std::string moved = b_.node("Transpose", {split}, {Attr("perm", Dims{0, 2, 1, 3})});
  return finish_moved(moved, {from.dims[0], fixed(h), from.dims[1], fixed(c / h)}, x);
}

// Returns a mask of [from, to] added to scores: causal, or of a window; written as exporters do.
std::string SizedMaker::scores_mask(const std::string& scores, const Sizes& dims,
                                    const Number& from, const Number& to) {
  const std::string row = b_.node("Unsqueeze", {range(to), int64s({0})}),
                    column = b_.node("Unsqueeze", {range(from), int64s({1})});
  std::string bad;
  switch (dice_.integer(0, 3)) {
    case 0: bad = b_.node("Greater", {row, column}); break;
    case 1: {
      const Number shift = combine("Sub", to, from);
      bad = b_.node("Greater", {row, b_.node("Add", {column, shift.name})});
      break;
    }
    case 2: {
      const std::string far = b_.node("Sub", {column, row});
      bad = b_.node("Or", {b_.node("Greater", {row, column}),
                           b_.node("Greater", {far, constant(near(from)).name})});
      break;
    }
    default: {
      // torch.triu of ones
      const std::string shape = vector_of({from, to});
      const float one = 1;
      onnx::TensorProto value;
      value.set_data_type(1);
      value.add_dims(1);
      value.set_raw_data(&one, sizeof one);
      const std::string ones = b_.node("ConstantOfShape", {shape});
      auto* attribute = b_.graph().mutable_node(b_.graph().node_size() - 1)->add_attribute();
      attribute->set_name("value");
      attribute->set_type(onnx::AttributeProto::TENSOR);
      *attribute->mutable_t() = value;
      const std::string upper = b_.node("Trilu", {ones, b_.scalar<int64_t>(1)}, {Attr("upper", 1)});
      bad = b_.node("Cast", {upper}, {Attr("to", 9)});
    }
  }
  const float low = dice_.coin() ? -10000.0f : -100.0f;
  if (dice_.coin()) return b_.node("Where", {bad, b_.scalar(low), scores});
  const std::string mask = b_.node("Where", {bad, b_.scalar(low), b_.scalar(0.0f)});
  return b_.node("Add", {scores, mask});
}

std::string SizedMaker::product(const std::string& a, const Sizes&, const std::string& b,
                                double amplitude) {
  const std::string y = b_.node("MatMul", {a, b});
  if (flavour_ == Flavour::kDynamic) return y;
  const Quant q = random_quant(amplitude);
  return dequantise(quantise(y, q), q);
}

// Scores of a [b, h, s, d] with itself, or with a shorter part of it; a mask; a softmax; and back.
bool SizedMaker::attention() {
  size_t x = pick(4, 4, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  if (most_elements({from.dims[0], from.dims[1], from.dims[2], from.dims[2]}) > 300000)
    return false;
  const std::string a = read(x);
  const std::string keys = b_.node("Transpose", {a}, {Attr("perm", Dims{0, 1, 3, 2})});
  const double d = static_cast<double>(from.dims[3][0]);
  const double amplitude = from.amplitude * from.amplitude * std::sqrt(d) * 0.5;
  const Sizes dims = {from.dims[0], from.dims[1], from.dims[2], from.dims[2]};
  std::string scores = product(a, dims, keys, amplitude);
  if (dice_.integer(0, 2) > 0) {
    const Number s = dimension(x, 2);
    scores = scores_mask(scores, dims, s, s);
    if (flavour_ != Flavour::kDynamic && dice_.coin()) {
      const Quant q = random_quant(std::max(amplitude, 100.0));
      scores = dequantise(quantise(scores, q), q);
    }
  }
  std::string weights = b_.node("Softmax", {scores}, {Attr("axis", -1)});
  if (flavour_ != Flavour::kDynamic) {
    Quant q = random_quant(1);
    q.scale = 1.0f / 255, q.zero_point = q.type == 2 ? 0 : -128;
    weights = dequantise(quantise(weights, q), q);
  }
  const std::string y = b_.node("MatMul", {weights, a});
  if (dice_.coin()) return finish(y, from.dims, from.amplitude);
  const std::string moved = b_.node("Transpose", {y}, {Attr("perm", Dims{0, 2, 1, 3})});
  const Number b = dimension(x, 0), s = dimension(x, 2);
  const int64_t c = from.dims[1][0] * from.dims[3][0];
  if (!is_fixed(from.dims[1]))
    return finish(moved, {from.dims[0], from.dims[2], from.dims[1], from.dims[3]}, from.amplitude);
  const std::string flat =
      b_.node("Reshape", {moved, vector_of({b, dice_.coin() ? s : constant(-1), constant(c)})});
  return finish(flat, {from.dims[0], from.dims[2], fixed(c)}, from.amplitude);
}

// Concatenates a cache, an input whose length is a symbol of its own, with a value's rows. The
// result may become an output, as the next run's cache.
bool SizedMaker::cache() {
  const size_t x = pick(3, 4, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const size_t axis = from.dims.size() - 2;
  for (size_t d = 0; d < axis; ++d)
    if (!is_fixed(from.dims[d]) && d > 0) return false;
  Sizes dims = from.dims;
  std::vector<int> symbols(dims.size(), -1);
  if (!is_fixed(dims[0])) {
    const auto same = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) {
      return s.size == dims[0] && !s.name.empty();
    });
    if (same == symbols_.end()) return false;
    symbols[0] = static_cast<int>(same - symbols_.begin());
  }
  const size_t past = new_symbol(Kind::kLength);
  symbols[axis] = static_cast<int>(past);
  dims[axis] = symbols_[past].size;
  std::string old;
  if (from.stored.empty() || dice_.coin()) {
    old = declare(1, dims, symbols, -from.amplitude, from.amplitude);
  } else {
    const int lo = from.quant.type == 2 ? 0 : -128;
    old = dequantise(declare(from.quant.type, dims, symbols, lo, lo + 255), from.quant);
  }
  const Names parts = dice_.integer(0, 3) > 0 ? Names{old, read(x)} : Names{read(x), old};
  const std::string joined = b_.node("Concat", parts, {Attr("axis", static_cast<int64_t>(axis))});
  for (size_t run = 0; run < kRuns; ++run) dims[axis][run] += from.dims[axis][run];
  if (!finish_moved(joined, dims, x)) return false;
  if (dice_.coin()) b_.output(live_.back().real);
  return true;
}

// Adds rows of a table of positions: its first ones, those behind a past, or those at computed indices.
bool SizedMaker::positions() {
  const size_t x = pick(3, 3, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const Number s = dimension(x, 1);
  const int64_t c = from.dims[2][0];
  const int64_t longest = *std::max_element(s.value.begin(), s.value.end());
  const int64_t rows =
      std::max<int64_t>(longest + dice_.integer(0, 3), dice_.pick<int64_t>({16, 64, 128, 512}));
  const bool is_flat = dice_.coin();
  const Dims shape = is_flat ? Dims{rows, c} : Dims{1, rows, c};
  const Weights w = weights(shape, 0, false);
  const std::string table = dice_.coin() ? floats(shape, from.amplitude) : w.real;
  std::string part;
  const int64_t how = dice_.integer(0, is_flat ? 4 : 0);
  if (how == 0) {
    part = b_.node("Slice", {table, int64s({0}), s.name, int64s({is_flat ? 0 : 1})});
  } else if (how == 1) {
    part = b_.node("Gather", {table, range(s)});
  } else if (how == 2) {
    // buffers of position ids
    Dims ids(static_cast<size_t>(rows));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
    const std::string buffer = b_.constant<int64_t>({1, rows}, ids);
    const std::string own = b_.node("Slice", {buffer, int64s({0}), s.name, int64s({1})});
    part = b_.node("Gather", {table, own});
  } else if (how == 3) {
    // Positions that stop at a greatest one, or begin again.
    const std::string at =
        dice_.coin() ? b_.node("Min", {range(s), constant(std::min(near(s), rows - 1)).name})
                     : b_.node("Mod", {range(s), constant(std::min(near(s), rows)).name});
    part = b_.node("Gather", {table, at});
  } else {
    // the last rows, in reverse
    const Number last = constant(rows - 1);
    part = b_.node("Gather", {table, b_.node("Sub", {last.name, range(s)})});
  }
  return finish(b_.node("Add", {read(x), part}), from.dims, from.amplitude * 1.5);
}

// Two dimensions as one.
bool SizedMaker::merge() {
  const size_t x = pick(3, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const auto at = static_cast<size_t>(dice_.integer(0, static_cast<int64_t>(from.dims.size()) - 2));
  std::vector<Number> shape;
  Sizes dims;
  bool has_unknown = false;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (d == at) {
      Size n = from.dims[d];
      for (size_t run = 0; run < kRuns; ++run) n[run] *= from.dims[d + 1][run];
      has_unknown = dice_.coin();
      shape.push_back(has_unknown ? constant(-1)
                                  : combine("Mul", dimension(x, axis), dimension(x, axis + 1)));
      dims.push_back(n);
      ++d;
    } else {
      shape.push_back(is_fixed(from.dims[d]) && dice_.coin() ? constant(from.dims[d][0])
                                                             : dimension(x, axis));
      dims.push_back(from.dims[d]);
    }
  }
  return finish_moved(b_.node("Reshape", {read(x), vector_of(shape)}), dims, x);
}

// Repeats a tensor that has one row less by an Expand, written as torch writes it.
bool SizedMaker::expand() {
  const size_t x = pick(2, 4, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t c = from.dims.back()[0];
  std::vector<Number> shape = dimensions(x);
  std::string to = vector_of(shape);
  if (dice_.one_in(3)) {
    const std::string minus = b_.constant<int64_t>({1}, {-1});
    const std::string ones =
        b_.node("Cast", {b_.node("ConstantOfShape", {b_.node("Shape", {to})})}, {Attr("to", 7)});
    const std::string one = b_.node("Add", {ones, constant(1).name});
    to = b_.node("Where", {b_.node("Equal", {to, minus}), one, to});
  }
  const std::string row = b_.node("Expand", {floats({1, c}, from.amplitude), to});
  return finish(b_.node(dice_.coin() ? "Add" : "Mul", {read(x), row}), from.dims,
                from.amplitude * 2);
}

// Puts a class token, a constant row, in front of the others.
bool SizedMaker::class_token() {
  const size_t x = pick(3, 3, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t c = from.dims[2][0], rows = dice_.integer(1, 3);
  const std::string token = b_.node(
      "Expand", {floats({1, rows, c}, from.amplitude),
                 vector_of({dimension(x, 0), constant(dice_.coin() ? rows : 1), constant(c)})});
  Sizes dims = from.dims;
  for (int64_t& n : dims[1]) n += rows;
  return finish(b_.node("Concat", {token, read(x)}, {Attr("axis", 1)}), dims, from.amplitude);
}

// Adds a constant of a computed shape.
bool SizedMaker::filled() {
  const size_t x = pick(2, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const std::string zeros = b_.node("ConstantOfShape", {vector_of(dimensions(x))});
  std::string y;
  if (dice_.coin()) {
    y = b_.node("Concat", {read(x), zeros},
                {Attr("axis", static_cast<int64_t>(from.dims.size()) - 1)});
    Sizes dims = from.dims;
    for (int64_t& n : dims.back()) n *= 2;
    return finish_moved(y, dims, x);
  }
  y = b_.node("Add", {read(x), b_.node("Add", {zeros, b_.scalar(0.5f)})});
  return finish(y, from.dims, from.amplitude + 0.5);
}

// Rows from a computed one on are replaced.
bool SizedMaker::masked() {
  const size_t x = pick(3, 3);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const Number s = dimension(x, 1);
  const Number until = computed(s, 1);
  const std::string keeps =
      b_.node("Unsqueeze", {b_.node("Less", {range(s), until.name}), int64s({1})});
  std::string y;
  if (dice_.coin()) {
    y = b_.node("Where", {keeps, read(x), b_.scalar(0.0f)});
  } else {
    y = b_.node("Mul", {read(x), b_.node("Cast", {keeps}, {Attr("to", 1)})});
  }
  return finish(y, from.dims, from.amplitude);
}

// Takes the last row, by a computed or a negative index.
bool SizedMaker::last() {
  const size_t x = pick(3, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t axis = dice_.integer(1, static_cast<int64_t>(from.dims.size()) - 1);
  const Number n = dimension(x, axis);
  std::string at;
  switch (dice_.integer(0, 3)) {
    case 0: at = b_.scalar<int64_t>(-1); break;
    case 1: at = scalar_of(combine("Sub", n, constant(1))); break;
    case 2: at = scalar_of(combine("Div", n, constant(2))); break;
    default: at = scalar_of(combine("Min", combine("Sub", n, constant(1)), constant(near(n))));
  }
  Sizes dims = from.dims;
  dims.erase(dims.begin() + axis);
  return finish_moved(b_.node("Gather", {read(x), at}, {Attr("axis", axis)}), dims, x);
}

// Scores with a bias for how far two positions are apart, up to a greatest distance.
bool SizedMaker::relative() {
  const size_t x = pick(4, 4, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  if (!is_fixed(from.dims[1])) return false;
  if (most_elements({from.dims[0], from.dims[1], from.dims[2], from.dims[2]}) > 300000)
    return false;
  const int64_t h = from.dims[1][0];
  const Number s = dimension(x, 2);
  const int64_t most = std::min<int64_t>(near(s), 200);
  const std::string row = b_.node("Unsqueeze", {range(s), int64s({0})}),
                    column = b_.node("Unsqueeze", {range(s), int64s({1})});
  const std::string apart = b_.node("Sub", {row, column});
  const std::string clipped =
      dice_.coin()
          ? b_.node("Clip", {apart, b_.scalar<int64_t>(-most), b_.scalar<int64_t>(most)})
          : b_.node("Max", {b_.node("Min", {apart, constant(most).name}), constant(-most).name});
  const std::string index = b_.node("Add", {clipped, constant(most).name});
  const std::string bias =
      b_.node("Transpose", {b_.node("Gather", {floats({2 * most + 1, h}, from.amplitude), index})},
              {Attr("perm", Dims{2, 0, 1})});
  const std::string keys = b_.node("Transpose", {read(x)}, {Attr("perm", Dims{0, 1, 3, 2})});
  const Sizes dims = {from.dims[0], from.dims[1], from.dims[2], from.dims[2]};
  const double amplitude =
      from.amplitude * from.amplitude * std::sqrt(static_cast<double>(from.dims[3][0]));
  const std::string scores = product(live_[x].real, dims, keys, amplitude);
  return finish(b_.node("Add", {scores, bias}), dims, amplitude + from.amplitude);
}

// Adds a Scan or a Loop over the rows of [b, s, c], each of which makes the next state of the one before: tanh(row + state / 2).
bool SizedMaker::recurrence() {
  const size_t x = pick(3, 3, true);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const std::string data = read(x), half = b_.scalar(0.5f);
  const std::string first = b_.node("Gather", {data, b_.scalar<int64_t>(0)}, {Attr("axis", 1)});
  const bool is_scan = dice_.coin();
  if (is_scan)
    b_.node("Scan", {first, data},
            {Attr("num_scan_inputs", 1), Attr("scan_input_axes", Dims{1}),
             Attr("scan_output_axes", Dims{1}), Attr("scan_input_directions", Dims{dice_.coin()}),
             Attr("scan_output_directions", Dims{dice_.coin()})});
  else
    b_.node("Loop", {scalar_of(dimension(x, 1)), "", first});
  auto* loop = b_.graph().mutable_node(b_.graph().node_size() - 1);
  const std::string name = loop->output(0);
  loop->add_output(name + "_all");
  auto* attribute = loop->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& body = *attribute->mutable_g();
  body.set_name("body");
  const auto declare = [&](const std::string& suffix, int type, bool is_scalar = false) {
    auto* info = body.add_input();
    info->set_name(name + suffix);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    if (is_scalar) info->mutable_type()->mutable_tensor_type()->mutable_shape();
    return info->name();
  };
  const auto add_inner = [&](const char* op, const Names& inputs, const std::string& output) {
    auto* node = body.add_node();
    node->set_op_type(op);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(name + output);
    return node;
  };
  std::string row = name + "_row";
  if (!is_scan) {
    const std::string step = declare("_step", 7, true), goes_on = declare("_goes_on", 9, true);
    *add_inner("Gather", {data, step}, "_row")->add_attribute() = Attr("axis", 1).proto;
    add_inner("Identity", {goes_on}, "_still_goes_on");
    body.add_output()->set_name(name + "_still_goes_on");
  }
  const std::string state = declare("_state", 1);
  if (is_scan) declare("_row", 1);
  add_inner("Mul", {state, half}, "_half");
  add_inner("Add", {row, name + "_half"}, "_sum");
  add_inner("Tanh", {name + "_sum"}, "_next");
  add_inner("Identity", {name + "_next"}, "_part");
  for (const char* output : {"_next", "_part"}) body.add_output()->set_name(name + output);
  if (is_scan) return finish(name + "_all", from.dims, 1);
  const std::string turned = b_.node("Transpose", {name + "_all"}, {Attr("perm", Dims{1, 0, 2})});
  return finish(turned, from.dims, 1);
}

}  // namespace qrt::open_onnx

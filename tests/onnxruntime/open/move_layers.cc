// SPDX-License-Identifier: Apache-2.0
// Operators that move, join, cut and reduce tensors of open sizes.
#include <algorithm>
#include <numeric>

#include "tests/onnxruntime/open/sized_maker.h"

namespace qrt::open_onnx {
namespace {

// Returns the length of x[begin:end] with a positive step, as Slice counts.
int64_t cut(int64_t n, int64_t begin, int64_t end, int64_t step) {
  const auto place = [n](int64_t at) {
    return std::min(std::max<int64_t>(at < 0 ? at + n : at, 0), n);
  };
  begin = place(begin), end = place(end);
  return end <= begin ? 0 : (end - begin + step - 1) / step;
}

}  // namespace

bool SizedMaker::slice() {
  const size_t x = pick(2, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const auto rank = static_cast<int64_t>(from.dims.size());
  std::vector<int64_t> open;
  for (int64_t d = 0; d < rank; ++d)
    if (!is_fixed(from.dims[static_cast<size_t>(d)])) open.push_back(d);
  if (open.empty()) return false;
  const int64_t axis = dice_.pick(open);
  const Number n = dimension(x, axis);
  Number begin = constant(0), end = constant(INT64_MAX);
  int64_t step = 1;
  switch (dice_.integer(0, 8)) {
    case 0: end = computed(n, 1); break;
    case 1: begin = computed(n, 0); break;
    case 2: begin = constant(-near(n)); break;
    case 3: end = constant(-dice_.integer(1, 4)); break;
    case 4: end = constant(near(n)); break;
    case 5: begin = constant(dice_.integer(1, near(n))); break;
    case 6: step = dice_.integer(2, 4), begin = constant(dice_.integer(0, 2)); break;
    case 7:
      begin = combine("Div", n, constant(2));
      end = combine("Add", begin, constant(dice_.integer(1, 9)));
      break;
    default: {  // in reverse
      const std::string y = b_.node(
          "Slice", {read(x), int64s({-1}), int64s({INT64_MIN + 1}), int64s({axis}), int64s({-1})});
      return finish_moved(y, from.dims, x);
    }
  }
  Sizes dims = from.dims;
  Size& d = dims[static_cast<size_t>(axis)];
  for (size_t run = 0; run < kRuns; ++run)
    d[run] = cut(d[run], begin.value[run], end.value[run], step);
  if (std::count(d.begin(), d.end() - 1, 0) > 2) return false;
  Names inputs = {read(x), begin.name, end.name, int64s({dice_.coin() ? axis : axis - rank})};
  if (step != 1 || dice_.one_in(4)) inputs.push_back(int64s({step}));
  return finish_moved(b_.node("Slice", inputs), dims, x);
}

// Two parts of computed lengths.
bool SizedMaker::split() {
  const size_t x = pick(2, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const auto rank = static_cast<int64_t>(from.dims.size());
  const int64_t axis = dice_.integer(0, rank - 1);
  const Number n = dimension(x, axis);
  Number first =
      dice_.coin() ? combine("Div", n, constant(2)) : combine("Min", n, constant(near(n)));
  if (dice_.one_in(4)) first = combine("Max", combine("Sub", n, constant(near(n))), constant(0));
  const Number rest = combine("Sub", n, first);
  if (std::count(first.value.begin(), first.value.end() - 1, 0) > 2 ||
      std::count(rest.value.begin(), rest.value.end() - 1, 0) > 2)
    return false;
  const std::string a = b_.node("Split", {read(x), vector_of({first, rest})}, {Attr("axis", axis)});
  const std::string b = a + "_rest";
  b_.graph().mutable_node(b_.graph().node_size() - 1)->add_output(b);
  Sizes dims = from.dims;
  dims[static_cast<size_t>(axis)] = first.value;
  if (!finish_moved(a, dims, x)) return false;
  dims[static_cast<size_t>(axis)] = rest.value;
  return finish_moved(b, dims, x);
}

bool SizedMaker::tile() {
  const size_t x = pick(2, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  std::vector<Number> repeats;
  Sizes dims = from.dims;
  const auto axis = static_cast<size_t>(dice_.integer(0, static_cast<int64_t>(dims.size()) - 1));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != axis) {
      repeats.push_back(constant(1));
      continue;
    }
    const Number n = dimension(x, dice_.integer(0, static_cast<int64_t>(dims.size()) - 1));
    repeats.push_back(dice_.coin() ? constant(dice_.integer(2, 3))
                                   : combine("Add", combine("Mod", n, constant(3)), constant(1)));
    for (size_t run = 0; run < kRuns; ++run) dims[d][run] *= repeats.back().value[run];
  }
  return finish_moved(b_.node("Tile", {read(x), vector_of(repeats)}), dims, x);
}

// Pads to a multiple, to a least length, or by a constant.
bool SizedMaker::pad() {
  const size_t x = pick(2, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const size_t rank = from.dims.size();
  std::vector<Number> amounts(2 * rank, constant(0));
  Sizes dims = from.dims;
  const auto axis = static_cast<size_t>(dice_.integer(0, static_cast<int64_t>(rank) - 1));
  const Number n = dimension(x, static_cast<int64_t>(axis));
  Number missing = constant(dice_.integer(1, 3));
  const int64_t how = dice_.integer(0, 3);
  if (how < 2) {
    const Number k = constant(dice_.integer(2, dice_.one_in(4) ? 40 : 8));
    missing = combine("Mod", combine("Sub", k, combine("Mod", n, k)), k);
  } else if (how == 2) {
    const Number wanted = constant(near(n));
    missing = combine("Max", combine("Sub", wanted, n), constant(0));
  }
  const std::string mode = dice_.integer(0, 4) > 0 ? "constant" : dice_.coin() ? "edge" : "reflect";
  if (dice_.coin()) {
    amounts[rank + axis] = missing;
  } else {
    amounts[axis] = combine("Div", missing, constant(2));
    amounts[rank + axis] = combine("Sub", missing, amounts[axis]);
  }
  for (size_t run = 0; run < kRuns; ++run) dims[axis][run] += missing.value[run];
  Names inputs = {read(x), vector_of(amounts)};
  if (mode == "constant" && dice_.coin()) inputs.push_back(b_.scalar(0.0f));
  return finish_moved(b_.node("Pad", inputs, {Attr("mode", mode.c_str())}), dims, x);
}

bool SizedMaker::transpose() {
  const size_t x = pick(2, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  Dims perm(from.dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size() - 1; i > 0; --i)
    std::swap(perm[i], perm[static_cast<size_t>(dice_.integer(0, static_cast<int64_t>(i)))]);
  Sizes dims;
  for (const int64_t p : perm) dims.push_back(from.dims[static_cast<size_t>(p)]);
  return finish_moved(b_.node("Transpose", {read(x)}, {Attr("perm", perm)}), dims, x);
}

// Joins a tensor with another that differs in one dimension at most, or with a part of itself.
bool SizedMaker::concat() {
  const size_t x = pick(2, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const auto rank = static_cast<int64_t>(from.dims.size());
  const int64_t axis = dice_.integer(0, rank - 1);
  size_t other = x;
  for (size_t i = 0; i < live_.size(); ++i) {
    if (i == x || live_[i].dims.size() != from.dims.size()) continue;
    bool fits = true;
    for (size_t d = 0; d < from.dims.size(); ++d)
      fits &= d == static_cast<size_t>(axis) || live_[i].dims[d] == from.dims[d];
    if (fits) other = i;
  }
  std::string second = read(other);
  Size length = live_[other].dims[static_cast<size_t>(axis)];
  if (other == x) {
    const int64_t k = dice_.integer(1, 3);
    second = b_.node("Slice", {second, int64s({0}), int64s({k}), int64s({axis})});
    for (int64_t& n : length) n = std::min(n, k);
  }
  Sizes dims = from.dims;
  for (size_t run = 0; run < kRuns; ++run) dims[static_cast<size_t>(axis)][run] += length[run];
  const Names parts = dice_.coin() ? Names{read(x), second} : Names{second, read(x)};
  return finish_moved(b_.node("Concat", parts, {Attr("axis", dice_.coin() ? axis : axis - rank)}),
                      dims, x);
}

// Gathers at computed indices: every second one, repeated ones, or all in reverse.
bool SizedMaker::gather() {
  const size_t x = pick(2, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t axis = dice_.integer(0, static_cast<int64_t>(from.dims.size()) - 1);
  const Number n = dimension(x, axis);
  std::string index;
  Size length = n.value;
  switch (dice_.integer(0, 4)) {
    case 0: index = b_.node("Sub", {combine("Sub", n, constant(1)).name, range(n)}); break;
    case 1: {
      const Number half = combine("Div", combine("Add", n, constant(1)), constant(2));
      index = b_.node("Mul", {range(half), constant(2).name});
      length = half.value;
      break;
    }
    case 2: index = b_.node("Div", {range(n), constant(dice_.integer(2, 4)).name}); break;
    case 3: index = b_.node("Mod", {range(n), constant(near(n)).name}); break;
    default: index = b_.node("Min", {range(n), constant(near(n)).name});
  }
  if (dice_.one_in(8)) index = b_.node("Min", {index, combine("Sub", n, constant(1)).name});
  Sizes dims = from.dims;
  dims[static_cast<size_t>(axis)] = length;
  return finish_moved(b_.node("Gather", {read(x), index}, {Attr("axis", axis)}), dims, x);
}

bool SizedMaker::reduce() {
  const size_t x = pick(2, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const auto rank = static_cast<int64_t>(from.dims.size());
  const int64_t axis = dice_.integer(0, rank - 1);
  const std::string op =
      dice_.pick<std::string>({"ReduceMean", "ReduceMean", "ReduceMax", "ReduceSum"});
  const int64_t keeps = dice_.integer(0, 1);
  Names inputs = {read(x)};
  std::vector<Attr> attributes = {Attr("keepdims", keeps)};
  if (op == "ReduceSum" || opset_ >= 18 + (op == "ReduceMax" ? 0 : 0))
    inputs.push_back(int64s({axis}));
  else
    attributes.push_back(Attr("axes", Dims{axis}));
  Sizes dims = from.dims;
  const Size n = dims[static_cast<size_t>(axis)];
  if (keeps)
    dims[static_cast<size_t>(axis)] = fixed(1);
  else
    dims.erase(dims.begin() + axis);
  const double factor =
      op == "ReduceSum" ? std::sqrt(static_cast<double>(std::max<int64_t>(n[2], 1))) : 1;
  return finish(b_.node(op, inputs, attributes), dims, from.amplitude * factor);
}

bool SizedMaker::softmax() {
  const size_t x = pick(2, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t axis = dice_.integer(-1, static_cast<int64_t>(from.dims.size()) - 1);
  return finish(b_.node("Softmax", {read(x)}, {Attr("axis", axis)}), from.dims, 1);
}

bool SizedMaker::arg_max() {
  const size_t x = pick(2, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const int64_t axis = dice_.integer(0, static_cast<int64_t>(from.dims.size()) - 1);
  const std::string& source = from.stored.empty() ? from.real : from.stored;
  live_[x].is_read = true;
  b_.output(
      b_.node("ArgMax", {source}, {Attr("axis", axis), Attr("keepdims", dice_.integer(0, 1))}));
  return true;
}

bool SizedMaker::unary() {
  const size_t x = pick(1, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const std::string op =
      dice_.pick<std::string>({"Relu", "Sigmoid", "HardSigmoid", "LeakyRelu", "Neg", "Tanh"});
  const bool is_small = op == "Sigmoid" || op == "HardSigmoid" || op == "Tanh";
  return finish(b_.node(op, {read(x)}), from.dims, is_small ? 1 : from.amplitude);
}

// Adds two tensors of the same sizes, or one and a single row.
bool SizedMaker::add_two() {
  const size_t x = pick(1, 5);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  size_t other = x;
  for (size_t i = 0; i < live_.size(); ++i) {
    if (i == x || live_[i].dims.size() != from.dims.size()) continue;
    bool fits = true;
    for (size_t d = 0; d < from.dims.size(); ++d)
      fits &= live_[i].dims[d] == from.dims[d] || live_[i].dims[d] == fixed(1);
    if (fits) other = i;
  }
  const std::string op = dice_.pick<std::string>({"Add", "Mul", "Sub"});
  const double a = from.amplitude, b = live_[other].amplitude;
  return finish(b_.node(op, {read(x), read(other)}), from.dims, op == "Mul" ? a * b : a + b);
}

}  // namespace qrt::open_onnx

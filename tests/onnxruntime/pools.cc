// SPDX-License-Identifier: Apache-2.0
// Pools and reductions.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

bool GraphMaker::pool(const char* op) {
  const size_t x = pick({3, 4, 4, 4, 5});
  const Dims dims = live_[x].dims;
  const bool average = std::string(op) == "AveragePool";
  Window w;
  if (!window(dims, average ? WindowOf::kAveragePool : WindowOf::kPool, &w)) return false;
  if (average && dice_.coin()) w.attributes.push_back(Attr("count_include_pad", 1));
  Dims made = {dims[0], dims[1]};
  made.insert(made.end(), w.out.begin(), w.out.end());
  const std::string r = read(x);
  const std::string y = b_.node(op, {r}, w.attributes);
  const Quant same = live_[x].quant;
  if (dice_.coin())
    quantise(y, made, live_[x].amplitude, live_[x].has_batch, &same);
  else
    return finish(y, made, live_[x].amplitude, live_[x].has_batch);
  return true;
}

bool GraphMaker::max_pool() { return pool("MaxPool"); }
bool GraphMaker::average_pool() { return pool("AveragePool"); }

bool GraphMaker::global_pool() {
  const size_t x = pick({3, 4, 4, 5});
  Dims dims = live_[x].dims;
  for (size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  const bool average = !dice_.one_in(4);
  const std::string r = read(x);
  return finish(b_.node(average ? "GlobalAveragePool" : "GlobalMaxPool", {r}), dims,
                live_[x].amplitude * (average ? 0.4 : 1), live_[x].has_batch);
}

// Reduces along some of the axes, or all of them.
bool GraphMaker::reduce() {
  const size_t x = pick({1, 2, 3, 4, 4, 5});
  const Live in = live_[x];
  const int64_t rank = static_cast<int64_t>(in.dims.size());
  Dims axes;
  const bool all = !in.has_batch && dice_.one_in(8);
  if (rank == 4 && dice_.one_in(3))
    axes = {2, 3};
  else
    for (int64_t i = all || rank == 1 ? 0 : axis_of(in); i < rank; ++i)
      if (all || axes.empty() || dice_.one_in(3)) axes.push_back(i);
  const bool keep = dice_.coin();
  const std::string op =
      dice_.pick<std::string>({"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"});
  int64_t n = 1;
  Dims made;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::count(axes.begin(), axes.end(), i) == 0)
      made.push_back(in.dims[static_cast<size_t>(i)]);
    else {
      n *= in.dims[static_cast<size_t>(i)];
      if (keep) made.push_back(1);
    }
  }
  for (int64_t& a : axes) a = axis_as_written(a, in.dims.size());
  if (axes.size() > 1 && dice_.one_in(4)) std::swap(axes.front(), axes.back());
  const bool as_input = opset_ >= 18 || (op == "ReduceSum" && opset_ >= 13);
  std::vector<Attr> attributes;
  if (!keep || dice_.coin()) attributes.push_back(Attr("keepdims", keep ? 1 : 0));
  const std::string r = read(x);
  Names inputs = {r};
  const bool said = !all || dice_.coin();
  if (as_input && !said && dice_.one_in(4)) {  // none
    attributes.push_back(Attr("noop_with_empty_axes", 1));
    made = in.dims, n = 1;
  } else if (as_input && said) {
    inputs.push_back(integers64(axes));
  } else if (said) {
    attributes.push_back(Attr("axes", axes));
  }
  const std::string y = b_.node(op, inputs, attributes);
  const double amplitude =
      in.amplitude * (op == "ReduceSum" ? std::sqrt(static_cast<double>(n)) : 1);
  return finish(y, made, amplitude, in.has_batch);
}

bool GraphMaker::qlinear_pool() {
  const size_t x = pick({4});
  const Live a = live_[x];
  if (a.quant.is_int16()) return false;
  const Quant q = quant_like(a.quant, a.amplitude);
  const Names inputs = {a.name, b_.scalar(a.quant.scale), zero_point(a.quant), b_.scalar(q.scale),
                        zero_point(q)};
  live_[x].is_read = true;
  // [n, c, h, w], or [n, h, w, c].
  const bool last = dice_.one_in(3);
  const int64_t n = a.dims[0], c = a.dims[last ? 3 : 1];
  const auto made = [&](int64_t h, int64_t w) {
    return last ? Dims{n, h, w, c} : Dims{n, c, h, w};
  };
  std::vector<Attr> attributes;
  if (last || dice_.coin()) attributes.push_back(Attr("channels_last", last ? 1 : 0));
  if (dice_.coin()) {
    add_live(b_.node("QLinearGlobalAveragePool", inputs, attributes, "com.microsoft"), made(1, 1),
             q, a.has_batch, a.amplitude);
    return true;
  }
  Window w;
  const Dims image = last ? Dims{n, c, a.dims[1], a.dims[2]} : a.dims;
  if (!window(image, WindowOf::kAveragePool, &w)) return false;
  if (dice_.coin()) w.attributes.push_back(Attr("count_include_pad", 1));
  attributes.insert(attributes.end(), w.attributes.begin(), w.attributes.end());
  add_live(b_.node("QLinearAveragePool", inputs, attributes, "com.microsoft"),
           made(w.out[0], w.out[1]), q, a.has_batch, a.amplitude);
  return true;
}

}  // namespace qrt::random_onnx

// Pools, reductions, Resize, Concat, data movement, and blocks of several layers.
#include <algorithm>
#include <numeric>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

bool GraphMaker::pool(const char* op) {
  const size_t x = pick({3, 4, 4, 4});
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
  const size_t x = pick({3, 4, 4});
  Dims dims = live_[x].dims;
  for (size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  const bool average = !dice_.one_in(4);
  const std::string r = read(x);
  return finish(b_.node(average ? "GlobalAveragePool" : "GlobalMaxPool", {r}), dims,
                live_[x].amplitude * (average ? 0.4 : 1), live_[x].has_batch);
}

bool GraphMaker::reduce() {
  const size_t x = pick({2, 3, 4, 4});
  Dims dims = live_[x].dims, axes;
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (rank == 4 && dice_.coin())
    axes = {2, 3};
  else
    axes = {dice_.integer(live_[x].has_batch || !dice_.one_in(4) ? 1 : 0, rank - 1)};
  const bool keep = dice_.coin();
  const std::string op =
      dice_.pick<std::string>({"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"});
  int64_t n = 1;
  Dims made;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::count(axes.begin(), axes.end(), i) == 0)
      made.push_back(dims[static_cast<size_t>(i)]);
    else {
      n *= dims[static_cast<size_t>(i)];
      if (keep) made.push_back(1);
    }
  }
  if (dice_.one_in(3))
    for (int64_t& a : axes) a -= rank;
  const bool as_input = opset_ >= 18 || (op == "ReduceSum" && opset_ >= 13);
  if (opset_ < 11)
    for (int64_t& a : axes) a = a < 0 ? a + rank : a;
  const std::string r = read(x);
  const std::string y =
      as_input ? b_.node(op, {r, integers64(axes)}, {Attr("keepdims", keep ? 1 : 0)})
               : b_.node(op, {r}, {Attr("axes", axes), Attr("keepdims", keep ? 1 : 0)});
  const double amplitude =
      live_[x].amplitude * (op == "ReduceSum" ? std::sqrt(static_cast<double>(n)) : 1);
  return finish(y, made, amplitude, live_[x].has_batch);
}

bool GraphMaker::qlinear_pool() {
  const size_t x = pick({4});
  const Live a = live_[x];
  if (a.quant.is_int16()) return false;
  Quant q = random_quant(a.amplitude);
  q.type = a.quant.type, q.zero_point = std::min(std::max(q.zero_point, q.lo()), q.hi());
  const Names inputs = {a.name, b_.scalar(a.quant.scale), zero_point(a.quant), b_.scalar(q.scale),
                        zero_point(q)};
  live_[x].is_read = true;
  if (dice_.coin()) {
    add_live(
        b_.node("QLinearGlobalAveragePool", inputs, {Attr("channels_last", 0)}, "com.microsoft"),
        {a.dims[0], a.dims[1], 1, 1}, q, a.has_batch, a.amplitude);
    return true;
  }
  Window w;
  if (!window(a.dims, WindowOf::kAveragePool, &w)) return false;
  if (dice_.coin()) w.attributes.push_back(Attr("count_include_pad", 1));
  add_live(b_.node("QLinearAveragePool", inputs, w.attributes, "com.microsoft"),
           {a.dims[0], a.dims[1], w.out[0], w.out[1]}, q, a.has_batch, a.amplitude);
  return true;
}

bool GraphMaker::concat() {
  const size_t x = pick({2, 3, 4, 4});
  const Dims dims = live_[x].dims;
  const int64_t rank = static_cast<int64_t>(dims.size());
  const int64_t axis = dice_.integer(1, rank - 1);
  Names parts = {read(x)};
  Dims made = dims;
  const bool same = dice_.coin();
  const int64_t n = dice_.integer(1, 3);
  for (int64_t i = 0; i < n; ++i) {
    if (dice_.one_in(8) && !live_[x].has_batch) {
      parts.push_back(quantised_constant(dims, live_[x].amplitude));
    } else {
      const size_t y = partner(x);
      Dims other = live_[y].dims;
      if (other.size() != dims.size()) return false;
      for (size_t d = 0; d < dims.size(); ++d)
        if (d != static_cast<size_t>(axis) && other[d] != dims[d]) return i > 0 && false;
      parts.push_back(read(y));
      made[static_cast<size_t>(axis)] += other[static_cast<size_t>(axis)];
      continue;
    }
    made[static_cast<size_t>(axis)] += dims[static_cast<size_t>(axis)];
  }
  // Below opset 11 an axis from behind leaves ONNX Runtime without the shape, and without the fusions
  // that ask for it.
  const bool from_behind = dice_.coin() && opset_ >= 11;
  const std::string y = b_.node("Concat", parts, {Attr("axis", from_behind ? axis - rank : axis)});
  if (dice_.one_in(6)) {  // detection heads end so
    b_.output(y);
    return true;
  }
  const Quant q = live_[x].quant;
  if (same)
    quantise(y, made, live_[x].amplitude, live_[x].has_batch, &q);
  else
    return finish(y, made, live_[x].amplitude * 1.5, live_[x].has_batch);
  return true;
}

bool GraphMaker::qlinear_concat() {
  const size_t x = pick({2, 3, 4});
  const size_t y = partner(x);
  const Live a = live_[x], b = live_[y];
  if (a.dims != b.dims || a.quant.is_int16() || a.quant.type != b.quant.type) return false;
  Quant q = random_quant(std::max(a.amplitude, b.amplitude));
  q.type = a.quant.type, q.zero_point = std::min(std::max(q.zero_point, q.lo()), q.hi());
  live_[x].is_read = live_[y].is_read = true;
  Dims made = a.dims;
  made[1] *= 2;
  add_live(b_.node("QLinearConcat",
                   {b_.scalar(q.scale), zero_point(q), a.name, b_.scalar(a.quant.scale),
                    zero_point(a.quant), b.name, b_.scalar(b.quant.scale), zero_point(b.quant)},
                   {Attr("axis", 1)}, "com.microsoft"),
           made, q, a.has_batch, a.amplitude);
  return true;
}

// Data movement, of the integers or of the floats between two pairs.
bool GraphMaker::moved() {
  const size_t x = pick({1, 2, 3, 3, 4, 4, 4, 5});
  const bool on_integers = dice_.one_in(4) && !live_[x].quant.is_int16();
  std::string y = on_integers ? live_[x].name : read(x);
  Dims dims = live_[x].dims;
  if (!move(&y, &dims, live_[x].has_batch)) return false;
  live_[x].is_read = true;
  const Quant q = live_[x].quant;
  if (on_integers) {
    add_live(y, dims, q, live_[x].has_batch, live_[x].amplitude);
    return true;
  }
  if (dice_.one_in(4)) {
    Dims again = dims;
    std::string z = y;
    if (move(&z, &again, live_[x].has_batch)) y = z, dims = again;
  }
  if (dice_.one_in(8)) return finish(y, dims, live_[x].amplitude, live_[x].has_batch);
  const Quant other = random_quant(live_[x].amplitude);
  quantise(y, dims, live_[x].amplitude, live_[x].has_batch, dice_.one_in(3) ? &other : &q);
  return true;
}

bool GraphMaker::move(std::string* x, Dims* dims, bool has_batch) {
  const int64_t rank = static_cast<int64_t>(dims->size());
  Dims& d = *dims;
  const int64_t first = has_batch || !dice_.one_in(6) ? std::min<int64_t>(1, rank - 1) : 0;
  if (has_batch && rank < 2) return false;
  const int64_t axis = dice_.integer(first, rank - 1);
  const size_t at = static_cast<size_t>(axis);
  switch (dice_.integer(0, 13)) {
    case 0:
    case 1: {  // Reshape: two dimensions become one, or one two
      Dims to = d;
      if (rank > 2 && dice_.coin()) {
        const size_t i = static_cast<size_t>(dice_.integer(1, rank - 2));
        to[i] *= to[i + 1];
        to.erase(to.begin() + static_cast<int64_t>(i) + 1);
      } else if (rank < 5 && rank > 1) {
        const int64_t f = d.back() % 3 == 0 ? 3 : d.back() % 2 == 0 ? 2 : 1;
        to.back() /= f;
        to.push_back(f);
      } else {
        return false;
      }
      Dims said = to;
      if (has_batch)
        said[0] = dice_.coin() ? -1 : 0;
      else if (dice_.coin())
        said[static_cast<size_t>(dice_.integer(0, static_cast<int64_t>(to.size()) - 1))] = -1;
      *x = b_.node("Reshape", {*x, integers64(said)});
      d = to;
      return true;
    }
    case 2: {
      const int64_t a = rank == 1 ? 0 : 1;
      int64_t head = 1;
      for (int64_t i = 0; i < a; ++i) head *= d[static_cast<size_t>(i)];
      *x = b_.node("Flatten", {*x}, {Attr("axis", a)});
      d = {head, elements(d) / head};
      return true;
    }
    case 3:
    case 4:
    case 5: {
      Dims perm(d.size());
      std::iota(perm.begin(), perm.end(), 0);
      for (int64_t i = rank - 1; i > first; --i)
        std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(dice_.integer(first, i))]);
      Dims to;
      for (int64_t p : perm) to.push_back(d[static_cast<size_t>(p)]);
      *x = b_.node("Transpose", {*x}, {Attr("perm", perm)});
      d = to;
      return true;
    }
    case 6: {
      const int64_t n = d[at], step = dice_.one_in(3) ? 2 : 1;
      const int64_t begin = dice_.integer(0, n - 1), end = dice_.integer(begin + 1, n);
      const bool negative = dice_.one_in(4), all = dice_.one_in(4);
      *x = b_.node("Slice",
                   {*x, integers64({negative ? begin - n : begin}),
                    integers64({all ? INT64_MAX : end}), integers64({axis}), integers64({step})});
      d[at] = ((all ? n : end) - begin + step - 1) / step;
      return true;
    }
    case 7: {
      if (rank > 4) return false;
      const Dims pads = [&] {
        Dims p(2 * d.size(), 0);
        for (size_t i = static_cast<size_t>(first); i < d.size(); ++i)
          p[i] = dice_.integer(0, std::min<int64_t>(2, d[i] - 1)),
          p[i + d.size()] = dice_.integer(0, std::min<int64_t>(2, d[i] - 1));
        return p;
      }();
      const std::string mode = dice_.pick<std::string>({"constant", "constant", "reflect", "edge"});
      *x = opset_ < 11 ? b_.node("Pad", {*x}, {Attr("pads", pads), Attr("mode", mode.c_str())})
                       : b_.node("Pad", {*x, integers64(pads)}, {Attr("mode", mode.c_str())});
      for (size_t i = 0; i < d.size(); ++i) d[i] += pads[i] + pads[i + d.size()];
      return true;
    }
    case 8: {
      Dims repeats(d.size(), 1);
      repeats[at] = dice_.integer(1, 3);
      *x = b_.node("Tile", {*x, integers64(repeats)});
      d[at] *= repeats[at];
      return true;
    }
    case 9: {
      if (rank > 4 || has_batch) return false;
      Dims to = d;
      if (d[at] == 1) to[at] = 3;
      if (dice_.coin()) to.insert(to.begin(), 2);
      *x = b_.node("Expand", {*x, integers64(to)});
      d = to;
      return true;
    }
    case 10: {
      const int64_t n = dice_.integer(1, 4);
      Dims indices;
      for (int64_t i = 0; i < n; ++i)
        indices.push_back(dice_.integer(opset_ < 11 ? 0 : -d[at], d[at] - 1));
      const bool scalar = rank > 1 && dice_.one_in(4);
      *x = b_.node("Gather", {*x, scalar ? b_.scalar<int64_t>(indices[0]) : integers64(indices)},
                   {Attr("axis", axis)});
      if (scalar)
        d.erase(d.begin() + axis);
      else
        d[at] = n;
      return true;
    }
    case 11: {
      if (rank != 4) return false;
      if (d[1] % 4 == 0 && dice_.coin()) {
        *x = opset_ >= 11 && dice_.coin()
                 ? b_.node("DepthToSpace", {*x}, {Attr("blocksize", 2), Attr("mode", "CRD")})
                 : b_.node("DepthToSpace", {*x}, {Attr("blocksize", 2)});
        d = {d[0], d[1] / 4, d[2] * 2, d[3] * 2};
        return true;
      }
      if (d[2] % 2 || d[3] % 2) return false;
      *x = b_.node("SpaceToDepth", {*x}, {Attr("blocksize", 2)});
      d = {d[0], d[1] * 4, d[2] / 2, d[3] / 2};
      return true;
    }
    case 12: {
      if (rank > 4) return false;
      const int64_t a = dice_.integer(has_batch ? 1 : 0, rank);
      *x = opset_ < 13 ? b_.node("Unsqueeze", {*x}, {Attr("axes", Dims{a})})
                       : b_.node("Unsqueeze", {*x, integers64({a})});
      d.insert(d.begin() + a, 1);
      return true;
    }
    default: {
      if (d[at] != 1 || rank < 2 || (axis == 0 && has_batch)) return false;
      *x = opset_ < 13 ? b_.node("Squeeze", {*x}, {Attr("axes", Dims{axis})})
                       : b_.node("Squeeze", {*x, integers64({axis})});
      d.erase(d.begin() + axis);
      return true;
    }
  }
}

bool GraphMaker::split() {
  const size_t x = pick({2, 3, 4});
  const Dims dims = live_[x].dims;
  const int64_t axis = dice_.integer(1, static_cast<int64_t>(dims.size()) - 1),
                n = dims[static_cast<size_t>(axis)];
  if (n < 2) return false;
  const int64_t left = dice_.integer(1, n - 1);
  const std::string r = read(x);
  const std::string a =
      opset_ < 13 ? b_.node("Split", {r}, {Attr("axis", axis), Attr("split", Dims{left, n - left})})
                  : b_.node("Split", {r, integers64({left, n - left})}, {Attr("axis", axis)});
  const std::string b = a + "_rest";
  b_.graph().mutable_node(b_.graph().node_size() - 1)->add_output(b);
  const Live in = live_[x];
  Dims first = dims, second = dims;
  first[static_cast<size_t>(axis)] = left, second[static_cast<size_t>(axis)] = n - left;
  const Quant q = in.quant;
  quantise(a, first, in.amplitude, in.has_batch, &q);
  if (dice_.one_in(4))
    quantise(b, second, in.amplitude, in.has_batch);
  else
    quantise(b, second, in.amplitude, in.has_batch, &q);
  return true;
}

bool GraphMaker::resize() {
  const size_t x = pick({4, 4, 4, 3});
  const Dims dims = live_[x].dims;
  const bool linear = dice_.coin();
  Dims sizes = dims;
  for (size_t i = 2; i < dims.size(); ++i)
    sizes[i] = dice_.coin() ? dims[i] * 2 : dice_.integer(1, 2 * dims[i]);
  if (elements(sizes) > 20000) return false;
  // Cubic and antialiased ones are float.
  const bool cubic = opset_ >= 11 && dims.size() == 4 && dice_.one_in(8);
  std::vector<Attr> attributes = {Attr("mode", cubic ? "cubic" : linear ? "linear" : "nearest")};
  if (opset_ >= 18 && dims.size() == 4 && (cubic || linear) && dice_.one_in(6))
    attributes.push_back(Attr("antialias", 1));
  const std::string r = read(x);
  std::string y;
  if (opset_ < 11) {
    std::vector<float> scales(dims.size(), 1.0f);
    for (size_t i = 2; i < dims.size(); ++i) scales[i] = 2, sizes[i] = 2 * dims[i];
    y = b_.node("Resize", {r, b_.constant({static_cast<int64_t>(scales.size())}, scales)},
                attributes);
  } else {
    const std::string how = dice_.pick<std::string>(
        {"half_pixel", "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"});
    attributes.push_back(Attr("coordinate_transformation_mode", how.c_str()));
    if (!linear)
      attributes.push_back(
          Attr("nearest_mode",
               dice_.pick<std::string>({"floor", "round_prefer_floor", "ceil", "round_prefer_ceil"})
                   .c_str()));
    const bool by_scale = live_[x].has_batch || dice_.coin();
    if (by_scale) {
      std::vector<float> scales(dims.size(), 1.0f);
      for (size_t i = 2; i < dims.size(); ++i) {
        scales[i] = dice_.pick<float>({2.0f, 2.0f, 0.5f, 1.5f, 3.0f});
        sizes[i] = static_cast<int64_t>(std::floor(static_cast<float>(dims[i]) * scales[i]));
        if (sizes[i] < 1) return false;
      }
      y = b_.node("Resize",
                  {r, opset_ < 13 ? b_.constant<float>({0}, {}) : "",
                   b_.constant({static_cast<int64_t>(scales.size())}, scales)},
                  attributes);
    } else {
      y = b_.node("Resize",
                  {r, opset_ < 13 ? b_.constant<float>({0}, {}) : "",
                   opset_ < 13 ? b_.constant<float>({0}, {}) : "", integers64(sizes)},
                  attributes);
    }
  }
  const Live in = live_[x];
  if (dice_.coin())
    quantise(y, sizes, in.amplitude, in.has_batch, &in.quant);
  else
    return finish(y, sizes, in.amplitude, in.has_batch);
  return true;
}

// Of integers, as it stands between QLinear operators.
bool GraphMaker::resize_integers() {
  const size_t x = pick({4});
  const Live in = live_[x];
  if (in.quant.is_int16() || opset_ < 11) return false;
  Dims sizes = in.dims;
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = dice_.integer(1, 3 * sizes[i]);
  std::vector<float> scales(sizes.size(), 1.0f);
  const bool linear = dice_.coin(), by_scale = in.has_batch || dice_.coin();
  if (by_scale)
    for (size_t i = 2; i < sizes.size(); ++i) {
      scales[i] = dice_.pick<float>({2.0f, 1.5f, 3.0f});
      sizes[i] = static_cast<int64_t>(std::floor(static_cast<float>(in.dims[i]) * scales[i]));
    }
  const std::string none = opset_ < 13 ? b_.constant<float>({0}, {}) : "";
  const int64_t rank = static_cast<int64_t>(sizes.size());
  live_[x].is_read = true;
  const Names inputs = by_scale ? Names{in.name, none, b_.constant({rank}, scales)}
                                : Names{in.name, none, none, integers64(sizes)};
  const std::string y =
      b_.node("Resize", inputs,
              {Attr("mode", linear ? "linear" : "nearest"),
               Attr("coordinate_transformation_mode", dice_.coin()   ? "half_pixel"
                                                      : dice_.coin() ? "asymmetric"
                                                                     : "align_corners")});
  add_live(y, sizes, in.quant, in.has_batch, in.amplitude);
  return true;
}

// What cameras deliver: bytes, converted and scaled.
bool GraphMaker::camera() {
  Dims dims = {1, dice_.integer(1, 4), dice_.integer(2, 8), dice_.integer(2, 8)}, declared = dims;
  if (symbolic_) declared[0] = -1;
  std::string x = b_.input<uint8_t>(declared);
  x = b_.node("Cast", {x}, {Attr("to", 1)});
  if (dice_.coin()) x = b_.node("Sub", {x, b_.scalar(static_cast<float>(dice_.integer(0, 128)))});
  const bool divides = dice_.coin();
  x = b_.node(divides ? "Div" : "Mul", {x, b_.scalar(divides ? 255.0f : 1.0f / 255)});
  if (dice_.one_in(3)) x = b_.node("Mul", {x, floats({1, dims[1], 1, 1}, 4)});
  quantise(x, dims, 1, symbolic_);
  return true;
}

}  // namespace qrt::random_onnx

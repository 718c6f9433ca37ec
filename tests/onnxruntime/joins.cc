// SPDX-License-Identifier: Apache-2.0
// Tensors joined and parted.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

int64_t GraphMaker::axis_of(const Live& x) {
  const int64_t last = static_cast<int64_t>(x.dims.size()) - 1;
  return dice_.integer(x.has_batch || !dice_.one_in(4) ? std::min<int64_t>(1, last) : 0, last);
}

bool GraphMaker::concat() {
  const size_t x = pick({1, 2, 3, 4, 4});
  const Live in = live_[x];
  const int64_t axis = axis_of(in);
  const size_t at = static_cast<size_t>(axis);
  Names parts = {read(x)};
  Dims made = in.dims;
  for (int64_t n = dice_.integer(dice_.one_in(12) ? 0 : 1, 3); n > 0; --n) {
    Dims other = in.dims;
    if (dice_.one_in(8) && !in.has_batch) {
      other[at] = dice_.integer(1, 4);
      parts.push_back(dice_.coin() ? quantised_constant(other, in.amplitude)
                                   : floats(other, in.amplitude));
    } else {
      const size_t y = partner(x);
      other = live_[y].dims;
      bool fits = other.size() == in.dims.size();
      for (size_t d = 0; fits && d < other.size(); ++d) fits = d == at || other[d] == in.dims[d];
      if (!fits) continue;
      parts.push_back(read(y));
    }
    made[at] += other[at];
  }
  const std::string y =
      b_.node("Concat", parts, {Attr("axis", axis_as_written(axis, in.dims.size()))});
  if (dice_.one_in(6)) {  // detection heads end so
    b_.output(y);
    return true;
  }
  if (dice_.coin()) return finish(y, made, in.amplitude * 1.5, in.has_batch);
  quantise(y, made, in.amplitude, in.has_batch, &in.quant);
  return true;
}

bool GraphMaker::qlinear_concat() {
  const size_t x = pick({1, 2, 3, 4});
  const Live a = live_[x];
  if (a.quant.is_int16()) return false;
  const int64_t axis = axis_of(a);
  const size_t at = static_cast<size_t>(axis);
  const Quant q = quant_like(a.quant, a.amplitude);
  Names inputs = {b_.scalar(q.scale), zero_point(q)};
  const auto add = [&](const std::string& name, const Quant& of) {
    inputs.insert(inputs.end(), {name, b_.scalar(of.scale), zero_point(of)});
  };
  add(a.name, a.quant);
  Dims made = a.dims;
  for (int64_t n = dice_.integer(1, 3); n > 0; --n) {
    Dims other = a.dims;
    if (dice_.one_in(4) && !a.has_batch) {
      other[at] = dice_.integer(1, 4);
      const Quant of = quant_like(a.quant, a.amplitude);
      add(codes(other, of), of);
    } else {
      const size_t y = partner(x);
      const Live b = live_[y];
      if (b.dims != a.dims || b.quant.type != a.quant.type) continue;
      live_[y].is_read = true;
      add(b.name, b.quant);
    }
    made[at] += other[at];
  }
  live_[x].is_read = true;
  add_live(b_.node("QLinearConcat", inputs, {Attr("axis", axis_as_written(axis, a.dims.size()))},
                   "com.microsoft"),
           made, q, a.has_batch, a.amplitude);
  return true;
}

// Splits a tensor into two to four parts, of given sizes or of equal size.
bool GraphMaker::split() {
  const size_t x = pick({1, 2, 3, 4});
  const Live in = live_[x];
  const int64_t axis = axis_of(in), n = in.dims[static_cast<size_t>(axis)];
  const int64_t parts = dice_.integer(2, 4);
  if (n < parts) return false;
  Dims sizes(static_cast<size_t>(parts), 1);
  std::vector<Attr> attributes = {Attr("axis", axis_as_written(axis, in.dims.size()))};
  Names inputs = {read(x)};
  const bool uneven = opset_ >= 18 && dice_.coin();
  const int64_t each = (n + parts - 1) / parts;
  if ((n % parts == 0 || (uneven && each * (parts - 1) < n)) && dice_.coin()) {
    for (int64_t i = 0; i < parts; ++i)
      sizes[static_cast<size_t>(i)] = std::min(each, n - i * each);
    if (opset_ >= 18) attributes.push_back(Attr("num_outputs", parts));
  } else {
    for (int64_t left = n - parts; left > 0; --left)
      ++sizes[static_cast<size_t>(dice_.integer(0, parts - 1))];
    if (opset_ < 13)
      attributes.push_back(Attr("split", sizes));
    else
      inputs.push_back(integers64(sizes));
  }
  const std::string first = b_.node("Split", inputs, attributes);
  auto* node = b_.graph().mutable_node(b_.graph().node_size() - 1);
  Names names = {first};
  for (int64_t i = 1; i < parts; ++i)
    names.push_back(first + "_" + std::to_string(i)), node->add_output(names.back());
  for (size_t i = 0; i < names.size(); ++i) {
    Dims dims = in.dims;
    dims[static_cast<size_t>(axis)] = sizes[i];
    quantise(names[i], dims, in.amplitude, in.has_batch, dice_.one_in(4) ? nullptr : &in.quant);
  }
  return true;
}

}  // namespace qrt::random_onnx

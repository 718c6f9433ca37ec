// SPDX-License-Identifier: Apache-2.0
// Layers of networks on images and signals: [batch, channels, ...].
#include <algorithm>

#include "tests/onnxruntime/open/sized_maker.h"

namespace qrt::open_onnx {

bool SizedMaker::conv() {
  const size_t x = pick(3, 4);
  if (x == SIZE_MAX || !is_fixed(live_[x].dims[1])) return false;
  const Live from = live_[x];
  const size_t spatial = from.dims.size() - 2;
  const int64_t c = from.dims[1][0], k = dice_.pick<int64_t>({1, 2, 3, 3, 3, 5});
  if (c == 0 || c > 64) return false;
  const bool is_depthwise = dice_.one_in(4);
  const int64_t m = is_depthwise ? c : dice_.integer(1, 12);
  const int64_t stride = dice_.pick<int64_t>({1, 1, 2, 2, 3}),
                dilation = k > 1 && dice_.one_in(5) ? 2 : 1;
  const int64_t how = dice_.integer(0, 4);  // of padding
  std::vector<Attr> attributes = {Attr("strides", Dims(spatial, stride)),
                                  Attr("dilations", Dims(spatial, dilation))};
  const int64_t extent = (k - 1) * dilation + 1;
  const bool is_same = how < 2 && dilation == 1;
  if (is_same) attributes.push_back(Attr("auto_pad", how == 0 ? "SAME_UPPER" : "SAME_LOWER"));
  const int64_t before = is_same ? 0 : dice_.integer(0, extent / 2),
                after = is_same        ? 0
                        : dice_.coin() ? before
                                       : dice_.integer(0, extent / 2);
  if (!is_same) {
    Dims pads(spatial, before);
    pads.insert(pads.end(), spatial, after);
    attributes.push_back(Attr("pads", pads));
  }
  if (is_depthwise) attributes.push_back(Attr("group", c));
  Sizes dims = from.dims;
  dims[1] = fixed(m);
  for (size_t d = 2; d < dims.size(); ++d)
    for (int64_t& n : dims[d])
      n = is_same ? (n + stride - 1) / stride
                  : std::max<int64_t>(0, (n + before + after - extent + stride) / stride);
  Dims shape = {m, is_depthwise ? 1 : c};
  shape.insert(shape.end(), spatial, k);
  const double taps = std::sqrt(static_cast<double>(k * k * (is_depthwise ? 1 : c)));
  const double amplitude = from.amplitude * taps * 0.1;
  if (flavour_ == Flavour::kOperators && !from.stored.empty()) {
    const Weights w = weights(shape, 0, dice_.coin());
    const Quant q = random_quant(amplitude);
    live_[x].is_read = true;
    const std::string y =
        b_.node("QLinearConv",
                {from.stored, b_.scalar(from.quant.scale), zero_point(from.quant), w.stored,
                 w.scale, w.zero_point, b_.scalar(q.scale), zero_point(q)},
                attributes);
    return add({dequantise(y, q), y, dims, q, amplitude});
  }
  if (flavour_ == Flavour::kDynamic) {
    const Weights w = weights(shape, 0, false);
    const std::string stored = b_.node("DynamicQuantizeLinear", {read(x)});
    auto* node = b_.graph().mutable_node(b_.graph().node_size() - 1);
    node->add_output(stored + "_scale"), node->add_output(stored + "_zero");
    const std::string sums = b_.node(
        "Cast",
        {b_.node("ConvInteger", {stored, w.stored, stored + "_zero", w.zero_point}, attributes)},
        {Attr("to", 1)});
    const std::string y = b_.node("Mul", {sums, b_.node("Mul", {stored + "_scale", w.scale})});
    return add({y, "", dims, {}, amplitude});
  }
  const Weights w = weights(shape, 0, dice_.coin());
  const std::string y = b_.node("Conv", {read(x), w.real}, attributes);
  return finish(dice_.one_in(3) ? b_.node("Relu", {y}) : y, dims, amplitude);
}

bool SizedMaker::pool() {
  const size_t x = pick(3, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const size_t spatial = from.dims.size() - 2;
  const bool is_max = dice_.coin();
  const int64_t k = dice_.integer(2, 4), stride = dice_.integer(1, 3);
  std::vector<Attr> attributes = {Attr("kernel_shape", Dims(spatial, k)),
                                  Attr("strides", Dims(spatial, stride))};
  const int64_t how = dice_.integer(0, 3);
  const bool is_same = how == 0, is_ceil = how == 1 && (is_max || opset_ >= 19);
  if (is_same) attributes.push_back(Attr("auto_pad", dice_.coin() ? "SAME_UPPER" : "SAME_LOWER"));
  const int64_t before = is_same ? 0 : dice_.integer(0, k / 2),
                after = is_same ? 0 : dice_.integer(0, k / 2);
  if (!is_same && before + after > 0) {
    Dims pads(spatial, before);
    pads.insert(pads.end(), spatial, after);
    attributes.push_back(Attr("pads", pads));
  }
  if (is_ceil) attributes.push_back(Attr("ceil_mode", 1));
  if (!is_max && dice_.coin()) attributes.push_back(Attr("count_include_pad", 1));
  Sizes dims = from.dims;
  for (size_t d = 2; d < dims.size(); ++d)
    for (int64_t& n : dims[d]) {
      if (is_same) {
        n = (n + stride - 1) / stride;
      } else {
        const int64_t room = n + before + after - k;
        int64_t count = room < 0 ? 0 : (is_ceil ? (room + stride - 1) / stride : room / stride) + 1;
        if (is_ceil && (count - 1) * stride >= n + before) --count;
        n = std::max<int64_t>(count, 0);
      }
    }
  return finish(b_.node(is_max ? "MaxPool" : "AveragePool", {read(x)}, attributes), dims,
                from.amplitude);
}

bool SizedMaker::conv_transpose() {
  const size_t x = pick(3, 4);
  if (x == SIZE_MAX || flavour_ == Flavour::kDynamic || !is_fixed(live_[x].dims[1])) return false;
  const Live from = live_[x];
  const size_t spatial = from.dims.size() - 2;
  const int64_t c = from.dims[1][0], k = dice_.integer(2, 4), stride = dice_.integer(1, 2),
                m = dice_.integer(1, 6);
  if (c == 0 || c > 32) return false;
  const int64_t pad = dice_.integer(0, (k - 1) / 2), more = stride > 1 ? dice_.integer(0, 1) : 0;
  Dims shape = {c, m};
  shape.insert(shape.end(), spatial, k);
  std::vector<Attr> attributes = {Attr("strides", Dims(spatial, stride)),
                                  Attr("pads", Dims(2 * spatial, pad))};
  if (more) attributes.push_back(Attr("output_padding", Dims(spatial, more)));
  Sizes dims = from.dims;
  dims[1] = fixed(m);
  for (size_t d = 2; d < dims.size(); ++d)
    for (int64_t& n : dims[d]) n = (n - 1) * stride + k - 2 * pad + more;
  const Weights w = weights(shape, 1, false);
  const double taps = std::sqrt(static_cast<double>(k * k * c));
  return finish(b_.node("ConvTranspose", {read(x), w.real}, attributes), dims,
                from.amplitude * taps * 0.1);
}

// Adds a pool over the whole image, and sometimes a layer behind it.
bool SizedMaker::global_pool() {
  const size_t x = pick(3, 4);
  if (x == SIZE_MAX || !is_fixed(live_[x].dims[1])) return false;
  const Live from = live_[x];
  Sizes dims(from.dims.size(), fixed(1));
  dims[0] = from.dims[0], dims[1] = from.dims[1];
  const std::string y =
      b_.node(dice_.integer(0, 3) > 0 ? "GlobalAveragePool" : "GlobalMaxPool", {read(x)});
  if (!finish(y, dims, from.amplitude)) return false;
  if (dice_.coin()) return true;
  const size_t at = live_.size() - 1;
  const Sizes flat = {dims[0], dims[1]};
  if (dice_.coin()) return finish_moved(b_.node("Flatten", {read(at)}), flat, at);
  const Number b = dimension(x, 0);
  return finish_moved(b_.node("Reshape", {read(at), vector_of({b, constant(-1)})}), flat, at);
}

bool SizedMaker::resize() {
  const size_t x = pick(4, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  const bool is_linear = dice_.one_in(3);
  std::vector<Attr> attributes = {
      Attr("mode", is_linear ? "linear" : "nearest"),
      Attr("coordinate_transformation_mode",
           dice_
               .pick<std::string>(
                   {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
               .c_str())};
  if (!is_linear)
    attributes.push_back(
        Attr("nearest_mode", dice_.pick<std::string>({"floor", "round_prefer_floor"}).c_str()));
  Sizes dims = from.dims;
  if (dice_.coin()) {
    const std::vector<float> factors = {2.0f, 2.0f, 0.5f, 1.5f, 4.0f, 3.0f, 0.75f};
    std::vector<float> scales = {1, 1, dice_.pick(factors), dice_.pick(factors)};
    for (size_t d = 2; d < 4; ++d)
      for (int64_t& n : dims[d])
        n = static_cast<int64_t>(std::floor(static_cast<float>(n) * scales[d]));
    return finish_moved(
        b_.node("Resize", {read(x), "", b_.constant<float>({4}, scales)}, attributes), dims, x);
  }
  std::vector<Number> sizes = {dimension(x, 0), dimension(x, 1)};
  // Resizes to the size of another image, or to a computed one.
  size_t other = x;
  for (size_t i = 0; i < live_.size(); ++i)
    if (i != x && live_[i].dims.size() == 4) other = i;
  const bool follows = other != x && dice_.coin();
  for (int64_t d = 2; d < 4; ++d) {
    const Number n = dimension(follows ? other : x, d);
    sizes.push_back(follows ? n : dice_.coin() ? combine("Mul", n, constant(2)) : computed(n, 1));
    dims[static_cast<size_t>(d)] = sizes.back().value;
  }
  return finish_moved(b_.node("Resize", {read(x), "", "", vector_of(sizes)}, attributes), dims, x);
}

// Adds a table of a fixed size, resized to the size of the image.
bool SizedMaker::resized_table() {
  const size_t x = pick(4, 4);
  if (x == SIZE_MAX || !is_fixed(live_[x].dims[1])) return false;
  const Live from = live_[x];
  const int64_t c = from.dims[1][0], side = dice_.integer(4, 14);
  const std::string table = floats({1, c, side, side}, from.amplitude);
  const std::string to = vector_of({constant(1), constant(c), dimension(x, 2), dimension(x, 3)});
  const std::string resized = b_.node("Resize", {table, "", "", to},
                                      {Attr("mode", dice_.coin() ? "linear" : "nearest"),
                                       Attr("coordinate_transformation_mode", "half_pixel")});
  return finish(b_.node("Add", {read(x), resized}), from.dims, from.amplitude * 2);
}

// Reshapes [b, c, h, w] to [b, h * w, c], and sometimes back.
bool SizedMaker::flatten_image() {
  const size_t x = pick(4, 4);
  if (x == SIZE_MAX) return false;
  const Live from = live_[x];
  Size n = from.dims[2];
  for (size_t run = 0; run < kRuns; ++run) n[run] *= from.dims[3][run];
  const Number b = dimension(x, 0),
               c = is_fixed(from.dims[1]) ? constant(from.dims[1][0]) : dimension(x, 1);
  const Number pixels =
      dice_.coin() ? constant(-1) : combine("Mul", dimension(x, 2), dimension(x, 3));
  const std::string flat = b_.node("Reshape", {read(x), vector_of({b, c, pixels})});
  const std::string rows = b_.node("Transpose", {flat}, {Attr("perm", Dims{0, 2, 1})});
  if (!finish_moved(rows, {from.dims[0], n, from.dims[1]}, x)) return false;
  if (dice_.coin()) return true;
  const size_t at = live_.size() - 1;
  const std::string back = b_.node("Transpose", {read(at)}, {Attr("perm", Dims{0, 2, 1})});
  const std::string image =
      b_.node("Reshape", {back, vector_of({b, c, dimension(x, 2), dimension(x, 3)})});
  return finish_moved(image, from.dims, x);
}

// Windows of k x k pixels, as many as cover the image.
bool SizedMaker::windows() {
  const size_t x = pick(4, 4);
  if (x == SIZE_MAX || !is_fixed(live_[x].dims[1])) return false;
  const Live from = live_[x];
  const int64_t c = from.dims[1][0];
  const Number k = constant(dice_.integer(2, 7)), zero = constant(0);
  std::vector<Number> amounts(8, zero), counts;
  for (int64_t d = 2; d < 4; ++d) {
    const Number n = dimension(x, d);
    amounts[static_cast<size_t>(4 + d)] =
        combine("Mod", combine("Sub", k, combine("Mod", n, k)), k);
    counts.push_back(
        dice_.coin() ? combine("Div", combine("Add", n, constant(k.value[0] - 1)), k)
                     : combine("Div", combine("Add", n, amounts[static_cast<size_t>(4 + d)]), k));
  }
  const std::string padded = b_.node("Pad", {read(x), vector_of(amounts)});
  const std::string cut = b_.node(
      "Reshape", {padded, vector_of({dimension(x, 0), constant(c), counts[0], k, counts[1], k})});
  const std::string moved = b_.node("Transpose", {cut}, {Attr("perm", Dims{0, 2, 4, 3, 5, 1})});
  const int64_t pixels = k.value[0] * k.value[0];
  Size n = from.dims[0];
  for (size_t run = 0; run < kRuns; ++run) n[run] *= counts[0].value[run] * counts[1].value[run];
  return finish_moved(b_.node("Reshape", {moved, int64s({-1, pixels, c})}),
                      {n, fixed(pixels), fixed(c)}, x);
}

}  // namespace qrt::open_onnx

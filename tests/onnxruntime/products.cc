// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

bool GraphMaker::window(const Dims& dims, WindowOf of, Window* w) {
  const size_t n = dims.size() - 2;
  Dims strides, dilations, begin, end;
  const bool plain = dice_.one_in(3);
  const int64_t how = plain ? 0 : dice_.integer(0, 9);
  const char* same = how < 5 ? nullptr : how < 7 ? "SAME_UPPER" : how < 9 ? "SAME_LOWER" : "VALID";
  const bool ceil = of != WindowOf::kLayer && !plain && dice_.one_in(4);
  const bool dilates = (of != WindowOf::kAveragePool || opset_ >= 19) && dice_.one_in(5);
  for (size_t i = 0; i < n; ++i) {
    const int64_t in = dims[i + 2];
    const int64_t k = dice_.pick<int64_t>({1, 2, 3, 3, 3, 5});
    const int64_t s = plain ? 1 : dice_.pick<int64_t>({1, 1, 2, 2, 3, 4});
    const int64_t d = dilates ? dice_.integer(1, 3) : 1;
    const int64_t reach = (k - 1) * d + 1;
    const int64_t most_pad = of == WindowOf::kLayer ? k : k - 1;
    int64_t pb = plain ? k / 2 : dice_.integer(0, most_pad),
            pe = plain ? k / 2 : dice_.integer(0, most_pad);
    if (dice_.coin()) pe = pb;
    if (same) pb = pe = 0;
    // ONNX Runtime runs no layer of SAME with dilations. Where the shapes that it infers are not those
    // that its kernels make (such a pool, a last window in the padding), what follows contradicts
    // itself.
    if (same && same[0] == 'S' && d > 1) return false;
    int64_t out = (in + pb + pe - reach) / s + 1;
    if (same && same[0] == 'S')
      out = (in + s - 1) / s;
    else if (in + pb + pe < reach)
      return false;
    else if (ceil) {
      out = (in + pb + pe - reach + s - 1) / s + 1;
      if ((out - 1) * s >= in + pb) return false;
    }
    w->kernel.push_back(k), strides.push_back(s), dilations.push_back(d), begin.push_back(pb),
        end.push_back(pe);
    w->out.push_back(out);
  }
  const auto all = [](const Dims& v, int64_t x) {
    return std::count(v.begin(), v.end(), x) == static_cast<int64_t>(v.size());
  };
  if (of != WindowOf::kLayer || !dice_.one_in(6))
    w->attributes.push_back(Attr("kernel_shape", w->kernel));
  if (!all(strides, 1) || dice_.coin()) w->attributes.push_back(Attr("strides", strides));
  if (!all(dilations, 1)) w->attributes.push_back(Attr("dilations", dilations));
  Dims pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  if (same)
    w->attributes.push_back(Attr("auto_pad", same));
  else if (!all(pads, 0) || dice_.coin())
    w->attributes.push_back(Attr("pads", pads));
  if (ceil) w->attributes.push_back(Attr("ceil_mode", 1));
  return true;
}

bool GraphMaker::conv() {
  const size_t x = pick({3, 4, 4, 4, 5});
  const Dims dims = live_[x].dims;
  const double amplitude = live_[x].amplitude;
  const bool has_batch = live_[x].has_batch;
  Window w;
  if (!window(dims, WindowOf::kLayer, &w)) return false;
  const int64_t c = dims[1];
  int64_t group = 1, m = dice_.integer(1, dice_.one_in(5) ? 40 : 10);
  if (dice_.one_in(4))
    group = c, m = c * (dice_.one_in(4) ? 2 : 1);
  else if (dice_.one_in(5) && c % 2 == 0)
    group = 2, m = 2 * m;
  Dims shape = {m, c / group};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  const Weights k = layer_weights(shape, 0);
  Names inputs = {read(x), real(k)};
  const double out =
      amplitude * k.amplitude * std::sqrt(static_cast<double>(elements(shape) / m)) * 0.4;
  if (!dice_.one_in(3)) inputs.push_back(bias(k, live_[x].quant.scale, m, out * 0.5));
  if (group > 1) w.attributes.push_back(Attr("group", group));
  Dims made = {dims[0], m};
  made.insert(made.end(), w.out.begin(), w.out.end());
  return finish(b_.node("Conv", inputs, w.attributes), made, out, has_batch);
}

bool GraphMaker::conv_transpose() {
  const size_t x = pick({3, 4, 4, 5});
  const Dims dims = live_[x].dims;
  if (elements(dims) > 2000) return false;
  const size_t n = dims.size() - 2;
  Dims kernel, strides, dilations, begin, end, extra, out;
  const char* same = dice_.one_in(4) ? dice_.coin() ? "SAME_UPPER" : "SAME_LOWER" : nullptr;
  const bool dilates = dice_.one_in(6), extends = dice_.one_in(4), sized = !same && dice_.one_in(8);
  for (size_t i = 0; i < n; ++i) {
    const int64_t k = dice_.integer(1, 4), s = dice_.integer(1, 3), d = dilates ? 2 : 1;
    const int64_t e = extends && s > 1 ? dice_.integer(0, s - 1) : 0;
    const int64_t reach = (k - 1) * d + 1;
    int64_t pb = same ? 0 : dice_.integer(0, std::min<int64_t>(k - 1, 2)),
            pe = same ? 0 : dice_.integer(0, std::min<int64_t>(k - 1, 2));
    int64_t o = (dims[i + 2] - 1) * s + reach + e - pb - pe;
    if (same) o = std::min(dims[i + 2] * s, (dims[i + 2] - 1) * s + reach + e);
    if (o < 1) return false;
    kernel.push_back(k), strides.push_back(s), dilations.push_back(d), begin.push_back(pb),
        end.push_back(pe), extra.push_back(e), out.push_back(o);
  }
  const int64_t c = dims[1];
  int64_t group = 1, m = dice_.integer(1, 8);
  if (dice_.one_in(5)) group = c;
  Dims shape = {c, m};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  const Weights k = layer_weights(shape, group == 1 ? 1 : -1);
  Names inputs = {read(x), real(k)};
  const double amplitude =
      live_[x].amplitude * k.amplitude * std::sqrt(static_cast<double>(c / group)) * 0.6;
  if (dice_.coin()) inputs.push_back(bias(k, live_[x].quant.scale, m * group, amplitude * 0.5));
  std::vector<Attr> attributes = {Attr("kernel_shape", kernel), Attr("strides", strides)};
  if (dilates) attributes.push_back(Attr("dilations", dilations));
  Dims pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  if (same)
    attributes.push_back(Attr("auto_pad", same));
  else if (sized)
    attributes.push_back(Attr("output_shape", out));
  else
    attributes.push_back(Attr("pads", pads));
  if (extends) attributes.push_back(Attr("output_padding", extra));
  if (group > 1) attributes.push_back(Attr("group", group));
  Dims made = {dims[0], m * group};
  made.insert(made.end(), out.begin(), out.end());
  // ONNX Runtime's own shape rules for SAME are not worth repeating here: the result ends the
  // graph.
  if (same) {
    const Quant q = random_quant(amplitude);
    b_.output(dequantise_node(quantise_node(b_.node("ConvTranspose", inputs, attributes), q), q));
    return true;
  }
  return finish(b_.node("ConvTranspose", inputs, attributes), made, amplitude, live_[x].has_batch);
}

bool GraphMaker::gemm() {
  const size_t x = pick({2});
  const Dims dims = live_[x].dims;
  const bool trans_a = !live_[x].has_batch && dice_.one_in(12), trans_b = dice_.coin();
  const int64_t m = trans_a ? dims[1] : dims[0], k = trans_a ? dims[0] : dims[1],
                n = dice_.integer(1, 20);
  const Weights w = layer_weights(trans_b ? Dims{n, k} : Dims{k, n}, trans_b ? 0 : 1);
  const double amplitude =
      live_[x].amplitude * w.amplitude * std::sqrt(static_cast<double>(k)) * 0.4;
  Names inputs = {read(x), real(w)};
  std::vector<Attr> attributes;
  if (trans_a) attributes.push_back(Attr("transA", 1));
  if (trans_b) attributes.push_back(Attr("transB", 1));
  if (dice_.one_in(12)) attributes.push_back(Attr("alpha", static_cast<float>(dice_.real(0.5, 2))));
  if (dice_.one_in(12)) attributes.push_back(Attr("beta", static_cast<float>(dice_.real(0.5, 2))));
  if (!dice_.one_in(4)) {
    const Dims shape = dice_.one_in(8)                           ? Dims{1, n}
                       : dice_.one_in(12)                        ? Dims{1}
                       : dice_.one_in(20) && !live_[x].has_batch ? Dims{m, n}
                                                                 : Dims{n};
    inputs.push_back(bias(w, live_[x].quant.scale, n, amplitude * 0.5, shape));
  }
  return finish(b_.node("Gemm", inputs, attributes), {m, n}, amplitude, live_[x].has_batch);
}

bool GraphMaker::matmul() {
  const size_t x = pick({2, 2, 3, 3, 4, 1});
  Dims dims = live_[x].dims;
  const bool has_batch = live_[x].has_batch;
  const int64_t k = dims.back(), n = dice_.integer(1, 16);
  if (dice_.one_in(10) && dims.size() >= 2 && !has_batch) {  // a constant on the left
    const int64_t rows = dims[dims.size() - 2];
    const Weights w = layer_weights({n, rows}, -1);
    const double amplitude =
        live_[x].amplitude * w.amplitude * std::sqrt(static_cast<double>(rows)) * 0.4;
    dims[dims.size() - 2] = n;
    return finish(b_.node("MatMul", {real(w), read(x)}), dims, amplitude, has_batch);
  }
  const bool vector = dice_.one_in(15);
  const bool batched = !vector && dims.size() == 3 && !has_batch && dice_.one_in(8);
  const Weights w = vector    ? layer_weights({k}, -1)
                    : batched ? layer_weights({dims[0], k, n}, -1)
                              : layer_weights({k, n}, dice_.one_in(12) ? 0 : 1);
  const double amplitude =
      live_[x].amplitude * w.amplitude * std::sqrt(static_cast<double>(k)) * 0.4;
  std::string y = b_.node("MatMul", {read(x), real(w)});
  dims.pop_back();
  if (!vector) dims.push_back(n);
  if (dice_.one_in(3) && !vector) {
    const Dims shape = dice_.one_in(8) ? Dims{1, n} : dice_.one_in(12) ? Dims{1} : Dims{n};
    const std::string b = bias(w, live_[x].quant.scale, n, amplitude * 0.5, shape);
    y = dice_.coin() ? b_.node("Add", {y, b}) : b_.node("Add", {b, y});
    if (dims.size() < shape.size()) dims.insert(dims.begin(), 1);
  }
  return finish(y, dims, amplitude, has_batch);
}

bool GraphMaker::matmul_computed() {
  const size_t a = pick({2, 3, 3, 4});
  const Dims da = live_[a].dims;
  const bool has_batch = live_[a].has_batch;
  size_t b = a;
  bool transposed = true;  // x times its own transpose: attention's shape
  for (size_t i = 0; i < live_.size(); ++i) {
    const Dims& db = live_[i].dims;
    if (i == a || db.size() != da.size() || live_[i].has_batch != has_batch ||
        db[db.size() - 2] != da.back())
      continue;
    if (!std::equal(da.begin(), da.end() - 2, db.begin())) continue;
    b = i, transposed = false;
  }
  if (has_batch && da.size() == 2) return false;
  if (options_.pair_safe && live_[b].quant.type == kInt8) return false;
  Dims dims = da;
  std::string right = read(b);
  if (transposed) {
    Dims perm;
    for (size_t i = 0; i < da.size(); ++i) perm.push_back(static_cast<int64_t>(i));
    std::swap(perm[da.size() - 1], perm[da.size() - 2]);
    right = b_.node("Transpose", {right}, {Attr("perm", perm)});
    if (dice_.coin()) {
      const Quant q = live_[b].quant;
      right = dequantise_node(quantise_node(right, q), q);
    }
    dims.back() = da[da.size() - 2];
  } else {
    dims.back() = live_[b].dims.back();
  }
  const double amplitude =
      live_[a].amplitude * live_[b].amplitude * std::sqrt(static_cast<double>(da.back())) * 0.5;
  return finish(b_.node("MatMul", {read(a), right}), dims, amplitude, has_batch);
}

bool GraphMaker::qlinear_conv() {
  const size_t x = pick({3, 4, 4, 5});
  const Live in = live_[x];
  Window w;
  // The QLinearConv of com.microsoft takes images of [n, h, w, c], too.
  const bool other = dice_.one_in(6), last = other && in.dims.size() == 4 && dice_.coin();
  Dims image = in.dims;
  if (last) image = {in.dims[0], in.dims[3], in.dims[1], in.dims[2]};
  if (in.quant.is_int16() || !window(image, WindowOf::kLayer, &w)) return false;
  const int64_t c = image[1];
  int64_t group = 1, m = dice_.integer(1, 12);
  if (dice_.one_in(4)) group = c, m = c;
  Dims shape = {m, c / group};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  Weights k = weights(shape, 0);
  // ONNX Runtime itself writes one zero point beside [M] scales.
  if (k.axis >= 0 && dice_.coin())
    k.zero_point =
        k.type == kInt8 ? b_.constant<int8_t>({1}, {0}) : b_.constant<uint8_t>({1}, {128});
  const double amplitude =
      in.amplitude * k.amplitude * std::sqrt(static_cast<double>(elements(shape) / m)) * 0.4;
  const Quant q = quant_like(in.quant, amplitude);
  Names inputs = {in.name,      b_.scalar(in.quant.scale), zero_point(in.quant), k.stored, k.scale,
                  k.zero_point, b_.scalar(q.scale),        zero_point(q)};
  if (dice_.coin()) {
    std::vector<int32_t> v(static_cast<size_t>(m));
    for (int32_t& i : v) i = static_cast<int32_t>(dice_.integer(-20000, 20000));
    inputs.push_back(b_.constant({m}, v));
  }
  if (group > 1) w.attributes.push_back(Attr("group", group));
  live_[x].is_read = true;
  Dims made = {in.dims[0], m};
  made.insert(last ? made.begin() + 1 : made.end(), w.out.begin(), w.out.end());
  if (last) w.attributes.push_back(Attr("channels_last", 1));
  add_live(b_.node("QLinearConv", inputs, w.attributes, other ? "com.microsoft" : ""), made, q,
           in.has_batch, amplitude);
  return true;
}

bool GraphMaker::qlinear_matmul() {
  const size_t x = pick({2, 3, 1});
  const Live in = live_[x];
  if (in.quant.is_int16()) return false;
  const int64_t k = in.dims.back(), n = dice_.integer(1, 16);
  const Weights w = weights({k, n}, dice_.one_in(3) ? 1 : -1);
  const double amplitude = in.amplitude * w.amplitude * std::sqrt(static_cast<double>(k)) * 0.4;
  const Quant q = quant_like(in.quant, amplitude);
  Dims dims = in.dims;
  dims.back() = n;
  live_[x].is_read = true;
  add_live(
      b_.node("QLinearMatMul", {in.name, b_.scalar(in.quant.scale), zero_point(in.quant), w.stored,
                                w.scale, w.zero_point, b_.scalar(q.scale), zero_point(q)}),
      dims, q, in.has_batch, amplitude);
  return true;
}

bool GraphMaker::qgemm() {
  const size_t x = pick({2});
  const Live in = live_[x];
  if (in.quant.is_int16()) return false;
  const bool trans_a = !in.has_batch && dice_.one_in(12), trans_b = dice_.coin();
  const int64_t k = in.dims[trans_a ? 0 : 1], n = dice_.integer(1, 16);
  const Dims made = {in.dims[trans_a ? 1 : 0], n};
  const Weights w = weights(trans_b ? Dims{n, k} : Dims{k, n}, trans_b ? 0 : 1, false);
  const double amplitude = in.amplitude * w.amplitude * std::sqrt(static_cast<double>(k)) * 0.4;
  const Quant q = quant_like(in.quant, amplitude);
  std::vector<int32_t> c(static_cast<size_t>(n));
  for (int32_t& i : c) i = static_cast<int32_t>(dice_.integer(-20000, 20000));
  std::vector<Attr> attributes;
  if (trans_a) attributes.push_back(Attr("transA", 1));
  if (trans_b) attributes.push_back(Attr("transB", 1));
  if (dice_.one_in(8)) attributes.push_back(Attr("alpha", 0.5f));
  live_[x].is_read = true;
  Names inputs = {in.name,
                  b_.scalar(in.quant.scale),
                  zero_point(in.quant),
                  w.stored,
                  w.scale,
                  w.zero_point,
                  dice_.coin() ? b_.constant({n}, c) : ""};
  const bool to_float = dice_.one_in(6);
  if (!to_float) inputs.push_back(b_.scalar(q.scale)), inputs.push_back(zero_point(q));
  const std::string y = b_.node("QGemm", inputs, attributes, "com.microsoft");
  if (to_float) return finish(y, made, amplitude, in.has_batch);
  add_live(y, made, q, in.has_batch, amplitude);
  return true;
}

// Adds a ConvInteger or MatMulInteger, then a Cast and a scale.
bool GraphMaker::integer_product() {
  const bool image = dice_.coin();
  const size_t x = image ? pick({4, 4, 5}) : pick({2, 3});
  const Live in = live_[x];
  if (in.quant.is_int16()) return false;
  live_[x].is_read = true;
  std::string y;
  Dims dims = in.dims;
  double amplitude;
  if (image) {
    Window w;
    if (!window(dims, WindowOf::kLayer, &w)) return false;
    const int64_t m = dice_.integer(1, 8);
    Dims shape = {m, dims[1]};
    shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
    const Weights k = weights(shape, -1);
    y = b_.node("ConvInteger", {in.name, k.stored, zero_point(in.quant), k.zero_point},
                w.attributes);
    dims = {dims[0], m};
    dims.insert(dims.end(), w.out.begin(), w.out.end());
    amplitude = std::sqrt(static_cast<double>(elements(shape) / m));
  } else {
    const int64_t k = dims.back(), n = dice_.integer(1, 12);
    const Weights w = weights({k, n}, dice_.one_in(3) ? 1 : -1);
    y = b_.node("MatMulInteger", {in.name, w.stored, zero_point(in.quant), w.zero_point});
    dims.back() = n;
    amplitude = std::sqrt(static_cast<double>(k));
  }
  if (dice_.one_in(5)) {
    b_.output(y);
    return true;
  }
  const float scale = static_cast<float>(std::exp2(dice_.real(-12, -6)));
  y = b_.node("Mul", {b_.node("Cast", {y}, {Attr("to", 1)}), b_.scalar(scale)});
  return finish(y, dims, amplitude * 6000 * scale, in.has_batch);
}

}  // namespace qrt::random_onnx

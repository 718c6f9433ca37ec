// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation, and products whose parameters are inputs of the model or sides computed by it.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

// Adds a layer as quantize_dynamic writes it: x as bytes, a product of integers, and floats again.
bool GraphMaker::dynamic_layer() {
  if (opset_ < 11) return false;
  const bool image = dice_.one_in(3);
  Dims dims = {symbolic_ ? 1 : dice_.integer(1, 3), dice_.integer(1, 9)}, declared;
  if (image)
    for (int64_t i = dice_.one_in(4) ? 3 : 2; i > 0; --i) dims.push_back(dice_.integer(1, 7));
  else if (dice_.coin())
    dims.push_back(dice_.integer(1, 20));
  declared = dims;
  if (symbolic_) declared[0] = -1;
  std::string x = b_.input(declared);
  amplitudes_[x] = std::exp2(dice_.real(-3, 4));
  const int64_t layers = dice_.integer(1, 2);
  for (int64_t i = 0; i < layers; ++i) {
    if (image ? !dynamic_conv(&x, &dims) : !dynamic_matmul(&x, &dims)) return false;
    if (dice_.one_in(3)) x = b_.node("Relu", {x});
  }
  b_.output(x);
  return true;
}

// Returns the three outputs of DynamicQuantizeLinear; or the same with a scale and a zero point that are known.
Names GraphMaker::dynamic_quantise(const std::string& x) {
  if (dice_.one_in(4)) {
    Quant known;
    known.scale = static_cast<float>(std::exp2(dice_.real(-7, -2)));
    known.zero_point = static_cast<int>(dice_.coin() ? 128 : dice_.integer(0, 255));
    return {quantise_node(x, known), b_.scalar(known.scale), zero_point(known)};
  }
  const std::string q = b_.node("DynamicQuantizeLinear", {x});
  auto* node = b_.graph().mutable_node(b_.graph().node_size() - 1);
  node->add_output(q + "_scale"), node->add_output(q + "_zero");
  return {q, q + "_scale", q + "_zero"};
}

// Returns weights, mostly symmetric int8, with one scale or one for each column.
GraphMaker::Weights GraphMaker::columns(const Dims& dims, int axis) {
  const int64_t n = dims[static_cast<size_t>(axis)];
  const bool each = dice_.coin();
  Quant q;
  Weights w;
  q.type = w.type = dice_.one_in(4) ? kUint8 : kInt8;
  w.stored = codes(dims, q, options_.pair_safe ? kMostPairSafe : 65535);
  w.scales.resize(each ? static_cast<size_t>(n) : 1);
  const double base = std::exp2(dice_.real(-9, -5));
  for (float& s : w.scales) s = static_cast<float>(base * dice_.real(0.3, 1.7));
  const Dims shape = each ? Dims{n} : dice_.coin() ? Dims{1} : Dims{};
  w.scale = b_.constant(shape, w.scales);
  if (w.type == kUint8 || dice_.coin()) {
    std::vector<int64_t> zeros(w.scales.size(), w.type == kUint8 ? 128 : 0);
    if (dice_.one_in(4))
      for (int64_t& z : zeros) z = w.type == kUint8 ? dice_.integer(0, 255) : dice_.integer(-9, 9);
    w.zero_point = typed_constant(w.type, shape, zeros);
  }
  return w;
}

bool GraphMaker::dynamic_matmul(std::string* x, Dims* dims) {
  const int64_t k = dims->back(), n = dice_.integer(1, 20);
  const Weights w = columns({k, n}, 1);
  const std::string bias = dice_.coin() ? floats({n}, 2) : "";
  dims->back() = n;
  if (dice_.one_in(4)) {
    Names inputs = {*x, w.stored, w.scale, w.zero_point, bias};
    while (inputs.back().empty()) inputs.pop_back();
    *x = b_.node("DynamicQuantizeMatMul", inputs, {}, "com.microsoft");
    return true;
  }
  const Names q = dynamic_quantise(*x);
  if (dice_.one_in(4)) {
    Names inputs = {q[0], w.stored, q[1], w.scale, q[2], w.zero_point, bias};
    while (inputs.back().empty()) inputs.pop_back();
    *x = b_.node("MatMulIntegerToFloat", inputs, {}, "com.microsoft");
    return true;
  }
  Names inputs = {q[0], w.stored, q[2], w.zero_point};
  if (inputs.back().empty()) inputs.pop_back();
  const std::string sums = b_.node("Cast", {b_.node("MatMulInteger", inputs)}, {Attr("to", 1)});
  const std::string scale =
      b_.node("Mul", dice_.coin() ? Names{q[1], w.scale} : Names{w.scale, q[1]});
  *x = b_.node("Mul", dice_.coin() ? Names{sums, scale} : Names{scale, sums});
  if (!bias.empty()) *x = b_.node("Add", dice_.coin() ? Names{*x, bias} : Names{bias, *x});
  return true;
}

bool GraphMaker::dynamic_conv(std::string* x, Dims* dims) {
  Window w;
  if (!window(*dims, WindowOf::kLayer, &w)) return false;
  const int64_t c = (*dims)[1], group = dice_.one_in(4) ? c : 1, m = group * dice_.integer(1, 4);
  Dims shape = {m, c / group};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  Quant q;
  q.type = dice_.one_in(4) ? kUint8 : kInt8;
  q.zero_point = q.type == kUint8 ? 128 : 0;
  const std::string stored = codes(shape, q, options_.pair_safe ? kMostPairSafe : 65535);
  const std::string scale = b_.scalar(static_cast<float>(std::exp2(dice_.real(-9, -5))));
  if (group > 1) w.attributes.push_back(Attr("group", group));
  const Names d = dynamic_quantise(*x);
  Names inputs = {d[0], stored, d[2]};
  if (q.type == kUint8 || dice_.coin()) inputs.push_back(zero_point(q));
  const std::string sums =
      b_.node("Cast", {b_.node("ConvInteger", inputs, w.attributes)}, {Attr("to", 1)});
  *x = b_.node("Mul", {sums, b_.node("Mul", {d[1], scale})});
  if (dice_.coin()) {
    Dims bias(dims->size(), 1);
    bias[1] = m;
    *x = b_.node("Add", {*x, floats(bias, 2)});
  }
  if (opset_ >= 14 && dice_.coin()) *x = dynamic_activation(*x);
  *dims = {(*dims)[0], m};
  dims->insert(dims->end(), w.out.begin(), w.out.end());
  return true;
}

// Adds an activation that stands between dynamic layers of CNNs and has ONNX Runtime's bits in float.
std::string GraphMaker::dynamic_activation(const std::string& x) {
  switch (dice_.integer(0, 5)) {
    case 0: return b_.node("Clip", {x, b_.scalar(0.0f), b_.scalar(6.0f)});
    case 1: return b_.node("HardSwish", {x});
    case 2: return b_.node("Mul", {x, b_.node("Sigmoid", {x})});
    case 3: return b_.node("HardSigmoid", {x});
    case 4: return b_.node("LeakyRelu", {x}, {Attr("alpha", 0.1f)});
    default: return b_.node("Tanh", {x});
  }
}

// Adds a QLinearMatMul, QLinearConv, MatMulInteger or ConvInteger whose weights or parameters are inputs.
bool GraphMaker::parameters_of_the_run() {
  const size_t x = pick({2, 3, 4});
  const Live in = live_[x];
  if (in.quant.is_int16()) return false;
  const bool conv = in.dims.size() == 4 && dice_.coin(), to_sums = dice_.coin();
  Window win;
  Dims shape, made = in.dims;
  if (conv) {
    if (!window(in.dims, WindowOf::kLayer, &win)) return false;
    shape = {dice_.integer(1, 6), in.dims[1]};
    shape.insert(shape.end(), win.kernel.begin(), win.kernel.end());
    made = {in.dims[0], shape[0]};
    made.insert(made.end(), win.out.begin(), win.out.end());
  } else {
    shape = {in.dims.back(), dice_.integer(1, 9)};
    if (in.dims.size() > 2 && !in.has_batch && dice_.one_in(3))
      shape.insert(shape.begin(), in.dims[in.dims.size() - 3]);
    made.back() = shape.back();
  }
  Quant w, q = quant_like(in.quant, in.amplitude);
  w.type = dice_.coin() || in.quant.type == kInt8 ? kInt8 : kUint8;
  if (options_.pair_safe) return false;
  w.zero_point = w.type == kUint8 ? 128 : 0;
  w.scale = 1.0f / 128;
  const auto scale = [&](const Quant& of) {
    if (dice_.coin()) return b_.scalar(of.scale);
    const std::string name = b_.input(Dims{});
    reals_[name] = {of.scale, of.scale * 1.5};
    return name;
  };
  const auto zero = [&](const Quant& of) {
    return dice_.coin() ? zero_point(of) : typed_input(of.type, {});
  };
  const std::string weights = dice_.coin() ? typed_input(w.type, shape) : codes(shape, w);
  live_[x].is_read = true;
  const std::string op = conv ? "Conv" : "MatMul";
  if (to_sums) {
    Names inputs = {in.name, weights, zero(in.quant), zero(w)};
    if (dice_.one_in(4)) inputs.pop_back();
    b_.output(b_.node(op + "Integer", inputs, win.attributes));
    return true;
  }
  const std::string x_scale = scale(in.quant), x_zero = zero(in.quant);
  const std::string w_scale = scale(w), w_zero = zero(w), y_scale = scale(q), y_zero = zero(q);
  Names inputs = {in.name, x_scale, x_zero, weights, w_scale, w_zero, y_scale, y_zero};
  if (conv && dice_.coin()) {
    std::vector<int64_t> v(static_cast<size_t>(shape[0]));
    for (int64_t& i : v) i = dice_.integer(-20000, 20000);
    inputs.push_back(typed_constant(kInt32, {shape[0]}, v));
  }
  const std::string y = b_.node("QLinear" + op, inputs, win.attributes);
  b_.output(y);
  return true;
}

// Adds a product of two tensors that a run computes.
bool GraphMaker::qlinear_matmul_computed() {
  const size_t a = pick({2, 3, 4});
  const Live x = live_[a];
  if (x.quant.is_int16() || options_.pair_safe) return false;
  // Batch dimensions broadcast.
  Dims dims = {x.dims.back(), dice_.integer(1, 9)};
  for (size_t i = x.dims.size() - 2; i-- > (x.has_batch ? 1u : 0u);) {
    if (dice_.one_in(3)) break;
    dims.insert(dims.begin(), dice_.coin() ? 1 : x.dims[i]);
  }
  Quant w;
  w.type = x.quant.type == kInt8 || dice_.coin() ? kInt8 : kUint8;
  w.zero_point = static_cast<int>(dice_.integer(w.lo(), w.hi()));
  w.scale = 1.0f / 128;
  const std::string right = typed_input(w.type, dims);
  Dims made = x.dims;
  made.back() = dims.back();
  live_[a].is_read = true;
  if (dice_.coin()) {
    b_.output(b_.node("MatMulInteger", {x.name, right, zero_point(x.quant), zero_point(w)}));
    return true;
  }
  const double amplitude = x.amplitude * std::sqrt(static_cast<double>(x.dims.back())) * 0.5;
  const Quant q = quant_like(x.quant, amplitude);
  if (dice_.coin())
    return finish(b_.node("MatMul", {read(a), dequantise_node(right, w)}), made, amplitude,
                  x.has_batch);
  add_live(b_.node("QLinearMatMul",
                   {x.name, b_.scalar(x.quant.scale), zero_point(x.quant), right,
                    b_.scalar(w.scale), zero_point(w), b_.scalar(q.scale), zero_point(q)}),
           made, q, x.has_batch, amplitude);
  return true;
}

}  // namespace qrt::random_onnx

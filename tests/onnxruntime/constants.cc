// SPDX-License-Identifier: Apache-2.0
// Weights, biases and other constants.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

std::string GraphMaker::floats(const Dims& dims, double amplitude) {
  std::vector<float> v(static_cast<size_t>(elements(dims)));
  for (float& f : v) f = static_cast<float>(dice_.real(-amplitude, amplitude));
  return b_.constant(dims, v);
}

std::string GraphMaker::codes(const Dims& dims, const Quant& q, int most) {
  const size_t n = static_cast<size_t>(elements(dims));
  const int64_t narrow = dice_.one_in(5) ? 3 : 0;
  std::vector<int32_t> v(n);
  for (int32_t& c : v)
    c = static_cast<int32_t>(
        narrow
            ? std::min<int64_t>(
                  std::max<int64_t>(q.zero_point + dice_.integer(-narrow, narrow), q.lo()), q.hi())
            : dice_.integer(q.lo(), q.hi()));
  for (int32_t& c : v) c = std::min(std::max(c, -most), most);
  return typed_constant(q.type, dims, {v.begin(), v.end()});
}

std::string GraphMaker::quantised_constant(const Dims& dims, double amplitude) {
  const Quant q = random_quant(amplitude);
  return dequantise_node(codes(dims, q), q);
}

GraphMaker::Weights GraphMaker::weights(const Dims& dims, int axis, bool zero_points) {
  Weights w;
  Quant q;
  q.type = w.type = dice_.one_in(main_type_ == kUint8 ? 5 : 25) ? kUint8 : kInt8;
  const bool per_axis = axis >= 0 && opset_ >= 13 && dice_.coin();
  const int64_t n = per_axis ? dims[static_cast<size_t>(axis)] : 1;
  const double base = std::exp2(dice_.real(-9, -5));
  std::vector<float> scales;
  std::vector<uint8_t> zeros;
  const bool symmetric = !zero_points || !dice_.one_in(q.type == kInt8 ? 8 : 2);
  for (int64_t i = 0; i < n; ++i) {
    scales.push_back(static_cast<float>(base * (n > 1 ? dice_.real(0.3, 1.7) : 1)));
    zeros.push_back(
        static_cast<uint8_t>(symmetric ? (q.type == kInt8 ? 0 : 128) : dice_.integer(0, 255)));
  }
  if (per_axis && dice_.coin()) std::fill(zeros.begin(), zeros.end(), zeros[0]);
  q.zero_point = q.type == kInt8 ? static_cast<int8_t>(zeros[0]) : zeros[0];
  const Dims shape = per_axis ? Dims{n} : dice_.one_in(6) ? Dims{1} : Dims{};
  w.scale = b_.constant(shape, scales);
  w.zero_point = q.type == kInt8
                     ? b_.constant(shape, std::vector<int8_t>(zeros.begin(), zeros.end()))
                     : b_.constant(shape, zeros);
  if (!options_.pair_safe && dice_.one_in(12)) {  // as floats, quantised by the model
    const Names inputs = {floats(dims, base * 100), w.scale, w.zero_point};
    w.stored = per_axis ? b_.node("QuantizeLinear", inputs, {Attr("axis", axis)})
                        : b_.node("QuantizeLinear", inputs);
  } else {
    w.stored = codes(dims, q, options_.pair_safe ? kMostPairSafe : 65535);
  }
  w.scales = scales;
  w.amplitude = base * 128;
  w.axis = per_axis ? axis : -1;
  return w;
}

std::string GraphMaker::packed(int type, const Dims& dims, const std::vector<int64_t>& codes) {
  const bool nibbles = type == kInt4 || type == kUint4;
  const size_t bits = nibbles ? 4 : type == kInt2 || type == kUint2 ? 2 : 8, per = 8 / bits;
  std::string bytes((codes.size() + per - 1) / per, '\0');
  for (size_t i = 0; i < codes.size(); ++i)
    bytes[i / per] =
        static_cast<char>(bytes[i / per] | (codes[i] & ((1 << bits) - 1)) << (i % per * bits));
  onnx::TensorProto* t = b_.graph().add_initializer();
  t->set_name("n" + std::to_string(b_.graph().initializer_size()));
  t->set_data_type(type);
  for (int64_t d : dims) t->add_dims(d);
  t->set_raw_data(bytes);
  return t->name();
}

GraphMaker::Weights GraphMaker::layer_weights(const Dims& dims, int axis) {
  if ((main_type_ == kInt16 || main_type_ == kUint16) && dice_.one_in(3)) {
    Quant q;
    Weights w;
    q.type = w.type = kInt16;
    q.scale = static_cast<float>(std::exp2(dice_.real(-17, -13)));
    w.stored = codes(dims, q);
    w.scale = b_.scalar(q.scale), w.zero_point = zero_point(q);
    w.scales = {q.scale};
    w.amplitude = static_cast<double>(q.scale) * 32768;
    w.axis = -1;
    return w;
  }
  if (opset_ < 21 || !dice_.one_in(5)) return weights(dims, axis);
  Weights w;
  w.type = dice_.one_in(3) ? kUint4 : kInt4;
  if (opset_ >= 25 && dice_.coin()) w.type = w.type == kInt4 ? kInt2 : kUint2;
  const int codes = w.type == kInt2 || w.type == kUint2 ? 4 : 16;
  const int lo = w.type == kInt4 || w.type == kInt2 ? -codes / 2 : 0;
  const auto random_codes = [&](int64_t n) {
    std::vector<int64_t> v(static_cast<size_t>(n));
    for (int64_t& c : v) c = dice_.integer(lo, lo + codes - 1);
    return v;
  };
  const bool per_axis = axis >= 0 && dice_.coin();
  const int64_t n = per_axis ? dims[static_cast<size_t>(axis)] : 1;
  const double base = std::exp2(dice_.real(-5, -2));
  for (int64_t i = 0; i < n; ++i)
    w.scales.push_back(static_cast<float>(base * (n > 1 ? dice_.real(0.3, 1.7) : 1)));
  std::vector<int64_t> zeros(static_cast<size_t>(n), lo + codes / 2);
  if (dice_.one_in(3)) zeros = random_codes(n);
  const Dims shape = per_axis ? Dims{n} : Dims{};
  w.stored = packed(w.type, dims, random_codes(elements(dims)));
  w.scale = b_.constant(shape, w.scales);
  w.zero_point = packed(w.type, shape, zeros);
  w.amplitude = base * codes / 2;
  w.axis = per_axis ? axis : -1;
  return w;
}

std::string GraphMaker::real(const Weights& w) {
  const Names inputs = {w.stored, w.scale, w.zero_point};
  const std::string domain = w.type == kInt16 && opset_ < 21 ? "com.microsoft" : "";
  if (w.axis < 0) return b_.node("DequantizeLinear", inputs, {}, domain);
  return b_.node("DequantizeLinear", inputs, {Attr("axis", w.axis)});
}

std::string GraphMaker::bias(const Weights& w, float x_scale, int64_t channels, double amplitude,
                             Dims dims) {
  if (dims.empty()) dims = {channels};
  const size_t n = static_cast<size_t>(elements(dims));
  const int64_t how = dice_.integer(0, 9);
  if (how == 0 || how == 1) return floats(dims, amplitude);
  // Integers with scale x_scale * w_scale, as quantize_static writes them; now and then 1.5 times
  // that scale.
  std::vector<float> scales = w.scales;
  for (float& s : scales) s *= x_scale * (how == 2 && dice_.coin() ? 1.5f : 1.0f);
  if (scales.size() != 1 && (dims.size() != 1 || static_cast<int64_t>(scales.size()) != channels))
    return floats(dims, amplitude);
  std::vector<int32_t> v(n);
  for (size_t i = 0; i < n; ++i) {
    const double s = scales[scales.size() == 1 ? 0 : i];
    v[i] =
        static_cast<int32_t>(std::max(-2e9, std::min(2e9, dice_.real(-amplitude, amplitude) / s)));
  }
  const std::string stored = b_.constant(dims, v);
  const Dims shape = scales.size() == 1 ? Dims{} : dims;
  Names inputs = {stored, b_.constant(shape, scales)};
  if (dice_.coin()) inputs.push_back(b_.constant(shape, std::vector<int32_t>(scales.size(), 0)));
  if (scales.size() == 1) return b_.node("DequantizeLinear", inputs);
  return b_.node("DequantizeLinear", inputs, {Attr("axis", 0)});
}

}  // namespace qrt::random_onnx

// SPDX-License-Identifier: Apache-2.0
// The edges of a model: QuantizeLinear and DequantizeLinear that stay operators, of every type and layout of scales, and what
// stands in front of them.
#include <algorithm>
#include <cstring>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {
namespace {

int bits_of(int type) {
  switch (type) {
    case kInt4:
    case kUint4: return 4;
    case kInt2:
    case kUint2: return 2;
    case kUint16:
    case kInt16:
    case kInt32: return 16;
    default: return 8;
  }
}

bool is_float8(int type) { return type >= kFloat8E4M3FN && type <= kFloat8E5M2FNUZ; }

bool is_signed(int type) {
  return type == kInt8 || type == kInt16 || type == kInt4 || type == kInt2 || type == kInt32;
}

}  // namespace

// Adds an input as cameras deliver it: bytes, converted and scaled.
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

// Chooses parameters for the whole tensor, along an axis or in blocks.
GraphMaker::Parameters GraphMaker::parameters(int type, const Dims& dims, bool has_batch,
                                              double amplitude) {
  Parameters p;
  p.domain = bits_of(type) == 16 && type != kInt32 && opset_ < 21 ? "com.microsoft" : "";
  p.is_along = opset_ >= 13 && dims.size() > 1 && !dice_.one_in(3);
  p.is_in_blocks = p.is_along && opset_ >= 21 && !has_batch && dice_.coin();
  Dims shape;
  if (p.is_along) {
    const int64_t axis = dice_.integer(has_batch ? 1 : 0, static_cast<int64_t>(dims.size()) - 1);
    const int64_t n = dims[static_cast<size_t>(axis)];
    if (axis != 1 || dice_.coin())
      p.attributes.push_back(Attr("axis", axis_as_written(axis, dims.size())));
    shape = {n};
    if (p.is_in_blocks) {
      const int64_t block = dice_.integer(1, n);
      p.attributes.push_back(Attr("block_size", block));
      shape = dims;
      shape[static_cast<size_t>(axis)] = (n + block - 1) / block;
    }
  } else if (dice_.one_in(4)) {
    shape = {1};
  }
  const int bits = bits_of(type);
  const double codes = type == kInt32 ? 100000 : std::exp2(bits) - 1;
  p.is_half = opset_ >= 19 && p.domain.empty() && dice_.one_in(5);
  std::vector<float> scales(static_cast<size_t>(elements(shape)));
  for (float& s : scales) {
    s = static_cast<float>(2 * amplitude / codes * dice_.real(0.3, 1.7));
    if (p.is_half) s = std::max(s, 0x1p-14f);
  }
  if (!p.is_half && dice_.one_in(6)) {
    p.scale = b_.input(shape);
    reals_[p.scale] = {static_cast<double>(scales[0]) * 0.5, static_cast<double>(scales[0]) * 2};
  } else {
    p.scale = p.is_half ? halves(shape, scales) : b_.constant(shape, scales);
  }
  const bool absent = type == kInt32 || dice_.one_in(4);
  if (!absent && bits_of(type) > 4 && !is_float8(type) && dice_.one_in(6)) {
    p.zero_point = typed_input(type, shape);
    return p;
  }
  if (absent) {
    if (type != kUint8) p.output_dtype = type;
    return p;
  }
  if (is_float8(type)) {
    p.zero_point = packed(type, shape, std::vector<int64_t>(scales.size(), 0));
    return p;
  }
  const int64_t lo = is_signed(type) ? -(int64_t{1} << (bits - 1)) : 0;
  std::vector<int64_t> zeros(scales.size());
  for (int64_t& z : zeros) z = lo + dice_.integer(0, (int64_t{1} << bits) - 1);
  p.zero_point = typed_constant(type, shape, zeros);
  return p;
}

// Returns numbers of usual size, cut to float16.
std::string GraphMaker::halves(const Dims& dims, const std::vector<float>& values) {
  std::string raw;
  for (float v : values) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint32_t half = (bits >> 13) - (uint32_t{112} << 10);
    raw += static_cast<char>(half & 255);
    raw += static_cast<char>(half >> 8);
  }
  onnx::TensorProto* t = b_.graph().add_initializer();
  t->set_name("h" + std::to_string(b_.graph().initializer_size()));
  t->set_data_type(kHalf);
  for (int64_t d : dims) t->add_dims(d);
  t->set_raw_data(raw);
  return t->name();
}

std::string GraphMaker::edge_node(const std::string& op, const std::string& x,
                                  const Parameters& p) {
  Names inputs = {x, p.scale};
  std::vector<Attr> attributes = p.attributes;
  if (!p.zero_point.empty()) inputs.push_back(p.zero_point);
  if (op == "QuantizeLinear" && p.output_dtype != 0)
    attributes.push_back(Attr("output_dtype", p.output_dtype));
  return b_.node(op, inputs, attributes, p.domain);
}

bool GraphMaker::edge() {
  std::vector<int> types = {kUint8, kInt8, kUint8, kInt8, kUint16, kInt16};
  if (opset_ >= 21) types.insert(types.end(), {kUint4, kInt4});
  if (opset_ >= 25) types.insert(types.end(), {kUint2, kInt2});
  if (opset_ >= 19)
    types.insert(types.end(), {kFloat8E4M3FN, kFloat8E4M3FNUZ, kFloat8E5M2, kFloat8E5M2FNUZ});
  Dims dims, declared;
  for (int64_t n = dice_.integer(1, 4); n > 0; --n) dims.push_back(dice_.integer(1, 9));
  const bool has_batch = symbolic_ && dims.size() > 1;
  if (has_batch) dims[0] = 1;
  declared = dims;
  if (has_batch) declared[0] = -1;
  const double amplitude = std::exp2(dice_.real(-3, 4));
  if (dice_.coin()) {  // integers to floats
    types.resize(6);
    types.push_back(kInt32);
    const int type = dice_.pick(types);
    const std::string x = typed_input(type, declared);
    b_.output(edge_node("DequantizeLinear", x, parameters(type, dims, has_batch, amplitude)));
    return true;
  }
  const int type = dice_.pick(types);
  Parameters p = parameters(type, dims, has_batch, amplitude);
  const std::string x = typed_input(p.is_half ? kHalf : kFloat, declared);
  amplitudes_[x] = amplitude;
  // To 2 bits along an axis ONNX Runtime 1.30 takes other zero points than those of the axis.
  if (bits_of(type) == 2 && p.is_along && !p.is_in_blocks) return false;
  // Before opset 21 only a zero point says which type it is.
  if (p.output_dtype != 0 && (opset_ < 21 || !p.domain.empty())) return false;
  std::string y = edge_node("QuantizeLinear", x, p);
  if (bits_of(type) < 8 || is_float8(type) || dice_.coin()) {
    if (dice_.one_in(3)) p = parameters(type, dims, has_batch, amplitude);
    y = edge_node("DequantizeLinear", y, p);
  }
  b_.output(y);
  return true;
}

// Adds an activation with scales along an axis, and operators that have a form for it.
bool GraphMaker::per_axis() {
  if (opset_ < 13) return false;
  const size_t x = pick({2, 3, 4});
  const Live in = live_[x];
  if (in.quant.is_int16()) return false;
  const int64_t axis = dice_.integer(1, static_cast<int64_t>(in.dims.size()) - 1);
  const int64_t n = in.dims[static_cast<size_t>(axis)];
  std::vector<float> scales(static_cast<size_t>(n));
  for (float& s : scales) s = in.quant.scale * static_cast<float>(dice_.real(0.3, 1.7));
  std::vector<int64_t> zeros(scales.size(), in.quant.zero_point);
  if (dice_.coin())
    for (int64_t& z : zeros) z = dice_.integer(in.quant.lo(), in.quant.hi());
  live_[x].is_read = true;
  Moving m = {
      b_.node("DequantizeLinear",
              {in.name, b_.constant({n}, scales), typed_constant(in.quant.type, {n}, zeros)},
              {Attr("axis", axis_as_written(axis, in.dims.size()))}),
      in.dims, in, false};
  if (dice_.coin() && !move(&m)) return true;
  if (dice_.coin()) m.name = b_.node(dice_.pick<std::string>({"Relu", "Sigmoid", "Abs"}), {m.name});
  if (dice_.one_in(4)) {
    b_.output(m.name);
    return true;
  }
  return finish(m.name, m.dims, in.amplitude * 1.7, in.has_batch);
}

}  // namespace qrt::random_onnx

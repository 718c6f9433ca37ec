// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/builder.h"

namespace qrt::convert::from_espdl {

ValueId Builder::new_value(const std::string& name, const Format& format, const Shape& shape) {
  const ValueId id = new_value(name, format.stored_type(), shape);
  graph().values[id].quantization = quantization_of(format, format.offset());
  return id;
}

ValueId Builder::constant(const Tensor& tensor, const Format& format) {
  Value v;
  v.name = tensor.name;
  v.type = {format.stored_type(), tensor.shape};
  v.quantization = quantization_of(format, format.offset());
  v.is_constant = true;
  v.data.assign(tensor.data, tensor.data + tensor.bytes);
  if (format.type == DataType::INT8)
    for (uint8_t& b : v.data) b = static_cast<uint8_t>(b ^ 128);
  return graph().add_value(std::move(v));
}

ValueId Builder::table(const SourceNode& node, const Activation& x,
                       const std::vector<int16_t>& values, const Format& out) {
  const ValueId y = new_value("", out, shape_of(x.value));
  const Shape shape{static_cast<int64_t>(values.size())};
  ValueId constant;
  // Stored bytes stand in the order of the integers they mean, int16 from the least on.
  if (out.is_int16()) {
    constant = graph().add_constant("", DType::kInt16, shape, values);
  } else {
    std::vector<uint8_t> bytes;
    for (int16_t v : values) bytes.push_back(static_cast<uint8_t>(v + 128));
    constant = graph().add_constant("", DType::kUInt8, shape, bytes);
  }
  add<fb::LutOptionsT>(node, {x.value, constant}, y);
  return y;
}

ValueId Builder::rescale(const SourceNode& node, const Activation& x, const Format& out) {
  const int shift = out.exponent - x.format.exponent;
  if (x.format.type == out.type && shift == 0) return x.value;
  if (!x.format.is_int16()) {
    std::vector<int16_t> values;
    for (int q = kInt8Limits.lo; q <= kInt8Limits.hi; ++q)
      values.push_back(static_cast<int16_t>(shift_to(target_, q, shift, out.limits())));
    return table(node, x, values, out);
  }
  const ValueId y = new_value("", out, shape_of(x.value));
  add<fb::RequantizeOptionsT>(node, {x.value}, y).requant = requant({shift}, kMostLeft64, out);
  return y;
}

ValueId Builder::to_float(const SourceNode& node, const Activation& x) {
  if (!x.format.is_integer()) return x.value;
  const ValueId y = new_value("", DType::kFloat32, shape_of(x.value));
  set_dequantize(x.format, &add<fb::DequantizeOptionsT>(node, {x.value}, y));
  return y;
}

ValueId Builder::from_float(const SourceNode& node, ValueId x, float divisor, const Format& out) {
  const ValueId y = new_value("", out, shape_of(x));
  set_quantize(out, target_, divisor, &add<fb::QuantizeOptionsT>(node, {x}, y));
  return y;
}

ValueId Builder::float_function(const SourceNode& node, fb::FloatFunction function,
                                std::vector<ValueId> inputs, const Shape& shape) {
  const ValueId y = new_value("", DType::kFloat32, shape);
  add<fb::FloatOptionsT>(node, std::move(inputs), y).function = function;
  return y;
}

ValueId Builder::float_constant(float value) {
  return graph().add_constant("", DType::kFloat32, {1}, std::vector<float>{value});
}

std::unique_ptr<fb::RequantT> Builder::requant(const std::vector<int>& shifts, int most_left,
                                               const Format& out, Limits limits) const {
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::INT;
  r->zero_point = out.offset();
  r->lo = limits.lo + out.offset();
  r->hi = limits.hi + out.offset();
  r->stages.push_back(shift_stage(shifts, rounding_of(target_), most_left));
  return r;
}

}  // namespace qrt::convert::from_espdl

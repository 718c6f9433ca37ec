// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/real.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qrt::convert::from_tflite {
namespace {

// Returns the index in x's table to which the codes of two tensors lead.
size_t index_of(const Real& x, ValueId a, size_t code_a, size_t code_b) {
  const auto code = [&](ValueId v) { return v == a ? code_a : code_b; };
  if (x.is_constant()) return 0;
  return x.is_pair() ? 256 * code(x.a) + code(x.b) : code(x.a);
}

// One NaN on every host.
float number(float v) { return std::isnan(v) ? NAN : v; }

ValueId shaped(GraphBuilder* builder, const SourceNode& node, ValueId y, const Shape& shape,
               const std::string& name) {
  if (builder->shape_of(y) != shape) return builder->reshape(node, y, shape, name);
  builder->graph().values[y].name = name;
  return y;
}

}  // namespace

Real dequantized(ValueId x, float scale, int32_t zero_point) {
  Real y;
  y.a = x;
  for (int code = 0; code < 256; ++code)
    y.table.push_back(static_cast<float>(code - zero_point) * scale);
  y.scale = scale;
  y.zero_point = zero_point;
  return y;
}

Real mapped(const Real& x, float (*f)(float)) {
  Real y;
  y.a = x.a;
  y.b = x.b;
  for (const float v : x.table) y.table.push_back(number(f(v)));
  return y;
}

Status combined(const Real& x, const Real& y, float (*f)(float, float), Real* result) {
  std::vector<ValueId> sources;
  for (const ValueId v : {x.a, x.b, y.a, y.b})
    if (v != kNoValue && std::find(sources.begin(), sources.end(), v) == sources.end())
      sources.push_back(v);
  if (sources.size() > 2)
    return error(Code::kUnsupported, "its floats are made of more than two quantised tensors");
  sources.resize(2, kNoValue);
  *result = Real();
  result->a = sources[0];
  result->b = sources[1];
  const size_t codes_a = result->is_constant() ? 1 : 256, codes_b = result->is_pair() ? 256 : 1;
  result->table.reserve(codes_a * codes_b);
  for (size_t i = 0; i < codes_a; ++i)
    for (size_t k = 0; k < codes_b; ++k)
      result->table.push_back(
          number(f(x.table[index_of(x, result->a, i, k)], y.table[index_of(y, result->a, i, k)])));
  return Status();
}

ValueId real_value(GraphBuilder* builder, const SourceNode& node, const Real& x, const Shape& shape,
                   const std::string& name) {
  if (x.scale != 0) {
    const ValueId y = builder->new_value("", DType::kFloat32, builder->shape_of(x.a));
    auto& o = builder->add<fb::DequantizeOptionsT>(node, {x.a}, y);
    o.scale = {float_bits(x.scale)};
    o.zero_point = {x.zero_point};
    return shaped(builder, node, y, shape, name);
  }
  if (!x.is_pair())
    return shaped(builder, node, builder->float_lut(node, x.a, x.table, ""), shape, name);
  std::vector<uint8_t> bytes(x.table.size() * sizeof(float));
  memcpy(bytes.data(), x.table.data(), bytes.size());
  return shaped(builder, node,
                builder->pair_lut(node, x.a, x.b, shape, DType::kFloat32, bytes, nullptr), shape,
                name);
}

// Infinities take the limits, as QUANTIZE of floats does, and NaN the lower one: the reference
// converts them to int32, which no standard defines.
ValueId quantized_value(GraphBuilder* builder, const SourceNode& node, const Real& x,
                        const Shape& shape, const std::string& name, const Quant& quant) {
  const Limits limits = Limits::of_source(quant);
  std::vector<uint8_t> bytes;
  for (const float v : x.table) {
    const float steps =
        std::fmax(v / quant.scale[0], static_cast<float>(limits.lo - quant.zero_point[0]));
    const float limited =
        std::fmin(std::round(steps), static_cast<float>(limits.hi - quant.zero_point[0]));
    bytes.push_back(static_cast<uint8_t>(static_cast<int>(limited) + quant.stored_zero_point()));
  }
  const ValueId y = x.is_pair()
                        ? builder->pair_lut(node, x.a, x.b, shape, DType::kUInt8, bytes, &quant)
                        : builder->lut(node, x.a, bytes, false, "", &quant);
  const ValueId made = shaped(builder, node, y, shape, name);
  builder->graph().values[made].quantization = builder->graph().values[y].quantization;
  return made;
}

}  // namespace qrt::convert::from_tflite

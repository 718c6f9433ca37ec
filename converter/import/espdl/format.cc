// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/format.h"

namespace qrt::convert::from_espdl {

DType Format::stored_type() const {
  switch (type) {
    case DataType::INT8:
    case DataType::BOOL: return DType::kUInt8;
    case DataType::INT16: return DType::kInt16;
    default: return DType::kFloat32;
  }
}

void set_quantize(const Format& format, Target target, float divisor,
                  fb::QuantizeOptionsT* options) {
  options->scale = {float_bits(divisor)};
  options->zero_point = {format.offset()};
  options->rounding = rounding_of(target);
}

void set_dequantize(const Format& format, fb::DequantizeOptionsT* options) {
  options->scale = {float_bits(power_of_two(format.exponent))};
  options->zero_point = {format.offset()};
}

Quantization quantization_of(const Format& format, int zero_point) {
  Quantization q;
  if (!format.is_integer()) return q;
  q.scale = {power_of_two(format.exponent)};
  q.zero_point = {zero_point};
  return q;
}

}  // namespace qrt::convert::from_espdl

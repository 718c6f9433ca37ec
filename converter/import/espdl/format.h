// SPDX-License-Identifier: Apache-2.0
// The types of ESP-DL's activations and what their integers mean.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_FORMAT_H_
#define QRT_CONVERTER_IMPORT_ESPDL_FORMAT_H_

#include "converter/import/common/quant.h"
#include "converter/import/espdl/arithmetic.h"
#include "converter/import/espdl/model.h"
#include "converter/ir.h"

namespace qrt::convert::from_espdl {

// The type of an activation and what its integers mean: real = q * 2^exponent.
struct Format {
  DataType type = DataType::INT8;
  int exponent = 0;

  bool is_integer() const { return type == DataType::INT8 || type == DataType::INT16; }
  bool is_int16() const { return type == DataType::INT16; }
  // Returns what is added to the file's integer to give the stored one.
  int offset() const { return type == DataType::INT8 ? 128 : 0; }
  Limits limits() const { return is_int16() ? kInt16Limits : kInt8Limits; }
  bool operator==(const Format& f) const { return type == f.type && exponent == f.exponent; }
  bool operator!=(const Format& f) const { return !(*this == f); }
  DType stored_type() const;
};

// Set the options that take floats divided by `divisor` to integers of this format, and integers
// back to floats by its power of two.
void set_quantize(const Format& format, Target target, float divisor,
                  fb::QuantizeOptionsT* options);
void set_dequantize(const Format& format, fb::DequantizeOptionsT* options);

// Returns the quantisation that tools show for integers of this format; nothing for other types. The
// stored domain's zero point is the format's offset, the file's is 0.
Quantization quantization_of(const Format& format, int zero_point);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_FORMAT_H_

// SPDX-License-Identifier: Apache-2.0
// A float32 tensor between DEQUANTIZE and QUANTIZE: a function of the codes of one tensor of bytes or
// of two, tabulated as the reference's float kernels compute it, so that QUANTIZE becomes one table.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_REAL_H_
#define QRT_CONVERTER_IMPORT_TFLITE_REAL_H_

#include <vector>

#include "converter/import/common/graph_builder.h"
#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert::from_tflite {

struct Real {
  ValueId a = kNoValue, b = kNoValue;  // UINT8; kNoValue: does not depend on it
  // The values, by 256 * (code of a) + (code of b), or by the code of a alone, or one constant.
  std::vector<float> table;
  // Other than 0: the table is (code - zero_point) * scale.
  float scale = 0;
  int32_t zero_point = 0;

  bool is_constant() const { return a == kNoValue; }
  bool is_pair() const { return b != kNoValue; }
};

// Returns the reals that the codes of a tensor of bytes stand for. `zero_point`: stored domain.
Real dequantized(ValueId x, float scale, int32_t zero_point);
// Returns f of every element. Fails with kUnsupported where x and y depend on more than two tensors.
Real mapped(const Real& x, float (*f)(float));
Status combined(const Real& x, const Real& y, float (*f)(float, float), Real* result);

// Adds a function as float32 of this shape, or as bytes of `quant`, rounded as QUANTIZE rounds.
// REQUIRES: no constant.
ValueId real_value(GraphBuilder* builder, const SourceNode& node, const Real& x, const Shape& shape,
                   const std::string& name);
ValueId quantized_value(GraphBuilder* builder, const SourceNode& node, const Real& x,
                        const Shape& shape, const std::string& name, const Quant& quant);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_REAL_H_

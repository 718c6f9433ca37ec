// SPDX-License-Identifier: Apache-2.0
// The arithmetic of TFLite's reference kernels that the converter evaluates: multipliers,
// activation limits, and the fixed-point functions its tables are made from.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_ARITHMETIC_H_
#define QRT_CONVERTER_IMPORT_TFLITE_ARITHMETIC_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "converter/import/common/fixed_point.h"
#include "tflite_generated.h"

namespace qrt::convert::from_tflite {

// The rounding of MultiplyByQuantizedMultiplier: twice (the default), or once (builds with
// TFLITE_SINGLE_ROUNDING).
enum class Rounding { kDouble, kSingle };

// Multipliers as gemmlowp writes them: a value of 31 bits and an exponent (common/fixed_point.h),
// from -31 on. A negative d gives a negative value; one that is not finite an exponent beyond every
// finite one's.
Multiplier quantize_multiplier(double d, Rounding rounding);

// Returns a * b / out of their scales, for MUL and PRELU: in double, but of uint8, which has other
// kernels, in float.
double product_scale(const Quant& a, const Quant& b, const Quant& out);

// Returns x * m rounded to an integer.
int32_t multiply(int32_t x, Multiplier m, Rounding rounding);

// Returns the fused activation's limits of a tensor, in the source domain. TANH and SIGN_BIT are
// not applied by the reference.
Limits activation_limits(tflite::ActivationFunctionType activation, const Quant& quant);

// Returns the stages of multiply() for a Requant of kind INT, one value per multiplier. REQUIRES:
// no value is negative; exponents of at most 30.
std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages(
    const std::vector<Multiplier>& multipliers, Rounding rounding);

// Makes stages for accumulators of 64 bits, which the reference multiplies with 16 bits, rounding
// once. REQUIRES: no value is negative; exponents of at most 7.
std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages_64(
    const std::vector<Multiplier>& multipliers);

// Return the logistic function and tanh of a Q4.27 number, as Q0.31.
int32_t logistic_q4(int32_t a);
int32_t tanh_q4(int32_t a);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_ARITHMETIC_H_

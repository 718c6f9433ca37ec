// The arithmetic of TFLite's reference kernels that the converter evaluates: multipliers,
// activation limits, and the fixed-point functions its tables are made from.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_ARITHMETIC_H_
#define QRT_CONVERTER_IMPORT_TFLITE_ARITHMETIC_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "qrt_model_generated.h"
#include "tflite_generated.h"

namespace qrt::convert::from_tflite {

// How MultiplyByQuantizedMultiplier rounds: twice (the default), or once (builds with
// TFLITE_SINGLE_ROUNDING).
enum class Rounding { kDouble, kSingle };

// value * 2^(shift - 31), shift from -31 on.
struct Multiplier {
  int32_t value = 0;
  int shift = 0;
};

// A negative d gives a negative value; one that is not finite a shift beyond every finite one's.
Multiplier quantize_multiplier(double d, Rounding rounding);

// x * m rounded to an integer.
int32_t multiply(int32_t x, Multiplier m, Rounding rounding);

struct Limits {
  int lo, hi;
};

// The fused activation's limits for an output of this scale and zero point within the limits of its
// type (all of the source's domain). TANH and SIGN_BIT are not applied by the reference.
Limits activation_limits(tflite::ActivationFunctionType activation, float scale, int zero_point,
                         Limits type);

// The stages of multiply() for a Requant of kind INT, one value per multiplier. REQUIRES: no value
// is negative; shifts of at most 30.
std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages(
    const std::vector<Multiplier>& multipliers, Rounding rounding);

// The same for accumulators of 64 bits, which the reference multiplies with 16 bits, rounding once.
// REQUIRES: no value is negative; shifts of at most 7.
std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages_64(
    const std::vector<Multiplier>& multipliers);

// Logistic and tanh of a Q4.27 number as Q0.31.
int32_t logistic_q4(int32_t a);
int32_t tanh_q4(int32_t a);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_ARITHMETIC_H_

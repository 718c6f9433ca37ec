// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ESP-DL's runtime that the converter evaluates: roundings by target, power-of-two requantisation, and the
// functions its tables are made from. real = q * 2^exponent everywhere, without zero points.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_ARITHMETIC_H_
#define QRT_CONVERTER_IMPORT_ESPDL_ARITHMETIC_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "qrt_model_generated.h"

namespace qrt::convert::from_espdl {

// The chips round differently: esp32p4 half to even, esp32s3 and the C code (all others) half up.
enum class Target { kEsp32P4, kEsp32S3, kC };

// Parses a target's name. Returns false where there is no such target.
bool parse_target(const std::string& name, Target* target);
const char* reference_of(Target target);  // "espdl-p4"
// Parses a reference's name. Returns false where there is no such reference.
bool parse_reference(const std::string& name, Target* target);
inline fb::Rounding rounding_of(Target target) {
  return target == Target::kEsp32P4 ? fb::Rounding::HALF_EVEN : fb::Rounding::HALF_UP;
}

struct Limits {
  int32_t lo, hi;
};
constexpr Limits kInt8Limits = {-128, 127}, kInt16Limits = {-32768, 32767};

float power_of_two(int exponent);  // REQUIRES: the result is a normal float32

// Rounds a float to an integer within limits, as the target does: half to even, or floor(fl32(x +
// 0.5)). NaN gives the greatest, as on the chips.
int32_t round_to(Target target, float x, Limits limits);
// v / 2^shift rounded and limited.
int32_t shift_to(Target target, int64_t v, int shift, Limits limits);

// v / 2^shift as a stage of a Requant of kind INT, one shift or one per channel. A left shift goes no further than
// `most_left`, by which anything but 0 has left the output's type.
constexpr int kMostLeft32 = 30, kMostLeft64 = 15;  // for sums of 32 and of 64 bits
std::unique_ptr<fb::RequantStageT> shift_stage(const std::vector<int>& shifts,
                                               fb::Rounding rounding, int most_left);

// The operators that are a function of one number: g(t), every step rounded to float32. `alpha`, `beta`: of the operator.
using Function = std::function<float(float)>;
// Returns the function of an operator, or null where it has none of these.
Function function_of(const std::string& op, float alpha, float beta);

// Returns round(g(q * 2^in) * 2^-out) for every q of a type of 8 or 16 bits, the least first.
std::vector<int16_t> table_of(Target target, const Function& g, Limits in, int in_exponent,
                              Limits out, int out_exponent);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_ARITHMETIC_H_

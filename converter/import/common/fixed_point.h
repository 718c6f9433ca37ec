// SPDX-License-Identifier: Apache-2.0
// Requantisation in integers: multipliers, the stages and Requants of the file format made of them,
// and bounds that prove sums and products to fit. How a source derives a multiplier from scales is
// its own affair (tflite/arithmetic.h for TFLite).
#ifndef QRT_CONVERTER_IMPORT_COMMON_FIXED_POINT_H_
#define QRT_CONVERTER_IMPORT_COMMON_FIXED_POINT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "converter/import/common/quant.h"
#include "qrt_model_generated.h"

namespace qrt::convert {

// A multiplier: the factor value / 2^shift, as a stage of the file has it. A file can hold shifts
// of 0 to 62 and values from 0 on; intermediate results may have others.
struct Multiplier {
  int32_t value = 0;
  int shift = 31;

  // Makes a multiplier from gemmlowp's form: the fraction value / 2^31, times 2^exponent.
  static Multiplier q31(int32_t value, int exponent) { return {value, 31 - exponent}; }
  int exponent() const { return 31 - shift; }
};

constexpr int64_t kMostProduct = int64_t{1} << 62;  // products of a stage stay below it
constexpr int kMostShift = 62;

// Finds the multiplier of up to 31 bits closest to a positive factor, whose products with integers
// |v| <= bound stay below 2^62. Returns false where the factor is too great.
bool closest_multiplier(double factor, int64_t bound, Multiplier* m);

// Makes the stage v = ROUND(v * multiplier / 2^shift), with one multiplier for all channels or one for each.
std::unique_ptr<fb::RequantStageT> make_stage(const std::vector<Multiplier>& multipliers,
                                              fb::Rounding rounding);
// Makes a stage of the closest multipliers, half to even, with one factor or bound, or one for each
// channel. Null where a factor is beyond what a stage can hold.
std::unique_ptr<fb::RequantStageT> closest_stage(const std::vector<double>& factor,
                                                 const std::vector<int64_t>& bound);

// Makes the requantisation y = clamp(stages(v) + zero_point, limits), all in the stored domain.
std::unique_ptr<fb::RequantT> int_requant(int zero_point, Limits limits,
                                          std::vector<std::unique_ptr<fb::RequantStageT>> stages);
std::unique_ptr<fb::RequantT> int_requant(int zero_point, Limits limits,
                                          std::unique_ptr<fb::RequantStageT> stage);
// Makes the requantisation y = clamp(zero_point + HE(clamp(fl32(f(v) * scale)))), with one scale or
// one for each channel.
std::unique_ptr<fb::RequantT> f32_requant(int zero_point, Limits limits,
                                          const std::vector<float>& scale);

// Returns the greatest |x - zero_point| of an INT16 x.
int64_t int16_reach(int zero_point);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_FIXED_POINT_H_

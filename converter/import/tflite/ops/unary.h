// SPDX-License-Identifier: Apache-2.0
// Imports operators of one tensor: as a table, whose entries are computed as in the reference
// kernels, or for 16 and 32 bits as requantisations of the values on either side of the zero point.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_UNARY_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_UNARY_H_

#include <functional>
#include <initializer_list>
#include <vector>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {

int clamp_to(int64_t v, Limits limits);

// Returns the table of f over all 256 stored bytes. f maps an integer of `in` to one of `out`, both
// as in the source.
std::vector<uint8_t> tabulate(const Quant& in, const Quant& out, const std::function<int(int)>& f);
// Emits output 0 as a table of f, of 8 or 16 bits.
Status finish_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                    const std::function<int(int)>& f);
// Emits output 0 as the table of a float function: round(f(scale * (x - zero point)) / scale of
// `out`) + zero point.
Status finish_float_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                          const std::function<float(float)>& f);
// Returns the reference's table of f for 16-bit inputs and outputs: 513 samples, at every 128th
// input, each moved by half the error of linear interpolation at the midpoint to the next sample.
// All is computed in float32; the output's zero point is 0.
std::vector<int16_t> sampled_table(const std::function<float(float)>& f, float in_scale,
                                   int in_zero_point, float out_scale);
// Finishes an operator on int16 by linear interpolation between the samples of sampled_table().
Status finish_sampled_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                            const std::function<float(float)>& f);
// Import the uint8 forms (function.cc) of operators whose int8 and int16 forms are in activation.cc.
Status import_logistic_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out);
Status import_tanh_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out);

// Checks that the file's shapes of input 0 and output 0 are equal.
Status check_same_shape(const Importer& importer, const Op& op);
// Returns whether the input is uint8, for which the operator has no form; the operator was refused
// then.
bool refuse_uint8(Importer& importer, const Op& op, const Quant& in);
// Refuses an operator of int16 whose input or output has a zero point, as the reference does. Returns
// whether it did.
bool refuse_int16_zero_points(Importer& importer, const Op& op, const Quant& in, const Quant& out);
// Checks that x * 2^exponent stays within int32 for |x| < 2^bits, as the reference shifts there.
// Returns false where the operator was refused.
bool usable(Importer& importer, const Op& op, int bits,
            std::initializer_list<Multiplier> multipliers);
// Returns the number of bits of the greatest |x - zero point|.
int reach_bits(const Quant& q);

// The requantisation of values below the zero point, as in LEAKY_RELU and PRELU, after a product
// with a slope.
struct Below {
  Multiplier multiplier;
  bool negate = false;
  // The slopes: none (slope 1), one for all values, one for each index of the last dimension, or
  // one for each element of a row, which has all dimensions but the first.
  std::vector<int16_t> slopes;
};
// Emits output 0 as clamp(x * m), with `below`, unless null, for values below the input's zero
// point. For 16 or 32 bits.
Status finish_requantize(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                         Multiplier m, const Below* below, Limits limits);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_UNARY_H_

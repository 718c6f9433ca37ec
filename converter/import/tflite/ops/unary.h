// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor become a table, evaluated code by code as the reference kernels
// compute it, or of 16 and 32 bits stages on either side of the zero point.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_UNARY_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_UNARY_H_

#include <functional>
#include <initializer_list>
#include <vector>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {

int clamp_to(int64_t v, Limits limits);

// Returns f: a source integer of `in` -> a source integer of `out`; as a table of stored bytes.
std::vector<uint8_t> tabulate(const Quant& in, const Quant& out, const std::function<int(int)>& f);
// Makes a table of f, of 8 or 16 bits, output 0.
Status finish_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                    const std::function<int(int)>& f);
// Adds the table of a float function: round(f(scale * (x - zero point)) / scale of `out`) + zero point.
Status finish_float_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                          const std::function<float(float)>& f);
// Returns the reference's table of f for 16-bit inputs and outputs: 513 samples, at every 128th input, shifted
// by half the error of a line in the middle between two. All in float32; the output's zero point is 0.
std::vector<int16_t> sampled_table(const std::function<float(float)>& f, float in_scale,
                                   int in_zero_point, float out_scale);
// Finishes an operator on int16 by sampled_table() with lines between its samples.
Status finish_sampled_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                            const std::function<float(float)>& f);
// Import the uint8 forms (function.cc) of operators whose int8 and int16 forms are in activation.cc.
Status import_logistic_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out);
Status import_tanh_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out);

// Checks that the file's shapes of input 0 and output 0 are equal.
Status check_same_shape(const Importer& importer, const Op& op);
// Returns whether the input is uint8, which the operator has no form for: it was refused.
bool refuse_uint8(Importer& importer, const Op& op, const Quant& in);
// Refuses an operator of int16 whose input or output has a zero point, as the reference does. Returns
// whether it did.
bool refuse_int16_zero_points(Importer& importer, const Op& op, const Quant& in, const Quant& out);
// Checks that x * 2^exponent stays within int32 for |x| < 2^bits, as the reference shifts there.
// Returns false where the operator was refused.
bool usable(Importer& importer, const Op& op, int bits,
            std::initializer_list<Multiplier> multipliers);
// Bits that |x - zero point| takes at most.
int reach_bits(const Quant& q);

// The stages of values below the zero point, of their product with a slope; negated.
struct Below {
  Multiplier multiplier;
  bool negate = false;
  // The slopes: none (1), one for all, one for each index of the last dimension, or one for each
  // element of a row, all dimensions but the first.
  std::vector<int16_t> slopes;
};
// Makes y = clamp(x * m) output 0, below the input's zero point by `below`, if any. For 16 or 32 bits.
Status finish_requantize(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                         Multiplier m, const Below* below, Limits limits);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_UNARY_H_

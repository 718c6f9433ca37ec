// SPDX-License-Identifier: Apache-2.0
// Requantisation as the reference kernels do it. Limits are in the source domain here.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_REQUANT_H_
#define QRT_CONVERTER_IMPORT_TFLITE_REQUANT_H_

#include <memory>
#include <vector>

#include "converter/import/tflite/importer.h"

namespace qrt::convert::from_tflite {

// Makes the requantisation to `out`, with one multiplier or one for each channel. Null: a
// multiplier is beyond what the stages hold, refused.
std::unique_ptr<fb::RequantT> make_requant(Importer& importer, const Op& op,
                                           const std::vector<Multiplier>& multipliers,
                                           const Quant& out, Limits limits);
// Makes the requantisation of 64-bit accumulators, which the reference multiplies with 16 bits.
std::unique_ptr<fb::RequantT> make_requant_64(Importer& importer, const Op& op,
                                              const std::vector<Multiplier>& multipliers,
                                              const Quant& out, Limits limits);

// Limits values of int16. The result has output 0's name.
ValueId limit(Importer& importer, const Op& op, ValueId x, const Quant& quant, Limits limits);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_REQUANT_H_

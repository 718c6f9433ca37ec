// SPDX-License-Identifier: Apache-2.0
// The constants that layers (convolutions and matrix products) take beside their input: weights
// less their zero points, a bias, the requantisation of their sums.
#ifndef QRT_CONVERTER_IMPORT_COMMON_LAYER_CONSTANTS_H_
#define QRT_CONVERTER_IMPORT_COMMON_LAYER_CONSTANTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "converter/import/common/quant.h"
#include "converter/ir.h"

namespace qrt::convert {

struct LayerConstants {
  std::vector<int16_t> weights;  // [out, ..., in], less their zero points
  ValueId bias = kNoValue;       // constant of the graph
  std::unique_ptr<fb::RequantT> requant;
  DType type = DType::kUInt8;  // type of the layer's input: UINT8 or INT16
  int fraction = 0;            // INT16: the weights count in units of 2^-fraction

  // Set for a UINT8 layer whose result is its sums (kind ACC): a Requantize with this bias makes
  // the output of them.
  struct FineBias {
    ValueId bias = kNoValue;
    std::unique_ptr<fb::RequantT> requant;
  };
  std::optional<FineBias> fine_bias;
};

// Returns the greatest |sum| that `channels` outputs can have, |bias| included: inputs less their
// zero point are within -reach..reach. `channel_of`: the output to which weight i belongs.
template <class Bias, class ChannelOf>
std::vector<int64_t> sum_bounds(const std::vector<int16_t>& weights, const std::vector<Bias>& bias,
                                int64_t reach, const ChannelOf& channel_of) {
  std::vector<int64_t> bound(bias.size());
  for (size_t o = 0; o < bound.size(); ++o) {
    const int64_t b = bias[o];
    bound[o] = b < 0 ? -b : b;
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t w = weights[i];
    bound[channel_of(i)] += reach * (w < 0 ? -w : w);
  }
  return bound;
}

// Digits of 8 bits that the greatest of a layer's weights takes beside INT16 activations: 1 to 3.
int digits_of(const std::vector<int16_t>& weights);

// Sets an operand's zero point, in the field for its type.
inline void set_zero_point(const Quant& q, uint8_t* field, int16_t* field_16) {
  if (q.is_int16())
    *field_16 = static_cast<int16_t>(q.stored_zero_point());
  else
    *field = static_cast<uint8_t>(q.stored_zero_point());
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_LAYER_CONSTANTS_H_

// SPDX-License-Identifier: Apache-2.0
// The time-delay layer: a matrix product, a shift of the state by one step, and a sum over time.
#include <string.h>

#include "kernels/recurrent/recurrent.h"

namespace qrt {
namespace {

// Returns v + zero_point wrapped into [lo, hi], whose length is a power of two; less the zero point again.
int32_t wrap(int32_t v, const SvdfParams& p) {
  const int32_t length = p.state_hi - p.state_lo + 1, shifted = v + p.state_zero_point;
  if (shifted > p.state_hi) return v - length;
  return shifted < p.state_lo ? v + length : v;
}

}  // namespace

void svdf_units(const SvdfParams& p, const uint8_t* x, const int16_t* state, int16_t* next,
                uint8_t* y, size_t begin, size_t end) {
  for (size_t unit = begin; unit < end; ++unit) {
    uint32_t sum = static_cast<uint32_t>(p.bias[unit]);
    for (size_t f = unit * p.rank; f < (unit + 1) * p.rank; ++f) {
      const int8_t* features = p.features + f * p.in;
      uint32_t acc = 0;
      for (size_t i = 0; i < p.in; ++i)
        acc += static_cast<uint32_t>((x[i] - p.input_zero_point) * features[i]);
      const int64_t v = p.feature_stages.apply(static_cast<int32_t>(acc));
      const auto newest = static_cast<int32_t>(clamp_int(v, p.state_lo, p.state_hi));

      int16_t* row = next + f * p.memory;
      memcpy(row, state + f * p.memory + 1, (p.memory - 1) * sizeof(int16_t));
      row[p.memory - 1] = static_cast<int16_t>(wrap(newest, p));
      const int16_t* times = p.times + f * p.memory;
      for (size_t i = 0; i < p.memory; ++i) sum += static_cast<uint32_t>(row[i] * times[i]);
    }
    y[unit] = static_cast<uint8_t>(requantize(p.requant, static_cast<int32_t>(sum), 0));
  }
}

}  // namespace qrt

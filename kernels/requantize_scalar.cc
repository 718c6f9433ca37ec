// SPDX-License-Identifier: Apache-2.0
// Accumulators to outputs by the normative scalar definition.
#include "kernels/requantize_scalar.h"

#include <string.h>

namespace qrt {
namespace {

void store_floats(const Requant& requant, size_t channel, const int32_t* acc, size_t n,
                  uint8_t* out) {
  if constexpr (!kIntegerOnly) {
    for (size_t j = 0; j < n; ++j) {
      float y = static_cast<float>(acc[j]) * requant.scale[channel + j];
      if (requant.addend) y = y + requant.addend[channel + j];
      memcpy(out + j * sizeof y, &y, sizeof y);
    }
  }
}

}  // namespace

void requantize_scalar(const Requant& requant, size_t channel, const int32_t* acc,
                       size_t acc_stride, size_t m, size_t n, void* c, size_t c_stride) {
  uint8_t* out = static_cast<uint8_t*>(c);
  for (size_t i = 0; i < m; ++i, acc += acc_stride, out += c_stride) {
    if (requant.kind == RequantKind::kAcc) {
      memcpy(out, acc, n * sizeof(int32_t));
    } else if (requant.kind == RequantKind::kFloat) {
      store_floats(requant, channel, acc, n, out);
    } else {
      for (size_t j = 0; j < n; ++j)
        out[j] = static_cast<uint8_t>(requantize(requant, acc[j], channel + j));
    }
  }
}

}  // namespace qrt

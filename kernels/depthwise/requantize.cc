#include "kernels/depthwise/requantize.h"

namespace qrt {

void depthwise_requantize(const Requant& r, const int32_t* acc, size_t c, size_t n,
                          uint8_t* output) {
  for (size_t i = 0; i < n; ++i) output[i] = static_cast<uint8_t>(requantize(r, acc[i], c + i));
}

}  // namespace qrt

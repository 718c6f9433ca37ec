// The requantisations that no depthwise kernel does in vector registers, through the normative
// definition; built with baseline flags, so that kernel files need no inline function of requant.h.
#ifndef QRT_KERNELS_DEPTHWISE_REQUANTIZE_H_
#define QRT_KERNELS_DEPTHWISE_REQUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// output[i] = requantize(r, acc[i], c + i) for i < n.
void depthwise_requantize(const Requant& r, const int32_t* acc, size_t c, size_t n,
                          uint8_t* output);

}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_REQUANTIZE_H_

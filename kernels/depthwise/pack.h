// SPDX-License-Identifier: Apache-2.0
// Packs weights into the form of depthwise.h. Portable; called by the converter and by tests.
#ifndef QRT_KERNELS_DEPTHWISE_PACK_H_
#define QRT_KERNELS_DEPTHWISE_PACK_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

uint64_t depthwise_packed_bytes(size_t channels, size_t kernel_h, size_t kernel_w);

// Returns false if a packed byte that stands for no row of the kernel is not zero: kernels multiply
// it with some row of the image.
bool depthwise_tails_are_zero(const int8_t* packed, size_t channels, size_t kernel_h,
                              size_t kernel_w);

// Packs weights [kernel_h][kernel_w][channels], row-major.
void depthwise_pack(const int8_t* weights, size_t channels, size_t kernel_h, size_t kernel_w,
                    int8_t* packed);

// Unpacks the weights of `packed`, which depthwise_pack() made.
void depthwise_unpack(const int8_t* packed, size_t channels, size_t kernel_h, size_t kernel_w,
                      int16_t* weights);

}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_PACK_H_

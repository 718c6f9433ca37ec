// SPDX-License-Identifier: Apache-2.0
// Tells code outside kernels/, which is compiled alike for both builds, whether this library's
// kernels compute without floating point between a model's edges (CMake option QRT_INTEGER_ONLY).
#ifndef QRT_KERNELS_INTEGER_BUILD_H_
#define QRT_KERNELS_INTEGER_BUILD_H_

namespace qrt {

bool is_integer_build();

}  // namespace qrt

#endif  // QRT_KERNELS_INTEGER_BUILD_H_

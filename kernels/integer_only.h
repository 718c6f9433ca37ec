// SPDX-License-Identifier: Apache-2.0
// Tells kernels whether all between a model's edges is computed without floating-point instructions
// (CMake option QRT_INTEGER_ONLY; files outside kernels/ ask integer_build.h). The bytes are the same:
// vectors of floats are one way to them, the normative definitions of requant.h in integers the other.
#ifndef QRT_KERNELS_INTEGER_ONLY_H_
#define QRT_KERNELS_INTEGER_ONLY_H_

namespace qrt {

#if defined(QRT_INTEGER_ONLY)
constexpr bool kIntegerOnly = true;
#else
constexpr bool kIntegerOnly = false;
#endif

}  // namespace qrt

#endif  // QRT_KERNELS_INTEGER_ONLY_H_

// SPDX-License-Identifier: Apache-2.0
// The element types of tensors: one enum from the model file to the kernels. Which of them a kernel
// takes, its contract says.
#ifndef QRT_KERNELS_DTYPE_H_
#define QRT_KERNELS_DTYPE_H_

#include <cstdint>

namespace qrt {

// Values as in schema/qrt_model.fbs.
enum class DType : uint8_t {
  kUInt8 = 0,
  kInt8 = 1,
  kUInt16 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kFloat32 = 6,
  kFloat16 = 7,
  kBFloat16 = 8,
  kBool = 9,
  kUInt32 = 10,
  kInt4 = 11,
  kUInt4 = 12,
  kInt2 = 13,
  kUInt2 = 14,
  kFloat8E4M3FN = 15,
  kFloat8E4M3FNUZ = 16,
  kFloat8E5M2 = 17,
  kFloat8E5M2FNUZ = 18,
  kFloat8E8M0 = 19,
  kFloat4E2M1 = 20
};
constexpr int kDTypeCount = 21;

}  // namespace qrt

#endif  // QRT_KERNELS_DTYPE_H_

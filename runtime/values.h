// SPDX-License-Identifier: Apache-2.0
// Converts real numbers to a tensor's elements for qrt/image.h.
#ifndef QRT_RUNTIME_VALUES_H_
#define QRT_RUNTIME_VALUES_H_

#include <cstddef>
#include <limits>

#include "kernels/built.h"
#include "runtime/qrt_c.h"

namespace qrt {

// Fails where the library was built without the functions of qrt/image.h.
inline Status check_images() {
  if (built::kImages) return {};
  return error(Code::kUnsupported, "qrt/image.h is not built into this library (QRT_OPS: Images)");
}

// Returns the element of pair `pair` that is nearest to `value`, as qrt_quantize() says. Both bounds are
// integers below 2^18, so that rounding is exact: a float of that size plus 1.5 * 2^23 has no bits left
// behind the point. REQUIRES: rounding to the nearest even number (ScopedFloatEnv).
template <class T>
T quantized(float value, const qrt_quantization& q, size_t pair) {
  static_assert(sizeof(T) <= 2);
  constexpr float kRound = 12582912.0f;
  const int32_t zero_point = q.zero_point[pair];
  const auto least = static_cast<float>(std::numeric_limits<T>::min() - zero_point);
  const auto most = static_cast<float>(std::numeric_limits<T>::max() - zero_point);
  float x = value / q.scale[pair];
  if (!(x > least)) x = least;  // NaN, too
  if (x > most) x = most;
  const float sum = x + kRound;
  return static_cast<T>(static_cast<int32_t>(sum - kRound) + zero_point);
}

}  // namespace qrt

#endif  // QRT_RUNTIME_VALUES_H_

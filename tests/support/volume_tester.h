// SPDX-License-Identifier: Apache-2.0
// The part that testers of layers over images share for volumes, [n, planes, h, w, c], which are n * planes images.
#ifndef QRT_TESTS_SUPPORT_VOLUME_TESTER_H_
#define QRT_TESTS_SUPPORT_VOLUME_TESTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/tensor.h"

namespace qrt::testing {

template <class Tester>
struct VolumeTester {
  int64_t planes = 0;  // 0: of an image

  Tester& volume(int64_t count) {
    planes = count;
    return static_cast<Tester&>(*this);
  }
  Shape shape(int64_t height, int64_t width, int64_t channels) const {
    if (planes == 0) return {-1, height, width, channels};
    return {-1, planes, height, width, channels};
  }
  size_t images(size_t batch) const {
    return batch * static_cast<size_t>(std::max<int64_t>(planes, 1));
  }
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_VOLUME_TESTER_H_

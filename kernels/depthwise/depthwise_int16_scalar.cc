// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise/depthwise_int16_vectors.h"

namespace qrt {

QRT_VECTOR_ROW(scalar)

}  // namespace qrt

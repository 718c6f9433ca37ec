// SPDX-License-Identifier: Apache-2.0
#include "kernels/compare/compare_vectors.h"

namespace qrt {

QRT_VECTOR_ROW(scalar)

}  // namespace qrt

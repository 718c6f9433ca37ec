// SPDX-License-Identifier: Apache-2.0
#include "kernels/nbits/policy512.h"

namespace qrt {

QRT_NBITS_ROW(avx512vnni, Avx512Vnni, 8, 1)

}  // namespace qrt

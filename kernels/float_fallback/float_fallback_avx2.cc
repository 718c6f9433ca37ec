// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 8
#include "kernels/float_fallback/loops.h"

// Of 16 registers, 12 hold the sums.
QRT_FLOAT_LOOPS(avx2, 6, 2)

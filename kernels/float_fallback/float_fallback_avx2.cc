// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 8
#include "kernels/float_fallback/loops.h"

// The sums take 12 of 16 registers.
QRT_FLOAT_LOOPS(avx2, 6, 2)

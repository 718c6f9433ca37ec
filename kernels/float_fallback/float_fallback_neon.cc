// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 4
#include "kernels/float_fallback/loops.h"

// Of 32 registers, 16 hold the sums.
QRT_FLOAT_LOOPS(neon, 4, 4)

// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 4
#include "kernels/float_fallback/loops.h"

// The sums take 16 of 32 registers.
QRT_FLOAT_LOOPS(neon, 4, 4)

// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 4
#include "kernels/float_fallback/loops.h"

// The sums take 8 of 16 registers.
QRT_FLOAT_LOOPS(scalar, 4, 2)

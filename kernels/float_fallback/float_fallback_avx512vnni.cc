// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 16
#include "kernels/float_fallback/loops.h"

// Of 32 registers, 24 hold the sums.
QRT_FLOAT_LOOPS(avx512vnni, 6, 4)

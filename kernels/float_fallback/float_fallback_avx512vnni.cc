// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 16
#include "kernels/float_fallback/loops.h"

// The sums take 24 of 32 registers.
QRT_FLOAT_LOOPS(avx512vnni, 6, 4)

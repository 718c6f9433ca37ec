// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 4
#include "kernels/float_fallback/loops.h"

// Of 16 registers on x86, 8 hold the sums.
QRT_FLOAT_LOOPS(wasm128, 2, 4)

// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 4
#include "kernels/float_fallback/loops.h"

// The sums take 8 of the 16 registers of an engine on x86.
QRT_FLOAT_LOOPS(wasmrelaxed, 2, 4)

#include "kernels/depthwise/int16_loops.h"

QRT_DEPTHWISE_INT16_LOOPS(avx2)

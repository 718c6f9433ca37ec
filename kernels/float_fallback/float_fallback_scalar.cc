#include "kernels/float_fallback/loops.h"

QRT_FLOAT_LOOPS(scalar, 2, 1)

#include "kernels/float_fallback/loops.h"

// Of 16 registers, 6 hold the sums.
QRT_FLOAT_LOOPS(avx2, 3, 1)

#include "kernels/float_fallback/loops.h"

// Of 32 registers, 24 hold the sums.
QRT_FLOAT_LOOPS(avx512vnni, 6, 4)

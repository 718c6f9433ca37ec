#include "kernels/compare/min_max_loops.h"

QRT_MIN_MAX_LOOPS(avx2)

#include "kernels/formula/formula_loops.h"

QRT_FORMULA_LOOPS(avx2)

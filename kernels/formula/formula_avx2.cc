#include "kernels/formula/vectors_x86.h"
#include "kernels/isa/vec_avx2.h"

QRT_FORMULA_LOOPS(avx2, qrt::FormulaVectorsX86<qrt::avx2::Vec>)

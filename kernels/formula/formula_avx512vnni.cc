#include "kernels/formula/vectors_x86.h"
#include "kernels/isa/vec_avx512vnni.h"

QRT_FORMULA_LOOPS(avx512vnni, qrt::FormulaVectorsX86<qrt::avx512vnni::Vec>)

#include "kernels/isa/vec_avx2.h"
#include "kernels/lut/lines_x86.h"

QRT_LINES_LOOPS(avx2, qrt::LinesX86<qrt::avx2::Vec>)

#include "kernels/isa/vec_avx512vnni.h"
#include "kernels/lut/lines_x86.h"

QRT_LINES_LOOPS(avx512vnni, qrt::LinesX86<qrt::avx512vnni::Vec>)

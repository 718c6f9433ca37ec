#include "kernels/elementwise/blocks_x86.h"
#include "kernels/elementwise/chunks_int16.h"
#include "kernels/isa/requantize_avx2.h"
#include "kernels/isa/vec_avx2.h"

namespace qrt {

QRT_ELEMENTWISE_X86(avx2, avx2::Vec, avx2::Lanes)
QRT_ELEMENTWISE_INTEGERS(avx2, avx2::Lanes)

}  // namespace qrt

#include "kernels/elementwise/blocks_x86.h"
#include "kernels/elementwise/chunks_int16.h"
#include "kernels/isa/requantize_avx512vnni.h"
#include "kernels/isa/vec_avx512vnni.h"

namespace qrt {

QRT_ELEMENTWISE_X86(avx512vnni, avx512vnni::Vec, avx512vnni::Lanes)
QRT_ELEMENTWISE_INTEGERS(avx512vnni, avx512vnni::Lanes)

}  // namespace qrt

#include "kernels/isa/requantize_avx512vnni.h"
#include "kernels/isa/vec_avx512vnni.h"
#include "kernels/pool/vectors_x86.h"

namespace qrt {

QRT_POOL_X86(avx512vnni, avx512vnni::Vec, avx512vnni::Lanes)

}  // namespace qrt

#include "kernels/isa/requantize_avx2.h"
#include "kernels/isa/vec_avx2.h"
#include "kernels/pool/vectors_x86.h"

namespace qrt {

QRT_POOL_X86(avx2, avx2::Vec, avx2::Lanes, NoVectors)

}  // namespace qrt

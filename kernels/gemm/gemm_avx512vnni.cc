// gemm on AVX-512 VNNI: VPDPBUSD on 512 bits, 8 x 32 tiles. Measured on Sapphire Rapids with g++
// 12: 12 x 32 and 10 x 32 have more row pointers than there are registers and lose 5 to 15 % to
// moves.
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy512.h"

namespace qrt {

void gemm_u8s8_8x32_k4_avx512vnni(const GemmArgs& args) {
  gemm<Avx512Vnni, 8, 2, Avx512VnniHalf>(args);
}

}  // namespace qrt

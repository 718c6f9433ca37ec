// SPDX-License-Identifier: Apache-2.0
// gemm on AVX-512 VNNI: VPDPBUSD on 512 bits, 8 x 32 tiles. Measured on Sapphire Rapids with g++
// 12: 12 x 32 and 10 x 32 have more row pointers than there are registers and lose 5 to 15 % to
// moves.
#include "kernels/gemm/gemm_loops.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/short_products512.h"

namespace qrt {
namespace {

// Tiles with fewer than kLeastRows rows are rare, and no slower with whole vectors.
struct Narrow {
  static constexpr int kLeastRows = 7;
  using Half = Avx512VnniHalf;
  using BlockAndHalf = Avx512VnniBlockAndHalf;
};

}  // namespace

void gemm_u8s8_8x32_k4_avx512vnni(const GemmArgs& args) {
  const size_t done = run_short_products(args);
  if (done == args.n) return;
  GemmArgs rest = args;
  if (done > 0) {
    rest.n -= done;
    rest.weights += done * args.kc;
    rest.bias += done;
    rest.requant.scale += done;
    rest.c = static_cast<uint8_t*>(args.c) + done;
  }
  gemm<Avx512Vnni, 8, 2, Narrow>(rest);
}

}  // namespace qrt

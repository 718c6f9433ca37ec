// SPDX-License-Identifier: Apache-2.0
// Depthwise for AVX-VNNI: VPDPBUSD on 32 channels.
#include "kernels/depthwise/depthwise_ymm.h"
#include "kernels/isa/avxvnni.h"

namespace qrt {
namespace {

struct AvxVnni : YmmBytes {
  QRT_INLINE const __m256i* load_weights(const uint8_t* p) {
    return reinterpret_cast<const __m256i*>(p);
  }
  // Adds dot products by inline assembly, which keeps g++ 12 from moving the accumulators to memory.
  QRT_INLINE void dot(__m256i& acc, __m256i data, const __m256i* weights) {
    asm(QRT_AVXVNNI "vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(data), "m"(*weights));
  }
  QRT_INLINE void dot(__m256i& acc, __m256i data, const uint8_t* weights) {
    dot(acc, data, load_weights(weights));
  }
  QRT_INLINE void dot(__m256i& acc, __m256i data, __m256i weights) {
    asm(QRT_AVXVNNI "vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(data), "x"(weights));
  }
};

}  // namespace

void depthwise_u8s8_avxvnni(const DepthwiseArgs& args) {
  const avx2::RoundDown down(args.requant);
  run<AvxVnni>(args);
}

}  // namespace qrt

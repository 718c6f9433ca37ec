// Depthwise for AVX-VNNI: VPDPBUSD on 32 channels.
#include "kernels/depthwise/depthwise_ymm.h"

namespace qrt {
namespace {

struct AvxVnni : YmmBytes {
  static constexpr int kOutputs = 1;

  // Inline assembly keeps g++ 12 from moving the accumulators to memory.
  template <int kPixels>
  static QRT_INLINE void dot(Acc (*acc)[4], int q, const Data* data, const uint8_t* weights) {
    const __m256i& w = *reinterpret_cast<const __m256i*>(weights);
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc[0][q]) : "x"(data[0]), "m"(w));
  }
};

}  // namespace

void depthwise_u8s8_avxvnni(const DepthwiseArgs& args) { run<AvxVnni>(args); }

}  // namespace qrt

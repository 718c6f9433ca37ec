// SPDX-License-Identifier: Apache-2.0
// Peak loops of x86-64. In assembly, so that each is the same with every compiler and needs none of
// its instruction set flags; run only where the CPU has the set.
#include "bench/peak_loops.h"

namespace qrt::bench {
namespace {

// 12 accumulators hide a latency of 5 cycles on two ports, 24 also what a scheduler does less than best
// (2 % on Zen 5); the operands hold ones in every bit (power depends on the data: zeros would flatter).
#define QRT_TWELVE(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)
#define QRT_TWENTY_FOUR(step)                                                               \
  QRT_TWELVE(step)                                                                          \
  step(12) step(13) step(14) step(15) step(16) step(17) step(18) step(19) step(20) step(21) \
      step(22) step(23)
// Code of this file never uses the registers from 16 on: it is compiled without instruction sets that have them.
#define QRT_CLOBBERS                                                                       \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc"
#define QRT_LOOP(name, ones, repeated, step)                                               \
  void name(uint64_t steps) {                                                              \
    __asm__ volatile(ones "\n.p2align 5\n1:\n" repeated(step) "dec %0\njnz 1b\n"         \
                     "vzeroupper\n"                                                      \
                     : "+r"(steps)                                                       \
                     :                                                                   \
                     : QRT_CLOBBERS); \
  }

#define QRT_ONES_YMM "vpcmpeqd %%ymm14, %%ymm14, %%ymm14\nvpcmpeqd %%ymm15, %%ymm15, %%ymm15"
#define QRT_ONES_ZMM                             \
  "vpternlogd $255, %%zmm30, %%zmm30, %%zmm30\n" \
  "vpternlogd $255, %%zmm31, %%zmm31, %%zmm31"

#define QRT_VNNI_512(i) "vpdpbusd %%zmm31, %%zmm30, %%zmm" #i "\n"
QRT_LOOP(vpdpbusd_512, QRT_ONES_ZMM, QRT_TWENTY_FOUR, QRT_VNNI_512)

#define QRT_VNNI_256(i) "%{vex%} vpdpbusd %%ymm15, %%ymm14, %%ymm" #i "\n"
QRT_LOOP(vpdpbusd_256, QRT_ONES_YMM, QRT_TWELVE, QRT_VNNI_256)

// 16 products of int16 and their sum.
#define QRT_MADD_16(i)                   \
  "vpmaddwd %%ymm15, %%ymm14, %%ymm12\n" \
  "vpaddd %%ymm12, %%ymm" #i ", %%ymm" #i "\n"
QRT_LOOP(vpmaddwd, QRT_ONES_YMM, QRT_TWELVE, QRT_MADD_16)

// 32 products of uint8 by int8, in pairs, widened and summed.
#define QRT_MADD_8(i)                      \
  "vpmaddubsw %%ymm15, %%ymm14, %%ymm12\n" \
  "vpmaddwd %%ymm15, %%ymm12, %%ymm12\n"   \
  "vpaddd %%ymm12, %%ymm" #i ", %%ymm" #i "\n"
QRT_LOOP(vpmaddubsw, QRT_ONES_YMM, QRT_TWELVE, QRT_MADD_8)

// Multiplies tiles. A step is the inner loop of a product of tiles: 2 x 2 of them, their four
// operands loaded from the first-level cache. The tiles are configured and released here, so that
// the thread's register state stays small.
void tdpbusd_loads(uint64_t steps) {
  alignas(64) uint8_t operands[4096];
  __builtin_memset(operands, 0xff, sizeof operands);
  alignas(64) uint8_t config[64] = {1};
  for (int tile = 0; tile < 8; ++tile) config[16 + 2 * tile] = 64, config[48 + tile] = 16;
  __asm__ volatile(
      "ldtilecfg %1\n.p2align 5\n1:\n"
      "tileloadd (%2,%3,1), %%tmm4\ntileloadd 1024(%2,%3,1), %%tmm6\ntdpbusd %%tmm6, %%tmm4, "
      "%%tmm0\n"
      "tileloadd 2048(%2,%3,1), %%tmm5\ntdpbusd %%tmm6, %%tmm5, %%tmm2\n"
      "tileloadd 3072(%2,%3,1), %%tmm7\ntdpbusd %%tmm7, %%tmm4, %%tmm1\ntdpbusd %%tmm7, %%tmm5, "
      "%%tmm3\n"
      "dec %0\njnz 1b\ntilerelease\n"
      : "+r"(steps)
      : "m"(config), "r"(&operands[0]), "r"(uint64_t{64})
      : "memory", "cc");
}

constexpr VectorLoop kLoops[] = {
    {"tdpbusd_2x2", false, 4 * 16 * 16 * 64, tdpbusd_loads},
    {"vpdpbusd_512", false, 24 * 64, vpdpbusd_512},
    {"vpdpbusd_256", false, 12 * 32, vpdpbusd_256},
    {"vpmaddubsw_256", true, 12 * 32, vpmaddubsw},
    {"vpmaddwd_256", false, 12 * 16, vpmaddwd},
};

// 512 bytes per pass, in vectors of `width` bytes.
#define QRT_READ(name, load)                                                     \
  void name(const uint8_t* from, size_t bytes) {                                 \
    const uint8_t* end = from + bytes;                                           \
    __asm__ volatile(".p2align 5\n1:\n" load "add $512, %0\ncmp %1, %0\njb 1b\n" \
                     : "+r"(from)                                                \
                     : "r"(end)                                                  \
                     : "memory", QRT_CLOBBERS);                                  \
  }
#define QRT_COPY(name, load, store)                                    \
  void name(uint8_t* to, const uint8_t* from, size_t bytes) {          \
    const uint8_t* end = from + bytes;                                 \
    __asm__ volatile(".p2align 5\n1:\n" load store                     \
                     "add $512, %0\nadd $512, %1\ncmp %2, %0\njb 1b\n" \
                     : "+r"(from), "+r"(to)                            \
                     : "r"(end)                                        \
                     : "memory", QRT_CLOBBERS);                        \
  }

#define QRT_LOAD_64                                                                   \
  "vmovdqu64 0(%0), %%zmm0\nvmovdqu64 64(%0), %%zmm1\nvmovdqu64 128(%0), %%zmm2\n"    \
  "vmovdqu64 192(%0), %%zmm3\nvmovdqu64 256(%0), %%zmm4\nvmovdqu64 320(%0), %%zmm5\n" \
  "vmovdqu64 384(%0), %%zmm6\nvmovdqu64 448(%0), %%zmm7\n"
#define QRT_STORE_64                                                                  \
  "vmovdqu64 %%zmm0, 0(%1)\nvmovdqu64 %%zmm1, 64(%1)\nvmovdqu64 %%zmm2, 128(%1)\n"    \
  "vmovdqu64 %%zmm3, 192(%1)\nvmovdqu64 %%zmm4, 256(%1)\nvmovdqu64 %%zmm5, 320(%1)\n" \
  "vmovdqu64 %%zmm6, 384(%1)\nvmovdqu64 %%zmm7, 448(%1)\n"
QRT_READ(read_zmm, QRT_LOAD_64)
QRT_COPY(copy_zmm, QRT_LOAD_64, QRT_STORE_64)

#define QRT_HALF(v, at, a, b, c, d, e, f, g, h)                                                   \
  v " " #a "+" #at "(%0), %%ymm0\n" v " " #b "+" #at "(%0), %%ymm1\n" v " " #c "+" #at            \
    "(%0), %%ymm2\n" v " " #d "+" #at "(%0), %%ymm3\n" v " " #e "+" #at "(%0), %%ymm4\n" v " " #f \
    "+" #at "(%0), %%ymm5\n" v " " #g "+" #at "(%0), %%ymm6\n" v " " #h "+" #at "(%0), %%ymm7\n"
#define QRT_HALF_OUT(v, at, a, b, c, d, e, f, g, h)                                               \
  v " %%ymm0, " #a "+" #at "(%1)\n" v " %%ymm1, " #b "+" #at "(%1)\n" v " %%ymm2, " #c "+" #at    \
    "(%1)\n" v " %%ymm3, " #d "+" #at "(%1)\n" v " %%ymm4, " #e "+" #at "(%1)\n" v " %%ymm5, " #f \
    "+" #at "(%1)\n" v " %%ymm6, " #g "+" #at "(%1)\n" v " %%ymm7, " #h "+" #at "(%1)\n"
#define QRT_LOAD_32(at) QRT_HALF("vmovdqu", at, 0, 32, 64, 96, 128, 160, 192, 224)
#define QRT_STORE_32(at) QRT_HALF_OUT("vmovdqu", at, 0, 32, 64, 96, 128, 160, 192, 224)
QRT_READ(read_ymm, QRT_LOAD_32(0) QRT_LOAD_32(256))
#define QRT_MOVE_32 QRT_LOAD_32(0) QRT_STORE_32(0) QRT_LOAD_32(256)
QRT_COPY(copy_ymm, QRT_MOVE_32, QRT_STORE_32(256))

}  // namespace

const VectorLoop* vector_loops(size_t* count) {
  *count = sizeof kLoops / sizeof kLoops[0];
  return kLoops;
}

void read_bytes(const uint8_t* from, size_t bytes) {
  if (has(detected_isas(), Isa::kAvx512Vnni)) {
    read_zmm(from, bytes);
  } else if (has(detected_isas(), Isa::kAvx2)) {
    read_ymm(from, bytes);
  } else {
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t v;
      __builtin_memcpy(&v, from + i, 8);
      __asm__ volatile("" : : "r"(v));
    }
  }
}

void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  if (has(detected_isas(), Isa::kAvx512Vnni)) {
    copy_zmm(to, from, bytes);
  } else if (has(detected_isas(), Isa::kAvx2)) {
    copy_ymm(to, from, bytes);
  } else {
    __builtin_memcpy(to, from, bytes);
  }
}

}  // namespace qrt::bench

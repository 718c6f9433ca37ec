// SPDX-License-Identifier: Apache-2.0
// Peak loops of AArch64. In assembly, the newer instructions as words, so that each is the same
// with every compiler and needs none of its architecture flags; run only where the CPU has the set.
#include "bench/peak_loops.h"

namespace qrt::bench {
namespace {

// 16 accumulators hide a latency of 4 cycles on four pipes. Operands hold ones in every bit: power
// depends on the data.
#define QRT_SIXTEEN(step)                                                                    \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(16) step(17) step(18) \
      step(19) step(20) step(21) step(22) step(23)
#define QRT_CLOBBERS                                                                               \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", \
      "v23", "v24", "v25", "v30", "v31", "cc"
#define QRT_LOOP(name, step)                                                                 \
  void name(uint64_t steps) {                                                                \
    __asm__ volatile("movi v30.16b, #255\nmovi v31.16b, #255\n.p2align 5\n1:\n" QRT_SIXTEEN( \
                         step) "subs %0, %0, #1\nb.ne 1b\n"                                  \
                     : "+r"(steps)                                                           \
                     :                                                                       \
                     : QRT_CLOBBERS);                                                        \
  }

// SMMLA v<i>.4s, v30.16b, v31.16b
#define QRT_SMMLA(i) ".inst 0x4e9fa7c0 + " #i "\n"
QRT_LOOP(smmla, QRT_SMMLA)
// SDOT v<i>.4s, v30.16b, v31.16b
#define QRT_SDOT(i) ".inst 0x4e9f97c0 + " #i "\n"
QRT_LOOP(sdot, QRT_SDOT)
#define QRT_SMLAL(i) "smlal v" #i ".4s, v30.4h, v31.4h\n"
QRT_LOOP(smlal, QRT_SMLAL)

constexpr VectorLoop kLoops[] = {
    {"smmla", false, 16 * 32, smmla},
    {"sdot", false, 16 * 16, sdot},
    {"smlal_16", false, 16 * 4, smlal},
};

#define QRT_LOAD(at)                                   \
  "ldp q0, q1, [%0, #" #at "]\nldp q2, q3, [%0, #" #at \
  "+32]\n"                                             \
  "ldp q4, q5, [%0, #" #at "+64]\nldp q6, q7, [%0, #" #at "+96]\n"
#define QRT_STORE(at)                                  \
  "stp q0, q1, [%1, #" #at "]\nstp q2, q3, [%1, #" #at \
  "+32]\n"                                             \
  "stp q4, q5, [%1, #" #at "+64]\nstp q6, q7, [%1, #" #at "+96]\n"

}  // namespace

const VectorLoop* vector_loops(size_t* count) {
  *count = sizeof kLoops / sizeof kLoops[0];
  return kLoops;
}

void read_bytes(const uint8_t* from, size_t bytes) {
  const uint8_t* end = from + bytes;
  __asm__ volatile(".p2align 5\n1:\n" QRT_LOAD(0) QRT_LOAD(128) QRT_LOAD(256)
                       QRT_LOAD(384) "add %0, %0, #512\ncmp %0, %1\nb.lo 1b\n"
                   : "+r"(from)
                   : "r"(end)
                   : "memory", QRT_CLOBBERS);
}

void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  const uint8_t* end = from + bytes;
  __asm__ volatile(".p2align 5\n1:\n" QRT_LOAD(0) QRT_STORE(0) QRT_LOAD(128) QRT_STORE(128)
                       QRT_LOAD(256) QRT_STORE(256) QRT_LOAD(384) QRT_STORE(
                           384) "add %0, %0, #512\nadd %1, %1, #512\ncmp %0, %2\nb.lo 1b\n"
                   : "+r"(from), "+r"(to)
                   : "r"(end)
                   : "memory", QRT_CLOBBERS);
}

}  // namespace qrt::bench

// Instruction sets: what this CPU has, what a caller allows. Which kernel runs is decided in each
// family's select.cc.
#ifndef QRT_KERNELS_ISA_H_
#define QRT_KERNELS_ISA_H_

#include <cstdint>

namespace qrt {

// One bit each. Within an architecture a greater value is the better set and implies the smaller
// ones.
enum class Isa : uint32_t {
  kScalar = 1u << 0,
  kAvx2 = 1u << 1,        // AVX2 and FMA
  kAvxVnni = 1u << 2,     // AVX-VNNI (256 bits, VEX)
  kAvx512Vnni = 1u << 3,  // AVX512 F, BW, DQ, VL, VNNI
  kAvx512Vbmi = 1u << 4,  // and VBMI
  kAmx = 1u << 5,         // and tiles of bytes: AMX-TILE, AMX-INT8
  kNeon = 1u << 8,
  kNeonDot = 1u << 9,  // SDOT, UDOT
  kI8mm = 1u << 10,    // SMMLA, USDOT
};

using IsaSet = uint32_t;  // bits of Isa; always holds kScalar

// Sets of one architecture each.
constexpr IsaSet kX86Isas = 0x00fe, kArmIsas = 0xff00;

constexpr bool has(IsaSet set, Isa isa) { return (set & static_cast<uint32_t>(isa)) != 0; }

// Sets of this CPU that were also compiled in. Detected once; thread-safe; never fails (no cpuinfo:
// compiler baseline and CPUID).
IsaSet detected_isas();

// Whether a core reads what lies beyond its own caches at more than half their speed, as far as the
// third level holds it: AMD's do (76 bytes/ns measured on Zen 4). Choices of speed alone.
bool has_fast_shared_cache();

// The members of `set` that are not better than `cap`.
constexpr IsaSet capped(IsaSet set, Isa cap) { return set & (2 * static_cast<uint32_t>(cap) - 1); }

// "avx512vnni" and the like, as in QRT_ISA.
const char* isa_name(Isa isa);

// False for an unknown name.
bool parse_isa(const char* name, Isa* isa);

// The i-th set qrt knows, in ascending order, or false past the last.
bool isa_at(int i, Isa* isa);

}  // namespace qrt

#endif  // QRT_KERNELS_ISA_H_

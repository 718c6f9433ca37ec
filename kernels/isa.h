// SPDX-License-Identifier: Apache-2.0
// Instruction sets: what this CPU has, what a caller allows. isa.inc is the table of them. Which kernel
// runs is decided in each family's select.cc.
#ifndef QRT_KERNELS_ISA_H_
#define QRT_KERNELS_ISA_H_

#include <cstdint>

namespace qrt {

// The rows' places in isa.inc.
enum class IsaIndex : uint32_t {
#define QRT_ISA(architecture, Name, ...) k##Name,
#include "kernels/isa.inc"
};

// One bit each, by place. Within an architecture a greater value is the better set.
enum class Isa : uint32_t {
#define QRT_ISA(architecture, Name, ...) k##Name = 1u << static_cast<uint32_t>(IsaIndex::k##Name),
#include "kernels/isa.inc"
};

using IsaSet = uint32_t;  // bits of Isa; always holds kScalar

constexpr bool has(IsaSet set, Isa isa) { return (set & static_cast<uint32_t>(isa)) != 0; }

// Sets of this CPU that were also compiled in, as cpuinfo tells or, without it, runtime/platform/cpu.h.
// Detected once; thread-safe; never fails.
IsaSet detected_isas();

// Returns whether a core reads memory beyond its own caches at more than half their speed, as far as
// the third level holds it: AMD's do (76 bytes/ns measured on Zen 4). For choices of speed alone.
bool has_fast_shared_cache();

// Returns whether the set belongs to another architecture than the one that qrt was compiled for.
bool is_foreign(Isa isa);

// Returns the members of `set` that are not better than `cap`.
constexpr IsaSet capped(IsaSet set, Isa cap) { return set & (2 * static_cast<uint32_t>(cap) - 1); }

// Returns a set's name as QRT_ISA takes it: "avx512vnni".
const char* isa_name(Isa isa);

// Finds an instruction set by its name. False for an unknown one.
bool parse_isa(const char* name, Isa* isa);

// Finds the i-th instruction set that qrt knows, in ascending order. Returns false past the last.
bool isa_at(int i, Isa* isa);

}  // namespace qrt

#endif  // QRT_KERNELS_ISA_H_

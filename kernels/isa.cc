#include "kernels/isa.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <cpuinfo.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__)
#include <cpuinfo.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

#ifdef QRT_EMULATED_ISAS
#include "tests/emulation/tiles.h"
#endif
#ifdef QRT_HAVE_WASMRELAXED
#include "kernels/isa/relaxed_dot.h"
#endif

namespace qrt {
namespace {

struct Row {
  Isa isa;
  const char *name, *architecture;
};

constexpr Row kRows[] = {
#define QRT_ISA(architecture, Name, suffix, ...) {Isa::k##Name, #suffix, #architecture},
#include "kernels/isa.inc"
};
constexpr int kRowCount = sizeof kRows / sizeof kRows[0];

constexpr Isa kCompiled[] = {QRT_COMPILED_ISAS};

IsaSet compiled_isas() {
  IsaSet set = 0;
  for (const Isa isa : kCompiled) set |= static_cast<IsaSet>(isa);
  return set;
}

#if defined(__x86_64__)

// The registers that CPUID returns; zeros where the CPU has no such leaf.
struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  explicit Cpuid(unsigned leaf, unsigned subleaf = 0) {
    __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx);
  }
};

bool has_bits(unsigned word, unsigned bits) { return (word & bits) == bits; }

// Returns whether the system saves these parts of a thread's registers (bits of XCR0).
bool saves(unsigned parts) {
  if (!has_bits(Cpuid(1).ecx, 1u << 27)) return false;  // OSXSAVE
  unsigned xcr0 = 0, high = 0;
  __asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  return has_bits(xcr0, parts);
}

// Linux gives a process the tiles' 8 KB of register state only when it asks, once for all its threads;
// it refuses where a thread's signal stack could not hold them.
bool may_use_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023,
                kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// AMX-TILE and AMX-INT8 (leaf 7, EDX bits 24 and 25), switched on by the system (XCR0 bits 17 and 18),
// and permitted to this process.
bool has_amx() { return has_bits(Cpuid(7).edx, 3u << 24) && saves(3u << 17) && may_use_tiles(); }

// The 2022 cpuinfo of Debian 12 has no query for it: leaf 7, subleaf 1, EAX bit 4.
bool has_avx_vnni() { return has_bits(Cpuid(7, 1).eax, 1u << 4); }

struct X86Features {
  bool avx2, avx_vnni, avx512_vnni, avx512_vbmi;
};

X86Features x86_features() {
  if (cpuinfo_initialize()) {
    const bool avx2 = cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c();
    const bool vnni512 = avx2 && cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() &&
                         cpuinfo_has_x86_avx512dq() && cpuinfo_has_x86_avx512vl() &&
                         cpuinfo_has_x86_avx512vnni();
    return {avx2, avx2 && has_avx_vnni(), vnni512, vnni512 && cpuinfo_has_x86_avx512vbmi()};
  }
  // cpuinfo fails where /proc or /sys is missing. The compiler's __builtin_cpu_supports() would know as
  // much, but adds 4.5 KB to a library.
  constexpr unsigned kFma = 1u << 12, kAvx = 1u << 28, kF16c = 1u << 29;   // leaf 1, ECX
  constexpr unsigned kAvx2 = 1u << 5;                                      // leaf 7, EBX
  constexpr unsigned kAvx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW and VL
  constexpr unsigned kVbmi = 1u << 1, kVnni = 1u << 11;                    // leaf 7, ECX
  constexpr unsigned kYmm = 3u << 1, kZmm = 7u << 5;                       // XCR0
  const Cpuid leaf7(7);
  const bool avx2 =
      has_bits(Cpuid(1).ecx, kFma | kAvx | kF16c) && has_bits(leaf7.ebx, kAvx2) && saves(kYmm);
  const bool vnni512 =
      avx2 && has_bits(leaf7.ebx, kAvx512) && has_bits(leaf7.ecx, kVnni) && saves(kZmm);
  return {avx2, avx2 && has_avx_vnni(), vnni512, vnni512 && has_bits(leaf7.ecx, kVbmi)};
}

IsaSet hardware_isas() {
  const X86Features f = x86_features();
  IsaSet set = static_cast<IsaSet>(Isa::kScalar);
  if (f.avx2) set |= static_cast<IsaSet>(Isa::kAvx2);
  if (f.avx_vnni) set |= static_cast<IsaSet>(Isa::kAvxVnni);
  if (f.avx512_vnni) set |= static_cast<IsaSet>(Isa::kAvx512Vnni);
  if (f.avx512_vbmi) set |= static_cast<IsaSet>(Isa::kAvx512Vbmi);
  if (f.avx512_vbmi && has_amx()) set |= static_cast<IsaSet>(Isa::kAmx);
#ifdef QRT_EMULATED_ISAS
  if (f.avx512_vbmi) {
    set |= static_cast<IsaSet>(Isa::kAmx);
    testing::emulate_tiles();
#ifdef QRT_EMULATED_AVXVNNI
    set |= static_cast<IsaSet>(Isa::kAvxVnni);
#endif
  }
#endif
  return set;
}

#elif defined(__aarch64__)

IsaSet hardware_isas() {
  bool dot = false, i8mm = false;
#if defined(__linux__)
  // Bits of AT_HWCAP and AT_HWCAP2; the kernel's word needs no /sys, which cpuinfo does.
  dot = (getauxval(AT_HWCAP) >> 20 & 1) != 0;
  i8mm = (getauxval(AT_HWCAP2) >> 13 & 1) != 0;
#endif
  if (cpuinfo_initialize()) dot = dot || cpuinfo_has_arm_neon_dot();
  IsaSet set = static_cast<IsaSet>(Isa::kScalar) | static_cast<IsaSet>(Isa::kNeon);
  if (dot) set |= static_cast<IsaSet>(Isa::kNeonDot);
  if (dot && i8mm) set |= static_cast<IsaSet>(Isa::kI8mm);
  return set;
}

#elif defined(QRT_HAVE_WASMRELAXED)

// An engine that takes the module has relaxed SIMD, but its dot product may be none of the exact ones.
IsaSet hardware_isas() {
  const IsaSet set = compiled_isas();
  return is_relaxed_dot_exact() ? set : set & ~static_cast<IsaSet>(Isa::kWasmRelaxed);
}

#else

// There is nothing to ask: what was compiled is for every CPU of the architecture.
IsaSet hardware_isas() { return compiled_isas(); }

#endif

}  // namespace

IsaSet detected_isas() {
  static const IsaSet set = hardware_isas() & compiled_isas();
  return set;
}

bool has_fast_shared_cache() {
#if defined(__x86_64__)
  const Cpuid leaf0(0);  // "AuthenticAMD" in EBX, EDX and ECX
  return leaf0.ebx == 0x68747541 && leaf0.edx == 0x69746e65 && leaf0.ecx == 0x444d4163;
#else
  return false;
#endif
}

const char* isa_name(Isa isa) {
  for (const Row& row : kRows)
    if (row.isa == isa) return row.name;
  return "unknown";
}

bool parse_isa(const char* name, Isa* isa) {
  for (const Row& row : kRows) {
    if (strcmp(row.name, name) == 0) {
      *isa = row.isa;
      return true;
    }
  }
  return false;
}

bool isa_at(int i, Isa* isa) {
  if (i < 0 || i >= kRowCount) return false;
  *isa = kRows[i].isa;
  return true;
}

bool is_foreign(Isa isa) {
  for (const Row& row : kRows)
    if (row.isa == isa)
      return strcmp(row.architecture, QRT_ARCHITECTURE) != 0 &&
             strcmp(row.architecture, "any") != 0;
  return true;
}

}  // namespace qrt

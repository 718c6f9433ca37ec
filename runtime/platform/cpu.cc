// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace qrt::platform {

#if defined(__x86_64__)

namespace {

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

// Asks the system for AMX tiles, and returns whether the process may use them. Linux gives the 8 KB
// of register state only on request, once for all threads, and refuses where the stack for signals
// of some thread could not hold them.
bool may_use_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023,
                kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

// Reads the CPU's features by CPUID: the compiler's __builtin_cpu_supports() would know as much,
// but adds 4.5 KB to a library.
CpuFeatures cpu_features() {
  constexpr unsigned kFma = 1u << 12, kAvx = 1u << 28, kF16c = 1u << 29;   // leaf 1, ECX
  constexpr unsigned kAvx2 = 1u << 5;                                      // leaf 7, EBX
  constexpr unsigned kAvx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW and VL
  constexpr unsigned kVbmi = 1u << 1, kVnni = 1u << 11;                    // leaf 7, ECX
  constexpr unsigned kAmx = 3u << 24;                                    // leaf 7, EDX: TILE, INT8
  constexpr unsigned kAvxVnni = 1u << 4;                                 // leaf 7, 1: EAX
  constexpr unsigned kYmm = 3u << 1, kZmm = 7u << 5, kTiles = 3u << 17;  // XCR0
  const Cpuid leaf7(7);
  CpuFeatures f = {};
  f.avx2 = has_bits(Cpuid(1).ecx, kFma | kAvx | kF16c) && has_bits(leaf7.ebx, kAvx2) && saves(kYmm);
  f.avx_vnni = f.avx2 && has_bits(Cpuid(7, 1).eax, kAvxVnni);
  f.avx512_vnni =
      f.avx2 && has_bits(leaf7.ebx, kAvx512) && has_bits(leaf7.ecx, kVnni) && saves(kZmm);
  f.avx512_vbmi = f.avx512_vnni && has_bits(leaf7.ecx, kVbmi);
  f.amx = f.avx512_vbmi && has_bits(leaf7.edx, kAmx) && saves(kTiles) && may_use_tiles();
  return f;
}

bool is_amd_cpu() {
  const Cpuid leaf0(0);  // "AuthenticAMD" in EBX, EDX and ECX
  return leaf0.ebx == 0x68747541 && leaf0.edx == 0x69746e65 && leaf0.ecx == 0x444d4163;
}

#else

CpuFeatures cpu_features() {
  CpuFeatures f = {};
#if defined(__aarch64__)
  f.neon = true;
#if defined(__linux__)
  f.neon_dot = (getauxval(AT_HWCAP) >> 20 & 1) != 0;
  f.neon_i8mm = f.neon_dot && (getauxval(AT_HWCAP2) >> 13 & 1) != 0;
#endif
#endif
  return f;
}

bool is_amd_cpu() { return false; }

#endif

}  // namespace qrt::platform

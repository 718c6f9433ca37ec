// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#include <string.h>

#include "runtime/platform/cpu.h"

#ifdef QRT_EMULATED_ISAS
#include "tests/emulation/tiles.h"
#endif
#ifdef QRT_HAVE_WASMRELAXED
#include "kernels/isa/relaxed.h"
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

#if defined(__x86_64__) || defined(__aarch64__)

platform::CpuFeatures features() {
#ifdef QRT_HAS_CPUINFO
  platform::CpuFeatures features;
  if (platform::cpuinfo_features(&features)) return features;
#endif
  return platform::cpu_features();
}

IsaSet hardware_isas() {
  const platform::CpuFeatures f = features();
  IsaSet set = static_cast<IsaSet>(Isa::kScalar);
  const auto add = [&](bool has, Isa isa) { set |= has ? static_cast<IsaSet>(isa) : 0; };
  add(f.avx2, Isa::kAvx2);
  add(f.avx_vnni, Isa::kAvxVnni);
  add(f.avx512_vnni, Isa::kAvx512Vnni);
  add(f.avx512_vbmi, Isa::kAvx512Vbmi);
  add(f.amx, Isa::kAmx);
  add(f.neon, Isa::kNeon);
  add(f.neon_dot, Isa::kNeonDot);
  add(f.neon_i8mm, Isa::kI8mm);
#ifdef QRT_EMULATED_ISAS
  if (f.avx512_vbmi) {
    add(true, Isa::kAmx);
    testing::emulate_tiles();
#ifdef QRT_EMULATED_AVXVNNI
    add(true, Isa::kAvxVnni);
#endif
  }
#endif
  return set;
}

#elif defined(QRT_HAVE_WASMRELAXED)

// An engine that takes the module has relaxed SIMD, but its instructions may be none of the exact ones.
IsaSet hardware_isas() {
  const IsaSet set = compiled_isas();
  return is_relaxed_dot_exact() && is_relaxed_madd_fused()
             ? set
             : set & ~static_cast<IsaSet>(Isa::kWasmRelaxed);
}

#else

// Returns the sets without asking the CPU: the module is compiled for every CPU of the architecture.
IsaSet hardware_isas() { return compiled_isas(); }

#endif

}  // namespace

IsaSet detected_isas() {
  static const IsaSet set = hardware_isas() & compiled_isas();
  return set;
}

bool has_fast_shared_cache() { return platform::is_amd_cpu(); }

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

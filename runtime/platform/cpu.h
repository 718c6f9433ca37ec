// SPDX-License-Identifier: Apache-2.0
// The few facts about a CPU that decide which kernels run (kernels/isa.cc).
#ifndef QRT_RUNTIME_PLATFORM_CPU_H_
#define QRT_RUNTIME_PLATFORM_CPU_H_

namespace qrt::platform {

// Each stands for all instructions that kernels of the set use, where the system lets a process use them.
struct CpuFeatures {
  bool avx2, avx_vnni, avx512_vnni, avx512_vbmi, amx;
  bool neon, neon_dot, neon_i8mm;
};

// Asks the CPU (CPUID, XGETBV) or the system (AT_HWCAP), without a library and without files. Where
// Linux gives a process AMX's registers only when it asks, this asks.
CpuFeatures cpu_features();

// Asks cpuinfo for what it knows, and cpu_features() for the rest. Returns false where cpuinfo fails:
// without /proc or /sys. Is there only in a build with cpuinfo.
bool cpuinfo_features(CpuFeatures* features);

// Returns whether AMD made the CPU.
bool is_amd_cpu();

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_CPU_H_

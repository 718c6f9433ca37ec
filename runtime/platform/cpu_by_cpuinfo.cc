// SPDX-License-Identifier: Apache-2.0
#include <cpuinfo.h>

#include "runtime/platform/cpu.h"

namespace qrt::platform {

bool cpuinfo_features(CpuFeatures* features) {
  CpuFeatures f = cpu_features();
  if (!cpuinfo_initialize()) return false;
#if defined(__x86_64__)
  // The cpuinfo of Debian 12 (2022) has no query for AVX-VNNI and AMX.
  f.avx2 = cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c();
  f.avx_vnni = f.avx2 && f.avx_vnni;
  f.avx512_vnni = f.avx2 && cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() &&
                  cpuinfo_has_x86_avx512dq() && cpuinfo_has_x86_avx512vl() &&
                  cpuinfo_has_x86_avx512vnni();
  f.avx512_vbmi = f.avx512_vnni && cpuinfo_has_x86_avx512vbmi();
  f.amx = f.avx512_vbmi && f.amx;
#elif defined(__aarch64__)
  // Asks Linux itself, too: that needs no /sys, as cpuinfo does.
  f.neon_dot = f.neon_dot || cpuinfo_has_arm_neon_dot();
#endif
  *features = f;
  return true;
}

}  // namespace qrt::platform

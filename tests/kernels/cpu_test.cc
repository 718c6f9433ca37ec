// SPDX-License-Identifier: Apache-2.0
// Features that are asked of the CPU and the system directly are those that cpuinfo tells, here and on qemu's
// models of CPUs (cpu_models.sh).
#include "runtime/platform/cpu.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "kernels/isa.h"

namespace qrt::cpu_test {
namespace {

using platform::CpuFeatures;

std::string described(const CpuFeatures& f) {
  std::string text;
  const auto add = [&](const char* name, bool has) { text += has ? std::string(" ") + name : ""; };
  add("avx2", f.avx2);
  add("avx_vnni", f.avx_vnni);
  add("avx512_vnni", f.avx512_vnni);
  add("avx512_vbmi", f.avx512_vbmi);
  add("amx", f.amx);
  add("neon", f.neon);
  add("neon_dot", f.neon_dot);
  add("neon_i8mm", f.neon_i8mm);
  return text;
}

TEST(Cpu, TellsWhatCpuinfoTells) {
#ifdef QRT_HAS_CPUINFO
  CpuFeatures by_cpuinfo;
  if (!platform::cpuinfo_features(&by_cpuinfo)) GTEST_SKIP() << "cpuinfo fails here";
  EXPECT_EQ(described(platform::cpu_features()), described(by_cpuinfo));
#else
  GTEST_SKIP() << "a build without cpuinfo";
#endif
}

// Linux names what it lets processes use. An emulator's process sees the file of the machine below it.
#if defined(__linux__) && defined(__x86_64__) && !defined(QRT_TEST_EMULATED)
TEST(Cpu, TellsWhatLinuxTells) {
  if (getenv("QRT_CPU_MODEL") != nullptr) GTEST_SKIP() << "an emulated CPU";
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(file, line))
    if (line.rfind("flags", 0) == 0) flags = line.substr(line.find(':') + 1) + " ";
  if (flags.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  const auto has = [&](const std::string& names) {
    std::istringstream words(names);
    for (std::string name; words >> name;)
      if (flags.find(" " + name + " ") == std::string::npos) return false;
    return true;
  };
  const CpuFeatures f = platform::cpu_features();
  const bool avx2 = has("avx2 fma f16c");
  const bool vnni512 = avx2 && has("avx512f avx512bw avx512dq avx512vl avx512_vnni");
  EXPECT_EQ(f.avx2, avx2);
  EXPECT_EQ(f.avx_vnni, avx2 && has("avx_vnni"));
  EXPECT_EQ(f.avx512_vnni, vnni512);
  EXPECT_EQ(f.avx512_vbmi, vnni512 && has("avx512vbmi"));
  if (f.amx) {
    EXPECT_TRUE(has("amx_tile amx_int8"));  // which a system may refuse a process
  }
}
#endif

// Prints what cpu_models.sh compares with the extensions of a model.
TEST(Cpu, HasASetForEachFeature) {
  const CpuFeatures f = platform::cpu_features();
  printf("features:%s\n", described(f).c_str());
  for (const auto& [isa, is_there] : {std::pair(Isa::kAvx2, f.avx2),
                                      {Isa::kAvxVnni, f.avx_vnni},
                                      {Isa::kNeon, f.neon},
                                      {Isa::kAvx512Vnni, f.avx512_vnni},
                                      {Isa::kNeonDot, f.neon_dot}})
    if (has(detected_isas(), isa)) {
#ifndef QRT_EMULATED_ISAS
      EXPECT_TRUE(is_there) << isa_name(isa);
#endif
    }
  EXPECT_TRUE(has(detected_isas(), Isa::kScalar));
}

}  // namespace
}  // namespace qrt::cpu_test

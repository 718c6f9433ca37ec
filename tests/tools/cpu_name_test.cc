// SPDX-License-Identifier: Apache-2.0
// The names by which qrt_bench calls CPUs.
#include "bench/cpu_name.h"

#include <gtest/gtest.h>

namespace qrt::bench::cpu_name_test {
namespace {

TEST(CpuName, IsWhatX86Tells) {
  EXPECT_EQ(cpu_name("processor\t: 0\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R)\n\n"
                     "processor\t: 1\nmodel name\t: Intel(R) Xeon(R)\n"),
            "Intel(R) Xeon(R)");
}

TEST(CpuName, CountsArmsCores) {
  std::string text;
  for (const char* part : {"0xd05", "0xd05", "0xd0b", "0xd05"})
    text += std::string(
                "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                "CPU variant\t: 0x1\nCPU part\t: ") +
            part + "\n\n";
  EXPECT_EQ(cpu_name(text), "3 x Cortex-A55, 1 x Cortex-A76");
  EXPECT_EQ(cpu_name(text + "Hardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n"),
            "Raspberry Pi 4 (3 x Cortex-A55, 1 x Cortex-A76)");
}

TEST(CpuName, TellsTheNumbersOfOtherCores) {
  EXPECT_EQ(cpu_name("CPU implementer\t: 0x61\nCPU part\t: 0x022\n"),
            "1 x ARM implementer 0x61 part 0x022");
  EXPECT_EQ(cpu_name("CPU implementer\t: 0x51\nCPU part\t: 0xd05\n"),
            "1 x ARM implementer 0x51 part 0xd05");
}

TEST(CpuName, MayBeUnknown) {
  EXPECT_EQ(cpu_name(""), "unknown");
  EXPECT_EQ(cpu_name("a line\n: \n"), "unknown");
}

}  // namespace
}  // namespace qrt::bench::cpu_name_test

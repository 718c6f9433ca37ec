// SPDX-License-Identifier: Apache-2.0
// The files from which qrt_bench reads a machine: big and little cores, frequency, temperature.
#include "bench/system_files.h"

#include "tests/support/command.h"

namespace qrt::bench::system_files_test {
namespace {

// A folder that looks like a machine's root.
class SystemFilesTest : public testing::CommandTest {
 protected:
  void add(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    write(file, content + "\n");
  }
  void add_cpu(int cpu, const std::string& file, int value) const {
    add("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file, std::to_string(value));
  }

  const SystemFiles files_{path("")};
};

TEST_F(SystemFilesTest, BigAndLittleByCapacityOrElseByFrequency) {
  const std::vector<int> none, all = {0, 1, 2, 3};
  EXPECT_EQ(files_.of_kind(all, true), none);
  for (const int cpu : all) add_cpu(cpu, "cpufreq/cpuinfo_max_freq", cpu == 3 ? 2800000 : 1800000);
  EXPECT_EQ(files_.of_kind(all, true), std::vector<int>{3});
  EXPECT_EQ(files_.of_kind(all, false), (std::vector<int>{0, 1, 2}));
  for (const int cpu : all) add_cpu(cpu, "cpu_capacity", cpu < 2 ? 1024 : cpu == 2 ? 512 : 256);
  EXPECT_EQ(files_.of_kind(all, true), (std::vector<int>{0, 1}));
  EXPECT_EQ(files_.of_kind(all, false), std::vector<int>{3});
  EXPECT_EQ(files_.of_kind({2, 3}, true), std::vector<int>{2});  // of those that it may use
  EXPECT_EQ(files_.of_kind({0, 1}, true), none);
  EXPECT_EQ(files_.of_kind({}, true), none);
}

TEST_F(SystemFilesTest, FrequencyAndTemperature) {
  EXPECT_EQ(files_.frequency_mhz({0, 1}), 0);
  EXPECT_EQ(files_.temperature_celsius(), 0);
  add("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2445.404");
  EXPECT_EQ(files_.frequency_mhz({0, 1}), 2445.404);
  add_cpu(0, "cpufreq/scaling_cur_freq", 1000000);
  add_cpu(1, "cpufreq/scaling_cur_freq", 2000000);
  EXPECT_EQ(files_.frequency_mhz({0, 1}), 1500);
  EXPECT_EQ(files_.frequency_mhz({1}), 2000);
  add("sys/class/thermal/thermal_zone0/temp", "41000");
  add("sys/class/thermal/thermal_zone1/temp", "67500");
  add("sys/class/thermal/cooling_device0/temp", "99000");
  EXPECT_EQ(files_.temperature_celsius(), 67.5);
}

}  // namespace
}  // namespace qrt::bench::system_files_test

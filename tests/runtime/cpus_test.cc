// SPDX-License-Identifier: Apache-2.0
// The number of CPUs that a process may use: quotas of both versions of cgroups, from folders that
// look like a machine's root.
#include "runtime/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace qrt::cpus_test {
namespace {

class CgroupTest : public ::testing::Test {
 protected:
  CgroupTest() {
    char name[] = "/tmp/qrt_cpus_XXXXXX";
    root_ = mkdtemp(name);
    add("proc/self/cgroup", "1:name=systemd:/\n0::/box/inner");
  }
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void add(const std::string& file, const std::string& content) const {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content << "\n";
  }
  double cpus() const { return cgroup_cpus(root_); }

  std::string root_;
};

TEST_F(CgroupTest, TheLeastQuotaAroundTheProcessCounts) {
  EXPECT_EQ(cpus(), INFINITY);
  add("sys/fs/cgroup/box/inner/cpu.max", "max 100000");
  EXPECT_EQ(cpus(), INFINITY);
  add("sys/fs/cgroup/box/cpu.max", "150000 100000");
  EXPECT_EQ(cpus(), 1.5);
  add("sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(cpus(), 1.5);
  add("sys/fs/cgroup/box/inner/cpu.max", "50000 100000");
  EXPECT_EQ(cpus(), 0.5);
}

// In a container the root counts: its own group is the root that it sees, whatever its name is outside.
TEST_F(CgroupTest, TheRootCountsWhereTheGroupIsNotSeen) {
  add("proc/self/cgroup", "0::/../../kubepods/pod1");
  add("sys/fs/cgroup/cpu.max", "150000 100000");
  EXPECT_EQ(cpus(), 1.5);
}

TEST_F(CgroupTest, QuotasOfTheFirstVersion) {
  add("proc/self/cgroup", "5:cpuset:/box\n4:cpu,cpuacct:/box/inner\n3:memory:/box");
  add("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  add("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  add("sys/fs/cgroup/cpuset/box/cpu.cfs_quota_us", "1");
  add("sys/fs/cgroup/cpuset/box/cpu.cfs_period_us", "1");
  EXPECT_EQ(cpus(), INFINITY);
  add("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000");
  EXPECT_EQ(cpus(), 2.5);
  add("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000");
  add("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpus(), 1.5);
}

TEST_F(CgroupTest, FilesThatSayNothing) {
  EXPECT_EQ(cgroup_cpus("/nowhere"), INFINITY);
  for (const char* text : {"", "0", "0:", "x\n\n::::\n"}) {
    add("proc/self/cgroup", text);
    add("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(cpus(), INFINITY) << text;
  }
  add("sys/fs/cgroup/cpu.max", "100000 0");
  EXPECT_EQ(cpus(), INFINITY);
}

TEST(Cpus, TheAffinityMaskCounts) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_LE(usable_cpus(), static_cast<size_t>(CPU_COUNT(&all)));
  EXPECT_LE(usable_cpus(), std::max(cgroup_cpus(), 1.0));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1u);
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace qrt::cpus_test

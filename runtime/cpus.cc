// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpus.h"

#include <math.h>
#if defined(__linux__)
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#endif

#include <algorithm>
#include <memory>

#include "runtime/platform/threads.h"

namespace qrt {

#if defined(__linux__)

namespace {

// Returns the text of a small file, such as those of cgroups; empty where there is none.
std::string text_of(const std::string& path) {
  std::string text;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  char piece[512];
  while (file != nullptr && fgets(piece, sizeof piece, file.get()) != nullptr) text += piece;
  return text;
}

// "max" and -1 are no quota.
double ratio(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

// Returns the least of limit_of(folder) of mount/group and of the folders above it, down to the mount.
template <class F>
double least_upwards(const std::string& mount, std::string group, const F& limit_of) {
  double least = INFINITY;
  while (!group.empty() && group.back() == '/') group.pop_back();
  for (;; group.resize(group.rfind('/'))) {
    least = std::min(least, limit_of(mount + group));
    if (group.find('/') == std::string::npos) return least;
  }
}

double quota_v2(const std::string& folder) {
  double quota = 0, period = 0;
  const int read = sscanf(text_of(folder + "/cpu.max").c_str(), "%lf %lf", &quota, &period);
  return read == 2 ? ratio(quota, period) : INFINITY;
}

double quota_v1(const std::string& folder) {
  return ratio(atof(text_of(folder + "/cpu.cfs_quota_us").c_str()),
               atof(text_of(folder + "/cpu.cfs_period_us").c_str()));
}

// Returns the quota that a line of /proc/self/cgroup leads to: "0::/user.slice" of version 2,
// "4:cpu,cpuacct:/docker/0123" of version 1. Infinity for other lines.
double quota_of(const std::string& mounts, const std::string& line) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return INFINITY;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  if (controllers.empty()) return least_upwards(mounts, group, quota_v2);
  if (("," + controllers + ",").find(",cpu,") == std::string::npos) return INFINITY;
  return std::min(least_upwards(mounts + "/" + controllers, group, quota_v1),
                  least_upwards(mounts + "/cpu", group, quota_v1));
}

size_t affinity_cpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return static_cast<size_t>(CPU_COUNT(&cpus));
  return platform::hardware_threads();
}

}  // namespace

double cgroup_cpus(const std::string& root) {
  const std::string groups = text_of(root + "/proc/self/cgroup");
  double cpus = INFINITY;
  for (size_t at = 0, end; (end = groups.find('\n', at)) != std::string::npos; at = end + 1)
    cpus = std::min(cpus, quota_of(root + "/sys/fs/cgroup", groups.substr(at, end - at)));
  return cpus;
}

size_t usable_cpus() {
  const double cpus = std::min(static_cast<double>(affinity_cpus()), cgroup_cpus());
  return std::max<size_t>(static_cast<size_t>(cpus), 1);
}

#else

double cgroup_cpus(const std::string&) { return INFINITY; }
size_t usable_cpus() { return std::max(platform::hardware_threads(), size_t{1}); }

#endif

}  // namespace qrt

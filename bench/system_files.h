// SPDX-License-Identifier: Apache-2.0
// Reads the files of /proc and /sys in which Linux describes its CPUs.
#ifndef QRT_BENCH_SYSTEM_FILES_H_
#define QRT_BENCH_SYSTEM_FILES_H_

#include <string>
#include <vector>

namespace qrt::bench {

class SystemFiles {
 public:
  // Tests have a folder of their own in place of the root.
  explicit SystemFiles(std::string root = "") : root_(std::move(root)) {}

  std::string cpuinfo() const { return text_of("/proc/cpuinfo"); }

  // Returns those of these CPUs that have the greatest or the least capacity; empty: all are alike.
  std::vector<int> of_kind(const std::vector<int>& cpus, bool big) const;

  // Return the mean frequency of these CPUs, and the temperature of the hottest zone; 0 where these
  // cannot be read.
  double frequency_mhz(const std::vector<int>& cpus) const;
  double temperature_celsius() const;

 private:
  std::string line_of(const std::string& path) const;  // the first; "": there is none
  std::string text_of(const std::string& path) const;  // the lines that can be read
  double number_of(const std::string& path) const;     // 0: there is none
  double capacity_of(int cpu) const;

  std::string root_;
};

}  // namespace qrt::bench

#endif  // QRT_BENCH_SYSTEM_FILES_H_

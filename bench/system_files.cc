// SPDX-License-Identifier: Apache-2.0
#include "bench/system_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qrt::bench {
namespace {

namespace fs = std::filesystem;

std::string cpu_folder(int cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

}  // namespace

std::string SystemFiles::line_of(const std::string& path) const {
  std::string line;
  std::ifstream file(root_ + path);
  std::getline(file, line);
  return line;
}

std::string SystemFiles::text_of(const std::string& path) const {
  std::string text;
  std::ifstream file(root_ + path);
  for (std::string line; std::getline(file, line);) text += line + "\n";
  return text;
}

double SystemFiles::number_of(const std::string& path) const { return atof(line_of(path).c_str()); }

double SystemFiles::capacity_of(int cpu) const {
  const double capacity = number_of(cpu_folder(cpu) + "/cpu_capacity");
  return capacity > 0 ? capacity : number_of(cpu_folder(cpu) + "/cpufreq/cpuinfo_max_freq");
}

std::vector<int> SystemFiles::of_kind(const std::vector<int>& cpus, bool big) const {
  if (cpus.empty()) return {};
  std::vector<double> capacities;
  for (const int cpu : cpus) capacities.push_back(capacity_of(cpu));
  const auto [least, most] = std::minmax_element(capacities.begin(), capacities.end());
  std::vector<int> chosen;
  for (size_t i = 0; i < cpus.size() && *least < *most; ++i)
    if (capacities[i] == (big ? *most : *least)) chosen.push_back(cpus[i]);
  return chosen;
}

double SystemFiles::frequency_mhz(const std::vector<int>& cpus) const {
  double sum = 0;
  size_t count = 0;
  for (const int cpu : cpus) {
    const double khz = number_of(cpu_folder(cpu) + "/cpufreq/scaling_cur_freq");
    if (khz <= 0) continue;
    sum += khz / 1e3;
    ++count;
  }
  if (count > 0) return sum / static_cast<double>(count);
  std::istringstream lines(cpuinfo());
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("cpu MHz", 0) == 0 && colon != std::string::npos)
      return atof(line.c_str() + colon + 2);
  }
  return 0;
}

double SystemFiles::temperature_celsius() const {
  double hottest = 0;
  std::error_code failed;
  for (const fs::directory_entry& zone :
       fs::directory_iterator(root_ + "/sys/class/thermal", failed)) {
    const std::string name = zone.path().filename();
    if (name.rfind("thermal_zone", 0) == 0)
      hottest = std::max(hottest, number_of("/sys/class/thermal/" + name + "/temp") / 1e3);
  }
  return hottest;
}

}  // namespace qrt::bench

#include "bench/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "bench/cpu_name.h"

namespace qrt::bench {
namespace {

namespace fs = std::filesystem;

// The first line of a file of /sys or /proc; "": there is none.
std::string line_of(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// The lines that can be read.
std::string text_of(const std::string& path) {
  std::string text;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) text += line + "\n";
  return text;
}

// The value behind "key : " in /proc/cpuinfo, of the first CPU that has it.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind(key, 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

std::string cpu_folder(int cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

// CPUs that the process's cgroup may keep busy, by the least quota of time of it and of those around
// it; infinite without one. The folder of a container's own cgroup is the root that it sees.
double cgroup_cpus() {
  std::string own;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.rfind("0::", 0) == 0) own = line.substr(3);
  double cpus = INFINITY;
  for (fs::path group = own;; group = group.parent_path()) {
    double quota = 0, period = 0;
    std::ifstream v2("/sys/fs/cgroup" + group.string() + "/cpu.max");
    if (v2 >> quota >> period && period > 0) cpus = std::min(cpus, quota / period);
    if (group == group.parent_path()) break;
  }
  if (cpus < INFINITY) return cpus;
  const double quota = atof(line_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str());
  const double period = atof(line_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str());
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

Status use_cpus(const std::vector<int>& cpus, const std::string& option) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  if (!cpus.empty() && sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return error(Code::kInvalidArgument, "%s names no CPU of this machine", option.c_str());
}

// "0,2-3"; empty: not of this form.
std::vector<int> parse_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end;
    const long first = strtol(at, &end, 10);
    if (end == at) return {};
    long last = first;
    if (*end == '-') {
      at = end + 1;
      last = strtol(at, &end, 10);
      if (end == at) return {};
    }
    if (first < 0 || last < first || last >= CPU_SETSIZE || (*end != '\0' && *end != ','))
      return {};
    for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    at = *end == ',' ? end + 1 : end;
    if (*end == ',' && *at == '\0') return {};
  }
  return cpus;
}

// How much a CPU can do, to be compared with another's; 0: unknown.
double capacity_of(int cpu) {
  const double capacity = atof(line_of(cpu_folder(cpu) + "/cpu_capacity").c_str());
  return capacity > 0 ? capacity
                      : atof(line_of(cpu_folder(cpu) + "/cpufreq/cpuinfo_max_freq").c_str());
}

// The allowed CPUs of the greatest or of the least capacity; empty: all are alike.
std::vector<int> of_kind(bool big) {
  std::vector<double> capacities;
  const std::vector<int> cpus = allowed_cpus();
  for (const int cpu : cpus) capacities.push_back(capacity_of(cpu));
  if (cpus.empty()) return {};
  const auto [least, most] = std::minmax_element(capacities.begin(), capacities.end());
  std::vector<int> chosen;
  for (size_t i = 0; i < cpus.size() && *least < *most; ++i)
    if (capacities[i] == (big ? *most : *least)) chosen.push_back(cpus[i]);
  return chosen;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_name(text_of("/proc/cpuinfo"));
  utsname name;
  if (uname(&name) == 0)
    machine.os = std::string(name.sysname) + " " + name.release + " " + name.machine;
  machine.cpus = allowed_cpus().size();
  const double quota = cgroup_cpus();
  if (quota < static_cast<double>(machine.cpus))
    machine.cpus = std::max<size_t>(1, static_cast<size_t>(quota));
  return machine;
}

std::string utc_now() {
  const time_t now = time(nullptr);
  tm parts;
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return text;
}

Status set_affinity(const std::string& text) {
  if (text == "big" || text == "little") {
    const std::vector<int> cpus = of_kind(text == "big");
    if (cpus.empty())
      return error(
          Code::kInvalidArgument,
          "--affinity %s: the CPUs of this machine are all alike, as far as it tells; give "
          "a list: 0,2-3",
          text.c_str());
    return use_cpus(cpus, "--affinity " + text);
  }
  const std::vector<int> cpus = parse_list(text);
  if (cpus.empty())
    return error(Code::kInvalidArgument, "--affinity %s: expected big, little or a list: 0,2-3",
                 text.c_str());
  return use_cpus(cpus, "--affinity " + text);
}

Status set_cpu_mask(const std::string& mask) {
  const unsigned long long bits = strtoull(mask.c_str(), nullptr, 16);
  std::vector<int> cpus;
  for (int i = 0; i < 64; ++i)
    if (bits >> i & 1) cpus.push_back(i);
  return use_cpus(cpus, "--cpu-mask " + mask);
}

double frequency_mhz() {
  double sum = 0;
  size_t count = 0;
  for (const int cpu : allowed_cpus()) {
    const double khz = atof(line_of(cpu_folder(cpu) + "/cpufreq/scaling_cur_freq").c_str());
    if (khz <= 0) continue;
    sum += khz / 1e3;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : atof(cpuinfo("cpu MHz").c_str());
}

double temperature_celsius() {
  double hottest = 0;
  std::error_code failed;
  for (const fs::directory_entry& zone : fs::directory_iterator("/sys/class/thermal", failed))
    if (zone.path().filename().string().rfind("thermal_zone", 0) == 0)
      hottest = std::max(hottest, atof(line_of(zone.path() / "temp").c_str()) / 1e3);
  return hottest;
}

}  // namespace qrt::bench

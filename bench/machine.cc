// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "bench/cpu_name.h"
#include "bench/system_files.h"
#include "runtime/cpus.h"

namespace qrt::bench {
namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
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

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_name(SystemFiles().cpuinfo());
  utsname name;
  if (uname(&name) == 0)
    machine.os = std::string(name.sysname) + " " + name.release + " " + name.machine;
  machine.cpus = usable_cpus();
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
    const std::vector<int> cpus = SystemFiles().of_kind(allowed_cpus(), text == "big");
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

double frequency_mhz() { return SystemFiles().frequency_mhz(allowed_cpus()); }

double temperature_celsius() { return SystemFiles().temperature_celsius(); }

}  // namespace qrt::bench

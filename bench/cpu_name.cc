// SPDX-License-Identifier: Apache-2.0
#include "bench/cpu_name.h"

#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace qrt::bench {
namespace {

// "CPU part" of cores that ARM designed ("CPU implementer" 0x41).
struct CpuPart {
  unsigned long number;
  const char* name;
};
constexpr unsigned long kArm = 0x41;
constexpr CpuPart kParts[] = {
    {0xd03, "Cortex-A53"},  {0xd04, "Cortex-A35"},  {0xd05, "Cortex-A55"},  {0xd07, "Cortex-A57"},
    {0xd08, "Cortex-A72"},  {0xd09, "Cortex-A73"},  {0xd0a, "Cortex-A75"},  {0xd0b, "Cortex-A76"},
    {0xd0c, "Neoverse-N1"}, {0xd0d, "Cortex-A77"},  {0xd40, "Neoverse-V1"}, {0xd41, "Cortex-A78"},
    {0xd44, "Cortex-X1"},   {0xd46, "Cortex-A510"}, {0xd47, "Cortex-A710"}, {0xd48, "Cortex-X2"},
    {0xd49, "Neoverse-N2"}, {0xd4a, "Neoverse-E1"}, {0xd4b, "Cortex-A78C"}, {0xd4d, "Cortex-A715"},
    {0xd4e, "Cortex-X3"},   {0xd4f, "Neoverse-V2"}, {0xd80, "Cortex-A520"}, {0xd81, "Cortex-A720"},
    {0xd82, "Cortex-X4"},   {0xc07, "Cortex-A7"},   {0xc09, "Cortex-A9"},   {0xc0f, "Cortex-A15"},
};

std::string core_name(const std::string& implementer, const std::string& part) {
  if (strtoul(implementer.c_str(), nullptr, 0) == kArm)
    for (const CpuPart& p : kParts)
      if (p.number == strtoul(part.c_str(), nullptr, 0)) return p.name;
  return "ARM implementer " + implementer + " part " + part;
}

// Splits "key\t: value", the form of all lines of /proc/cpuinfo.
bool split(const std::string& line, std::string* key, std::string* value) {
  const size_t colon = line.find(": ");
  if (colon == std::string::npos) return false;
  *key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
  *value = line.substr(colon + 2);
  return true;
}

}  // namespace

std::string cpu_name(const std::string& cpuinfo) {
  // Kinds of ARM cores and how many there are of each.
  std::vector<std::pair<std::string, size_t>> cores;
  std::string key, value, implementer, told;
  size_t best = static_cast<size_t>(-1);
  const std::vector<std::string> names = {"model name", "Model", "Hardware", "cpu model", "uarch"};
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    if (!split(line, &key, &value)) continue;
    for (size_t i = 0; i < names.size() && i < best; ++i)
      if (key == names[i]) told = value, best = i;
    if (key == "CPU implementer") implementer = value;
    if (key != "CPU part") continue;
    const std::string core = core_name(implementer, value);
    size_t i = 0;
    while (i < cores.size() && cores[i].first != core) ++i;
    if (i == cores.size()) cores.emplace_back(core, 0);
    ++cores[i].second;
  }
  std::string text;
  for (const auto& [core, count] : cores)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + core;
  if (text.empty() || told.empty())
    text += told;
  else
    text = told + " (" + text + ")";
  return text.empty() ? "unknown" : text;
}

}  // namespace qrt::bench

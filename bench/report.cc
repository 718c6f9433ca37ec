// SPDX-License-Identifier: Apache-2.0
// Chooses the format that is printed, and has the parts that all formats share.
#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/tools/files.h"

namespace qrt::bench {

std::string ms_text(double ms) {
  // A millisecond and more: 3 decimals, down to a nanosecond's 6.
  const int decimals =
      ms > 0 ? static_cast<int>(std::clamp(2 - std::floor(std::log10(ms)), 3.0, 6.0)) : 3;
  char text[64];
  snprintf(text, sizeof text, "%.*f", decimals, ms);
  return text;
}

std::string rate_text(double rate) {
  const int decimals =
      rate > 0 ? static_cast<int>(std::clamp(2 - std::floor(std::log10(rate)), 0.0, 6.0)) : 0;
  char text[64];
  snprintf(text, sizeof text, "%.*f", decimals, rate);
  return text;
}

std::string model_label(const Run& run) {
  const std::string model = tool::with_stdin_named(run.options.model);
  return run.options.dims.empty() ? model : model + " [" + run.options.dims.text() + "]";
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

const char* level_name(int level) {
  switch (level) {
    case 0: return "I0";
    case 1: return "I1";
    case -1: return "edge";
    default: return "F";
  }
}

std::string verdict(const Comparison& c) {
  char text[256];
  snprintf(text, sizeof text, "%s: least %s time %+.1f %%, tolerance %.1f %%",
           c.is_regression ? "regression" : "no regression", c.is_cpu_time ? "CPU" : "wall",
           c.least_change * 100, c.tolerance * 100);
  return text;
}

std::string other_times(const Comparison& c) {
  char text[256];
  snprintf(text, sizeof text, "%s -> %s ms, median wall time %+.1f %%",
           ms_text(c.old_least).c_str(), ms_text(c.least).c_str(), c.median_change * 100);
  return text;
}

std::string describe(const Comparison& c) { return verdict(c) + "; " + other_times(c); }

void print(const std::string& format, const Machine& machine, const std::vector<Run>& runs) {
  if (format == "json" || format == "jsonl")
    print_json(machine, runs, format == "jsonl");
  else if (format == "csv")
    print_csv(runs);
  else if (format == "md")
    print_markdown(machine, runs);
  else
    print_text(machine, runs);
}

}  // namespace qrt::bench

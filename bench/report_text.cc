// Text, in lines of at most 80 columns, or of as many as the terminal has.
#include <cstdio>

#include "bench/report.h"
#include "qrt/qrt.hpp"
#include "runtime/text.h"
#include "runtime/tools/terminal.h"

namespace qrt::bench {
namespace {

using tool::fitted;

// What a line ends with: the type of an operator, its kernel where lines are wide, and its name as far
// as that goes.
constexpr size_t kTypeWidth = 20, kKernelWidth = 40, kWide = 120;

std::string end_of_line(const std::string& type, const std::string& kernel, const std::string& name,
                        size_t taken) {
  std::string text = fitted(type, kTypeWidth) + " ";
  if (tool::columns() >= kWide) text += fitted(kernel, kKernelWidth) + " ";
  taken += text.size();
  const size_t left = tool::columns() > taken ? tool::columns() - taken : 0;
  return text + (name.size() > left ? fitted(name, left) : name);
}
std::string end_of_line(const OpTime& op, size_t taken) {
  return end_of_line(op.type, escaped(op.kernel), escaped(op.name), taken);
}

void print_ops(const Measurement& m) {
  constexpr size_t kTaken = 32;
  printf("\n%9s %6s %7s %-5s %s\n", "us", "share", "GMAC/s", "level",
         end_of_line("operator", "kernel", "name", kTaken).c_str());
  for (const OpTime& op : m.ops)
    printf("%9.1f %5.1f%% %7.1f %-5s %s\n", op.ms * 1e3, op.share * 100, op.gmacs,
           level_name(op.level), end_of_line(op, kTaken).c_str());
}

// Time and limit of every operator, then the peaks they were judged by.
void print_roofline(const Measurement& m) {
  printf("roofline         %.1f %% of the limit (%.3f of %.3f ms)\n",
         percent(m.limit_ms(), m.ops_ms()), m.limit_ms(), m.ops_ms());
  printf("peak             %.1f %% of it in the least time (%.3f of %.3f ms)\n",
         percent(m.compute_ms(), m.least_ms()), m.compute_ms(), m.least_ms());
  for (const PeakRate& peak : m.peaks)
    printf("%-16s %.1f GMAC/s a core\n", peak.loop->name, peak.gmacs);
  for (const MemoryLevel& level : m.memory)
    printf("%-16s %.1f GB/s read, %.1f copied, one core\n", level.name, level.read_gbs,
           level.copy_gbs);
  constexpr size_t kTaken = 43;
  printf("\n%9s %6s %7s %8s %-7s %s\n", "us", "share", "GMAC/s", "of limit", "bound",
         end_of_line("operator", "kernel", "name", kTaken).c_str());
  for (const OpTime& op : m.ops)
    printf("%9.1f %5.1f%% %7.1f %7.1f%% %-7s %s\n", op.ms * 1e3, op.share * 100, op.gmacs,
           percent(op.limit.ms(), op.ms),
           op.limit.bound() == std::string("memory") ? op.limit.memory_level : op.limit.bound(),
           end_of_line(op, kTaken).c_str());
}

void print_sustained(const Measurement& m) {
  printf("\n%8s %10s %10s %6s %5s\n", "s", "median ms", "p90 ms", "MHz", "C");
  const auto number = [](double value) {
    return value > 0 ? std::to_string(static_cast<int>(value)) : std::string("-");
  };
  for (const Interval& i : m.sustained)
    printf("%8.1f %10.3f %10.3f %6s %5s\n", i.end_s, i.median, i.p90, number(i.mhz).c_str(),
           number(i.celsius).c_str());
  printf("sustained        %.0f %% of peak (the last quarter over the best interval)\n",
         m.sustained_of_peak() * 100);
}

void print_run(const Run& run) {
  const Measurement& m = run.m;
  printf("model            %s\n", escaped(run.options.model).c_str());
  printf("isa, threads     %s, %zu\n", m.isa.c_str(), run.options.threads);
  if (m.batch != 0) printf("batch            %zu\n", m.batch);
  printf("load, session    %.3f ms, %.3f ms\n", m.load_ms, m.session_ms);
  printf("first, second    %.3f ms, %.3f ms (the first two runs)\n", m.first_ms, m.second_ms);
  printf("latency          median %.3f ms  min %.3f  mean %.3f  p90 %.3f\n", m.median, m.min,
         m.mean, m.p90);
  printf("                 p99 %.3f  (%zu runs%s)\n", m.p99, m.runs,
         m.is_interrupted ? ", interrupted" : "");
  if (m.cpu_min > 0) printf("running time     median %.3f ms  min %.3f\n", m.cpu_median, m.cpu_min);
  printf("noise            median %.1f %%, min %.1f %% (over ten parts)\n", m.median_noise * 100,
         m.min_noise * 100);
  printf("work             %.1f MMAC, %.1f GMAC/s\n", static_cast<double>(m.macs) * 1e-6,
         m.gmacs());
  printf("memory           peak %.1f MB, session %.1f MB\n",
         static_cast<double>(m.peak_memory) * 1e-6, static_cast<double>(m.session_memory) * 1e-6);
  if (run.comparison) printf("compare          %s\n", describe(*run.comparison, m).c_str());
  for (const BatchTime& b : m.scaling)
    printf("%-16s %.3f ms an image, %.3f of that at batch 1\n",
           ("batch " + std::to_string(b.batch)).c_str(), b.image_ms, b.of_first);
  if (!m.sustained.empty()) print_sustained(m);
  if (run.options.roofline && !m.ops.empty())
    print_roofline(m);
  else if (!m.ops.empty())
    print_ops(m);
}

}  // namespace

void print_text(const Machine& machine, const std::vector<Run>& runs) {
  printf("qrt              %s\n", qrt_version());
  printf("machine          %s\n                 %s, %zu CPU%s\n", escaped(machine.cpu).c_str(),
         escaped(machine.os).c_str(), machine.cpus, machine.cpus == 1 ? "" : "s");
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) puts("");
    print_run(runs[i]);
  }
  if (runs.size() < 2) return;
  printf("\n%-36s %7s %6s %10s %9s %7s\n", "model", "threads", "batch", "median ms", "least ms",
         "GMAC/s");
  for (const Run& run : runs)
    printf("%s %7zu %6zu %10.3f %9.3f %7.1f\n", fitted(escaped(run.options.model), 36).c_str(),
           run.options.threads, run.m.batch, run.m.median, run.m.min, run.m.gmacs());
}

}  // namespace qrt::bench

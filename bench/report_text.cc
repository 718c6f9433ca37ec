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
    printf("%9.2f %5.1f%% %7.1f %-5s %s\n", op.ms * 1e3, op.share * 100, op.gmacs,
           level_name(op.level), end_of_line(op, kTaken).c_str());
}

// Time and limit of every operator, then the peaks they were judged by.
void print_roofline(const Measurement& m) {
  printf("roofline         %.1f %% of the limit (%s of %s ms)\n", percent(m.limit_ms(), m.ops_ms()),
         ms_text(m.limit_ms()).c_str(), ms_text(m.ops_ms()).c_str());
  printf("peak             %.1f %% of it in the least time (%s of %s ms)\n",
         percent(m.compute_ms(), m.least_ms()), ms_text(m.compute_ms()).c_str(),
         ms_text(m.least_ms()).c_str());
  for (const PeakRate& peak : m.peaks)
    printf("%-16s %.1f GMAC/s a core\n", peak.loop->name, peak.gmacs);
  for (const MemoryLevel& level : m.memory)
    printf("%-16s %.1f GB/s read, %.1f copied, one core\n", level.name, level.read_gbs,
           level.copy_gbs);
  constexpr size_t kTaken = 43;
  printf("\n%9s %6s %7s %8s %-7s %s\n", "us", "share", "GMAC/s", "of limit", "bound",
         end_of_line("operator", "kernel", "name", kTaken).c_str());
  for (const OpTime& op : m.ops)
    printf("%9.2f %5.1f%% %7.1f %7.1f%% %-7s %s\n", op.ms * 1e3, op.share * 100, op.gmacs,
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
    printf("%8.1f %10s %10s %6s %5s\n", i.end_s, ms_text(i.median).c_str(), ms_text(i.p90).c_str(),
           number(i.mhz).c_str(), number(i.celsius).c_str());
  printf("sustained        %.0f %% of peak (the last quarter over the best interval)\n",
         m.sustained_of_peak() * 100);
}

void print_run(const Run& run) {
  const Measurement& m = run.m;
  printf("model            %s\n", escaped(run.options.model).c_str());
  printf("isa, threads     %s, %zu\n", m.isa.c_str(), run.options.threads);
  if (m.batch != 0) printf("batch            %zu\n", m.batch);
  printf("load, session    %s ms, %s ms\n", ms_text(m.load_ms).c_str(),
         ms_text(m.session_ms).c_str());
  printf("first, second    %s ms, %s ms (the first two runs)\n", ms_text(m.first_ms).c_str(),
         ms_text(m.second_ms).c_str());
  printf("latency          median %s ms  min %s  mean %s  p90 %s\n", ms_text(m.median).c_str(),
         ms_text(m.min).c_str(), ms_text(m.mean).c_str(), ms_text(m.p90).c_str());
  printf("                 p99 %s  (%zu runs%s)\n", ms_text(m.p99).c_str(), m.runs,
         m.is_interrupted ? ", interrupted" : "");
  if (m.cpu_min > 0)
    printf("running time     median %s ms  min %s\n", ms_text(m.cpu_median).c_str(),
           ms_text(m.cpu_min).c_str());
  printf("noise            median %.1f %%, min %.1f %% (over ten parts)\n", m.median_noise * 100,
         m.min_noise * 100);
  printf("work             %.1f MMAC, %.1f GMAC/s\n", static_cast<double>(m.macs) * 1e-6,
         m.gmacs());
  printf("memory           peak %.1f MB, session %.1f MB\n",
         static_cast<double>(m.peak_memory) * 1e-6, static_cast<double>(m.session_memory) * 1e-6);
  if (run.comparison) printf("compare          %s\n", describe(*run.comparison, m).c_str());
  for (const BatchTime& b : m.scaling)
    printf("%-16s %s ms an image, %.3f of that at batch 1\n",
           ("batch " + std::to_string(b.batch)).c_str(), ms_text(b.image_ms).c_str(), b.of_first);
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
    printf("%s %7zu %6zu %10s %9s %7.1f\n", fitted(escaped(run.options.model), 36).c_str(),
           run.options.threads, run.m.batch, ms_text(run.m.median).c_str(),
           ms_text(run.m.min).c_str(), run.m.gmacs());
}

}  // namespace qrt::bench

// SPDX-License-Identifier: Apache-2.0
// Text, in lines of at most 80 columns, or of as many as the terminal has.
#include <cstdio>
#include <map>
#include <string>

#include "bench/report.h"
#include "bench/roofline.h"
#include "qrt/qrt.hpp"
#include "runtime/text.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/files.h"
#include "runtime/tools/terminal.h"

namespace qrt::bench {
namespace {

using tool::fitted;

// Returns the end of a line about an operator: its type, its kernel where lines are wide, and as
// much of its name as there is room for behind `taken` columns.
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

// Prints the totals, the peaks, and the time and limit of every operator.
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
  std::map<std::string, size_t> above;
  for (const OpTime& op : m.ops)
    if (const char* why = why_above(op)) ++above[why];
  if (!above.empty()) puts("");
  for (const auto& [why, count] : above)
    printf("above 100 %%      %s: %s\n", tool::counted(count, "operator").c_str(), why.c_str());
}

void print_throughput(const Options& options, const Measurement& m) {
  const Throughput& t = *m.throughput;
  printf("streams          %zu, each with %zu thread%s%s\n", options.streams, options.threads,
         options.threads == 1 ? "" : "s", options.shares_pool ? " of a pool that all share" : "");
  std::string others;
  for (const std::string& model : options.at_once)
    if (model != options.model) others += (others.empty() ? "" : ", ") + escaped(model);
  if (!others.empty()) printf("concurrent       with %s\n", others.c_str());
  printf("throughput       %s runs/s", rate_text(t.runs_per_second).c_str());
  if (m.batch > 1) printf(", %s samples/s", rate_text(m.samples_per_second()).c_str());
  if (options.qps > 0)
    printf(" of %g requested, streams busy %.0f %%", options.qps, t.utilization * 100);
  puts("");
  if (t.one_stream > 0)
    printf(
        "scaling          %.2f times the %s runs/s of one stream alone\n"
        "                 (which before and after lay %.1f %% apart)\n",
        t.scaling(), rate_text(t.one_stream).c_str(), t.one_stream_spread * 100);
}

void print_sustained(const Measurement& m) {
  printf("\n%8s %10s %10s %8s %6s %5s\n", "s", "median ms", "p90 ms", "runs/s", "MHz", "C");
  const auto number = [](double value) {
    return value > 0 ? std::to_string(static_cast<int>(value)) : std::string("-");
  };
  for (const Interval& i : m.sustained)
    printf("%8.1f %10s %10s %8s %6s %5s\n", i.end_s, ms_text(i.median).c_str(),
           ms_text(i.p90).c_str(), rate_text(i.runs_per_second).c_str(), number(i.mhz).c_str(),
           number(i.celsius).c_str());
  printf("sustained        %.0f %% of peak (the last quarter over the best interval)\n",
         m.sustained_of_peak() * 100);
}

void print_run(const Run& run) {
  const Measurement& m = run.m;
  printf("model            %s\n", escaped(model_label(run)).c_str());
  printf("isa, threads     %s, %zu\n", m.isa.c_str(), run.options.threads);
  if (m.batch != 0) printf("batch            %zu\n", m.batch);
  if (m.throughput) print_throughput(run.options, m);
  printf("load, session    %s ms, %s ms\n", ms_text(m.load_ms).c_str(),
         ms_text(m.session_ms).c_str());
  printf("first, second    %s ms, %s ms (the first two runs)\n", ms_text(m.first_ms).c_str(),
         ms_text(m.second_ms).c_str());
  printf("latency          median %s ms  min %s  mean %s  p90 %s\n", ms_text(m.median).c_str(),
         ms_text(m.min).c_str(), ms_text(m.mean).c_str(), ms_text(m.p90).c_str());
  printf("                 p99 %s  (%zu runs%s)\n", ms_text(m.p99).c_str(), m.runs,
         m.is_interrupted ? ", interrupted" : "");
  if (run.options.frame_ms > 0)
    printf("stream           a step takes %.3g of a frame's %g ms (p99 %.3g)\n",
           m.real_time_factor(run.options.frame_ms), run.options.frame_ms,
           m.p99_real_time_factor(run.options.frame_ms));
  if (m.cpu_min > 0)
    printf("running time     median %s ms  min %s\n", ms_text(m.cpu_median).c_str(),
           ms_text(m.cpu_min).c_str());
  printf("noise            median %.1f %%, min %.1f %% (over ten parts)\n", m.median_noise * 100,
         m.min_noise * 100);
  printf("work             %.1f MMAC, %.1f GMAC/s\n", static_cast<double>(m.macs) * 1e-6,
         m.gmacs());
  printf("memory           peak %.1f MB, session %.1f MB\n",
         static_cast<double>(m.peak_memory) * 1e-6, static_cast<double>(m.session_memory) * 1e-6);
  if (run.comparison)
    printf("compare          %s;\n                 %s\n", verdict(*run.comparison).c_str(),
           other_times(*run.comparison).c_str());
  for (const BatchTime& b : m.scaling)
    printf("%-16s %s ms an image, %.3f of that at batch 1\n",
           ("batch " + std::to_string(b.batch)).c_str(), ms_text(b.image_ms).c_str(), b.of_first);
  if (!m.sustained.empty()) print_sustained(m);
  if (run.options.roofline && !m.ops.empty())
    print_roofline(m);
  else if (!m.ops.empty())
    print_ops(m);
}

void print_latency_table(const std::vector<Run>& runs) {
  printf("\n%-36s %7s %6s %10s %9s %7s\n", "model", "threads", "batch", "median ms", "least ms",
         "GMAC/s");
  for (const Run& run : runs)
    printf("%s %7zu %6zu %10s %9s %7.1f\n", fitted(escaped(model_label(run)), 36).c_str(),
           run.options.threads, run.m.batch, ms_text(run.m.median).c_str(),
           ms_text(run.m.min).c_str(), run.m.gmacs());
}

void print_throughput_table(const std::vector<Run>& runs) {
  const bool has_requests = runs[0].options.qps > 0;
  printf("\n%-20s %7s %7s %6s %8s %7s %9s %9s\n", "model", "streams", "threads", "batch", "runs/s",
         has_requests ? "qps" : "scaling", "median ms", "p99 ms");
  for (const Run& run : runs) {
    const double scaling = run.m.throughput->scaling();
    char last[32] = "";
    if (has_requests)
      snprintf(last, sizeof last, "%g", run.options.qps);
    else if (scaling > 0)
      snprintf(last, sizeof last, "%.2f", scaling);
    printf("%s %7zu %7zu %6zu %8s %7s %9s %9s\n", fitted(escaped(model_label(run)), 20).c_str(),
           run.options.streams, run.options.threads, run.m.batch,
           rate_text(run.m.throughput->runs_per_second).c_str(), last,
           ms_text(run.m.median).c_str(), ms_text(run.m.p99).c_str());
  }
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
  if (runs[0].m.throughput)
    print_throughput_table(runs);
  else
    print_latency_table(runs);
}

}  // namespace qrt::bench

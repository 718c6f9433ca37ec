// The three output formats of qrt_bench.
#include "bench/report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "qrt/qrt.hpp"
#include "runtime/text.h"

namespace qrt::bench {
namespace {

using nlohmann::ordered_json;

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

const char* level_name(int level) { return level == 0 ? "I0" : level == 1 ? "I1" : "edge"; }

void print_ops(const Measurement& m) {
  printf("\n%10s %6s %10s %8s  %-5s %-20s %-40s %s\n", "us", "share", "MMAC", "GMAC/s", "level",
         "operator", "kernel", "name");
  for (const OpTime& op : m.ops)
    printf("%10.1f %5.1f%% %10.2f %8.1f  %-5s %-20s %-40s %s\n", op.ms * 1e3, op.share * 100,
           static_cast<double>(op.macs) * 1e-6, op.gmacs, level_name(op.level), op.type.c_str(),
           op.kernel.c_str(), escaped(op.name).c_str());
}

// Time and limit of every operator, then the peaks they were judged by.
void print_roofline(const Options& options, const Measurement& m) {
  printf("roofline         %.1f %% of the limit (%.3f of %.3f ms)",
         percent(m.limit_ms(), m.ops_ms()), m.limit_ms(), m.ops_ms());
  printf("\npeak             %.1f %% of it in the least time (%.3f of %.3f ms)",
         percent(m.compute_ms(), m.least_ms()), m.compute_ms(), m.least_ms());
  for (const PeakRate& peak : m.peaks)
    printf("; %s %.1f GMAC/s a core", peak.loop->name, peak.gmacs);
  printf("\nbandwidth        GB/s read/copy of one core:");
  for (const MemoryLevel& level : m.memory)
    printf("  %s %.1f/%.1f", level.name, level.read_gbs, level.copy_gbs);
  printf("\n\n%10s %6s %10s %8s %10s %10s %8s %-7s %-6s %-40s %s\n", "us", "share", "MMAC",
         "GMAC/s", "compute us", "memory us", "of limit", "bound", "level", "kernel", "name");
  for (const OpTime& op : m.ops)
    printf("%10.1f %5.1f%% %10.2f %8.1f %10.2f %10.2f %7.1f%% %-7s %-6s %-40s %s\n", op.ms * 1e3,
           op.share * 100, static_cast<double>(op.macs) * 1e-6, op.gmacs, op.limit.compute_ms * 1e3,
           op.limit.memory_ms * 1e3, percent(op.limit.ms(), op.ms), op.limit.bound(),
           op.limit.memory_level, op.kernel.c_str(), escaped(op.name).c_str());
}

void print_text(const Options& options, const Measurement& m, const Comparison* comparison) {
  printf("model            %s\n", options.model.c_str());
  printf("qrt              %s\n", qrt_version());
  printf("isa, threads     %s, %zu\n", m.isa.c_str(), options.threads);
  if (m.batch != 0) printf("batch            %zu\n", m.batch);
  printf("load, session    %.3f ms, %.3f ms\n", m.load_ms, m.session_ms);
  printf("latency          median %.3f ms  min %.3f  mean %.3f  p90 %.3f  p99 %.3f  (%zu runs)\n",
         m.median, m.min, m.mean, m.p90, m.p99, m.runs);
  if (m.cpu_min > 0) printf("running time     median %.3f ms  min %.3f\n", m.cpu_median, m.cpu_min);
  printf("noise            median %.1f %%, min %.1f %% (over ten parts)\n", m.median_noise * 100,
         m.min_noise * 100);
  printf("work             %.1f MMAC, %.1f GMAC/s\n", static_cast<double>(m.macs) * 1e-6,
         m.gmacs());
  printf("memory           peak %.1f MB, session %.1f MB\n",
         static_cast<double>(m.peak_memory) * 1e-6, static_cast<double>(m.session_memory) * 1e-6);
  if (comparison != nullptr) printf("compare          %s\n", describe(*comparison, m).c_str());
  for (const BatchTime& b : m.scaling)
    printf("%-16s %.3f ms an image, %.3f of that at batch 1\n",
           ("batch " + std::to_string(b.batch)).c_str(), b.image_ms, b.of_first);
  if (options.roofline) {
    print_roofline(options, m);
  } else if (options.profile) {
    print_ops(m);
  }
}

ordered_json ops_json(const Options& options, const Measurement& m) {
  auto ops = ordered_json::array();
  for (const OpTime& op : m.ops) {
    ops.push_back({{"name", op.name},
                   {"type", op.type},
                   {"source_op", op.source_op},
                   {"kernel", op.kernel},
                   {"level", level_name(op.level)},
                   {"time_ms", op.ms},
                   {"share", op.share},
                   {"macs", op.macs},
                   {"gmacs_per_second", op.gmacs},
                   {"bytes", op.bytes},
                   {"constant_bytes", op.constant_bytes}});
    if (!options.roofline) continue;
    ops.back().update({{"compute_ms", op.limit.compute_ms},
                       {"memory_ms", op.limit.memory_ms},
                       {"memory_level", op.limit.memory_level},
                       {"bound", op.limit.bound()},
                       {"of_limit", percent(op.limit.ms(), op.ms) / 100}});
  }
  return ops;
}

ordered_json roofline_json(const Measurement& m) {
  ordered_json root = {
      {"limit_ms", m.limit_ms()},       {"of_limit", percent(m.limit_ms(), m.ops_ms()) / 100},
      {"compute_ms", m.compute_ms()},   {"of_peak", percent(m.compute_ms(), m.least_ms()) / 100},
      {"peaks", ordered_json::array()}, {"memory", ordered_json::array()}};
  for (const PeakRate& peak : m.peaks)
    root["peaks"].push_back({{"loop", peak.loop->name}, {"gmacs_per_second", peak.gmacs}});
  for (const MemoryLevel& level : m.memory)
    root["memory"].push_back({{"level", level.name},
                              {"measured_bytes", level.measured},
                              {"read_gb_per_second", level.read_gbs},
                              {"copy_gb_per_second", level.copy_gbs}});
  return root;
}

ordered_json comparison_json(const Comparison& c) {
  return {{"old_median_ms", c.old_run.median}, {"old_least_ms", c.old_run.least},
          {"median_change", c.median_change},  {"least_change", c.least_change},
          {"tolerance", c.tolerance},          {"regression", c.is_regression}};
}

void print_json(const Options& options, const Measurement& m, const Comparison* comparison) {
  ordered_json root = {
      {"model", options.model},
      {"version", qrt_version()},
      {"isa", m.isa},
      {"threads", options.threads},
      {"batch", m.batch},
      {"runs", m.runs},
      {"latency_ms",
       {{"median", m.median}, {"min", m.min}, {"mean", m.mean}, {"p90", m.p90}, {"p99", m.p99}}},
      {"noise", {{"median", m.median_noise}, {"min", m.min_noise}}},
      {"load_ms", m.load_ms},
      {"session_ms", m.session_ms},
      {"peak_memory_bytes", m.peak_memory},
      {"session_memory_bytes", m.session_memory},
      {"macs", m.macs},
      {"gmacs_per_second", m.gmacs()}};
  if (m.cpu_min > 0) root["cpu_ms"] = {{"median", m.cpu_median}, {"min", m.cpu_min}};
  if (options.profile) root["ops"] = ops_json(options, m);
  if (options.roofline) root["roofline"] = roofline_json(m);
  for (const BatchTime& b : m.scaling)
    root["scaling"].push_back(
        {{"batch", b.batch}, {"image_ms", b.image_ms}, {"of_batch_1", b.of_first}});
  if (comparison != nullptr) root["compare"] = comparison_json(*comparison);
  puts(root.dump(2, ' ', true, ordered_json::error_handler_t::replace).c_str());
}

// A field of csv (RFC 4180).
std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (char c : text) s += c == '"' ? std::string("\"\"") : std::string(1, c);
  return s + "\"";
}

// One row; with --scaling one for every batch instead, with --profile one for every operator.
void print_csv(const Options& options, const Measurement& m) {
  if (!m.scaling.empty()) {
    puts("batch,image_ms,of_batch_1");
    for (const BatchTime& b : m.scaling) printf("%zu,%.6f,%.4f\n", b.batch, b.image_ms, b.of_first);
    return;
  }
  if (!options.profile) {
    puts(
        "model,isa,threads,batch,runs,median_ms,min_ms,mean_ms,p90_ms,p99_ms,load_ms,session_ms,"
        "peak_memory_bytes,session_memory_bytes,macs,gmacs_per_second");
    printf("%s,%s,%zu,%zu,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%llu,%llu,%llu,%.3f\n",
           quoted(options.model).c_str(), m.isa.c_str(), options.threads, m.batch, m.runs, m.median,
           m.min, m.mean, m.p90, m.p99, m.load_ms, m.session_ms,
           static_cast<unsigned long long>(m.peak_memory),
           static_cast<unsigned long long>(m.session_memory),
           static_cast<unsigned long long>(m.macs), m.gmacs());
    return;
  }
  printf("index,name,type,kernel,level,time_ms,share,macs,gmacs_per_second,bytes%s\n",
         options.roofline ? ",compute_ms,memory_ms,memory_level,bound,of_limit" : "");
  for (size_t i = 0; i < m.ops.size(); ++i) {
    const OpTime& op = m.ops[i];
    printf("%zu,%s,%s,%s,%s,%.6f,%.6f,%llu,%.3f,%llu", i, quoted(escaped(op.name)).c_str(),
           op.type.c_str(), op.kernel.c_str(), level_name(op.level), op.ms, op.share,
           static_cast<unsigned long long>(op.macs), op.gmacs,
           static_cast<unsigned long long>(op.bytes));
    if (options.roofline) {
      printf(",%.6f,%.6f,%s,%s,%.4f", op.limit.compute_ms, op.limit.memory_ms,
             op.limit.memory_level, op.limit.bound(), percent(op.limit.ms(), op.ms) / 100);
    }
    printf("\n");
  }
}

}  // namespace

std::string describe(const Comparison& c, const Measurement& m) {
  char text[256];
  snprintf(text, sizeof text,
           "least %.3f -> %.3f ms (%+.1f %%), tolerance %.1f %%, median %+.1f %%: %s",
           c.old_run.least, m.least_ms(), c.least_change * 100, c.tolerance * 100,
           c.median_change * 100, c.is_regression ? "regression" : "no regression");
  return text;
}

void print(const Options& options, const Measurement& m, const Comparison* comparison) {
  if (options.format == "json") {
    print_json(options, m, comparison);
  } else if (options.format == "csv") {
    print_csv(options, m);
  } else {
    print_text(options, m, comparison);
  }
}

}  // namespace qrt::bench

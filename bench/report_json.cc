// SPDX-License-Identifier: Apache-2.0
// json and jsonl.
#include "bench/report_json.h"

#include <cstdio>

#include "bench/roofline.h"
#include "qrt/qrt.hpp"
#include "runtime/tools/files.h"

namespace qrt::bench {
namespace {

using nlohmann::ordered_json;

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
    if (const char* why = why_above(op)) ops.back()["above_limit"] = why;
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
  return {{"clock", c.is_cpu_time ? "cpu" : "wall"},
          {"old_median_ms", c.old_run.median},
          {"old_least_ms", c.old_least},
          {"median_change", c.median_change},
          {"least_change", c.least_change},
          {"tolerance", c.tolerance},
          {"regression", c.is_regression}};
}

ordered_json sustained_json(const Measurement& m) {
  ordered_json root = {{"of_peak", m.sustained_of_peak()}, {"intervals", ordered_json::array()}};
  for (const Interval& i : m.sustained)
    root["intervals"].push_back(
        {{"end_s", i.end_s},
         {"median_ms", i.median},
         {"p90_ms", i.p90},
         {"mhz", i.mhz > 0 ? ordered_json(i.mhz) : ordered_json()},
         {"celsius", i.celsius > 0 ? ordered_json(i.celsius) : ordered_json()},
         {"runs_per_second", i.runs_per_second}});
  return root;
}

ordered_json throughput_json(const Options& options, const Measurement& m) {
  const Throughput& t = *m.throughput;
  ordered_json root = {{"runs_per_second", t.runs_per_second},
                       {"samples_per_second", m.samples_per_second()},
                       {"stream_runs", t.runs}};
  if (options.qps > 0) root.update({{"qps", options.qps}, {"utilization", t.utilization}});
  if (t.one_stream > 0)
    root.update({{"one_stream_runs_per_second", t.one_stream},
                 {"one_stream_spread", t.one_stream_spread},
                 {"scaling", t.scaling()}});
  return root;
}

// Returns COMMIT of "0.1.0 (COMMIT, compiler)".
std::string commit() {
  const std::string version = qrt_version();
  const size_t begin = version.find('(') + 1;
  return version.substr(begin, version.find(',', begin) - begin);
}

std::string text_of(const ordered_json& root, int indent) {
  return root.dump(indent, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace

ordered_json run_json(const Machine& machine, const Run& run) {
  const Options& options = run.options;
  const Measurement& m = run.m;
  ordered_json root = {
      {"model", tool::with_stdin_named(options.model)},
      {"model_sha256", m.model_sha256},
      {"version", qrt_version()},
      {"commit", commit()},
      {"date", m.date},
      {"machine", {{"cpu", machine.cpu}, {"os", machine.os}, {"cpus", machine.cpus}}},
      {"isa", m.isa},
      {"threads", options.threads},
      {"batch", m.batch},
      {"runs", m.runs},
      {"latency_ms",
       {{"median", m.median}, {"min", m.min}, {"mean", m.mean}, {"p90", m.p90}, {"p99", m.p99}}},
      {"first_ms", m.first_ms},
      {"second_ms", m.second_ms},
      {"noise", {{"median", m.median_noise}, {"min", m.min_noise}}},
      {"load_ms", m.load_ms},
      {"session_ms", m.session_ms},
      {"peak_memory_bytes", m.peak_memory},
      {"session_memory_bytes", m.session_memory},
      {"macs", m.macs},
      {"gmacs_per_second", m.gmacs()},
      {"warnings", m.warnings}};
  for (const tool::Dims::Dim& dim : options.dims.list()) root["dims"][dim.name] = dim.size;
  if (m.is_interrupted) root["interrupted"] = true;
  if (m.cpu_min > 0) root["cpu_ms"] = {{"median", m.cpu_median}, {"min", m.cpu_min}};
  if (options.frame_ms > 0)
    root["stream"] = {{"frame_ms", options.frame_ms},
                      {"real_time_factor", m.real_time_factor(options.frame_ms)},
                      {"p99_real_time_factor", m.p99_real_time_factor(options.frame_ms)}};
  if (m.throughput) {
    root["streams"] = options.streams;
    root["shared_pool"] = options.shares_pool;
    if (!options.at_once.empty()) root["concurrent_models"] = options.at_once;
    root["throughput"] = throughput_json(options, m);
  }
  if (options.profile) root["ops"] = ops_json(options, m);
  if (options.roofline) root["roofline"] = roofline_json(m);
  if (!m.sustained.empty()) root["sustained"] = sustained_json(m);
  for (const BatchTime& b : m.scaling)
    root["scaling"].push_back(
        {{"batch", b.batch}, {"image_ms", b.image_ms}, {"of_batch_1", b.of_first}});
  if (run.comparison) root["compare"] = comparison_json(*run.comparison);
  return root;
}

void print_json(const Machine& machine, const std::vector<Run>& runs, bool as_lines) {
  auto list = ordered_json::array();
  for (const Run& run : runs) list.push_back(run_json(machine, run));
  if (as_lines)
    for (const auto& run : list) puts(text_of(run, -1).c_str());
  else
    puts(text_of(list.size() == 1 ? list[0] : list, 2).c_str());
}

}  // namespace qrt::bench

// SPDX-License-Identifier: Apache-2.0
// csv and md: a row for each run, or for each operator of each run.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "bench/report.h"
#include "bench/roofline.h"
#include "runtime/text.h"
#include "runtime/tools/files.h"

namespace qrt::bench {
namespace {

// Quotes a field of csv (RFC 4180). Spreadsheets take a text that begins with one of these
// characters for a formula, and names come from model files: an apostrophe in front makes it a text.
std::string quoted(const std::string& text) {
  const bool is_formula = !text.empty() && strchr("=+-@;\t\r\n", text[0]) != nullptr;
  std::string s = is_formula ? "\"'" : "\"";
  for (char c : text) s += c == '"' ? std::string("\"\"") : std::string(1, c);
  return s + "\"";
}

// Returns a cell of a table in Markdown.
std::string cell(const std::string& text) {
  std::string s;
  for (char c : escaped(text)) s += c == '|' ? std::string("\\|") : std::string(1, c);
  return s;
}

// Returns the columns that tell one of several runs apart, with which its rows begin; "" for a single run.
std::string start_of_row(const Run& run, bool is_one_of_many) {
  if (!is_one_of_many) return "";
  return quoted(model_label(run)) + "," + std::to_string(run.options.threads) + "," +
         std::to_string(run.m.batch) + ",";
}
const char* start_of_header(bool is_one_of_many) {
  return is_one_of_many ? "model,threads,batch," : "";
}

std::string number_or_nothing(double value) {
  if (value <= 0) return "";
  char text[32];
  snprintf(text, sizeof text, "%.3f", value);
  return text;
}

void print_scaling_csv(const std::vector<Run>& runs) {
  const bool many = runs.size() > 1;
  printf("%s%s\n", many ? "model,threads," : "", "batch,image_ms,of_batch_1");
  for (const Run& run : runs)
    for (const BatchTime& b : run.m.scaling)
      printf(
          "%s%zu,%.6f,%.4f\n",
          many
              ? (quoted(model_label(run)) + "," + std::to_string(run.options.threads) + ",").c_str()
              : "",
          b.batch, b.image_ms, b.of_first);
}

void print_ops_csv(const std::vector<Run>& runs) {
  const bool many = runs.size() > 1, roofline = runs[0].options.roofline;
  printf("%sindex,name,type,kernel,level,time_ms,share,macs,gmacs_per_second,bytes%s\n",
         start_of_header(many),
         roofline ? ",compute_ms,memory_ms,memory_level,bound,of_limit,above_limit" : "");
  for (const Run& run : runs)
    for (size_t i = 0; i < run.m.ops.size(); ++i) {
      const OpTime& op = run.m.ops[i];
      printf("%s%zu,%s,%s,%s,%s,%.6f,%.6f,%" PRIu64 ",%.3f,%" PRIu64,
             start_of_row(run, many).c_str(), i, quoted(escaped(op.name)).c_str(), op.type.c_str(),
             quoted(escaped(op.kernel)).c_str(), level_name(op.level), op.ms, op.share, op.macs,
             op.gmacs, op.bytes);
      if (roofline) {
        const char* const why = why_above(op);
        printf(",%.6f,%.6f,%s,%s,%.4f,%s", op.limit.compute_ms, op.limit.memory_ms,
               op.limit.memory_level, op.limit.bound(), percent(op.limit.ms(), op.ms) / 100,
               why != nullptr ? quoted(why).c_str() : "");
      }
      puts("");
    }
}

void print_streams_markdown(const std::vector<Run>& runs) {
  puts(
      "| model | isa | streams | threads | batch | qps | runs/s | scaling | one stream runs/s | "
      "its spread | median ms | p90 ms | p99 ms "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Run& run : runs) {
    const Measurement& m = run.m;
    const Throughput& t = *m.throughput;
    const bool has_one = t.one_stream > 0;
    char spread[32] = "";
    if (has_one) snprintf(spread, sizeof spread, "%.1f %%", t.one_stream_spread * 100);
    printf("| %s | %s | %zu | %zu%s | %zu | %s | %s | %s | %s | %s | %s | %s | %s |\n",
           cell(model_label(run)).c_str(), m.isa.c_str(), run.options.streams, run.options.threads,
           run.options.shares_pool ? " shared" : "", m.batch,
           run.options.qps > 0 ? rate_text(run.options.qps).c_str() : "",
           rate_text(t.runs_per_second).c_str(), number_or_nothing(t.scaling()).c_str(),
           has_one ? rate_text(t.one_stream).c_str() : "", spread, ms_text(m.median).c_str(),
           ms_text(m.p90).c_str(), ms_text(m.p99).c_str());
  }
}

}  // namespace

// Prints csv; with --scaling a row for every batch, with --profile one for every operator.
void print_csv(const std::vector<Run>& runs) {
  if (runs.empty()) return;
  if (runs[0].options.scaling != 0) return print_scaling_csv(runs);
  if (runs[0].options.profile) return print_ops_csv(runs);
  const bool compares = runs[0].comparison.has_value();
  printf(
      "model,isa,threads,batch,runs,median_ms,min_ms,mean_ms,p90_ms,p99_ms,load_ms,session_ms,"
      "peak_memory_bytes,session_memory_bytes,macs,gmacs_per_second,first_ms,second_ms,"
      "median_noise,min_noise,least_ms%s%s\n",
      compares ? ",old_least_ms,least_change,tolerance,regression" : "",
      runs[0].m.throughput ? ",streams,runs_per_second,samples_per_second,scaling,utilization,qps,"
                             "shared_pool,concurrent_models,one_stream_runs_per_second,"
                             "one_stream_spread"
                           : "");
  for (const Run& run : runs) {
    const Measurement& m = run.m;
    printf("%s,%s,%zu,%zu,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64
           ",%.3f,%.6f,%.6f,%.4f,%.4f,%.6f",
           quoted(model_label(run)).c_str(), m.isa.c_str(), run.options.threads, m.batch, m.runs,
           m.median, m.min, m.mean, m.p90, m.p99, m.load_ms, m.session_ms, m.peak_memory,
           m.session_memory, m.macs, m.gmacs(), m.first_ms, m.second_ms, m.median_noise,
           m.min_noise, m.least_ms());
    if (run.comparison)
      printf(",%.6f,%.4f,%.4f,%s", run.comparison->old_least, run.comparison->least_change,
             run.comparison->tolerance, run.comparison->is_regression ? "true" : "false");
    if (m.throughput) {
      const Throughput& t = *m.throughput;
      printf(",%zu,%.3f,%.3f,%s,%s,%s,%s,%zu,%s,", run.options.streams, t.runs_per_second,
             m.samples_per_second(), number_or_nothing(t.scaling()).c_str(),
             number_or_nothing(t.utilization).c_str(), number_or_nothing(run.options.qps).c_str(),
             run.options.shares_pool ? "true" : "false",
             std::max<size_t>(run.options.at_once.size(), 1),
             number_or_nothing(t.one_stream).c_str());
      if (t.one_stream > 0) printf("%.4f", t.one_stream_spread);
    }
    puts("");
  }
}

void print_markdown(const Machine& machine, const std::vector<Run>& runs) {
  if (runs.empty()) return;
  const bool compares = runs[0].comparison.has_value();
  printf("%s, %s, %s\n\n", cell(machine.cpu).c_str(), cell(machine.os).c_str(),
         runs[0].m.date.c_str());
  if (runs[0].m.throughput) return print_streams_markdown(runs);
  printf("| model | isa | threads | batch | median ms | least ms | p90 ms | GMAC/s | noise |%s\n",
         compares ? " before ms | change |" : "");
  printf("|---|---|---|---|---|---|---|---|---|%s\n", compares ? "---|---|" : "");
  for (const Run& run : runs) {
    const Measurement& m = run.m;
    printf("| %s | %s | %zu | %zu | %s | %s | %s | %.1f | %.1f %% |",
           cell(model_label(run)).c_str(), m.isa.c_str(), run.options.threads, m.batch,
           ms_text(m.median).c_str(),
           ms_text(run.comparison ? run.comparison->least : m.min).c_str(), ms_text(m.p90).c_str(),
           m.gmacs(), m.median_noise * 100);
    if (run.comparison)
      printf(" %s | %+.1f %%%s |", ms_text(run.comparison->old_least).c_str(),
             run.comparison->least_change * 100,
             run.comparison->is_regression ? " (regression)" : "");
    puts("");
  }
  for (const Run& run : runs) {
    if (run.m.ops.empty()) continue;
    printf("\n%s, %zu threads, batch %zu\n\n", cell(model_label(run)).c_str(), run.options.threads,
           run.m.batch);
    puts(
        "| us | share | GMAC/s | level | operator | kernel | name "
        "|\n|---|---|---|---|---|---|---|");
    for (const OpTime& op : run.m.ops)
      printf("| %.2f | %.1f %% | %.1f | %s | %s | %s | %s |\n", op.ms * 1e3, op.share * 100,
             op.gmacs, level_name(op.level), op.type.c_str(), cell(op.kernel).c_str(),
             cell(op.name).c_str());
  }
}

}  // namespace qrt::bench

// SPDX-License-Identifier: Apache-2.0
// Prints the results of qrt_bench: text for people, json, jsonl and csv for programs (keys are
// stable), md for documents.
#ifndef QRT_BENCH_REPORT_H_
#define QRT_BENCH_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "bench/compare.h"
#include "bench/machine.h"
#include "bench/measurement.h"

namespace qrt::bench {

// A model at one number of streams and of threads and one batch.
struct Run {
  Options options;
  Measurement m;
  std::optional<Comparison> comparison;  // with --compare
};

// Prints to stdout. json: an object for one run, else a list of them; jsonl: an object a line.
void print(const std::string& format, const Machine& machine, const std::vector<Run>& runs);

// Print one format each: report_text.cc, report_json.cc, report_tables.cc (csv and md).
void print_text(const Machine& machine, const std::vector<Run>& runs);
void print_json(const Machine& machine, const std::vector<Run>& runs, bool as_lines);
void print_csv(const std::vector<Run>& runs);
void print_markdown(const Machine& machine, const std::vector<Run>& runs);

// "no regression: least CPU time -0.8 %, tolerance 2.0 %"
std::string verdict(const Comparison& comparison);
// "2.41 -> 2.39 ms, median wall time -0.5 %"
std::string other_times(const Comparison& comparison);
// Both in one line.
std::string describe(const Comparison& comparison);

// Returns the file, with sizes that were asked for: "text.qrt [seq=17]"
std::string model_label(const Run& run);
// "I0", "I1", "F", "edge"
const char* level_name(int level);
// Returns a time for people, in three digits at least, also for small models: "12.345", "0.00204"
std::string ms_text(double ms);
// Returns a rate, of runs a second, in three digits at least: "1234", "12.3", "0.123".
std::string rate_text(double rate);
// 100 * part / whole; 0 of nothing.
double percent(double part, double whole);

}  // namespace qrt::bench

#endif  // QRT_BENCH_REPORT_H_

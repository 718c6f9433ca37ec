// SPDX-License-Identifier: Apache-2.0
// main() of the kernel benchmarks: Google Benchmark's, with a table of what measure() counts
// instead of its console output. Its json and csv (--benchmark_format) stay as they are.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/peak.h"

namespace {

double counter(const benchmark::BenchmarkReporter::Run& run, const char* name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? 0 : found->second.value;
}

class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    size_t count;
    const qrt::bench::PeakLoop* loops = qrt::bench::peak_loops(&count);
    printf("peak of one core, GMAC/s:");
    for (size_t i = 0; i < count; ++i) {
      if (!has(qrt::detected_isas(), loops[i].isa)) continue;
      printf("  %s %.1f", loops[i].name, qrt::bench::measure_gmacs(loops[i], 101));
    }
    printf("\n%-78s %12s %8s %8s %7s\n", "kernel/layer", "us", "GMAC/s", "GB/s", "of peak");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      std::string name = run.run_name.function_name;
      if (!run.run_name.args.empty()) name += "/" + run.run_name.args;
      if (!run.aggregate_name.empty()) name += " " + run.aggregate_name;
      const double macs = counter(run, "GMAC/s");
      printf("%-78s %12.2f ", name.c_str(), run.GetAdjustedRealTime());
      macs > 0 ? printf("%8.1f ", macs) : printf("%8s ", "-");
      printf("%8.1f %6.1f%%\n", counter(run, "GB/s"), counter(run, "peak_%"));
    }
    fflush(stdout);
  }
};

}  // namespace

int main(int argc, char** argv) {
  bool is_console = true;
  for (int i = 1; i < argc; ++i) {
    const char* const kFormat = "--benchmark_format=";
    if (strncmp(argv[i], kFormat, strlen(kFormat)) == 0)
      is_console = strcmp(argv[i] + strlen(kFormat), "console") == 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  Table table;
  if (is_console) {
    benchmark::RunSpecifiedBenchmarks(&table);
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
  return 0;
}

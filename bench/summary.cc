// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.h"

#include <algorithm>
#include <cmath>

#include "bench/peak.h"

namespace qrt::bench {
namespace {

// Returns the nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double p) {
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

template <class F>
std::vector<double> of_ten_groups(const std::vector<double>& values, const F& f) {
  const size_t n = values.size(), parts = std::min<size_t>(n, 10);
  std::vector<double> results;
  for (size_t i = 0; i < parts; ++i) {
    results.push_back(
        f(std::vector<double>(values.begin() + static_cast<ptrdiff_t>(n * i / parts),
                              values.begin() + static_cast<ptrdiff_t>(n * (i + 1) / parts))));
  }
  return results;
}

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// Raises CPU times to the least wall time, all in ms. On a shared host a virtual machine's CPU
// clock stands still now and then, so that a run seems to take no time. Among many runs shorter
// than a scheduler's time slice some are not preempted, and no run takes less time than those.
void clamp_running_times(double least_wall, std::vector<double>* cpu) {
  constexpr double kTurn = 1;  // ms
  if (least_wall >= kTurn) return;
  for (double& t : *cpu) t = std::max(t, least_wall);
}

template <class F>
std::vector<double> each(const std::vector<RunTime>& runs, const F& f) {
  std::vector<double> values;
  for (const RunTime& run : runs) values.push_back(f(run));
  return values;
}

std::vector<double> latencies_of(const std::vector<RunTime>& runs) {
  return each(runs, [](const RunTime& run) { return run.latency; });
}

}  // namespace

std::vector<RunTime> runs_of(const std::vector<Stream*>& streams) {
  std::vector<RunTime> runs;
  for (const Stream* stream : streams)
    runs.insert(runs.end(), stream->runs.begin(), stream->runs.end());
  std::sort(runs.begin(), runs.end(),
            [](const RunTime& a, const RunTime& b) { return a.end < b.end; });
  return runs;
}

double closed_rate(const std::vector<Stream*>& streams) {
  double rate = 0;
  for (const Stream* stream : streams) {
    if (stream->runs.empty()) continue;
    rate +=
        static_cast<double>(stream->runs.size()) / std::max(stream->runs.back().end, 1e-6) * 1e3;
  }
  return rate;
}

double latency_percentile(const std::vector<RunTime>& runs, double p) {
  std::vector<double> sorted = latencies_of(runs);
  std::sort(sorted.begin(), sorted.end());
  return percentile(sorted, p);
}

void summarise(const std::vector<RunTime>& runs, size_t threads, Measurement* m) {
  const std::vector<double> latencies = latencies_of(runs);
  std::vector<double> sorted = latencies;
  std::sort(sorted.begin(), sorted.end());
  m->runs = sorted.size();
  m->min = sorted[0];
  m->median = median(sorted);
  m->p90 = percentile(sorted, 0.90);
  m->p99 = percentile(sorted, 0.99);
  for (double t : sorted) m->mean += t / static_cast<double>(sorted.size());
  std::vector<double> cpu = each(runs, [](const RunTime& run) { return run.cpu; });
  const bool has_cpu = threads == 1 && cpu[0] > 0;
  if (has_cpu) {
    clamp_running_times(least(each(runs, [](const RunTime& run) { return run.end - run.begin; })),
                        &cpu);
    m->cpu_median = median(cpu);
    m->cpu_min = least(cpu);
  }
  const std::vector<double> medians = of_ten_groups(latencies, median);
  const auto [lowest, highest] = std::minmax_element(medians.begin(), medians.end());
  m->median_noise = (*highest - *lowest) / m->median;
  m->min_noise = median(of_ten_groups(has_cpu ? cpu : latencies, least)) / m->least_ms() - 1;
}

}  // namespace qrt::bench

// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/peak.h"
#include "bench/sessions.h"
#include "bench/streams.h"
#include "bench/summary.h"

namespace qrt::bench {
namespace {

// The streams of all subjects, and the threads that they share.
struct Load {
  std::optional<Pool> pool;
  std::vector<std::vector<Stream>> streams;

  std::vector<std::vector<Stream*>> all() {
    std::vector<std::vector<Stream*>> result(streams.size());
    for (size_t i = 0; i < streams.size(); ++i)
      for (Stream& stream : streams[i]) result[i].push_back(&stream);
    return result;
  }
};

// Returns the most bytes of memory that this program held. getrusage() also counts memory that the
// process held before exec(), such as that of a large parent after fork(). So Linux's VmHWM, which
// starts anew with the program, is preferred.
uint64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// Forgets the peak of memory before this measurement, where Linux lets a program say so.
void restart_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

Status make_load(const std::vector<Subject>& subjects, Load* load) {
  if (subjects[0].options->shares_pool) load->pool.emplace(subjects[0].options->threads);
  qrt_pool* pool = load->pool ? load->pool->get() : nullptr;
  for (const Subject& s : subjects) {
    std::vector<Stream>& streams = load->streams.emplace_back();
    for (size_t i = 0; i < std::max<size_t>(s.options->streams, 1); ++i) {
      const auto start = Clock::now();
      streams.push_back({make_session(*s.model, *s.options, s.options->batch, false, pool), {}});
      if (i == 0) s.m->session_ms = ms_since(start);
      QRT_TRY(fill_inputs(*s.model, *s.options, &streams.back().session));
    }
  }
  return {};
}

void describe_session(const Subject& s, const Session& session) {
  s.m->isa = best_isa(s.options->isa);
  s.m->session_memory = session.info().memory;
  s.m->batch = s.options->batch != 0 ? s.options->batch : s.model->info().default_batch;
  for (size_t i = 0; i < session.op_count(); ++i) s.m->macs += session.op_info(i).macs;
}

void run_twice(const Subject& s, std::vector<Stream>* streams) {
  for (double* ms : {&s.m->first_ms, &s.m->second_ms})
    for (Stream& stream : *streams) {
      const auto begin = Clock::now();
      run(&stream.session);
      if (&stream == &streams->front()) *ms = ms_since(begin);
    }
}

// Returns whether throughput is compared with that of one stream alone.
bool has_base(const std::vector<Subject>& subjects) {
  const Options& options = *subjects[0].options;
  return options.qps == 0 && (options.streams > 1 || (options.streams == 1 && subjects.size() > 1));
}

// Adds the rate of one stream of each model alone, as the mean of measurements before and after the
// run of all streams, so that a machine that becomes slower favours neither.
Status add_base(const std::vector<Subject>& subjects, const Progress& progress, Load* load) {
  constexpr double kPart = 8;  // each half takes this part of the time
  for (size_t i = 0; i < subjects.size(); ++i) {
    const std::vector<Stream*> one = {&load->streams[i][0]};
    QRT_TRY(run_streams({one}, {subjects[i].options->seconds / kPart, 2}, "one stream", progress));
    Throughput& t = *subjects[i].m->throughput;
    const double before = t.one_stream, now = closed_rate(one);
    if (now <= 0) continue;
    t.one_stream = before > 0 ? (before + now) / 2 : now;
    if (before > 0) t.one_stream_spread = std::abs(now - before) / t.one_stream;
  }
  return {};
}

// Returns the time in ms in which requests arrived and were answered.
double duration_ms(const Options& options, const std::vector<RunTime>& runs) {
  return std::max(runs.back().end, options.runs > 0 ? 1e-6 : options.seconds * 1e3);
}

double rate(const Options& options, const std::vector<Stream*>& streams,
            const std::vector<RunTime>& runs) {
  if (options.qps == 0) return closed_rate(streams);
  return static_cast<double>(runs.size()) / duration_ms(options, runs) * 1e3;
}

void set_throughput(const Options& options, const std::vector<Stream*>& streams,
                    const std::vector<RunTime>& runs, Throughput* t) {
  t->runs_per_second = rate(options, streams, runs);
  for (const Stream* stream : streams) t->runs.push_back(stream->runs.size());
  if (options.qps == 0) return;
  double busy = 0;
  for (const RunTime& run : runs) busy += run.end - run.begin;
  const double duration = duration_ms(options, runs);
  t->utilization = busy / duration / static_cast<double>(streams.size());
  const RunTime& last = runs.back();
  t->last_wait = (last.latency - (last.end - last.begin)) / duration;
}

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text(const char* format, ...) {
  char result[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(result, sizeof result, format, arguments);
  va_end(arguments);
  return result;
}

// Adds a warning for each circumstance that makes the figures unreliable.
void add_warnings(const std::vector<Subject>& subjects, const Subject& s) {
  constexpr double kMuchNoise = 0.25, kMuchWait = 0.05;
  const Options& options = *s.options;
  Measurement& m = *s.m;
  const size_t cpus = this_machine().cpus;
  const size_t streams = std::max<size_t>(options.streams, 1) * subjects.size();
  const size_t threads = options.threads * (options.shares_pool ? 1 : streams);
  if (threads > cpus) {
    const std::string all =
        threads == options.threads ? "" : text(" (%zu streams of %zu)", streams, options.threads);
    m.warnings.push_back(
        text("%zu threads%s on %zu CPU%s (affinity and cgroup): they wait for each other", threads,
             all.c_str(), cpus, cpus == 1 ? "" : "s"));
  }
  if (m.runs > 0 && m.median_noise > kMuchNoise && options.qps == 0)
    m.warnings.push_back(text(
        "the median moved by %.0f %% while measuring: the machine was busy or throttled, trust "
        "the least time only",
        m.median_noise * 100));
  if (m.throughput && options.qps > 0 && m.throughput->last_wait > kMuchWait)
    m.warnings.push_back(
        text("%.6g requests a second are more than can be served: %.6g were, and the longer it "
             "lasts, the longer they wait",
             options.qps, m.throughput->runs_per_second));
}

}  // namespace

double Measurement::sustained_of_peak() const {
  if (sustained.empty()) return 0;
  double best = sustained[0].median;
  std::vector<double> last;
  for (size_t i = 0; i < sustained.size(); ++i) {
    best = std::min(best, sustained[i].median);
    if (4 * i >= 3 * (sustained.size() - 1)) last.push_back(sustained[i].median);
  }
  return best / qrt::bench::median(last);
}

Status measure(const std::vector<Subject>& subjects, const Progress& progress) {
  const Options& options = *subjects[0].options;  // all subjects have equal options except the
                                                  // model
  restart_peak_memory();
  Load load;
  QRT_TRY(make_load(subjects, &load));
  for (size_t i = 0; i < subjects.size(); ++i) {
    describe_session(subjects[i], load.streams[i][0].session);
    if (options.streams > 0) subjects[i].m->throughput.emplace();
    run_twice(subjects[i], &load.streams[i]);
  }
  const std::vector<std::vector<Stream*>> all = load.all();
  if (!options.is_warmed_by_runs)
    QRT_TRY(run_streams(all, {options.seconds * 0.1, 2}, "warm-up", progress));
  else if (options.warmup > 0)
    QRT_TRY(run_streams(all, {0, 0, options.warmup}, "warm-up", progress));
  if (has_base(subjects)) QRT_TRY(add_base(subjects, progress, &load));
  if (options.frame_ms > 0)
    for (std::vector<Stream>& streams : load.streams)
      for (Stream& stream : streams) stream.session.reset();
  QRT_TRY(run_streams(all, {options.seconds, 5, options.runs, options.qps, options.streams == 0},
                      "runs", progress));
  const uint64_t peak_memory = peak_memory_bytes();
  for (size_t i = 0; i < subjects.size(); ++i) {
    Measurement& m = *subjects[i].m;
    m.peak_memory = peak_memory;
    const std::vector<RunTime> runs = runs_of(all[i]);
    if (runs.empty()) continue;
    summarise(runs, options.threads, &m);
    if (m.throughput) set_throughput(options, all[i], runs, &*m.throughput);
  }
  if (has_base(subjects)) QRT_TRY(add_base(subjects, progress, &load));
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Subject& s = subjects[i];
    if (s.m->runs == 0 && !interrupted())
      return error(Code::kInvalidArgument,
                   "no request came in %g seconds at %g a second: give more --seconds",
                   options.seconds, options.qps);
    add_warnings(subjects, s);
    if (options.frame_ms > 0 && load.streams[i][0].session.state_count() == 0)
      s.m->warnings.push_back(
          "the model keeps no state: its runs are no steps of a stream "
          "(qrt_convert --state IN=OUT makes a state of an input and an output)");
  }
  return {};
}

Status measure_sustained(const std::vector<Subject>& subjects, const Progress& progress) {
  constexpr double kIntervals = 20;
  const Options& options = *subjects[0].options;
  Load load;
  QRT_TRY(make_load(subjects, &load));
  const std::vector<std::vector<Stream*>> all = load.all();
  const double seconds = options.sustained_minutes * 60;
  const double interval = std::min(seconds, std::max(1.0, seconds / kIntervals));
  Options interval_options = options;
  interval_options.seconds = interval;
  const auto start = Clock::now();
  for (double end_s = 0; !interrupted() && end_s < seconds;) {
    QRT_TRY(run_streams(all, {interval, 1, 0, options.qps, options.streams == 0}, "", nullptr));
    end_s = ms_since(start) * 1e-3;
    for (size_t i = 0; i < subjects.size(); ++i) {
      const std::vector<RunTime> runs = runs_of(all[i]);
      if (runs.empty()) continue;
      subjects[i].m->sustained.push_back(
          {end_s, latency_percentile(runs, 0.50), latency_percentile(runs, 0.90), frequency_mhz(),
           temperature_celsius(), rate(interval_options, all[i], runs)});
    }
    if (progress) progress("sustained", end_s / seconds);
  }
  return {};
}

}  // namespace qrt::bench

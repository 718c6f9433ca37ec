// SPDX-License-Identifier: Apache-2.0
// The options of a measurement and its results; made by qrt_bench.cc, printed by report.cc.
#ifndef QRT_BENCH_MEASUREMENT_H_
#define QRT_BENCH_MEASUREMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/peak.h"
#include "runtime/tools/dims.h"

namespace qrt::tool {
class Inputs;
}

namespace qrt::bench {

// The options of one measurement: a model at one number of streams and of threads and one batch.
struct Options {
  std::string model, isa, kernels;
  tool::Dims dims;                  // of open dimensions; empty: the model's
  std::vector<std::string> inputs;  // [NAME=]FILE.npy; none: values of a fixed random sequence
  std::shared_ptr<const tool::Inputs> arrays;  // the content of `inputs`, by read_inputs()
  size_t threads = 1, batch = 0;
  size_t streams = 0;                // sessions at the same time; 0: one, without its throughput
  double qps = 0;                    // requests a second; 0: a stream's runs follow each other
  bool shares_pool = false;          // the streams share `threads` threads
  std::vector<std::string> at_once;  // models whose streams run at the same time; empty: this one's
  size_t scaling = 0;                // the greatest batch of measure_scaling(); 0: none
  double seconds = 1.0;              // how long, unless `runs` says how often
  size_t runs = 0, warmup = 0;       // 0: by time; warm-up a tenth of it
  bool is_warmed_by_runs = false;    // --warmup was given
  double sustained_minutes = 0;      // of measure_sustained(); 0: none
  double frame_ms = 0;  // length of a step of the stream whose state the model keeps; 0: none
  bool profile = false, roofline = false, traces = false;
};

// The least time an operator could take.
struct Limit {
  const PeakLoop* loop = nullptr;  // null: no multiplications
  double compute_ms = 0, memory_ms = 0;
  const char* memory_level = "";  // the slower of where constants and activations live
  double ms() const { return compute_ms > memory_ms ? compute_ms : memory_ms; }
  const char* bound() const { return compute_ms > memory_ms ? "compute" : "memory"; }
};

struct OpTime {
  std::string name, type, source_op, kernel;
  int level;
  uint64_t macs, bytes, constant_bytes;
  double ms;     // median of the runs
  double share;  // of all operators
  double gmacs;  // per second
  Limit limit;   // with --roofline
};

struct PeakRate {
  const PeakLoop* loop;
  double gmacs;  // of one core
};

struct BatchTime {
  size_t batch;
  double image_ms;  // median
  double of_first;  // throughput divided by that at batch 1, in the same turn: median
};

// A part of a long measurement.
struct Interval {
  double end_s, median, p90;  // seconds since the start; ms
  double mhz, celsius;        // at its end; 0: cannot be read
  double runs_per_second;     // of all streams
};

// The results of streams that run at the same time.
struct Throughput {
  double runs_per_second = 0;
  double one_stream = 0;         // runs a second of one alone; 0: not measured
  double one_stream_spread = 0;  // difference of the rates before and after, divided by their mean
  double utilization = 0;        // with --qps: share of the streams' time in which they ran
  // With --qps: how long the last run waited before it began; part of the time measured.
  double last_wait = 0;
  std::vector<size_t> runs;  // of each stream
  double scaling() const { return one_stream > 0 ? runs_per_second / one_stream : 0; }
};

// One run of the profile: when it began, and the time of every operator, one after the other.
struct TracedRun {
  double start_us;
  std::vector<double> op_us;
};

struct Measurement {
  std::string isa, date, model_sha256;
  std::vector<std::string> warnings;
  bool is_interrupted = false;  // there are fewer runs than were asked for
  double first_ms = 0,
         second_ms = 0;  // the first two runs of the session; the rest is steady state
  size_t batch = 0;
  double load_ms = 0, session_ms = 0;
  double median = 0, min = 0, mean = 0, p90 = 0, p99 = 0;  // ms
  // Time that the thread was running, ms; with one thread and without --streams only.
  double cpu_median = 0, cpu_min = 0;
  // The noise within the measurement, cut into ten consecutive parts: greatest less smallest median over
  // the median, and the median of their minima over the minimum, less 1 (with one thread: of cpu times).
  double median_noise = 0, min_noise = 0;
  size_t runs = 0;
  uint64_t peak_memory = 0, session_memory = 0;  // bytes
  uint64_t macs = 0;                             // of one run
  std::vector<OpTime> ops;

  std::optional<Throughput> throughput;  // with --streams

  std::vector<BatchTime> scaling;   // with --scaling
  std::vector<Interval> sustained;  // with --sustained
  std::vector<TracedRun> traced;    // with --trace

  // With --roofline.
  std::vector<PeakRate> peaks;  // of the loops that some operator's limit uses
  std::vector<MemoryLevel> memory;

  // Returns, for --sustained, the best median over the median of the last quarter; 1: nothing is lost.
  double sustained_of_peak() const;

  // Returns the part of a frame's length that a step takes; above 1 the stream is not kept up with.
  double real_time_factor(double frame_ms) const { return median / frame_ms; }
  double p99_real_time_factor(double frame_ms) const { return p99 / frame_ms; }

  // Returns the time that comparisons go by.
  double least_ms() const { return cpu_min > 0 ? cpu_min : min; }

  double samples_per_second() const {  // a run is a batch of them
    return throughput ? throughput->runs_per_second * static_cast<double>(batch > 0 ? batch : 1)
                      : 0;
  }

  double gmacs() const {  // of all streams
    if (throughput) return static_cast<double>(macs) * throughput->runs_per_second * 1e-9;
    return median > 0 ? static_cast<double>(macs) / median * 1e-6 : 0;
  }
  double ops_ms() const {
    double ms = 0;
    for (const OpTime& op : ops) ms += op.ms;
    return ms;
  }
  double compute_ms() const {
    double ms = 0;
    for (const OpTime& op : ops) ms += op.limit.compute_ms;
    return ms;
  }
  double limit_ms() const {
    double ms = 0;
    for (const OpTime& op : ops) ms += op.limit.ms();
    return ms;
  }
};

}  // namespace qrt::bench

#endif  // QRT_BENCH_MEASUREMENT_H_

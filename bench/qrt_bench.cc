// qrt_bench: how long a .qrt model takes on this machine, as a whole and per operator.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/compare.h"
#include "bench/measurement.h"
#include "bench/report.h"
#include "bench/roofline.h"
#include "bench/tool.h"
#include "kernels/isa.h"
#include "qrt/qrt.hpp"

namespace qrt::bench {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The best instruction set that kernels are taken from.
std::string best_isa(const std::string& cap) {
  IsaSet set = detected_isas();
  const char* environment = getenv("QRT_ISA");
  const std::string limit = !cap.empty() ? cap : environment != nullptr ? environment : "";
  Isa isa;
  if (!limit.empty() && parse_isa(limit.c_str(), &isa)) set = capped(set, isa);
  std::string best = isa_name(Isa::kScalar);
  for (int i = 0; isa_at(i, &isa); ++i)
    if (has(set, isa)) best = isa_name(isa);
  return best;
}

// The same values at every call: floats in [-1, 1), integers over their whole range.
void fill_input(Session* session, size_t i) {
  const qrt_tensor_info info = session->input_info(i);
  uint64_t state = 88172645463325252u + i;
  const auto next = [&] {  // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
  };
  if (info.dtype == QRT_FLOAT32) {
    for (float& v : session->input<float>(i))
      v = static_cast<float>(static_cast<int32_t>(next())) * 0x1p-31f;
    return;
  }
  auto* bytes = static_cast<uint8_t*>(qrt_session_input_data(session->get(), i));
  for (size_t b = 0; b < info.bytes; ++b) bytes[b] = static_cast<uint8_t>(next());
}

struct Times {
  std::vector<double> wall, cpu;  // ms, positive
};

// Runs until `seconds` have passed, at least `least` times.
void run_for(Session* session, double seconds, size_t least, Times* times) {
  const auto start = Clock::now();
  for (size_t n = 0; n < least || ms_since(start) < seconds * 1e3; ++n) {
    const double cpu_begin = thread_ns();
    const auto begin = Clock::now();
    session->run();
    const double wall = ms_since(begin);
    if (times == nullptr) continue;
    times->cpu.push_back(std::max((thread_ns() - cpu_begin) * 1e-6, 1e-6));
    times->wall.push_back(std::max(wall, 1e-6));
  }
}

// Nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double p) {
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

template <class F>
std::vector<double> of_ten_parts(const std::vector<double>& values, const F& f) {
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

void summarise(const Times& times, size_t threads, Measurement* m) {
  std::vector<double> sorted = times.wall;
  std::sort(sorted.begin(), sorted.end());
  m->runs = sorted.size();
  m->min = sorted[0];
  m->median = median(sorted);
  m->p90 = percentile(sorted, 0.90);
  m->p99 = percentile(sorted, 0.99);
  for (double t : sorted) m->mean += t / static_cast<double>(sorted.size());
  if (threads == 1) {
    m->cpu_median = median(times.cpu);
    m->cpu_min = least(times.cpu);
  }
  const std::vector<double> medians = of_ten_parts(times.wall, median);
  const auto [lowest, highest] = std::minmax_element(medians.begin(), medians.end());
  m->median_noise = (*highest - *lowest) / m->median;
  m->min_noise =
      median(of_ten_parts(threads == 1 ? times.cpu : times.wall, least)) / m->least_ms() - 1;
}

uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Session make_session(const Model& model, const Options& options, bool profile) {
  SessionOptions o;
  o.batch = options.batch;
  o.threads = options.threads;
  o.isa = options.isa.empty() ? nullptr : options.isa.c_str();
  o.profile = profile;
  o.kernels = options.kernels.empty() ? nullptr : options.kernels.c_str();
  return Session(model, o);
}

// Operators of a session that measured nothing yet.
std::vector<OpTime> list_ops(const Session& session) {
  std::vector<OpTime> ops;
  for (size_t i = 0; i < session.op_count(); ++i) {
    const qrt_op_info info = session.op_info(i);
    std::string kernel = info.kernel;
    if (info.runs_in != i) kernel += std::string(" in ") + session.op_info(info.runs_in).name;
    ops.push_back({info.name,
                   info.type,
                   info.source_op,
                   kernel,
                   info.level,
                   info.macs,
                   info.bytes,
                   info.constant_bytes,
                   0,
                   0,
                   0,
                   {}});
  }
  return ops;
}

// In a session of its own: reading clocks must not be part of the latency. With --roofline a sample
// of each compute peak stands between two runs: what slows the core down slows both.
void profile(const Model& model, const Options& options, Measurement* m) {
  Session session = make_session(model, options, true);
  for (size_t i = 0; i < model.input_count(); ++i) fill_input(&session, i);
  run_for(&session, options.seconds * 0.1, 2, nullptr);
  m->ops = list_ops(session);
  if (options.roofline) m->peaks = loops_of(*m);
  std::vector<std::vector<double>> times(m->ops.size()), rates(m->peaks.size());
  const auto start = Clock::now();
  for (size_t n = 0; n < 3 || ms_since(start) < options.seconds * 1e3; ++n) {
    for (size_t i = 0; i < rates.size(); ++i) rates[i].push_back(sample_gmacs(*m->peaks[i].loop));
    session.profile_reset();
    session.run();
    for (size_t i = 0; i < times.size(); ++i)
      times[i].push_back(static_cast<double>(session.op_info(i).total_ns) * 1e-6);
  }
  for (size_t i = 0; i < rates.size(); ++i) m->peaks[i].gmacs = median(rates[i]);
  for (size_t i = 0; i < times.size(); ++i) m->ops[i].ms = median(times[i]);
  const double total = m->ops_ms();
  for (OpTime& op : m->ops) {
    op.share = total > 0 ? op.ms / total : 0;
    op.gmacs = op.ms > 0 ? static_cast<double>(op.macs) / op.ms * 1e-6 : 0;
  }
  if (!options.roofline) return;
  m->memory = measure_memory();
  set_limits(options.threads, m);
}

Measurement measure(const Model& model, const Options& options, double load_ms) {
  Measurement m;
  m.load_ms = load_ms;
  m.isa = best_isa(options.isa);
  const auto start = Clock::now();
  Session session = make_session(model, options, false);
  m.session_ms = ms_since(start);
  m.session_memory = session.memory();
  m.batch = options.batch != 0 ? options.batch : model.default_batch();
  for (size_t i = 0; i < model.input_count(); ++i) fill_input(&session, i);
  run_for(&session, options.seconds * 0.1, 2, nullptr);  // warm-up
  Times times;
  run_for(&session, options.seconds, 5, &times);
  m.peak_memory = peak_memory_bytes();
  summarise(times, options.threads, &m);
  for (size_t i = 0; i < session.op_count(); ++i) m.macs += session.op_info(i).macs;
  return m;
}

std::string is_hexadecimal(const std::string& text) {
  char* end;
  strtoull(text.c_str(), &end, 16);
  return text.empty() || *end != '\0' ? "'" + text + "' is not a hexadecimal number" : "";
}

// "0x5" or "5": the CPUs 0 and 2, for this thread and those it will start.
Status pin(const std::string& mask) {
  const unsigned long long bits = strtoull(mask.c_str(), nullptr, 16);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned i = 0; i < 64; ++i)
    if (bits >> i & 1) CPU_SET(i, &set);
  if (bits != 0 && sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return error(Code::kInvalidArgument, "--cpu-mask %s names no CPU of this machine", mask.c_str());
}

int bench_main(int argc, char** argv) {
  CLI::App app;
  tool::set_up(&app,
               "Measures a .qrt model on this machine: warm-up, then runs for the time given.",
               "  qrt_bench model.qrt\n"
               "  qrt_bench model.qrt --threads 2 --seconds 5 --format json\n"
               "  qrt_bench model.qrt --profile --isa avx2        time of every operator\n"
               "  qrt_bench model.qrt --roofline                  and the least it could be\n"
               "  qrt_bench model.qrt --compare old.json          status 1 if slower than before");
  Options options;
  app.add_option("MODEL", options.model, "A .qrt file")->required();
  app.add_option("--threads", options.threads, "Threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long to measure")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Batch (default: the model's)")
      ->check(CLI::Range(size_t{1}, size_t{1} << 31));
  app.add_option("--isa", options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  app.add_option("--kernels", options.kernels,
                 "qrt, xnnpack (where it gives the same bytes) or xnnpack-all, for comparison");
  app.add_flag("--profile", options.profile, "Time of every operator, in a second measurement");
  app.add_flag("--roofline", options.roofline,
               "--profile, and how far every operator is from the limit of computing or of memory");
  app.add_option("--compare", options.compare,
                 "Result of an earlier --format json; exit status 1 on a regression beyond noise");
  app.add_option("--cpu-mask", options.cpu_mask, "CPUs to run on, hexadecimal: 5 is CPUs 0 and 2")
      ->check(CLI::Validator(is_hexadecimal, "HEX", "HEX"));
  app.add_option("--format", options.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  int exit;
  if (!tool::parse(&app, argc, argv, &exit)) return exit;
  options.profile |= options.roofline;
  Status status = tool::check_readable(options.model);
  OldRun old_run;
  if (status.ok() && !options.compare.empty()) status = read_old_run(options.compare, &old_run);
  if (status.ok() && !options.cpu_mask.empty()) status = pin(options.cpu_mask);
  if (!status.ok()) return tool::fail(status);
  const auto start = Clock::now();
  const Model model = Model::load_file(options.model);
  Measurement m = measure(model, options, ms_since(start));
  Comparison comparison;
  if (!options.compare.empty()) status = compare(old_run, m, options.threads, &comparison);
  if (!status.ok()) return tool::fail(status);
  if (options.profile) profile(model, options, &m);
  print(options, m, options.compare.empty() ? nullptr : &comparison);
  if (!comparison.is_regression) return tool::kDone;
  tool::complain(describe(comparison, m));
  return tool::kCheckFailed;
}

}  // namespace
}  // namespace qrt::bench

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::bench::bench_main, argc, argv); }

#include "bench/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/roofline.h"
#include "kernels/isa.h"
#include "runtime/tools/inputs.h"

namespace qrt::bench {
namespace {

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

// From options.inputs, else made up.
Status fill_inputs(const Model& model, const Options& options, Session* session) {
  if (options.inputs.empty()) {
    for (size_t i = 0; i < model.input_count(); ++i) fill_input(session, i);
    return {};
  }
  tool::Inputs inputs;
  QRT_TRY(inputs.read_any(model, options.inputs));
  const size_t batch = options.batch != 0 ? options.batch : model.default_batch();
  if (inputs.steps() > 0 || (inputs.batch() != 0 && inputs.batch() != batch))
    return error(
        Code::kInvalidArgument,
        "--input: the files hold a batch of %zu%s, expected one run of batch %zu (--batch)",
        inputs.batch(), inputs.steps() > 0 ? " and a sequence" : "", batch);
  return inputs.put(0, session);
}

struct Times {
  std::vector<double> wall, cpu;  // ms, positive
};

// How long to run: until `seconds` have passed and at least `least` times, or exactly `runs` times
// where that is not 0.
struct Extent {
  double seconds;
  size_t least, runs = 0;
};

void run_for(Session* session, const Extent& extent, const char* step, const Progress& progress,
             Times* times) {
  const auto start = Clock::now();
  const auto part = [&](size_t n) {
    return extent.runs > 0 ? static_cast<double>(n) / static_cast<double>(extent.runs)
                           : ms_since(start) / (extent.seconds * 1e3 + 1e-3);
  };
  const auto goes_on = [&](size_t n) {
    if (interrupted()) return false;
    if (extent.runs > 0) return n < extent.runs;
    return n < extent.least || ms_since(start) < extent.seconds * 1e3;
  };
  for (size_t n = 0; goes_on(n); ++n) {
    if (progress) progress(step, part(n));
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

// Beside others on its host a virtual machine's clock of running time stands still now and then, and a
// run seems to take nothing. Of many runs that are shorter than a scheduler's turn some are not
// interrupted, and none takes less time than these.
void mend_running_times(double least_wall, std::vector<double>* cpu) {
  constexpr double kTurn = 1;  // ms
  if (least_wall >= kTurn) return;
  for (double& t : *cpu) t = std::max(t, least_wall);
}

void summarise(Times times, size_t threads, Measurement* m) {
  std::vector<double> sorted = times.wall;
  std::sort(sorted.begin(), sorted.end());
  m->runs = sorted.size();
  m->min = sorted[0];
  m->median = median(sorted);
  m->p90 = percentile(sorted, 0.90);
  m->p99 = percentile(sorted, 0.99);
  for (double t : sorted) m->mean += t / static_cast<double>(sorted.size());
  if (threads == 1) {
    mend_running_times(m->min, &times.cpu);
    m->cpu_median = median(times.cpu);
    m->cpu_min = least(times.cpu);
  }
  const std::vector<double> medians = of_ten_parts(times.wall, median);
  const auto [lowest, highest] = std::minmax_element(medians.begin(), medians.end());
  m->median_noise = (*highest - *lowest) / m->median;
  m->min_noise =
      median(of_ten_parts(threads == 1 ? times.cpu : times.wall, least)) / m->least_ms() - 1;
}

// The most memory that this program held. getrusage() counts what the process held before it became
// this program, too: after a fork from a great parent that is the parent's memory. So Linux's own
// number comes first, which starts anew with the program.
uint64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// What was held before this measurement does not count, where Linux lets a program say so.
void restart_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

Session make_session(const Model& model, const Options& options, size_t batch, bool profile) {
  SessionOptions o;
  o.batch = batch;
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

// What makes the figures worth less than they look.
void add_warnings(const Options& options, Measurement* m) {
  constexpr double kMuchNoise = 0.25;
  char text[200];
  const size_t cpus = this_machine().cpus;
  if (options.threads > cpus) {
    snprintf(text, sizeof text,
             "%zu threads on %zu CPU%s (affinity and cgroup): they wait for each other",
             options.threads, cpus, cpus == 1 ? "" : "s");
    m->warnings.push_back(text);
  }
  if (m->runs > 0 && m->median_noise > kMuchNoise) {
    snprintf(
        text, sizeof text,
        "the median moved by %.0f %% while measuring: the machine was busy or throttled, trust "
        "the least time only",
        m->median_noise * 100);
    m->warnings.push_back(text);
  }
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

// One round at least, for there to be a number; three without an interruption.
bool goes_on(size_t rounds, Clock::time_point start, double seconds) {
  return rounds == 0 || (!interrupted() && (rounds < 3 || ms_since(start) < seconds * 1e3));
}

Status profile(const Model& model, const Options& options, const Progress& progress,
               Measurement* m) {
  constexpr size_t kMostTraced = 20;
  Session session = make_session(model, options, options.batch, true);
  QRT_TRY(fill_inputs(model, options, &session));
  run_for(&session, {options.seconds * 0.1, 2}, "warm-up", nullptr, nullptr);
  m->ops = list_ops(session);
  if (options.roofline) m->peaks = loops_of(*m);
  std::vector<std::vector<double>> times(m->ops.size()), rates(m->peaks.size());
  const auto start = Clock::now();
  for (size_t n = 0; goes_on(n, start, options.seconds); ++n) {
    if (progress) progress("profile", ms_since(start) / (options.seconds * 1e3 + 1e-3));
    for (size_t i = 0; i < rates.size(); ++i) rates[i].push_back(sample_gmacs(*m->peaks[i].loop));
    session.profile_reset();
    TracedRun traced = {ms_since(start) * 1e3, {}};
    session.run();
    for (size_t i = 0; i < times.size(); ++i) {
      times[i].push_back(static_cast<double>(session.op_info(i).total_ns) * 1e-6);
      traced.op_us.push_back(times[i].back() * 1e3);
    }
    if (options.traces && n < kMostTraced) m->traced.push_back(std::move(traced));
  }
  for (size_t i = 0; i < rates.size(); ++i) m->peaks[i].gmacs = median(rates[i]);
  for (size_t i = 0; i < times.size(); ++i) m->ops[i].ms = median(times[i]);
  const double total = m->ops_ms();
  for (OpTime& op : m->ops) {
    op.share = total > 0 ? op.ms / total : 0;
    op.gmacs = op.ms > 0 ? static_cast<double>(op.macs) / op.ms * 1e-6 : 0;
  }
  if (!options.roofline) return {};
  m->memory = measure_memory();
  set_limits(options.threads, m);
  return {};
}

Status measure(const Model& model, const Options& options, const Progress& progress,
               Measurement* m) {
  m->isa = best_isa(options.isa);
  restart_peak_memory();
  const auto start = Clock::now();
  Session session = make_session(model, options, options.batch, false);
  m->session_ms = ms_since(start);
  m->session_memory = session.memory();
  m->batch = options.batch != 0 ? options.batch : model.default_batch();
  for (size_t i = 0; i < session.op_count(); ++i) m->macs += session.op_info(i).macs;
  QRT_TRY(fill_inputs(model, options, &session));
  for (double* ms : {&m->first_ms, &m->second_ms}) {
    const auto begin = Clock::now();
    session.run();
    *ms = ms_since(begin);
  }
  if (!options.is_warmed_by_runs)
    run_for(&session, {options.seconds * 0.1, 2}, "warm-up", progress, nullptr);
  else if (options.warmup > 0)
    run_for(&session, {0, 0, options.warmup}, "warm-up", progress, nullptr);
  Times times;
  run_for(&session, {options.seconds, 5, options.runs}, "runs", progress, &times);
  m->peak_memory = peak_memory_bytes();
  if (!times.wall.empty()) summarise(times, options.threads, m);
  add_warnings(options, m);
  return {};
}

Status measure_sustained(const Model& model, const Options& options, const Progress& progress,
                         Measurement* m) {
  constexpr double kIntervals = 20;
  Session session = make_session(model, options, options.batch, false);
  QRT_TRY(fill_inputs(model, options, &session));
  const double seconds = options.sustained_minutes * 60;
  const double interval = std::min(seconds, std::max(1.0, seconds / kIntervals));
  const auto start = Clock::now();
  while (!interrupted() && ms_since(start) < seconds * 1e3) {
    Times times;
    run_for(&session, {interval, 1}, "", nullptr, &times);
    if (times.wall.empty()) break;
    std::sort(times.wall.begin(), times.wall.end());
    m->sustained.push_back({ms_since(start) * 1e-3, median(times.wall),
                            percentile(times.wall, 0.90), frequency_mhz(), temperature_celsius()});
    if (progress) progress("sustained", m->sustained.back().end_s / seconds);
  }
  return {};
}

void measure_scaling(const Model& model, const Options& options, Measurement* m) {
  std::vector<Session> sessions;
  std::vector<std::vector<double>> times, ratios;
  for (size_t batch = 1; batch <= options.scaling; batch *= 2) {
    sessions.push_back(make_session(model, options, batch, false));
    for (size_t i = 0; i < model.input_count(); ++i) fill_input(&sessions.back(), i);
    m->scaling.push_back({batch, 0, 0});
  }
  const size_t images = m->scaling.back().batch;
  times.resize(sessions.size());
  ratios.resize(sessions.size());
  const auto start = Clock::now();
  for (size_t n = 0; goes_on(n, start, options.seconds); ++n)
    for (size_t i = 0; i < sessions.size(); ++i) {
      sessions[i].run();  // what the others left in the caches
      const auto begin = Clock::now();
      for (size_t done = 0; done < images; done += m->scaling[i].batch) sessions[i].run();
      times[i].push_back(std::max(ms_since(begin), 1e-6) / static_cast<double>(images));
      ratios[i].push_back(times[i].back() / times[0].back());
    }
  for (size_t i = 0; i < sessions.size(); ++i) {
    m->scaling[i].image_ms = median(times[i]);
    m->scaling[i].of_first = median(ratios[i]);
  }
}

}  // namespace qrt::bench

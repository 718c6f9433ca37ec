// qrt_bench: how long a .qrt model takes on this machine, as a whole and per operator.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/tool.h"
#include "kernels/isa.h"
#include "qrt/qrt.hpp"

namespace qrt {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string model, isa, format = "text";
  size_t threads = 1, batch = 0;
  double seconds = 1.0;
  bool profile = false;
};

struct OpTime {
  std::string name, type, source_op, kernel;
  int level;
  uint64_t macs, bytes;
  double ms;     // mean of one run
  double share;  // of all operators
  double gmacs;  // per second
};

struct Measurement {
  std::string isa;
  size_t batch = 0;
  double load_ms = 0, session_ms = 0;
  double median = 0, min = 0, mean = 0, p90 = 0, p99 = 0;  // ms
  size_t runs = 0;
  uint64_t peak_memory = 0, session_memory = 0;  // bytes
  uint64_t macs = 0;                             // of one run
  std::vector<OpTime> ops;

  double gmacs() const { return median > 0 ? static_cast<double>(macs) / median * 1e-6 : 0; }
};

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

// Runs until `seconds` have passed, at least `least` times; times in ms if `times` is given.
void run_for(Session* session, double seconds, size_t least, std::vector<double>* times) {
  const auto start = Clock::now();
  for (size_t n = 0; n < least || ms_since(start) < seconds * 1e3; ++n) {
    const auto begin = Clock::now();
    session->run();
    if (times != nullptr) times->push_back(ms_since(begin));
  }
}

// Nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double p) {
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

void summarise(std::vector<double> times, Measurement* m) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  m->runs = n;
  m->min = times[0];
  m->median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  m->p90 = percentile(times, 0.90);
  m->p99 = percentile(times, 0.99);
  for (double t : times) m->mean += t / static_cast<double>(n);
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
  return Session(model, o);
}

// In a session of its own: reading clocks must not be part of the latency.
void profile(const Model& model, const Options& options, Measurement* m) {
  Session session = make_session(model, options, true);
  for (size_t i = 0; i < model.input_count(); ++i) fill_input(&session, i);
  run_for(&session, options.seconds * 0.1, 2, nullptr);
  session.profile_reset();
  run_for(&session, options.seconds, 3, nullptr);
  double total = 0;
  for (size_t i = 0; i < session.op_count(); ++i) {
    const qrt_op_info info = session.op_info(i);
    const auto runs = static_cast<double>(std::max<uint64_t>(info.runs, 1));
    const double ns = static_cast<double>(info.total_ns) / runs;
    total += ns;
    m->ops.push_back({info.name, info.type, info.source_op, info.kernel, info.level, info.macs,
                      info.bytes, ns * 1e-6, 0, ns > 0 ? static_cast<double>(info.macs) / ns : 0});
  }
  for (OpTime& op : m->ops) op.share = total > 0 ? op.ms * 1e6 / total : 0;
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
  std::vector<double> times;
  run_for(&session, options.seconds, 5, &times);
  m.peak_memory = peak_memory_bytes();
  summarise(std::move(times), &m);
  for (size_t i = 0; i < session.op_count(); ++i) m.macs += session.op_info(i).macs;
  return m;
}

const char* level_name(int level) { return level == 0 ? "I0" : level == 1 ? "I1" : "edge"; }

void print_text(const Options& options, const Measurement& m) {
  printf("model            %s\n", options.model.c_str());
  printf("qrt              %s\n", qrt_version());
  printf("isa, threads     %s, %zu\n", m.isa.c_str(), options.threads);
  if (m.batch != 0) printf("batch            %zu\n", m.batch);
  printf("load, session    %.3f ms, %.3f ms\n", m.load_ms, m.session_ms);
  printf("latency          median %.3f ms  min %.3f  mean %.3f  p90 %.3f  p99 %.3f  (%zu runs)\n",
         m.median, m.min, m.mean, m.p90, m.p99, m.runs);
  printf("work             %.1f MMAC, %.1f GMAC/s\n", static_cast<double>(m.macs) * 1e-6,
         m.gmacs());
  printf("memory           peak %.1f MB, session %.1f MB\n",
         static_cast<double>(m.peak_memory) * 1e-6, static_cast<double>(m.session_memory) * 1e-6);
  if (m.ops.empty()) return;
  printf("\n%10s %6s %10s %8s  %-5s %-20s %-40s %s\n", "us", "share", "MMAC", "GMAC/s", "level",
         "operator", "kernel", "name");
  for (const OpTime& op : m.ops)
    printf("%10.1f %5.1f%% %10.2f %8.1f  %-5s %-20s %-40s %s\n", op.ms * 1e3, op.share * 100,
           static_cast<double>(op.macs) * 1e-6, op.gmacs, level_name(op.level), op.type.c_str(),
           op.kernel.c_str(), op.name.c_str());
}

void print_json(const Options& options, const Measurement& m) {
  ordered_json root = {
      {"model", options.model},
      {"version", qrt_version()},
      {"isa", m.isa},
      {"threads", options.threads},
      {"batch", m.batch},
      {"runs", m.runs},
      {"latency_ms",
       {{"median", m.median}, {"min", m.min}, {"mean", m.mean}, {"p90", m.p90}, {"p99", m.p99}}},
      {"load_ms", m.load_ms},
      {"session_ms", m.session_ms},
      {"peak_memory_bytes", m.peak_memory},
      {"session_memory_bytes", m.session_memory},
      {"macs", m.macs},
      {"gmacs_per_second", m.gmacs()}};
  if (options.profile) {
    auto ops = ordered_json::array();
    for (const OpTime& op : m.ops)
      ops.push_back({{"name", op.name},
                     {"type", op.type},
                     {"source_op", op.source_op},
                     {"kernel", op.kernel},
                     {"level", level_name(op.level)},
                     {"time_ms", op.ms},
                     {"share", op.share},
                     {"macs", op.macs},
                     {"gmacs_per_second", op.gmacs},
                     {"bytes", op.bytes}});
    root["ops"] = std::move(ops);
  }
  puts(root.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

// A field of csv (RFC 4180).
std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (char c : text) s += c == '"' ? std::string("\"\"") : std::string(1, c);
  return s + "\"";
}

// One row; with --profile one for every operator instead.
void print_csv(const Options& options, const Measurement& m) {
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
  puts("index,name,type,kernel,level,time_ms,share,macs,gmacs_per_second,bytes");
  for (size_t i = 0; i < m.ops.size(); ++i) {
    const OpTime& op = m.ops[i];
    printf("%zu,%s,%s,%s,%s,%.6f,%.6f,%llu,%.3f,%llu\n", i, quoted(op.name).c_str(),
           op.type.c_str(), op.kernel.c_str(), level_name(op.level), op.ms, op.share,
           static_cast<unsigned long long>(op.macs), op.gmacs,
           static_cast<unsigned long long>(op.bytes));
  }
}

int bench_main(int argc, char** argv) {
  CLI::App app;
  tool::set_up(&app,
               "Measures a .qrt model on this machine: warm-up, then runs for the time given.",
               "  qrt_bench model.qrt\n"
               "  qrt_bench model.qrt --threads 2 --seconds 5 --format json\n"
               "  qrt_bench model.qrt --profile --isa avx2        time of every operator");
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
  app.add_flag("--profile", options.profile, "Time of every operator, in a second measurement");
  app.add_option("--format", options.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  int exit;
  if (!tool::parse(&app, argc, argv, &exit)) return exit;
  const Status readable = tool::check_readable(options.model);
  if (!readable.ok()) return tool::fail(readable);
  const auto start = Clock::now();
  const Model model = Model::load_file(options.model);
  Measurement m = measure(model, options, ms_since(start));
  if (options.profile) profile(model, options, &m);
  if (options.format == "json")
    print_json(options, m);
  else if (options.format == "csv")
    print_csv(options, m);
  else
    print_text(options, m);
  return tool::kDone;
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::bench_main, argc, argv); }

// SPDX-License-Identifier: Apache-2.0
#include "bench/request.h"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace qrt::bench {
namespace {

constexpr size_t kMostStreams = 1024, kMostThreads = 1024, kMostBatch = size_t{1} << 31,
                 kMostRuns = size_t{1} << 31;

// Numbers of 1 to `most`, "1,2,8"; false: the text is something else.
bool read_counts(const std::string& text, size_t most, std::vector<size_t>* counts) {
  for (const char* at = text.c_str();; ++at) {
    char* end;
    const unsigned long long n = strtoull(at, &end, 10);
    if (*at < '0' || *at > '9' || n < 1 || n > most || (*end != '\0' && *end != ',')) return false;
    counts->push_back(static_cast<size_t>(n));
    if (*end == '\0') return true;
    at = end;
  }
}

template <size_t kMost>
std::string check_counts(const std::string& text) {
  std::vector<size_t> counts;
  return read_counts(text, kMost, &counts)
             ? ""
             : "'" + text + "' is no number of 1 to " + std::to_string(kMost) + ", or list of them";
}

constexpr double kLeastFrame = 1e-6, kMostFrame = 1e9;  // ms
constexpr double kLeastRate = 1e-6, kMostRate = 1e9;

// "0.5,100".
bool read_rates(const std::string& text, std::vector<double>* rates) {
  for (const char* at = text.c_str();; ++at) {
    char* end;
    const double rate = strtod(at, &end);
    if (end == at || !(rate >= kLeastRate) || rate > kMostRate || (*end != '\0' && *end != ','))
      return false;
    rates->push_back(rate);
    if (*end == '\0') return true;
    at = end;
  }
}

std::string check_rates(const std::string& text) {
  std::vector<double> rates;
  return read_rates(text, &rates)
             ? ""
             : "'" + text + "' is no number of 0.000001 to 1e9, or list of them";
}

std::string check_hexadecimal(const std::string& text) {
  char* end;
  strtoull(text.c_str(), &end, 16);
  return text.empty() || *end != '\0' ? "'" + text + "' is not a hexadecimal number" : "";
}

std::string check_number(const std::string& text) {
  return text.empty() || text.find_first_not_of("0123456789") != std::string::npos ||
                 text.size() > 9
             ? "'" + text + "' is no number"
             : "";
}

std::vector<size_t> counts_or(const std::string& text, size_t most, size_t otherwise) {
  std::vector<size_t> counts;
  if (text.empty() || !read_counts(text, most, &counts)) counts = {otherwise};
  return counts;
}

}  // namespace

void declare(tool::CommandLine* line, Request* request) {
  Options& options = request->options;
  line->some_arguments("MODEL", &request->models, "A .qrt file, or several; - is standard input");
  line->checked_text("--streams N,N...", &request->streams, check_counts<kMostStreams>,
                     "Sessions of a model that run at the same time, each on a thread of its own, "
                     "and their throughput; a list measures each");
  line->checked_text(
      "--qps Q,Q...", &request->qps, check_rates,
      "Requests a second that the streams serve, at random times (default: as many as "
      "they can); a list measures each");
  line->flag("--concurrent-models", &request->concurrent_models,
             "All models at the same time, --streams of each");
  line->flag("--shared-pool", &options.shares_pool,
             "--streams share --threads threads (qrt_pool), instead of so many each");
  line->number(
      "--stream NUMBER", &options.frame_ms, kLeastFrame, kMostFrame,
      "Every run is a step of a stream, whose state goes on from its beginning: how much a step "
      "takes of a frame of so many milliseconds");
  line->checked_text("--threads N,N...", &request->threads, check_counts<kMostThreads>,
                     "Threads of a session; a list measures each");
  line->checked_text("--batch N,N...", &request->batches, check_counts<kMostBatch>,
                     "Batch (default: the model's); a list measures each");
  line->texts(
      "--dims SIZES", &request->dims,
      "NAME=N,N..., sizes of an open dimension, each measured (default: the model's); repeated: of "
      "several, all combinations");
  line->number("--seconds NUMBER", &options.seconds, 0.0, 86400.0, "How long to measure");
  line->number("--runs COUNT", &options.runs, 1, kMostRuns,
               "How often to run, instead of --seconds");
  line->checked_text("--warmup COUNT", &request->warmup, check_number,
                     "Runs before that (default: a tenth of the time)");
  line->texts("--input FILE", &options.inputs,
              "[NAME=]FILE.npy or .npz, instead of made-up values; may be repeated");
  line->number("--scaling COUNT", &options.scaling, 1, kMostBatch,
               "Time of an image at batches 1, 2, 4 ... up to this one, too, in turns");
  line->number("--sustained MINUTES", &options.sustained_minutes, 0.0, 10000.0,
               "Minutes to run on: times, frequency and temperature of each interval, and what "
               "is left of the peak");
  line->text("--isa NAME", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  line->text("--kernels NAME", &options.kernels,
             "qrt, xnnpack (where it gives the same bytes) or xnnpack-all, for comparison");
  line->flag("--profile", &options.profile, "Time of every operator, in a second measurement");
  line->flag("--roofline", &options.roofline,
             "--profile, and how far every operator is from the limit of computing or of memory");
  line->text("--trace FILE", &request->trace,
             "File for the profile as chrome://tracing and Perfetto read it");
  line->text("--html FILE", &request->html,
             "--roofline, and a page that shows it in a browser: graph, profile, memory");
  line->text("--compare FILE", &request->compare,
             "Result of an earlier --format json or jsonl; exit status 1 on a regression beyond "
             "noise");
  line->text("--affinity CPUS", &request->affinity, "CPUs to run on: big, little or a list, 0,2-3");
  line->checked_text("--cpu-mask HEX", &request->cpu_mask, check_hexadecimal,
                     "The same, hexadecimal: 5 is CPUs 0 and 2");
  line->choice("--format NAME", &request->format, {"text", "json", "jsonl", "md", "csv"},
               "Form of the output");
}

Status complete(Request* request) {
  Options& options = request->options;
  for (const std::string& text : request->dims) {
    std::string name;
    std::vector<int64_t> sizes;
    if (!tool::read_dim_sizes(text, &name, &sizes))
      return error(Code::kInvalidArgument, "--dims %s: expected NAME=SIZE, or NAME=SIZE,SIZE...",
                   text.c_str());
    for (const std::string& other : request->dims) {
      if (&other == &text) break;
      if (other.compare(0, name.size() + 1, name + "=") == 0)
        return error(Code::kInvalidArgument, "--dims names '%s' twice: give its sizes in one list",
                     name.c_str());
    }
  }
  options.traces = !request->trace.empty();
  options.roofline |= !request->html.empty();
  options.profile |= options.roofline || options.traces;
  options.is_warmed_by_runs = !request->warmup.empty();
  options.warmup = strtoul(request->warmup.c_str(), nullptr, 10);
  const bool concurrent = request->concurrent_models;
  if (request->streams.empty() && (!request->qps.empty() || concurrent || options.shares_pool))
    request->streams = "1";
  if (concurrent && request->models.size() < 2)
    return error(Code::kInvalidArgument, "--concurrent-models needs several models");
  if (concurrent) options.at_once = request->models;
  if (concurrent && !options.inputs.empty())
    return error(Code::kInvalidArgument,
                 "--input holds the inputs of one model and --concurrent-models measures several: "
                 "leave one out");
  if (!request->streams.empty() &&
      (options.profile || options.scaling != 0 || !request->compare.empty()))
    return error(Code::kInvalidArgument,
                 "--streams measures sessions at the same time: leave out --profile, --roofline, "
                 "--trace, --html, --scaling and --compare, which are of one session");
  if (options.scaling != 0 && !options.inputs.empty())
    return error(Code::kInvalidArgument,
                 "--input holds one batch and --scaling measures several: leave one out");
  if (options.sustained_minutes > 0 && (request->format == "csv" || request->format == "md"))
    return error(Code::kInvalidArgument, "--sustained is shown as text, json or jsonl");
  return {};
}

namespace {

// Returns every combination of the sizes that were asked for.
std::vector<tool::Dims> dims_of(const Request& request) {
  std::vector<tool::Dims> all(1);
  for (const std::string& text : request.dims) {
    std::string name;
    std::vector<int64_t> sizes;
    if (!tool::read_dim_sizes(text, &name, &sizes)) continue;
    std::vector<tool::Dims> longer;
    for (const tool::Dims& dims : all)
      for (const int64_t size : sizes) {
        longer.push_back(dims);
        (void)longer.back().set(name, size, "--dims");
      }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

Counts counts_of(const Request& request) {
  std::vector<double> rates;
  if (request.qps.empty() || !read_rates(request.qps, &rates)) rates = {0};
  return {counts_or(request.streams, kMostStreams, 0), counts_or(request.threads, kMostThreads, 1),
          counts_or(request.batches, kMostBatch, 0), dims_of(request), rates};
}

}  // namespace qrt::bench

// qrt_bench: how long .qrt models take on this machine, as a whole and per operator.
#include <cstdio>
#include <cstdlib>

#include "bench/compare.h"
#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/page.h"
#include "bench/report.h"
#include "bench/trace.h"
#include "qrt/qrt.hpp"
#include "runtime/text.h"
#include "runtime/tools/files.h"
#include "runtime/tools/hash.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/options.h"
#include "runtime/tools/progress.h"
#include "runtime/tools/terminal.h"

namespace qrt::bench {
namespace {

constexpr size_t kMostThreads = 1024, kMostBatch = size_t{1} << 31, kMostRuns = size_t{1} << 31;

// What the command line asks for: every model at every number of threads and every batch.
struct Request {
  std::vector<std::string> models;
  std::string threads = "1", batches, warmup, format = "text", compare, cpu_mask, affinity, trace,
              html;
  Options options;  // the same for all
};

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

// All that is asked of one model at one number of threads and one batch.
Status measure_all(const Model& model, const std::vector<OldRun>& old_runs,
                   const Progress& progress, Run* run) {
  QRT_TRY(measure(model, run->options, progress, &run->m));
  if (run->m.runs == 0) return {};
  if (!old_runs.empty()) {
    OldRun old;
    run->comparison.emplace();
    QRT_TRY(find_old_run(old_runs, run->options.model, run->options.threads, run->m.batch, &old));
    QRT_TRY(compare(old, run->m, run->options.threads, &*run->comparison));
  }
  if (run->options.profile && !interrupted())
    QRT_TRY(profile(model, run->options, progress, &run->m));
  if (run->options.scaling != 0 && !interrupted()) measure_scaling(model, run->options, &run->m);
  if (run->options.sustained_minutes > 0 && !interrupted())
    QRT_TRY(measure_sustained(model, run->options, progress, &run->m));
  run->m.is_interrupted = interrupted();
  return {};
}

// What one model is measured at.
struct Counts {
  std::vector<size_t> threads, batches;  // batch 0: the model's
};

Counts counts_of(const Request& request) {
  Counts counts;
  read_counts(request.threads, kMostThreads, &counts.threads);
  if (!request.batches.empty())
    read_counts(request.batches, kMostBatch, &counts.batches);
  else
    counts.batches = {0};
  return counts;
}

// Before minutes are spent: whether the earlier runs hold each that will be measured.
Status check_old_runs(const Request& request, const std::vector<OldRun>& old_runs) {
  const Counts counts = counts_of(request);
  for (const std::string& path : request.models) {
    const size_t own_batch = Model::load_file(path).default_batch();
    for (const size_t threads : counts.threads)
      for (const size_t wanted : counts.batches) {
        const size_t batch = wanted != 0 ? wanted : own_batch;
        OldRun old;
        QRT_TRY(find_old_run(old_runs, path, threads, batch, &old));
        QRT_TRY(check_same_work(old, threads, batch, old.macs));
      }
  }
  return {};
}

// Every combination, until it is done or interrupted; *runs holds what was measured.
Status measure_models(const Request& request, const std::vector<OldRun>& old_runs,
                      std::vector<Run>* runs) {
  const Counts counts = counts_of(request);
  tool::ProgressLine line("qrt_bench");
  for (const std::string& path : request.models) {
    const auto start = Clock::now();
    const Model model = Model::load_file(path);
    const double load_ms = ms_since(start);
    std::vector<uint8_t> bytes;
    QRT_TRY(tool::read_file(path, &bytes));
    const std::string digest = tool::sha256(bytes.data(), bytes.size());
    bytes = {};
    for (const size_t thread_count : counts.threads)
      for (const size_t batch : counts.batches) {
        if (interrupted()) return {};
        Run run = {request.options, {}, {}};
        run.options.model = path;
        run.options.threads = thread_count;
        run.options.batch = batch;
        run.m.load_ms = load_ms;
        run.m.model_sha256 = digest;
        run.m.date = utc_now();
        Progress progress;
        if (tool::is_terminal())
          progress = [&](const char* step, double part) {
            line.show(escaped(path) + ", " + std::to_string(thread_count) +
                          (thread_count == 1 ? " thread, " : " threads, ") + step,
                      part);
          };
        QRT_TRY(measure_all(model, old_runs, progress, &run));
        line.clear();
        for (const std::string& warning : run.m.warnings)
          fprintf(stderr, "qrt_bench: warning: %s: %s\n", escaped(path).c_str(), warning.c_str());
        if (run.m.runs > 0) runs->push_back(std::move(run));
      }
  }
  return {};
}

Status prepare(Request* request, std::vector<OldRun>* old_runs) {
  Options& options = request->options;
  options.traces = !request->trace.empty();
  options.roofline |= !request->html.empty();
  options.profile |= options.roofline || options.traces;
  options.is_warmed_by_runs = !request->warmup.empty();
  options.warmup = strtoul(request->warmup.c_str(), nullptr, 10);
  if (options.scaling != 0 && !options.inputs.empty())
    return error(Code::kInvalidArgument,
                 "--input holds one batch and --scaling measures several: leave one out");
  if (options.sustained_minutes > 0 && (request->format == "csv" || request->format == "md"))
    return error(Code::kInvalidArgument, "--sustained is shown as text, json or jsonl");
  for (const std::string& model : request->models) QRT_TRY(tool::check_model_file(model));
  std::vector<std::string> read = request->models;
  read.insert(read.end(), options.inputs.begin(), options.inputs.end());
  read.push_back(request->compare);
  QRT_TRY(tool::check_outputs({request->trace, request->html}, read));
  if (!request->compare.empty()) {
    QRT_TRY(read_old_runs(request->compare, old_runs));
    QRT_TRY(check_old_runs(*request, *old_runs));
  }
  if (!request->cpu_mask.empty()) QRT_TRY(set_cpu_mask(request->cpu_mask));
  if (!request->affinity.empty()) QRT_TRY(set_affinity(request->affinity));
  return {};
}

// The first regression's message, if there is one.
int verdict(const std::vector<Run>& runs) {
  int status = tool::kDone;
  for (const Run& run : runs)
    if (run.comparison && run.comparison->is_regression) {
      tool::complain(run.options.model + ": " + describe(*run.comparison, run.m));
      status = tool::kCheckFailed;
    }
  return status;
}

void declare(tool::CommandLine* line, Request* request) {
  Options& options = request->options;
  line->some_arguments("MODEL", &request->models, "A .qrt file, or several");
  line->checked_text("--threads", &request->threads, "N,N...", check_counts<kMostThreads>,
                     "Threads; a list measures each");
  line->checked_text("--batch", &request->batches, "N,N...", check_counts<kMostBatch>,
                     "Batch (default: the model's); a list measures each");
  line->number("--seconds", &options.seconds, 0.0, 86400.0, "How long to measure");
  line->number("--runs", &options.runs, 1, kMostRuns, "How often to run, instead of --seconds");
  line->checked_text("--warmup", &request->warmup, "N", check_number,
                     "Runs before that (default: a tenth of the time)");
  line->texts("--input", &options.inputs,
              "[NAME=]FILE.npy, instead of made-up values; may be repeated");
  line->number("--scaling", &options.scaling, 1, kMostBatch,
               "Time of an image at batches 1, 2, 4 ... up to this one, too, in turns");
  line->number("--sustained", &options.sustained_minutes, 0.0, 10000.0,
               "Minutes to run on: times, frequency and temperature of each interval, and what "
               "is left of the peak");
  line->text("--isa", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  line->text("--kernels", &options.kernels,
             "qrt, xnnpack (where it gives the same bytes) or xnnpack-all, for comparison");
  line->flag("--profile", &options.profile, "Time of every operator, in a second measurement");
  line->flag("--roofline", &options.roofline,
             "--profile, and how far every operator is from the limit of computing or of memory");
  line->text("--trace", &request->trace,
             "File for the profile as chrome://tracing and Perfetto read it");
  line->text("--html", &request->html,
             "--roofline, and a page that shows it in a browser: graph, profile, memory");
  line->text("--compare", &request->compare,
             "Result of an earlier --format json or jsonl; exit status 1 on a regression beyond "
             "noise");
  line->text("--affinity", &request->affinity, "CPUs to run on: big, little or a list, 0,2-3");
  line->checked_text("--cpu-mask", &request->cpu_mask, "HEX", check_hexadecimal,
                     "The same, hexadecimal: 5 is CPUs 0 and 2");
  line->choice("--format", &request->format, {"text", "json", "jsonl", "md", "csv"}, "Output");
}

int bench_main(int argc, char** argv) {
  tool::CommandLine line(
      "Measures .qrt models on this machine: warm-up, then runs for the time given.",
      "  qrt_bench model.qrt\n"
      "  qrt_bench a.qrt b.qrt --threads 1,2 --batch 1,8 --format md\n"
      "  qrt_bench model.qrt --threads 2 --seconds 5 --format json\n"
      "  qrt_bench model.qrt --profile --isa avx2        time of every operator\n"
      "  qrt_bench model.qrt --roofline                  and the least it could be\n"
      "  qrt_bench model.qrt --html model.html           the same in a browser\n"
      "  qrt_bench model.qrt --sustained 10 --affinity big\n"
      "  qrt_bench model.qrt --compare old.json          status 1 if slower than before");
  Request request;
  declare(&line, &request);
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  std::vector<OldRun> old_runs;
  std::vector<Run> runs;
  Status status = prepare(&request, &old_runs);
  if (!status.ok()) return tool::fail(status);
  catch_interrupts();
  status = measure_models(request, old_runs, &runs);
  if (!status.ok() && runs.empty()) return tool::fail(status);
  if (runs.empty()) {
    tool::complain("interrupted before a run was measured");
    end_interrupted();
  }
  print(request.format, this_machine(), runs);
  if (!status.ok()) return tool::fail(status);
  if (!request.trace.empty()) status = write_trace(request.trace, runs);
  if (status.ok() && !request.html.empty()) status = write_page(request.html, this_machine(), runs);
  if (!status.ok()) return tool::fail(status);
  if (interrupted()) end_interrupted();
  return verdict(runs);
}

}  // namespace
}  // namespace qrt::bench

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::bench::bench_main, argc, argv); }

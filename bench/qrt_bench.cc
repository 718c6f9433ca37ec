// SPDX-License-Identifier: Apache-2.0
// qrt_bench: how long .qrt models take on this machine, as a whole and per operator.
#include <cstdio>
#include <cstdlib>

#include "bench/compare.h"
#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/page.h"
#include "bench/report.h"
#include "bench/request.h"
#include "bench/sessions.h"
#include "bench/trace.h"
#include "qrt/qrt.hpp"
#include "runtime/text.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/files.h"
#include "runtime/tools/hash.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/progress.h"
#include "runtime/tools/terminal.h"

namespace qrt::bench {
namespace {

// Makes all measurements of one model at one number of streams and of threads and one batch, or of
// several models at once.
Status measure_all(const std::vector<Model>& models, const std::vector<OldRun>& old_runs,
                   const Progress& progress, std::vector<Run>* runs) {
  std::vector<Subject> subjects;
  for (size_t i = 0; i < models.size(); ++i)
    subjects.push_back({&models[i], &(*runs)[i].options, &(*runs)[i].m});
  QRT_TRY(measure(subjects, progress));
  const Options& options = *subjects[0].options;
  Run& run = runs->front();
  if (run.m.runs == 0) return {};
  if (!old_runs.empty()) {
    OldRun old;
    run.comparison.emplace();
    QRT_TRY(find_old_run(old_runs, options.model, options.threads, run.m.batch, &old));
    QRT_TRY(compare(old, run.m, options.threads, &*run.comparison));
  }
  if (options.profile && !interrupted()) QRT_TRY(profile(models[0], options, progress, &run.m));
  if (options.scaling != 0 && !interrupted()) measure_scaling(models[0], options, &run.m);
  if (options.sustained_minutes > 0 && !interrupted())
    QRT_TRY(measure_sustained(subjects, progress));
  for (Run& r : *runs) r.m.is_interrupted = interrupted();
  return {};
}

// Finds out before minutes are spent that the earlier runs lack one that will be measured. Files of inputs may have a batch of their
// own, which is known only once they are read.
Status check_old_runs(const Request& request, const std::vector<OldRun>& old_runs) {
  if (!request.options.inputs.empty()) return {};
  const Counts counts = counts_of(request);
  for (const std::string& path : request.models) {
    const size_t own_batch = Model::load_file(path).info().default_batch;
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

// A model and what is printed about its file.
struct Loaded {
  double load_ms;
  std::string digest;
};

Status load(const std::string& path, std::vector<Model>* models, std::vector<Loaded>* loaded) {
  const auto start = Clock::now();
  models->push_back(Model::load_file(path));
  const double load_ms = ms_since(start);
  std::vector<uint8_t> bytes;
  QRT_TRY(tool::read_file(path, &bytes));
  loaded->push_back({load_ms, tool::sha256(bytes.data(), bytes.size())});
  return {};
}

// Measures one combination of the options, and appends the result to *runs.
Status measure_at(const Options& options, const std::vector<std::string>& paths,
                  const std::vector<Model>& models, const std::vector<Loaded>& loaded,
                  const std::vector<OldRun>& old_runs, tool::ProgressLine* line,
                  std::vector<Run>* runs) {
  std::vector<Run> now;
  for (size_t i = 0; i < paths.size(); ++i) {
    Run& run = now.emplace_back(Run{options, {}, {}});
    run.options.model = paths[i];
    QRT_TRY(read_inputs(models[i], &run.options));
    run.m.load_ms = loaded[i].load_ms;
    run.m.model_sha256 = loaded[i].digest;
    run.m.date = utc_now();
  }
  std::string what =
      escaped(tool::with_stdin_named(paths[0])) + (paths.size() > 1 ? " ..., " : ", ");
  if (options.streams > 0) what += tool::counted(options.streams, "stream") + ", ";
  what += tool::counted(options.threads, "thread") + ", ";
  Progress progress;
  if (tool::is_terminal())
    progress = [&](const char* step, double part) { line->show(what + step, part); };
  QRT_TRY(measure_all(models, old_runs, progress, &now));
  line->clear();
  for (Run& run : now) {
    for (const std::string& warning : run.m.warnings)
      tool::warn(run.options.model + ": " + warning);
    if (run.m.runs > 0) runs->push_back(std::move(run));
  }
  return {};
}

// Measures every combination of options for one model, or for several that run at once, until it is
// done or interrupted.
Status measure_models(const Request& request, const std::vector<std::string>& paths,
                      const std::vector<OldRun>& old_runs, tool::ProgressLine* line,
                      std::vector<Run>* runs) {
  std::vector<Model> models;
  std::vector<Loaded> loaded;
  for (const std::string& path : paths) QRT_TRY(load(path, &models, &loaded));
  const Counts counts = counts_of(request);
  Options options = request.options;
  for (const size_t thread_count : counts.threads)
    for (const size_t batch : counts.batches)
      for (const tool::Dims& dims : counts.dims)
        for (const size_t stream_count : counts.streams)
          for (const double qps : counts.qps) {
            options.threads = thread_count;
            options.batch = batch;
            options.dims = dims;
            options.streams = stream_count;
            options.qps = qps;
            if (interrupted()) return {};
            QRT_TRY(measure_at(options, paths, models, loaded, old_runs, line, runs));
          }
  return {};
}

// Measures every model, or all at once.
Status measure_all_models(const Request& request, const std::vector<OldRun>& old_runs,
                          std::vector<Run>* runs) {
  tool::ProgressLine line("qrt_bench");
  if (request.concurrent_models)
    return measure_models(request, request.models, old_runs, &line, runs);
  for (const std::string& path : request.models)
    QRT_TRY(measure_models(request, {path}, old_runs, &line, runs));
  return {};
}

Status prepare(Request* request, std::vector<OldRun>* old_runs) {
  QRT_TRY(complete(request));
  for (std::string& model : request->models) {
    QRT_TRY(tool::take_stdin(&model));
    QRT_TRY(tool::check_model_file(model));
  }
  std::vector<std::string> read = request->models;
  read.insert(read.end(), request->options.inputs.begin(), request->options.inputs.end());
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

// Prints the first regression's message, if there is one, and returns the exit status.
int verdict(const std::vector<Run>& runs) {
  int status = tool::kDone;
  for (const Run& run : runs)
    if (run.comparison && run.comparison->is_regression) {
      tool::complain(run.options.model + ": " + describe(*run.comparison));
      status = tool::kCheckFailed;
    }
  return status;
}

int bench_main(int argc, char** argv) {
  tool::CommandLine line(
      "Measures .qrt models on this machine: warm-up, then runs for the time given.",
      "  qrt_bench model.qrt\n"
      "  qrt_bench a.qrt b.qrt --threads 1,2 --batch 1,8 --format md\n"
      "  qrt_bench model.qrt --threads 2 --seconds 5 --format json\n"
      "  qrt_bench text.qrt --dims seq=16,128,512 --format md\n"
      "  qrt_bench model.qrt --profile --isa avx2        time of every operator\n"
      "  qrt_bench model.qrt --roofline                  and the least it could be\n"
      "  qrt_bench model.qrt --html model.html           the same in a browser\n"
      "  qrt_bench model.qrt --streams 1,2,4             throughput of so many sessions\n"
      "  qrt_bench model.qrt --streams 4 --qps 200       latency of requests at random\n"
      "  qrt_bench vad.qrt --stream 32                   steps of frames of 32 ms\n"
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
  status = measure_all_models(request, old_runs, &runs);
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

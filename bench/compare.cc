// SPDX-License-Identifier: Apache-2.0
// Comparison with an earlier run; see compare.h.
#include "bench/compare.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/tools/budget.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/files.h"
#include "runtime/tools/json_cost.h"

namespace qrt::bench {
namespace {

constexpr double kLeastTolerance = 0.02;

// Removes the library's own mark from its message, "[json.exception.out_of_range.403] ".
std::string without_mark(const std::string& message) {
  const size_t end = message.find("] ");
  return message.rfind("[json.", 0) == 0 && end != std::string::npos ? message.substr(end + 2)
                                                                     : message;
}

OldRun old_run_of(const nlohmann::json& root) {
  OldRun run;
  const auto& latency = root.at("latency_ms");
  run.model = root.value("model", "");
  run.isa = root.at("isa").get<std::string>();
  run.threads = root.at("threads").get<size_t>();
  run.batch = root.at("batch").get<size_t>();
  run.macs = root.at("macs").get<uint64_t>();
  run.median = latency.at("median").get<double>();
  run.least = latency.at("min").get<double>();
  if (root.contains("cpu_ms")) run.least_cpu = root.at("cpu_ms").at("min").get<double>();
  run.min_noise = root.at("noise").at("min").get<double>();
  run.has_streams = root.contains("throughput");
  return run;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Status read_old_runs(const std::string& path, std::vector<OldRun>* runs) {
  QRT_TRY(tool::check_readable(path));
  std::string text;
  QRT_TRY(tool::read_text(path, &text));
  Budget budget(text.size());
  QRT_TRY(reserve_json(text, &budget).at(path));
  try {
    if (nlohmann::json::accept(text)) {
      const auto root = nlohmann::json::parse(text);
      if (root.is_array() && !root.empty())
        for (const auto& run : root) runs->push_back(old_run_of(run));
      else
        runs->push_back(old_run_of(root));
    } else {  // a run a line
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        runs->push_back(old_run_of(nlohmann::json::parse(line)));
    }
  } catch (const nlohmann::json::exception& e) {
    return error(Code::kInvalidModel, "%s: not what qrt_bench --format json writes: %s",
                 path.c_str(), without_mark(e.what()).c_str());
  }
  for (const OldRun& run : *runs)
    if (!(run.median > 0 && run.least > 0 && run.least_cpu >= 0 && run.min_noise >= 0))
      return error(Code::kInvalidModel, "%s: its times are not positive", path.c_str());
  if (runs->empty()) return error(Code::kInvalidModel, "%s: holds no run", path.c_str());
  for (const OldRun& run : *runs)
    if (run.has_streams)
      return error(Code::kInvalidArgument,
                   "%s: was measured with --streams: only runs of one session are compared",
                   path.c_str());
  return {};
}

Status find_old_run(const std::vector<OldRun>& runs, const std::string& model, size_t threads,
                    size_t batch, OldRun* run) {
  *run = runs[0];
  if (runs.size() == 1) return {};
  for (const OldRun& old : runs)
    if (file_name(old.model) == file_name(model) && old.threads == threads && old.batch == batch) {
      *run = old;
      return {};
    }
  return error(Code::kInvalidArgument,
               "--compare: the earlier runs hold none of '%s' with %s and batch %zu", model.c_str(),
               tool::counted(threads, "thread").c_str(), batch);
}

Status check_same_work(const OldRun& old_run, size_t threads, size_t batch, uint64_t macs) {
  if (old_run.threads == threads && old_run.batch == batch && old_run.macs == macs) return {};
  return error(Code::kInvalidArgument,
               "the earlier run measured something else: %s, batch %zu, %llu MAC, not %zu, %zu, "
               "%llu",
               tool::counted(old_run.threads, "thread").c_str(), old_run.batch,
               static_cast<unsigned long long>(old_run.macs), threads, batch,
               static_cast<unsigned long long>(macs));
}

Status compare(const OldRun& old_run, const Measurement& m, size_t threads, Comparison* result) {
  QRT_TRY(check_same_work(old_run, threads, m.batch, m.macs));
  result->old_run = old_run;
  result->median_change = m.median / old_run.median - 1;
  result->is_cpu_time = old_run.least_cpu > 0 && m.cpu_min > 0;
  result->old_least = result->is_cpu_time ? old_run.least_cpu : old_run.least;
  result->least = result->is_cpu_time ? m.cpu_min : m.min;
  result->least_change = result->least / result->old_least - 1;
  result->tolerance = std::max(kLeastTolerance, old_run.min_noise + m.min_noise);
  result->is_regression = result->least_change > result->tolerance;
  return {};
}

}  // namespace qrt::bench

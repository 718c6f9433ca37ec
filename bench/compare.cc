// Comparison with an earlier run; see compare.h.
#include "bench/compare.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/tools/files.h"

namespace qrt::bench {
namespace {

constexpr double kLeastTolerance = 0.02;

}  // namespace

Status read_old_run(const std::string& path, OldRun* run) {
  QRT_TRY(tool::check_readable(path));
  std::ifstream file(path);
  try {
    const auto root = nlohmann::json::parse(file);
    const auto& latency = root.at("latency_ms");
    run->isa = root.at("isa").get<std::string>();
    run->threads = root.at("threads").get<size_t>();
    run->batch = root.at("batch").get<size_t>();
    run->macs = root.at("macs").get<uint64_t>();
    run->median = latency.at("median").get<double>();
    run->least = root.value("cpu_ms", latency).at("min").get<double>();
    run->min_noise = root.at("noise").at("min").get<double>();
  } catch (const nlohmann::json::exception& e) {
    return error(Code::kInvalidModel, "%s: not what qrt_bench --format json writes: %s",
                 path.c_str(), e.what());
  }
  if (!(run->median > 0 && run->least > 0 && run->min_noise >= 0)) {
    return error(Code::kInvalidModel, "%s: its times are not positive", path.c_str());
  }
  return {};
}

Status compare(const OldRun& old_run, const Measurement& m, size_t threads, Comparison* result) {
  if (old_run.threads != threads || old_run.batch != m.batch || old_run.macs != m.macs) {
    return error(Code::kInvalidArgument,
                 "the earlier run measured something else: %zu threads, batch %zu, %llu MAC, not "
                 "%zu, %zu, %llu",
                 old_run.threads, old_run.batch, static_cast<unsigned long long>(old_run.macs),
                 threads, m.batch, static_cast<unsigned long long>(m.macs));
  }
  result->old_run = old_run;
  result->median_change = m.median / old_run.median - 1;
  result->least_change = m.least_ms() / old_run.least - 1;
  result->tolerance = std::max(kLeastTolerance, old_run.min_noise + m.min_noise);
  result->is_regression =
      result->median_change > result->tolerance && result->least_change > result->tolerance / 2;
  return {};
}

}  // namespace qrt::bench

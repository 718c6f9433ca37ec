// qrt_bench: how long a .qrt model takes on this machine, as a whole and per operator.
#include <sched.h>

#include <cstdlib>

#include "bench/compare.h"
#include "bench/measure.h"
#include "bench/report.h"
#include "qrt/qrt.hpp"
#include "runtime/tools/model_file.h"
#include "runtime/tools/options.h"
#include "runtime/tools/terminal.h"

namespace qrt::bench {
namespace {

// tool::Check of --cpu-mask.
std::string check_hexadecimal(const std::string& text) {
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
  tool::CommandLine line(
      "Measures a .qrt model on this machine: warm-up, then runs for the time given.",
      "  qrt_bench model.qrt\n"
      "  qrt_bench model.qrt --threads 2 --seconds 5 --format json\n"
      "  qrt_bench model.qrt --profile --isa avx2        time of every operator\n"
      "  qrt_bench model.qrt --roofline                  and the least it could be\n"
      "  qrt_bench model.qrt --compare old.json          status 1 if slower than before");
  constexpr size_t kMaxBatch = size_t{1} << 31;
  Options options;
  line.argument("MODEL", &options.model, "A .qrt file");
  line.number("--threads", &options.threads, 1, 1024, "Threads");
  line.number("--seconds", &options.seconds, 0.0, 86400.0, "How long to measure");
  line.number("--batch", &options.batch, 1, kMaxBatch, "Batch (default: the model's)");
  line.number("--scaling", &options.scaling, 1, kMaxBatch,
              "Time of an image at batches 1, 2, 4 ... up to this one, too, in turns");
  line.text("--isa", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  line.text("--kernels", &options.kernels,
            "qrt, xnnpack (where it gives the same bytes) or xnnpack-all, for comparison");
  line.flag("--profile", &options.profile, "Time of every operator, in a second measurement");
  line.flag("--roofline", &options.roofline,
            "--profile, and how far every operator is from the limit of computing or of memory");
  line.text("--compare", &options.compare,
            "Result of an earlier --format json; exit status 1 on a regression beyond noise");
  line.checked_text("--cpu-mask", &options.cpu_mask, "HEX", check_hexadecimal,
                    "CPUs to run on, hexadecimal: 5 is CPUs 0 and 2");
  line.choice("--format", &options.format, {"text", "json", "csv"}, "text, json or csv");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  options.profile |= options.roofline;
  Status status = tool::check_model_file(options.model);
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
  if (options.scaling != 0) measure_scaling(model, options, &m);
  print(options, m, options.compare.empty() ? nullptr : &comparison);
  if (!comparison.is_regression) return tool::kDone;
  tool::complain(describe(comparison, m));
  return tool::kCheckFailed;
}

}  // namespace
}  // namespace qrt::bench

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::bench::bench_main, argc, argv); }

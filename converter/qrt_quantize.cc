// SPDX-License-Identifier: Apache-2.0
// qrt_quantize: a float ONNX model and samples of what it will see -> one .qrt file of integers.
// Command line only; the work is in quantize/quantize.h.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "converter/command_line.h"
#include "converter/import/frontend.h"
#include "converter/quantize/quantize.h"
#include "converter/quantize/report/report.h"
#include "runtime/tools/files.h"
#include "runtime/tools/options.h"
#include "runtime/tools/progress.h"
#include "runtime/tools/terminal.h"

namespace qrt {
namespace {

using quantize::Quantised;
using quantize::Settings;

struct Options {
  std::string output, onnx, cvm, scheme = "ort-u8", report, ladder = "fast", max_drop;
  tool::PictureArguments images;
  size_t threads = 1, budget = 1;
  bool force = false, nodes = false, per_channel = false;
};

// One of the two files of --cvm; "" without it.
std::string cvm_file(const Options& options, const char* end) {
  return options.cvm.empty() ? "" : options.cvm + end;
}

Status complete(const Options& options, Settings* settings) {
  settings->scheme = *quantize::find_scheme(options.scheme);
  settings->ladder = options.ladder == "none"   ? quantize::Ladder::kNone
                     : options.ladder == "full" ? quantize::Ladder::kFull
                                                : quantize::Ladder::kFast;
  settings->threads = static_cast<int>(options.threads);
  settings->budget = options.budget;
  settings->try_wide = !options.report.empty();
  QRT_TRY(options.images.complete(&settings->images));
  if (options.output.empty() && options.onnx.empty() && options.cvm.empty() &&
      options.report.empty())
    return error(Code::kInvalidArgument, "nothing to write: give -o, --onnx, --cvm or --report");
  const bool is_cvm = settings->scheme.is_cvm;
  if (options.per_channel && !settings->scheme.power_of_two)
    return error(Code::kInvalidArgument,
                 "--per-channel is for the schemes espdl-s8 and espdl-s16: weights of %s always "
                 "have a scale for each channel",
                 settings->scheme.name);
  settings->scheme.per_channel = settings->scheme.per_channel || options.per_channel;
  if (is_cvm && !options.onnx.empty())
    return error(
        Code::kInvalidArgument,
        "--onnx: ONNX has no arithmetic of the scheme cvm; --cvm STEM writes what CVM reads");
  if (!is_cvm && !options.cvm.empty())
    return error(Code::kInvalidArgument, "--cvm is for the scheme cvm, and this is %s",
                 settings->scheme.name);
  if (is_cvm && !options.max_drop.empty())
    return error(Code::kInvalidArgument,
                 "--max-drop gives tensors 16 bits, and CVM's layers read 8: use another scheme");
  if (!options.max_drop.empty()) {
    char* end;
    settings->max_drop = strtod(options.max_drop.c_str(), &end);
    if (*end || !(settings->max_drop >= 0))
      return error(Code::kInvalidArgument, "--max-drop %s: expected points, 0 or more",
                   options.max_drop.c_str());
  }
  if (settings->calibration.empty())
    return error(Code::kInvalidArgument,
                 "--calibration is missing: give samples of what the model will see (.npy, .npz, a "
                 "folder of images), or `random` where only the time matters");
  QRT_TRY(tool::take_stdin(&settings->model));
  const convert::Frontend* format = nullptr;
  QRT_TRY(convert::FormatOptions().find_format(settings->model, &format));
  if (format != convert::find_frontend("onnx"))
    return error(Code::kInvalidModel, "%s: is a model of %s, expected a float model in ONNX",
                 settings->model.c_str(), format->title);
  std::vector<std::string> read = settings->calibration;
  read.push_back(settings->model);
  read.push_back(settings->labels);
  settings->outputs = {options.output, options.onnx, options.report, cvm_file(options, ".json"),
                       cvm_file(options, ".params")};
  return tool::check_outputs(settings->outputs, read);
}

Status write_text(const std::string& path, const std::string& text) {
  return tool::write_file(path, text.data(), text.size());
}

// Writes all files of the result, not interrupted between them.
Status write_results(const Options& options, const Quantised& result) {
  sigset_t interrupts, before;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  sigprocmask(SIG_BLOCK, &interrupts, &before);
  Status status;
  if (!options.output.empty())
    status = tool::write_file(options.output, result.bytes.data(), result.bytes.size());
  const quantize::Document& document = result.document;
  if (status.ok() && !options.onnx.empty()) status = write_text(options.onnx, document.qdq);
  if (status.ok() && !options.cvm.empty())
    status = write_text(cvm_file(options, ".json"), document.cvm.symbol);
  if (status.ok() && !options.cvm.empty())
    status = write_text(cvm_file(options, ".params"), document.cvm.params);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return status;
}

// Prints the meaning of a CVM runtime's bytes, which the model's two files do not tell.
void print_edges(const quantize::CvmModel& cvm) {
  printf("input %s: integer = round(real / %.9g)\n", cvm.input.name.c_str(), cvm.input.step);
  for (const quantize::CvmModel::Edge& y : cvm.outputs)
    printf("output %s: real = integer * %.9g\n", y.name.c_str(), y.step);
}

int quantize_model(const Options& options, const Settings& settings) {
  tool::ProgressLine line("qrt_quantize");
  Quantised result;
  const auto plan = [&](const convert::Report& nodes) {
    line.clear();
    if (options.nodes || !tool::is_quiet())
      fputs(quantize::plan_text(nodes, options.nodes).c_str(), stderr);
  };
  const auto progress = [&](const char* step, double part) { line.show(step, part); };
  Status status = quantize::quantize(settings, progress, plan, &result);
  line.clear();
  if (!status.ok()) return tool::fail(std::move(status).at(settings.model));
  fputs(quantize::text_report(result.findings).c_str(), stdout);
  if (!options.report.empty()) {
    status = write_text(options.report, tool::has_extension(options.report, ".json")
                                            ? quantize::json_report(result.findings)
                                            : quantize::html_report(result.findings));
    if (!status.ok()) return tool::fail(status);
  }
  if (const std::string why = quantize::why_not_to_ship(result.findings); !why.empty()) {
    if (!options.force) {
      tool::complain(why + "; no model was written (--force writes all the same)");
      return tool::kCheckFailed;
    }
    tool::warn(why);
  }
  status = write_results(options, result);
  if (status.ok() && !options.cvm.empty()) print_edges(result.document.cvm);
  return status.ok() ? static_cast<int>(tool::kDone) : tool::fail(status);
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const quantize::Scheme& s : quantize::schemes()) names.push_back(s.name);
  return names;
}

int quantize_main(int argc, char** argv) {
  tool::CommandLine line(
      "Quantises a float ONNX model: integers from edge to edge, ranges from samples.",
      "  qrt_quantize model.onnx --calibration images.npy -o model.qrt\n"
      "  qrt_quantize model.onnx --calibration photos/ --mean 0.485,0.456,0.406 \\\n"
      "      --std 0.229,0.224,0.225 -o model.qrt\n"
      "  qrt_quantize model.onnx --calibration images.npy --labels labels.npy \\\n"
      "      --max-drop 0.2 -o model.qrt --report report.html\n"
      "  qrt_quantize model.onnx --calibration random -o m.qrt   only for its speed");
  Options options;
  Settings settings;
  line.argument("MODEL", &settings.model, "Float model: ONNX, opset 7 to 25; - is standard input");
  line.texts(
      "--calibration FILE", &settings.calibration,
      "Samples: .npy or NAME=FILE.npy for each input, .npz, a folder of these or of pictures, a "
      ".txt that lists pictures, or `random`; a tenth of them is held out for the report. Open "
      "dimensions in which samples differ stay open");
  line.text("-o,--output FILE", &options.output, "The .qrt file to write");
  line.text("--onnx FILE", &options.onnx,
            "The quantised model as standard ONNX (QuantizeLinear, DequantizeLinear)");
  line.text(
      "--cvm STEM", &options.cvm,
      "Of the scheme cvm: the CVM model, integers at its edges, as STEM.json and STEM.params");
  line.choice("--scheme NAME", &options.scheme, scheme_names(), "Number formats");
  line.flag("--per-channel", &options.per_channel,
            "Of the schemes espdl-*: weights have an exponent for each channel (ESP32-P4 alone)");
  line.text("--labels FILE", &settings.labels,
            "Right classes of the samples, .npy or .txt: accuracy instead of agreement");
  line.text("--max-drop POINTS", &options.max_drop,
            "Give tensors 16 bits, the worst first, until no more points than this are lost");
  line.text("--report FILE", &options.report, "File for the whole report: .html, or .json");
  line.choice("--ladder NAME", &options.ladder, {"none", "fast", "full"},
              "Rungs to try for accuracy: none; equalisation, ranges, rounding and biases; also a "
              "search of each tensor's scale by the outputs, which takes minutes");
  line.number("--threads COUNT", &options.threads, 1, 64, "The result does not depend on it");
  line.number(
      "--budget NUMBER", &options.budget, 1, 65536,
      "How many times the memory and the time of files of this size the model may take; 1 is "
      "enough for all but small files that work on large images");
  line.flag("--nodes", &options.nodes,
            "Print what every node will be, before the first sample is read");
  line.flag("--force", &options.force, "Write also what is far from the float model");
  options.images.add_to(&line);
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  const Status status = complete(options, &settings);
  return status.ok() ? quantize_model(options, settings) : tool::fail(status);
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::quantize_main, argc, argv); }

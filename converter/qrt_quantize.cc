// SPDX-License-Identifier: Apache-2.0
// qrt_quantize: a float ONNX model and samples of what it will see -> one .qrt file of integers.
// Command line only; the work is in quantize/quantize.h.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "converter/command_line.h"
#include "converter/import/frontend.h"
#include "converter/quantize/dynamic/dynamic.h"
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

// Options of qrt_convert for ONNX that choose what of the source is taken.
struct EdgeOption {
  const char* name;
  std::vector<std::string> convert::SourceEdges::*values;
};
constexpr EdgeOption kEdgeOptions[] = {{"outputs", &convert::SourceEdges::outputs},
                                       {"input-shape", &convert::SourceEdges::input_shapes},
                                       {"constant", &convert::SourceEdges::constants}};

void add_edge_options(tool::CommandLine* line, convert::SourceEdges* edges) {
  for (const EdgeOption& option : kEdgeOptions)
    for (const convert::ImportOption& o : convert::find_frontend("onnx")->options)
      if (std::string(o.name) == option.name)
        line->texts(std::string("--") + o.name + " " + o.placeholder, &(edges->*option.values),
                    o.help);
}

struct Options {
  std::string output, onnx, cvm, scheme = "ort-u8", report, ladder = "fast", max_drop, max_loss,
                                 config, load_ranges, task = "auto", save_ranges;
  std::vector<std::string> exclude, bits, ranges;
  tool::PictureArguments images;
  size_t threads = 1, budget = 1;
  double min_sqnr = 0;
  bool force = false, nodes = false, per_channel = false;
};

// Returns one of the two files of --cvm; "" without it.
std::string cvm_file(const Options& options, const char* end) {
  return options.cvm.empty() ? "" : options.cvm + end;
}

bool is_dynamic(const Options& options) { return options.scheme == quantize::kDynamicScheme; }

Status check_dynamic(const Options& options) {
  const bool has_ranges =
      !options.ranges.empty() || !options.load_ranges.empty() || !options.save_ranges.empty();
  if (!has_ranges && options.bits.empty() && options.max_drop.empty() && options.max_loss.empty())
    return {};
  return error(Code::kInvalidArgument,
               "the scheme %s has the ranges of each run, and 8 bits: leave out %s",
               quantize::kDynamicScheme,
               has_ranges                 ? "--range, --load-ranges and --save-ranges"
               : !options.bits.empty()    ? "--bits"
               : options.max_drop.empty() ? "--max-loss"
                                          : "--max-drop");
}

// Adds the overrides of the files, then those of the command line, which go before a file's.
Status complete_overrides(const Options& options, quantize::Overrides* overrides) {
  for (const std::string& file : {options.load_ranges, options.config})
    if (!file.empty()) QRT_TRY(quantize::read_overrides(file, overrides));
  overrides->exclude.insert(overrides->exclude.end(), options.exclude.begin(),
                            options.exclude.end());
  for (const std::string& bits : options.bits) QRT_TRY(quantize::add_bits(bits, overrides));
  for (const std::string& range : options.ranges) QRT_TRY(quantize::add_range(range, overrides));
  return {};
}

// Reads a limit of 0 or more; "": none.
Status read_limit(const char* option, const char* unit, const std::string& text, double* limit) {
  if (text.empty()) return {};
  char* end;
  *limit = strtod(text.c_str(), &end);
  if (*end == '\0' && *limit >= 0) return {};
  return error(Code::kInvalidArgument, "%s %s: expected %s, 0 or more", option, text.c_str(), unit);
}

Status complete(const Options& options, Settings* settings) {
  if (is_dynamic(options)) QRT_TRY(check_dynamic(options));
  if (!is_dynamic(options)) settings->scheme = *quantize::find_scheme(options.scheme);
  settings->ladder = options.ladder == "min-max" ? quantize::Ladder::kMinMax
                     : options.ladder == "none"  ? quantize::Ladder::kNone
                     : options.ladder == "full"  ? quantize::Ladder::kFull
                                                 : quantize::Ladder::kFast;
  settings->task = options.task == "classes"      ? quantize::Task::kClasses
                   : options.task == "regression" ? quantize::Task::kRegression
                   : options.task == "boxes"      ? quantize::Task::kBoxes
                   : options.task == "audio"      ? quantize::Task::kAudio
                                                  : quantize::Task::kAuto;
  settings->min_sqnr = options.min_sqnr;
  settings->threads = static_cast<int>(options.threads);
  settings->budget = options.budget;
  settings->try_int16 = !options.report.empty();
  QRT_TRY(options.images.complete(&settings->images));
  if (options.output.empty() && options.onnx.empty() && options.cvm.empty() &&
      options.report.empty() && options.save_ranges.empty())
    return error(Code::kInvalidArgument,
                 "nothing to write: give -o, --onnx, --cvm, --report or --save-ranges");
  QRT_TRY(complete_overrides(options, &settings->overrides));
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
  const quantize::Overrides& overrides = settings->overrides;
  if (is_cvm && (!overrides.exclude.empty() || !overrides.bits.empty()))
    return error(Code::kInvalidArgument,
                 "--exclude and --bits: CVM has no float, and its layers read 8 bits: use another "
                 "scheme");
  if (is_cvm && options.min_sqnr > 0)
    return error(Code::kInvalidArgument,
                 "--min-sqnr gives tensors 16 bits, and CVM's layers read 8: use another scheme");
  if (is_cvm && !options.max_drop.empty())
    return error(Code::kInvalidArgument,
                 "--max-drop gives tensors 16 bits, and CVM's layers read 8: use another scheme");
  if (is_cvm && !options.max_loss.empty())
    return error(Code::kInvalidArgument,
                 "--max-loss gives tensors 16 bits, and CVM's layers read 8: use another scheme");
  QRT_TRY(read_limit("--max-drop", "points", options.max_drop, &settings->max_drop));
  QRT_TRY(read_limit("--max-loss", "a number", options.max_loss, &settings->max_loss));
  if (settings->max_loss >= 0 && settings->metric.empty())
    return error(Code::kInvalidArgument,
                 "--max-loss is a limit for what a program of yours measures: give it by --metric");
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
  read.insert(read.end(), {settings->labels, options.config, options.load_ranges});
  settings->outputs = {options.output,
                       options.onnx,
                       options.report,
                       cvm_file(options, ".json"),
                       cvm_file(options, ".params"),
                       options.save_ranges};
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
  if (status.ok() && !options.save_ranges.empty())
    status = write_text(options.save_ranges, result.ranges);
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
  Status status = is_dynamic(options)
                      ? quantize::quantize_dynamic(settings, progress, plan, &result)
                      : quantize::quantize(settings, progress, plan, &result);
  line.clear();
  if (!status.ok()) return tool::fail_in_lines(std::move(status).at(settings.model));
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
  for (const std::string& warning : quantize::warnings(result.findings)) tool::warn(warning);
  status = write_results(options, result);
  if (status.ok() && !options.cvm.empty()) print_edges(result.document.cvm);
  return status.ok() ? static_cast<int>(tool::kDone) : tool::fail(status);
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const quantize::Scheme& s : quantize::schemes()) names.push_back(s.name);
  names.push_back(quantize::kDynamicScheme);
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
      "  qrt_quantize model.onnx --calibration ids=ids.npy \\\n"
      "      --calibration mask=mask.npy -o model.qrt    a model of two inputs\n"
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
  line.number(
      "--min-sqnr DB", &options.min_sqnr, 0, 200,
      "Give tensors and weights 16 bits, the worst first, until the worst output is as near "
      "to the float model; without that nothing is written");
  line.text("--metric COMMAND", &settings.metric,
            "A program of yours that gets a folder as its last argument, with output_0.npy ... of "
            "all judged samples and samples.npy, their indices, and prints a number, the higher "
            "the better");
  line.text("--max-loss NUMBER", &options.max_loss,
            "Give tensors and weights 16 bits, the worst first, until the number of --metric is no "
            "more than this below the float model's; without that nothing is written");
  line.choice("--task NAME", &options.task, {"auto", "classes", "regression", "boxes", "audio"},
              "What the first output is: whether classes count, and which losses are too great");
  line.text("--report FILE", &options.report, "File for the whole report: .html, or .json");
  line.choice(
      "--ladder NAME", &options.ladder, {"min-max", "none", "fast", "full"},
      "Rungs to try for accuracy: none, with ranges of all values seen, or with those of the "
      "least error; equalisation, ranges, rounding and biases; also a search of each "
      "tensor's scale by the outputs, which takes minutes");
  line.texts("--exclude NODE", &options.exclude,
             "Keep nodes in float: by name, pattern (`*`, `?`) or type of operator");
  line.texts("--bits PATTERN=BITS", &options.bits,
             "Give tensors, weights, or what nodes of the pattern make and their weights, 16 bits, "
             "or keep them at 8");
  line.texts("--range TENSOR=LOW:HIGH", &options.ranges,
             "The range of a tensor, in place of one that the samples show");
  line.text("--config FILE", &options.config,
            "The last three as JSON: exclude, bits, ranges (converter/quantize/README.md)");
  line.text("--save-ranges FILE", &options.save_ranges, "Write the ranges of all tensors, JSON");
  line.text("--load-ranges FILE", &options.load_ranges, "Take ranges that were saved");
  line.number("--threads COUNT", &options.threads, 1, 64, "The result does not depend on it");
  line.number(
      "--budget NUMBER", &options.budget, 1, 65536,
      "How many times the memory and the time of files of this size the model may take; 1 is "
      "enough for all but small files that work on large images");
  line.flag("--nodes", &options.nodes,
            "Print what every node will be, before the first sample is read");
  line.flag("--force", &options.force, "Write also what is far from the float model");
  options.images.add_to(&line);
  line.group("A part of the model");
  add_edge_options(&line, &settings.edges);
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  const Status status = complete(options, &settings);
  return status.ok() ? quantize_model(options, settings) : tool::fail(status);
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::quantize_main, argc, argv); }

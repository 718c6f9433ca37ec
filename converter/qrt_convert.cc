// qrt_convert: a quantised model of another system -> one .qrt file. Command line only; the work is
// in convert.h.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "converter/convert.h"
#include "converter/lint.h"
#include "runtime/tools/files.h"
#include "runtime/tools/options.h"
#include "runtime/tools/terminal.h"

namespace qrt {
namespace {

using convert::Finding;
using convert::Graph;
using convert::Outcome;
using convert::Report;

struct Options {
  std::string input, output, from, explain, lint, require_level, reference;
  bool verbose = false, allow_float = false;
};

// A line on the terminal for conversions that take over a second.
class Progress {
 public:
  void show(const char* what) {
    using std::chrono::steady_clock;
    if (!tool::is_terminal() || steady_clock::now() - start_ < std::chrono::seconds(1)) return;
    fprintf(stderr, "\r\033[Kqrt_convert: %s ...", what);
    shown_ = true;
  }
  void clear() {
    if (shown_) fprintf(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

// "onnx", "tflite" or "espdl" by the file's first bytes. ONNX has no mark of its own.
Status recognise(const std::string& path, std::string* format) {
  std::vector<uint8_t> head;
  QRT_TRY(tool::read_head(path, 8, &head));
  if (head.empty()) return error(Code::kInvalidModel, "%s: the file is empty", path.c_str());
  const auto has = [&](size_t at, const char* mark) {
    return head.size() >= at + 4 && memcmp(head.data() + at, mark, 4) == 0;
  };
  if (has(4, "QRT1")) return error(Code::kInvalidModel, "%s: is a .qrt file already", path.c_str());
  *format = has(4, "TFL3") ? "tflite" : has(0, "EDL1") || has(0, "EDL2") ? "espdl" : "onnx";
  return {};
}

Status import_model(const Options& options, Graph* graph, Report* report) {
  QRT_TRY(tool::check_readable(options.input));
  std::string format;
  QRT_TRY(recognise(options.input, &format));
  if (!options.from.empty()) format = options.from;
  if (format != "tflite" && !options.reference.empty())
    return error(Code::kInvalidArgument, "--reference %s is for TFLite models, %s is %s",
                 options.reference.c_str(), options.input.c_str(), format.c_str());
  if (format != "onnx" && options.allow_float)
    return error(Code::kInvalidArgument, "--allow-float is for ONNX models, %s is %s",
                 options.input.c_str(), format.c_str());
  if (format == "tflite")
    return convert::import_tflite(options.input,
                                  options.reference == "tflite-single"
                                      ? convert::TfliteReference::kSingleRounding
                                      : convert::TfliteReference::kDoubleRounding,
                                  graph, report);
  if (format == "onnx")
    return convert::import_onnx(options.input, graph, report, options.allow_float);
  return error(Code::kUnsupported,
               "%s: %s models are not supported by this version (onnx and tflite are)",
               options.input.c_str(), format.c_str());
}

// The nodes that keep the model from `level`.
int check_level(const Report& report, const std::string& level) {
  int above = 0;
  if (level.empty()) return above;
  for (const Finding& f : report.findings())
    if (f.outcome == Outcome::kConverted &&
        (f.level == "F" || (level == "I0" && f.level == "I1"))) {
      fprintf(stderr, "above %s: %s (%s) -> %s [%s]\n", level.c_str(), f.node.c_str(), f.op.c_str(),
              f.result.c_str(), f.level.c_str());
      ++above;
    }
  return above;
}

// On success to stdout. Of a refused model: JSON to stdout, text to stderr. Both reports as JSON
// are one object.
void print_report(const Options& options, const Report& report, bool refused) {
  const convert::Sections json = {options.explain == "json", options.lint == "json"};
  if (json.nodes || json.warnings) fputs(report.json(json).c_str(), stdout);
  if (refused)
    fputs(report.text(options.explain == "text").c_str(), stderr);
  else if (options.explain == "text")
    fputs(report.text(true).c_str(), stdout);
  if (options.lint == "text") fputs(report.warnings_text().c_str(), refused ? stderr : stdout);
}

int convert_model(const Options& options) {
  Graph graph;
  Report report;
  Progress progress;
  Status status = import_model(options, &graph, &report);
  if (!options.lint.empty() && (status.ok() || report.has_refusals())) lint(graph, &report);
  if (!status.ok()) {
    if (report.has_refusals()) print_report(options, report, true);
    return tool::fail(status);
  }
  const auto step = [&](const char* what) { progress.show(what); };
  std::vector<uint8_t> bytes;
  step("passes");
  if (options.verbose) fprintf(stderr, "imported %s\n", dump(graph).c_str());
  status = convert::run_passes(&graph, step);
  if (status.ok() && options.verbose) fprintf(stderr, "final %s\n", dump(graph).c_str());
  step("writing");
  if (status.ok()) status = convert::write_model(graph, &bytes);
  progress.clear();
  print_report(options, report, false);
  if (!status.ok()) return tool::fail(std::move(status).at(options.input));
  if (const int above = check_level(report, options.require_level); above > 0) {
    tool::complain(options.input + ": " + std::to_string(above) + " nodes are above level " +
                   options.require_level);
    return tool::kCheckFailed;
  }
  if (!options.output.empty()) {
    status = tool::write_file(options.output, bytes.data(), bytes.size());
    if (!status.ok()) return tool::fail(status);
  }
  const bool warned = !options.lint.empty() && !report.warnings().empty();
  return warned ? tool::kCheckFailed : tool::kDone;
}

int convert_main(int argc, char** argv) {
  tool::CommandLine line(
      "Converts a quantised model into a .qrt file.",
      "  qrt_convert mobilenet.onnx -o mobilenet.qrt\n"
      "  qrt_convert model.onnx --explain              what each node becomes\n"
      "  qrt_convert model.onnx --lint                 what its quantisation may have spoilt\n"
      "  qrt_convert model.onnx -o model.qrt --explain=json --require-level I1");
  Options options;
  line.argument("INPUT", &options.input, "Source model; its format is recognised by content");
  line.text("-o,--output", &options.output,
            "File to write; may be left out with --explain and --lint");
  line.choice("--from", &options.from, {"onnx", "tflite", "espdl"},
              "Source format, instead of recognising it");
  line.choice("--reference", &options.reference, {"tflite-ref", "tflite-single"},
              "Whose bits a TFLite model gets: tflite-ref (the default), or tflite-single for "
              "builds with TFLITE_SINGLE_ROUNDING");
  line.flag_or_text("--explain", "text", &options.explain,
                    "Report every node: what it became, or why not; --explain=json for programs");
  line.flag_or_text(
      "--lint", "text", &options.lint,
      "Look for mistakes of the quantisation: node, numbers, remedy; --lint=json for "
      "programs. Exit status 1 if there are warnings; the output is written all the same");
  line.choice("--require-level", &options.require_level, {"I0", "I1"},
              "Fail if a node needs more than this: I0 (integers only) or I1 (and IEEE-exact "
              "float32)");
  line.flag("--allow-float", &options.allow_float,
            "Run what has no integer form between DequantizeLinear and QuantizeLinear in float "
            "(level F): Softmax, LayerNormalization and the like. Refused otherwise");
  line.flag("--verbose", &options.verbose, "Print the graph before and after the passes (stderr)");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  if (!options.explain.empty() && options.explain != "text" && options.explain != "json") {
    tool::complain("--explain is text or json, not '" + options.explain + "' (see --help)");
    return tool::kUsage;
  }
  if (!options.lint.empty() && options.lint != "text" && options.lint != "json") {
    tool::complain("--lint is text or json, not '" + options.lint + "' (see --help)");
    return tool::kUsage;
  }
  if (options.output.empty() && options.explain.empty() && options.lint.empty()) {
    tool::complain("-o is required (see --help)");
    return tool::kUsage;
  }
  return convert_model(options);
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::convert_main, argc, argv); }

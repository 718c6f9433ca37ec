// SPDX-License-Identifier: Apache-2.0
// qrt_convert: a quantised model of another system -> one .qrt file. Command line only; the work is
// in convert.h.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "converter/command_line.h"
#include "converter/convert.h"
#include "converter/digests.h"
#include "converter/import/frontend.h"
#include "converter/levels.h"
#include "converter/lint.h"
#include "converter/test_data.h"
#include "runtime/text.h"
#include "runtime/tools/files.h"
#include "runtime/tools/options.h"
#include "runtime/tools/progress.h"
#include "runtime/tools/terminal.h"

namespace qrt {
namespace {

using convert::Graph;
using convert::Report;

struct Options {
  std::string input, output, explain, lint, require_level, test_data;
  std::vector<std::string> digests;
  convert::FormatOptions format;
  bool verbose = false, list = false, check = false, keep_test_values = false;

  bool to_stdout() const { return output == "-"; }
  std::string file() const { return to_stdout() ? "" : output; }
};

// Names the operators that keep the file from `level`; returns how many there are.
size_t check_level(const std::vector<uint8_t>& file, const std::string& level) {
  if (level.empty()) return 0;
  const std::vector<std::string> above = convert::operators_above(file, level == "I0" ? 0 : 1);
  for (const std::string& op : above) fprintf(stderr, "above %s: %s\n", level.c_str(), op.c_str());
  return above.size();
}

// Prints the report, on success to stdout; for a refused model JSON to stdout, text to stderr. Both
// reports as JSON are one object.
void print_report(const Options& options, const Report& report, bool refused) {
  const convert::Sections json = {options.explain == "json", options.lint == "json"};
  if (json.nodes || json.warnings) fputs(report.json(json).c_str(), stdout);
  if (refused)
    fputs(report.text(options.explain == "text").c_str(), stderr);
  else if (options.explain == "text")
    fputs(report.text(true).c_str(), stdout);
  if (options.lint == "text") fputs(report.warnings_text().c_str(), refused ? stderr : stdout);
}

// Prints one line for each model of the file.
int list_models(const Options& options) {
  const convert::Frontend* format = nullptr;
  std::vector<std::string> models = {"0"};
  Status status = options.format.find_format(options.input, &format);
  if (status.ok() && format->list) {
    models.clear();
    status = format->list(options.input, &models);
  }
  if (!status.ok()) return tool::fail(status);
  for (const std::string& model : models) printf("%s\n", escaped(model).c_str());
  return tool::kDone;
}

// Reads the test values of the source file, or of the folder beside it, where --check or
// --keep-test-values asks for them.
Status read_tests(const Options& options, const convert::Frontend& format, const Graph& graph,
                  convert::TestValues* values) {
  if (!options.check && !options.keep_test_values) return {};
  if (!options.test_data.empty())
    return convert::read_test_data(options.test_data, graph, values).at("--test-data");
  if (format.read_tests) QRT_TRY(format.read_tests(options.input, options.format.given(), values));
  if (!values->outputs.empty()) return {};
  return error(Code::kInvalidArgument,
               "%s: the file holds no test values: give a folder of input_0.pb, output_0.pb ... by "
               "--test-data DIR",
               options.check ? "--check" : "--keep-test-values");
}

// Runs them; a line for each output.
int check_model(const Options& options, const convert::TestValues& values,
                const std::vector<uint8_t>& bytes) {
  std::vector<convert::CheckedOutput> outputs;
  Status status = convert::check_values(bytes, values, &outputs);
  if (!status.ok()) return tool::fail(std::move(status).at(options.input));
  bool all_near = true;
  for (const convert::CheckedOutput& o : outputs) {
    printf("check '%s': ", escaped(o.name).c_str());
    if (o.different == 0)
      printf("all %zu equal\n", o.elements);
    else
      printf("%zu of %zu differ, at most by %g%s\n", o.different, o.elements, o.worst,
             o.is_near ? ", as the exporter's floating point may" : "");
    all_near &= o.is_near;
  }
  return all_near ? tool::kDone : tool::kCheckFailed;
}

// Returns whether --input-shape asked by a ? for a batch that stays open.
bool asks_open_batch(const Options& options) {
  const convert::ImportOptions given = options.format.given();
  const auto shapes = given.find("input-shape");
  return shapes != given.end() && shapes->second.find('?') != std::string::npos;
}

int convert_model(const Options& options) {
  Graph graph;
  Report report;
  tool::ProgressLine progress("qrt_convert");
  std::vector<std::string> read = options.digests;
  read.push_back(options.input);
  Status status = tool::check_outputs({options.file()}, read);
  if (!status.ok()) return tool::fail(status);
  const convert::Frontend* format = nullptr;
  status = options.format.find_format(options.input, &format);
  if (!status.ok()) return tool::fail(status);
  status = convert::import_model(*format, options.input, options.format.given(), &graph, &report);
  if (!options.lint.empty() && (status.ok() || report.has_refusals())) lint(graph, &report);
  if (!status.ok()) {
    if (report.has_refusals()) print_report(options, report, true);
    return tool::fail(status);
  }
  status = tool::check_outputs({options.file()}, graph.source_files);
  if (!status.ok()) return tool::fail(status);
  const auto step = [&](const char* what) { progress.show(what); };
  std::vector<uint8_t> bytes;
  step("passes");
  if (options.verbose) fprintf(stderr, "imported %s\n", dump(graph).c_str());
  status = convert::run_passes(&graph, step);
  if (status.ok() && options.verbose) fprintf(stderr, "final %s\n", dump(graph).c_str());
  step("writing");
  convert::TestValues tests;
  if (status.ok()) status = read_tests(options, *format, graph, &tests);
  if (status.ok())
    status = convert::write_model(graph, &bytes, {options.keep_test_values ? &tests : nullptr, {}});
  if (status.ok() && !options.digests.empty())
    status = convert::add_digests(graph, options.digests, &bytes);
  if (status.ok()) convert::set_levels(bytes, &report);
  progress.clear();
  convert::report_sizes(graph, &report);
  if (status.ok() && asks_open_batch(options) && !graph.batch_is_open && graph.symbols.empty()) {
    tool::complain(options.input +
                   ": the batch cannot stay open, as --input-shape asks by its ?: " +
                   escaped(graph.batch_closed) + "; give it a number instead of the ?");
    return tool::kUnsupported;
  }
  for (const std::string& note : convert::notes_on(graph)) tool::note(note);
  print_report(options, report, false);
  if (!status.ok()) return tool::fail(std::move(status).at(options.input));
  if (const size_t above = check_level(bytes, options.require_level); above > 0) {
    tool::complain(options.input + ": " + std::to_string(above) +
                   (above == 1 ? " operator is" : " operators are") + " above level " +
                   options.require_level);
    return tool::kCheckFailed;
  }
  if (!options.file().empty()) {
    status = tool::write_file(options.output, bytes.data(), bytes.size());
    if (!status.ok()) return tool::fail(status);
  }
  if (options.to_stdout() && fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
    return tool::fail(error(Code::kIoError, "standard output: %s", strerror(errno)));
  if (options.check)
    if (const int exit = check_model(options, tests, bytes); exit != tool::kDone) return exit;
  const bool warned = !options.lint.empty() && !report.warnings().empty();
  return warned ? tool::kCheckFailed : tool::kDone;
}

int convert_main(int argc, char** argv) {
  tool::CommandLine line(
      "Converts a quantised model into a .qrt file.",
      "  qrt_convert mobilenet.onnx -o mobilenet.qrt\n"
      "  qrt_convert model.onnx --explain        what each node becomes\n"
      "  qrt_convert model.onnx --lint           what its quantisation may have spoilt\n"
      "  qrt_convert model.onnx -o model.qrt --explain=json --require-level I1\n"
      "  qrt_convert model.onnx -o model.qrt --digests x.npy   for qrt_run --check\n"
      "  qrt_convert model.onnx --check --test-data test_data_set_0");
  Options options;
  line.argument("MODEL", &options.input,
                "Source model; its format is recognised by content; - is standard input");
  line.text("-o,--output FILE", &options.output,
            "File to write, - is standard output; may be left out with --explain and --lint");
  line.flag_or_choice(
      "--explain", {"text", "json"}, &options.explain,
      "Report the nodes: what each became, or why not, and counts, and the sizes of open "
      "dimensions; json lists nodes that were merely folded, too");
  line.flag_or_choice("--lint", {"text", "json"}, &options.lint,
                      "Look for mistakes of the quantisation: node, numbers, remedy. Exit status 1 "
                      "if there are warnings; the output is written all the same");
  line.choice("--require-level LEVEL", &options.require_level, {"I0", "I1"},
              "Fail if an operator of the file needs more than this: I0 (integers only) or I1 (and "
              "IEEE-exact "
              "float32)");
  line.flag("--check", &options.check,
            "Run the test values that the source file holds (ESP-DL), or --test-data, and compare; "
            "exit status 1 if they differ by more than an exporter's rounding");
  line.text("--test-data DIR", &options.test_data,
            "Folder of input_0.pb, output_0.pb ... (or .npy), as beside ONNX models, for --check "
            "and --keep-test-values");
  line.flag("--keep-test-values", &options.keep_test_values,
            "Keep these values in the .qrt file, for qrt_run --check");
  line.texts(
      "--digests FILE", &options.digests,
      "[NAME=]FILE.npy or .npz, an input to run, of any sizes that the model takes: it goes into "
      "the .qrt file with the outputs and a digest of every operator, for qrt_run --check; for "
      "more inputs repeated");
  line.flag("--list", &options.list,
            "List the models of a pack (ESP-DL), or the signatures of a TFLite file, and end");
  line.flag("--verbose", &options.verbose, "Print the graph before and after the passes (stderr)");
  options.format.add_to(&line);
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  if (!options.test_data.empty() && !options.check && !options.keep_test_values)
    return tool::refuse_usage("--test-data needs --check or --keep-test-values");
  if (options.keep_test_values && !options.digests.empty())
    return tool::refuse_usage("--digests and --keep-test-values exclude each other");
  if (options.to_stdout() && (!options.explain.empty() || !options.lint.empty() || options.check))
    return tool::refuse_usage("-o - writes the model to standard output and nothing else");
  if (options.output.empty() && options.explain.empty() && options.lint.empty() && !options.check &&
      !options.list) {
    return tool::refuse_usage(
        "-o is required: the .qrt file to write (or --explain, --lint, --check)");
  }
  if (const Status read = tool::take_stdin(&options.input); !read.ok()) return tool::fail(read);
  return options.list ? list_models(options) : convert_model(options);
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::convert_main, argc, argv); }

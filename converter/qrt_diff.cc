// SPDX-License-Identifier: Apache-2.0
// qrt_diff: the first layer at which a model in qrt differs from tensors that another system, or
// another device, made of it. Command line only; the work is in diff/ and runtime/tools/.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "converter/command_line.h"
#include "converter/convert.h"
#include "converter/diff/compare.h"
#include "converter/diff/reference.h"
#include "qrt/qrt.hpp"
#include "runtime/text.h"
#include "runtime/tools/arrays.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/files.h"
#include "runtime/tools/inputs.h"
#include "runtime/tools/options.h"
#include "runtime/tools/terminal.h"

namespace qrt {
namespace {

struct Options {
  std::string model, reference, isa;
  std::vector<std::string> inputs;
  convert::FormatOptions format;
  size_t threads = 1;
  bool all = false, expect_some = false;
};

// Reads the bytes of a .qrt file, or converts another file.
Status read_model(const Options& options, std::vector<uint8_t>* bytes) {
  bool is_qrt = false;
  QRT_TRY(convert::look_for_qrt(options.model, &is_qrt));
  if (is_qrt) return tool::read_file(options.model, bytes);
  const convert::Frontend* format = nullptr;
  QRT_TRY(options.format.find_format(options.model, &format));
  convert::Graph graph;
  convert::Report report;
  const Status imported =
      convert::import_model(*format, options.model, options.format.given(), &graph, &report);
  if (report.has_refusals()) fputs(report.text(false).c_str(), stderr);
  if (!imported.ok()) return error(imported.code(), "%s", imported.message());
  QRT_TRY(convert::run_passes(&graph, nullptr).at(options.model));
  return convert::write_model(graph, bytes).at(options.model);
}

// Reads the inputs: those of --input, by name or in order, and the others from the reference, by name.
Status read_inputs(const Options& options, const Model& model, const diff::Reference& reference,
                   tool::Inputs* inputs) {
  std::vector<std::string> names, given = options.inputs;
  for (size_t i = 0; i < model.input_count(); ++i) names.emplace_back(model.input_info(i).name);
  std::vector<tool::ArrayFile> assigned;
  QRT_TRY(tool::assign_arrays("input", names, options.inputs, tool::Match::kArrays, &assigned)
              .at("--input"));
  for (size_t i = 0; i < names.size(); ++i) {
    if (!assigned[i].path.empty()) continue;
    const std::vector<std::string> found = reference.find(names[i]);
    if (found.empty())
      return error(Code::kInvalidArgument,
                   "%s: holds no tensor '%s', an input of the model: give it by --input",
                   options.reference.c_str(), names[i].c_str());
    given.push_back(names[i] + "=" + found[0]);
  }
  return inputs->read_any(model, given);
}

struct Counts {
  size_t tensors = 0, compared = 0, different = 0;
};

// Checks that names match: complains about tensors that the folder holds and the model lacks, as parts of fused
// operators do, and about the model's outputs that the folder lacks. Both would be left out of the comparison.
Status check_names(const Options& options, const Model& model, const diff::Reference& reference,
                   const fb::Model& file, const Session& session) {
  std::vector<std::string> known, missing, outputs;
  QRT_TRY(tool::each_source_tensor(file, session, [&](const tool::SourceTensor& t) -> Status {
    known.push_back(t.name);
    return {};
  }));
  for (size_t i = 0; i < model.input_count(); ++i) known.emplace_back(model.input_info(i).name);
  for (size_t i = 0; i < model.output_count(); ++i) {
    const std::string name = model.output_info(i).name;
    outputs.push_back(name);
    if (reference.find(name).empty()) missing.push_back(name);
  }
  known.insert(known.end(), outputs.begin(), outputs.end());
  return tool::check_match(tool::Match::kAll, "output", reference.others(known), missing, outputs,
                           "--expect-some")
      .at(options.reference);
}

// Returns a text such as "'conv/y' of operator 12 'conv' (Conv2D, from Conv+Relu)".
std::string describe(const fb::Model& file, const tool::SourceTensor& t) {
  const fb::Operator& op = *file.operators()->Get(static_cast<uint32_t>(t.op));
  const auto text = [](const flatbuffers::String* s) {
    return s != nullptr ? escaped(s->str()) : std::string();
  };
  const std::string source = text(op.source_op());
  return "'" + escaped(t.name) + "' of operator " + std::to_string(t.op) + " '" + text(op.name()) +
         "' (" + fb::EnumNameOpOptions(op.options_type()) +
         (source.empty() ? "" : ", from " + source) + ")";
}

// Finds the reference that a tensor can be compared with. It is the `number`th of its name that the model has: of several
// references of one name that is the one to try first, then the others in their order.
Status compare_tensor(const diff::Reference& reference, const tool::SourceTensor& t, size_t number,
                      bool* is_compared, tool::Difference* difference, std::string* why) {
  *is_compared = false;
  *why = "no reference of this name";
  std::vector<std::string> files = reference.find(t.name);
  if (number < files.size()) {
    const auto own = files.begin() + static_cast<ptrdiff_t>(number);
    std::rotate(files.begin(), own, own + 1);
  }
  for (const std::string& file : files) {
    tool::NpyArray array;
    if (Status read = tool::read_npy(file, &array); !read.ok()) {
      if (read.code() == Code::kIoError) return read;
      *why = read.message();
      continue;
    }
    *is_compared = diff::compare(t, array, difference, why);
    if (*is_compared) return {};
  }
  return {};
}

Status run(const Options& options, bool* equal) {
  diff::Reference reference;
  QRT_TRY(reference.open(options.reference));
  std::vector<uint8_t> bytes;
  QRT_TRY(read_model(options, &bytes));
  const Model model = Model::load_memory(bytes.data(), bytes.size(), QRT_LOAD_COPY);
  tool::Inputs inputs;
  QRT_TRY(read_inputs(options, model, reference, &inputs));
  if (inputs.steps() > 0)
    return error(Code::kInvalidModel,
                 "the inputs are a sequence of %s, expected one without a dimension in front",
                 tool::counted(inputs.steps(), "run").c_str());
  SessionOptions session_options;
  tool::Dims dims = inputs.dims();
  dims.put_in(&session_options);
  session_options.threads = options.threads;
  session_options.isa = options.isa.empty() ? nullptr : options.isa.c_str();
  session_options.keep_all = true;
  Session session(model, session_options);
  const fb::Model& file = *fb::GetModel(bytes.data());
  if (!options.expect_some) QRT_TRY(check_names(options, model, reference, file, session));
  QRT_TRY(inputs.put(0, &session));
  session.run();
  Counts n;
  std::map<std::string, size_t> numbers;  // number of tensors with each name so far
  std::string unfit;                      // the first reference that cannot be compared, and why
  const auto use = [&](const tool::SourceTensor& t) -> Status {
    bool is_compared;
    tool::Difference d;
    std::string why;
    QRT_TRY(compare_tensor(reference, t, numbers[t.name]++, &is_compared, &d, &why));
    ++n.tensors;
    n.compared += is_compared;
    if (unfit.empty() && !is_compared && !reference.find(t.name).empty())
      unfit = "'" + t.name + "': " + why;
    n.different += is_compared && d.different > 0;
    const bool is_first = is_compared && d.different > 0 && n.different == 1;
    if (is_first || options.all)
      printf("%s%s:\n    %s\n", is_first ? "first difference: " : "", describe(file, t).c_str(),
             is_compared ? tool::describe(d).c_str() : escaped(why).c_str());
    return {};
  };
  QRT_TRY(tool::each_source_tensor(file, session, use));
  if (n.compared == 0)
    return error(Code::kInvalidModel,
                 "%s: none of the model's %zu tensors has a reference of its name, shape and type "
                 "(--all tells why)",
                 options.reference.c_str(), n.tensors);
  if (!unfit.empty() && !options.expect_some)
    return error(Code::kInvalidModel,
                 "%s: a reference cannot be compared, %s (--expect-some leaves it out)",
                 options.reference.c_str(), unfit.c_str());
  printf("%zu of %s compared, %zu %s\n", n.compared, tool::counted(n.tensors, "tensor").c_str(),
         n.different, n.different == 1 ? "differs" : "differ");
  *equal = n.different == 0;
  return {};
}

int diff_main(int argc, char** argv) {
  tool::CommandLine line(
      "Names the first layer at which a model differs from a folder of reference tensors.",
      "  qrt_diff model.onnx dump          tensors of ONNX Runtime, NAME.npy\n"
      "  qrt_diff model.onnx dump --expect-some    as many as are alike in both\n"
      "  qrt_diff model.qrt dump --all     of another device's qrt_run --dump-all\n"
      "  qrt_diff model.tflite dump --input image.npy");
  Options options;
  line.argument("MODEL", &options.model,
                "ONNX, TFLite, ESP-DL, CVM or .qrt, by content; - is standard input");
  line.argument("DIR", &options.reference,
                "Folder with an index.json (qrt_run --dump-all --output-dir), or NAME.npy files");
  line.texts(
      "--input FILE", &options.inputs,
      "[NAME=]FILE.npy or .npz, instead of the input that the folder holds; may be repeated");
  line.flag("--expect-some", &options.expect_some,
            "The folder may hold tensors that the model has not (of operators that the converter "
            "fuses), and may lack outputs; otherwise that is exit status 2");
  line.flag("--all", &options.all, "A line for each tensor, not only for the first that differs");
  line.text("--isa NAME", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  line.number("--threads COUNT", &options.threads, 1, 1024, "Threads");
  options.format.add_to(&line);
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  bool equal = false;
  Status status = tool::take_stdin(&options.model);
  if (status.ok()) status = run(options, &equal);
  if (!status.ok()) return tool::fail(status);
  return equal ? tool::kDone : tool::kCheckFailed;
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::diff_main, argc, argv); }

// SPDX-License-Identifier: Apache-2.0
// Source models: bytes -> import -> lint -> passes -> write -> load -> run.
#include "converter/convert.h"
#include "converter/import/common/states.h"
#include "converter/import/frontend.h"
#include "converter/lint.h"
#include "converter/quantize/float/float_model.h"
#include "converter/quantize/schemes/placement.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/cvm_models.h"

namespace qrt::fuzz {
namespace {

// Checks that a refusal has a message, and a code for a damaged file, one beyond this version, or
// I/O (external data that is missing).
void check_refusal(const Status& status) {
  if (status.code() != Code::kInvalidModel && status.code() != Code::kUnsupported &&
      status.code() != Code::kIoError)
    failed(std::string("refused with a code that blames something else than the file: ") +
           status.message());
  if (status.message()[0] == '\0') failed("a refusal without a message");
}

// Checks that an import gave a model that converts, loads and runs alike everywhere, or a refusal.
void check_import(Status status, convert::Graph* graph, convert::Report* report, size_t size) {
  report->text(true);
  if (status.ok() || report->has_refusals()) convert::lint(*graph, report);
  report->warnings_text();
  report->json({true, true});
  if (!status.ok()) return check_refusal(status);
  std::vector<uint8_t> bytes;
  status = convert::run_passes(graph, nullptr);
  if (status.ok()) status = convert::write_model(*graph, &bytes);
  if (!status.ok()) return check_refusal(status);
  const ModelPtr model = load(bytes.data(), bytes.size(), &status);
  if (model == nullptr) failed(std::string("the converted model is refused: ") + status.message());
  compare_runs(model, size);
}

// Makes a state of the last input and output, where they are a pair and not the only ones.
void make_last_state(convert::Graph* graph) {
  if (graph->inputs.size() <= graph->variables.size() + 1 ||
      graph->outputs.size() <= graph->variables.size() + 1)
    return;
  const auto last = [&](const std::vector<convert::ValueId>& ids) {
    return graph->values[ids[ids.size() - graph->variables.size() - 1]].name;
  };
  (void)convert::make_states({last(graph->inputs) + "=" + last(graph->outputs)}, graph);
}

// Imports a file. One in three is imported with all the flags that its format has, one with the last value
// of each option that has values: some flags and values exclude each other. One in five has a state.
void fuzz_import(const char* format, const uint8_t* data, size_t size) {
  const convert::Frontend& frontend = *convert::find_frontend(format);
  convert::ImportOptions options;
  for (const convert::ImportOption& o : frontend.options) {
    if (o.is_flag && size % 3 == 1) options[o.name] = "on";
    if (!o.choices.empty() && size % 3 == 2) options[o.name] = o.choices.back();
  }
  const MemoryFile file(data, size);
  convert::Graph graph;
  convert::Report report;
  Status status = convert::import_model(frontend, file.path(), options, &graph, &report);
  if (status.ok() && size % 5 == 3) make_last_state(&graph);
  check_import(std::move(status), &graph, &report, size);
}

}  // namespace

void fuzz_onnx(const uint8_t* data, size_t size) { fuzz_import("onnx", data, size); }
void fuzz_tflite(const uint8_t* data, size_t size) { fuzz_import("tflite", data, size); }

// Imports the first model of a pack; for one file in two the chip is named.
void fuzz_espdl(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  convert::EspdlOptions options;
  options.model = "0";
  if (size % 2 != 0) options.target = size % 4 == 1 ? "esp32s3" : "esp32p4";
  options.float_io = size % 3 == 0;
  convert::Graph graph;
  convert::Report report;
  Status status = convert::import_espdl(file.path(), options, &graph, &report);
  // The target is missing in both the file and the options, or the two contradict each other.
  if (status.code() == Code::kInvalidArgument) return;
  check_import(std::move(status), &graph, &report, size);
}

void fuzz_float(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  quantize::FloatModel model;
  Status status = quantize::read_float_model(file.path(), &model);
  model.limits = {20, 22, 28};  // the fuzzers run side by side
  if (status.ok()) {
    // Samples that say the dimensions that the file leaves open: of one size, or of two.
    std::vector<quantize::Shapes> samples(1 + size % 2);
    for (size_t i = 0; i < samples.size(); ++i)
      for (const quantize::Value& input : model.inputs) {
        quantize::Dims& shape = samples[i][input.name] = input.shape;
        for (size_t d = 0; d < shape.size(); ++d)
          if (shape[d] < 0) shape[d] = d == 0 ? 1 : static_cast<int64_t>(1 + i);
      }
    status = quantize::fix_input_shapes(samples, &model);
  }
  if (status.ok()) status = quantize::simplify(&model);
  if (!status.ok()) return check_refusal(status);
  // As --exclude has it.
  std::set<size_t> excluded;
  for (size_t i = 0; size % 3 == 0 && i < model.nodes.size(); i += 2) excluded.insert(i);
  quantize::place(model, {}, excluded);
}

void fuzz_cvm(const uint8_t* data, size_t size) {
  if (size < 4) return;
  const testing::CvmModel model = testing::split(data, size);
  const MemoryFile graph_file(model.symbol.data(), model.symbol.size());
  const MemoryFile params(model.params.data(), model.params.size());
  convert::Graph graph;
  convert::Report report;
  Status status = convert::import_cvm(graph_file.path(), params.path(), &graph, &report);
  check_import(std::move(status), &graph, &report, size);
}

}  // namespace qrt::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/frontend.h"

#include <algorithm>
#include <cstring>

#include "converter/convert.h"
#include "converter/import/common/states.h"
#include "converter/import/espdl/package.h"

namespace qrt::convert {
namespace {

using Head = std::vector<uint8_t>;

bool has_mark(const Head& head, size_t at, const char* mark) {
  const size_t length = strlen(mark);
  return head.size() >= at + length && memcmp(head.data() + at, mark, length) == 0;
}

bool is_tflite(const Head& head) { return has_mark(head, 4, "TFL3"); }
bool is_espdl(const Head& head) { return from_espdl::is_espdl(head.data(), head.size()); }
// Returns whether the file begins with a JSON object, as CVM's symbol does and no other format.
bool is_cvm(const Head& head) {
  const auto first = std::find_if(head.begin(), head.end(), [](uint8_t c) {
    return strchr(" \t\r\n", c) == nullptr || c == 0;
  });
  return first != head.end() && *first == '{';
}
// Takes every file, as ONNX files have no mark: a file that no other front end recognises is one.
bool is_onnx(const Head&) { return true; }

const ImportOption kOutputs = {
    "outputs",
    "Tensors to end the model at, instead of its own outputs: what is behind them stays outside; "
    "may be repeated",
    false,
    {},
    true,
    "NAME"};

const ImportOption kState = {
    "state",
    "IN=OUT, the names of an input and an output that become a state of the session: they leave "
    "the interface, and each run begins with what the last one gave; the first with zeros. For "
    "more states repeated",
    false,
    {},
    true,
    "NAME"};

const ImportOption kOpen = {"open",
                            "NAME or NAME=LEAST:MOST[:STEP], a dimension of an ONNX model that has "
                            "to stay open, and its sizes; "
                            "for more dimensions repeated",
                            false,
                            {},
                            true,
                            "DIM"};

const ImportOption kConstant = {
    "constant",
    "NAME=VALUE, an input of an ONNX model that is always this number, such as a sample rate: it "
    "leaves the interface; for more inputs repeated",
    false,
    {},
    true,
    "INPUT"};

const ImportOption kInputShape = {
    "input-shape",
    "[NAME=]1x3x224x224, the shape of an input of an ONNX model whose dimensions the file leaves "
    "open; ? for the first leaves the batch open; for more inputs repeated",
    false,
    {},
    true,
    "SHAPE"};

Status tflite(const std::string& path, const ImportOptions& options, Graph* graph, Report* report) {
  const auto reference = options.find("reference");
  const bool single = reference != options.end() && reference->second == "tflite-single";
  return import_tflite(path,
                       single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding,
                       graph, report, list_of(options, "outputs"), text_of(options, "signature"));
}

EspdlOptions espdl_options(const ImportOptions& options) {
  return {text_of(options, "target"), text_of(options, "model"), options.count("float-io") != 0};
}

Status espdl(const std::string& path, const ImportOptions& options, Graph* graph, Report* report) {
  return import_espdl(path, espdl_options(options), graph, report);
}

Status espdl_tests(const std::string& path, const ImportOptions& options, TestValues* values) {
  return read_espdl_tests(path, espdl_options(options), values);
}

// Returns `title` of all formats that have the option.
std::string titles_with(const std::string& option) {
  std::string titles;
  for (const Frontend& f : frontends())
    for (const ImportOption& o : f.options)
      if (option == o.name) titles += (titles.empty() ? "" : " and ") + std::string(f.title);
  return titles;
}

}  // namespace

std::vector<std::string> list_of(const ImportOptions& options, const char* name) {
  std::vector<std::string> values;
  const auto given = options.find(name);
  if (given == options.end()) return values;
  const std::string& all = given->second;
  for (size_t at = 0, end; at <= all.size(); at = end + 1) {
    end = std::min(all.find('\n', at), all.size());
    values.push_back(all.substr(at, end - at));
  }
  return values;
}

std::string text_of(const ImportOptions& options, const char* name) {
  const auto given = options.find(name);
  return given == options.end() ? std::string() : given->second;
}

const std::vector<Frontend>& frontends() {
  static const std::vector<Frontend> rows = {
      {"tflite",
       "TFLite",
       is_tflite,
       {{"reference",
         "Whose bits a TFLite model gets: tflite-ref (the default), or tflite-single for builds "
         "with TFLITE_SINGLE_ROUNDING",
         false,
         {"tflite-ref", "tflite-single"}},
        {"signature",
         "Which signature of a TFLite file that has several: its name or index; inputs and outputs "
         "are then called after it",
         false,
         {}},
        kOutputs,
        kState},
       tflite,
       list_tflite},
      {"espdl",
       "ESP-DL",
       is_espdl,
       {{"target",
         "The chip whose rounding an ESP-DL model gets, where the file does not say",
         false,
         {"esp32p4", "esp32s3", "c"}},
        {"model", "Which model of an ESP-DL pack: its name or index", false, {}},
        {"float-io", "Float32 inputs and outputs instead of an ESP-DL model's integers", true, {}},
        kState},
       espdl,
       list_espdl,
       espdl_tests},
      {"cvm",
       "MRT/CVM",
       is_cvm,
       {{"params",
         "Params of an MRT/CVM model; else `params` beside a file called `symbol`, or STEM.params",
         false,
         {},
         false,
         "FILE"},
        kState},
       kImportCvm},
      {"onnx",
       "ONNX",
       is_onnx,
       {{"allow-float",
         "Run what has no integer form between DequantizeLinear and QuantizeLinear in float "
         "(level F): Softmax, LayerNormalization and the like. Refused otherwise",
         true,
         {}},
        {"blocks",
         "How activations are multiplied by weights in blocks (MatMulNBits): quantised to int8 "
         "(nbits-seq), or in float. Without it, as the model's accuracy_level says: int8 for 4",
         false,
         {"int8", "float"}},
        {"reference",
         "Whose bits an ONNX model gets: ort (the default), or ESP-DL's on a chip, where all "
         "scales "
         "are powers of two: espdl-p4, espdl-s3, espdl-c",
         false,
         {"ort", "espdl-p4", "espdl-s3", "espdl-c"}},
        kOutputs,
        kInputShape,
        kConstant,
        kOpen,
        kState},
       kImportOnnx},
  };
  return rows;
}

const Frontend* find_frontend(const std::string& name) {
  for (const Frontend& f : frontends())
    if (name == f.name) return &f;
  return nullptr;
}

const Frontend& recognise(const std::vector<uint8_t>& head) {
  const auto& rows = frontends();
  return *std::find_if(rows.begin(), rows.end() - 1,
                       [&](const Frontend& f) { return f.recognises(head); });
}

Status import_model(const Frontend& frontend, const std::string& path, const ImportOptions& options,
                    Graph* graph, Report* report) {
  for (const auto& [name, value] : options) {
    const auto known = std::find_if(frontend.options.begin(), frontend.options.end(),
                                    [&, &n = name](const ImportOption& o) { return n == o.name; });
    const std::string given =
        "--" + name + (value == "on" ? "" : " " + value.substr(0, value.find('\n')));
    if (known == frontend.options.end())
      return error(Code::kInvalidArgument, "%s is for %s models, %s is %s", given.c_str(),
                   titles_with(name).c_str(), path.c_str(), frontend.name);
    const auto& choices = known->choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
      return error(Code::kInvalidArgument, "%s is not for %s models, and %s is one", given.c_str(),
                   frontend.title, path.c_str());
  }
  if (frontend.import) {
    QRT_TRY(frontend.import(path, options, graph, report));
    return make_states(list_of(options, kState.name), graph);
  }
  std::string read;
  for (const Frontend& f : frontends())
    if (f.import) read += (read.empty() ? "" : " or ") + std::string(f.title);
  return error(Code::kUnsupported,
               "%s: is no %s model, and this build reads no others; if it is one of %s, "
               "convert it with the native qrt_convert",
               path.c_str(), read.c_str(), frontend.title);
}

}  // namespace qrt::convert

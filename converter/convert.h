// SPDX-License-Identifier: Apache-2.0
// The converter as a library: source model -> .qrt bytes.
#ifndef QRT_CONVERTER_CONVERT_H_
#define QRT_CONVERTER_CONVERT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "converter/check_values.h"
#include "converter/ir.h"
#include "converter/report.h"
#include "converter/source_edges.h"
#include "runtime/status.h"

namespace qrt::convert {

// How float activations are multiplied by weights in blocks: as the source's accuracy_level says, quantised in
// every run, or by weights that become floats.
enum class Blocks { kAsSource, kInt8, kFloat };

// import/onnx/: reads an ONNX file (external data beside it) into a graph. Fails with kIoError,
// kInvalidModel (damaged), or kUnsupported with every refused node in the report, or kInvalidArgument
// where `edges` do not go with the model. *graph is meaningful only on success. `allow_float`:
// operators between DequantizeLinear and QuantizeLinear that have no integer form may run in float
// (level F), where qrt has one. `blocks`: how products of weights in blocks are computed.
Status import_onnx(const std::string& path, Graph* graph, Report* report, bool allow_float = false,
                   const SourceEdges& edges = {}, Blocks blocks = Blocks::kAsSource);

// Imports a QDQ graph whose scales are all powers of two, with the arithmetic of ESP-DL:
// `reference` is espdl-p4, espdl-s3 or espdl-c. Other scales are refused.
Status import_onnx_as_espdl(const std::string& path, const std::string& reference, Graph* graph,
                            Report* report, const SourceEdges& edges = {});

// import/onnx/file/: a file of one tensor (TensorProto), as test data of ONNX models come; its name may
// be "". As import_onnx().
Status read_onnx_tensor(const std::string& path, TestTensor* tensor);

// The kernels whose bits a TFLite model gets: the reference kernels (double rounding), or those of
// builds with TFLITE_SINGLE_ROUNDING.
enum class TfliteReference { kDoubleRounding, kSingleRounding };

// import/tflite/: reads the model of a TFLite file into a graph. As import_onnx(); `outputs` as in
// SourceEdges. `signature` is the name or index of one of the file's signatures, after which the
// graph's inputs and outputs are called then; without one the file has at most one signature, and they
// are called as their tensors. Fails with
// kInvalidArgument where `signature` names none of the file's, or is empty and the file has several.
Status import_tflite(const std::string& path, TfliteReference reference, Graph* graph,
                     Report* report, const std::vector<std::string>& outputs = {},
                     const std::string& signature = "");

// Lists the signatures of a TFLite file, "0 encode", one line each.
Status list_tflite(const std::string& path, std::vector<std::string>* models);

// The options of an ESP-DL import.
struct EspdlOptions {
  std::string target;     // esp32p4, esp32s3 or c; empty: what the file says
  std::string model;      // name or index of the model in a pack of several
  bool float_io = false;  // float32 at the edges instead of the chip's integers
};

// import/espdl: reads an ESP-DL file into a graph. As import_onnx(); kInvalidArgument where an
// option is missing, or one contradicts the file.
Status import_espdl(const std::string& path, const EspdlOptions& options, Graph* graph,
                    Report* report);

// Lists the models of an ESP-DL file, "0 face"; for a pack one line each.
Status list_espdl(const std::string& path, std::vector<std::string>* models);

// Reads the values that an ESP-DL file holds to test it with, if there are some.
Status read_espdl_tests(const std::string& path, const EspdlOptions& options, TestValues* values);

// import/cvm/: reads an MRT/CVM model's symbol (JSON) and params. As import_onnx().
Status import_cvm(const std::string& symbol, const std::string& params, Graph* graph,
                  Report* report);
// Returns where the params of a symbol file are unless the caller says: `params` beside a file
// called `symbol`, else the same name with .params for .json.
std::string find_cvm_params(const std::string& symbol);

// passes/: rewrites an imported graph into its final form. `progress` (may be null) is called with each
// pass's name.
Status run_passes(Graph* graph, const std::function<void(const char*)>& progress);

// Tells the report which sizes a converted graph takes: its batches, or its open dimensions and sums.
void report_sizes(const Graph& graph, Report* report);

// Returns what the user of a converted graph should know beside its report, a sentence each.
std::vector<std::string> notes_on(const Graph& graph);

// The content of a written file beside the graph.
struct Extras {
  const TestValues* tests = nullptr;         // values to test it with
  std::map<std::string, std::string> notes;  // metadata, by key
};

// write.cc: writes a final graph as bytes, and reloads these by the runtime's verifier and planner.
// Fails with kUnsupported if those refuse them, or beyond 2 GB; kInvalidArgument where the test
// values are not those of its inputs and outputs.
Status write_model(const Graph& graph, std::vector<uint8_t>* bytes, const Extras& extras = {});

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_CONVERT_H_

// The converter as a library: source model -> .qrt bytes.
#ifndef QRT_CONVERTER_CONVERT_H_
#define QRT_CONVERTER_CONVERT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/ir.h"
#include "converter/report.h"
#include "runtime/status.h"

namespace qrt::convert {

// import/onnx.cc: reads an ONNX file (external data beside it) into a graph. kIoError,
// kInvalidModel (damaged), or kUnsupported with every refused node in the report. *graph is
// meaningful only on success. `allow_float`: operators between DequantizeLinear and QuantizeLinear
// that have no integer form may run in float (level F), where qrt has one.
Status import_onnx(const std::string& path, Graph* graph, Report* report, bool allow_float = false);

// Whose bits a TFLite model gets: the reference kernels' (double rounding), or those of builds with
// TFLITE_SINGLE_ROUNDING.
enum class TfliteReference { kDoubleRounding, kSingleRounding };

// import/tflite.cc: reads a TFLite file's first subgraph into a graph. As import_onnx().
Status import_tflite(const std::string& path, TfliteReference reference, Graph* graph,
                     Report* report);

// import/cvm/: reads an MRT/CVM model's symbol (JSON) and params. As import_onnx().
Status import_cvm(const std::string& symbol, const std::string& params, Graph* graph,
                  Report* report);
// Where the params of a symbol file are if nobody says: `params` beside a file called `symbol`,
// else the same name with .params for .json.
std::string find_cvm_params(const std::string& symbol);

// passes/: rewrites an imported graph into its final form. `progress` (may be null) hears each
// pass's name.
Status run_passes(Graph* graph, const std::function<void(const char*)>& progress);

// write.cc: a final graph as bytes, already reloaded through the runtime's verifier and planner
// (kUnsupported if these refuse them, or beyond 2 GB).
Status write_model(const Graph& graph, std::vector<uint8_t>* bytes);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_CONVERT_H_

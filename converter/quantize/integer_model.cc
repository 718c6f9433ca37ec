// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/integer_model.h"

#include <cstring>

#include "converter/convert.h"
#include "converter/quantize/float/memory_file.h"

namespace qrt::quantize {
namespace {

Status import_qdq(const MemoryFile& file, const Arithmetic& arithmetic, convert::Graph* graph,
                  convert::Report* report) {
  if (!arithmetic.espdl.empty())
    return convert::import_onnx_as_espdl(file.path(), arithmetic.espdl, graph, report);
  return convert::import_onnx(file.path(), graph, report, arithmetic.allow_float);
}

uint32_t float_bits(double v) {
  const auto f = static_cast<float>(v);
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  return bits;
}

// Reals at an edge, whose own value is integers in CVM.
convert::ValueId real_of(const CvmModel::Edge& edge, convert::ValueId integers,
                         convert::Graph* graph) {
  convert::Value& q = graph->values[integers];
  q.name = edge.name + "_quantized";
  convert::Value real;
  real.name = edge.name;
  real.type = {DType::kFloat32, q.type.shape};
  return graph->add_value(std::move(real));
}

void add_float_input(const CvmModel::Edge& edge, convert::Graph* graph) {
  const convert::ValueId integers = graph->inputs[0], x = real_of(edge, integers, graph);
  convert::Node node =
      convert::make_node<fb::QuantizeOptionsT>(edge.name, "input", {x}, {integers});
  auto& o = convert::options<fb::QuantizeOptionsT>(node);
  o.scale = {float_bits(edge.step)};
  o.zero_point = {0};
  o.rounding = fb::Rounding::HALF_AWAY;  // MRT's
  graph->nodes.insert(graph->nodes.begin(), std::move(node));
  graph->inputs[0] = x;
}

void add_float_output(const CvmModel::Edge& edge, convert::ValueId* output, convert::Graph* graph) {
  const convert::ValueId y = real_of(edge, *output, graph);
  convert::Node node =
      convert::make_node<fb::DequantizeOptionsT>(edge.name, "output", {*output}, {y});
  auto& o = convert::options<fb::DequantizeOptionsT>(node);
  o.scale = {float_bits(edge.step)};
  o.zero_point = {0};
  graph->nodes.push_back(std::move(node));
  *output = y;
}

Status import_cvm(const CvmModel& cvm, convert::Graph* graph, convert::Report* report) {
  MemoryFile symbol, params;
  QRT_TRY(symbol.create(cvm.symbol));
  QRT_TRY(params.create(cvm.params));
  QRT_TRY(convert::import_cvm(symbol.path(), params.path(), graph, report));
  add_float_input(cvm.input, graph);
  for (size_t i = 0; i < cvm.outputs.size(); ++i)
    add_float_output(cvm.outputs[i], &graph->outputs[i], graph);
  return {};
}

// Imports a document. `file` holds an ONNX document, whose size limits what the converter may do,
// also after the import.
Status import_document(const Document& document, const Arithmetic& arithmetic, MemoryFile* file,
                       convert::Graph* graph, convert::Report* report) {
  if (document.qdq.empty()) return import_cvm(document.cvm, graph, report);
  QRT_TRY(file->create(document.qdq));
  return import_qdq(*file, arithmetic, graph, report);
}

}  // namespace

Status judge_document(const Document& document, const Arithmetic& arithmetic,
                      convert::Report* report) {
  MemoryFile file;
  convert::Graph graph;
  *report = convert::Report();
  Status status = import_document(document, arithmetic, &file, &graph, report);
  // Refusals are in the report.
  return report->has_refusals() ? Status() : std::move(status);
}

Status convert_document(const Document& document, const Arithmetic& arithmetic,
                        const std::map<std::string, std::string>& notes, Conversion* conversion) {
  *conversion = Conversion();
  MemoryFile file;
  convert::Graph graph;
  QRT_TRY(import_document(document, arithmetic, &file, &graph, &conversion->report));
  graph.source_producer = "qrt_quantize";
  QRT_TRY(convert::run_passes(&graph, nullptr));
  return convert::write_model(graph, &conversion->bytes, {nullptr, notes});
}

}  // namespace qrt::quantize

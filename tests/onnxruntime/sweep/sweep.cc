// SPDX-License-Identifier: Apache-2.0
// sweep DIR SEED STRIDE FIRST COUNT: COUNT cells of the matrix of cells.h, of those that STRIDE leaves: every one whose index has the
// remainder of SEED. Writes DIR/FIRST.jsonl, a line for each cell, and DIR/FIRST.bytes with the models and tensors that the lines
// speak of; judge.mjs reads them. DIR/FIRST.onnx is the last model.
// sweep --count: how many cells there are.  sweep --list TEXT: indices and names of those whose names hold TEXT.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/onnxruntime/record.h"
#include "tests/onnxruntime/sweep/cells.h"

namespace qrt::sweep {
namespace {

using onnxruntime::Json;
using onnxruntime::Record;

void write_cell(const Cell& cell, size_t index, uint64_t seed, const std::string& stem,
                std::ofstream* lines, std::ofstream* bytes) {
  const Graph g = make_graph(cell, seed);
  const std::string path = stem + ".onnx", model_bytes = g.b.bytes();
  std::ofstream(path, std::ios::binary) << model_bytes;
  Record record;
  record.json = {{"index", index},
                 {"name", cell.name()},
                 {"op", cell.row->op},
                 {"kind", cell.producer->group},
                 {"base", static_cast<int64_t>(bytes->tellp())}};
  record.json["model"] =
      record.add("", 0, {}, testing::Bytes(model_bytes.begin(), model_bytes.end()));
  record.json["units"] = g.units();
  record.json["inputs"] = Json::array();
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    const auto& info = g.b.model.graph().input(static_cast<int>(i));
    Dims dims;
    for (const auto& d : info.type().tensor_type().shape().dim()) dims.push_back(d.dim_value());
    record.json["inputs"].push_back(
        record.add(info.name(), info.type().tensor_type().elem_type(), dims, g.inputs()[i]));
  }
  for (const bool allow_float : {false, true}) {
    Json attempt = {{"allow_float", allow_float}};
    testing::Bytes loaded;
    qrt_model* model = onnxruntime::convert_and_load(path, allow_float, &attempt, &loaded);
    qrt_session_options options;
    qrt_struct_init(&options);
    if (model)
      onnxruntime::run_model(model, g.b.model.graph(), g.inputs(), options, &record, &attempt);
    qrt_model_destroy(model);
    record.json["attempts"].push_back(std::move(attempt));
  }
  *bytes << record.bytes << std::flush;
  *lines << record.json.dump() << std::endl;  // whole lines only, should the next cell crash
}

}  // namespace
}  // namespace qrt::sweep

int main(int argc, char** argv) {
  using namespace qrt::sweep;
  const std::vector<Cell> cells = all_cells();
  if (argc == 2 && strcmp(argv[1], "--count") == 0) {
    printf("%zu\n", cells.size());
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--list") == 0) {
    for (size_t i = 0; i < cells.size(); ++i)
      if (cells[i].name().find(argv[2]) != std::string::npos)
        printf("%zu %s\n", i, cells[i].name().c_str());
    return 0;
  }
  if (argc != 6) {
    fprintf(stderr,
            "usage: sweep DIR SEED STRIDE FIRST COUNT | sweep --count | sweep --list TEXT\n");
    return 2;
  }
  for (const std::string& op : missing_rows())
    fprintf(stderr, "sweep: no row for %s\n", op.c_str());
  if (!missing_rows().empty()) return 1;
  const uint64_t seed = strtoull(argv[2], nullptr, 0), stride = strtoull(argv[3], nullptr, 0);
  const uint64_t first = strtoull(argv[4], nullptr, 0), count = strtoull(argv[5], nullptr, 0);
  const std::string stem = std::string(argv[1]) + "/" + argv[4];
  std::ofstream lines(stem + ".jsonl"), bytes(stem + ".bytes", std::ios::binary);
  for (uint64_t k = first; k < first + count; ++k) {
    const uint64_t i = k * stride + seed % stride;
    if (i < cells.size()) write_cell(cells[i], i, seed, stem, &lines, &bytes);
  }
  return 0;
}

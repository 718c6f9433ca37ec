// SPDX-License-Identifier: Apache-2.0
// The matrix of the sweep: every operator that the converter reads (rows) behind every kind of
// tensor that may wait in front of it (producers), the result quantised or read as it is.
#ifndef QRT_TESTS_ONNXRUNTIME_SWEEP_CELLS_H_
#define QRT_TESTS_ONNXRUNTIME_SWEEP_CELLS_H_

#include <functional>
#include <string>
#include <vector>

#include "converter/import/onnx/tensors.h"
#include "tests/onnxruntime/sweep/graph.h"

namespace qrt::sweep {

using Kind = convert::from_onnx::Tensor::Kind;

// Makes a tensor that is pending in the importer.
struct Producer {
  std::string name;                             // "Add of a vector along axis 1"
  std::string group;                            // its column in tables, "vector"
  std::function<bool(const Dims& dims)> takes;  // whether a tensor of this shape can be produced
  std::function<Value(Graph& g, const Dims& dims)> make;
  int64_t opset = 10;  // the first one that has it
};
// Returns the producers whose tensors are of this kind. Every kind of the importer has some; kRefused is no tensor.
std::vector<Producer> producers(Kind kind);
std::vector<Producer> all_producers();

// One way to use an operator: it reads a tensor of these dimensions.
struct Form {
  std::string name;  // "axis 2"
  Dims dims;
  std::function<std::vector<Value>(Graph& g, const Value& x)> make;
  int64_t opset = 21;
  // Producers, or groups of them, for which ONNX Runtime is wrong.
  std::vector<std::string> leaves_out = {};
};
struct Row {
  std::string domain, op;
  std::vector<Form> forms;
};
// Returns all rows. An operator of known_ops() without one is an error (missing_rows()).
const std::vector<Row>& rows();
std::vector<Row> move_rows();
std::vector<Row> layer_rows();
std::vector<Row> window_rows();
std::vector<Row> elementwise_rows();
std::vector<Row> row_rows();
std::vector<Row> integer_rows();
std::vector<Row> attention_rows();
std::vector<std::string> missing_rows();

enum class OutputUse { kQuantized, kRead };

struct Cell {
  const Row* row;
  const Form* form;
  const Producer* producer;
  OutputUse end;

  std::string name() const;
};
// Returns the whole matrix, the same for every seed.
std::vector<Cell> all_cells();

// Returns the cell's graph, with numbers that follow from the seed and from its name.
Graph make_graph(const Cell& cell, uint64_t seed);

}  // namespace qrt::sweep

#endif  // QRT_TESTS_ONNXRUNTIME_SWEEP_CELLS_H_

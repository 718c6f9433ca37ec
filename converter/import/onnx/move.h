// SPDX-License-Identifier: Apache-2.0
// Data movement of the ONNX front end: every such operator is a chain of movements of its input 0,
// applied to the integers, whatever stands for them.
#ifndef QRT_CONVERTER_IMPORT_ONNX_MOVE_H_
#define QRT_CONVERTER_IMPORT_ONNX_MOVE_H_

#include <optional>
#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// A Transpose (perm not empty), a Gather (with maps), or a Reshape.
struct Movement {
  Shape from, to;
  std::vector<int> perm;
  std::optional<IndexMaps> maps;
  // The element that -1 in a map gives, as its bits: in the type of a constant, else as the graph
  // stores it.
  int64_t fill = 0;

  bool is_nothing() const;
};

// Returns whether ONNX Runtime copies pairs of QuantizeLinear and DequantizeLinear across the node:
// it fuses what is in front of it with a QuantizeLinear behind it, and its readers with a
// DequantizeLinear in front of it.
bool copies_pairs(const Importer& importer, const NodeView& node);

// Gives a tensor the shape `dims`. Fails with kInvalidModel where that has another number of elements.
Status reshaped(const Shape& from, const std::vector<int64_t>& dims, Movement* m);
Movement transposed(const Shape& from, std::vector<int> perm);
Movement gathered(IndexMaps maps, int64_t fill = 0);

// Makes output `output` of the node: input 0 after the movements.
Status move(Importer& importer, const NodeView& node, std::vector<Movement> movements,
            int output = 0);

// Makes output 0 of the node: input i as it is.
void pass_on(Importer& importer, const NodeView& node, int i);

// Moves an input that is a function of stored integers by a Gather with a real fill. Where
// none of a table's codes stands for the fill, the output's quantisation decides what it becomes.
Status move_filled(Importer& importer, const NodeView& node, IndexMaps maps, float fill);

// Reads the integers of input i. Returns false where it is no integer constant; the node was refused.
bool constant_integers(Importer& importer, const NodeView& node, int i,
                       std::vector<int64_t>* values);
// Reads an axis, which counts from the end where it is negative. Fails with kInvalidModel outside 0..rank-1.
Status read_axis(int64_t axis, int rank, int* result);
// Reads the dimensions that `axes` names, an attribute or since opset 13 (reductions: 18) input 1.
// *given: there is one. *known: false where they are refused.
Status read_axes(Importer& importer, const NodeView& node, int rank, std::vector<bool>* marked,
                 bool* given, bool* known);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_MOVE_H_

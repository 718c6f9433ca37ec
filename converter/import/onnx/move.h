// SPDX-License-Identifier: Apache-2.0
// Data movement of the ONNX front end: every such operator is a chain of movements of its input 0,
// applied to stored integers, whatever values these stand for.
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
  // The element for index -1 of a map, as its bits: in the source's type if the input is a
  // constant, else as the graph stores elements.
  int64_t fill = 0;

  bool is_nothing() const;
};

// Returns whether ONNX Runtime copies pairs of QuantizeLinear and DequantizeLinear across the node:
// ONNX Runtime then fuses the operator before the node with a QuantizeLinear behind the node, and
// the node's readers with a DequantizeLinear before the node.
bool copies_pairs(const Importer& importer, const NodeView& node);

// Sets *m to the movement that reshapes `from` to `dims`. Fails with kInvalidModel where the
// numbers of elements differ.
Status reshaped(const Shape& from, const std::vector<int64_t>& dims, Movement* m);
Movement transposed(const Shape& from, std::vector<int> perm);
Movement gathered(IndexMaps maps, int64_t fill = 0);

// Sets output `output` of the node to input 0 after the movements.
Status move(Importer& importer, const NodeView& node, std::vector<Movement> movements,
            int output = 0);

// Sets output 0 of the node to input i.
void pass_on(Importer& importer, const NodeView& node, int i);

// Gathers from input 0, a function of stored integers, with a real number as fill. If no code of
// the input stands for that number, the output's quantisation determines the fill's code.
Status move_filled(Importer& importer, const NodeView& node, IndexMaps maps, float fill);

// Reads the integers of input i. Returns false where the input is no integer constant; the node was
// refused.
bool constant_integers(Importer& importer, const NodeView& node, int i,
                       std::vector<int64_t>* values);
// Reads an axis, which counts from the end where it is negative. Fails with kInvalidModel outside 0..rank-1.
Status read_axis(int64_t axis, int rank, int* result);
// Marks the dimensions that `axes` names, an attribute or since opset 13 (reductions: 18) input 1.
// *given: the node has `axes`. *known: false where the node was refused.
Status read_axes(Importer& importer, const NodeView& node, int rank, std::vector<bool>* marked,
                 bool* given, bool* known);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_MOVE_H_

// SPDX-License-Identifier: Apache-2.0
// Elements at indices that only a run knows, which are checked there.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_TAKE_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_TAKE_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// A choice of elements of a tensor that is reshaped to `from`: those at `index` along `axis`, both having the same first
// `batch_dims` dimensions. The result is reshaped to `to`.
struct Taking {
  Shape from;
  int axis = 0, batch_dims = 0;
  ValueId index = kNoValue;
  Shape to;
};

// Makes output 0 of the node what is taken of input 0. A constant becomes one of the graph.
Status take(Importer& importer, const NodeView& node, const Taking& taking);

// Returns whether input i holds indices that only a run knows.
bool is_index_of_a_run(const Importer& importer, const NodeView& node, int i);

// Import GatherND and GatherElements at indices that a run computes.
Status take_points(Importer& importer, const NodeView& node);
Status take_elements(Importer& importer, const NodeView& node, int axis);

// Returns input i, floats or integers, as a value of the graph; kNoValue where it cannot be one. *type is its element type.
ValueId value_of(Importer& importer, const NodeView& node, int i, int* type);

// Returns numbers of points, INT64 [points], in a tensor of whose dimensions from `begin` on each point, a row of the last
// dimension of `indices`, has an index. Where one of these is outside, so is the number.
ValueId linear_indices(Importer& importer, const NodeView& node, ValueId indices, const Shape& from,
                       int begin);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_TAKE_H_

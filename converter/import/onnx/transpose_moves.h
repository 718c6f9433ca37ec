// SPDX-License-Identifier: Apache-2.0
// Follows how ONNX Runtime moves a Transpose before it fuses anything: down through operators that work on any
// order of dimensions, to the next Transpose.
#ifndef QRT_CONVERTER_IMPORT_ONNX_TRANSPOSE_MOVES_H_
#define QRT_CONVERTER_IMPORT_ONNX_TRANSPOSE_MOVES_H_

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/node.h"

namespace qrt::convert::from_onnx {

// The most readers of a tensor that are looked at: a hostile file may have thousands.
constexpr size_t kMostReaders = 64;

class TransposeMoves {
 public:
  using Nodes = std::vector<std::unique_ptr<NodeView>>;  // indexed by the node's place in the file

  TransposeMoves(const Model& model, const Nodes& nodes) : model_(model), nodes_(nodes) {}

  // Returns whether each of several readers could have this Transpose: then it moves down to one of them.
  bool move_from_all_readers(const NodeView& transpose) const;
  // Returns whether a Transpose that is moved down to this node would reach another Transpose.
  bool lead_on_from(const NodeView& node);
  // Returns whether this is a Transpose with one reader, no QuantizeLinear: ONNX Runtime puts a pair between.
  bool gets_pair(const NodeView& node) const;

 private:
  const Model& model_;
  const Nodes& nodes_;
  std::unordered_set<std::string> leading_;  // tensors from which Transposes reach another one
  bool leading_known_ = false;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_TRANSPOSE_MOVES_H_

// Two QuantizeLinear/DequantizeLinear pairs in a row. ONNX Runtime makes them one, whose range is
// what the two ranges have in common, before it fuses anything; so must we.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_
#define QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "converter/import/onnx/tensors.h"

namespace qrt::convert::from_onnx {

class DoubleQdq {
 public:
  using Nodes = std::vector<std::unique_ptr<NodeView>>;  // by index in the file

  // REQUIRES: the scales and zero points are loaded.
  void merge(const Model& model, const Nodes& nodes, const Tensors& tensors);

  // The parameters that stand for a node's own after merging, or null.
  const Quant* quant(const NodeView& node) const;
  // A node in the middle of two merged pairs: its output is its input.
  bool is_bypassed(const NodeView& node) const { return bypassed_.count(node.index()) != 0; }

 private:
  // The parameters of a pair; false for those that ONNX Runtime does not merge.
  bool pair_quant(const Tensors& tensors, const NodeView& q, const NodeView& dq,
                  Quant* result) const;
  bool read(const Tensors& tensors, const NodeView& node, Quant* result) const;

  std::unordered_map<int, Quant> merged_;  // by node
  std::unordered_set<int> bypassed_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_

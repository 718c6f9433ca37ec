// SPDX-License-Identifier: Apache-2.0
// Borders of subgraphs whose nodes were put into the graph, as copies of a loop's body are. ONNX
// Runtime runs them as subgraphs of their own, and fuses no node with one of another graph.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_BORDERS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_BORDERS_H_

#include <string>
#include <unordered_map>

#include "converter/import/onnx/file/names.h"
#include "converter/import/onnx/file/proto.h"
#include "converter/import/onnx/file/replace_nodes.h"

namespace qrt::convert::from_onnx {

// An Identity with this attribute stands on a border: nothing is fused across it.
constexpr char kBorder[] = "qrt_border";

// A QuantizeLinear with this attribute stands in a subgraph, where ONNX Runtime merges no pairs in a row.
constexpr char kInSubgraph[] = "qrt_in_subgraph";

// Marks a node that is copied out of a subgraph, if it is a QuantizeLinear.
void mark_in_subgraph(onnx::NodeProto* node);

// Returns whether ONNX Runtime copies pairs of QuantizeLinear and DequantizeLinear across such nodes of
// the standard domain; across MaxPool since opset 12.
bool is_copied_across(const std::string& op);

// The nodes of a graph and what they make, as they were before any was replaced.
class Makers {
 public:
  explicit Makers(const onnx::GraphProto& graph);

  // Returns whether the graph has a QuantizeLinear or DequantizeLinear, so that borders decide about results.
  bool has_pairs() const { return has_pairs_; }
  // Returns the node that makes a tensor; null for inputs, initialisers and what subgraphs make.
  const onnx::NodeProto* find(const std::string& tensor) const;
  // Returns the DequantizeLinear whose copy ONNX Runtime puts behind the tensor, as only nodes that
  // it copies it across are between them, and at least one; null where there is none.
  const onnx::NodeProto* find_copied(const std::string& tensor) const;

 private:
  std::unordered_map<std::string, const onnx::NodeProto*> makers_;
  // How often a QuantizeLinear reads a tensor.
  std::unordered_map<std::string, int> quantized_;
  bool has_pairs_ = false;
};

// Appends a border between two tensors.
onnx::NodeProto* add_border(const std::string& from, const std::string& to_name, Nodes* to);

// Appends a border for each tensor of the outer graph that the subgraphs of a control-flow node read
// and a node makes, and gives the subgraphs the names behind the borders. Does nothing in graphs without pairs.
void add_borders(const onnx::NodeProto& node, const Makers& makers, FreshNames* names,
                 Renaming* renaming, Nodes* to);

// Appends pairs of QuantizeLinear and DequantizeLinear where ONNX Runtime copies them behind tensors
// that the branches of an If read, before it replaces the If by the branch that it takes.
void add_copied_pairs(const onnx::NodeProto& node, const Makers& makers, FreshNames* names,
                      Renaming* renaming, Nodes* to);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_BORDERS_H_

// SPDX-License-Identifier: Apache-2.0
// Other nodes in the place of some of a graph's.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_REPLACE_NODES_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_REPLACE_NODES_H_

#include <memory>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Replaces nodes by others: replace(index, node, to, &is_replaced) appends them, or leaves is_replaced false where the node stays.
// Replaced nodes are freed only at the end, so that no new node has the address of an old one.
template <class Replace>
Status replace_nodes(onnx::GraphProto* graph, const Replace& replace) {
  std::vector<std::unique_ptr<onnx::NodeProto>> nodes(static_cast<size_t>(graph->node_size()));
  for (size_t i = nodes.size(); i-- > 0;) nodes[i].reset(graph->mutable_node()->ReleaseLast());
  for (size_t i = 0; i < nodes.size(); ++i) {
    bool is_replaced = false;
    QRT_TRY(replace(static_cast<int>(i), nodes[i].get(), graph->mutable_node(), &is_replaced));
    if (!is_replaced) graph->mutable_node()->AddAllocated(nodes[i].release());
  }
  return Status();
}

// Appends a node of the standard domain with these inputs and this output.
inline onnx::NodeProto* add_node(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::string& output, Nodes* to) {
  onnx::NodeProto* node = to->Add();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_REPLACE_NODES_H_

// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear/DequantizeLinear pairs in a row. ONNX Runtime makes them one, whose range is what
// their ranges have in common, before it fuses anything; so must we. It looks for them after it has
// taken out what changes nothing and made one node of several that are equal.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_
#define QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "converter/import/onnx/qdq_sequence.h"
#include "converter/import/onnx/tensors.h"
#include "converter/import/onnx/transpose_moves.h"

namespace qrt::convert::from_onnx {

class DoubleQdq {
 public:
  using Nodes = TransposeMoves::Nodes;

  DoubleQdq(const Model& model, const Nodes& nodes, Tensors* tensors)
      : model_(model), nodes_(nodes), tensors_(tensors), transposes_(model, nodes) {}

  // Settles what becomes of the sequence of nodes that this QuantizeLinear of floats is in.
  // `all_known`: no dimension of the model is symbolic.
  // REQUIRES: the scales and zero points are loaded; what is in front of the node was visited.
  Status merge(const NodeView& quantize, bool all_known);

  // Returns the parameters that stand for a node's own after merging, or null.
  const Quant* quant(const NodeView& node) const;
  // Returns the input that is the output of a node that merging has left without effect; -1 for others.
  int passed_input(const NodeView& node) const;

 private:
  // Nodes that were passed, each with the input that is its output.
  using Passed = std::vector<std::pair<int, int>>;

  // Equal nodes, as one entry of the sequence; then what changes nothing.
  struct EqualNodes {
    QdqNode entry;
    std::vector<const NodeView*> nodes;
    Passed passed;
  };
  // The beginning of a sequence.
  struct Top {
    const NodeView* node;  // its first node
    std::string input;     // its input, or what the last node in front that changes something made
    // A DequantizeLinear or Transpose in front that has other readers: the sequence has its own, so to
    // speak. Null for none.
    const NodeView* shared;
  };
  // The readers of the last nodes of a sequence.
  struct LastReaders {
    std::vector<const NodeView*> readers;
    int outputs = 0;  // number of graph outputs among them
    bool has_twins = false;
  };

  const NodeView* producer(const std::string& tensor) const;  // null: a graph input, a constant
  bool read(const NodeView& node, Quant* quant) const;
  // *is_qdq_node: these are nodes that a sequence can go through, equal ones where they are several.
  Status make_qdq_node(const std::vector<const NodeView*>& nodes, QdqNode* entry,
                       bool* is_qdq_node) const;
  // Finds the nodes that read a tensor, looking through those that change nothing. *all: nothing
  // else reads it.
  Status find_readers(const std::string& tensor, const Shape& shape,
                      std::vector<const NodeView*>* found, Passed* passed, bool* all) const;
  Status find_equal_readers(const std::vector<std::string>& tensors, const NodeView& node,
                            std::vector<const NodeView*>* readers, bool* one) const;
  Status find_top(const NodeView& quantize, Top* top) const;
  Status follow(const Top& top, std::vector<EqualNodes>* steps, LastReaders* end) const;
  void describe_edges(const Top& top, const LastReaders& end, bool all_known,
                      QdqSequence* sequence);
  Status apply(const QdqSequence& sequence, const std::vector<EqualNodes>& steps);

  const Model& model_;
  const Nodes& nodes_;
  Tensors* tensors_;
  TransposeMoves transposes_;
  std::unordered_map<int, Quant> merged_;  // node -> parameters of the merged pair
  std::unordered_map<int, int> passed_;
  std::unordered_set<int> settled_;  // QuantizeLinears
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_

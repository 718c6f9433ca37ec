// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear/DequantizeLinear pairs in a row. ONNX Runtime merges them to one, whose range is
// the intersection of their ranges, before it fuses operators, so this importer has to do so, too.
// ONNX Runtime merges after it has removed nodes without effect and duplicates of nodes.
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

  // Merges the pairs of the sequence of nodes that contains this QuantizeLinear of floats, as ONNX
  // Runtime does. Fails with kUnsupported where the merged pairs have no common range or cannot be
  // merged for all readers. `all_known`: no dimension of the model is symbolic. REQUIRES: the
  // scales and zero points are loaded; nodes before `quantize` were visited.
  Status merge(const NodeView& quantize, bool all_known);

  // Returns the parameters that replace a node's own after merging, or null.
  const Quant* quant(const NodeView& node) const;
  // Returns the index of the input that a node passes on unchanged, since merging has left the node
  // without effect; -1 for other nodes.
  int passed_input(const NodeView& node) const;

 private:
  // The indices of nodes without effect, each with the index of the input that the node passes on.
  using Passed = std::vector<std::pair<int, int>>;

  // Equal nodes, which are one entry of the sequence, and the nodes without effect behind them.
  struct EqualNodes {
    QdqNode entry;
    std::vector<const NodeView*> nodes;
    Passed passed;
  };
  // The beginning of a sequence.
  struct Top {
    const NodeView* node;  // the sequence's first node
    std::string input;     // the first node's input, seen through nodes without effect
    // A DequantizeLinear or Transpose before the sequence that has other readers, and counts as
    // copied for this sequence. Null for none.
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
  // Makes an entry of equal nodes. *is_qdq_node: a sequence can contain such nodes.
  Status make_qdq_node(const std::vector<const NodeView*>& nodes, QdqNode* entry,
                       bool* is_qdq_node) const;
  // Finds the nodes that read a tensor, seen through nodes without effect. *all: neither graph
  // outputs nor subgraphs read the tensor.
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

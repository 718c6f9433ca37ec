// SPDX-License-Identifier: Apache-2.0
// An ONNX file, parsed and proven to be a graph: every name defined once, no dangling or cyclic
// references, nodes in execution order. The meaning of operators is not looked at here.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_MODEL_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_MODEL_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/convert.h"
#include "converter/import/onnx/file/branches.h"
#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/functions.h"
#include "converter/import/onnx/file/loops.h"
#include "converter/import/onnx/file/proto.h"
#include "converter/source_edges.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

constexpr int64_t kMinOpset = 7, kMaxOpset = 28;

class Model {
 public:
  Model();
  ~Model();

  // Loads a model. Fails with kIoError, kInvalidModel, kUnsupported (an opset or IR version beyond
  // what is known), or kInvalidArgument where `edges` do not go with the graph.
  static Status load(const std::string& path, Model* model, const SourceEdges& edges = {});

  const std::string& path() const { return path_; }
  // Returns the file itself and those that its tensors name as places of their data.
  std::vector<std::string> files() const;
  const onnx::ModelProto& proto() const { return *proto_; }
  const onnx::GraphProto& graph() const;
  // Indices into graph().node().
  const std::vector<int>& execution_order() const { return order_; }
  // Returns the version of the operator set of a domain ("" and "ai.onnx" are one), or 0.
  int64_t opset(const std::string& domain) const;
  // Returns the version of the operator set that counts for a node of this index, which a function
  // of the file may have brought along.
  int64_t opset(int node) const;

  // Puts the branches that these If nodes take in their places.
  Status take_branches(const KnownConditions& conditions);
  // Puts both branches of these If nodes, and choices of their results, in their places.
  Status join_branches(const std::unordered_set<int>& nodes);
  const std::vector<TakenBranch>& taken_branches() const { return taken_branches_; }
  // Puts as many copies of the bodies of these Loop and Scan nodes as they have steps in their places.
  Status unroll_loops(const KnownLoops& loops);
  const std::vector<KnownLoop>& unrolled_loops() const { return unrolled_loops_; }
  // Puts the bodies of these Loop and Scan nodes, for any number of steps, in their places.
  Status open_loops(const KnownLoops& loops);
  // Returns whether a node stands in such a body.
  bool is_in_open_loop(int node) const {
    return has_open_loops_ && is_in_open_loop_[static_cast<size_t>(node)];
  }
  const std::unordered_map<std::string, const onnx::TensorProto*>& initializers() const {
    return initializers_;
  }
  // Returns how often nodes (their subgraphs included) read a tensor, plus how often it is a graph output.
  int uses(const std::string& tensor) const;
  // Returns the nodes that read a tensor, each as often as it reads it; subgraphs are left out.
  const std::vector<int>& readers(const std::string& tensor) const;
  // Returns the index of the node that writes a tensor, or -1.
  int producer(const std::string& tensor) const;
  // Returns how the caller wants float activations to be multiplied by weights in blocks.
  Blocks blocks() const { return blocks_; }
  void set_blocks(Blocks blocks) { blocks_ = blocks; }

 private:
  int64_t opset(const onnx::NodeProto& node) const;
  Status index();
  // Indexes the graph again, and sorts its nodes, after nodes were replaced.
  Status index_again();
  Status sort();

  std::string path_;
  Blocks blocks_ = Blocks::kAsSource;
  std::unique_ptr<onnx::ModelProto> proto_;
  std::vector<int> order_;
  std::unordered_map<std::string, const onnx::TensorProto*> initializers_;
  OpsetVersions opsets_;
  NodeVersions node_versions_;
  std::vector<TakenBranch> taken_branches_;
  std::vector<KnownLoop> unrolled_loops_;
  bool has_open_loops_ = false;
  std::vector<bool> is_in_open_loop_;  // by node
  std::unordered_map<std::string, int> uses_;
  std::unordered_map<std::string, std::vector<int>> readers_;
  std::unordered_map<std::string, int> producer_;  // node index; -1: graph input or initialiser
};

// Appends the names that the subgraphs of a control-flow node read, as far as they are not their own. REQUIRES: protobuf's own
// recursion limit bounds the depth.
void collect_subgraph_reads(const onnx::NodeProto& node, std::vector<std::string>* names);

// Gives a graph the outputs, the inputs' shapes and the constants that a caller wishes for.
Status apply_edges(const SourceEdges& edges, onnx::GraphProto* graph);

// Returns a node as messages name it: its name, or "#17 (Conv)".
std::string node_label(const onnx::NodeProto& node, int index);
// "Conv", "com.microsoft.QLinearAdd"
std::string op_label(const onnx::NodeProto& node);
// Returns whether an operator quantises or computes on quantised values: float models have none of these.
bool is_quantized_op(const std::string& op);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_MODEL_H_

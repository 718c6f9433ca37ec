// SPDX-License-Identifier: Apache-2.0
// Names of tensors where nodes of one scope (a function, a branch) move into a graph.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_NAMES_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_NAMES_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "converter/import/onnx/file/proto.h"

namespace qrt::convert::from_onnx {

// Names that nothing in a graph has yet.
class FreshNames {
 public:
  // Takes note of all names in the graph, those of its subgraphs included.
  explicit FreshNames(const onnx::GraphProto& graph);

  // Returns `wanted`, or where that is taken, the same with a number behind it.
  std::string make(const std::string& wanted);

 private:
  std::unordered_set<std::string> taken_;
  uint64_t next_ = 1;
};

// New names for the tensors of nodes and of their subgraphs. The empty name, which stands for an
// absent tensor, stays.
class Renaming {
 public:
  // With `fresh`, a tensor that has no new name gets one of these; without, it keeps its own.
  // `prefix` stands before fresh names.
  explicit Renaming(FreshNames* fresh = nullptr, std::string prefix = "")
      : fresh_(fresh), prefix_(std::move(prefix)) {}

  void set(const std::string& name, std::string renamed) { names_[name] = std::move(renamed); }
  bool has(const std::string& name) const { return names_.count(name) != 0; }
  std::string of(const std::string& name);
  void apply(onnx::NodeProto* node);

 private:
  void apply(onnx::GraphProto* graph);

  FreshNames* fresh_;
  std::string prefix_;
  std::unordered_map<std::string, std::string> names_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_NAMES_H_

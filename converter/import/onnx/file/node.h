// SPDX-License-Identifier: Apache-2.0
// A node of the ONNX file with typed access to its attributes. An attribute of the wrong type is
// remembered as the node's problem(), which the importer checks after each handler: handlers need
// not.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_NODE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_NODE_H_

#include <string>
#include <vector>

#include "converter/import/common/graph_builder.h"
#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

class NodeView {
 public:
  NodeView(const onnx::NodeProto& proto, int index) : proto_(proto), index_(index) {}

  int index() const { return index_; }
  const std::string& op() const;
  const std::string& domain() const;
  std::string label() const;     // the node's name in messages
  std::string op_label() const;  // the operator's name in reports
  // Returns the name for the converted model: the node's, or its first output's.
  const std::string& name() const;
  operator SourceNode() const { return {name(), op()}; }

  int input_count() const;
  bool has_input(int i) const { return !input(i).empty(); }
  const std::string& input(int i) const;  // "" where absent
  int output_count() const;
  bool has_output(int i) const { return !output(i).empty(); }
  const std::string& output(int i) const;  // "" where absent

  bool has(const char* attribute) const { return find(attribute) != nullptr; }
  int64_t integer(const char* attribute, int64_t otherwise) const;
  float real(const char* attribute, float otherwise) const;
  std::string text(const char* attribute, const std::string& otherwise) const;
  std::vector<std::string> texts(const char* attribute) const;  // {} where absent
  std::vector<int64_t> integers(const char* attribute) const;   // {} where absent
  std::vector<float> reals(const char* attribute) const;
  const onnx::TensorProto* tensor(const char* attribute) const;  // null where absent

  const Status& problem() const { return problem_; }

 private:
  const onnx::AttributeProto* find(const char* attribute) const;
  // `type`: AttributeProto::AttributeType.
  const onnx::AttributeProto* find(const char* attribute, int type) const;

  const onnx::NodeProto& proto_;
  int index_;
  mutable Status problem_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_NODE_H_

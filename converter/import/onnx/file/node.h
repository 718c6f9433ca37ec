// A node of the ONNX file with typed access to its attributes. An attribute of the wrong type is
// remembered as the node's problem(), which the importer checks after each handler: handlers need
// not.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_NODE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_NODE_H_

#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

class NodeView {
 public:
  NodeView(const onnx::NodeProto& proto, int index) : proto_(proto), index_(index) {}

  int index() const { return index_; }
  const std::string& op() const { return proto_.op_type(); }
  const std::string& domain() const { return proto_.domain(); }
  std::string label() const;     // for messages
  std::string op_label() const;  // for reports
  // For the converted model: the node's name, or its first output's.
  const std::string& name() const;

  int input_count() const { return proto_.input_size(); }
  bool has_input(int i) const { return i < proto_.input_size() && !proto_.input(i).empty(); }
  const std::string& input(int i) const;  // "" where absent
  int output_count() const { return proto_.output_size(); }
  bool has_output(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }
  const std::string& output(int i) const;

  bool has(const char* attribute) const { return find(attribute) != nullptr; }
  int64_t integer(const char* attribute, int64_t otherwise) const;
  float real(const char* attribute, float otherwise) const;
  std::string text(const char* attribute, const std::string& otherwise) const;
  std::vector<int64_t> integers(const char* attribute) const;  // {} where absent
  std::vector<float> reals(const char* attribute) const;
  const onnx::TensorProto* tensor(const char* attribute) const;  // null where absent

  const Status& problem() const { return problem_; }

 private:
  const onnx::AttributeProto* find(const char* attribute) const;
  const onnx::AttributeProto* find(const char* attribute,
                                   onnx::AttributeProto::AttributeType type) const;

  const onnx::NodeProto& proto_;
  int index_;
  mutable Status problem_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_NODE_H_

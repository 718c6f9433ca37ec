// SPDX-License-Identifier: Apache-2.0
// One ESP-DL model, verified and proven to be a graph: every name known before it is read and written once, every constant
// within the file. The meaning of operators is not looked at here.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_MODEL_H_
#define QRT_CONVERTER_IMPORT_ESPDL_MODEL_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/import/common/graph_builder.h"
#include "converter/import/espdl/package.h"
#include "espdl_generated.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt::convert::from_espdl {

using DataType = espdl::TensorDataType;

const char* type_name(DataType type);  // "int8"
// Returns the bytes of an element; 0: a type that no tensor here has.
size_t element_bytes(DataType type);

// real = q * 2^exponent.
struct Tensor {
  std::string name;
  DataType type = DataType::UNDEFINED;
  Shape shape;                 // an activation's is the one in the file, which may be out of date
  std::vector<int> exponents;  // one, or one per output channel; none: the file says nothing
  std::string problem;         // why no operator may use it; empty: it may be used
  bool is_constant = false;
  const uint8_t* data = nullptr;  // the `bytes` bytes of a constant, not aligned
  size_t bytes = 0;
  std::string layout;  // a constant's order of elements, "(N/16)HWC16"; may be empty

  // Returns the values of a constant of int64 or int32. REQUIRES: is_constant, such a type.
  std::vector<int64_t> integers() const;
};

// One operator. An absent input is -1.
struct Node {
  int index = 0;
  std::string op, name;
  std::vector<int> inputs, outputs;  // tensors
  const espdl::Node* table = nullptr;

  // Returns the node's name as messages and tools show it.
  std::string label() const;
  operator SourceNode() const { return {label(), op}; }
  bool has_input(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[static_cast<size_t>(i)] >= 0;
  }
  // Return attributes, or their default where the node has none of this name and type.
  int64_t integer(const char* name, int64_t otherwise) const;
  float real(const char* name, float otherwise) const;
  std::string text(const char* name, const std::string& otherwise = "") const;
  std::vector<int64_t> integers(const char* name) const;
};

class Model {
 public:
  // Loads one model of a file, chosen as choose_model() does. Fails with kIoError,
  // kInvalidArgument, kInvalidModel, or kUnsupported (encrypted).
  static Status load(const std::string& path, const std::string& selector, Model* model);
  // Parses a file's bytes.
  static Status parse(std::vector<uint8_t> file, const std::string& selector, Model* model);
  // Parses a model that the converter itself wrote (qdq/), see is_plain().
  static Status parse_plain(std::vector<uint8_t> file, Model* model);
  // The models of a file.
  static Status list(const std::string& path, std::vector<Entry>* entries);

  size_t file_bytes() const { return bytes_.size(); }
  const std::string& name() const { return name_; }
  const std::string& producer() const { return producer_; }
  // Returns whether the converter wrote the model, not an exporter for a chip: computed matrices stand row by row, and
  // operators of the specification that no chip's runtime has may be there.
  bool is_plain() const { return is_plain_; }
  // Returns the chip, "esp32p4"; empty where the file does not say.
  const std::string& target() const { return target_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  // -1: no tensor has this name.
  int find(const std::string& name) const;
  // Return values that the exporter computed, with the names of inputs and outputs.
  const std::vector<Tensor>& test_inputs() const { return test_inputs_; }
  const std::vector<Tensor>& test_outputs() const { return test_outputs_; }

 private:
  Status read_entry(const std::vector<uint8_t>& file, const Entry& entry);
  Status read_graph(const espdl::Model& root);
  Status read_constant(const espdl::Tensor& source, Tensor* tensor);
  Status read_constants(const flatbuffers::Vector<flatbuffers::Offset<espdl::Tensor>>* from,
                        std::vector<Tensor>* to);
  Status read_info(const espdl::ValueInfo& source, Tensor* tensor) const;
  Status read_infos(const espdl::Graph& graph);
  Status read_nodes(const espdl::Graph& graph);
  Status check_order() const;
  int tensor_of(const std::string& name);

  bool is_plain_ = false;
  std::vector<uint8_t> bytes_;  // the flatbuffer
  std::vector<std::unique_ptr<std::vector<uint8_t>>>
      converted_;  // constants that do not stand in raw_data
  size_t converted_bytes_ = 0;
  std::string name_, producer_, target_;
  std::unordered_map<std::string, int> index_;
  std::vector<Tensor> tensors_, test_inputs_, test_outputs_;
  std::vector<Node> nodes_;
  std::vector<int> inputs_, outputs_;
};

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_MODEL_H_

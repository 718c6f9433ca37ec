// SPDX-License-Identifier: Apache-2.0
// A TFLite file, verified and proven to be a graph: every index in range, every tensor written once
// and before it is read, every constant as large as its type and shape say. The meaning of operators
// is not looked at here. One subgraph is the model: the one of the chosen signature, and the first of
// a file that has no signatures. Others only set resource variables before its first run.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_MODEL_H_
#define QRT_CONVERTER_IMPORT_TFLITE_MODEL_H_

#include <string>
#include <utility>
#include <vector>

#include "converter/import/common/graph_builder.h"
#include "runtime/status.h"
#include "runtime/tensor.h"
#include "tflite_generated.h"

namespace qrt::convert::from_tflite {

using tflite::TensorType;

const char* type_name(TensorType type);  // "int8"

struct Tensor {
  std::string name;
  TensorType type = TensorType::FLOAT32;
  Shape shape;
  // The reason why no operator may use the tensor, and the remedy; both empty for a usable tensor.
  std::string problem, remedy;
  bool is_constant = false, is_variable = false;
  const uint8_t* data = nullptr;  // the `bytes` bytes of a constant in the file, not aligned
  size_t bytes = 0;
  // Quantisation as the file has it; as many zero points as scales, or none. Nothing else is
  // checked: the axis of biases is often wrong, and is not read.
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int axis = 0;
  // The number of elements of a block along the last dimension; tensor `block_scales` has a scale
  // for each block. 0: no blocks.
  int32_t block = 0;
  int block_scales = -1, block_zero_points = -1;  // tensors

  // Returns the number of bytes that an operator may read of the tensor.
  size_t bytes_read() const { return bytes + scale.size() * sizeof(float); }
};

// One operator of a subgraph. An absent input is -1.
struct Op {
  int index = 0;
  tflite::BuiltinOperator code = tflite::BuiltinOperator::ADD;
  std::string name;         // "CONV_2D", "custom operator 'SignalFft'"
  std::string custom_code;  // name of a CUSTOM operator: "SignalFft"
  std::string output_name;  // name of its first output, as operators have no names of their own
  std::vector<int> inputs, outputs;
  const tflite::Operator* table = nullptr;

  // Returns the operator's options, or their defaults where the file has none of this type.
  template <class Table>
  typename Table::NativeTableType options() const {
    typename Table::NativeTableType result;
    if (const Table* found = table->builtin_options_as<Table>()) found->UnPackTo(&result);
    return result;
  }
  operator SourceNode() const { return {output_name, name}; }
  bool has_input(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[static_cast<size_t>(i)] >= 0;
  }
};

struct Subgraph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<int> inputs, outputs;  // tensors
};

// A named entry of a file: its subgraph, and the names of that subgraph's inputs and outputs.
struct Signature {
  using Names = std::vector<std::pair<std::string, int>>;  // names and tensors, in the file's order

  std::string name;
  int subgraph = 0;
  Names inputs, outputs;
};

class Model {
 public:
  // Reads the model of a file's only signature, or of the one that `signature` names (choice.h).
  // With `outputs` the model holds only the operators that these tensors and the variables need.
  // Fails with kIoError, kInvalidModel, kUnsupported (another schema version), or kInvalidArgument
  // where there is no such signature or tensor.
  static Status load(const std::string& path, Model* model,
                     const std::vector<std::string>& outputs = {},
                     const std::string& signature = "");
  // Lists the names of a file's signatures, or the name of the first subgraph for a file without
  // signatures.
  static Status list(const std::string& path, std::vector<std::string>* names);

  size_t file_bytes() const { return bytes_.size(); }
  const std::string& name() const { return main_.name; }
  int subgraph() const { return subgraph_; }
  int subgraph_count() const;
  const std::vector<Signature>& signatures() const { return signatures_; }
  // Returns the signature that the caller named, or null where it named none.
  const Signature* chosen() const { return chosen_; }
  const std::string& description() const { return description_; }
  const std::vector<Tensor>& tensors() const { return main_.tensors; }
  const std::vector<Op>& ops() const { return main_.ops; }
  const std::vector<int>& inputs() const { return main_.inputs; }
  const std::vector<int>& outputs() const { return main_.outputs; }
  // Reads subgraph `index`; the result points into this model. Fails with kInvalidModel where the
  // file has no such subgraph, or a damaged one.
  Status read_subgraph(int index, Subgraph* subgraph) const;

 private:
  // Checks the flatbuffer and reads the signatures.
  Status parse();
  Status read_signatures();
  Status choose(const std::string& signature);
  Status read_tensor(const tflite::Model& root, const tflite::Tensor& source, Tensor* tensor) const;
  Status find_data(const tflite::Model& root, const tflite::Tensor& source, Tensor* tensor) const;

  std::vector<uint8_t> bytes_;
  std::string description_;
  std::vector<Signature> signatures_;
  const Signature* chosen_ = nullptr;
  int subgraph_ = 0;  // index of the model's subgraph
  Subgraph main_;
};

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_MODEL_H_

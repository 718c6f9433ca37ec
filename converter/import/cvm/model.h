// SPDX-License-Identifier: Apache-2.0
// The two files of an MRT/CVM model as a checked view: `symbol`, a graph as JSON text, and `params`,
// its integers. Whatever the view holds was range-checked; what an operator needs of its inputs is
// the business of infer.h.
//
// Every tensor is int32 while a CVM runtime runs. It has a precision p: its values lie within
// +-(2^(p-1) - 1).
#ifndef QRT_CONVERTER_IMPORT_CVM_MODEL_H_
#define QRT_CONVERTER_IMPORT_CVM_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "converter/quantize/mrt.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt::convert::from_cvm {

constexpr int kMaxPrecision = 32;
constexpr int kNoPrecision = -1;

using mrt::alpha;

// The index of an entry: one output of a node; a name for it is (node, index).
using EntryId = uint32_t;

struct Entry {
  uint32_t node = 0;
  Shape shape;                   // shape in the file
  int precision = kNoPrecision;  // precision in the file; an operator's is inferred
};

// Names and values of an operator's attributes, all text.
using AttributeMap = std::map<std::string, std::string>;

struct Node {
  std::string name;
  bool is_variable = false;
  // An operator's function, "cvm_right_shift", without the suffix that it may carry.
  std::string function;
  AttributeMap attributes;
  std::vector<EntryId> inputs;  // made by earlier nodes
  EntryId first_output = 0;
  uint32_t outputs = 1;
};

// Returns a text such as "node 12 (conv2d 'stage1_conv')", for messages.
std::string label(const Node& node, size_t index);

class Model {
 public:
  // Loads a model. Fails with kInvalidModel, naming the file, and the node, key or byte.
  static Status load(const std::string& symbol_path, const std::string& params_path, Model* model);
  // Parses the bytes of the two files.
  static Status parse(const std::string& symbol, const std::vector<uint8_t>& params, Model* model);

  size_t file_bytes() const { return file_bytes_; }  // size of both files
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<EntryId>& heads() const { return heads_; }
  EntryId input() const { return input_; }
  const std::string& version() const { return version_; }
  // Returns the elements of a variable. REQUIRES: it is not the input.
  const std::vector<int32_t>& parameter(EntryId entry) const { return parameters_.at(entry); }

 private:
  Status parse_symbol(const std::string& text);
  Status find_input();
  Status parse_params(const uint8_t* bytes, size_t size);

  size_t file_bytes_ = 0;
  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
  std::vector<EntryId> heads_;
  std::map<EntryId, std::vector<int32_t>> parameters_;
  EntryId input_ = 0;
  std::string version_;
};

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_MODEL_H_

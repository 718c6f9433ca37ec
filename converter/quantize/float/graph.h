// SPDX-License-Identifier: Apache-2.0
// Who writes and reads the values of a model, and changes that keep it one.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_GRAPH_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_GRAPH_H_

#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// An input of a node.
struct Read {
  size_t node, input;
  bool operator<(const Read& other) const {
    return std::tie(node, input) < std::tie(other.node, other.input);
  }
};
using Reads = std::set<Read>;  // in the order of the nodes

// The writers and readers of a model's values at any time: inputs, outputs and names of nodes' values
// change through this alone while it lives. No change takes longer the more nodes there are. Nodes keep
// their indices until finish(); removed ones have an empty op until then.
class GraphEditor {
 public:
  explicit GraphEditor(FloatModel* model);

  // Returns the index of the node that writes a value, or -1.
  int writer(const std::string& name) const;
  const Reads& readers(const std::string& name) const;
  bool is_output(const std::string& name) const { return ends(name).is_output; }
  // Returns whether the value is read by one node, once, and by nothing else.
  bool is_read_once(const std::string& name) const {
    return readers(name).size() == 1 && !is_output(name);
  }
  // Returns the type and shape of a value that a node writes, or of an input of the model; null:
  // not known, or a constant.
  const Value* value(const std::string& name) const;
  // Returns a name that no value has yet: `wish`, or with a number behind it.
  std::string fresh_name(const std::string& wish);

  void append(Node node);
  void remove(size_t node);
  // Stands behind node `at` from finish() on.
  void insert_behind(size_t at, Node node);
  void replace(size_t at, Node node);
  // "": none.
  void set_input(size_t node, size_t input, const std::string& name);
  void resize_inputs(size_t node, size_t count);
  // Gives an input a new constant; other nodes that read the old one keep it.
  void set_constant(size_t node, size_t input, Tensor value);
  // Bypasses a node whose first output equals the value x: readers get x instead. Where the output
  // is one of the model's, x takes its name, or, where it cannot, the node becomes an Identity.
  void bypass(size_t node, std::string x);

  // Drops constants that changes have left without a reader.
  void drop_unread_constants();
  // Puts new nodes in their places, and drop_unused(). REQUIRES: nothing is asked or changed afterwards.
  void finish();

 private:
  struct ValueUses {
    int writer = -1;
    int input = -1;  // index among the model's inputs
    bool is_output = false;
    Reads readers;
  };

  const ValueUses& ends(const std::string& name) const;
  bool is_taken(const std::string& name) const;
  void add(size_t node);
  void add_read(const std::string& name, Read read);
  void remove_read(const std::string& name, Read read);
  void remove_writer(const std::string& name);
  void free_name(const std::string& name);
  void move_reads(const std::string& from, const std::string& to);

  FloatModel* model_;
  std::unordered_map<std::string, ValueUses> ends_;
  // Name asked for -> next number to try; smaller ones are taken.
  std::unordered_map<std::string, int> next_numbers_;
  std::vector<std::string> unread_;                  // constants, once at least
  std::vector<std::pair<size_t, size_t>> inserted_;  // the node in front, and the inserted node
};

// Drops nodes that are marked as removed or that no output needs, and constants without a reader.
void drop_unused(FloatModel* model);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_GRAPH_H_

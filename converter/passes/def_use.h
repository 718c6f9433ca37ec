// SPDX-License-Identifier: Apache-2.0
// Who writes and who reads each value, looked up in constant time, and the joining of values that
// are found to be equal.
#ifndef QRT_CONVERTER_PASSES_DEF_USE_H_
#define QRT_CONVERTER_PASSES_DEF_USE_H_

#include <string>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// The readers and writers of a graph's values when it is made: later changes of the graph do not show.
struct DefUse {
  explicit DefUse(const Graph& graph);

  std::vector<int> producer;  // indexed by value: the node that writes it, or -1
  // Indexed by value: nodes; one that reads it twice stands twice.
  std::vector<std::vector<int>> consumers;
  std::vector<bool> is_output;  // indexed by value: it is an output of the model
};

// Removes nodes whose output equals their first input, by joining the two values. The nodes' inputs
// keep naming values that are gone until finish(): resolve() says what they are now.
class Joiner {
 public:
  explicit Joiner(Graph* graph);

  ValueId resolve(ValueId id) const;
  // Return the node that writes a value now, or -1, and how many inputs of nodes read it.
  int producer(ValueId id) const { return producer_[resolve(id)]; }
  size_t readers(ValueId id) const { return readers_[resolve(id)]; }
  bool is_output(ValueId id) const { return is_output_[resolve(id)]; }

  // Joins the node's output and input into one value. Returns false, and does nothing, if both must
  // stay: the node's output is the model's, and its input is the model's, too, or nothing writes it.
  bool join(size_t node);

  // Makes `node`, whose inputs the caller sets anew, a reader of what `before` reads, and removes
  // `before`. REQUIRES: `node` alone reads `before`.
  void replace(size_t before, size_t node);

  // Rewrites all inputs and erases what was removed.
  void finish();

 private:
  void remove(size_t node);

  Graph* graph_;
  std::vector<ValueId> joined_;  // indexed by value: itself, or the value that it was joined into
  std::vector<int> producer_;
  std::vector<size_t> readers_;
  std::vector<bool> is_output_;
};

// Removes nodes that have no outputs (left).
void erase_removed(Graph* graph);

// Returns the source operators of a node that stands for two: "Conv+Relu". For a long chain the
// first and the last are named, "Relu+Sqrt+...+Exp": thousands may become one.
std::string joined_ops(const std::string& first, const std::string& second);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_PASSES_DEF_USE_H_

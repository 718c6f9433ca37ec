// Who writes and reads the values of a model, and changes that keep it one.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_GRAPH_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_GRAPH_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// Of a model as it is when this is made.
class Links {
 public:
  explicit Links(const FloatModel& model);

  // Index of the node that writes a value, or -1.
  int writer(const std::string& name) const;
  // Indices of the nodes that read a value, one as often as it does.
  const std::vector<size_t>& readers(const std::string& name) const;
  bool is_output(const std::string& name) const { return outputs_.count(name) != 0; }
  // By one node, once, and by nobody else.
  bool is_read_once(const std::string& name) const {
    return readers(name).size() == 1 && !is_output(name);
  }

 private:
  std::unordered_map<std::string, int> writers_;
  std::unordered_map<std::string, std::vector<size_t>> readers_;
  std::unordered_set<std::string> outputs_;
};

// The node's first output is the value x, which has all its elements: readers get x instead. Where the
// output is one of the model's, x takes its name, or, where it cannot, the node becomes an Identity.
// Removed nodes have an empty op until drop_unused().
void bypass(const Links& links, size_t node, const std::string& x, FloatModel* model);

// Nodes that are marked as removed or that no output needs, and constants that nobody reads.
void drop_unused(FloatModel* model);

// Puts a new constant for input i of a node; others that read the old one keep it.
void set_constant(size_t i, Tensor value, Node* node, FloatModel* model);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_GRAPH_H_

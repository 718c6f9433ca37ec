// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of rows share.
#ifndef QRT_TESTS_ONNXRUNTIME_SWEEP_ROWS_H_
#define QRT_TESTS_ONNXRUNTIME_SWEEP_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/onnxruntime/sweep/cells.h"

namespace qrt::sweep {

// Returns a shape of this rank, 1 to 5. Channels are a multiple of 4, and sides differ.
inline Dims shape_of_rank(size_t rank) {
  switch (rank) {
    case 1: return {9};
    case 2: return {3, 8};
    case 3: return {2, 4, 7};
    case 4: return {2, 4, 5, 6};
    default: return {2, 4, 3, 5, 4};
  }
}

// Builds one row, form by form.
class RowBuilder {
 public:
  explicit RowBuilder(std::string op, std::string domain = "") {
    row_.op = std::move(op), row_.domain = std::move(domain);
  }

  // A form of one output.
  template <class F>
  RowBuilder& form(std::string name, const Dims& dims, const F& make, int64_t opset = 21) {
    return outputs(
        std::move(name), dims,
        [make](Graph& g, const Value& x) { return std::vector<Value>{make(g, x)}; }, opset);
  }
  template <class F>
  RowBuilder& outputs(std::string name, const Dims& dims, const F& make, int64_t opset = 21) {
    row_.forms.push_back({std::move(name), dims, make, opset});
    return *this;
  }
  // Adds a form for every rank of a range. f(graph, x).
  template <class F>
  RowBuilder& ranks(size_t least, size_t most, const std::string& name, const F& make,
                    int64_t opset = 21) {
    for (size_t r = least; r <= most; ++r)
      form(std::to_string(r) + "-D" + (name.empty() ? "" : ", " + name), shape_of_rank(r), make,
           opset);
    return *this;
  }
  // Adds a form for every axis of every rank of a range. f(graph, x, axis).
  template <class F>
  RowBuilder& axes(size_t least, size_t most, const std::string& name, const F& make,
                   int64_t opset = 21) {
    for (size_t r = least; r <= most; ++r)
      for (size_t axis = 0; axis < r; ++axis)
        form(
            std::to_string(r) + "-D, " + name + "axis " + std::to_string(axis), shape_of_rank(r),
            [make, axis](Graph& g, const Value& x) { return make(g, x, axis); }, opset);
    return *this;
  }
  // Leaves out the row behind these producers, or groups of them: qrt has no form of it there.
  RowBuilder& leave_out(const std::vector<std::string>& names) {
    for (Form& form : row_.forms) form.leaves_out = names;
    return *this;
  }
  Row row() const { return row_; }

 private:
  Row row_;
};

// Returns a node's output among several.
inline std::vector<Value> node_outputs(Graph& g, const std::string& op, const Names& inputs,
                                       const std::vector<Attr>& attributes,
                                       const std::vector<Value>& outputs) {
  const std::string first = g.b.node(op, inputs, attributes);
  std::vector<Value> all = outputs;
  all[0].name = first;
  auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
  for (size_t i = 1; i < all.size(); ++i) {
    all[i].name = first + "_" + std::to_string(i);
    node->add_output(all[i].name);
  }
  return all;
}

inline Attr axis_attr(size_t axis) { return Attr("axis", static_cast<int64_t>(axis)); }

inline Value integers_of(Value x) { return x.unit = kExact, x.is_integers = true, x; }

}  // namespace qrt::sweep

#endif  // QRT_TESTS_ONNXRUNTIME_SWEEP_ROWS_H_

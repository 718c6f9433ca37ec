// SPDX-License-Identifier: Apache-2.0
// Pass: Gelu as exporters spell it out between layers left in float,
//
//   x * (Erf(x / sqrt 2) + 1) * 0.5        with the factors in any order
//
// becomes the one function that it is: a pass over the tensor instead of five.
#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

using F = fb::FloatFunction;

class Gelu {
 public:
  Gelu(Graph* graph, const DefUse& def_use) : graph_(*graph), def_use_(def_use) {}

  // Fuses the Gelu around the Erf at `index`. Returns false, and changes nothing, where the nodes
  // around it are others.
  bool fuse(int index) {
    gone_ = {index};
    const ValueId scaled = node(index).inputs[0];
    const int first = def_use_.producer[scaled];
    if (first < 0 || next(scaled) != index || !read_scaled(node(first))) return false;
    gone_.push_back(first);
    int at = step(index, F::ADD);
    if (at < 0 || !is_scalar(beside(at, index), 1.0f)) return false;
    // Looks for two products, with x and with a half, or for one with x * 0.5.
    bool has_x = false, has_half = false;
    int last = at;
    while (!has_x || !has_half) {
      gone_.push_back(last);
      at = step(last, F::MUL);
      if (at < 0) return false;
      const ValueId other = beside(at, last);
      if (!has_x && other == x_) {
        has_x = true;
      } else if (!has_half && is_scalar(other, 0.5f)) {
        has_half = true;
      } else if (!has_x && !has_half && is_half_of_x(other, at)) {
        has_x = has_half = true;
        gone_.push_back(def_use_.producer[other]);
      } else {
        return false;
      }
      last = at;
    }
    if (graph_.values[node(last).outputs[0]].type.shape != graph_.values[x_].type.shape)
      return false;
    rewrite(last);
    return true;
  }

 private:
  const Node& node(int i) const { return graph_.nodes[static_cast<size_t>(i)]; }

  bool is(const Node& n, F function) const {
    const auto* o = n.options.AsFloat();
    return o && o->function == function;
  }

  // Returns the only reader of a value that nothing else needs, or -1.
  int next(ValueId v) const {
    const std::vector<int>& readers = def_use_.consumers[v];
    return readers.size() == 1 && !def_use_.is_output[v] ? readers[0] : -1;
  }
  int step(int i, F function) const {
    const int at = next(node(i).outputs[0]);
    return at >= 0 && is(node(at), function) ? at : -1;
  }
  // Returns the operand of node `at` that node `before` did not make.
  ValueId beside(int at, int before) const {
    const std::vector<ValueId>& in = node(at).inputs;
    return in[0] == node(before).outputs[0] ? in[1] : in[0];
  }

  bool is_scalar(ValueId v, float value) const {
    const Value& c = graph_.values[v];
    return c.is_constant && c.type.dtype == DType::kFloat32 && c.type.shape.elements() == 1 &&
           *c.as<float>() == value;
  }

  // Reads x / sqrt 2, or x times the inverse of sqrt 2. Returns false where the node is neither.
  bool read_scaled(const Node& n) {
    if (is(n, F::DIV) && is_scalar(n.inputs[1], 1.41421354f)) x_ = n.inputs[0];
    for (size_t i = 0; is(n, F::MUL) && i < 2; ++i)
      if (is_scalar(n.inputs[i], 0.707106769f)) x_ = n.inputs[1 - i];
    return x_ != kNoValue;
  }

  bool is_half_of_x(ValueId v, int reader) const {
    const int maker = def_use_.producer[v];
    if (maker < 0 || next(v) != reader || !is(node(maker), F::MUL)) return false;
    const std::vector<ValueId>& in = node(maker).inputs;
    return (in[0] == x_ && is_scalar(in[1], 0.5f)) || (in[1] == x_ && is_scalar(in[0], 0.5f));
  }

  void rewrite(int last) {
    Node& gelu = graph_.nodes[static_cast<size_t>(last)];
    for (int i : gone_) {
      gelu.source_op = node(i).source_op + "+" + gelu.source_op;
      graph_.nodes[static_cast<size_t>(i)].outputs.clear();
    }
    options<fb::FloatOptionsT>(gelu).function = F::FUSED_GELU;
    gelu.inputs = {x_};
  }

  Graph& graph_;
  const DefUse& def_use_;
  std::vector<int> gone_;  // nodes that the last one stands for
  ValueId x_ = kNoValue;
};

}  // namespace

void fuse_gelu(Graph* graph) {
  const DefUse def_use(*graph);
  bool any = false;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const auto* o = graph->nodes[i].options.AsFloat();
    if (o && o->function == F::FUSED_ERF && !graph->nodes[i].outputs.empty())
      any |= Gelu(graph, def_use).fuse(static_cast<int>(i));
  }
  if (any) erase_removed(graph);
}

}  // namespace qrt::convert

// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/placement.h"

#include <algorithm>
#include <utility>

#include "converter/quantize/schemes/roles.h"

namespace qrt::quantize {
namespace {

class Placer {
 public:
  Placer(const FloatModel& model, const std::set<std::string>& forced,
         const std::set<size_t>& excluded)
      : model_(model), forced_(forced) {
    const Roles roles(model);
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      const Node& node = model.nodes[i];
      const bool is_excluded = excluded.count(i) != 0;
      roles_.push_back(is_excluded ? Role::kFloat : roles.of(node));
      for (const std::string& name : node.inputs)
        if (!name.empty()) readers_[name].push_back(i);
      for (const std::string& name : node.outputs) writer_[name] = i;
    }
    for (const Value& v : model.inputs) inputs_.emplace(v.name, v.element);
    for (const Value& v : model.outputs) outputs_.insert(v.name);
  }

  Placement run() {
    propagate_float();
    find_layers();
    find_kept();
    for (const Value& v : model_.inputs)
      if (v.element == Element::kFloat && is_read_coded(v.name)) code(v.name);
    for (size_t i = 0; i < model_.nodes.size(); ++i) visit(i);
    for (const std::string& name : forced_)
      if (is_value(name)) code(name);
    share_codings();
    return std::move(placement_);
  }

 private:
  const Node& node(size_t i) const { return model_.nodes[i]; }
  bool is_value(const std::string& name) const {
    return !name.empty() && model_.constant(name) == nullptr && element_of(name) == Element::kFloat;
  }
  Element element_of(const std::string& name) const {
    if (const auto v = model_.values.find(name); v != model_.values.end()) return v->second.element;
    const auto input = inputs_.find(name);
    return input == inputs_.end() ? Element::kFloat : input->second;
  }
  const std::vector<size_t>& readers(const std::string& name) const {
    static const std::vector<size_t> none;
    const auto found = readers_.find(name);
    return found == readers_.end() ? none : found->second;
  }
  // Returns the only node that reads a value, and reads it once, or null.
  const size_t* sole_reader(const std::string& name) const {
    const auto& r = readers(name);
    return r.size() == 1 && outputs_.count(name) == 0 ? &r[0] : nullptr;
  }
  bool is_float(size_t i) const { return placement_.float_nodes.count(i) != 0; }
  bool is_elementwise(size_t i) const {
    const Role r = roles_[i];
    return r == Role::kLimit || r == Role::kFunction || r == Role::kPair;
  }
  // Returns whether node i may run in float if its neighbours do.
  bool is_flexible(size_t i) const {
    return is_elementwise(i) || roles_[i] == Role::kSoftmax || node(i).op == "ReduceMean" ||
           node(i).op == "ReduceSum";
  }

  // Makes elementwise operators around operators without an integer form float, too, so that
  // tensors between them are not rounded before a sum or a function.
  void propagate_float() {
    std::vector<Neighbours> around(roles_.size());
    std::vector<size_t> joined;
    const auto join = [&](size_t i) {
      if (placement_.float_nodes.insert(i).second) joined.push_back(i);
    };
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] == Role::kFloat) join(i);
      for (const std::string& y : node(i).outputs) around[i].reads_left += readers(y).size();
    }
    while (!joined.empty()) {
      const size_t i = joined.back();
      joined.pop_back();
      for (const std::string& x : node(i).inputs) {
        const auto w = writer_.find(x);
        if (x.empty() || w == writer_.end()) continue;
        around[w->second].is_read = true;
        --around[w->second].reads_left;
        if (joins_float(w->second, around[w->second])) join(w->second);
      }
      for (const std::string& y : node(i).outputs)
        for (const size_t r : readers(y)) {
          around[r].reads = true;
          if (joins_float(r, around[r])) join(r);
        }
    }
  }
  // The connections of a node with neighbours that are computed in float.
  struct Neighbours {
    bool reads = false;     // the node reads a float neighbour's output
    bool is_read = false;   // a float neighbour reads the node's output
    size_t reads_left = 0;  // reads of the node's output by other nodes
  };
  bool joins_float(size_t i, const Neighbours& around) const {
    if (is_flexible(i) && around.reads) return true;
    if (around.is_read && (roles_[i] == Role::kPair || has_large_constant(i))) return true;
    return roles_[i] == Role::kMove && around.reads && around.is_read && around.reads_left == 0;
  }

  // Returns whether a constant operand varies along several dimensions, so that no table can hold it.
  bool has_large_constant(size_t i) const {
    const auto& inputs = node(i).inputs;
    return roles_[i] == Role::kFunction &&
           std::any_of(inputs.begin(), inputs.end(), [&](const auto& x) {
             const Tensor* c = x.empty() ? nullptr : model_.constant(x);
             return c && c->is_real() && varies_along_several(*c);
           });
  }

  // Returns whether the bias has one value, or one for each output column or channel.
  bool is_column_bias(const Node& n, const Dims& w) const {
    const Tensor* bias = model_.constant(n.inputs[2]);
    if (!bias || n.op != "Gemm") return bias != nullptr;
    const int64_t columns = w[n.integer("transB", 0) != 0 ? 0 : 1];
    return bias->size() == 1 ||
           (!bias->shape.empty() && bias->size() == columns && bias->shape.back() == columns);
  }

  // Codes what the model dequantises itself, where that has one scale.
  void find_kept() {
    for (size_t i = 0; i < roles_.size(); ++i) {
      Coding coding;
      if (roles_[i] != Role::kCodes || !read_coding(node(i), &coding)) continue;
      placement_.kept[node(i).outputs[0]] = coding;
      code_as_it_is(node(i).outputs[0]);
    }
  }
  bool read_coding(const Node& n, Coding* coding) const {
    const Tensor* scale = n.has_input(1) ? model_.constant(n.inputs[1]) : nullptr;
    const Tensor* zero_point = n.has_input(2) ? model_.constant(n.inputs[2]) : nullptr;
    if (scale == nullptr || scale->size() != 1 || !(scale->reals[0] > 0) ||
        model_.constant(n.inputs[0]) != nullptr || (n.has_input(2) && zero_point == nullptr))
      return false;
    const Element element = element_of(n.inputs[0]);
    coding->scale = scale->reals[0];
    coding->zero_point = zero_point == nullptr ? 0 : static_cast<int32_t>(zero_point->integers[0]);
    coding->bits = element == Element::kUint8 || element == Element::kInt8 ? 8 : 16;
    coding->is_signed = element == Element::kInt8 || element == Element::kInt16;
    return coding->bits == 8 || element == Element::kInt16 || element == Element::kUint16;
  }
  // Returns whether the model quantises a value itself: whatever reads it reads its codes.
  bool is_quantised_behind(const std::string& name) const {
    const auto& r = readers(name);
    return !r.empty() && outputs_.count(name) == 0 &&
           std::all_of(r.begin(), r.end(),
                       [&](size_t i) { return node(i).op == "QuantizeLinear"; });
  }

  void find_layers() {
    for (size_t i = 0; i < roles_.size(); ++i) {
      const Node& n = node(i);
      if (roles_[i] != Role::kLayer) continue;
      Layer layer;
      layer.node = layer.bias_node = i;
      layer.input = n.inputs[0];
      layer.weights = n.inputs[1];
      layer.output = n.outputs[0];
      const Dims& w = model_.constant(layer.weights)->shape;
      const auto rank = static_cast<int>(w.size());
      if (n.op == "Conv") layer.axis = 0;
      if (n.op == "ConvTranspose" && n.integer("group", 1) == 1) layer.axis = 1;
      if (n.op == "Gemm") layer.axis = n.integer("transB", 0) != 0 ? 0 : 1;
      if (n.op == "MatMul" && rank == 2) layer.axis = 1;
      if (n.op != "MatMul") {
        layer.bias_input = 2;
        if (n.has_input(2) && is_column_bias(n, w)) layer.bias = n.inputs[2];
        // A bias that is computed, or differs from row to row, cannot be corrected.
        if (n.has_input(2) && layer.bias.empty()) layer.bias_input = -1;
      } else {
        layer.channel_dim = -1;
        find_added_bias(&layer);
      }
      placement_.layers_by_node[layer.node] = placement_.layers_by_node[layer.bias_node] =
          placement_.layers.size();
      placement_.layers.push_back(layer);
    }
  }
  // Finds the bias of a MatMul: an Add of one constant per column behind it.
  void find_added_bias(Layer* layer) const {
    const size_t* reader = sole_reader(layer->output);
    if (!reader || node(*reader).op != "Add" || is_float(*reader)) return;
    const Node& add = node(*reader);
    const int at = add.inputs[0] == layer->output ? 1 : 0;
    const Tensor* constant = model_.constant(add.inputs[static_cast<size_t>(at)]);
    const Dims& w = model_.constant(layer->weights)->shape;
    if (!constant || w.size() != 2 || constant->shape.empty() || constant->size() != w[1] ||
        constant->shape.back() != w[1])
      return;
    layer->bias_node = *reader;
    layer->bias_input = at;
    layer->bias = add.inputs[static_cast<size_t>(at)];
    layer->output = add.outputs[0];
  }

  // Returns whether node i reads stored integers rather than a function of them.
  bool needs_integers(size_t i) const {
    if (is_float(i)) return false;
    const Role r = roles_[i];
    return !(is_elementwise(i) || r == Role::kIndices || r == Role::kCodes);
  }
  bool is_read_coded(const std::string& name) const {
    const auto& r = readers(name);
    return outputs_.count(name) != 0 ||
           std::any_of(r.begin(), r.end(), [&](size_t i) { return !is_float(i); });
  }
  // Returns the coded values of which a value's elements are functions.
  std::set<std::string> bases(const std::string& name) const {
    const auto writer = writer_.find(name);
    if (placement_.is_coded(name) ||
        (writer != writer_.end() && roles_[writer->second] == Role::kCodes))
      return {name};
    const auto found = bases_.find(name);
    return found == bases_.end() ? std::set<std::string>() : found->second;
  }
  std::set<std::string> bases_of_inputs(size_t i) const {
    std::set<std::string> all;
    for (const std::string& x : node(i).inputs) {
      if (!is_value(x)) continue;
      const auto b = bases(x);
      if (b.empty()) all.insert(x);  // not known yet
      all.insert(b.begin(), b.end());
    }
    return all;
  }

  void code_as_it_is(const std::string& name) { placement_.coded[name] = name; }
  void code(const std::string& name) {
    const auto writer = writer_.find(name);
    const bool is_codes = writer != writer_.end() && roles_[writer->second] == Role::kCodes;
    if (!is_codes && !is_quantised_behind(name)) code_as_it_is(name);
  }

  void visit(size_t i) {
    const Node& n = node(i);
    const Role role = roles_[i];
    if (role == Role::kIndices || role == Role::kCodes) return;
    if (is_float(i)) {
      for (const std::string& y : n.outputs)
        if (is_value(y) && is_read_coded(y) && reads_integers(y)) code(y);
      return;
    }
    if (is_elementwise(i)) code_operands(i);
    for (const std::string& y : n.outputs) {
      if (y.empty()) continue;
      const bool is_table =
          is_elementwise(i) && !is_pending_limit(i) && bases_of_inputs(i).size() == 1;
      if (is_table) {
        bases_[y] = bases_of_inputs(i);
        if (table_needs_code(y)) code(y);
      } else if (!waits(i, y)) {
        code(y);
      }
    }
  }
  // Returns whether the result of a float node has a reader that is no float node itself.
  bool reads_integers(const std::string& y) const {
    const auto& r = readers(y);
    return std::any_of(r.begin(), r.end(),
                       [&](size_t k) { return !is_float(k) && roles_[k] != Role::kIndices; });
  }
  // Codes constant operands as integers, too, if no table can hold them.
  void code_operands(size_t i) {
    const Node& n = node(i);
    if (roles_[i] != Role::kFunction || is_bias(i)) return;
    for (const std::string& x : n.inputs) {
      const Tensor* c = x.empty() ? nullptr : model_.constant(x);
      if (c && c->is_real() && varies_along_several(*c)) {
        placement_.constants.insert(x);
        pairs_.insert(i);
      }
    }
  }
  bool is_bias(size_t i) const {
    const Layer* layer = placement_.layer_at(i);
    return layer && layer->node != i;
  }
  // Returns whether node i is a limit, or adds a bias, behind an operator that is pending.
  bool is_pending_limit(size_t i) const {
    return pending_.count(node(i).inputs[0]) != 0 ||
           (node(i).inputs.size() > 1 && pending_.count(node(i).inputs[1]) != 0) ||
           pairs_.count(i) != 0;
  }
  // Returns whether the operator's result y stays without a coding, since a limit or a bias behind
  // it is merged, or since y is a model output that may stay float.
  bool waits(size_t i, const std::string& y) {
    const size_t* reader = sole_reader(y);
    const bool absorbs = reader && !is_float(*reader) && roles_[i] != Role::kMove &&
                         ((roles_[*reader] == Role::kLimit && roles_[i] != Role::kSoftmax) ||
                          (is_bias(*reader) && roles_[i] == Role::kLayer));
    const bool ends = outputs_.count(y) != 0 && readers(y).empty() && may_end_in_float(i);
    if (absorbs) pending_.insert(y);
    return absorbs || ends;
  }
  // Returns whether ONNX Runtime computes node i without a quantisation behind it in integers, or
  // in one float operation that a table can hold.
  bool may_end_in_float(size_t i) const {
    if (roles_[i] == Role::kLayer) return node(i).op == "Gemm" || node(i).op == "MatMul";
    return is_bias(i) || (roles_[i] == Role::kPair && pairs_.count(i) == 0);
  }
  bool table_needs_code(const std::string& y) const {
    for (const size_t r : readers(y)) {
      if (is_float(r)) continue;
      if (needs_integers(r)) return true;
      std::set<std::string> all = bases_of_inputs(r);
      all.erase(y);
      const auto own = bases_.find(y)->second;
      all.insert(own.begin(), own.end());
      if (all.size() != 1) return true;
    }
    return false;
  }

  // --- codings that several values share

  int64_t size_of(const std::string& name) const {
    const auto v = model_.values.find(name);
    return v == model_.values.end() ? INT64_MAX : v->second.sample_elements();
  }
  bool is_kept(const std::string& root) const { return placement_.kept.count(root) != 0; }
  void join(const std::string& a, const std::string& b) {
    if (!placement_.is_coded(a) || !placement_.is_coded(b)) return;
    const std::string x = placement_.root(a), y = placement_.root(b);
    if (x == y || (is_kept(x) && is_kept(y))) return;
    const bool keep_x = is_kept(x) || (!is_kept(y) && size_of(x) >= size_of(y));
    placement_.coded[keep_x ? y : x] = keep_x ? x : y;
  }
  void share_codings() {
    for (size_t i = 0; i < roles_.size(); ++i) {
      const Node& n = node(i);
      if (is_float(i)) continue;
      if (roles_[i] == Role::kMove)
        for (const std::string& y : n.outputs) join(n.inputs[0], y);
      if (roles_[i] == Role::kConcat)
        for (const std::string& x : n.inputs)
          if (sole_reader(x) && !is_kept(x)) join(n.outputs[0], x);
    }
    placement_.settle_roots();
  }

  const FloatModel& model_;
  const std::set<std::string>& forced_;
  std::vector<Role> roles_;
  std::map<std::string, std::vector<size_t>> readers_;
  std::map<std::string, size_t> writer_;
  std::map<std::string, Element> inputs_;
  std::set<std::string> outputs_;
  // For each table that is not quantised, the quantised values that it depends on.
  std::map<std::string, std::set<std::string>> bases_;
  // Values without a coding, as the limit or bias behind them merges into their node.
  std::set<std::string> pending_;
  std::set<size_t> pairs_;  // functions with a quantised constant
  Placement placement_;
};

}  // namespace

std::string Placement::root(const std::string& value) {
  std::string top = value;
  while (coded[top] != top) top = coded[top];
  for (std::string at = value; at != top;) at = std::exchange(coded[at], top);
  return top;
}

void Placement::settle_roots() {
  for (const auto& entry : coded) root(entry.first);
}

const Layer* Placement::layer_at(size_t node) const {
  const auto found = layers_by_node.find(node);
  return found == layers_by_node.end() ? nullptr : &layers[found->second];
}

const Layer* Placement::layer_of(size_t node) const {
  const Layer* layer = layer_at(node);
  return layer && layer->node == node ? layer : nullptr;
}

Placement place(const FloatModel& model, const std::set<std::string>& forced,
                const std::set<size_t>& excluded) {
  return Placer(model, forced, excluded).run();
}

}  // namespace qrt::quantize

// SPDX-License-Identifier: Apache-2.0
// Pass: chooses the layout in which every operator works, so that the fewest bytes are transposed.
//
// First every Transpose is taken away: a value it made becomes a view (root value, permutation). An
// operator works in a layout, a permutation of the one it was written in: transposed inputs,
// transposed output. Convolutions, pools and the like accept only their own; operators that do not
// care (elementwise, Lut, Concat, Reshape where it keeps dimensions together) accept others. A use
// whose view and layouts do not cancel costs a transpose of the value's bytes, once for all uses
// that want the same. From all operators in their own layout, the search changes the layout of one
// operator, or of all it drags along, while that lowers the cost; then the transposes that are left
// are written out.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"
#include "converter/permutation.h"

namespace qrt::convert {
namespace {

struct View {
  ValueId root;
  Perm perm;  // the value is transpose(root, perm)
};

// Layout of an operator: its output is made as transpose(output, out), its inputs are wanted as
// transpose(input, in). The two differ only for Reshape and ArgMax.
struct Layout {
  Perm in, out;
};

// A use of a root by an operator's input, or by the model's outputs (node == kModelOutput).
constexpr int kModelOutput = -1;
struct Use {
  int node;
  size_t slot;
};

// Bounds the search on crafted graphs, some seconds; real ones take a thousandth.
constexpr int64_t kMaxWork = 4000000;

class Mover {
 public:
  explicit Mover(Graph* graph);
  void search();
  void write();

 private:
  const Shape& shape(ValueId id) const { return graph_->values[id].type.shape; }
  const Node& node(int i) const { return graph_->nodes[static_cast<size_t>(i)]; }
  const Layout& layout(int i) const { return layouts_[static_cast<size_t>(i)]; }
  ValueId input(const Use& use) const {
    return use.node == kModelOutput ? graph_->outputs[use.slot] : node(use.node).inputs[use.slot];
  }
  const View& view(ValueId id) const { return views_[id]; }

  bool takes_any_layout(const Node& node) const;
  // Returns a layout of node i whose input (or output) permutation is `perm`; nothing if it cannot.
  std::optional<Layout> layout_from_input(int i, const Perm& perm) const;
  std::optional<Layout> layout_from_output(int i, const Perm& perm) const;
  Perm made_as(ValueId root) const;
  Perm wanted_as(const Use& use) const;
  // Returns the transposition that a use still needs: from the root as it is made to the input as it is wanted.
  Perm rest(const Use& use) const;
  bool is_free(const Use& use, const Perm& rest) const;
  uint64_t cost(ValueId root) const;

  // Gives node `first` a layout; with `spread`, then its neighbours whose uses this breaks, and so
  // on. Keeps that if it lowers the cost.
  bool try_layout(int first, const Layout& layout, bool propagates);
  bool improve(const Use& use);

  ValueId materialise(const Use& use, std::vector<Node>* nodes);
  void write_options(Node* node, const Layout& layout);
  ValueId transposed_operand(ValueId constant, const Perm& perm);
  void write_outputs(std::vector<Node>* nodes);
  void note_source_orders();
  bool is_output(ValueId id) const {
    return std::find(graph_->outputs.begin(), graph_->outputs.end(), id) != graph_->outputs.end();
  }

  Graph* graph_;
  std::vector<View> views_;             // by value
  std::vector<int> producer_;           // by value; -1: model input or constant
  std::vector<std::vector<Use>> uses_;  // by root
  std::vector<Layout> layouts_;         // by node
  std::vector<bool> foldable_;          // by node: a Reshape with fully_connected_behind()
  mutable int64_t budget_ = kMaxWork;   // calls of rest() left to the search
  std::map<std::pair<ValueId, Perm>, ValueId> written_;
};

bool is_transpose(const Node& node) { return node.options.AsTranspose() != nullptr; }

Mover::Mover(Graph* graph) : graph_(graph) {
  const DefUse def_use(*graph);
  const size_t count = graph->values.size();
  views_.resize(count);
  producer_.assign(count, -1);
  uses_.resize(count);
  for (ValueId id = 0; id < count; ++id) views_[id] = {id, identity_perm(shape(id).rank())};
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& n = graph->nodes[i];
    const int index = static_cast<int>(i);
    producer_[n.outputs[0]] = index;
    layouts_.push_back(
        {identity_perm(shape(n.inputs[0]).rank()), identity_perm(shape(n.outputs[0]).rank())});
    if (broadcasts(n)) layouts_.back().in = layouts_.back().out;
    foldable_.push_back(!fully_connected_behind(*graph, def_use, i).empty());
    if (const auto* transpose = n.options.AsTranspose()) {
      const View& from = views_[n.inputs[0]];
      views_[n.outputs[0]] = {from.root, compose(from.perm, transpose->perm)};
      continue;
    }
    for (size_t slot = 0; slot < n.inputs.size(); ++slot)
      if (!graph->values[n.inputs[slot]].is_constant)
        uses_[view(n.inputs[slot]).root].push_back({index, slot});
  }
  for (size_t slot = 0; slot < graph->outputs.size(); ++slot)
    uses_[view(graph->outputs[slot]).root].push_back({kModelOutput, slot});
}

bool Mover::takes_any_layout(const Node& n) const {
  if (broadcasts(n)) {
    // Operands of a lower rank only where they can be rewritten (constants) or are one number.
    return std::all_of(n.inputs.begin(), n.inputs.begin() + 2, [&](ValueId id) {
      const Value& v = graph_->values[id];
      return v.is_constant || v.type.shape.rank() == shape(n.outputs[0]).rank() ||
             v.type.shape.elements() == 1;
    });
  }
  // Scales that are inputs lie in the layout of the model.
  if (traits(n).arithmetic == Arithmetic::kEdge && n.inputs.size() > 1) return false;
  return traits(n).layout == LayoutRule::kAny;
}

// Returns the layout of an ArgMax's output that goes with one of its input.
Perm without_axis(const fb::ArgMaxOptionsT& o, const Perm& perm) {
  if (o.keep_dims) return perm;
  const auto axis = static_cast<uint8_t>(o.axis);
  Perm out;
  for (uint8_t p : perm)
    if (p != axis) out.push_back(p < axis ? p : static_cast<uint8_t>(p - 1));
  return out;
}

std::optional<Layout> Mover::layout_from_input(int i, const Perm& perm) const {
  const Node& n = node(i);
  if (perm.size() != layout(i).in.size()) return std::nullopt;
  if (n.options.AsReshape()) {
    auto out = carry_through_reshape(shape(n.inputs[0]), perm, shape(n.outputs[0]));
    if (!out) return std::nullopt;
    return Layout{perm, *out};
  }
  if (const auto* arg_max = n.options.AsArgMax()) return Layout{perm, without_axis(*arg_max, perm)};
  if (!takes_any_layout(n)) return std::nullopt;
  const auto* lut = n.options.AsLut();
  const bool by_channel =
      (lut && lut->per_channel) ||
      (n.options.AsRequantize() && n.inputs.size() == 2 && shape(n.inputs[1])[0] != 1);
  if (by_channel && (perm.empty() || perm.back() + 1u != perm.size())) return std::nullopt;
  return Layout{perm, perm};
}

std::optional<Layout> Mover::layout_from_output(int i, const Perm& perm) const {
  const Node& n = node(i);
  if (perm.size() != layout(i).out.size()) return std::nullopt;
  if (const auto* arg_max = n.options.AsArgMax(); arg_max && !arg_max->keep_dims) {
    // Along the last axis rows are contiguous.
    const auto axis = static_cast<uint8_t>(arg_max->axis);
    Perm in;
    for (uint8_t p : perm) in.push_back(p < axis ? p : static_cast<uint8_t>(p + 1));
    in.push_back(axis);
    return Layout{in, perm};
  }
  if (!n.options.AsReshape()) return layout_from_input(i, perm);
  // Carries the permutation back, then forward again, which may place dimensions of size 1 elsewhere.
  auto in = carry_through_reshape(shape(n.outputs[0]), perm, shape(n.inputs[0]));
  if (!in || !layout_from_input(i, *in)) return std::nullopt;
  return Layout{*in, perm};
}

Perm Mover::made_as(ValueId root) const {
  const int producer = producer_[root];
  return producer < 0 ? identity_perm(shape(root).rank()) : layout(producer).out;
}

Perm Mover::wanted_as(const Use& use) const {
  const int rank = shape(input(use)).rank();
  if (use.node == kModelOutput || layout(use.node).in.size() != static_cast<size_t>(rank))
    return identity_perm(rank);
  return layout(use.node).in;
}

Perm Mover::rest(const Use& use) const {
  --budget_;
  const View& v = view(input(use));
  return compose(compose(inverse(made_as(v.root)), v.perm), wanted_as(use));
}

bool Mover::is_free(const Use& use, const Perm& rest) const {
  const ValueId root = view(input(use)).root;
  if (moves_only_units(rest, permuted(shape(root), made_as(root)))) return true;
  return use.node != kModelOutput && foldable_[static_cast<size_t>(use.node)] && rest[0] == 0 &&
         is_identity(layout(use.node).in);
}

uint64_t Mover::cost(ValueId root) const {
  std::set<Perm> transposes;
  for (const Use& use : uses_[root]) {
    Perm r = rest(use);
    if (!is_free(use, r)) transposes.insert(std::move(r));
  }
  const auto bytes = static_cast<uint64_t>(std::max<int64_t>(shape(root).elements(), 1)) *
                     dtype_bytes(graph_->values[root].type.dtype);
  return transposes.size() * bytes;
}

bool Mover::try_layout(int first, const Layout& start, bool propagates) {
  std::map<int, Layout> before;  // of the nodes changed
  std::set<ValueId> roots;       // whose cost may have changed
  uint64_t cost_before = 0;
  std::deque<int> queue;
  const auto touch = [&](ValueId root) {
    if (roots.insert(root).second) cost_before += cost(root);
  };
  const auto assign = [&](int i, const Layout& l) {
    const Node& n = node(i);
    for (ValueId id : n.inputs)
      if (!graph_->values[id].is_constant) touch(view(id).root);
    touch(n.outputs[0]);
    before.emplace(i, layout(i));
    layouts_[static_cast<size_t>(i)] = l;
    queue.push_back(i);
  };
  const auto pull = [&](int i, const std::optional<Layout>& l) {
    if (l && !before.count(i)) assign(i, *l);
  };
  assign(first, start);
  while (propagates && !queue.empty()) {
    const int i = queue.front();
    queue.pop_front();
    for (const Use& use : uses_[node(i).outputs[0]]) {
      if (use.node == kModelOutput || is_free(use, rest(use))) continue;
      // inverse(made) * view * in == identity
      pull(use.node, layout_from_input(use.node, compose(inverse(view(input(use)).perm),
                                                         made_as(node(i).outputs[0]))));
    }
    for (size_t slot = 0; slot < node(i).inputs.size(); ++slot) {
      const Use use{i, slot};
      if (graph_->values[input(use)].is_constant || is_free(use, rest(use))) continue;
      const View& v = view(input(use));
      if (producer_[v.root] >= 0)
        pull(producer_[v.root],
             layout_from_output(producer_[v.root], compose(v.perm, wanted_as(use))));
    }
  }
  uint64_t cost_after = 0;
  for (ValueId root : roots) cost_after += cost(root);
  if (cost_after < cost_before) return true;
  for (auto& [i, l] : before) layouts_[static_cast<size_t>(i)] = l;
  return false;
}

bool Mover::improve(const Use& use) {
  if (is_free(use, rest(use))) return false;
  const View& v = view(input(use));
  for (const bool propagates : {true, false}) {
    if (use.node != kModelOutput) {
      const auto l = layout_from_input(use.node, compose(inverse(v.perm), made_as(v.root)));
      if (l && try_layout(use.node, *l, propagates)) return true;
    }
    if (const int producer = producer_[v.root]; producer >= 0) {
      const auto l = layout_from_output(producer, compose(v.perm, wanted_as(use)));
      if (l && try_layout(producer, *l, propagates)) return true;
    }
  }
  return false;
}

void Mover::search() {
  for (bool improved = true; improved;) {
    improved = false;
    for (const auto& uses : uses_)
      for (const Use& use : uses) {
        if (budget_ <= 0) return;
        improved |= improve(use);
      }
  }
}

// Transposes a constant operand. One of a lower rank stands for one with dimensions of size 1 in front.
ValueId Mover::transposed_operand(ValueId constant, const Perm& perm) {
  if (is_identity(perm) || shape(constant).elements() == 1) return constant;
  ValueId& id = written_.try_emplace({constant, perm}, kNoValue).first->second;
  if (id == kNoValue) {
    Value full = graph_->values[constant];
    full.type.shape = Shape();
    const int missing = static_cast<int>(perm.size()) - shape(constant).rank();
    for (int d = 0; d < missing; ++d) full.type.shape.push_back(1);
    for (int64_t d : shape(constant)) full.type.shape.push_back(d);
    if (full.quantization.axis >= 0) full.quantization.axis += missing;
    id = graph_->add_value(transposed_constant(full, perm));
  }
  return id;
}

// Returns the value that a use reads, in the order that it wants; writes the Transpose (or Reshape)
// that this takes.
ValueId Mover::materialise(const Use& use, std::vector<Node>* nodes) {
  const View v = view(input(use));
  const Perm r = rest(use);
  if (is_identity(r)) return v.root;
  ValueId& id = written_.try_emplace({v.root, r}, kNoValue).first->second;
  if (id != kNoValue) return id;
  Value out = graph_->values[v.root];  // already in its new layout
  const bool is_view = moves_only_units(r, out.type.shape);
  out.type.shape = permuted(out.type.shape, r);
  out.quantization.axis = permuted_axis(out.quantization.axis, r);
  // The Transpose computes the value, even if it moves a constant that is an output of the model.
  out.is_constant = false;
  out.data.clear();
  out.name += "/transposed";
  const std::string name = out.name;
  id = graph_->add_value(std::move(out));
  if (is_view) {
    nodes->push_back(make_node<fb::ReshapeOptionsT>(name, "Transpose", {v.root}, {id}));
    const Shape& to = graph_->values[id].type.shape;
    options<fb::ReshapeOptionsT>(nodes->back()).shape.assign(to.begin(), to.end());
  } else {
    nodes->push_back(make_node<fb::TransposeOptionsT>(name, "Transpose", {v.root}, {id}));
    options<fb::TransposeOptionsT>(nodes->back()).perm = r;
  }
  return id;
}

void Mover::write_options(Node* n, const Layout& l) {
  Value& out = graph_->values[n->outputs[0]];
  out.type.shape = permuted(out.type.shape, l.out);
  out.quantization.axis = permuted_axis(out.quantization.axis, l.out);
  if (auto* concat = n->options.AsConcat())
    concat->axis = static_cast<uint32_t>(permuted_axis(static_cast<int>(concat->axis), l.out));
  if (auto* gather = n->options.AsGather()) {
    for (auto& map : gather->axes)
      map->axis = static_cast<uint8_t>(permuted_axis(map->axis, l.out));
    std::sort(gather->axes.begin(), gather->axes.end(),
              [](const auto& a, const auto& b) { return a->axis < b->axis; });
  }
  if (auto* arg_max = n->options.AsArgMax())
    arg_max->axis = static_cast<uint32_t>(permuted_axis(static_cast<int>(arg_max->axis), l.in));
  if (auto* quantize = n->options.AsQuantize())
    quantize->axis = permuted_axis(quantize->axis, l.out);
  if (auto* dequantize = n->options.AsDequantize())
    dequantize->axis = permuted_axis(dequantize->axis, l.out);
  if (auto* reshape = n->options.AsReshape())
    reshape->shape.assign(out.type.shape.begin(), out.type.shape.end());
}

// Gives the model's outputs their own layout and names.
void Mover::write_outputs(std::vector<Node>* nodes) {
  std::set<ValueId> taken(graph_->outputs.begin(), graph_->outputs.end());
  for (size_t slot = 0; slot < graph_->outputs.size(); ++slot) {
    const ValueId out = graph_->outputs[slot];
    const ValueId id = materialise({kModelOutput, slot}, nodes);
    if (id == out) continue;
    // `id` holds it and takes its name, unless it is an input or named already.
    const ValueId root = view(out).root;
    if ((id != root || producer_[root] >= 0) && taken.insert(id).second) {
      graph_->values[id].name = graph_->values[out].name;
      graph_->outputs[slot] = id;
      continue;
    }
    nodes->push_back(
        make_node<fb::ReshapeOptionsT>(graph_->values[out].name, "Identity", {id}, {out}));
    const Shape& to = shape(out);
    options<fb::ReshapeOptionsT>(nodes->back()).shape.assign(to.begin(), to.end());
  }
}

void Mover::write() {
  // Values change their shapes on the way, nodes and ranks do not until the end; a root is
  // rewritten before its uses are asked for.
  std::vector<Node> nodes;
  for (size_t i = 0; i < graph_->nodes.size(); ++i) {
    if (is_transpose(graph_->nodes[i])) continue;
    Node n = graph_->nodes[i];
    const bool elementwise = traits(n).layout == LayoutRule::kAny &&
                             (broadcasts(n) || traits(n).constants.are(ConstantRule::kOperands));
    for (size_t slot = 0; slot < n.inputs.size(); ++slot) {
      if (!graph_->values[n.inputs[slot]].is_constant)
        n.inputs[slot] = materialise({static_cast<int>(i), slot}, &nodes);
      else if (elementwise && !input_is_table(n, slot))  // a table has no layout
        n.inputs[slot] = transposed_operand(n.inputs[slot], layouts_[i].in);
    }
    write_options(&n, layouts_[i]);
    nodes.push_back(std::move(n));
  }
  write_outputs(&nodes);
  note_source_orders();
  graph_->nodes = std::move(nodes);
}

// Notes the source's order of values with a name, as they lay there when the pass began. Such a
// value remains as its root in the root's new layout, and as copies of that. A root without a name
// takes that of its first view.
void Mover::note_source_orders() {
  for (ValueId id = 0; id < views_.size(); ++id) {
    const View& v = view(id);
    Value& root = graph_->values[v.root];
    if (graph_->values[id].name.empty() || root.is_constant) continue;
    if (id != v.root && !root.source_order.empty()) continue;
    const Perm told = root.source_order.empty() ? v.perm : Perm(root.source_order);
    root.source_order = compose(inverse(made_as(v.root)), told);
    if (root.name.empty() && !is_output(id)) root.name = graph_->values[id].name;
  }
  for (const auto& [from, id] : written_) {
    const auto& [root, perm] = from;
    const Perm& of_root = graph_->values[root].source_order;
    if (!of_root.empty()) graph_->values[id].source_order = compose(inverse(perm), of_root);
  }
  for (ValueId id : graph_->outputs)
    graph_->values[id].source_order = identity_perm(shape(id).rank());
}

}  // namespace

void move_transposes(Graph* graph) {
  Mover mover(graph);
  mover.search();
  mover.write();
  drop_dead(graph);
}

}  // namespace qrt::convert

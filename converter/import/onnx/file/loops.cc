// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/loops.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "converter/import/common/source_limits.h"
#include "converter/import/onnx/file/borders.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/names.h"
#include "converter/import/onnx/file/node.h"
#include "converter/import/onnx/file/replace_nodes.h"

namespace qrt::convert::from_onnx {
namespace {

onnx::GraphProto* find_body(onnx::NodeProto* node) {
  for (onnx::AttributeProto& a : *node->mutable_attribute())
    if (a.name() == "body" && a.has_g()) return a.mutable_g();
  return nullptr;
}

const onnx::GraphProto* find_body(const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& a : node.attribute())
    if (a.name() == "body" && a.has_g()) return &a.g();
  return nullptr;
}

// Reads an attribute with a number for each of so many tensors, 0 where there is none.
Status read_numbers(const NodeView& node, const char* attribute, int count,
                    std::vector<int64_t>* numbers) {
  *numbers = node.integers(attribute);
  if (numbers->empty()) numbers->assign(static_cast<size_t>(count), 0);
  QRT_MODEL_CHECK(numbers->size() == static_cast<size_t>(count),
                  "node %s (Scan): %s has %zu numbers, expected %d", node.label().c_str(),
                  attribute, numbers->size(), count);
  return Status();
}

// Returns whether a node is a constant, which each iteration would make again.
bool is_constant(const onnx::NodeProto& node) {
  return node.op_type() == "Constant" && (node.domain().empty() || node.domain() == "ai.onnx");
}

uint64_t count_nodes(const onnx::GraphProto& graph) {
  uint64_t nodes = 0;
  for (const onnx::NodeProto& node : graph.node()) {
    ++nodes;
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g()) nodes += count_nodes(a.g());
      for (const onnx::GraphProto& g : a.graphs()) nodes += count_nodes(g);
    }
  }
  return nodes;
}

class Unroller {
 public:
  Unroller(const std::function<int64_t(const onnx::NodeProto&)>& opset, NodeVersions* versions,
           onnx::GraphProto* graph)
      : opset_(opset), versions_of_(versions), graph_(graph), names_(*graph), makers_(*graph) {}

  // Appends what stands in the loop's place.
  Status unroll(int index, int64_t steps, onnx::NodeProto* loop, Nodes* to) {
    LoopForm form;
    QRT_TRY(read_loop(*loop, index, &form));
    onnx::GraphProto* body = find_body(loop);
    loop_ = loop;
    to_ = to;
    Renaming shared;
    add_borders(*loop, makers_, &names_, &shared, to);
    share_constants(body, &shared);
    std::unordered_set<std::string> made;
    for (const onnx::NodeProto& node : body->node())
      made.insert(node.output().begin(), node.output().end());

    std::vector<std::string> states;
    const bool has_borders = makers_.has_pairs();
    for (int i = 0; i < form.states; ++i) {
      states.push_back(loop->input(form.first_input() + i));
      if (has_borders) states.back() = add_state_border(states.back());
    }
    std::vector<std::vector<std::string>> parts(static_cast<size_t>(form.stacked));
    for (int64_t step = 0; step < steps; ++step) {
      Renaming renaming = shared;
      set_inputs(form, step, steps, states, &renaming);
      const auto result = [&](int i) { return body->output(form.first_output() + i).name(); };
      // A last state that a node of the body makes gets the name of the Loop's output.
      for (int i = 0;
           !has_borders && step + 1 == steps && i < std::min(form.states, loop->output_size()); ++i)
        if (!loop->output(i).empty() && made.count(result(i)) != 0 && !renaming.has(result(i)))
          renaming.set(result(i), loop->output(i));
      for (const onnx::NodeProto& node : body->node())
        for (const std::string& name : node.output())
          if (!name.empty() && !renaming.has(name)) renaming.set(name, names_.make(name));
      for (const onnx::NodeProto& node : body->node())
        place(node, "#" + std::to_string(step), &renaming);
      for (int i = 0; i < form.states; ++i) {
        std::string& state = states[static_cast<size_t>(i)];
        state = renaming.of(result(i));
        if (has_borders) state = add_state_border(state);
      }
      for (int i = 0; i < form.stacked; ++i)
        parts[static_cast<size_t>(i)].push_back(renaming.of(result(form.states + i)));
    }
    for (int i = 0; i < loop->output_size(); ++i) {
      const std::string& output = loop->output(i);
      if (output.empty()) continue;
      const bool is_state = i < form.states;
      const auto at = static_cast<size_t>(is_state ? i : i - form.states);
      if (!is_state)
        stack(form.output_axes[at], form.output_directions[at] != 0, std::move(parts[at]), output);
      else if (states[at] != output)
        add("Identity", {states[at]}, output);
    }
    return Status();
  }

  // Appends the body once, between the nodes that begin and end a step.
  Status open(int index, const KnownLoop& known, onnx::NodeProto* loop, Nodes* to) {
    LoopForm form;
    QRT_TRY(read_loop(*loop, index, &form));
    onnx::GraphProto* body = find_body(loop);
    loop_ = loop;
    to_ = to;
    Renaming renaming;
    add_borders(*loop, makers_, &names_, &renaming, to);
    share_constants(body, &renaming);
    for (const onnx::NodeProto& node : body->node())
      for (const std::string& name : node.output())
        if (!name.empty() && !renaming.has(name)) renaming.set(name, names_.make(name));
    const std::string mark = names_.make("loop_mark");
    add_begin(form, mark, &renaming);
    for (const onnx::NodeProto& node : body->node()) place(node, "", &renaming);
    onnx::NodeProto* end = add(loop->op_type(), {mark}, "");
    end->clear_output();
    end->set_name(loop->name());
    if (!idle_.empty()) end->add_input(idle_), end->add_output(names_.make("loop_output"));
    for (int i = form.first_output(); i < body->output_size(); ++i)
      end->add_input(renaming.of(body->output(i).name()));
    end->add_input(known.tensor.empty() ? loop->input(form.is_scan ? form.states : 0)
                                        : known.tensor);
    for (int i = 0; i < form.states + form.stacked; ++i) {
      const bool is_read = i < loop->output_size() && !loop->output(i).empty();
      end->add_output(is_read ? loop->output(i) : names_.make("loop_output"));
    }
    set_integer(kLoopEnd, 1, end);
    set_integer(kLoopStates, form.states + !idle_.empty(), end);
    set_integers(kLoopAxes, form.output_axes, end);
    set_integers(kLoopDirections, form.output_directions, end);
    set_integer(kLoopAxis, known.axis, end);
    return Status();
  }

 private:
  void add_begin(const LoopForm& form, const std::string& mark, Renaming* renaming) {
    const onnx::GraphProto& body = *form.body;
    onnx::NodeProto* begin = add(loop_->op_type(), {}, mark);
    begin->set_name(loop_->name());
    idle_.clear();
    for (int i = form.first_input(); i < loop_->input_size(); ++i)
      begin->add_input(loop_->input(i));
    begin->add_output(names_.make("loop_step"));
    if (!form.is_scan) {
      renaming->set(body.input(0).name(), begin->output(1));
      renaming->set(body.input(1).name(), truth(is_row(body.input(1))));
      if (is_row(body.input(0))) set_integer(kLoopHasRow, 1, begin);
    }
    for (int i = form.first_input(); i < body.input_size(); ++i) {
      const std::string name = names_.make(body.input(i).name());
      begin->add_output(name);
      renaming->set(body.input(i).name(), name);
    }
    if (form.states + form.scanned == 0) {
      begin->add_input(number(0, true));
      begin->add_output(idle_ = names_.make("loop_state"));
    }
    set_integer(kLoopBegin, 1, begin);
    set_integer(kLoopStates, form.states + !idle_.empty(), begin);
    set_integers(kLoopAxes, form.input_axes, begin);
    set_integers(kLoopDirections, form.input_directions, begin);
  }

  // Appends a node that has the loop's versions.
  onnx::NodeProto* add(const std::string& op, const std::vector<std::string>& inputs,
                       const std::string& output) {
    onnx::NodeProto* node = add_node(op, inputs, output, to_);
    copy_versions(*loop_, *node);
    return node;
  }

  // Appends a border behind a state and returns the name behind it.
  std::string add_state_border(const std::string& state) {
    std::string behind = names_.make(state);
    copy_versions(*loop_, *add_border(state, behind, to_));
    return behind;
  }

  // Says of a copy, and of the nodes in its subgraphs, which versions it has.
  void copy_versions(const onnx::NodeProto& from, const onnx::NodeProto& to) {
    const auto found = versions_of_->find(&from);
    if (found == versions_of_->end()) {
      versions_of_->erase(&to);  // a node that is gone may have had its address
      return;
    }
    const auto versions = found->second;
    (*versions_of_)[&to] = versions;
  }
  void copy_all_versions(const onnx::NodeProto& from, const onnx::NodeProto& to) {
    copy_versions(from, to);
    const auto graphs = [this](const onnx::GraphProto& a, const onnx::GraphProto& b) {
      for (int i = 0; i < a.node_size(); ++i) copy_all_versions(a.node(i), b.node(i));
    };
    for (int i = 0; i < from.attribute_size(); ++i) {
      const onnx::AttributeProto &a = from.attribute(i), &b = to.attribute(i);
      if (a.has_g()) graphs(a.g(), b.g());
      for (int g = 0; g < a.graphs_size(); ++g) graphs(a.graphs(g), b.graphs(g));
    }
  }

  // Moves the body's constants into the graph, where all steps read them.
  void share_constants(onnx::GraphProto* body, Renaming* renaming) {
    for (onnx::TensorProto& t : *body->mutable_initializer()) {
      const std::string name = names_.make(t.name());
      renaming->set(t.name(), name);
      t.set_name(name);
      graph_->add_initializer()->Swap(&t);
    }
    int kept = 0;
    for (int i = 0; i < body->node_size(); ++i) {
      onnx::NodeProto* node = body->mutable_node(i);
      if (!is_constant(*node)) {
        body->mutable_node()->SwapElements(kept++, i);
        continue;
      }
      for (std::string& output : *node->mutable_output()) {
        if (output.empty()) continue;
        const std::string name = names_.make(output);
        renaming->set(output, name);
        output = name;
      }
      onnx::NodeProto* moved = to_->Add();
      copy_versions(*node, *moved);
      moved->Swap(node);
    }
    body->mutable_node()->DeleteSubrange(kept, body->node_size() - kept);
  }

  // Gives the names of what a step reads.
  void set_inputs(const LoopForm& form, int64_t step, int64_t steps,
                  const std::vector<std::string>& states, Renaming* renaming) {
    const onnx::GraphProto& body = *form.body;
    if (!form.is_scan) {
      renaming->set(body.input(0).name(), number(step, is_row(body.input(0))));
      renaming->set(body.input(1).name(), truth(is_row(body.input(1))));
    }
    for (int i = 0; i < form.states; ++i)
      renaming->set(body.input(form.first_input() + i).name(), states[static_cast<size_t>(i)]);
    for (int i = 0; i < form.scanned; ++i) {
      const auto at = static_cast<size_t>(i);
      const std::string& inside = body.input(form.states + i).name();
      const std::string slice = names_.make(inside);
      const int64_t index = form.input_directions[at] != 0 ? steps - 1 - step : step;
      onnx::NodeProto* gather =
          add("Gather", {loop_->input(form.states + i), number(index, false)}, slice);
      set_integer("axis", form.input_axes[at], gather);
      renaming->set(inside, slice);
    }
  }

  // Appends a copy of a node of the body; `ending` comes behind its name.
  void place(const onnx::NodeProto& node, const std::string& ending, Renaming* renaming) {
    onnx::NodeProto* copy = to_->Add();
    *copy = node;
    copy_all_versions(node, *copy);
    renaming->apply(copy);
    mark_in_subgraph(copy);
    if (!node.name().empty()) copy->set_name(node.name() + ending);
  }

  // Puts the parts together along a new axis.
  void stack(int64_t axis, bool is_reversed, std::vector<std::string> parts,
             const std::string& output) {
    if (is_reversed) std::reverse(parts.begin(), parts.end());
    constexpr int64_t kAxesAreAnInput = 13;
    for (std::string& part : parts) {
      const std::string raised = names_.make(part);
      if (opset_(*loop_) >= kAxesAreAnInput) {
        add("Unsqueeze", {part, number(axis, true)}, raised);
      } else {
        onnx::AttributeProto* axes = add("Unsqueeze", {part}, raised)->add_attribute();
        axes->set_name("axes");
        axes->set_type(onnx::AttributeProto::INTS);
        axes->add_ints(axis);
      }
      part = raised;
    }
    set_integer("axis", axis, add("Concat", parts, output));
  }

  static void set_integer(const char* name, int64_t value, onnx::NodeProto* node) {
    onnx::AttributeProto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INT);
    a->set_i(value);
  }

  static void set_integers(const char* name, const std::vector<int64_t>& values,
                           onnx::NodeProto* node) {
    onnx::AttributeProto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) a->add_ints(value);
  }

  // Returns whether the body declares this input, the step's number or the condition, with a dimension.
  static bool is_row(const onnx::ValueInfoProto& input) {
    return input.type().tensor_type().shape().dim_size() > 0;
  }

  // Returns the name of a constant with this number, of shape [1] or [].
  std::string number(int64_t value, bool is_row) {
    std::string& name = numbers_[is_row][value];
    if (name.empty()) {
      onnx::TensorProto* t = add_constant("step", onnx::TensorProto::INT64, is_row);
      t->add_int64_data(value);
      name = t->name();
    }
    return name;
  }
  std::string truth(bool is_row) {
    std::string& name = truths_[is_row];
    if (name.empty()) {
      onnx::TensorProto* t = add_constant("goes_on", onnx::TensorProto::BOOL, is_row);
      t->add_int32_data(1);
      name = t->name();
    }
    return name;
  }
  onnx::TensorProto* add_constant(const char* name, int type, bool is_row) {
    onnx::TensorProto* t = graph_->add_initializer();
    t->set_name(names_.make(name));
    t->set_data_type(type);
    if (is_row) t->add_dims(1);
    return t;
  }

  const std::function<int64_t(const onnx::NodeProto&)>& opset_;
  NodeVersions* const versions_of_;
  onnx::GraphProto* const graph_;
  FreshNames names_;
  const Makers makers_;
  const onnx::NodeProto* loop_ = nullptr;
  // A state that no step changes, of an open loop that reads nothing: every operator has an input.
  std::string idle_;
  Nodes* to_ = nullptr;
  std::map<int64_t, std::string> numbers_[2];
  std::string truths_[2];
};

}  // namespace

Status read_loop(const onnx::NodeProto& node, int index, LoopForm* form) {
  const NodeView view(node, index);
  const std::string label = view.label();
  const char* op = node.op_type().c_str();
  form->is_scan = node.op_type() == "Scan";
  form->body = find_body(node);
  QRT_MODEL_CHECK(form->body, "node %s (%s) has no body", label.c_str(), op);
  const onnx::GraphProto& body = *form->body;
  QRT_MODEL_CHECK(body.sparse_initializer_size() == 0,
                  "node %s (%s): its body has sparse initialisers", label.c_str(), op);
  const int64_t scanned = form->is_scan ? view.integer("num_scan_inputs", 0) : 0;
  QRT_MODEL_CHECK(!form->is_scan || (scanned >= 1 && scanned <= node.input_size()),
                  "node %s (Scan): num_scan_inputs is %lld, expected 1 to %d", label.c_str(),
                  static_cast<long long>(scanned), node.input_size());
  form->scanned = static_cast<int>(scanned);
  form->states = node.input_size() - form->scanned - form->first_input();
  QRT_MODEL_CHECK(form->states >= 0 && body.input_size() == node.input_size(),
                  "node %s (%s) has %d inputs, its body %d", label.c_str(), op, node.input_size(),
                  body.input_size());
  form->stacked = body.output_size() - form->first_output() - form->states;
  QRT_MODEL_CHECK(form->stacked >= 0 && node.output_size() <= form->states + form->stacked,
                  "node %s (%s) has %d states and %d outputs, its body %d outputs", label.c_str(),
                  op, form->states, node.output_size(), body.output_size());
  for (int i = form->first_input(); i < node.input_size(); ++i)
    QRT_MODEL_CHECK(!node.input(i).empty(), "node %s (%s): input %d is missing", label.c_str(), op,
                    i);
  QRT_TRY(read_numbers(view, "scan_input_axes", form->scanned, &form->input_axes));
  QRT_TRY(read_numbers(view, "scan_input_directions", form->scanned, &form->input_directions));
  QRT_TRY(read_numbers(view, "scan_output_axes", form->stacked, &form->output_axes));
  QRT_TRY(read_numbers(view, "scan_output_directions", form->stacked, &form->output_directions));
  for (const auto* directions : {&form->input_directions, &form->output_directions})
    for (const int64_t d : *directions)
      QRT_MODEL_CHECK(d == 0 || d == 1, "node %s (Scan): a direction is %lld, expected 0 or 1",
                      label.c_str(), static_cast<long long>(d));
  if (!view.problem().ok()) return error(Code::kInvalidModel, "%s", view.problem().message());
  return Status();
}

Status charge_steps(const onnx::NodeProto& node, const KnownLoop& loop, Budget* budget) {
  // The costs of a node that is imported several times, written and checked, in steps and bytes of the budget.
  constexpr uint64_t kStepsPerNode = 40000, kStepsPerByte = 16, kBytesPerNode = 4096;
  const onnx::GraphProto* body = find_body(node);
  QRT_MODEL_CHECK(body, "node %s has no body", loop.node.c_str());
  const auto steps = static_cast<uint64_t>(loop.steps);
  if (steps > kMaxSourceNodes)
    return error(Code::kUnsupported, "node %s has %llu steps, the limit is %zu", loop.node.c_str(),
                 static_cast<unsigned long long>(steps), kMaxSourceNodes);
  const uint64_t names =
      static_cast<uint64_t>(body->initializer_size() + body->input_size() + body->output_size());
  uint64_t bytes = 0;
  for (const onnx::NodeProto& inner : body->node())
    if (!is_constant(inner)) bytes += inner.ByteSizeLong();
  const uint64_t nodes = steps * (count_nodes(*body) + names);
  Status status = check_node_count(nodes);
  if (status.ok()) status = budget->reserve(kBytesPerNode * nodes + 4 * steps * bytes);
  if (status.ok()) status = budget->charge(kStepsPerNode * nodes + kStepsPerByte * steps * bytes);
  if (status.ok()) return status;
  return error(Code::kUnsupported,
               "node %s has %llu steps, which would be %llu nodes in its place: %s",
               loop.node.c_str(), static_cast<unsigned long long>(steps),
               static_cast<unsigned long long>(nodes), status.message());
}

Status unroll_loops(const KnownLoops& loops,
                    const std::function<int64_t(const onnx::NodeProto&)>& opset,
                    NodeVersions* versions, onnx::GraphProto* graph) {
  Unroller unroller(opset, versions, graph);
  return replace_nodes(graph, [&](int index, onnx::NodeProto* node, Nodes* to, bool* is_replaced) {
    const auto known = loops.find(index);
    *is_replaced = known != loops.end();
    return *is_replaced ? unroller.unroll(index, known->second.steps, node, to) : Status();
  });
}

Status open_loops(const KnownLoops& loops,
                  const std::function<int64_t(const onnx::NodeProto&)>& opset,
                  NodeVersions* versions, onnx::GraphProto* graph) {
  Unroller unroller(opset, versions, graph);
  return replace_nodes(graph, [&](int index, onnx::NodeProto* node, Nodes* to, bool* is_replaced) {
    const auto known = loops.find(index);
    *is_replaced = known != loops.end();
    return *is_replaced ? unroller.open(index, known->second, node, to) : Status();
  });
}

std::vector<bool> find_nodes_in_loops(const onnx::GraphProto& graph,
                                      const std::vector<int>& order) {
  std::vector<bool> is_inner(static_cast<size_t>(graph.node_size()));
  std::unordered_set<std::string> made;  // by a step
  for (const int index : order) {
    const onnx::NodeProto& node = graph.node(index);
    const NodeView view(node, index);
    if (view.has(kLoopEnd)) continue;
    std::vector<std::string> read(node.input().begin(), node.input().end());
    collect_subgraph_reads(node, &read);
    const bool reads = std::any_of(read.begin(), read.end(),
                                   [&](const std::string& name) { return made.count(name) != 0; });
    is_inner[static_cast<size_t>(index)] = reads;
    if (reads || view.has(kLoopBegin)) made.insert(node.output().begin(), node.output().end());
  }
  return is_inner;
}

}  // namespace qrt::convert::from_onnx

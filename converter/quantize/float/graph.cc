// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/graph.h"

#include <algorithm>
#include <unordered_set>

namespace qrt::quantize {

GraphEditor::GraphEditor(FloatModel* model) : model_(model) {
  for (size_t i = 0; i < model->inputs.size(); ++i)
    ends_[model->inputs[i].name].input = static_cast<int>(i);
  for (const Value& v : model->outputs) ends_[v.name].is_output = true;
  for (size_t i = 0; i < model->nodes.size(); ++i)
    if (!model->nodes[i].op.empty()) add(i);
}

const GraphEditor::ValueUses& GraphEditor::ends(const std::string& name) const {
  static const ValueUses none;
  const auto found = ends_.find(name);
  return found == ends_.end() ? none : found->second;
}

int GraphEditor::writer(const std::string& name) const { return ends(name).writer; }

const Reads& GraphEditor::readers(const std::string& name) const { return ends(name).readers; }

const Value* GraphEditor::value(const std::string& name) const {
  const auto found = model_->values.find(name);
  if (found != model_->values.end()) return &found->second;
  const int input = ends(name).input;
  return input < 0 ? nullptr : &model_->inputs[static_cast<size_t>(input)];
}

bool GraphEditor::is_taken(const std::string& name) const {
  const ValueUses& e = ends(name);
  return e.writer >= 0 || e.input >= 0 || model_->constants.count(name) != 0;
}

std::string GraphEditor::fresh_name(const std::string& wish) {
  int& number = next_numbers_[wish];
  for (;; ++number) {
    std::string name = number == 0 ? wish : wish + "_" + std::to_string(number);
    if (!is_taken(name)) return name;
  }
}

void GraphEditor::add_read(const std::string& name, Read read) {
  if (!name.empty()) ends_[name].readers.insert(read);
}

void GraphEditor::remove_read(const std::string& name, Read read) {
  if (name.empty()) return;
  ValueUses& e = ends_[name];
  e.readers.erase(read);
  const auto constant = model_->constants.find(name);
  if (!e.readers.empty() || e.is_output || constant == model_->constants.end()) return;
  constant->second = Tensor();  // the name stays taken
  unread_.push_back(name);
}

// Frees a name, and with it the name from which it was made by a number.
void GraphEditor::free_name(const std::string& name) {
  next_numbers_.erase(name);
  const size_t number = name.rfind('_');
  if (number != std::string::npos) next_numbers_.erase(name.substr(0, number));
}

void GraphEditor::remove_writer(const std::string& name) {
  ends_[name].writer = -1;
  free_name(name);
}

void GraphEditor::add(size_t node) {
  const Node& n = model_->nodes[node];
  for (size_t i = 0; i < n.inputs.size(); ++i) add_read(n.inputs[i], {node, i});
  for (const std::string& name : n.outputs)
    if (!name.empty()) ends_[name].writer = static_cast<int>(node);
}

void GraphEditor::remove(size_t node) {
  Node& n = model_->nodes[node];
  for (size_t i = 0; i < n.inputs.size(); ++i) remove_read(n.inputs[i], {node, i});
  for (const std::string& name : n.outputs)
    if (!name.empty()) remove_writer(name);
  n = Node();
}

void GraphEditor::append(Node node) {
  model_->nodes.push_back(std::move(node));
  add(model_->nodes.size() - 1);
}

void GraphEditor::insert_behind(size_t at, Node node) {
  append(std::move(node));
  inserted_.emplace_back(at, model_->nodes.size() - 1);
}

void GraphEditor::replace(size_t at, Node node) {
  std::swap(model_->nodes[at], node);
  add(at);
  const Node& now = model_->nodes[at];
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (i >= now.inputs.size() || now.inputs[i] != node.inputs[i])
      remove_read(node.inputs[i], {at, i});
  for (const std::string& name : node.outputs)
    if (writer(name) == static_cast<int>(at) &&
        std::count(now.outputs.begin(), now.outputs.end(), name) == 0)
      remove_writer(name);
}

void GraphEditor::set_input(size_t node, size_t input, const std::string& name) {
  const std::string before = std::exchange(model_->nodes[node].inputs[input], name);
  if (before == name) return;
  add_read(name, {node, input});
  remove_read(before, {node, input});
}

void GraphEditor::resize_inputs(size_t node, size_t count) {
  Node& n = model_->nodes[node];
  for (size_t i = count; i < n.inputs.size(); ++i) remove_read(n.inputs[i], {node, i});
  n.inputs.resize(count);
}

void GraphEditor::set_constant(size_t node, size_t input, Tensor value) {
  const Node& n = model_->nodes[node];
  if (n.inputs.size() <= input) resize_inputs(node, input + 1);
  static constexpr const char* kRoles[] = {"input", "weights", "bias"};
  const std::string wish = n.outputs[0] + "/" + (input < 3 ? kRoles[input] : "operand");
  const std::string name = fresh_name(wish);
  model_->constants[name] = std::move(value);
  set_input(node, input, name);
}

void GraphEditor::move_reads(const std::string& from, const std::string& to) {
  Reads moved = std::exchange(ends_[from].readers, {});
  for (const Read& r : moved) model_->nodes[r.node].inputs[r.input] = to;
  ends_[to].readers.merge(moved);
}

void GraphEditor::bypass(size_t node, std::string x) {
  const std::string y = model_->nodes[node].outputs[0];
  if (!is_output(y)) {
    move_reads(y, x);
    remove(node);
    return;
  }
  const int w = writer(x);
  if (w < 0 || is_output(x)) {
    Node same = model_->nodes[node];
    same.op = "Identity";
    same.inputs = {x};
    same.attributes.clear();
    replace(node, std::move(same));
    return;
  }
  remove(node);
  auto& outputs = model_->nodes[static_cast<size_t>(w)].outputs;
  std::replace(outputs.begin(), outputs.end(), x, y);
  ends_[y].writer = w;
  move_reads(x, y);
  remove_writer(x);
}

void GraphEditor::drop_unread_constants() {
  for (const std::string& name : unread_)
    if (readers(name).empty() && model_->constants.erase(name) != 0) free_name(name);
  unread_.clear();
}

void GraphEditor::finish() {
  if (!inserted_.empty()) {
    std::vector<std::vector<size_t>> behind(model_->nodes.size());
    for (const auto& [at, node] : inserted_) behind[at].push_back(node);
    std::vector<Node> nodes;
    for (size_t i = 0; i < model_->nodes.size(); ++i) {
      if (model_->nodes[i].op.empty()) continue;  // stands behind another, already
      nodes.push_back(std::move(model_->nodes[i]));
      model_->nodes[i] = Node();
      for (const size_t k : behind[i]) {
        nodes.push_back(std::move(model_->nodes[k]));
        model_->nodes[k] = Node();
      }
    }
    model_->nodes = std::move(nodes);
  }
  drop_unused(model_);
}

void drop_unused(FloatModel* model) {
  std::unordered_set<std::string> needed;
  for (const Value& v : model->outputs) needed.insert(v.name);
  std::vector<Node> kept;
  for (size_t i = model->nodes.size(); i-- > 0;) {
    Node& node = model->nodes[i];
    const bool is_needed = std::any_of(node.outputs.begin(), node.outputs.end(),
                                       [&](const auto& y) { return needed.count(y) != 0; });
    if (node.op.empty() || !is_needed) continue;
    needed.insert(node.inputs.begin(), node.inputs.end());
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  model->nodes = std::move(kept);
  for (auto it = model->constants.begin(); it != model->constants.end();)
    it = needed.count(it->first) != 0 ? std::next(it) : model->constants.erase(it);
}

}  // namespace qrt::quantize

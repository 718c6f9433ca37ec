#include "converter/quantize/float/graph.h"

#include <algorithm>

namespace qrt::quantize {

Links::Links(const FloatModel& model) {
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    if (model.nodes[i].op.empty()) continue;
    for (const std::string& name : model.nodes[i].outputs) writers_[name] = static_cast<int>(i);
    for (const std::string& name : model.nodes[i].inputs)
      if (!name.empty()) readers_[name].push_back(i);
  }
  for (const Value& v : model.outputs) outputs_.insert(v.name);
}

int Links::writer(const std::string& name) const {
  const auto found = writers_.find(name);
  return found == writers_.end() ? -1 : found->second;
}

const std::vector<size_t>& Links::readers(const std::string& name) const {
  static const std::vector<size_t> none;
  const auto found = readers_.find(name);
  return found == readers_.end() ? none : found->second;
}

namespace {

void rename_reads(const std::string& from, const std::string& to, FloatModel* model) {
  for (Node& node : model->nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

}  // namespace

void bypass(const Links& links, size_t node, const std::string& x, FloatModel* model) {
  Node& gone = model->nodes[node];
  const std::string y = gone.outputs[0];
  if (!links.is_output(y)) {
    rename_reads(y, x, model);
    gone = Node();
    return;
  }
  const int writer = links.writer(x);
  if (writer < 0 || links.is_output(x)) {
    gone.op = "Identity";
    gone.inputs = {x};
    gone.attributes.clear();
    return;
  }
  gone = Node();
  auto& outputs = model->nodes[static_cast<size_t>(writer)].outputs;
  std::replace(outputs.begin(), outputs.end(), x, y);
  rename_reads(x, y, model);
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

void set_constant(size_t i, Tensor value, Node* node, FloatModel* model) {
  if (node->inputs.size() <= i) node->inputs.resize(i + 1);
  static constexpr const char* kRoles[] = {"input", "weights", "bias"};
  const std::string wish = node->outputs[0] + "/" + (i < 3 ? kRoles[i] : "operand");
  const std::string name = model->fresh_name(wish);
  model->constants[name] = std::move(value);
  node->inputs[i] = name;
}

}  // namespace qrt::quantize

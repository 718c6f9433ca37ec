// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ladder/simulation.h"

namespace qrt::quantize {

void round_tensor(const Coding& coding, Tensor* t) {
  // The loop is Coding::rounded(), in a form that compilers make vectors of: limits are integers, so that it
  // is one whether the quotient is rounded or limited first, and adding 1.5 * 2^23 rounds half to even.
  constexpr float kRound = 0x1.8p23f;
  const auto lo = static_cast<float>(coding.lowest() - coding.zero_point);
  const auto hi = static_cast<float>(coding.highest() - coding.zero_point);
  const float scale = coding.scale;
  for (float& v : t->reals) {
    const float q = v / scale;
    const float above = q >= lo ? q : lo;  // NaN, too, becomes the lowest
    const float limited = above > hi ? hi : above;
    v = ((limited + kRound) - kRound) * scale;
  }
}

RoundedConstants::RoundedConstants(const FloatModel& model, const Placement& placement,
                                   const Parameters& parameters, bool with_weights) {
  for (size_t i = 0; i < model.nodes.size(); ++i)
    add(i, model, placement, parameters, with_weights);
}

void RoundedConstants::add(size_t node, const FloatModel& model, const Placement& placement,
                           const Parameters& parameters, bool with_weights) {
  const Layer* layer = placement.layer_at(node);
  const auto found = layer ? parameters.layers.find(layer->node) : parameters.layers.end();
  if (found != parameters.layers.end()) {
    const LayerParameters& p = found->second;
    if (layer->node == node && with_weights)
      tensors_[{node, 1}] = coded_weights(*model.constant(layer->weights), layer->axis, p);
    if (layer->bias_node == node && layer->bias_input >= 0 && !p.bias.empty()) {
      Tensor bias;
      bias.shape = {static_cast<int64_t>(p.bias.size())};
      bias.reals = with_weights ? p.bias : real_bias(model, *layer);
      if (!bias.reals.empty())
        tensors_[{node, static_cast<size_t>(layer->bias_input)}] = std::move(bias);
    }
  }
  if (!with_weights || placement.float_nodes.count(node) != 0) return;
  const std::vector<std::string>& inputs = model.nodes[node].inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const auto coding = parameters.constants.find(inputs[k]);
    if (coding == parameters.constants.end()) continue;
    Tensor t = *model.constant(coding->first);
    round_tensor(coding->second, &t);
    tensors_[{node, k}] = std::move(t);
  }
}

const Tensor* RoundedConstants::find(size_t node, size_t k) const {
  const auto found = tensors_.find({node, k});
  return found == tensors_.end() ? nullptr : &found->second;
}

Simulation::Simulation(const FloatModel& model, const Placement& placement,
                       const Parameters& parameters, Interpreter* interpreter, Options options)
    : model_(model),
      placement_(placement),
      parameters_(parameters),
      interpreter_(interpreter),
      options_(std::move(options)),
      constants_(model, placement, parameters, options_.weights) {
  for (const size_t node : options_.exact_weights) constants_.remove(node, 1);
  for (size_t i = 0; i < model.nodes.size(); ++i)
    for (const std::string& name : model.nodes[i].inputs) last_reader_[name] = i;
  for (const Value& v : model.outputs) last_reader_[v.name] = model.nodes.size();
}

bool Simulation::is_rounded(const std::string& value) const {
  const auto coded = placement_.coded.find(value);
  return options_.activations && coded != placement_.coded.end() &&
         options_.exact.count(coded->second) == 0;
}

Status Simulation::run_node(size_t i, Values* live) {
  const Node& n = model_.nodes[i];
  std::vector<const Tensor*> inputs;
  for (size_t k = 0; k < n.inputs.size(); ++k) {
    const std::string& name = n.inputs[k];
    const Tensor* t = constants_.find(i, k);
    if (!t && !name.empty()) t = model_.constant(name);
    if (!t && !name.empty()) t = &live->at(name);
    inputs.push_back(t);
  }
  // A bias that correction has given to a layer without one.
  while (const Tensor* t = constants_.find(i, inputs.size())) inputs.push_back(t);
  std::vector<Tensor> outputs;
  QRT_TRY(interpreter_->run_node(n, inputs, &outputs));
  for (size_t k = 0; k < n.outputs.size(); ++k) {
    if (n.outputs[k].empty() || last_reader_.count(n.outputs[k]) == 0) continue;
    if (is_rounded(n.outputs[k]))
      round_tensor(parameters_.coding(placement_, n.outputs[k]), &outputs[k]);
    (*live)[n.outputs[k]] = std::move(outputs[k]);
  }
  for (const std::string& name : n.inputs)
    if (const auto last = last_reader_.find(name); last != last_reader_.end() && last->second == i)
      live->erase(name);
  return {};
}

Status Simulation::run(const Values& feeds, Values* outputs) {
  Values live = feeds;
  for (auto& [name, tensor] : live)
    if (is_rounded(name)) round_tensor(parameters_.coding(placement_, name), &tensor);
  for (size_t i = 0; i < model_.nodes.size(); ++i) QRT_TRY(run_node(i, &live));
  outputs->clear();
  for (const Value& v : model_.outputs)
    if (const auto found = live.find(v.name); found != live.end())
      (*outputs)[v.name] = found->second;
  return {};
}

}  // namespace qrt::quantize

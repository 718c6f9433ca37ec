// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ladder/sweep.h"

#include <algorithm>
#include <cmath>

#include "converter/quantize/float/hessian.h"

namespace qrt::quantize {
namespace {

constexpr size_t kMostSamples = 96, kLeastSamples = 4;
constexpr double kMostBytes = 96e6;  // of live values
// Layers with more weights for each output are rounded one by one: the work grows with the cube.
constexpr size_t kMostTerms = 2048;
// Samples on which codings are compared.
constexpr size_t kTrialSamples = 6;

double squares(const Tensor& t) {
  double sum = 0;
  for (const float v : t.reals) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

// Returns the output channel of each element: the elements behind the channel's dimension, and how
// many channels there are.
ChannelOrder channels_of(const Tensor& t, int dim) {
  const int at = dim < 0 ? static_cast<int>(t.shape.size()) + dim : dim;
  return channel_order(t, at);
}

// The weights of output o as a row: how far apart they lie, and where the first is.
struct RowOrder {
  size_t rows = 1, terms = 1, row_step = 1, term_step = 1;
};
RowOrder row_order(const Node& node, const Dims& weights) {
  RowOrder r;
  const auto first = static_cast<size_t>(weights[0]);
  const size_t rest = static_cast<size_t>(elements(weights)) / std::max<size_t>(first, 1);
  const bool out_first = node.op == "Conv" || (node.op == "Gemm" && node.integer("transB", 0) != 0);
  r.rows = out_first ? first : rest;
  r.terms = out_first ? rest : first;
  r.row_step = out_first ? rest : 1;
  r.term_step = out_first ? 1 : rest;
  return r;
}

}  // namespace

// Returns how many samples fit: each takes twice the bytes that are alive at the node where most are.
size_t Sweep::sample_count(size_t available) const {
  std::map<std::string, double> bytes;
  const auto size_of = [&](const std::string& name) {
    const auto v = model_.values.find(name);
    return v == model_.values.end() ? 4.0 : 4.0 * static_cast<double>(v->second.sample_elements());
  };
  double alive = 0, most = 1;
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    const Node& n = model_.nodes[i];
    for (const std::string& y : n.outputs) alive += bytes[y] = size_of(y);
    most = std::max(most, alive);
    for (const std::string& x : n.inputs) {
      const auto r = readers_.find(x);
      if (r == readers_.end() || r->second.back() != i) continue;
      alive -= bytes[x];
      bytes[x] = 0;
    }
  }
  const auto fit = static_cast<size_t>(kMostBytes / (2 * most));
  return std::min(available, std::clamp(fit, kLeastSamples, kMostSamples));
}

Status Sweep::load(Samples* samples, const std::vector<size_t>& which) {
  for (size_t s = 0; s < samples_; ++s) {
    Values feeds;
    QRT_TRY(samples->read(which[s * which.size() / samples_], &feeds));
    for (auto& [name, tensor] : feeds) {
      live_[name].real.push_back(tensor);
      live_[name].rounded.push_back(std::move(tensor));
    }
  }
  return {};
}

Status Sweep::run(Samples* samples, const std::vector<size_t>& which, const Work& work,
                  const Progress& progress, Parameters* parameters) {
  live_.clear();
  readers_.clear();
  errors_.clear();
  settled_.clear();
  for (size_t i = 0; i < model_.nodes.size(); ++i)
    for (const std::string& name : model_.nodes[i].inputs)
      if (!name.empty() && !model_.constant(name)) readers_[name].push_back(i);
  samples_ = sample_count(which.size());
  QRT_TRY(load(samples, which));
  for (const Value& input : model_.inputs)
    if (placement_.is_coded(input.name))
      QRT_TRY(settle(input.name, work, parameters, &live_[input.name]));
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    progress(work.name, static_cast<double>(i) / static_cast<double>(model_.nodes.size()));
    QRT_TRY(visit(i, work, parameters));
    release(i);
  }
  return {};
}

Status Sweep::run_node(size_t i, const RoundedConstants* constants, bool is_real,
                       std::vector<std::vector<Tensor>>* outputs) {
  const Node& n = model_.nodes[i];
  for (size_t s = 0; s < samples_; ++s) {
    std::vector<const Tensor*> inputs;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const Tensor* t = constants ? constants->find(i, k) : nullptr;
      if (!t && !n.inputs[k].empty()) t = model_.constant(n.inputs[k]);
      if (!t && !n.inputs[k].empty()) {
        const Outputs& p = live_.at(n.inputs[k]);
        t = &(is_real ? p.real : p.rounded)[s];
      }
      inputs.push_back(t);
    }
    for (const Tensor* t; constants && (t = constants->find(i, inputs.size()));)
      inputs.push_back(t);
    std::vector<Tensor> y;
    QRT_TRY(interpreter_->run_node(n, inputs, &y));
    for (size_t k = 0; k < y.size() && k < n.outputs.size(); ++k) {
      if (outputs->size() <= k) outputs->resize(k + 1);
      (*outputs)[k].push_back(std::move(y[k]));
    }
  }
  return {};
}

Status Sweep::visit(size_t i, const Work& work, Parameters* parameters) {
  const Node& n = model_.nodes[i];
  const Layer* layer = placement_.layer_at(i);  // whose weights or bias this node reads
  const bool is_quantised = layer && parameters->layers.count(layer->node) != 0;
  if (is_quantised && layer->node == i) {
    // The unit of the layer's bias may have changed.
    if (work.choices)
      quantise_layer(model_, *layer, scheme_, parameters->coding(placement_, layer->input),
                     parameters);
    if (work.round_weights) QRT_TRY(round_layer(*layer, parameters));
  }
  RoundedConstants constants;
  constants.add(i, model_, placement_, *parameters, true);
  std::vector<std::vector<Tensor>> real, rounded;
  QRT_TRY(run_node(i, nullptr, true, &real));
  QRT_TRY(run_node(i, &constants, false, &rounded));
  for (size_t k = 0; k < n.outputs.size() && k < real.size(); ++k) {
    const std::string& name = n.outputs[k];
    if (name.empty()) continue;
    Outputs y = {std::move(real[k]), std::move(rounded[k])};
    if (work.correct_biases && is_quantised && layer->bias_node == i && layer->bias_input >= 0)
      correct_bias(*layer, &y, parameters);
    if (placement_.is_coded(name)) QRT_TRY(settle(name, work, parameters, &y));
    if (readers_.count(name) != 0) live_[name] = std::move(y);
  }
  return {};
}

Status Sweep::round_layer(const Layer& layer, Parameters* parameters) {
  const Node& node = model_.nodes[layer.node];
  const Tensor& weights = *model_.constant(layer.weights);
  LayerParameters& p = parameters->layers.at(layer.node);
  if (node.op == "ConvTranspose" || layer.axis < 0 || p.bits > 8) return {};
  const RowOrder order = row_order(node, weights.shape);
  if (order.terms > kMostTerms || order.terms < 2) return {};
  Gram gram;
  for (const Tensor& x : live_.at(layer.input).rounded)
    QRT_TRY(add_gram(node, x, weights.shape, &gram));
  const auto groups = static_cast<size_t>(gram.groups), rows = order.rows / groups;
  const int most = (1 << (p.bits - 1)) - 1;
  std::vector<float> w(rows * order.terms), scale(rows);
  std::vector<int32_t> q(w.size());
  for (size_t g = 0; g < groups; ++g) {
    const auto at = [&](size_t r, size_t t) {
      return (g * rows + r) * order.row_step + t * order.term_step;
    };
    for (size_t r = 0; r < rows; ++r) {
      scale[r] = p.scale[p.scale.size() > 1 ? g * rows + r : 0];
      for (size_t t = 0; t < order.terms; ++t) w[r * order.terms + t] = weights.reals[at(r, t)];
    }
    QRT_TRY(round_weights(w.data(), static_cast<int64_t>(rows), static_cast<int64_t>(order.terms),
                          gram.sums.data() + g * order.terms * order.terms, scale.data(), -most,
                          most, q.data()));
    for (size_t r = 0; r < rows; ++r)
      for (size_t t = 0; t < order.terms; ++t)
        p.codes[at(r, t)] = static_cast<int16_t>(q[r * order.terms + t]);
  }
  return {};
}

// The mean of the error over samples and places, of each channel.
void Sweep::correct_bias(const Layer& layer, Outputs* y, Parameters* parameters) {
  const ChannelOrder order = channels_of(y->real[0], layer.channel_dim);
  std::vector<double> sum(order.channels), n(order.channels);
  for (size_t s = 0; s < samples_; ++s) {
    const Tensor &a = y->real[s], &b = y->rounded[s];
    for (size_t e = 0; e < a.reals.size(); ++e) {
      if (!std::isfinite(a.reals[e]) || !std::isfinite(b.reals[e])) continue;
      sum[order.of(e)] += static_cast<double>(a.reals[e]) - static_cast<double>(b.reals[e]);
      ++n[order.of(e)];
    }
  }
  LayerParameters& p = parameters->layers.at(layer.node);
  if (p.bias.empty()) {
    if (layer.bias_node != layer.node) return;
    p.bias.resize(order.channels);
  }
  if (p.bias.size() != order.channels) return;
  std::vector<float> shift(order.channels);
  for (size_t c = 0; c < shift.size(); ++c) {
    shift[c] = n[c] > 0 ? static_cast<float>(sum[c] / n[c]) : 0.0f;
    p.bias[c] += shift[c];
  }
  for (Tensor& t : y->rounded)
    for (size_t e = 0; e < t.reals.size(); ++e) t.reals[e] += shift[order.of(e)];
}

// A layer that reads a tensor, and what its results are without the tensor's rounding.
struct Sweep::Behind {
  const Layer* layer = nullptr;
  std::vector<double> power;  // by sample
};

Status Sweep::layers_behind(const std::string& name, const Outputs& pair, size_t n,
                            std::vector<Behind>* behind) {
  const auto readers = readers_.find(name);
  if (readers == readers_.end()) return {};
  for (const size_t r : readers->second) {
    const Layer* layer = placement_.layer_of(r);
    if (!layer || layer->input != name) continue;
    behind->push_back({layer, {}});
    for (size_t s = 0; s < n; ++s) {
      std::vector<Tensor> y;
      QRT_TRY(interpreter_->run_node(model_.nodes[r],
                                     {&pair.rounded[s], model_.constant(layer->weights)}, &y));
      behind->back().power.push_back(squares(y[0]));
    }
  }
  return {};
}

// Noise : signal behind the layers that read a tensor, if its own rounding were the only one. A
// layer is linear: what it makes of the difference is the difference of its results.
Status Sweep::error_behind(const Coding& coding, const Outputs& pair, size_t n, bool only_layers,
                           const std::vector<Behind>& behind, double* error) {
  *error = 0;
  for (size_t s = 0; s < n; ++s) {
    Tensor difference = pair.rounded[s];
    round_tensor(coding, &difference);
    for (size_t e = 0; e < difference.reals.size(); ++e)
      difference.reals[e] -= pair.rounded[s].reals[e];
    for (const Behind& b : behind) {
      std::vector<Tensor> y;
      QRT_TRY(interpreter_->run_node(model_.nodes[b.layer->node],
                                     {&difference, model_.constant(b.layer->weights)}, &y));
      if (b.power[s] > 0) *error += squares(y[0]) / b.power[s];
    }
    const double signal = squares(pair.rounded[s]);
    if (!only_layers && signal > 0) *error += squares(difference) / signal;
  }
  return {};
}

Status Sweep::choose(const std::string& name, const std::vector<RangeChoice>& choices,
                     const Outputs& pair, RangeChoice* best) {
  const size_t n = std::min(samples_, kTrialSamples);
  std::vector<Behind> behind;
  QRT_TRY(layers_behind(name, pair, n, &behind));
  const auto readers = readers_.find(name);
  const bool only_layers =
      !behind.empty() && readers != readers_.end() && readers->second.size() == behind.size();
  double least = HUGE_VAL;
  for (const RangeChoice& c : choices) {
    double error;
    QRT_TRY(error_behind(c.coding, pair, n, only_layers, behind, &error));
    if (error < least) {
      least = error;
      *best = c;
    }
  }
  return {};
}

// Chooses the coding that a tensor keeps, and rounds the tensor by it.
Status Sweep::settle(const std::string& name, const Work& work, Parameters* parameters,
                     Outputs* pair) {
  const std::string& root = placement_.coded.at(name);
  if (work.choices && settled_.insert(root).second) {
    const auto found = work.choices->find(root);
    if (found != work.choices->end() && found->second.size() > 1) {
      RangeChoice best = found->second[0];
      QRT_TRY(choose(name, found->second, *pair, &best));
      parameters->codings[root] = best.coding;
      rules_[root] = best.rule;
    }
  }
  const Coding& coding = parameters->codings.at(root);
  double signal = 0, alone = 0, cumulative = 0, sum = 0, shift = 0, n = 0;
  for (size_t s = 0; s < samples_; ++s) {
    round_tensor(coding, &pair->rounded[s]);
    Tensor by_itself = pair->real[s];
    round_tensor(coding, &by_itself);
    const std::vector<float>&a = pair->real[s].reals, &b = pair->rounded[s].reals;
    for (size_t e = 0; e < a.size(); ++e) {
      if (!std::isfinite(a[e])) continue;  // as in the ranges
      const auto x = static_cast<double>(a[e]), d = static_cast<double>(b[e]) - x;
      const double r = static_cast<double>(by_itself.reals[e]) - x;
      signal += x * x;
      alone += r * r;
      cumulative += d * d;
      sum += x;
      shift += d;
      ++n;
    }
  }
  TensorError& e = errors_[name];
  const double variance = n > 0 ? signal / n - sum / n * (sum / n) : 0;
  e.alone = signal > 0 ? alone / signal : 0;
  e.cumulative = signal > 0 ? cumulative / signal : 0;
  e.mean_shift = variance > 0 ? shift / n / std::sqrt(variance) : 0;
  return {};
}

void Sweep::release(size_t i) {
  for (const std::string& name : model_.nodes[i].inputs)
    if (const auto r = readers_.find(name); r != readers_.end() && r->second.back() == i)
      live_.erase(name);
}

}  // namespace qrt::quantize

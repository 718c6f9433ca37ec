// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/equalise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "converter/quantize/float/channel_weights.h"
#include "converter/quantize/float/graph.h"

namespace qrt::quantize {
namespace {

// Passes over all pairs until their factors are near 1: each pair's factors depend on its neighbours'.
constexpr int kMaxRounds = 20;
constexpr double kSettled = 1.01;
// Greater factors are those of dead channels.
constexpr double kMaxFactor = 1 << 20;
// The number of deviations that is taken for the greatest of values of mean 0 and deviation 1.
constexpr double kDeviations = 4;

// A value whose channels can be scaled, with its writer and readers.
struct Site {
  std::string value;  // that the readers read
  size_t writer = 0;
  bool is_norm = false;  // the writer is a LayerNormalization; else a layer
  std::vector<size_t> readers;
};

class Equaliser {
 public:
  Equaliser(const EqualiseOptions& options, FloatModel* model)
      : options_(options), model_(model), editor_(model) {}

  int run() {
    if (options_.relax_limits) relax();
    find_sites();
    own_constants();
    std::set<std::string> changed;
    for (int round = 0; round < kMaxRounds; ++round) {
      double most = 1;
      for (const Site& site : sites_) {
        const double factor = settle(site, round);
        if (factor > kSettled) changed.insert(site.value);
        most = std::max(most, factor);
      }
      if (most <= kSettled) break;
    }
    editor_.finish();
    return static_cast<int>(changed.size());
  }

 private:
  const Node& node(size_t i) const { return model_->nodes[i]; }
  const Node& sole_reader(const std::string& value) const {
    return node(editor_.readers(value).begin()->node);
  }
  Tensor& constant(const std::string& name) { return model_->constants.find(name)->second; }
  const Dims* shape(const std::string& name) const {
    const auto found = model_->values.find(name);
    return found == model_->values.end() ? nullptr : &found->second.shape;
  }

  // Returns whether f(a x) = a f(x) for each channel and any a > 0.
  bool only_scales(const Node& n) const {
    if (n.op == "Relu" || n.op == "LeakyRelu" || n.op == "MaxPool" || n.op == "AveragePool" ||
        n.op == "GlobalAveragePool" || n.op == "GlobalMaxPool" || n.op == "Resize")
      return true;
    if (n.op != "Flatten" && n.op != "Reshape") return false;
    const Dims *x = shape(n.inputs[0]), *y = shape(n.outputs[0]);
    return x && y && x->size() >= 2 && y->size() == 2 && (*x)[1] == (*y)[1] &&
           std::all_of(x->begin() + 2, x->end(), [](int64_t d) { return d == 1; });
  }

  void relax() {
    for (size_t i = 0; i < model_->nodes.size(); ++i) {
      Node& n = model_->nodes[i];
      const Tensor* lo = n.op == "Clip" && n.has_input(1) ? model_->constant(n.inputs[1]) : nullptr;
      if (!lo || !lo->is_real() || lo->size() != 1 || lo->reals[0] != 0) continue;
      const int w = editor_.writer(n.inputs[0]);
      ChannelWeights weights;
      if (w < 0 || !ChannelWeights::of(*model_, node(static_cast<size_t>(w)), &weights) ||
          !editor_.is_read_once(n.inputs[0]) || !all_layers(n.outputs[0], weights.outputs()))
        continue;
      n.op = "Relu";
      editor_.resize_inputs(i, 1);
    }
  }

  // Returns whether the value is read by layers alone, as what they multiply.
  bool all_layers(const std::string& value, size_t channels) const {
    if (editor_.is_output(value) || editor_.readers(value).empty()) return false;
    for (const Read& r : editor_.readers(value)) {
      ChannelWeights weights;
      const Node& n = node(r.node);
      if (n.inputs[0] != value || !ChannelWeights::of(*model_, n, &weights) ||
          weights.inputs() != channels)
        return false;
    }
    return true;
  }

  void find_sites() {
    for (size_t i = 0; i < model_->nodes.size(); ++i) {
      Site site;
      ChannelWeights weights;
      if (node(i).op != "MatMul" && ChannelWeights::of(*model_, node(i), &weights)) {
        site.writer = i;
        site.value = node(i).outputs[0];
        while (editor_.is_read_once(site.value) && only_scales(sole_reader(site.value)))
          site.value = sole_reader(site.value).outputs[0];
        if (!all_layers(site.value, weights.outputs())) continue;
      } else if (!find_norm(i, &site)) {
        continue;
      }
      for (const Read& r : editor_.readers(site.value)) site.readers.push_back(r.node);
      sites_.push_back(std::move(site));
    }
  }

  // Finds a LayerNormalization over the last dimension in front of products with constants. Returns
  // false where node i is none.
  bool find_norm(size_t i, Site* site) const {
    const Node& n = node(i);
    const auto line = [&](size_t at) {
      const Tensor* c = n.has_input(at) ? model_->constant(n.inputs[at]) : nullptr;
      return c && c->is_real() && c->shape.size() == 1 && c->size() > 1 ? c->size() : 0;
    };
    const int64_t channels = line(1);
    if (n.op != "LayerNormalization" || n.integer("axis", -1) != -1 || channels == 0 ||
        (n.has_input(2) && line(2) != channels))
      return false;
    site->writer = i;
    site->is_norm = true;
    site->value = n.outputs[0];
    for (const Read& r : editor_.readers(site->value))
      if (node(r.node).op != "MatMul" && node(r.node).op != "Gemm") return false;
    return all_layers(site->value, static_cast<size_t>(channels));
  }

  // Gives every node that shares a constant a copy of its own, as constants are changed in place.
  void own_constants() {
    std::set<std::string> shared;
    for (const auto& [name, tensor] : model_->constants)
      if (editor_.readers(name).size() > 1) shared.insert(name);
    const auto own = [&](size_t i, size_t at) {
      const Node& n = node(i);
      if (n.has_input(at) && shared.count(n.inputs[at]) != 0)
        editor_.set_constant(i, at, Tensor(constant(n.inputs[at])));
    };
    for (const Site& site : sites_) {
      own(site.writer, 1);
      own(site.writer, 2);
      for (size_t r : site.readers) own(r, 1);
    }
  }

  std::vector<double> written(const Site& site, int round) {
    if (const auto given = options_.maxima.find(site.value); given != options_.maxima.end()) {
      // The first round takes the maximum that was given; later ones follow the factors.
      if (round == 0) seen_[site.value].assign(given->second.begin(), given->second.end());
      return seen_[site.value];
    }
    const Node& writer = node(site.writer);
    if (site.is_norm) {
      const Tensor& scale = constant(writer.inputs[1]);
      const Tensor* shift = writer.has_input(2) ? &constant(writer.inputs[2]) : nullptr;
      std::vector<double> most;
      for (size_t c = 0; c < scale.reals.size(); ++c)
        most.push_back(kDeviations * std::fabs(static_cast<double>(scale.reals[c])) +
                       (shift ? std::fabs(static_cast<double>(shift->reals[c])) : 0.0));
      return most;
    }
    ChannelWeights weights;
    if (!ChannelWeights::of(*model_, writer, &weights)) return {};
    return output_maxima(weights, constant(writer.inputs[1]));
  }

  // Factors that make what the value's writer gives of a channel as large as what its readers take.
  double settle(const Site& site, int round) {
    const std::vector<double> own = written(site, round);
    std::vector<double> read(own.size(), 0.0);
    for (size_t r : site.readers) {
      ChannelWeights weights;
      if (!ChannelWeights::of(*model_, node(r), &weights)) return 1;
      const auto most = input_maxima(weights, constant(node(r).inputs[1]));
      if (most.size() != own.size()) return 1;
      for (size_t c = 0; c < own.size(); ++c) read[c] = std::max(read[c], most[c]);
    }
    std::vector<double> factors(own.size(), 1.0);
    double most = 1;
    for (size_t c = 0; c < own.size(); ++c) {
      const double f = std::sqrt(own[c] / read[c]);
      if (!(own[c] > 0) || !(read[c] > 0) || !(f < kMaxFactor) || !(f > 1 / kMaxFactor)) continue;
      factors[c] = f;
      most = std::max(most, std::max(f, 1 / f));
    }
    if (most > kSettled) apply(site, factors);
    return most;
  }

  static void divide(const std::vector<double>& factors, Tensor* line) {
    for (size_t c = 0; c < line->reals.size(); ++c)
      line->reals[c] = static_cast<float>(static_cast<double>(line->reals[c]) / factors[c]);
  }

  void apply(const Site& site, const std::vector<double>& factors) {
    const Node& writer = node(site.writer);
    Tensor& w = constant(writer.inputs[1]);
    if (site.is_norm) {
      divide(factors, &w);
    } else {
      ChannelWeights weights;
      if (!ChannelWeights::of(*model_, writer, &weights)) return;
      for (size_t i = 0; i < w.reals.size(); ++i)
        w.reals[i] =
            static_cast<float>(static_cast<double>(w.reals[i]) / factors[weights.output_of(i)]);
    }
    if (writer.has_input(2) && constant(writer.inputs[2]).reals.size() == factors.size())
      divide(factors, &constant(writer.inputs[2]));
    for (size_t r : site.readers) {
      ChannelWeights weights;
      if (!ChannelWeights::of(*model_, node(r), &weights)) return;
      Tensor& w = constant(node(r).inputs[1]);
      for (size_t i = 0; i < w.reals.size(); ++i)
        w.reals[i] =
            static_cast<float>(static_cast<double>(w.reals[i]) * factors[weights.input_of(i)]);
    }
    if (const auto seen = seen_.find(site.value); seen != seen_.end())
      for (size_t c = 0; c < factors.size(); ++c) seen->second[c] /= factors[c];
  }

  const EqualiseOptions& options_;
  FloatModel* const model_;
  GraphEditor editor_;
  std::vector<Site> sites_;
  std::map<std::string, std::vector<double>> seen_;
};

}  // namespace

Status equalise(const EqualiseOptions& options, FloatModel* model, int* changed) {
  *changed = Equaliser(options, model).run();
  return Status();
}

}  // namespace qrt::quantize

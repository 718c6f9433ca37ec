// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/tensors.h"

#include <algorithm>
#include <cmath>

#include "converter/quantize/ranges/rules.h"

namespace qrt::quantize {
namespace {

// Beyond these a remedy is named: see tests/quantize and converter/quantize/README.md.
constexpr double kMuchClipped = 0.001, kMuchShift = 0.1, kMuchNoise = 0.01;
constexpr double kWorstChannelFactor = 30;

// Returns the node that writes each value, by value.
std::map<std::string, size_t> writers_of(const FloatModel& model) {
  std::map<std::string, size_t> writers;
  for (size_t i = 0; i < model.nodes.size(); ++i)
    for (const std::string& y : model.nodes[i].outputs) writers.emplace(y, i);
  return writers;
}

// Returns the layer whose sum a value is, perhaps behind a limit.
const Layer* layer_before(const FloatModel& model, const Placement& placement,
                          const std::map<std::string, size_t>& writers, std::string value) {
  for (int steps = 0; steps < 3; ++steps) {
    const auto writer = writers.find(value);
    if (writer == writers.end()) return nullptr;
    const Layer* layer = placement.layer_at(writer->second);
    if (layer && layer->output == value) return layer;
    const Node& limit = model.nodes[writer->second];
    if (limit.op != "Relu" && limit.op != "Clip") return nullptr;
    value = limit.inputs[0];
  }
  return nullptr;
}

// Finds the channel whose weights have the greatest ratio of noise to signal, and the median of all
// channels' ratios.
void find_worst_channel(const FloatModel& model, const Layer& layer, const LayerParameters& p,
                        TensorFinding* t, double* median) {
  const Tensor& w = *model.constant(layer.weights);
  const Tensor rounded = coded_weights(w, layer.axis, p);
  const ChannelOrder order = channel_order(w, layer.axis);
  std::vector<double> signal(order.channels), noise(order.channels);
  for (size_t i = 0; i < w.reals.size(); ++i) {
    const auto x = static_cast<double>(w.reals[i]), d = static_cast<double>(rounded.reals[i]) - x;
    signal[order.of(i)] += x * x;
    noise[order.of(i)] += d * d;
  }
  std::vector<double> all;
  for (size_t c = 0; c < order.channels; ++c) {
    const double ratio = signal[c] > 0 ? noise[c] / signal[c] : 0;
    all.push_back(ratio);
    if (ratio < t->worst_channel_noise && t->worst_channel >= 0) continue;
    t->worst_channel = static_cast<int>(c);
    t->worst_channel_noise = ratio;
  }
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  *median = all[all.size() / 2];
}

double headroom(const LayerParameters& p, float input_scale) {
  int64_t most = 1;
  for (const int32_t b : bias_codes(p, input_scale))
    most = std::max(most, std::abs(static_cast<int64_t>(b)));
  return 31 - std::log2(static_cast<double>(most));
}

int codes_used(const Histogram& h, const Coding& c) {
  return h.total() == 0 ? 0 : c.code(h.hi()) - c.code(h.lo()) + 1;
}

// Names nothing that this run has tried already, or that the scheme has not.
std::string remedy(const TensorFinding& t, double median_channel, const Remedies& remedies) {
  const std::string wider = !remedies.has_16_bits  ? "scheme ort-u8"
                            : remedies.has_classes ? "16 bits (--max-drop)"
                                                   : "16 bits (--min-sqnr)";
  if (t.worst_channel >= 0 && t.worst_channel_noise > kWorstChannelFactor * median_channel)
    return remedies.has_ladder ? wider : "equalise (--ladder fast)";
  if (t.alone > kMuchNoise) return t.is_promoted ? "more samples" : wider;
  if (std::fabs(t.mean_shift) > kMuchShift)
    return remedies.has_ladder ? "more samples" : "bias correction (--ladder fast)";
  if (t.clipped > kMuchClipped) return "more samples";
  return "";
}

}  // namespace

std::vector<TensorFinding> tensor_findings(const FloatModel& model, const Placement& placement,
                                           const Parameters& parameters,
                                           const Calibration& calibration,
                                           const std::map<std::string, Rule>& rules,
                                           const std::map<std::string, TensorError>& errors,
                                           const Remedies& remedies) {
  const std::map<std::string, size_t> writers = writers_of(model);
  std::vector<TensorFinding> result;
  for (const auto& [name, error] : errors) {
    const std::string& root = placement.coded.at(name);
    if (root != name) continue;
    TensorFinding t;
    t.name = name;
    const auto writer = writers.find(name);
    t.op = writer == writers.end() ? "input" : model.nodes[writer->second].op;
    t.coding = parameters.codings.at(root);
    const auto rule = rules.find(root);
    if (rule != rules.end()) t.rule = rule_name(rule->second);
    t.alone = error.alone;
    t.cumulative = error.cumulative;
    t.mean_shift = error.mean_shift;
    if (const auto h = calibration.find(root); h != calibration.end()) {
      t.histogram = h->second;
      t.clipped = clipped_fraction(h->second, t.coding);
      t.codes_used = codes_used(h->second, t.coding);
      t.bad = h->second.extent().bad;
    }
    double median = 0;
    if (const Layer* layer = layer_before(model, placement, writers, name)) {
      const LayerParameters& p = parameters.layers.at(layer->node);
      find_worst_channel(model, *layer, p, &t, &median);
      t.bias_headroom = headroom(p, parameters.coding(placement, layer->input).scale);
    }
    t.is_promoted = t.coding.bits == 16;
    t.remedy = remedy(t, median, remedies);
    result.push_back(std::move(t));
  }
  std::stable_sort(
      result.begin(), result.end(),
      [](const TensorFinding& a, const TensorFinding& b) { return a.alone > b.alone; });
  return result;
}

}  // namespace qrt::quantize

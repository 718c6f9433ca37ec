// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/channel_weights.h"

#include <algorithm>
#include <cmath>

namespace qrt::quantize {

bool ChannelWeights::of(const FloatModel& model, const Node& node, ChannelWeights* weights) {
  if (!node.domain.empty() || !node.has_input(1)) return false;
  const Tensor* w = model.constant(node.inputs[1]);
  if (w == nullptr || !w->is_real() || w->shape.size() < 2 || w->size() == 0) return false;
  if (node.has_input(2) && model.constant(node.inputs[2]) == nullptr) return false;
  const auto size = [&](size_t d) { return static_cast<size_t>(w->shape[d]); };
  ChannelWeights& c = *weights;
  c = ChannelWeights();
  c.inner_ = w->reals.size() / size(0) / size(1);
  if (node.op == "Conv" || node.op == "ConvTranspose") {
    c.groups_ = static_cast<size_t>(node.integer("group", 1));
    const bool transposed = node.op == "ConvTranspose";
    c.order_ = transposed ? Order::kInputsFirst : Order::kOutputsFirst;
    c.outputs_ = transposed ? size(1) * c.groups_ : size(0);
    c.inputs_ = transposed ? size(0) : size(1) * c.groups_;
    return true;
  }
  if (w->shape.size() != 2) return false;
  const bool is_gemm = node.op == "Gemm" && node.integer("transA", 0) == 0 &&
                       node.real("alpha", 1) == 1 && node.real("beta", 1) == 1;
  if (!is_gemm && node.op != "MatMul") return false;
  const bool turned = is_gemm && node.integer("transB", 0) != 0;
  c.order_ = turned ? Order::kOutputsFirst : Order::kInputsFirst;
  c.outputs_ = size(turned ? 0 : 1);
  c.inputs_ = size(turned ? 1 : 0);
  return true;
}

size_t ChannelWeights::input_of(size_t i) const {
  const size_t outputs = outputs_ / groups_, inputs = inputs_ / groups_;
  if (order_ == Order::kInputsFirst) return i / inner_ / outputs;
  return i / inner_ / inputs / outputs * inputs + i / inner_ % inputs;
}

size_t ChannelWeights::output_of(size_t i) const {
  const size_t outputs = outputs_ / groups_, inputs = inputs_ / groups_;
  if (order_ == Order::kOutputsFirst) return i / inner_ / inputs;
  return i / inner_ / outputs / inputs * outputs + i / inner_ % outputs;
}

std::vector<double> output_maxima(const ChannelWeights& weights, const Tensor& w) {
  std::vector<double> most(weights.outputs(), 0.0);
  for (size_t i = 0; i < w.reals.size(); ++i) {
    double& m = most[weights.output_of(i)];
    m = std::max(m, std::fabs(static_cast<double>(w.reals[i])));
  }
  return most;
}

std::vector<double> input_maxima(const ChannelWeights& weights, const Tensor& w) {
  std::vector<double> most(weights.inputs(), 0.0);
  for (size_t i = 0; i < w.reals.size(); ++i) {
    double& m = most[weights.input_of(i)];
    m = std::max(m, std::fabs(static_cast<double>(w.reals[i])));
  }
  return most;
}

}  // namespace qrt::quantize

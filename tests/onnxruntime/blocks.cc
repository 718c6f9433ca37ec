// SPDX-License-Identifier: Apache-2.0
// Several layers at once, as networks have them.
#include <algorithm>
#include <cmath>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

// Returns a convolution of k taps along each dimension that keeps the image's size; *amplitude:
// that of its result.
std::string GraphMaker::conv_of(size_t x, int64_t outputs, int64_t k, int64_t group,
                                double* amplitude) {
  const Live in = live_[x];
  const size_t n = in.dims.size() - 2;
  Dims shape = {outputs, in.dims[1] / group};
  shape.resize(n + 2, k);
  const Weights w = layer_weights(shape, 0);
  *amplitude =
      in.amplitude * w.amplitude * std::sqrt(static_cast<double>(elements(shape) / outputs)) * 0.4;
  Names inputs = {read(x), real(w)};
  if (dice_.coin()) inputs.push_back(bias(w, in.quant.scale, outputs, *amplitude * 0.5));
  const int64_t pad = k / 2;
  std::vector<Attr> attributes = {Attr("kernel_shape", Dims(n, k)), Attr("pads", Dims(2 * n, pad))};
  if (group > 1) attributes.push_back(Attr("group", group));
  return b_.node("Conv", inputs, attributes);
}

bool GraphMaker::residual_block() {
  const size_t x = pick({4, 4, 5});
  const Live in = live_[x];
  double amplitude;
  std::string y = conv_of(x, in.dims[1], 3, 1, &amplitude);
  if (dice_.coin()) y = b_.node("Relu", {y});
  const size_t made = quantise(y, in.dims, amplitude, in.has_batch);
  const std::string a = read(made), b = read(x);
  return finish(b_.node("Add", {a, b}), in.dims, amplitude + in.amplitude, in.has_batch);
}

bool GraphMaker::separable_block() {
  const size_t x = pick({4, 4, 5});
  const Live in = live_[x];
  double amplitude;
  std::string y = conv_of(x, in.dims[1], 3, in.dims[1], &amplitude);
  const float six = static_cast<float>(amplitude * 0.8);
  y = opset_ < 11 ? b_.node("Clip", {y}, {Attr("min", 0.0f), Attr("max", six)})
                  : b_.node("Clip", {y, b_.scalar(0.0f), b_.scalar(six)});
  const Quant q = random_quant(six, true);
  const size_t made = quantise(y, in.dims, six, in.has_batch, &q);
  const int64_t m = dice_.integer(1, 12);
  y = conv_of(made, m, 1, 1, &amplitude);
  Dims last = in.dims;
  last[1] = m;
  return finish(y, last, amplitude, in.has_batch);
}

// Adds the block of ResNeXt and ShuffleNet: a convolution in groups, and sometimes a channel shuffle behind it.
bool GraphMaker::grouped_block() {
  const size_t x = pick({4});
  const Live in = live_[x];
  const int64_t group = dice_.pick<int64_t>({2, 4, 8, 16});
  const int64_t channels = group * dice_.pick<int64_t>({1, 2, 3, 4}),
                outputs = group * dice_.pick<int64_t>({1, 2, 4});
  if (channels * in.dims[2] * in.dims[3] > 8000) return false;
  double amplitude;
  std::string y = conv_of(x, channels, 1, 1, &amplitude);
  const bool positive = dice_.coin();
  if (positive) y = b_.node("Relu", {y});
  const Quant q = random_quant(amplitude, positive);
  const size_t wide =
      quantise(y, {in.dims[0], channels, in.dims[2], in.dims[3]}, amplitude, in.has_batch, &q);
  y = conv_of(wide, outputs, dice_.pick<int64_t>({1, 3, 3, 5}), group, &amplitude);
  const Dims made = {in.dims[0], outputs, in.dims[2], in.dims[3]};
  if (!dice_.coin()) return finish(y, made, amplitude, in.has_batch);
  size_t shuffled = quantise(y, made, amplitude, in.has_batch);
  y = read(shuffled);
  const Quant same = live_[shuffled].quant;
  const bool pairs_between = dice_.coin();
  const auto stored = [&](const std::string& real) {
    return pairs_between ? dequantise_node(quantise_node(real, same), same) : real;
  };
  const int64_t first = in.has_batch ? dice_.pick<int64_t>({-1, 0}) : in.dims[0];
  y = stored(
      b_.node("Reshape", {y, integers64({first, group, outputs / group, in.dims[2], in.dims[3]})}));
  y = stored(b_.node("Transpose", {y}, {Attr("perm", Dims{0, 2, 1, 3, 4})}));
  y = b_.node("Reshape", {y, integers64({first, outputs, in.dims[2], in.dims[3]})});
  shuffled = quantise(y, made, amplitude, in.has_batch, &same);
  return true;
}

// Adds the block of MobileNetV3 and EfficientNet: channels weighted by a small network's function
// of their means.
bool GraphMaker::squeeze_block() {
  const size_t x = pick({4});
  const Live in = live_[x];
  const Dims means = {in.dims[0], in.dims[1], 1, 1};
  const std::string source = read(x);
  std::string y = b_.node("GlobalAveragePool", {source});
  if (dice_.one_in(3)) {
    const std::vector<Attr> keep = {Attr("keepdims", 1)};
    y = opset_ < 18 ? b_.node("ReduceMean", {source}, {Attr("axes", Dims{2, 3}), keep[0]})
                    : b_.node("ReduceMean", {source, integers64({2, 3})}, keep);
  }
  const size_t mean = quantise(y, means, in.amplitude, in.has_batch);
  const int64_t narrow = dice_.integer(1, 8);
  double amplitude;
  y = b_.node("Relu", {conv_of(mean, narrow, 1, 1, &amplitude)});
  const Quant q = random_quant(amplitude, true);
  const size_t inner = quantise(y, {in.dims[0], narrow, 1, 1}, amplitude, in.has_batch, &q);
  y = conv_of(inner, in.dims[1], 1, 1, &amplitude);
  const size_t logits = quantise(y, means, amplitude, in.has_batch);
  y = b_.node(opset_ >= 14 && dice_.coin() ? "HardSigmoid" : "Sigmoid", {read(logits)});
  const Quant unit = random_quant(1, true);
  const size_t weight = quantise(y, means, 1, in.has_batch, &unit);
  const std::string a = read(weight), b = read(x);
  return finish(b_.node("Mul", dice_.coin() ? Names{a, b} : Names{b, a}), in.dims, in.amplitude,
                in.has_batch);
}

// Adds a transformer's attention: projections, heads by Reshape and Transpose, Softmax of their products.
bool GraphMaker::attention_block() {
  const size_t x = pick({3});
  const Live in = live_[x];
  const int64_t tokens = in.dims[1], channels = in.dims[2], heads = dice_.integer(1, 3),
                depth = dice_.integer(1, 4), width = heads * depth;
  const int64_t first = in.has_batch ? dice_.pick<int64_t>({-1, 0}) : in.dims[0];
  const Dims split = {in.dims[0], heads, tokens, depth};
  // x times a matrix, as heads: [batch, heads, tokens, depth], or turned for the keys.
  const auto project = [&](bool turned) {
    const Weights w = layer_weights({channels, width}, 1);
    const double amplitude =
        in.amplitude * w.amplitude * std::sqrt(static_cast<double>(channels)) * 0.4;
    std::string y = b_.node("MatMul", {read(x), real(w)});
    if (dice_.coin()) y = b_.node("Add", {y, bias(w, in.quant.scale, width, amplitude * 0.5)});
    const size_t flat = quantise(y, {in.dims[0], tokens, width}, amplitude, in.has_batch);
    const Quant q = live_[flat].quant;
    y = b_.node("Reshape", {read(flat), integers64({first, tokens, heads, depth})});
    if (dice_.coin()) y = dequantise_node(quantise_node(y, q), q);
    y = b_.node("Transpose", {y}, {Attr("perm", turned ? Dims{0, 2, 3, 1} : Dims{0, 2, 1, 3})});
    const Dims dims = turned ? Dims{in.dims[0], heads, depth, tokens} : split;
    return quantise(y, dims, amplitude, in.has_batch, &q);
  };
  const size_t queries = project(false), keys = project(true), values = project(false);
  // A signed right side may saturate where ONNX Runtime sums pairs in 16 bits.
  if (options_.pair_safe && (live_[keys].quant.type == kInt8 || live_[values].quant.type == kInt8))
    return true;
  double amplitude = live_[queries].amplitude * live_[keys].amplitude *
                     std::sqrt(static_cast<double>(depth)) * 0.5;
  const std::string a = read(queries), b = read(keys);
  std::string y = b_.node("MatMul", {a, b});
  const Dims square = {in.dims[0], heads, tokens, tokens};
  size_t scores = quantise(y, square, amplitude, in.has_batch);
  if (dice_.coin()) {
    const float root = std::sqrt(static_cast<float>(depth));
    y = b_.node("Div", {read(scores), b_.scalar(root)});
    amplitude /= static_cast<double>(root);
    scores = quantise(y, square, amplitude, in.has_batch);
  }
  y = b_.node("Softmax", {read(scores)}, {Attr("axis", 3)});
  const Quant unit = random_quant(1, true);
  const size_t shares = quantise(y, square, 1, in.has_batch, &unit);
  amplitude = live_[values].amplitude;
  const std::string c = read(shares), d = read(values);
  const size_t mixed = quantise(b_.node("MatMul", {c, d}), split, amplitude, in.has_batch);
  const Quant q = live_[mixed].quant;
  y = b_.node("Transpose", {read(mixed)}, {Attr("perm", Dims{0, 2, 1, 3})});
  if (dice_.coin()) y = dequantise_node(quantise_node(y, q), q);
  y = b_.node("Reshape", {y, integers64({first, tokens, width})});
  quantise(y, {in.dims[0], tokens, width}, amplitude, in.has_batch, &q);
  return true;
}

// Adds YOLO's block: channels split into uneven parts, some of which pass through layers, then joined again.
bool GraphMaker::split_block() {
  const size_t x = pick({4, 4, 3});
  const Live in = live_[x];
  const int64_t n = in.dims[1];
  if (n < 3) return false;
  const int64_t one = dice_.integer(1, n - 2), two = dice_.integer(1, n - one - 1);
  const Dims sizes = {one, two, n - one - two};
  const std::string r = read(x);
  const std::string y = opset_ < 13 ? b_.node("Split", {r}, {Attr("axis", 1), Attr("split", sizes)})
                                    : b_.node("Split", {r, integers64(sizes)}, {Attr("axis", 1)});
  onnx::NodeProto* node = b_.graph().mutable_node(b_.graph().node_size() - 1);
  Names parts = {y, y + "_second", y + "_third"};
  for (size_t i = 1; i < parts.size(); ++i) node->add_output(parts[i]);
  const Quant q = in.quant;
  Names joined;
  Dims made = in.dims;
  made[1] = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    Dims dims = in.dims;
    dims[1] = sizes[i];
    const size_t part = quantise(parts[i], dims, in.amplitude, in.has_batch, &q);
    joined.push_back(read(part));
    made[1] += sizes[i];
    if (!dice_.one_in(3)) continue;
    made[1] += sizes[i];
    const std::string z = b_.node(dice_.coin() ? "Relu" : "Sigmoid", {read(part)});
    const Quant other = random_quant(std::max(1.0, in.amplitude), true);
    joined.push_back(read(quantise(z, dims, in.amplitude, in.has_batch, &other)));
  }
  return finish(b_.node("Concat", joined, {Attr("axis", 1)}), made, in.amplitude, in.has_batch);
}

}  // namespace qrt::random_onnx

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/normalization.h"

#include <algorithm>
#include <cmath>

#include "converter/import/common/index_maps.h"

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

bool is_float_normalization(const std::string& op) {
  for (const char* known :
       {"LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization",
        "SimplifiedLayerNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization"})
    if (op == known) return true;
  return false;
}

namespace {

// Applies the factors and the addends of the inputs.
Status scaled(FloatGraph* f, const NormInputs& inputs, ValueId x, ValueId* y) {
  ValueId b;
  if (!f->read(inputs.scale, &b)) return Status();
  QRT_TRY(f->binary(F::MUL, x, b, &x));
  if (inputs.bias >= 0 && f->node().has_input(inputs.bias)) {
    if (!f->read(inputs.bias, &b)) return Status();
    QRT_TRY(f->binary(F::ADD, x, b, &x));
  }
  *y = x;
  return Status();
}

Status instance_norm(FloatGraph* f, const std::vector<bool>& marked, float epsilon, ValueId x,
                     ValueId* y) {
  const Shape shape = f->shape_of(x);
  std::vector<float> scale, bias;
  if (shape.rank() < 3 || !f->channel_constants(1, shape[1], &scale) ||
      !f->channel_constants(2, shape[1], &bias))
    return Status();
  ValueId normal;
  QRT_TRY(f->rows(F::NORMALIZE, marked, epsilon, x, &normal));
  return f->per_channel(scale, bias, normal, y);
}

// Reads constants of a GroupNormalization as one for each channel; below opset 21 the file has one for each group.
bool group_constants(const FloatGraph& f, int i, int64_t channels, int64_t groups,
                     std::vector<float>* values) {
  if (f.channel_constants(i, channels, values)) return true;
  std::vector<float> of_groups;
  if (!f.channel_constants(i, groups, &of_groups)) return false;
  values->clear();
  for (int64_t c = 0; c < channels; ++c)
    values->push_back(of_groups[static_cast<size_t>(c / (channels / groups))]);
  return true;
}

Status group_norm(FloatGraph* f, float epsilon, ValueId x, ValueId* y) {
  const Shape shape = f->shape_of(x);
  const int64_t groups = f->node().integer("num_groups", 0);
  std::vector<float> scale, bias;
  if (shape.rank() < 3 || groups < 1 || shape[1] % groups != 0 ||
      !group_constants(*f, 1, shape[1], groups, &scale) ||
      !group_constants(*f, 2, shape[1], groups, &bias))
    return Status();
  Shape rows;
  QRT_TRY(make_shape({shape[0], groups, shape.elements() / shape[0] / groups}, &rows));
  GraphBuilder& builder = f->builder();
  const ValueId normal = f->add(F::NORMALIZE, {builder.reshape(f->node(), x, rows)}, rows, epsilon);
  return f->per_channel(scale, bias, builder.reshape(f->node(), normal, shape), y);
}

}  // namespace

Status layer_norm(FloatGraph* f, const std::vector<bool>& marked, float epsilon,
                  const NormInputs& inputs, ValueId x, ValueId* y) {
  const Shape shape = f->shape_of(x);
  const int64_t n = shape[shape.rank() - 1];
  const bool has_bias = inputs.bias >= 0 && f->node().has_input(inputs.bias);
  std::vector<float> scale, bias;
  // One operator is enough where scale and bias are constants of the last dimension.
  const bool is_last = marked.back() && std::count(marked.begin(), marked.end(), true) == 1;
  if (is_last && f->channel_constants(inputs.scale, n, &scale) &&
      (!has_bias || f->channel_constants(inputs.bias, n, &bias))) {
    std::vector<ValueId> operands = {x, f->constant({n}, scale)};
    if (has_bias) operands.push_back(f->constant({n}, bias));
    *y = f->add(F::LAYER_NORM, std::move(operands), shape, epsilon);
    return Status();
  }
  ValueId normal;
  QRT_TRY(f->rows(F::NORMALIZE, marked, epsilon, x, &normal));
  return scaled(f, inputs, normal, y);
}

Status rms_norm(FloatGraph* f, const std::vector<bool>& marked, float epsilon,
                const NormInputs& inputs, ValueId x, ValueId* y) {
  ValueId squares, mean, normal;
  QRT_TRY(f->binary(F::MUL, x, x, &squares));
  QRT_TRY(f->rows(F::REDUCE_MEAN, marked, 0, squares, &mean));
  QRT_TRY(f->binary(F::ADD, mean, f->constant({}, {epsilon}), &mean));
  QRT_TRY(f->binary(F::DIV, x, f->add(F::SQRT, {mean}, f->shape_of(mean)), &normal));
  return scaled(f, inputs, normal, y);
}

Status local_response_norm(FloatGraph* f, ValueId x, ValueId* y) {
  const Shape shape = f->shape_of(x);
  const int64_t size = f->node().integer("size", 0);
  const float alpha = f->node().real("alpha", 1e-4f), beta = f->node().real("beta", 0.75f);
  const float bias = f->node().real("bias", 1.0f);
  const bool is_root = beta == 0.25f || beta == 0.5f || beta == 0.75f || beta == 1.0f;
  if (shape.rank() < 3 || size < 1 || size % 2 == 0 || size > 2 * shape[1]) return Status();
  // The squares of each channel of the window in turn.
  ValueId squares, sum = kNoValue;
  QRT_TRY(f->binary(F::MUL, x, x, &squares));
  for (int64_t k = -(size / 2); k <= size / 2; ++k) {
    IndexMaps shifted(shape);
    Indices channels;
    for (int64_t c = 0; c < shape[1]; ++c)
      channels.push_back(c + k >= 0 && c + k < shape[1] ? static_cast<int32_t>(c + k) : -1);
    if (k != 0) shifted.set(1, std::move(channels));
    const ValueId part =
        k == 0 ? squares : f->builder().gather(f->node(), squares, shifted, float_bits(0));
    if (sum == kNoValue)
      sum = part;
    else
      QRT_TRY(f->binary(F::ADD, sum, part, &sum));
  }
  ValueId scale, power;
  QRT_TRY(f->binary(F::MUL, sum, f->constant({}, {alpha / static_cast<float>(size)}), &scale));
  QRT_TRY(f->binary(F::ADD, scale, f->constant({}, {bias}), &scale));
  const auto root = [&](ValueId v) { return f->add(F::SQRT, {v}, shape); };
  if (is_root)
    power = beta == 1.0f ? scale : root(scale);
  else
    QRT_TRY(f->binary(F::POW, scale, f->constant({}, {beta}), &power));
  if (beta == 0.25f) power = root(power);
  if (beta == 0.75f) QRT_TRY(f->binary(F::MUL, power, root(power), &power));
  return f->binary(F::DIV, x, power, y);
}

Status unit_norm(FloatGraph* f, ValueId x, ValueId* y) {
  const Shape shape = f->shape_of(x);
  const int rank = shape.rank();
  const int64_t axis = f->node().integer("axis", -1), p = f->node().integer("p", 2);
  if (axis < -rank || axis >= rank || p < 1 || p > 2) return Status();
  std::vector<bool> marked(static_cast<size_t>(rank), false);
  marked[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  ValueId norm, is_zero;
  if (p == 2) {
    QRT_TRY(f->binary(F::MUL, x, x, &norm));
  } else {
    QRT_TRY(f->binary(F::MUL, x, f->constant({}, {-1.0f}), &norm));
    QRT_TRY(f->binary(F::MAXIMUM, x, norm, &norm));
  }
  QRT_TRY(f->rows(F::REDUCE_SUM, marked, 0, norm, &norm));
  if (p == 2) norm = f->add(F::SQRT, {norm}, f->shape_of(norm));
  // A vector of zeros stays one.
  QRT_TRY(f->binary(F::EQUAL, norm, f->constant({}, {0.0f}), &is_zero));
  QRT_TRY(f->binary(F::ADD, norm, is_zero, &norm));
  return f->binary(F::DIV, x, norm, y);
}

Status mean_variance_norm(FloatGraph* f, ValueId x, ValueId* y) {
  const Shape shape = f->shape_of(x);
  const int rank = shape.rank();
  std::vector<int64_t> axes = f->node().integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  std::vector<bool> marked(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) return Status();
    marked[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  ValueId mean, centred, squares, deviation;
  QRT_TRY(f->rows(F::REDUCE_MEAN, marked, 0, x, &mean));
  QRT_TRY(f->binary(F::SUB, x, mean, &centred));
  QRT_TRY(f->binary(F::MUL, centred, centred, &squares));
  QRT_TRY(f->rows(F::REDUCE_MEAN, marked, 0, squares, &deviation));
  deviation = f->add(F::SQRT, {deviation}, f->shape_of(deviation));
  return f->binary(F::DIV, centred, deviation, y);
}

Status float_normalization(FloatGraph* f, const std::vector<bool>& marked, ValueId x, ValueId* y) {
  const std::string& op = f->node().op();
  const float epsilon = f->node().real("epsilon", 1e-5f);
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) return Status();
  if (op == "InstanceNormalization") return instance_norm(f, marked, epsilon, x, y);
  if (op == "GroupNormalization") return group_norm(f, epsilon, x, y);
  if (op == "LayerNormalization") return layer_norm(f, marked, epsilon, {}, x, y);
  return rms_norm(f, marked, epsilon, {1, -1}, x, y);
}

}  // namespace qrt::convert::from_onnx

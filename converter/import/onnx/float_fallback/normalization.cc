#include "converter/import/onnx/float_fallback/normalization.h"

#include <algorithm>
#include <cmath>

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

bool is_float_normalization(const std::string& op) {
  for (const char* known : {"LayerNormalization", "InstanceNormalization", "GroupNormalization",
                            "RMSNormalization", "SimplifiedLayerNormalization"})
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

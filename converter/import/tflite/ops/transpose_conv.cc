// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV.
#include "converter/import/common/transpose_conv.h"

#include <algorithm>

#include "converter/import/common/index_maps.h"
#include "converter/import/tflite/ops/linear.h"

namespace qrt::convert::from_tflite {
namespace {

// More weights than kFreeWeights may be at most kMostGrowth times as many as in the file, since
// most would be zeros.
constexpr int64_t kFreeWeights = int64_t{1} << 22, kMostGrowth = 64;

// Returns the weights [phases, o, h, w, i] of the convolution that replaces a transposed one with
// weights [o, h, w, i]: one filter for each phase of the outputs, with zeros where a phase has no
// tap.
std::vector<int16_t> phased_weights(const std::vector<int16_t>& weights, const Shape& from,
                                    const PhasedAxis& h, const PhasedAxis& w) {
  const int64_t in = from[3], kernel = h.kernel * w.kernel;
  const auto source = [&](int64_t o, int64_t ky, int64_t kx) {
    return weights.begin() + ((o * from[1] + ky) * from[2] + kx) * in;
  };
  std::vector<int16_t> phased(static_cast<size_t>(h.phases * w.phases * from[0] * kernel * in));
  auto to = phased.begin();
  for (int64_t phase = 0; phase < h.phases * w.phases; ++phase)
    for (int64_t o = 0; o < from[0]; ++o)
      for (int64_t t = 0; t < kernel; ++t, to += in) {
        const int64_t ky = h.source(phase / w.phases, t / w.kernel);
        const int64_t kx = w.source(phase % w.phases, t % w.kernel);
        if (ky >= 0 && kx >= 0) std::copy_n(source(o, ky, kx), in, to);
      }
  return phased;
}

// Repeats an array `count` times. A single value, which applies to all channels, stays single.
template <class T>
void repeat(std::vector<T>* values, int64_t count) {
  const std::vector<T> once = *values;
  if (once.size() == 1) return;
  for (int64_t i = 1; i < count; ++i) values->insert(values->end(), once.begin(), once.end());
}

// Returns the image whose interleaved parts are the outputs of all phases, [n, h, w, phases * c].
ValueId interleaved(Importer& importer, const Op& op, ValueId y, const PhasedAxis& h,
                    const PhasedAxis& w, const Shape& image, const Quant& quant) {
  const int64_t n = image[0], c = image[3];
  if (h.phases * w.phases > 1) {
    const Shape turned{n, h.steps, h.phases, w.steps, w.phases, c};
    y = importer.builder().reshape(op, y, {n, h.steps, w.steps, h.phases, w.phases, c});
    const ValueId t = importer.builder().new_value("", quant.stored_type(), turned, &quant);
    importer.builder().add<fb::TransposeOptionsT>(op, {y}, t).perm = {0, 1, 3, 2, 4, 5};
    y = importer.builder().reshape(op, t, {n, h.steps * h.phases, w.steps * w.phases, c});
  }
  IndexMaps maps(importer.builder().shape_of(y));
  for (const int axis : {1, 2})
    if (maps.from()[axis] != image[axis]) maps.set(axis, stepped(0, image[axis], 1));
  if (maps.is_identity()) return y;
  const ValueId cropped = importer.builder().new_value("", quant.stored_type(), image, &quant);
  importer.builder().add<fb::GatherOptionsT>(op, {y}, cropped) = maps.options(0);
  return cropped;
}

}  // namespace

// Imports TRANSPOSE_CONV as a convolution of all phases (common/transpose_conv.h). Sizes and
// padding come from the forward convolution that would take the output as its input.
Status import_transpose_conv(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::TransposeConvOptions>();
  Op conv_op = op;  // inputs in the order of a convolution's
  conv_op.inputs = {op.inputs[2], op.inputs[1], op.has_input(3) ? op.inputs[3] : -1};
  Linear linear;
  // A shape that is computed at run time is not read: the output's shape is known.
  const Shape made = importer.output(op).shape;
  std::vector<int32_t> declared(made.begin(), made.end());
  const bool is_known = importer.input(op, 0).is_constant || importer.folded(op, 0);
  if ((is_known && !importer.read_integers(op, 0, &declared)) ||
      !importer.read_quants(conv_op, 0, &linear.in, &linear.out))
    return Status();
  ignore_zero_points(&linear);
  QRT_TRY(check_image(importer, conv_op));
  const Shape x = importer.input(conv_op, 0).shape, w = importer.input(conv_op, 1).shape;
  Shape y;
  for (int32_t d : declared)
    if (y.rank() < 4) y.push_back(d);
  QRT_MODEL_CHECK(declared.size() == 4 && w[3] == x[3] && y[0] == x[0] && y[3] == w[0] &&
                      y[1] >= 1 && y[2] >= 1,
                  "weights of shape %s and an input of shape %s do not make %s",
                  w.to_string().c_str(), x.to_string().c_str(), y.to_string().c_str());
  QRT_TRY(check_output_shape(importer, op, y));
  QRT_TRY(check_index_count(y[1]));
  QRT_TRY(check_index_count(y[2]));
  Window window{{w[1], w[2]}, {o.stride_h, o.stride_w}};
  QRT_TRY(place_window(y[1], y[2], o.padding, &window));
  const PhasedAxis ph(x[1], y[1], w[1], o.stride_h, 1, window.before[0]);
  const PhasedAxis pw(x[2], y[2], w[2], o.stride_w, 1, window.before[1]);
  for (const PhasedAxis* axis : {&ph, &pw})
    if (axis->pad_before > kMaxWindowField || axis->pad_after > kMaxWindowField)
      return error(Code::kUnsupported, "padding is above 65535");
  const int64_t phases = ph.phases * pw.phases, kernel = ph.kernel * pw.kernel;
  const int64_t growth = phases * kernel / (w[1] * w[2]);
  if (growth > kMostGrowth && growth * w.elements() > kFreeWeights)
    return importer.refuse(op,
                           "as a convolution of its phases its weights would be " +
                               std::to_string(growth) + " times as many",
                           importer.output(op).name,
                           "use a stride closer to the size of the kernel");

  linear.channels = w[0];
  Status status;
  if (!read_weights(importer, conv_op, Layer::kConv, 0, &linear) ||
      !read_bias(importer, conv_op,
                 {true, o.quantized_bias_type == TensorType::INT32, /*missing_adds_32=*/false},
                 &linear, &status))
    return status;
  QRT_TRY(importer.reserve(static_cast<uint64_t>(growth * w.elements()) * sizeof(int16_t)));
  linear.weights = phased_weights(linear.weights, w, ph, pw);
  linear.channels = w[0] * phases;
  repeat(&linear.multipliers, phases);
  linear.bias.resize(static_cast<size_t>(linear.channels));
  for (size_t c = static_cast<size_t>(w[0]); c < linear.bias.size(); ++c)
    linear.bias[c] = linear.bias[c - static_cast<size_t>(w[0])];
  const auto per_channel = static_cast<size_t>(kernel * w[3]);
  if (!prove_sums(importer, conv_op, linear, per_channel, static_cast<size_t>(kernel),
                  [&](size_t i) { return i / per_channel; }) ||
      !finish_linear(importer, conv_op, o.fused_activation_function, &linear))
    return status;

  const ValueId weights =
      add_weights(importer, conv_op, linear, {linear.channels, ph.kernel, pw.kernel, w[3]}, 0);
  const ValueId bias = add_bias(importer, conv_op, linear);
  const ValueId value = importer.value(conv_op, 0);
  const ValueId apart = importer.builder().new_value(
      "", linear.out.stored_type(), {x[0], ph.steps, pw.steps, linear.channels}, &linear.out);
  auto& conv = importer.builder().add<fb::Conv2DOptionsT>(op, {value, weights, bias}, apart);
  conv.pad_top = static_cast<uint16_t>(ph.pad_before);
  conv.pad_bottom = static_cast<uint16_t>(ph.pad_after);
  conv.pad_left = static_cast<uint16_t>(pw.pad_before);
  conv.pad_right = static_cast<uint16_t>(pw.pad_after);
  set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
  conv.requant = std::move(linear.requant);
  const ValueId image = interleaved(importer, op, apart, ph, pw, y, linear.out);
  importer.graph().values[image].name = importer.output(op).name;
  importer.set_output(op, image);
  importer.became(op, phases > 1 ? "Conv2D, Transpose" : "Conv2D", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite

// SPDX-License-Identifier: Apache-2.0
// Steps that XNNPACK computes; see provider.h.
#include "runtime/providers/xnnpack/provider.h"

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/ops/add_in_float.h"
#include "runtime/ops/check.h"
#include "runtime/ops/dynamic_layer.h"
#include "runtime/ops/gemm_call.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/image.h"
#include "runtime/ops/pool_call.h"
#include "runtime/providers/xnnpack/operators.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

constexpr size_t kFlipGrain = 16 << 10;  // bytes worth a task

// to[i] = from[i] ^ 0x80
void flip_bytes(const Parallel& parallel, const uint8_t* from, uint8_t* to, size_t bytes) {
  parallel.chunks(bytes, kFlipGrain, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = from[i] ^ 0x80;
  });
}

XnnpackOperator* operator_of(const Step& step) { return step.as<XnnpackPointer>().get(); }

void bind(const Step& step, const RunContext& context) {
  const uint8_t* b = step.inputs.size() > 1 ? context.in(step, 1) : nullptr;
  const Parallel& parallel = *context.parallel;
  // An application's own pool cannot run XNNPACK's operator, so the calling thread does.
  operator_of(step)->bind(context.in(step, 0), b, context.out(step, 0),
                          parallel.custom == nullptr ? parallel.pool : nullptr);
}

void run(const Step& step, const RunContext& context) {
  XnnpackOperator* op = operator_of(step);
  if (uint8_t* input = op->flipped_input())
    flip_bytes(*context.parallel, context.in(step, 0), input, op->input_bytes());
  op->run();
  if (const uint8_t* output = op->flipped_output())
    flip_bytes(*context.parallel, output, context.out(step, 0), op->output_bytes());
}

// Makes `op` the step's implementation. Returns false if `op` is null, since XNNPACK does not have
// the operator.
bool take(XnnpackPointer op, uint64_t macs, PlannedStep* step) {
  if (op == nullptr) return false;
  step->kernel = op->name();
  step->macs = macs;
  step->bind = bind;
  step->keeps_addresses = true;
  step->run = run;
  step->params = std::make_shared<XnnpackPointer>(std::move(op));
  return true;
}

// The constants of a layer of `channels` output channels in XNNPACK's form.
struct LayerConstants {
  template <class Options>
  LayerConstants(const PrepareContext& context, const Options& options, size_t channels)
      : requant(make_requant(*options.requant(), channels)),
        bias(fold_bias(read_bias(context.inputs[2].data, channels), options.weight_sum(), channels,
                       false)) {}

  RequantParams requant;
  PlanVector<int32_t> bias;
};

// Returns the common part of all layers: a window and `constants`, which must outlive the result.
template <class Options>
XnnpackConv layer_of(const PrepareContext& context, const Options& options, const Window2D& window,
                     const LayerConstants& constants) {
  XnnpackConv c{};
  static_cast<Window2D&>(c) = window;
  c.weights = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  c.bias = constants.bias.data();
  c.weight_sum = options.weight_sum()->data();
  c.requant = constants.requant.requant;
  return c;
}

bool prepare_conv2d(const PrepareContext& context, PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::Conv2DOptions>();
  Conv2DGeometry g;
  if (is_dynamic_layer(context) || !conv2d_geometry(context, &g).ok() || g.terms != 1) return false;
  const LayerConstants constants(context, options, g.out_c);
  XnnpackConv c = layer_of(context, options, g, constants);
  c.images = g.images, c.in_c = g.in_c, c.out_c = g.out_c;
  c.groups = g.groups;
  c.input_zero_point = options.input_zero_point();
  c.taps = g.taps, c.k = g.k;
  return take(xnnpack_convolution(c), g.macs(), step);
}

bool prepare_depthwise(const PrepareContext& context, PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::DepthwiseConv2DOptions>();
  DepthwiseShape s;
  if (!depthwise_geometry(context, &s).ok() || s.terms != 1) return false;
  const size_t channels = s.in_c * s.multiplier;
  const LayerConstants constants(context, options, channels);
  XnnpackConv c = layer_of(context, options, s, constants);
  c.images = static_cast<size_t>(image_shape(context.inputs[0].type.shape).images);
  c.in_c = s.in_c, c.out_c = channels;
  c.groups = s.in_c;
  c.input_zero_point = options.input_zero_point();
  const uint64_t macs = uint64_t{c.images} * s.out_h * s.out_w * channels * s.kernel_h * s.kernel_w;
  return take(xnnpack_depthwise(c), macs, step);
}

// Prepares the layer as a 1x1 convolution whose images are the rows, as XNNPACK has no fully
// connected operator with a scale for each channel. Returns whether XNNPACK computes the layer.
bool prepare_fully_connected(const PrepareContext& context, PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::FullyConnectedOptions>();
  if (options.terms() != 1 || is_dynamic_layer(context)) return false;
  const Shape& weights = context.inputs[1].type.shape;
  const size_t n = static_cast<size_t>(weights[0]), k = static_cast<size_t>(weights[1]);
  const LayerConstants constants(context, options, n);
  XnnpackConv c = layer_of(context, options, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, constants);
  c.images = static_cast<size_t>(context.outputs[0].shape.elements()) / n;
  c.in_c = k, c.out_c = n, c.groups = 1;
  c.taps = 1, c.k = k;  // without padding the zero point may stay in the bias
  return take(xnnpack_convolution(c), uint64_t{c.images} * n * k, step);
}

bool prepare_max_pool(const PrepareContext& context, PlannedStep* step) {
  PoolShape shape;
  if (!max_pool_geometry(context, &shape).ok()) return false;
  const ImageShape x = image_shape(context.inputs[0].type.shape);
  return take(xnnpack_max_pool(static_cast<size_t>(x.images), shape), 0, step);
}

bool prepare_average_pool(const PrepareContext& context, PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::AveragePool2DOptions>();
  if (options.kind() == fb::AverageKind::INT_HALF_AWAY) return false;
  AveragePoolArgs args{};
  if (!average_pool_args(context, &args).ok()) return false;
  const ImageShape x = image_shape(context.inputs[0].type.shape);
  return take(xnnpack_average_pool(static_cast<size_t>(x.images), args), 0, step);
}

bool prepare_global_average_pool(const PrepareContext& context, PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::GlobalAveragePool2DOptions>();
  const ImageShape x = image_shape(context.inputs[0].type.shape);
  const RequantParams requant = make_requant(*options.requant(), 1);
  GlobalSumArgs args{};
  args.pixels = static_cast<size_t>(x.h * x.w);
  args.c = static_cast<size_t>(x.c);
  args.input_zero_point = options.input_zero_point();
  args.requant = requant.requant;
  return take(xnnpack_global_average_pool(static_cast<size_t>(x.images), args), 0, step);
}

// Returns the zero point of a tensor that is quantised per tensor, or -1.
int32_t zero_point_of(const fb::Tensor* tensor) {
  const fb::Quantization* q = tensor != nullptr ? tensor->quantization() : nullptr;
  return q != nullptr && q->zero_point() != nullptr && q->zero_point()->size() == 1
             ? q->zero_point()->Get(0)
             : -1;
}

bool prepare_add(const PrepareContext& context, PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::AddOptions>();
  if (options.kind() == fb::AddKind::INT) return false;
  std::vector<size_t> dims[2];
  for (size_t i = 0; i < 2; ++i)
    for (int64_t d : context.inputs[i].type.shape) dims[i].push_back(static_cast<size_t>(d));
  const uint32_t y = context.op->outputs()->Get(0);
  return take(xnnpack_add({dims[0].data(), dims[1].data(), dims[0].size(), dims[1].size(),
                           add_params(options), zero_point_of(context.inputs[0].tensor),
                           zero_point_of(context.inputs[1].tensor),
                           zero_point_of(context.model->tensors()->Get(y))}),
              0, step);
}

class XnnpackProvider : public Provider {
 public:
  explicit XnnpackProvider(bool may_differ) : may_differ_(may_differ) {}

  bool prepare(const PrepareContext& context, PlannedStep* step) const override {
    if (context.inputs[0].type.dtype != DType::kUInt8) return false;
    switch (context.op->options_type()) {
      case fb::OpOptions::Conv2D: return prepare_conv2d(context, step);
      case fb::OpOptions::DepthwiseConv2D: return prepare_depthwise(context, step);
      case fb::OpOptions::FullyConnected: return prepare_fully_connected(context, step);
      case fb::OpOptions::MaxPool2D: return prepare_max_pool(context, step);
      // XNNPACK rounds these operators differently.
      case fb::OpOptions::AveragePool2D: return may_differ_ && prepare_average_pool(context, step);
      case fb::OpOptions::GlobalAveragePool2D:
        return may_differ_ && prepare_global_average_pool(context, step);
      case fb::OpOptions::Add: return may_differ_ && prepare_add(context, step);
      default: return false;
    }
  }

 private:
  bool may_differ_;  // results may differ from those of this library's own kernels
};

}  // namespace

const Provider* xnnpack_provider() {
  static const XnnpackProvider provider(/*may_differ=*/false);
  return has_xnnpack() ? &provider : nullptr;
}

const Provider* xnnpack_provider_of_all() {
  static const XnnpackProvider provider(/*may_differ=*/true);
  return has_xnnpack() ? &provider : nullptr;
}

}  // namespace qrt

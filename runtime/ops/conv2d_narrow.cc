// SPDX-License-Identifier: Apache-2.0
// Conv2D with few outputs in the form of kernels/narrow: pixels in vectors, where the gemm family has a
// block of 16 outputs, used or not. Its weights are brought into their form once for a model. Pixels that a
// converter joined to fill such blocks are pixels again.
#include <algorithm>
#include <cstring>

#include "kernels/narrow/narrow.h"
#include "runtime/ops/conv2d_forms.h"
#include "runtime/ops/conv2d_row_ranges.h"
#include "runtime/ops/dynamic_layer.h"

namespace qrt {
namespace {

// Beyond these the sizes computed below would overflow, and the products do not pay.
constexpr size_t kMostPadded = 1 << 16;
constexpr double kVectorProducts = 64;  // multiply-accumulates of a dot product
// The estimated gain that is required: a smaller one may be none.
constexpr double kGain = 0.9;

struct Params {
  NarrowShape shape;
  const NarrowKernel* kernel;
  GemmCall gemm;  // its bias and requantisation
  PlanVector<WindowOffset> window_offsets;
  std::shared_ptr<const TableBytes> weights;
  RowRanges ranges;
  uint8_t input_zero_point;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const NarrowShape& s = p.shape;
  NarrowArgs job;
  job.shape = s;
  job.x_pitch = input_pitch(step, 0, s.in_c);
  job.zero_point = p.input_zero_point;
  job.weights = p.weights->as<int8_t>();
  job.window_offsets = p.window_offsets.data();
  job.bias = p.gemm.bias().data();
  job.requant = p.gemm.requant();
  job.y_pitch = output_pitch(step, s.out_c);
  run_row_ranges(step, context, p.ranges, p.kernel->fn, job, job.x_pitch, s.out_c);
}

// Returns whether `values` of n outputs repeat their first `period` values throughout.
template <class T>
bool repeats(const T* values, size_t n, size_t period) {
  return values == nullptr || memcmp(values, values + period, (n - period) * sizeof(T)) == 0;
}

bool repeats(const GemmCall& gemm, size_t n, size_t period) {
  const Requant& r = gemm.requant();
  bool all = repeats(gemm.bias().data(), n, period) && repeats(r.scale, n, period) &&
             repeats(r.slope, n, period) && repeats(r.intercept, n, period);
  for (int i = 0; i < r.stage_count; ++i)
    all =
        all && repeats(r.stages[i].multiplier, n, period) && repeats(r.stages[i].shift, n, period);
  return all;
}

// Outputs of a pixel where a pixel of the layer is several, an input apart; 0 where they lie otherwise.
size_t outputs_of_pixel(const NarrowLayer& layer, const Conv2DGeometry& g, const GemmCall& gemm) {
  const size_t pixels = g.stride_w, outputs = g.out_c / pixels;
  if (pixels == 1) return outputs;
  const bool is_joined = g.out_c % pixels == 0 && g.dilation_w == 1 &&
                         repeats(gemm, g.out_c, outputs) && narrow_is_joined(layer, pixels);
  return is_joined ? outputs : 0;
}

double real(size_t v) { return static_cast<double>(v); }

// Returns how many dot products of a vector an image takes, and in their unit the other work, both
// measured on Zen 4: moving a dword into its plane, and turning an output into its byte. With a
// single output the loads of the planes are the limit.
double products_of(const NarrowShape& s) {
  constexpr double kFill = 10, kOutput = 8, kLanes = 16;
  const NarrowWork work = narrow_work(s);
  const double outputs = s.out_c == 1 ? 2 : real(s.out_c);
  return (real(work.positions) * outputs * (real(s.steps()) + kOutput) +
          real(work.dwords) * kFill) /
         kLanes;
}

// Estimates the gemm family's time in products. Tiles of half a block are bound by their loads, and
// take nearly as long as whole ones.
double products_of(const GemmCall& gemm, size_t pixels) {
  constexpr size_t kBlock = 16, kHalf = 8;
  const double steps = real(gemm.taps * gemm.kc / 4), of_block = steps + 0.8 * real(gemm.taps) + 2;
  const size_t rest = gemm.n % kBlock;
  const double of_rest = rest == 0 ? 0 : rest <= kHalf ? 0.85 * of_block : of_block;
  return real(pixels) * (real(gemm.n / kBlock) * (steps + 4) + of_rest);
}

}  // namespace

// Returns whether the layer may be tried as a narrow convolution. A kernel of a single tap does not
// pay for making the planes.
bool may_take_narrow(const fb::Conv2DOptions& options, const Shape& weights) {
  return options.groups() == 1 && options.terms() == 1 && options.stride_h() == 1 &&
         weights[0] <= static_cast<int64_t>(kNarrowMostOutputs) && weights[1] * weights[2] > 1;
}

Status prepare_narrow_conv2d(const PrepareContext& context, const Conv2DGeometry& g, GemmCall* gemm,
                             PlannedStep* step) {
  if (is_dynamic_layer(context) || gemm->element_bytes != 1 || gemm->requant_channels < g.out_c ||
      g.images * g.out_h * g.out_w == 0)
    return Status();
  const NarrowKernel* kernel = select_narrow(context.isas);
  if (kernel == nullptr || !kernel->handles(gemm->requant(), g.out_c) ||
      std::max({g.out_w, g.kernel_h, g.kernel_w}) > kMostPadded)
    return Status();
  NarrowLayer layer = {gemm->weights, g.in_c, g.out_c, g.kernel_h, g.kernel_w, g.row_taps};
  const size_t outputs = outputs_of_pixel(layer, g, *gemm);
  if (outputs == 0) return Status();
  layer.out_c = outputs;

  auto params = make_planned<Params>();
  NarrowShape& s = params->shape;
  s = {g, g.in_c, outputs};
  s.out_w = g.out_w * g.stride_w, s.stride_w = 1;
  params->window_offsets.resize(outputs);
  find_windows_of_outputs(layer, &s, params->window_offsets.data());
  if (s.padded_w() > kMostPadded || s.padded_h(1) > kMostPadded || narrow_rows_per_call(s) == 0)
    return Status();
  const double products = products_of(s);
  if (products > kGain * products_of(*gemm, g.out_h * g.out_w)) return Status();

  TableKey key("narrow");
  key.add(layer.packed, layer.in_c, layer.out_c, layer.kernel_h, layer.kernel_w, layer.row_taps);
  params->weights =
      context.share_bytes(key, static_cast<size_t>(narrow_weight_bytes(s)), [&](uint8_t* data) {
        narrow_weights(layer, s, params->window_offsets.data(), reinterpret_cast<int8_t*>(data));
      });
  if (params->weights == nullptr) return Status();
  params->kernel = kernel;
  params->gemm = std::move(*gemm);
  params->input_zero_point = context.op->options_as<fb::Conv2DOptions>()->input_zero_point();
  const double ns = real(g.images) * products * kVectorProducts / speed_of(kernel->isa).macs;
  params->ranges = RowRanges(context, g, ns, narrow_rows_per_call(s), narrow_scratch_bytes(s));
  step->kernel = kernel->name;
  step->macs = uint64_t{g.images} * s.out_h * s.out_w * outputs * s.kernel_h * s.kernel_w * s.in_c;
  step->can_lead = true;
  step->input_rows = g.images * g.in_h * g.in_w;
  // The planner may not place the output's pixels apart where several of them are computed as one.
  if (g.stride_w == 1) step->output_rows = g.images * g.out_h * g.out_w;
  step->scratch_bytes = params->ranges.scratch_bytes();
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt

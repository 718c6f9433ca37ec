// SPDX-License-Identifier: Apache-2.0
// Conv2D on INT16 activations, image by image: the image with its padding becomes two planes of
// bytes in the step's scratch, and a table of the positions of every tap in them, [out_h *
// out_w][taps], made by bind(), is the left side of the products. A 1x1 convolution without stride
// and padding needs no table. A depthwise one is left to depthwise_int16.h.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/gemm/pack.h"
#include "runtime/checked.h"
#include "runtime/ops/conv2d_geometry.h"
#include "runtime/ops/depthwise_int16.h"
#include "runtime/ops/int16_gemm.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

struct Params {
  Conv2DGeometry geometry;
  Int16Gemm int16;
  int16_t input_zero_point;
  size_t padded_h, padded_w;
  size_t output_bytes;  // of an image
};

void bind(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Conv2DGeometry& g = p.geometry;
  const uint8_t* plane = p.int16.high(context.scratch);
  const uint8_t** entry = reinterpret_cast<const uint8_t**>(context.state);
  const size_t columns = g.row_taps ? 1 : g.kernel_w;
  for (size_t y = 0; y < g.out_h; ++y)
    for (size_t x = 0; x < g.out_w; ++x)
      for (size_t term = 0; term < g.terms; ++term)
        for (size_t ky = 0; ky < g.kernel_h; ++ky) {
          const uint8_t* row = plane + (y * g.stride_h + ky * g.dilation_h) * p.padded_w * g.in_c;
          for (size_t kx = 0; kx < columns; ++kx)
            *entry++ = row + (x * g.stride_w + kx * g.dilation_w) * g.in_c;
        }
}

// Rows [begin, end) of the padded image to both planes.
void split_rows(const Params& p, const int16_t* image, size_t begin, size_t end, uint8_t* high,
                uint8_t* low) {
  const Conv2DGeometry& g = p.geometry;
  const size_t row_bytes = p.padded_w * g.in_c;
  uint8_t zero_high, zero_low;
  p.int16.kernel->split(&p.input_zero_point, 1, &zero_high, &zero_low);
  const auto pad = [&](size_t at, size_t count) {
    memset(high + at, zero_high, count);
    memset(low + at, zero_low, count);
  };
  const size_t left = std::min(g.pad_left, p.padded_w) * g.in_c;
  const size_t inside = std::min(g.in_w * g.in_c, row_bytes - left);
  for (size_t y = begin; y < end; ++y) {
    const size_t at = y * row_bytes;
    if (y < g.pad_top || y - g.pad_top >= g.in_h) {
      pad(at, row_bytes);
      continue;
    }
    pad(at, left);
    p.int16.kernel->split(image + (y - g.pad_top) * g.in_w * g.in_c, inside, high + at + left,
                          low + at + left);
    pad(at + left + inside, row_bytes - left - inside);
  }
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Conv2DGeometry& g = p.geometry;
  const auto* x = reinterpret_cast<const int16_t*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  GemmOperands left{};
  if (g.is_dense) {
    left.a = p.int16.high(context.scratch);
    left.a_stride = g.in_c;
  } else {
    left.indirection = reinterpret_cast<const uint8_t* const*>(context.state);
  }
  for (size_t image = 0; image < g.images; ++image) {
    for_chunks(*context.parallel, p.int16.split_tasks, p.padded_h, 1,
               [&](size_t, size_t begin, size_t end) {
                 split_rows(p, x + image * g.in_h * g.in_w * g.in_c, begin, end,
                            p.int16.high(context.scratch), p.int16.low(context.scratch));
               });
    run_int16_gemm(p.int16, context, left, g.k, y + image * p.output_bytes);
  }
}

// Groups of one channel, each weight one number, and few enough positions for sums in int32.
bool is_depthwise(const fb::Conv2DOptions& options, const Conv2DGeometry& g) {
  const size_t most = options.digits() > 1 ? kMaxDepthwiseInt16Digits : kMaxDepthwiseInt16;
  return g.groups > 1 && g.k == 1 && g.terms == 1 && !g.row_taps && g.taps <= most &&
         options.requant()->kind() == fb::RequantKind::INT;
}

// Prepares a depthwise layer. Its weights are those of gemm.h, [digits][groups][..][taps][1][16
// channels][4], of which the first of four is used.
Status prepare_depthwise(const PrepareContext& context, const fb::Conv2DOptions& options,
                         const Conv2DGeometry& g, PlannedStep* step) {
  const size_t multiplier = g.out_c / g.groups, digits = options.digits();
  const DepthwiseShape shape = {g, g.in_c, multiplier};
  QRT_TRY(context.take(depthwise_int16_bytes(shape, digits, *options.requant())));
  DepthwiseInt16Layer layer{shape,
                            g.images,
                            options.input_zero_point_16(),
                            options.requant(),
                            options.weight_sum(),
                            digits,
                            PlanVector<int16_t>(g.taps * g.out_c),
                            PlanVector<int16_t>(digits > 1 ? g.taps * g.out_c : 0)};
  const auto* packed = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  const size_t group_bytes = gemm_packed_bytes(multiplier, g.taps, g.k);
  for (size_t d = 0; d < digits; ++d) {
    PlanVector<int16_t>& weights = d == 0 ? layer.weights : layer.upper_weights;
    for (size_t o = 0; o < g.out_c; ++o) {
      const size_t group = d * g.groups + o / multiplier, column = o % multiplier;
      const int8_t* from =
          packed + group * group_bytes + column / 16 * g.taps * 64 + column % 16 * 4;
      for (size_t tap = 0; tap < g.taps; ++tap) {
        int16_t& weight = weights[tap * g.out_c + o];
        weight = static_cast<int16_t>(weight + from[tap * 64]);
      }
    }
  }
  return prepare_depthwise_int16(context, std::move(layer), step);
}

}  // namespace

Status prepare_int16_conv2d(const PrepareContext& context, const Conv2DGeometry& g,
                            PlannedStep* step) {
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  if (is_depthwise(*options, g)) return prepare_depthwise(context, *options, g, step);
  auto params = make_planned<Params>();
  params->geometry = g;
  params->input_zero_point = options->input_zero_point_16();
  params->padded_h = (g.out_h - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1;
  params->padded_w = (g.out_w - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1;
  GemmCall& gemm = params->int16.gemm;
  gemm.groups = gemm.outer = g.groups;
  gemm.m = g.out_h * g.out_w;
  gemm.n = g.out_c / g.groups;
  gemm.taps = g.taps;
  gemm.kc = round_up(g.k, 4);
  params->int16.digits = options->digits();
  params->output_bytes = gemm.m * g.out_c * dtype_bytes(context.outputs[0].dtype);
  size_t pixels, elements;
  if (!checked_mul(params->padded_h, params->padded_w, &pixels) ||
      !checked_mul(pixels, g.in_c, &elements))
    return error(Code::kOutOfMemory, "a padded image of %zu x %zu pixels", params->padded_h,
                 params->padded_w);
  QRT_TRY(make_int16_gemm(context, options->weight_sum(), *options->requant(), options->pair_safe(),
                          elements, &params->int16, step));
  size_t entries;
  if (!checked_mul(gemm.m, g.taps, &entries) ||
      !checked_mul(entries, g.is_dense ? 0 : sizeof(uint8_t*), &step->state_bytes))
    return error(Code::kOutOfMemory, "the indirection table of %zu x %zu pixels by %zu taps",
                 g.out_h, g.out_w, g.taps);
  if (!g.is_dense) step->bind = bind;
  step->kernel = gemm.kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of floats; see float_conv_transpose.h. The weights of some output channels, a row for each tap, are
// multiplied by some of the input's rows, and the products go to the outputs that the tap reaches. They are taken from the
// last one up: an output gets the products of its taps in their order then, since a later row of the kernel reaches it from an
// earlier row of the image.
#include "runtime/ops/float_conv_transpose.h"

#include <algorithm>

#include "kernels/float_fallback/float_fallback.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/image.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Indices of a sum that ONNX Runtime adds up before it goes on, whatever the sizes.
constexpr size_t kBlock = 128;
// Weights of at least kMinRows taps are multiplied at a time, by rows of about kPixelsAtOnce.
constexpr size_t kMinRows = 16, kPixelsAtOnce = 1024;

// Input i reaches output i * stride + k * dilation - before through tap k.
struct Axis {
  size_t in, out, kernel, stride, dilation, before;

  // Returns the first and the end of the inputs from `begin` to `end` that reach an output through a tap, and where the first goes.
  void reached(size_t tap, size_t begin, size_t end, size_t* first, size_t* last,
               size_t* to) const {
    const size_t shift = tap * dilation;
    *first = std::max(begin, before > shift ? ceil_div(before - shift, stride) : 0);
    const size_t limit = out + before;
    *last = shift < limit ? std::min(end, ceil_div(limit - shift, stride)) : 0;
    *to = *first * stride + shift - before;
  }
};

struct Geometry {
  Axis down, across;
  size_t images, groups, in_c, out_c;  // channels of a group

  size_t taps() const { return down.kernel * across.kernel; }
  size_t in_pixels() const { return down.in * across.in; }
  size_t out_pixels() const { return down.out * across.out; }
};

Status read_axis(const char* name, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                 int64_t before, int64_t after, int64_t more, Axis* axis) {
  QRT_TRY(check_range("stride", stride, 1, UINT16_MAX));
  QRT_TRY(check_range("dilation", dilation, 1, UINT16_MAX));
  QRT_TRY(check_range("kernel", kernel, 1, UINT16_MAX));
  const int64_t out = (in - 1) * stride + (kernel - 1) * dilation + 1 - before - after + more;
  QRT_MODEL_CHECK(out >= 1 && out <= INT32_MAX, "the output's %s is %lld, expected 1 to 2^31 - 1",
                  name, static_cast<long long>(out));
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  *axis = {size(in), size(out), size(kernel), size(stride), size(dilation), size(before)};
  return Status();
}

Status geometry_of(const InferContext& context, Geometry* g) {
  const auto* window = context.op->options_as<fb::FloatOptions>()->window();
  QRT_MODEL_CHECK(window != nullptr, "there is no window");
  QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  QRT_TRY(check_rank(context, 0, "x", 4, "[n, c, h, w]"));
  QRT_TRY(check_rank(context, 1, "w", 5, "[groups, out, kh, kw, c / groups]"));
  const Shape &x = context.inputs[0].type.shape, &w = context.inputs[1].type.shape;
  QRT_MODEL_CHECK(w[0] == window->groups() && x[1] == w[0] * w[4],
                  "w has shape %s for %u groups and %lld input channels", w.to_string().c_str(),
                  window->groups(), static_cast<long long>(x[1]));
  QRT_TRY(check_plain_constant(context, 1, "w", DType::kFloat32, w));
  QRT_TRY(check_plain_constant(context, 2, "bias", DType::kFloat32, {w[0] * w[1]}));
  const Pads pads = pads_of(context, *window);
  QRT_TRY(read_axis("height", x[2], w[2], window->stride_h(), window->dilation_h(), pads.top,
                    pads.bottom, window->more_h(), &g->down));
  QRT_TRY(read_axis("width", x[3], w[3], window->stride_w(), window->dilation_w(), pads.left,
                    pads.right, window->more_w(), &g->across));
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  g->images = size(x[0]), g->groups = size(w[0]), g->in_c = size(w[4]), g->out_c = size(w[1]);
  return Status();
}

struct Params {
  const FloatKernel* kernel;
  Geometry geometry;
  size_t channels,
      chunks;   // output channels that are made at a time, and how often a group has so many
  size_t rows;  // of a strip
  size_t tasks, task_bytes;

  size_t floats_of_rows() const { return rows * geometry.across.in; }
};

// Adds the products of a tap, from input row `begin` on, to a plane of the output.
void add_tap(const Params& p, const float* products, size_t ky, size_t kx, size_t begin, size_t end,
             float* plane) {
  const Geometry& g = p.geometry;
  size_t row, last_row, to_row, column, last_column, to_column;
  g.down.reached(ky, begin, end, &row, &last_row, &to_row);
  g.across.reached(kx, 0, g.across.in, &column, &last_column, &to_column);
  if (column >= last_column) return;
  for (; row < last_row; ++row, to_row += g.down.stride) {
    const float* const from = products + (row - begin) * g.across.in + column;
    float* const to = plane + to_row * g.across.out + to_column;
    const size_t n = last_column - column, step = g.across.stride;
    if (step == 1)
      p.kernel->binary(FloatBinary::kAdd, to, 1, from, 1, to, n);
    else
      for (size_t i = 0; i < n; ++i) to[i * step] += from[i];
  }
}

// Makes some channels of an image; x are the planes of their group, w the rows of their taps.
void run_chunk(const Params& p, const float* x, const float* w, const float* bias, size_t channels,
               float* memory, float* y) {
  const Geometry& g = p.geometry;
  float *const products = memory, *const zeros = memory + channels * g.taps() * p.floats_of_rows();
  std::fill(zeros, zeros + p.floats_of_rows(), 0.0f);
  std::fill(y, y + channels * g.out_pixels(), 0.0f);
  for (size_t strip = ceil_div(g.down.in, p.rows); strip-- > 0;) {
    const size_t begin = strip * p.rows, end = std::min(begin + p.rows, g.down.in);
    OrtGemm gemm{OrtGemmOrder::kBlocks, g.in_c, (end - begin) * g.across.in, kBlock, 1};
    gemm.b_stride = g.in_pixels();
    p.kernel->ort_gemm(gemm, w, channels * g.taps(), x + begin * g.across.in, zeros, 0, products);
    for (size_t c = 0; c < channels; ++c)
      for (size_t tap = 0; tap < g.taps(); ++tap)
        add_tap(p, products + (c * g.taps() + tap) * gemm.n, tap / g.across.kernel,
                tap % g.across.kernel, begin, end, y + c * g.out_pixels());
  }
  for (size_t c = 0; c < channels; ++c, y += g.out_pixels())
    p.kernel->binary(FloatBinary::kAdd, y, 1, bias + c, 0, y, g.out_pixels());
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  const float *x = floats(context.in(step, 0)), *w = floats(context.in(step, 1));
  const float* bias = floats(context.in(step, 2));
  float* y = floats(context.out(step, 0));
  const size_t units = g.images * g.groups * p.chunks;
  for_chunks(*context.parallel, p.tasks, units, 1, [&](size_t task, size_t begin, size_t end) {
    float* const memory = floats(context.scratch + task * p.task_bytes);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t planes = unit / p.chunks, first = unit % p.chunks * p.channels;
      const size_t channel = planes % g.groups * g.out_c + first;
      const size_t image = planes / g.groups;
      run_chunk(p, x + planes * g.in_c * g.in_pixels(), w + channel * g.taps() * g.in_c,
                bias + channel, std::min(p.channels, g.out_c - first), memory,
                y + (image * g.groups * g.out_c + channel) * g.out_pixels());
    }
  });
}

}  // namespace

Status infer_float_conv_transpose(const InferContext& context, TensorTypes* outputs) {
  Geometry g;
  QRT_TRY(geometry_of(context, &g));
  const auto size = [](size_t v) { return static_cast<int64_t>(v); };
  return add_output(
      DType::kFloat32,
      {size(g.images), size(g.groups * g.out_c), size(g.down.out), size(g.across.out)}, outputs);
}

Status prepare_float_conv_transpose(const PrepareContext& context, PlannedStep* step) {
  auto p = make_planned<Params>();
  QRT_TRY(geometry_of(context, &p->geometry));
  const Geometry& g = p->geometry;
  p->kernel = select_float(context.isas);
  p->channels = std::min(ceil_div(kMinRows, g.taps()), g.out_c);
  p->chunks = ceil_div(g.out_c, p->channels);
  p->rows = std::clamp(kPixelsAtOnce / g.across.in, size_t{1}, g.down.in);
  const double products = static_cast<double>(g.images * g.groups * g.out_c) *
                          static_cast<double>(g.taps()) * static_cast<double>(g.in_pixels()) *
                          static_cast<double>(g.in_c);
  p->tasks =
      task_count(products / 4, product_or_most({g.images, g.groups, p->chunks}), context.threads);
  // Products, and the zeros that sums begin with.
  const size_t scratch =
      product_or_most({p->channels * g.taps() + 1, p->floats_of_rows(), sizeof(float)});
  p->task_bytes = scratch > SIZE_MAX / 2 ? SIZE_MAX : round_up(scratch + kSlack, kAlignment);
  step->scratch_bytes = product_or_most({p->tasks, p->task_bytes});
  step->macs = static_cast<uint64_t>(products);
  step->run = run;
  step->kernel = p->kernel->ort_gemm_name;
  step->params = std::move(p);
  return Status();
}

}  // namespace qrt

// Convolutions of floats; see float_conv.h. Planes stay where they are: a strip of output pixels of all planes at a
// time is the product of the weights and of what the windows read, one row for each channel and position, which is
// written out for the strip and stays in the cache. Where each channel has a filter of its own, the padded rows of
// its plane that a strip of output rows reads are written out once, columns that are a stride apart side by side, so that
// each position of the window reads a run of them.
#include "runtime/ops/float_conv.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/float_fallback/float_fallback.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/image.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Pixels of a strip: as many as keep what the windows read within half of a second-level cache's part of a core.
constexpr size_t kStripFloats = 32 << 10, kMinStrip = 16, kMaxStrip = 1024;
// The padded rows of a strip of a filter's: half of a small first-level cache.
constexpr size_t kFilterFloats = 4 << 10;
// Between the rows of a strip, so that they do not share few sets of the cache.
constexpr size_t kPadding = 16;

struct Geometry : Window2D {
  size_t images, in_c, out_c, groups;

  size_t group_in() const { return in_c / groups; }
  size_t group_out() const { return out_c / groups; }
  size_t terms() const { return group_in() * kernel_h * kernel_w; }
  size_t in_pixels() const { return in_h * in_w; }
  size_t out_pixels() const { return out_h * out_w; }
};

Status geometry_of(const InferContext& context, Geometry* g) {
  const auto* window = context.op->options_as<fb::FloatOptions>()->window();
  QRT_MODEL_CHECK(window != nullptr, "there is no window");
  QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  QRT_TRY(check_rank(context, 0, "x", 4, "[n, c, h, w]"));
  QRT_TRY(check_rank(context, 1, "w", 4, "[out, c / groups, kh, kw]"));
  const Shape &x = context.inputs[0].type.shape, &w = context.inputs[1].type.shape;
  const int64_t groups = window->groups();
  QRT_MODEL_CHECK(groups >= 1 && x[1] % groups == 0,
                  "groups is %lld, expected a divisor of the %lld input channels",
                  static_cast<long long>(groups), static_cast<long long>(x[1]));
  QRT_MODEL_CHECK(w[0] % groups == 0 && w[1] == x[1] / groups,
                  "w has shape %s, expected [out, %lld, kh, kw] with out a multiple of %lld groups",
                  w.to_string().c_str(), static_cast<long long>(x[1] / groups),
                  static_cast<long long>(groups));
  QRT_TRY(check_plain_constant(context, 1, "w", DType::kFloat32, w));
  QRT_TRY(check_plain_constant(context, 2, "bias", DType::kFloat32, {w[0]}));
  WindowAxes axes = axes_of(*window, pads_of(context, *window), w[2], w[3]);
  QRT_TRY(infer_windows({x[0], x[2], x[3], x[1]}, &axes, g));
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  g->images = size(x[0]), g->in_c = size(x[1]), g->out_c = size(w[0]), g->groups = size(groups);
  return Status();
}

struct Params {
  const FloatKernel* kernel;
  Geometry geometry;
  OrtGemm gemm;  // but for the pixels of a strip
  size_t strip, strips, tasks, task_bytes;
  // Of filters of one channel: a strip is that many output rows; floats of a padded row, and of those of its columns
  // that are a stride apart.
  size_t row_floats, phase_floats;
  std::vector<size_t> offsets;  // of the window's positions
};

// y[i] = x[i * stride]
void copy_columns(const float* x, size_t stride, size_t n, float* y) {
  if (stride == 1) {
    memcpy(y, x, n * sizeof(float));
  } else if (stride == 2) {
    for (size_t i = 0; i < n; ++i) y[i] = x[2 * i];
  } else {
    for (size_t i = 0; i < n; ++i) y[i] = x[i * stride];
  }
}

// A part of one output row: pixels x from `begin` to `end`.
struct Part {
  size_t row, begin, end;
};

// What position (ky, kx) of the windows reads for a part: y[0 .. end - begin), 0 outside the plane.
void read_part(const Geometry& g, const float* plane, size_t ky, size_t kx, const Part& part,
               float* y) {
  const size_t count = part.end - part.begin;
  const size_t below = part.row * g.stride_h + ky * g.dilation_h;  // by the padding
  if (below < g.pad_top || below - g.pad_top >= g.in_h) {
    std::fill(y, y + count, 0.0f);
    return;
  }
  const float* const row = plane + (below - g.pad_top) * g.in_w;
  const size_t shift = kx * g.dilation_w;
  // Outputs from first on read the row, from last on what is behind it.
  const size_t first = shift >= g.pad_left ? 0 : (g.pad_left - shift + g.stride_w - 1) / g.stride_w;
  const size_t end = g.in_w + g.pad_left;
  const size_t last = end <= shift ? 0 : (end - shift + g.stride_w - 1) / g.stride_w;
  const size_t from = std::clamp(first, part.begin, part.end);
  const size_t to = std::clamp(last, from, part.end);
  std::fill(y, y + (from - part.begin), 0.0f);
  std::fill(y + (to - part.begin), y + count, 0.0f);
  if (from == to) return;
  const float* const x = row + (from * g.stride_w + shift - g.pad_left);
  copy_columns(x, g.stride_w, to - from, y + (from - part.begin));
}

// The rows of a strip of `count` pixels from `begin` on, `stride` floats apart.
void read_strip(const Geometry& g, const float* planes, size_t begin, size_t count, size_t stride,
                float* rows) {
  for (size_t c = 0; c < g.group_in(); ++c)
    for (size_t ky = 0; ky < g.kernel_h; ++ky)
      for (size_t kx = 0; kx < g.kernel_w; ++kx, rows += stride)
        for (size_t done = 0; done < count;) {
          const size_t row = (begin + done) / g.out_w, x = (begin + done) % g.out_w;
          const size_t part = std::min(g.out_w - x, count - done);
          read_part(g, planes + c * g.in_pixels(), ky, kx, {row, x, x + part}, rows + done);
          done += part;
        }
}

void run_conv(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  const float *x = floats(context.in(step, 0)), *w = floats(context.in(step, 1));
  const float* const bias = floats(context.in(step, 2));
  float* const y = floats(context.out(step, 0));
  const size_t units = g.images * g.groups * p.strips, pixels = g.out_pixels();
  for_pieces(*context.parallel, p.tasks, units, 1, [&](size_t task, size_t begin, size_t end) {
    float* const zeros = floats(context.scratch + task * p.task_bytes);
    float* const rows = zeros + p.strip;
    std::fill(zeros, rows, 0.0f);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t plane = unit / p.strips, image = plane / g.groups, group = plane % g.groups;
      const size_t first = unit % p.strips * p.strip;
      OrtGemm gemm = p.gemm;
      gemm.n = std::min(p.strip, pixels - first);
      gemm.b_stride = gemm.order == OrtGemmOrder::kFours ? gemm.n : p.strip + kPadding;
      gemm.y_stride = pixels;
      read_strip(g, x + (image * g.in_c + group * g.group_in()) * g.in_pixels(), first, gemm.n,
                 gemm.b_stride, rows);
      const size_t outs = g.group_out(), out = group * outs;
      const size_t at = (image * g.out_c + out) * pixels + first;
      p.kernel->ort_gemm(gemm, w + out * gemm.k, outs, rows, zeros, 0, y + at);
      for (size_t o = 0; o < outs; ++o) {
        float* const sums = y + at + o * pixels;
        p.kernel->binary(FloatBinary::kAdd, sums, 1, bias + out + o, 0, sums, gemm.n);
      }
      if (step.follower != nullptr) follow(step, context, at, outs, gemm.n, pixels);
    }
  });
}

// Writes the padded rows that `rows` output rows from `begin` on read.
void read_rows(const Params& p, const float* plane, size_t begin, size_t rows, float* to) {
  const Geometry& g = p.geometry;
  const size_t all = g.padded_h(rows);
  for (size_t r = 0; r < all; ++r, to += p.row_floats) {
    const size_t below = begin * g.stride_h + r;  // by the padding
    if (below < g.pad_top || below - g.pad_top >= g.in_h) {
      std::fill(to, to + p.row_floats, 0.0f);
      continue;
    }
    const float* const row = plane + (below - g.pad_top) * g.in_w;
    for (size_t phase = 0; phase < g.stride_w; ++phase) {
      // Columns phase, phase + stride, ... of the padded row.
      float* const columns = to + phase * p.phase_floats;
      const size_t behind = phase < g.pad_left ? g.pad_left - phase : 0;
      const size_t first = std::min(ceil_div(behind, g.stride_w), p.phase_floats);
      const size_t column = phase + first * g.stride_w;  // of the padded row
      const size_t behind_end = g.in_w + g.pad_left;
      const size_t inside = column < behind_end && column >= g.pad_left
                                ? ceil_div(behind_end - column, g.stride_w)
                                : 0;
      const size_t end = first + std::min(inside, p.phase_floats - first);
      std::fill(columns, columns + first, 0.0f);
      if (end > first)
        copy_columns(row + (column - g.pad_left), g.stride_w, end - first, columns + first);
      std::fill(columns + end, columns + p.phase_floats, 0.0f);
    }
  }
}

void run_filters(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  const float *x = floats(context.in(step, 0)), *w = floats(context.in(step, 1));
  const float* const bias = floats(context.in(step, 2));
  float* const y = floats(context.out(step, 0));
  const size_t units = g.images * g.groups * p.strips;
  for_pieces(*context.parallel, p.tasks, units, 1, [&](size_t task, size_t begin, size_t end) {
    float* const rows = floats(context.scratch + task * p.task_bytes);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t plane = unit / p.strips, channel = plane % g.groups;
      const size_t first = unit % p.strips * p.strip, count = std::min(p.strip, g.out_h - first);
      read_rows(p, x + plane * g.in_pixels(), first, count, rows);
      const FloatTaps taps = {p.offsets.data(), w + channel * p.offsets.size(), p.offsets.size(),
                              bias[channel]};
      const size_t at = plane * g.out_pixels() + first * g.out_w;
      for (size_t r = 0; r < count; ++r)
        p.kernel->sum_taps(taps, rows + r * g.stride_h * p.row_floats, g.out_w,
                           y + at + r * g.out_w);
      if (step.follower != nullptr) follow(step, context, at, 1, count * g.out_w, count * g.out_w);
    }
  });
}

// Returns whether windows leave few of the rows and columns unread that they span.
bool is_compact(const Geometry& g) {
  constexpr size_t kMostSteps = 4;
  return std::max({g.stride_h, g.stride_w, g.dilation_h, g.dilation_w}) <= kMostSteps;
}

// REQUIRES: groups of one channel and one output.
void plan_filters(Params* p) {
  const Geometry& g = p->geometry;
  p->phase_floats = ceil_div(g.padded_w(), g.stride_w);
  p->row_floats = p->phase_floats * g.stride_w;
  for (size_t ky = 0; ky < g.kernel_h; ++ky)
    for (size_t kx = 0; kx < g.kernel_w; ++kx) {
      const size_t column = kx * g.dilation_w;
      p->offsets.push_back(ky * g.dilation_h * p->row_floats +
                           column % g.stride_w * p->phase_floats + column / g.stride_w);
    }
  const size_t fitting = kFilterFloats / p->row_floats / g.stride_h;
  p->strip = std::clamp(fitting, size_t{1}, g.out_h);
  p->strips = ceil_div(g.out_h, p->strip);
}

}  // namespace

Status infer_float_conv(const InferContext& context, std::vector<TensorType>* outputs) {
  Geometry g;
  QRT_TRY(geometry_of(context, &g));
  const auto size = [](size_t v) { return static_cast<int64_t>(v); };
  return add_output(DType::kFloat32,
                    {context.inputs[0].type.shape[0], size(g.out_c), size(g.out_h), size(g.out_w)},
                    outputs);
}

Status prepare_float_conv(const PrepareContext& context, PlannedStep* step) {
  auto p = std::make_shared<Params>();
  QRT_TRY(geometry_of(context, &p->geometry));
  const Geometry& g = p->geometry;
  const size_t pixels = g.out_pixels();
  p->kernel = select_float(context.isas);
  p->gemm.order = g.group_out() == 1 ? OrtGemmOrder::kFours : OrtGemmOrder::kBlocks;
  p->gemm.k = g.terms();
  p->gemm.block = static_cast<size_t>(
      ort_gemm_block(static_cast<int64_t>(pixels), static_cast<int64_t>(g.terms()), false));
  p->gemm.alpha = 1;
  const bool has_filters = g.group_in() == 1 && g.group_out() == 1 && is_compact(g);
  if (has_filters) {
    QRT_TRY(context.take(g.terms() * sizeof(size_t)));
    plan_filters(p.get());
    p->task_bytes = product_or_most({g.padded_h(p->strip), p->row_floats, sizeof(float)});
  } else {
    p->strip = std::clamp(kStripFloats / g.terms() / kMinStrip * kMinStrip, kMinStrip, kMaxStrip);
    p->strip = std::min(p->strip, round_up(pixels, kMinStrip));
    p->strips = ceil_div(pixels, p->strip);
    p->task_bytes = product_or_most({g.terms() + 1, p->strip + kPadding, sizeof(float)});
  }
  const double products = static_cast<double>(g.images * g.out_c) * static_cast<double>(pixels) *
                          static_cast<double>(g.terms());
  p->tasks =
      task_count(products / 8, product_or_most({g.images, g.groups, p->strips}), context.threads);
  if (!checked_align(p->task_bytes, kAlignment, &p->task_bytes)) p->task_bytes = SIZE_MAX;
  step->scratch_bytes = product_or_most({p->tasks, p->task_bytes});
  step->macs = static_cast<uint64_t>(products);
  step->run = has_filters ? run_filters : run_conv;
  step->can_lead = true;
  step->kernel = has_filters ? p->kernel->taps_name : p->kernel->ort_gemm_name;
  step->params = std::move(p);
  return Status();
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Conv2D as matrix products, in one of three forms,
//
//   dense     1x1, stride 1, no padding: every pixel of every image is a row; one product per group
//   indirect  TapLayout PIXEL otherwise: a table of one image's pixels, [out_h * out_w][taps], made
//             by bind(); positions outside the image point to a row of zero points
//   rows      TapLayout ROW (few channels): a tap is a whole kernel row of kw * c bytes, so an
//             output row is one product over a zero-point-padded copy of the image rows it needs
//
// or in one of conv2d_forms.h, where that is faster. With INT16 activations: conv2d_int16.cc.
#include <algorithm>
#include <cstring>

#include "kernels/gemm/pack.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/conv2d_forms.h"
#include "runtime/ops/dynamic_layer.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/image.h"
#include "runtime/ops/int16_gemm.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Padded rows of one task should stay in the first-level cache beside the weights.
constexpr size_t kStripBytes = 24 << 10;

using Geometry = Conv2DGeometry;

}  // namespace

Status conv2d_geometry(const InferContext& context, Geometry* g) {
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  if (!is_dynamic_layer(context)) QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_image(context, 0));
  QRT_TRY(check_dtype(context, 1, "weights", DType::kInt8));
  QRT_TRY(check_rank(context, 1, "weights", 4, "[out, kh, kw, in / groups]"));
  const Shape& x = context.inputs[0].type.shape;
  const Shape& w = context.inputs[1].type.shape;
  const ImageShape image = image_shape(x);
  const int64_t in_c = image.c;
  const int64_t groups = options->groups();
  QRT_MODEL_CHECK(groups >= 1 && in_c % groups == 0,
                  "groups is %lld, expected a divisor of the %lld input channels",
                  static_cast<long long>(groups), static_cast<long long>(in_c));
  QRT_MODEL_CHECK(w[0] % groups == 0 && w[3] == in_c / groups,
                  "weights have shape %s, expected [out, kh, kw, %lld] with out a multiple of %lld "
                  "groups",
                  w.to_string().c_str(), static_cast<long long>(in_c / groups),
                  static_cast<long long>(groups));
  const Pads pads = pads_of(context, *options);
  WindowAxes axes = axes_of(*options, pads, w[1], w[2]);
  QRT_TRY(infer_windows(x, &axes, g));
  QRT_TRY(check_range("terms", options->terms(), 1, 3));
  QRT_TRY(check_digits(context, options->terms(), options->digits()));
  QRT_TRY(check_range("tap_layout", static_cast<int>(options->tap_layout()), 0, 1));
  g->row_taps = options->tap_layout() == fb::TapLayout::ROW;
  QRT_MODEL_CHECK(!g->row_taps || (groups == 1 && options->dilation_w() == 1),
                  "tap_layout ROW with groups %lld and dilation_w %d, expected 1 and 1",
                  static_cast<long long>(groups), options->dilation_w());

  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  g->images = size(image.images), g->in_c = size(in_c), g->out_c = size(w[0]);
  g->groups = size(groups), g->terms = options->terms();
  g->is_padded = (pads.top | pads.left | pads.bottom | pads.right) != 0;
  g->is_dense =
      g->kernel_h == 1 && g->kernel_w == 1 && g->stride_h == 1 && g->stride_w == 1 && !g->is_padded;
  g->taps = g->terms * g->kernel_h * (g->row_taps ? 1 : g->kernel_w);
  g->k = size(w[3]) * (g->row_taps ? g->kernel_w : 1);
  return {};
}

namespace {

Status check_constants(const InferContext& context, const Geometry& g) {
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  const size_t matrices = options->digits() * g.groups;
  const uint64_t packed = matrices * gemm_packed_bytes(g.out_c / g.groups, g.taps, g.k);
  QRT_TRY(check_weights(context, fb::Packing::GEMM, packed,
                        matrices * ceil_div(g.out_c / g.groups, 16)));
  QRT_TRY(check_gemm_tails(context, matrices, g.out_c / g.groups, g.taps, g.k));
  if (runs_int16(context.inputs[0].type.dtype)) {
    QRT_TRY(check_input_count(context, 3));
    QRT_TRY(check_int16_constants(context, g.out_c, g.taps * round_up(g.k, 4),
                                  options->weight_sum(), options->requant(), /*is_planes=*/true,
                                  options->digits()));
    return check_true_weight_sum(context, options->weight_sum(), matrices, g.out_c / g.groups,
                                 g.taps, g.k);
  }
  QRT_TRY(check_bias(context, 2, g.out_c));
  QRT_TRY(check_weight_sum(options->weight_sum(), g.out_c));
  return check_requant(options->requant(), g.out_c, /*allow_acc=*/true);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  Geometry g;
  QRT_TRY(conv2d_geometry(context, &g));
  if (!context.knows_constants) QRT_TRY(check_constants(context, g));
  const auto* requant = context.op->options_as<fb::Conv2DOptions>()->requant();
  const DType x = context.inputs[0].type.dtype;
  if (!runs_int16(x))
    QRT_TRY(check_dynamic_layer(context, g.out_c, static_cast<int64_t>(g.images), requant,
                                context.op->options_as<fb::Conv2DOptions>()->store()));
  const bool acc = requant->kind() == fb::RequantKind::ACC;
  const DType wide = acc ? DType::kInt32 : DType::kInt16;
  return add_output(x == DType::kInt16 ? wide : layer_output_dtype(context, requant),
                    with_planes(context.inputs[0].type.shape, static_cast<int64_t>(g.out_h),
                                static_cast<int64_t>(g.out_w), static_cast<int64_t>(g.out_c)),
                    outputs);
}

struct Params {
  Geometry geometry;
  GemmCall gemm;
  DynamicLayer dynamic;
  size_t runs;               // 1, or the number of images where each image has a scale of its own
  uint8_t input_zero_point;  // a dynamic layer takes that of the run instead
  // Bytes of the row of zero points in front of the table of addresses (indirect forms).
  size_t zero_bytes;

  // Form "rows". A task pads the input of strip_rows output rows at a time into its scratch
  // (task_scratch 0: there is nothing to pad).
  size_t row_tasks, padded_w, strip_rows, task_scratch;
};

void run_dense(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t in_bytes = p.gemm.m * input_pitch(step, 0, p.geometry.in_c);
  const size_t out_elements = p.gemm.m * p.gemm.groups * p.gemm.n;
  for (size_t i = 0; i < p.runs; ++i) {
    GemmOperands args{};
    const uint8_t* x = context.in(step, 0) + i * in_bytes;
    uint8_t* y = context.out(step, 0) + i * out_elements * p.gemm.element_bytes;
    args.a_stride = input_pitch(step, 0, p.geometry.in_c);
    args.a_tap_stride = 0;  // all terms of a weight see the same pixel
    args.c = y;
    args.c_stride = step.output_pitch;
    if (p.dynamic.is_used()) p.dynamic.start(step, context, p.gemm, i, &args);
    for_gemm_chunks(p.gemm, *context.parallel, [&](size_t task, size_t group, size_t chunk) {
      GemmOperands a = args;
      a.a = x + group * p.geometry.k;
      run_leading_chunk(step, context, p.gemm, a, task, 0, group, chunk);
    });
    if (p.dynamic.is_used()) p.dynamic.finish(step, context, args, i, y, out_elements);
  }
}

// Writes the step's state: the row of zero points, then the table of pixels.
void bind_indirect(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  const uint8_t* x = context.in(step, 0);
  const size_t pixel = input_pitch(step, 0, g.in_c);
  memset(context.state, p.input_zero_point, p.zero_bytes);
  const uint8_t** entry = reinterpret_cast<const uint8_t**>(context.state + p.zero_bytes);
  for (size_t y = 0; y < g.out_h; ++y) {
    for (size_t xo = 0; xo < g.out_w; ++xo) {
      for (size_t term = 0; term < g.terms; ++term) {
        for (size_t ky = 0; ky < g.kernel_h; ++ky) {
          // Positions before the image wrap around to values beyond its size.
          const size_t iy = y * g.stride_h + ky * g.dilation_h - g.pad_top;
          for (size_t kx = 0; kx < g.kernel_w; ++kx) {
            const size_t ix = xo * g.stride_w + kx * g.dilation_w - g.pad_left;
            const bool inside = iy < g.in_h && ix < g.in_w;
            *entry++ = inside ? x + (iy * g.in_w + ix) * pixel : context.state;
          }
        }
      }
    }
  }
}

void run_indirect(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  GemmOperands args{};
  args.indirection = reinterpret_cast<const uint8_t* const*>(context.state + p.zero_bytes);
  args.zero = context.state;
  args.c_stride = output_pitch(step, p.gemm.c_stride());
  const size_t image_bytes = g.in_h * g.in_w * input_pitch(step, 0, g.in_c);
  const size_t images = g.images / p.runs;
  for (size_t i = 0; i < p.runs; ++i) {
    uint8_t* const y = context.out(step, 0) + i * images * p.gemm.m * args.c_stride;
    if (p.dynamic.is_used()) {
      memset(context.state, p.dynamic.zero_point(step, context, i), p.zero_bytes);
      p.dynamic.start(step, context, p.gemm, i, &args);
    }
    for_gemm_chunks(p.gemm, *context.parallel, [&](size_t task, size_t outer, size_t chunk) {
      const size_t image = outer / g.groups, group = outer % g.groups;
      GemmOperands a = args;
      a.a_offset = static_cast<ptrdiff_t>((i * images + image) * image_bytes + group * g.k);
      a.c = y + image * p.gemm.m * args.c_stride;
      run_leading_chunk(step, context, p.gemm, a, task, image, group, chunk);
    });
    if (p.dynamic.is_used())
      p.dynamic.finish(step, context, args, i, y, p.gemm.outer * p.gemm.m * p.gemm.n);
  }
}

// Copies image row iy with its padding to `to`. A row outside the image is all padding; iy is
// modulo 2^64.
void pad_row(const Params& p, const uint8_t* image, uint8_t zero_point, size_t iy, uint8_t* to) {
  const Geometry& g = p.geometry;
  if (iy >= g.in_h) {
    memset(to, zero_point, p.padded_w * g.in_c);
    return;
  }
  const size_t left = std::min(g.pad_left, p.padded_w);
  const size_t inside = std::min(g.in_w, p.padded_w - left);
  const size_t right = p.padded_w - left - inside;
  memset(to, zero_point, left * g.in_c);
  memcpy(to + left * g.in_c, image + iy * g.in_w * g.in_c, inside * g.in_c);
  memset(to + (left + inside) * g.in_c, zero_point, right * g.in_c);
}

// The arguments that all tasks of the form "rows" share.
struct RowsJob {
  const Step& step;
  const RunContext& context;
  const Params& p;
  const uint8_t* x;
  uint8_t* y;
  uint8_t zero_point;
  GemmOperands args;  // bias and requantisation of a dynamic layer
};

// Computes output row `row`, counted over all images, and the follower's work on it.
void run_row(const RowsJob& job, GemmOperands* args, size_t row) {
  const Geometry& g = job.p.geometry;
  args->c = job.y + row * g.out_w * job.p.gemm.c_stride();
  run_gemm_chunk(job.p.gemm, *args, 0, 0);
  if (job.step.follower == nullptr) return;
  const size_t count = g.out_w * g.out_c, at = row * count;
  if (args->tile != nullptr)
    run_follower_on_tile(job.step, job.context, args->tile, job.p.gemm.element_bytes, at, 1, count,
                         count);
  else
    run_follower(job.step, job.context, at, 1, count, count);
}

// Computes output rows [begin, end) from the image itself, which needs no padding. `tile` is the
// task's, see tile_scratch_of().
void run_rows_unpadded(const RowsJob& job, size_t begin, size_t end, uint8_t* tile) {
  const Params& p = job.p;
  const Geometry& g = p.geometry;
  const size_t row_bytes = g.in_w * g.in_c;
  GemmOperands args = job.args;
  args.tile = tile;
  args.tile_stride = p.gemm.c_stride();
  args.a_stride = g.stride_w * g.in_c;
  args.a_tap_stride = row_bytes * g.dilation_h;
  for (size_t row = begin; row < end; ++row) {
    const size_t image = row / g.out_h, out_y = row % g.out_h;
    args.a = job.x + (image * g.in_h + out_y * g.stride_h) * row_bytes;
    run_row(job, &args, row);
  }
}

// Computes output rows [begin, end) from padded copies in `scratch`: with one term of the input
// rows of strip_rows output rows, with more terms of the kernel's rows of one output row, once per
// term, in the order of the taps.
void run_rows_padded(const RowsJob& job, size_t begin, size_t end, uint8_t* scratch,
                     uint8_t* tile) {
  const Params& p = job.p;
  const Geometry& g = p.geometry;
  const size_t row_bytes = p.padded_w * g.in_c;
  GemmOperands args = job.args;
  args.tile = tile;
  args.tile_stride = p.gemm.c_stride();
  args.a_stride = g.stride_w * g.in_c;
  args.a_tap_stride = g.terms == 1 ? row_bytes * g.dilation_h : row_bytes;
  for (size_t row = begin; row < end;) {
    const size_t image = row / g.out_h, out_y = row % g.out_h;
    const size_t rows = std::min({p.strip_rows, end - row, g.out_h - out_y});
    const uint8_t* pixels = job.x + image * g.in_h * g.in_w * g.in_c;
    const size_t first = out_y * g.stride_h - g.pad_top;
    if (g.terms == 1) {
      const size_t needed = (rows - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1;
      for (size_t i = 0; i < needed; ++i)
        pad_row(p, pixels, job.zero_point, first + i, scratch + i * row_bytes);
    } else {
      for (size_t t = 0; t < g.taps; ++t)
        pad_row(p, pixels, job.zero_point, first + t % g.kernel_h * g.dilation_h,
                scratch + t * row_bytes);
    }
    for (size_t i = 0; i < rows; ++i, ++row) {
      args.a = scratch + i * g.stride_h * row_bytes;
      run_row(job, &args, row);
    }
  }
}

void run_rows(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  RowsJob job = {step, context, p, context.in(step, 0), context.out(step, 0), p.input_zero_point,
                 {}};
  const size_t rows = g.images / p.runs * g.out_h;
  for (size_t i = 0; i < p.runs; ++i) {
    if (p.dynamic.is_used()) {
      job.zero_point = p.dynamic.zero_point(step, context, i);
      p.dynamic.start(step, context, p.gemm, i, &job.args);
    }
    for_chunks(*context.parallel, p.row_tasks, rows, 1, [&](size_t task, size_t begin, size_t end) {
      uint8_t* const tile = tile_scratch_of(step, context, task);
      begin += i * rows, end += i * rows;
      if (p.task_scratch == 0) {
        run_rows_unpadded(job, begin, end, tile);
      } else {
        run_rows_padded(job, begin, end, context.scratch + task * p.task_scratch, tile);
      }
    });
    if (p.dynamic.is_used())
      p.dynamic.finish(step, context, job.args, i, job.y + i * rows * g.out_w * p.gemm.c_stride(),
                       rows * g.out_w * g.out_c);
  }
}

Status prepare_indirect(Params* p, PlannedStep* step) {
  const Geometry& g = p->geometry;
  p->zero_bytes = round_up(p->gemm.kc + kSlack, kAlignment);
  size_t entries, table;
  if (!checked_mul(g.out_h * g.out_w, g.taps, &entries) ||
      !checked_mul(entries, sizeof(uint8_t*), &table) ||
      !checked_add(table, p->zero_bytes, &step->state_bytes)) {
    return error(Code::kOutOfMemory, "the indirection table of %zu x %zu pixels by %zu taps",
                 g.out_h, g.out_w, g.taps);
  }
  step->bind = bind_indirect;
  step->keeps_addresses = true;
  step->run = run_indirect;
  return Status();
}

Status prepare_rows(size_t threads, Params* p, PlannedStep* step) {
  const Geometry& g = p->geometry;
  const double ns = static_cast<double>(step->macs) / speed_of(p->gemm.kernel->isa).macs;
  const double runs = static_cast<double>(p->runs);
  p->row_tasks = task_count(ns / runs, g.images / p->runs * g.out_h, threads);
  p->padded_w = (g.out_w - 1) * g.stride_w + g.kernel_w;
  p->strip_rows = 1;
  p->task_scratch = 0;
  step->run = run_rows;
  if (!g.is_padded && g.terms == 1) return Status();

  const size_t row_bytes = product_or_most({p->padded_w, g.in_c});
  size_t rows = g.terms == 1 ? (g.kernel_h - 1) * g.dilation_h + 1 : g.taps;
  if (g.terms == 1) {
    while (p->strip_rows < g.out_h && rows + g.stride_h <= kStripBytes / row_bytes) {
      rows += g.stride_h;
      ++p->strip_rows;
    }
  }
  size_t bytes;
  if (!checked_mul(rows, row_bytes, &bytes) || !checked_add(bytes, 2 * kSlack, &bytes) ||
      !checked_align(bytes, kAlignment, &p->task_scratch) ||
      !checked_mul(p->task_scratch, p->row_tasks, &step->scratch_bytes)) {
    return error(Code::kOutOfMemory, "%zu padded rows of %zu bytes", rows, row_bytes);
  }
  return Status();
}

// Returns whether the layer takes the form "rows".
bool is_run_by_rows(const Geometry& g) { return g.row_taps && !g.is_dense; }

// Makes the products of the forms "dense", "indirect" and "rows".
Status make_products(const PrepareContext& context, const Geometry& g, GemmCall* gemm) {
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  gemm->groups = g.groups;
  gemm->n = g.out_c / g.groups;
  gemm->taps = g.taps;
  gemm->kc = round_up(g.k, 4);
  if (g.is_dense) {
    gemm->outer = g.groups;
    gemm->m = g.images / scales_of(context) * g.in_h * g.in_w;
  } else if (is_run_by_rows(g)) {
    gemm->m = g.out_w;
  } else {
    gemm->outer = g.images / scales_of(context) * g.groups;
    gemm->m = g.out_h * g.out_w;
  }
  QRT_TRY(context.take(gemm_table_bytes(options->requant(), gemm->groups, gemm->n)));
  make_gemm({context.inputs[1].data, context.inputs[2].data, options->weight_sum()},
            {options->requant(), options->pair_safe(), context.file_end, context.shared},
            context.isas, is_run_by_rows(g) ? 1 : context.threads, gemm);
  return {};
}

// Prepares the first form of kConv2DForms that sets step->run, and *gemm if that form needs it or
// no form applies. All forms take memory to save time, so none is tried unless context.may_spend.
Status prepare_form(const PrepareContext& context, const Geometry& g, GemmCall* gemm,
                    PlannedStep* step) {
  const auto& options = *context.op->options_as<fb::Conv2DOptions>();
  const Shape& weights = context.inputs[1].type.shape;
  for (const Conv2DForm& form : kConv2DForms) {
    if (!form.part.is_built || !context.may_spend || !form.may_take(options, weights)) continue;
    if (form.takes_gemm && gemm->kernel == nullptr) QRT_TRY(make_products(context, g, gemm));
    QRT_TRY(form.prepare(context, g, gemm, step));
    if (step->run != nullptr) return {};
  }
  return gemm->kernel == nullptr ? make_products(context, g, gemm) : Status();
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  auto params = make_planned<Params>();
  Geometry& g = params->geometry;
  QRT_TRY(conv2d_geometry(context, &g));
  params->input_zero_point = options->input_zero_point();
  params->runs = scales_of(context);
  step->macs = g.macs();
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16_conv2d(context, g, step);

  GemmCall& gemm = params->gemm;
  QRT_TRY(prepare_form(context, g, &gemm, step));
  if (step->run != nullptr) return Status();

  const bool as_rows = is_run_by_rows(g);
  step->kernel = gemm.kernel->name;
  step->can_lead = !is_dynamic_layer(context);
  if (!as_rows) {
    step->spare_bytes = spare_bytes(gemm);
    step->input_rows = g.images * g.in_h * g.in_w;
    if (!is_dynamic_layer(context)) step->output_rows = g.images * g.out_h * g.out_w;
  }
  if (g.is_dense) {
    step->run = run_dense;
  } else if (as_rows) {
    QRT_TRY(prepare_rows(context.threads, params.get(), step));
  } else {
    QRT_TRY(prepare_indirect(params.get(), step));
  }
  if (as_rows && gemm.element_bytes > 1) {
    step->tile_tasks = params->row_tasks;
    step->tile_bytes = round_up(g.out_w * g.out_c * gemm.element_bytes + kSlack, kAlignment);
  } else if (!as_rows) {
    offer_tiles(gemm, step);
  }
  QRT_TRY(params->dynamic.prepare(context, options->weight_sum(), options->store(),
                                  /*each_row=*/false, gemm, &step->scratch_bytes));
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_conv2d(const fb::Operator& op) {
  return describe_requant(requant_of<fb::Conv2DOptions>(op));
}

const OpDef kConv2DOp = {"Conv2D",
                         fb::OpOptions::Conv2D,
                         infer,
                         prepare,
                         {Arithmetic::kRequant, level_of_layer<fb::Conv2DOptions>,
                          requant_of<fb::Conv2DOptions>, always_apart, LayoutRule::kImages,
                          Broadcasting::kNone, Constants::weights<fb::Conv2DOptions>()}};

}  // namespace qrt

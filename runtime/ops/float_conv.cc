// SPDX-License-Identifier: Apache-2.0
// Convolutions of floats; see float_conv.h. A tile of outputs at a time, the lines of every plane that its windows read are
// written out with their padding, those that are a stride apart side by side: each position of the window then reads a run of
// them, at an offset, for all outputs of the tile. Sums go to memory of the same lines, and without their ends to the output.
#include "runtime/ops/float_conv.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/float_fallback/float_fallback.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/image.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// The planes that a tile reads have up to kTileFloats, and a tile at least kMinOutputs outputs, so that its products
// are long enough.
constexpr size_t kTileFloats = 16 << 10, kMinOutputs = 256;
// A tile of single outputs, which read each value a few times, reads up to kFilterFloats: half of a small first-level cache.
// From kLongRow columns on its rows go to the output one by one.
constexpr size_t kFilterFloats = 4 << 10, kLongRow = 64;
// Strides and dilations up to this leave little of a row unread.
constexpr size_t kCompact = 4;

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

// The layout of one axis' padded copy: planes of lines that are a stride apart. With small steps all taps share the planes;
// otherwise each tap has a plane of its own.
struct AxisLayout {
  size_t stride, dilation, taps;
  bool is_shared;

  AxisLayout() = default;
  AxisLayout(size_t s, size_t d, size_t k)
      : stride(s), dilation(d), taps(k), is_shared(std::max(s, d) <= kCompact) {}

  size_t planes() const { return is_shared ? stride : taps; }
  // Returns the lines of a plane that so many outputs read.
  size_t lines(size_t outputs) const {
    return is_shared ? ceil_div((outputs - 1) * stride + (taps - 1) * dilation + 1, stride)
                     : outputs;
  }
  // Returns the position in a padded plane at which the plane's first row begins.
  size_t origin(size_t plane) const { return is_shared ? plane : plane * dilation; }
  size_t plane_of(size_t tap) const { return is_shared ? tap * dilation % stride : tap; }
  size_t line_of(size_t tap) const { return is_shared ? tap * dilation / stride : 0; }
};

struct Params {
  const FloatKernel* kernel;
  Geometry geometry;
  OrtGemm gemm;  // but for the outputs of a tile
  AxisLayout down, across;
  size_t rows, columns;  // outputs of a tile
  size_t row_tiles, column_tiles, tasks, task_bytes;
  bool is_dense;               // what a tile reads of a plane are whole lines of it
  size_t pitch;                // floats of a line that is written out
  PlanVector<size_t> offsets;  // of channels and positions, in what is written out

  // Floats that an input plane becomes, and those of an output plane's sums, ends of lines included.
  size_t written() const { return down.planes() * across.planes() * down.lines(rows) * pitch; }
  size_t sums() const { return rows * pitch; }
};

// Copies lines of n floats, each as two copies of `width` floats that may overlap. REQUIRES: width <= n <= 2 * width.
template <size_t width>
void copy_rows_twice(const float* x, size_t x_pitch, size_t lines, size_t n, float* y,
                     size_t y_pitch) {
  for (; lines > 0; --lines, x += x_pitch, y += y_pitch) {
    memcpy(y, x, width * sizeof(float));
    memcpy(y + n - width, x + n - width, width * sizeof(float));
  }
}

// Copies lines of n floats, a pitch apart. Lines of small images are shorter than a call of memcpy takes.
void copy_rows(const float* x, size_t x_pitch, size_t lines, size_t n, float* y, size_t y_pitch) {
  const auto copy = n > 16   ? nullptr
                    : n >= 8 ? copy_rows_twice<8>
                    : n >= 4 ? copy_rows_twice<4>
                    : n >= 2 ? copy_rows_twice<2>
                             : copy_rows_twice<1>;
  if (n == 0) return;
  if (copy != nullptr) return copy(x, x_pitch, lines, n, y, y_pitch);
  for (; lines > 0; --lines, x += x_pitch, y += y_pitch) memcpy(y, x, n * sizeof(float));
}

// y[i] = x[i * stride]
void copy_columns(const float* x, size_t stride, size_t n, float* y) {
  if (stride == 2) {
    for (size_t i = 0; i < n; ++i) y[i] = x[2 * i];
  } else {
    for (size_t i = 0; i < n; ++i) y[i] = x[i * stride];
  }
}

// The lines or columns of what is written out that lie in the image: from `first` to `last`, the first of them at `at` of the image.
struct Inside {
  size_t first, last, at;

  // Finds those of n positions, a stride apart from padded position `begin` on, that lie inside an axis of `size` behind `pad`.
  Inside(size_t pad, size_t size, size_t stride, size_t begin, size_t n) {
    const size_t end = size + pad;
    first = begin < pad ? std::min(ceil_div(pad - begin, stride), n) : 0;
    const size_t from = begin + first * stride;
    last = from < end ? first + std::min(ceil_div(end - from, stride), n - first) : first;
    at = last > first ? from - pad : 0;
  }
  size_t count() const { return last - first; }
};

// Clears what lies outside the image, of `lines` lines of `pitch` floats.
void clear_outside(const Inside& rows, const Inside& columns, size_t lines, size_t pitch,
                   float* y) {
  std::fill(y, y + rows.first * pitch, 0.0f);
  for (size_t line = rows.first; line < rows.last; ++line) {
    float* const to = y + line * pitch;
    for (size_t i = 0; i < columns.first; ++i) to[i] = 0;
    for (size_t i = columns.last; i < pitch; ++i) to[i] = 0;
  }
  std::fill(y + rows.last * pitch, y + lines * pitch, 0.0f);
}

// Outputs of one group from (row, column) on.
struct OutputTile {
  size_t image, group, row, column, rows, columns;
};

// Writes what the outputs of a tile read of a plane, its padding only with `clears`.
void write_plane(const Params& p, const float* plane, const OutputTile& tile, bool clears,
                 float* y) {
  const Geometry& g = p.geometry;
  const size_t all = p.down.lines(p.rows), lines = p.down.lines(tile.rows);
  if (p.is_dense) {
    memcpy(y, plane + tile.row * g.in_w, lines * p.pitch * sizeof(float));
    return;
  }
  for (size_t across = 0; across < p.across.planes(); ++across) {
    const Inside columns(g.pad_left, g.in_w, g.stride_w,
                         tile.column * g.stride_w + p.across.origin(across), p.pitch);
    for (size_t down = 0; down < p.down.planes(); ++down) {
      float* const to = y + (down * p.across.planes() + across) * all * p.pitch;
      const Inside rows(g.pad_top, g.in_h, g.stride_h, tile.row * g.stride_h + p.down.origin(down),
                        lines);
      if (clears) clear_outside(rows, columns, lines, p.pitch, to);
      const float* const from = plane + rows.at * g.in_w + columns.at;
      const size_t pitch = g.stride_h * g.in_w;
      float* const inside = to + rows.first * p.pitch + columns.first;
      if (g.stride_w == 1) {
        copy_rows(from, pitch, rows.count(), columns.count(), inside, p.pitch);
        continue;
      }
      for (size_t line = 0; line < rows.count(); ++line)
        copy_columns(from + line * pitch, g.stride_w, columns.count(), inside + line * p.pitch);
    }
  }
}

// `clears`: `planes` does not hold the padding of this tile yet.
void run_output_tile(const Step& step, const RunContext& context, const OutputTile& tile,
                     bool clears, float* planes) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  const size_t in = tile.image * g.in_c + tile.group * g.group_in();
  const size_t outs = g.group_out(), out = tile.group * outs;
  const float *x = floats(context.in(step, 0)), *w = floats(context.in(step, 1)) + out * p.gemm.k;
  const float* const bias = floats(context.in(step, 2)) + out;
  float* const y = floats(context.out(step, 0));
  for (size_t c = 0; c < g.group_in(); ++c)
    write_plane(p, x + (in + c) * g.in_pixels(), tile, clears, planes + c * p.written());
  float* const sums = planes + g.group_in() * p.written();
  float* const zeros = sums + outs * p.sums();
  const size_t first =
      (tile.image * g.out_c + out) * g.out_pixels() + tile.row * g.out_w + tile.column;
  const size_t n = (tile.rows - 1) * p.pitch + tile.columns;
  // Lines without ends are outputs as they are.
  const bool is_row_by_row = outs == 1 && tile.columns >= kLongRow;
  const bool is_whole = p.pitch == g.out_w || tile.rows == 1 || is_row_by_row;
  float* const to = is_whole ? y + first : sums;
  const size_t stride = is_whole ? g.out_pixels() : p.sums();
  if (outs == 1) {
    const FloatTaps taps = {p.offsets.data(), w, p.gemm.k, *bias};
    if (is_row_by_row)
      for (size_t r = 0; r < tile.rows; ++r)
        p.kernel->sum_taps(taps, planes + r * p.pitch, tile.columns, to + r * g.out_w);
    else
      p.kernel->sum_taps(taps, planes, n, to);
  } else {
    OrtGemm gemm = p.gemm;
    gemm.n = n;
    gemm.b_offsets = p.offsets.data();
    gemm.y_stride = stride;
    std::fill(zeros, zeros + n, 0.0f);
    p.kernel->ort_gemm(gemm, w, outs, planes, zeros, 0, to);
    for (size_t o = 0; o < outs; ++o)
      p.kernel->binary(FloatBinary::kAdd, to + o * stride, 1, bias + o, 0, to + o * stride, n);
  }
  for (size_t o = 0; o < outs && !is_whole; ++o)
    copy_rows(sums + o * p.sums(), p.pitch, tile.rows, tile.columns, y + first + o * g.out_pixels(),
              g.out_w);
  if (step.follower == nullptr) return;
  const size_t together = tile.columns == g.out_w ? tile.rows : 1;
  for (size_t r = 0; r < tile.rows; r += together)
    run_follower(step, context, first + r * g.out_w, outs, together * tile.columns, g.out_pixels());
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Geometry& g = p.geometry;
  const size_t tiles = p.row_tiles * p.column_tiles, units = g.images * g.groups * tiles;
  for_chunks(*context.parallel, p.tasks, units, 1, [&](size_t task, size_t begin, size_t end) {
    float* const memory = floats(context.scratch + task * p.task_bytes);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t planes = unit / tiles, part = unit % tiles;
      const size_t row = part / p.column_tiles * p.rows;
      const size_t column = part % p.column_tiles * p.columns;
      run_output_tile(step, context,
                      {planes / g.groups, planes % g.groups, row, column,
                       std::min(p.rows, g.out_h - row), std::min(p.columns, g.out_w - column)},
                      unit == begin || tiles > 1, memory);
    }
  });
}

// Chooses the tiles, and lists the offsets.
void plan_row_ranges(Params* p) {
  const Geometry& g = p->geometry;
  p->down = AxisLayout(g.stride_h, g.dilation_h, g.kernel_h);
  p->across = AxisLayout(g.stride_w, g.dilation_w, g.kernel_w);
  const size_t planes = g.group_in() * p->down.planes() * p->across.planes();
  const size_t floats = g.group_out() == 1 ? kFilterFloats : kTileFloats;
  const size_t fitting = std::max(floats / planes / p->down.lines(1), kMinOutputs);
  p->columns = std::min(g.out_w, fitting);
  p->column_tiles = ceil_div(g.out_w, p->columns);
  p->pitch = p->across.lines(p->columns);
  const size_t rows = std::max(floats / planes / p->pitch, ceil_div(kMinOutputs, p->pitch));
  p->rows = p->columns < g.out_w ? 1 : std::clamp(rows, size_t{1}, g.out_h);
  p->row_tiles = ceil_div(g.out_h, p->rows);
  p->is_dense = g.kernel_h == 1 && g.kernel_w == 1 && g.stride_h == 1 && g.stride_w == 1 &&
                g.out_h == g.in_h && g.out_w == g.in_w && p->pitch == g.in_w;
  const size_t plane_floats = p->down.lines(p->rows) * p->pitch;
  p->offsets.reserve(g.group_in() * g.kernel_h * g.kernel_w);
  for (size_t c = 0; c < g.group_in(); ++c)
    for (size_t ky = 0; ky < g.kernel_h; ++ky)
      for (size_t kx = 0; kx < g.kernel_w; ++kx) {
        const size_t plane = (c * p->down.planes() + p->down.plane_of(ky)) * p->across.planes() +
                             p->across.plane_of(kx);
        p->offsets.push_back(plane * plane_floats + p->down.line_of(ky) * p->pitch +
                             p->across.line_of(kx));
      }
}

}  // namespace

Status infer_float_conv(const InferContext& context, TensorTypes* outputs) {
  Geometry g;
  QRT_TRY(geometry_of(context, &g));
  const auto size = [](size_t v) { return static_cast<int64_t>(v); };
  return add_output(DType::kFloat32,
                    {context.inputs[0].type.shape[0], size(g.out_c), size(g.out_h), size(g.out_w)},
                    outputs);
}

Status prepare_float_conv(const PrepareContext& context, PlannedStep* step) {
  auto p = make_planned<Params>();
  QRT_TRY(geometry_of(context, &p->geometry));
  const Geometry& g = p->geometry;
  const size_t pixels = g.out_pixels();
  p->kernel = select_float(context.isas);
  p->gemm.order = g.group_out() == 1 ? OrtGemmOrder::kFours : OrtGemmOrder::kBlocks;
  p->gemm.k = g.terms();
  p->gemm.block = static_cast<size_t>(
      ort_gemm_block(static_cast<int64_t>(pixels), static_cast<int64_t>(g.terms()), false));
  p->gemm.alpha = 1;
  QRT_TRY(context.take(g.terms() * sizeof(size_t)));
  plan_row_ranges(p.get());
  const double products = static_cast<double>(g.images * g.out_c) * static_cast<double>(pixels) *
                          static_cast<double>(g.terms());
  const size_t units = product_or_most({g.images, g.groups, p->row_tiles, p->column_tiles});
  p->tasks = task_count(products / 8, units, context.threads);
  // The scratch memory holds planes, sums, and the zeros that sums begin with.
  const size_t planes = product_or_most({g.group_in(), p->down.planes(), p->across.planes(),
                                         p->down.lines(p->rows), p->pitch, sizeof(float)});
  const size_t sums = product_or_most({g.group_out() + 1, p->sums(), sizeof(float)});
  if (!checked_add(planes, sums, &p->task_bytes) ||
      !checked_align(p->task_bytes, kAlignment, &p->task_bytes))
    p->task_bytes = SIZE_MAX;
  step->scratch_bytes = product_or_most({p->tasks, p->task_bytes});
  step->macs = static_cast<uint64_t>(products);
  step->run = run;
  step->can_lead = true;
  step->kernel = g.group_out() == 1 ? p->kernel->taps_name : p->kernel->ort_gemm_name;
  step->params = std::move(p);
  return Status();
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/products.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "converter/import/common/transpose_conv.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/float_fallback/attention.h"
#include "converter/import/onnx/float_fallback/windows.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/transposed_geometry.h"
#include "converter/import/onnx/window.h"
#include "kernels/float_fallback/float_fallback.h"

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

namespace {

// Windows [n, oh, ow, taps * c] times weights [out, c / groups, ...] of each group: [n, oh, ow,
// out].
ValueId multiply_groups(FloatGraph* f, ValueId x, ValueId w, int64_t groups, int64_t taps) {
  const Shape sx = f->shape_of(x), sw = f->shape_of(w);
  const int64_t pixels = sx[1] * sx[2], terms = taps * sw[1], out = sw[0] / groups;
  x = f->arrange(x, {sx[0], pixels, taps, groups, sw[1]}, {0, 3, 1, 2, 4},
                 {sx[0], groups, pixels, terms});
  w = f->arrange(w, {groups, out, sw[1], taps}, {0, 3, 2, 1}, {groups, terms, out});
  ValueId y = kNoValue;
  float_matmul(f, x, w, &y);
  return f->arrange(y, {sx[0], groups, pixels, out}, {0, 2, 1, 3}, {sx[0], sx[1], sx[2], sw[0]});
}

// Returns the float16 scale of the DequantizeLinear in front of input i: one, or one for each
// channel. Null where there is no such node.
const Constant* half_scale(FloatGraph* f, int i) {
  const NodeView* dequantize = f->importer().producer(f->node().input(i));
  if (!dequantize || dequantize->op() != "DequantizeLinear") return nullptr;
  const Tensor& scale = f->importer().input(*dequantize, 1);
  return scale.is_plain_constant() && scale.type == kHalf ? scale.constant.get() : nullptr;
}

// Reads input 2 as the layer adds it. A bias of float16 in front of a QuantizeLinear becomes
// integers of x * w, as in ONNX Runtime: the quotient is rounded to float16 before it is rounded to
// an integer. Returns false where the bias cannot be read.
bool read_bias(FloatGraph* f, ValueId* bias) {
  const Tensor& b = f->importer().input(f->node(), 2);
  const Constant *x = half_scale(f, 0), *w = half_scale(f, 1);
  bool leads = false;
  const bool is_half = b.is_plain_constant() && b.type == kHalf && b.shape.rank() == 1 && x && w;
  if (!is_half || !leads_to_quantize(f->importer(), f->node(), &leads).ok() || !leads ||
      x->elements() != 1 || (w->elements() != 1 && w->elements() != b.constant->elements()))
    return f->read(2, bias);
  std::vector<float> real;
  for (int64_t i = 0; i < b.constant->elements(); ++i) {
    const float scale = x->real(0) * w->real(w->elements() == 1 ? 0 : i);
    const float steps = std::nearbyint(rounded_to_half(b.constant->real(i) / scale));
    real.push_back(steps * scale);
  }
  *bias = f->constant(b.shape, real);
  return true;
}

// Returns the dimensions in front of the matrices.
Shape leading_of(const Shape& shape) {
  Shape leading;
  for (int d = 0; d + 2 < shape.rank(); ++d) leading.push_back(shape[d]);
  return leading;
}

// Returns matrices x, one for each of `leading`: x has 1 in the place of some of these dimensions, or nothing for the first ones.
ValueId repeated_matrices(FloatGraph* f, ValueId x, const Shape& leading) {
  const Shape own = f->shape_of(x);
  const int missing = leading.rank() + 2 - own.rank();
  Shape aligned;
  for (int d = 0; d < missing; ++d) aligned.push_back(1);
  for (const int64_t d : own) aligned.push_back(d);
  if (missing > 0) x = f->builder().reshape(f->node(), x, aligned);
  IndexMaps maps(aligned);
  for (int d = 0; d < leading.rank(); ++d)
    if (aligned[d] != leading[d]) maps.keep(d, Indices(static_cast<size_t>(leading[d]), 0));
  return leading_of(aligned) == leading ? x : f->builder().gather(f->node(), x, maps, 0);
}

}  // namespace

void float_matmul(FloatGraph* f, ValueId a, ValueId b, ValueId* y) {
  GraphBuilder& builder = f->builder();
  const Shape given_a = f->shape_of(a), given_b = f->shape_of(b);
  if (given_a.rank() < 1 || given_b.rank() < 1) return;
  const Shape sa = given_a.rank() == 1 ? Shape{1, given_a[0]} : given_a;
  const Shape sb = given_b.rank() == 1 ? Shape{given_b[0], 1} : given_b;
  Shape leading;
  if (sa[sa.rank() - 1] != sb[sb.rank() - 2] ||
      !broadcast(leading_of(sa), leading_of(sb), &leading))
    return;
  Shape made = leading, result = leading;
  made.push_back(sa[sa.rank() - 2]);
  made.push_back(sb[sb.rank() - 1]);
  if (given_a.rank() > 1) result.push_back(sa[sa.rank() - 2]);
  if (given_b.rank() > 1) result.push_back(sb[sb.rank() - 1]);
  if (sa != given_a) a = builder.reshape(f->node(), a, sa);
  if (sb != given_b) b = builder.reshape(f->node(), b, sb);
  a = repeated_matrices(f, a, leading);
  // The operator takes one matrix, or a matrix for each of the last leading dimensions.
  Shape own = leading_of(sb), last;
  int ones = 0;
  while (ones < own.rank() && own[ones] == 1) ++ones;
  const auto matches = [&](int first) {
    for (int d = first; d < own.rank(); ++d)
      if (own[d] != leading[leading.rank() - own.rank() + d]) return false;
    return true;
  };
  if (!matches(0) && matches(ones)) {
    Shape without;
    for (int d = ones; d < sb.rank(); ++d) without.push_back(sb[d]);
    b = builder.reshape(f->node(), b, without);
  } else if (!matches(0)) {
    for (int d = 0; d < own.rank(); ++d) last.push_back(leading[leading.rank() - own.rank() + d]);
    b = repeated_matrices(f, b, last);
  }
  *y = f->add(F::FUSED_MATMUL, {a, b}, made);
  if (made != result) *y = builder.reshape(f->node(), *y, result);
}

Status float_gemm(FloatGraph* f, ValueId a, ValueId b, ValueId* made) {
  if (f->shape_of(a).rank() != 2 || f->shape_of(b).rank() != 2) return Status();
  const auto scaled = [&](const char* name, ValueId* x) {
    const float factor = f->node().real(name, 1.0f);
    return factor == 1.0f ? Status() : f->binary(F::MUL, *x, f->constant({}, {factor}), x);
  };
  if (f->node().integer("transA", 0) != 0) a = f->builder().transpose(f->node(), a, {1, 0});
  if (f->node().integer("transB", 0) != 0) b = f->builder().transpose(f->node(), b, {1, 0});
  ValueId y = kNoValue, c;
  float_matmul(f, a, b, &y);
  if (y == kNoValue) return Status();
  QRT_TRY(scaled("alpha", &y));
  if (f->node().has_input(2)) {
    if (!read_bias(f, &c)) return Status();
    QRT_TRY(scaled("beta", &c));
    QRT_TRY(f->binary(F::ADD, y, c, &y));
  }
  *made = y;
  return Status();
}

namespace {

// A convolution as the product of its weights and the columns of an image that its windows are.
struct Columns {
  int64_t groups, pixels;
  bool are_rows;  // ONNX Runtime reads them as rows of the image as it is
};

// Returns whether each window is a run of the image's values, as ONNX Runtime sees it: of one channel,
// and as wide as the image.
bool reads_rows_of_image(const Image& image, const Window& window, int64_t group_channels) {
  const auto is_plain = [&](const WindowAxis& a) {
    return a.stride == 1 && a.dilation == 1 && a.before == 0 && a.after == 0;
  };
  return !image.is_volume() && group_channels == 1 && is_plain(window.axis(0)) &&
         is_plain(window.axis(1)) && window.kernel[0] * window.kernel[1] > 1 &&
         window.kernel[1] == image.size[1];
}

// Multiplies windows [n, ..., channels * taps] by the weights [out, channels / groups, taps ...] in the
// order of ONNX Runtime's convolutions on x86-64: [n, pixels, out]. `width` is the image's.
ValueId multiply_columns(FloatGraph* f, ValueId x, ValueId w, const Columns& c, int64_t width) {
  const Shape sx = f->shape_of(x), sw = f->shape_of(w);
  const int64_t n = sx[0], out = sw[0] / c.groups, terms = sx[sx.rank() - 1] / c.groups;
  const Shape columns{n, c.groups, c.pixels, terms};
  x = c.groups == 1 ? f->builder().reshape(f->node(), x, {n, c.pixels, terms})
                    : f->arrange(x, {n, c.pixels, c.groups, terms}, {0, 2, 1, 3}, columns);
  if (out == 1 && c.are_rows) {
    // Weights in a row of their own for each image and group, because the order in which the
    // products are added depends on the pixel.
    IndexMaps images(Shape{1, c.groups, 1, terms});
    images.set(0, Indices(static_cast<size_t>(n), 0));
    w = f->builder().reshape(f->node(), w, images.from());
    if (n > 1) w = f->builder().gather(f->node(), w, images, 0);
    x = f->builder().reshape(f->node(), x, columns);
    const ValueId none = f->zeros(c.pixels);
    const ValueId y = f->gemm(F::ORT_GEMM_EIGHTS, w, x, none, {n, c.groups, 1, c.pixels}, 0);
    return f->arrange(y, {n, c.groups, 1, c.pixels}, {0, 3, 1, 2}, {n, c.pixels, c.groups});
  }
  // With open sizes one order serves all sizes, as a single pixel is a size like others.
  const bool is_single = c.pixels == 1 && !f->importer().has_open_sizes();
  const bool by_eights = out > 1 && is_single && (!c.are_rows || width == 1);
  const F function = out == 1 ? F::ORT_GEMM_FOURS : by_eights ? F::ORT_GEMM_EIGHTS : F::ORT_GEMM;
  Shape matrices = by_eights ? Shape{c.groups, out, terms} : Shape{c.groups, terms, out};
  if (c.groups == 1) matrices = by_eights ? Shape{out, terms} : Shape{terms, out};
  w = f->arrange(w, {c.groups, out, terms},
                 by_eights ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 2, 1}, matrices);
  Shape made = f->shape_of(x);
  made[made.rank() - 1] = out;
  // A block that holds the whole sum gives one order of it, for few pixels and for many.
  const int64_t block =
      function == F::ORT_GEMM ? std::min(ort_gemm_block(c.pixels, terms, false), terms) : 0;
  const ValueId y = f->gemm(function, x, w, f->zeros(out), made, block);
  return c.groups == 1
             ? y
             : f->arrange(y, {n, c.groups, c.pixels, out}, {0, 2, 1, 3}, {n, c.pixels, sw[0]});
}

bool is_constant(const FloatGraph& f, ValueId v) {
  return f.importer().graph().values[v].is_constant;
}

// Convolves planes by constant weights, and adds a constant bias where there is one: [n, out, h, w].
ValueId convolve_planes(FloatGraph* f, const Image& image, const Window& window, int64_t groups,
                        ValueId x, ValueId w, ValueId bias) {
  const Shape sw = f->shape_of(w);
  const Shape planes{image.n, image.c, image.size[0], image.size[1]};
  const Shape weights{sw[0], sw[1], window.kernel[0], window.kernel[1]};
  if (f->shape_of(x) != planes) x = f->builder().reshape(f->node(), x, planes);
  if (sw != weights) w = f->arrange(w, weights, {0, 1, 2, 3}, weights);
  x = without_skipped(f->importer(), f->node(), window, 2, x);
  if (bias == kNoValue) bias = f->zeros(sw[0]);
  const ValueId y = f->builder().new_value("", DType::kFloat32,
                                           {image.n, sw[0], window.output[0], window.output[1]});
  auto& o = f->builder().add<fb::FloatOptionsT>(f->node(), {x, w, bias}, y);
  o.function = F::ORT_CONV;
  o.window = std::make_unique<fb::FloatWindowT>();
  set_window(window, o.window.get());
  set_dilation(window, o.window.get());
  o.window->groups = static_cast<uint32_t>(groups);
  return y;
}

// Makes the sums of a convolution, and adds the bias where that is a constant; *bias is kNoValue then.
Status convolve(FloatGraph* f, ValueId x, ValueId w, ValueId* bias, ValueId* made) {
  const Shape sx = f->shape_of(x), sw = f->shape_of(w);
  const int64_t groups = f->node().integer("group", 1);
  const bool fits = sx.rank() >= 3 && sx.rank() - 2 <= kMostDimensions && sw.rank() == sx.rank() &&
                    groups >= 1 && sw[0] % groups == 0 && sx[1] % groups == 0 &&
                    sw[1] == sx[1] / groups;
  const std::vector<int64_t> kernel(fits ? sw.begin() + 2 : sw.end(), sw.end());
  if (!fits || (f->node().has("kernel_shape") && f->node().integers("kernel_shape") != kernel))
    return Status();
  Image image;
  bool known;
  QRT_TRY(read_image(f->importer(), f->node(), sx, false, kMostDimensions, &image, &known));
  if (!known) return Status();
  Window window;
  QRT_TRY(read_window(f->node(), image, kernel, false, &window));
  const int64_t planes = window.depth.output, rows = window.output[0], columns = window.output[1];
  const Columns c = {groups, planes * rows * columns, reads_rows_of_image(image, window, sw[1])};
  // Pads that follow from the size have rules in the maps of gathered windows only.
  const std::string pads = f->node().text("auto_pad", "NOTSET");
  const bool has_known_pads =
      !f->importer().has_open_sizes() || pads == "NOTSET" || pads == "VALID";
  // One order for all sizes where these are open: a line is as wide as its window where one pixel is left of it.
  const bool is_plane = f->importer().has_open_sizes() ? image.dimensions == 1 || !c.are_rows
                                                       : c.pixels > 1 && !c.are_rows;
  if (!image.is_volume() && is_plane && has_known_pads && is_constant(*f, w) &&
      (*bias == kNoValue || is_constant(*f, *bias))) {
    const ValueId y = convolve_planes(f, image, window, groups, x, w, *bias);
    *bias = kNoValue;
    *made = f->builder().reshape(f->node(), y, image.shape(sw[0], 1, window.output));
    return Status();
  }
  if (image.is_volume())
    QRT_TRY(gather_volume_windows(f, image, window, x, &x));
  else
    QRT_TRY(gather_windows(f, image, window, 0, TermOrder::kChannelsThenTaps, x, &x));
  ValueId y = multiply_columns(f, x, w, c, image.size[1]);
  y = f->builder().reshape(f->node(), y,
                           image.is_volume() ? Shape{image.n, planes, rows, columns, sw[0]}
                                             : Shape{image.n, rows, columns, sw[0]});
  *made = image_from_nhwc(f->importer(), f->node(), image, y);
  return Status();
}

}  // namespace

Status float_conv_sums(FloatGraph* f, ValueId x, ValueId w, ValueId* made) {
  ValueId none = kNoValue;
  return convolve(f, x, w, &none, made);
}

Status float_conv(FloatGraph* f, ValueId x, ValueId w, ValueId* made) {
  ValueId y = kNoValue, bias = kNoValue;
  if (f->node().has_input(2)) {
    if (!read_bias(f, &bias)) return Status();
    const Shape sb = f->shape_of(bias), sw = f->shape_of(w);
    if (sb.rank() != 1 || sw.rank() < 1 || sb[0] != sw[0]) return Status();
  }
  QRT_TRY(convolve(f, x, w, &bias, &y));
  if (y == kNoValue) return Status();
  if (bias != kNoValue) {
    std::vector<int64_t> dims(static_cast<size_t>(f->shape_of(y).rank() - 1), 1);
    dims[0] = f->shape_of(y)[1];
    Shape aligned;
    QRT_TRY(make_shape(dims, &aligned));
    bias = f->builder().reshape(f->node(), bias, aligned);
    QRT_TRY(f->binary(F::ADD, y, bias, &y));
  }
  *made = y;
  return Status();
}

namespace {

// Neighbouring phases of an axis (common/transpose_conv.h) whose kernels have weights at the same positions: `taps` of them, `step`
// apart, from `first_tap` on.
struct PhaseRun {
  int64_t first, count;
  int64_t first_tap, taps, step;
};

std::vector<PhaseRun> runs_of(const PhasedAxis& axis) {
  std::vector<PhaseRun> runs;
  for (int64_t phase = 0; phase < axis.phases; ++phase) {
    PhaseRun run = {phase, 1, 0, 0, 1};
    int64_t last = 0;
    for (int64_t t = 0; t < axis.kernel; ++t) {
      if (axis.source(phase, t) < 0) continue;
      if (run.taps++ == 0) run.first_tap = t;
      last = t;
    }
    if (run.taps > 1) run.step = (last - run.first_tap) / (run.taps - 1);
    if (!runs.empty() && runs.back().first_tap == run.first_tap && runs.back().taps == run.taps &&
        runs.back().step == run.step)
      ++runs.back().count;
    else
      runs.push_back(run);
  }
  return runs;
}

// The rows and columns of a transposed convolution as convolutions of its phases. Weights of 0 between those of a phase would make
// NaN of infinite inputs that the phase does not read.
struct Phases {
  explicit Phases(const TransposedGeometry& c) : h(axis(c, 1)), w(axis(c, 2)) {}

  static PhasedAxis axis(const TransposedGeometry& c, int i) {
    return {c.input(i), c.output[i], c.kernel[i], c.stride[i], c.dilation[i], c.before[i]};
  }

  PhasedAxis h, w;
  std::vector<PhaseRun> rows = runs_of(h), columns = runs_of(w);
};

// Returns whether there are few convolutions, and the phases' kernels and their result fit the format.
bool fits(const Phases& p, const TransposedGeometry& c) {
  constexpr size_t kMostConvolutions = 64;
  Shape made;
  return p.rows.size() * p.columns.size() <= kMostConvolutions && p.h.kernel <= kMaxWindowField &&
         p.w.kernel <= kMaxWindowField &&
         make_shape({c.image.n, c.out, p.h.phases, p.w.phases, p.h.steps, p.w.steps}, &made).ok();
}

// Returns the kernels of the phases of two runs, those of an output channel behind each other, of weights [in, out / groups, ...].
ValueId kernels_of_phases(FloatGraph* f, const TransposedGeometry& c, const Phases& p,
                          const PhaseRun& rows, const PhaseRun& columns, ValueId w) {
  const int64_t in = c.image.c / c.groups, of_group = c.out / c.groups;
  const int64_t phases = rows.count * columns.count, taps = rows.taps * columns.taps;
  const float* const source = f->importer().graph().values[w].as<float>();
  std::vector<float> kernels;
  for (int64_t o = 0; o < c.out; ++o)
    for (int64_t phase = 0; phase < phases; ++phase)
      for (int64_t i = 0; i < in; ++i)
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t kh = p.h.source(rows.first + phase / columns.count,
                                        rows.first_tap + tap / columns.taps * rows.step);
          const int64_t kw = p.w.source(columns.first + phase % columns.count,
                                        columns.first_tap + tap % columns.taps * columns.step);
          const int64_t plane = (o / of_group * in + i) * of_group + o % of_group;
          kernels.push_back(source[(plane * c.kernel[1] + kh) * c.kernel[2] + kw]);
        }
  return f->constant({c.out * phases, in, rows.taps, columns.taps}, kernels);
}

// Returns what the outputs of a run of an axis' phases read: positions of the input, -1 outside.
Status positions_of(const PhasedAxis& axis, const PhaseRun& run, int64_t input,
                    Indices* positions) {
  const int64_t count = axis.steps + (run.taps - 1) * run.step;
  QRT_TRY(check_index_count(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i + run.first_tap - axis.pad_before;
    positions->push_back(at >= 0 && at < input ? static_cast<int32_t>(at) : -1);
  }
  return Status();
}

// Returns zeros of that many channels for the outputs of phases without weights.
Status no_sums(FloatGraph* f, const Phases& p, int64_t channels, ValueId x, ValueId* made) {
  IndexMaps maps(f->shape_of(x));
  const int64_t sizes[] = {channels, p.h.steps, p.w.steps};
  for (int d = 0; d < 3; ++d) {
    QRT_TRY(check_index_count(sizes[d]));
    maps.set(1 + d, Indices(static_cast<size_t>(sizes[d]), -1));
  }
  *made = f->builder().gather(f->node(), x, maps, float_bits(0));
  return Status();
}

// Makes the outputs of the phases of two runs, [n, out, phases of rows, phases of columns, h, w]. x is [n, c, h, w]; `bias` is a
// constant, or kNoValue.
Status convolve_run(FloatGraph* f, const TransposedGeometry& c, const Phases& p,
                    const PhaseRun& rows, const PhaseRun& columns, ValueId x, ValueId w,
                    ValueId bias, ValueId* made) {
  const int64_t phases = rows.count * columns.count, channels = c.out * phases;
  if (bias != kNoValue) {
    const float* const source = f->importer().graph().values[bias].as<float>();
    std::vector<float> of_phases;
    for (int64_t i = 0; i < channels; ++i) of_phases.push_back(source[i / phases]);
    bias = f->constant({channels}, of_phases);
  }
  ValueId y;
  if (rows.taps > 0 && columns.taps > 0) {
    Indices positions[2];
    QRT_TRY(positions_of(p.h, rows, c.image.size[0], &positions[0]));
    QRT_TRY(positions_of(p.w, columns, c.image.size[1], &positions[1]));
    IndexMaps maps(f->shape_of(x));
    for (int d = 0; d < 2; ++d) maps.set(2 + d, std::move(positions[d]));
    x = f->builder().gather(f->node(), x, maps, float_bits(0));
    Image image = c.image;
    image.size[0] = f->shape_of(x)[2], image.size[1] = f->shape_of(x)[3];
    Window window;
    window.set_axis(0, {rows.taps, 1, rows.step, 0, 0, p.h.steps});
    window.set_axis(1, {columns.taps, 1, columns.step, 0, 0, p.w.steps});
    y = convolve_planes(f, image, window, c.groups, x, kernels_of_phases(f, c, p, rows, columns, w),
                        bias);
  } else {
    QRT_TRY(no_sums(f, p, channels, x, &y));
    if (bias != kNoValue)
      QRT_TRY(f->binary(F::ADD, y, f->builder().reshape(f->node(), bias, {channels, 1, 1}), &y));
  }
  *made = f->builder().reshape(f->node(), y,
                               {c.image.n, c.out, rows.count, columns.count, p.h.steps, p.w.steps});
  return Status();
}

// Convolves by the kernels of the phases and puts what they give where it belongs. `bias` is a constant, or kNoValue.
Status convolve_phases(FloatGraph* f, const TransposedGeometry& c, const Phases& p, ValueId x,
                       ValueId w, ValueId bias, ValueId* made) {
  const Shape planes{c.image.n, c.image.c, c.image.size[0], c.image.size[1]};
  if (f->shape_of(x) != planes) x = f->builder().reshape(f->node(), x, planes);
  const auto joined = [&](const std::vector<ValueId>& parts, int axis) {
    return parts.size() == 1 ? parts[0] : f->builder().concat(f->node(), parts, axis);
  };
  std::vector<ValueId> parts;
  for (const PhaseRun& rows : p.rows) {
    std::vector<ValueId> of_rows(p.columns.size());
    for (size_t i = 0; i < of_rows.size(); ++i)
      QRT_TRY(convolve_run(f, c, p, rows, p.columns[i], x, w, bias, &of_rows[i]));
    parts.push_back(joined(of_rows, 3));
  }
  ValueId y = f->arrange(
      joined(parts, 2), {c.image.n, c.out, p.h.phases, p.w.phases, p.h.steps, p.w.steps},
      {0, 1, 4, 2, 5, 3}, {c.image.n, c.out, p.h.steps * p.h.phases, p.w.steps * p.w.phases});
  for (int d = 0; d < 2; ++d) y = slice_along(f, y, 2 + d, 0, c.output[1 + d]);
  *made = f->builder().reshape(f->node(), y, c.image.shape(c.out, 1, c.output + 1));
  return Status();
}

}  // namespace

Status float_conv_transpose(FloatGraph* f, ValueId x, ValueId w, ValueId* made) {
  const Shape sx = f->shape_of(x), sw = f->shape_of(w);
  if (sx.rank() < 3 || sx.rank() > 4) return Status();
  TransposedGeometry c;
  bool known;
  QRT_TRY(read_transposed(f->importer(), f->node(), sx, sw, &c, &known));
  if (!known) return Status();
  ValueId bias = kNoValue;
  if (f->node().has_input(2)) {
    if (!read_bias(f, &bias)) return Status();
    if (f->shape_of(bias) != Shape{c.out}) return Status();
  }
  if (const Phases phases(c);
      is_constant(*f, w) && fits(phases, c) && (bias == kNoValue || is_constant(*f, bias)))
    return convolve_phases(f, c, phases, x, w, bias, made);
  const int64_t output[2] = {c.output[1], c.output[2]}, kernel[2] = {c.kernel[1], c.kernel[2]};
  Indices indices[2];
  for (int d = 0; d < 2; ++d) {
    QRT_TRY(check_index_count(output[d] * kernel[d]));
    for (int64_t o = 0; o < output[d]; ++o)
      for (int64_t k = 0; k < kernel[d]; ++k) {
        const int64_t at = o + c.before[d + 1] - k * c.dilation[d + 1], step = c.stride[d + 1];
        const bool reads = at >= 0 && at % step == 0 && at / step < c.input(d + 1);
        indices[d].push_back(reads ? static_cast<int32_t>(at / step) : -1);
      }
  }
  x = image_to_nhwc(f->importer(), f->node(), c.image, x);
  QRT_TRY(gather_taps(f, output, kernel, indices, 0, TermOrder::kTapsThenChannels, x, &x));
  // [in, out / groups, taps] of each group becomes [out, in / groups, taps].
  const int64_t taps = kernel[0] * kernel[1], in = sw[0] / c.groups;
  w = f->arrange(w, {c.groups, in, sw[1], taps}, {0, 2, 1, 3}, {c.out, in, taps});
  ValueId y = kNoValue;
  if (c.groups == 1) {
    w = f->arrange(w, {c.out, in, taps}, {2, 1, 0}, {taps * in, c.out});
    float_matmul(f, x, w, &y);
  } else {
    y = multiply_groups(f, x, w, c.groups, taps);
  }
  if (bias != kNoValue) QRT_TRY(f->binary(F::ADD, y, bias, &y));
  *made = image_from_nhwc(f->importer(), f->node(), c.image, y);
  return Status();
}

}  // namespace qrt::convert::from_onnx

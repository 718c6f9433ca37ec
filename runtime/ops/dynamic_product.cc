// SPDX-License-Identifier: Apache-2.0
// DynamicProduct: matrix products and convolutions whose weights, scales and zero points are
// inputs, in plain loops. Layers whose weights are constants have packed kernels (Conv2D,
// FullyConnected).
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/edge/numbers.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

enum Input : size_t { kA, kB, kAZero, kBZero, kAScale, kBScale, kYScale, kYZero, kBias };

// The geometry of a convolution: how its window moves over the padded image.
struct Geometry {
  int64_t stride[2], dilation[2], before[2], after[2], groups;
};

Geometry geometry_of(const fb::DynamicProductOptions& o) {
  return {{o.stride_h(), o.stride_w()},
          {o.dilation_h(), o.dilation_w()},
          {o.pad_top(), o.pad_left()},
          {o.pad_bottom(), o.pad_right()},
          o.groups()};
}

Status infer_convolution(const InferContext& context, Shape* y, int64_t* channels) {
  const Geometry g = geometry_of(*context.op->options_as<fb::DynamicProductOptions>());
  QRT_TRY(check_rank(context, kA, "a", 4, "[n, c, h, w]"));
  QRT_TRY(check_rank(context, kB, "b", 4, "[out, c / groups, kh, kw]"));
  const Shape &a = context.inputs[kA].type.shape, &b = context.inputs[kB].type.shape;
  QRT_MODEL_CHECK(
      g.groups >= 1 && a[1] % g.groups == 0 && a[1] / g.groups == b[1] && b[0] % g.groups == 0,
      "a %s and b %s do not fit in %lld groups", a.to_string().c_str(), b.to_string().c_str(),
      static_cast<long long>(g.groups));
  *y = Shape{a[0], b[0]};
  for (int d = 0; d < 2; ++d) {
    QRT_MODEL_CHECK(g.stride[d] >= 1 && g.dilation[d] >= 1, "stride or dilation is 0");
    const int64_t window = (b[d + 2] - 1) * g.dilation[d] + 1;
    const int64_t image = a[d + 2] + g.before[d] + g.after[d];
    QRT_MODEL_CHECK(window <= image, "the window of %lld is larger than the padded image of %lld",
                    static_cast<long long>(window), static_cast<long long>(image));
    y->push_back((image - window) / g.stride[d] + 1);
  }
  *channels = b[0];
  return Status();
}

Status infer_product(const InferContext& context, Shape* y, int64_t* channels) {
  const Shape &a = context.inputs[kA].type.shape, &b = context.inputs[kB].type.shape;
  QRT_MODEL_CHECK(a.rank() >= 2 && b.rank() >= 2 && a[a.rank() - 1] == b[b.rank() - 2],
                  "a %s and b %s cannot be multiplied", a.to_string().c_str(),
                  b.to_string().c_str());
  QRT_TRY(broadcast_dims(a, b, 2, y));
  y->push_back(a[a.rank() - 2]);
  y->push_back(b[b.rank() - 1]);
  *channels = b[b.rank() - 1];
  return Status();
}

Status check_parameter(const InferContext& context, size_t i, const char* what, DType dtype,
                       int64_t most) {
  QRT_TRY(check_dtype(context, i, what, dtype));
  const int64_t n = context.inputs[i].type.shape.elements();
  QRT_MODEL_CHECK(n == 1 || n == most, "input %zu (%s) has %lld elements, expected 1 or %lld", i,
                  what, static_cast<long long>(n), static_cast<long long>(most));
  return Status();
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::DynamicProductOptions>();
  const size_t inputs = context.inputs.size();
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  QRT_MODEL_CHECK(output == DType::kUInt8 || output == DType::kInt32,
                  "the output is %s, expected uint8 or int32", dtype_name(output));
  const bool sums = output == DType::kInt32;
  const bool has_bias = !sums && options->is_convolution() && inputs == kBias + 1;
  QRT_MODEL_CHECK(inputs == (sums ? size_t{kAScale} : size_t{kBias}) || has_bias,
                  "has %zu inputs, expected %d", inputs, sums ? 4 : 8);
  QRT_TRY(check_dtype(context, kA, "a", DType::kUInt8));
  QRT_TRY(check_dtype(context, kB, "b", DType::kUInt8));
  Shape y;
  int64_t channels = 0;
  QRT_TRY(options->is_convolution() ? infer_convolution(context, &y, &channels)
                                    : infer_product(context, &y, &channels));
  QRT_TRY(check_parameter(context, kAZero, "a_zero_point", DType::kUInt8, 1));
  QRT_TRY(check_parameter(context, kBZero, "b_zero_point", DType::kUInt8, channels));
  if (sums) return add_output(output, y, outputs);
  const DType scale = context.inputs[kAScale].type.dtype;
  QRT_MODEL_CHECK(scale == DType::kFloat32 || scale == DType::kFloat16,
                  "input 4 (a_scale) is %s, expected float32 or float16", dtype_name(scale));
  QRT_TRY(check_parameter(context, kAScale, "a_scale", scale, 1));
  QRT_TRY(check_parameter(context, kBScale, "b_scale", scale, channels));
  QRT_TRY(check_parameter(context, kYScale, "y_scale", scale, 1));
  QRT_TRY(check_parameter(context, kYZero, "y_zero_point", DType::kUInt8, 1));
  if (has_bias) {
    QRT_TRY(check_dtype(context, kBias, "bias", DType::kInt32));
    QRT_MODEL_CHECK(context.inputs[kBias].type.shape.elements() == channels,
                    "input 8 (bias) has shape %s, expected %lld values",
                    context.inputs[kBias].type.shape.to_string().c_str(),
                    static_cast<long long>(channels));
  }
  return add_output(output, y, outputs);
}

struct Params {
  Geometry geometry;
  Shape a, b, y;
  bool is_convolution, sums, half_scales, has_bias, b_zero_each, b_scale_each;
  size_t channels, rows, tasks;  // rows: outputs of one task's unit
};

// The arguments of one run that all rows of the output share.
struct Job {
  const Params& p;
  const uint8_t *a, *b, *b_zero;
  int32_t a_zero;
  const int32_t* bias;  // or null
  float a_scale, y_scale;
  const uint8_t* b_scale;
  int32_t y_zero;
  uint8_t* y;

  int32_t zero_of(size_t channel) const { return b_zero[p.b_zero_each ? channel : 0]; }
};

float scale_at(const uint8_t* data, size_t i, bool half) {
  if (half) return half_to_float(reinterpret_cast<const uint16_t*>(data)[i]);
  return reinterpret_cast<const float*>(data)[i];
}

void store(const Job& job, size_t at, size_t channel, uint32_t acc) {
  const auto sum = static_cast<int32_t>(acc);
  if (job.p.sums) {
    memcpy(job.y + at * sizeof sum, &sum, sizeof sum);
    return;
  }
  const bool half = job.p.half_scales;
  const auto rounded = [&](float v) { return half ? half_to_float(float_to_half(v)) : v; };
  const float b_scale = scale_at(job.b_scale, job.p.b_scale_each ? channel : 0, half);
  const float scale = rounded(rounded(job.a_scale * b_scale) / job.y_scale);
  const auto low = static_cast<float>(-job.y_zero), high = static_cast<float>(255 - job.y_zero);
  float v = static_cast<float>(sum) * scale;
  v = v > low ? v : low;  // NaN too
  v = v < high ? v : high;
  job.y[at] = static_cast<uint8_t>(static_cast<int32_t>(std::nearbyint(v)) + job.y_zero);
}

// Computes row `row` of [..., m]: its n columns, some at a time.
void product_row(const Job& job, size_t row) {
  constexpr size_t kColumns = 64;
  const Params& p = job.p;
  const Shape &a = p.a, &b = p.b, &y = p.y;
  const auto k = static_cast<size_t>(a[a.rank() - 1]), n = p.channels;
  const auto m = static_cast<size_t>(y[y.rank() - 2]);
  // The matrices: leading dimensions of size 1 do not count.
  size_t rest = row / m, a_matrix = 0, b_matrix = 0, a_step = 1, b_step = 1;
  for (int i = y.rank() - 3; i >= 0; --i) {
    const size_t index = rest % static_cast<size_t>(y[i]);
    rest /= static_cast<size_t>(y[i]);
    const auto da = static_cast<size_t>(aligned_dim(a, y.rank(), i));
    const auto db = static_cast<size_t>(aligned_dim(b, y.rank(), i));
    if (da > 1) a_matrix += index * a_step;
    if (db > 1) b_matrix += index * b_step;
    a_step *= da;
    b_step *= db;
  }
  const uint8_t* from = job.a + (a_matrix * m + row % m) * k;
  const uint8_t* with = job.b + b_matrix * k * n;
  for (size_t first = 0; first < n; first += kColumns) {
    const size_t count = std::min(kColumns, n - first);
    uint32_t acc[kColumns] = {};
    int32_t zero[kColumns];
    for (size_t j = 0; j < count; ++j) zero[j] = job.zero_of(first + j);
    for (size_t i = 0; i < k; ++i) {
      const int32_t v = from[i] - job.a_zero;
      const uint8_t* line = with + i * n + first;
      for (size_t j = 0; j < count; ++j) acc[j] += static_cast<uint32_t>(v * (line[j] - zero[j]));
    }
    for (size_t j = 0; j < count; ++j) store(job, row * n + first + j, first + j, acc[j]);
  }
}

// Computes row `row` of [n, out, oh]: its ow positions.
void convolution_row(const Job& job, size_t row) {
  const Params& p = job.p;
  const Geometry& g = p.geometry;
  const int64_t oh = p.y[2], ow = p.y[3], c = p.b[1], kh = p.b[2], kw = p.b[3];
  const int64_t h = p.a[2], w = p.a[3];
  const int64_t oy = static_cast<int64_t>(row) % oh, nc = static_cast<int64_t>(row) / oh;
  const int64_t channel = nc % p.b[0], image = nc / p.b[0];
  const int64_t first = channel / (p.b[0] / g.groups) * c;
  const int32_t zero = job.zero_of(static_cast<size_t>(channel));
  for (int64_t ox = 0; ox < ow; ++ox) {
    uint32_t acc = job.bias ? static_cast<uint32_t>(job.bias[channel]) : 0;
    for (int64_t i = 0; i < c; ++i) {
      const uint8_t* plane = job.a + (image * p.a[1] + first + i) * h * w;
      const uint8_t* taps = job.b + (channel * c + i) * kh * kw;
      for (int64_t ky = 0; ky < kh; ++ky) {
        const int64_t iy = oy * g.stride[0] + ky * g.dilation[0] - g.before[0];
        if (iy < 0 || iy >= h) continue;
        for (int64_t kx = 0; kx < kw; ++kx) {
          const int64_t ix = ox * g.stride[1] + kx * g.dilation[1] - g.before[1];
          if (ix < 0 || ix >= w) continue;
          acc += static_cast<uint32_t>((plane[iy * w + ix] - job.a_zero) *
                                       (taps[ky * kw + kx] - zero));
        }
      }
    }
    store(job, row * static_cast<size_t>(ow) + static_cast<size_t>(ox),
          static_cast<size_t>(channel), acc);
  }
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  Job job = {p,
             context.in(step, kA),
             context.in(step, kB),
             context.in(step, kBZero),
             *context.in(step, kAZero),
             nullptr,
             0,
             0,
             nullptr,
             0,
             context.out(step, 0)};
  if (!p.sums) {
    job.a_scale = scale_at(context.in(step, kAScale), 0, p.half_scales);
    job.y_scale = scale_at(context.in(step, kYScale), 0, p.half_scales);
    job.b_scale = context.in(step, kBScale);
    job.y_zero = *context.in(step, kYZero);
  }
  if (p.has_bias) job.bias = reinterpret_cast<const int32_t*>(context.in(step, kBias));
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
      p.is_convolution ? convolution_row(job, row) : product_row(job, row);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::DynamicProductOptions>();
  auto params = make_planned<Params>();
  Params& p = *params;
  p.geometry = geometry_of(*options);
  p.a = context.inputs[kA].type.shape;
  p.b = context.inputs[kB].type.shape;
  p.y = context.outputs[0].shape;
  p.is_convolution = options->is_convolution();
  p.sums = context.outputs[0].dtype == DType::kInt32;
  p.has_bias = context.inputs.size() > kBias;
  p.channels = static_cast<size_t>(p.y[p.is_convolution ? 1 : p.y.rank() - 1]);
  p.half_scales = !p.sums && context.inputs[kAScale].type.dtype == DType::kFloat16;
  p.b_zero_each = context.inputs[kBZero].type.shape.elements() > 1;
  p.b_scale_each = !p.sums && context.inputs[kBScale].type.shape.elements() > 1;
  const auto outputs = static_cast<size_t>(p.y.elements());
  p.rows = outputs / static_cast<size_t>(p.y[p.y.rank() - 1]);
  const int64_t terms = p.is_convolution ? p.b[1] * p.b[2] * p.b[3] : p.a[p.a.rank() - 1];
  step->macs = outputs * static_cast<uint64_t>(terms);
  p.tasks = task_count(static_cast<double>(step->macs), p.rows, context.threads);
  step->kernel = "dynamic_product";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

// Returns the arithmetic level. With scales, the operator makes a quantised output itself.
int level(const fb::Operator& op) { return op.inputs()->size() > 4 ? kEdgeLevel : 0; }

}  // namespace

std::string describe_dynamic_product(const fb::Operator&) {
  return "float32 scales from inputs, half even";
}

const OpDef kDynamicProductOp = {
    "DynamicProduct",
    fb::OpOptions::DynamicProduct,
    infer,
    prepare,
    {Arithmetic::kIntegers, level, no_requant, never_apart, LayoutRule::kOwn,
     Broadcasting::kMatrices, ConstantRule::kOperands}};

}  // namespace qrt

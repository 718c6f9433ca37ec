// SPDX-License-Identifier: Apache-2.0
// ResizeLinear: an image [n, h, w, c], every output pixel weighed from four of the input, or a
// volume [n, d, h, w, c], from eight. In float32 (ONNX Runtime) two input rows of each plane are
// dequantised, weighed and quantised; in integers (TFLite, and INT16_SUM) the products are exact.
#include <string.h>

#include <algorithm>

#include "kernels/edge/edge.h"
#include "kernels/integer_build.h"
#include "kernels/resize/resize.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/resize_axis.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::ResizeLinearOptions>();
  QRT_TRY(check_input_count(context, 1));
  const bool is_volume = o->d() != nullptr;
  QRT_TRY(check_rank(context, 0, "x", is_volume ? 5 : 4,
                     is_volume ? "[n, d, h, w, c]" : "[n, h, w, c]"));
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(o->kind() <= fb::ResizeKind::MAX, "kind is %d, expected %d to %d",
                  static_cast<int>(o->kind()), static_cast<int>(fb::ResizeKind::MIN),
                  static_cast<int>(fb::ResizeKind::MAX));
  const bool in_float = is_float(o->kind());
  const bool is_int16 = o->kind() == fb::ResizeKind::INT16_SUM;
  QRT_MODEL_CHECK(
      (x.dtype == DType::kUInt8 && !is_int16) || (x.dtype == DType::kInt16 && !in_float),
      "input 0 (x) is %s, expected uint8 unless INT16_SUM, or int16 with an integer kind",
      dtype_name(x.dtype));
  QRT_MODEL_CHECK(in_float || is_int16 || !is_volume, "has d, which INT kinds have not");
  if (is_int16)
    QRT_TRY(check_range("input_zero_point", o->input_zero_point(), INT16_MIN, INT16_MAX));
  QRT_MODEL_CHECK(o->offset() == 0 || (o->offset() == 128 && x.dtype == DType::kUInt8),
                  "offset is %d, expected 0, or 128 for uint8", o->offset());
  if (o->kind() == fb::ResizeKind::F32) {
    for (const uint32_t bits : {o->input_scale(), o->output_scale()}) {
      const float scale = float_of(bits);
      QRT_MODEL_CHECK(scale >= 0x1p-100f && scale <= 0x1p100f,
                      "a scale is %g, expected 2^-100 to 2^100", static_cast<double>(scale));
    }
    QRT_TRY(check_range("input_zero_point", o->input_zero_point(), 0, 255));
    QRT_TRY(check_range("output_zero_point", o->output_zero_point(), 0, 255));
    QRT_TRY(check_range("lo", o->lo(), 0, 255));
    QRT_TRY(check_range("hi", o->hi(), o->lo(), 255));
  }
  Shape shape = x.shape;
  const int h = is_volume ? 2 : 1;
  if (is_volume) QRT_TRY(check_resize_axis(context, 2, x.shape[1], &shape[1]));
  QRT_TRY(check_resize_axis(context, 0, x.shape[h], &shape[h]));
  QRT_TRY(check_resize_axis(context, 1, x.shape[h + 1], &shape[h + 1]));
  return add_output(is_int16 ? DType::kInt32 : x.dtype, shape, outputs);
}

struct Params {
  const ResizeKernel *kernel, *f32;  // f32: the kernel whose float form is used
  const EdgeKernel* edge;
  fb::ResizeKind kind;
  DType dtype;
  RoundShift20 round;
  int32_t offset, input_zero_point;
  float input_scale;
  ResizeBytes bytes;
  ResizeColumns columns;  // tie = 0: this form is not used
  bool is_volume;
  ResizeTable d, h, w;                  // d: of a volume
  size_t in_d, out_d;                   // 1 without d
  size_t in_h, out_h, in_row, out_row;  // rows in elements
  size_t out_w, channels;
  size_t rows;  // n * out_d * out_h
  size_t tasks;
  size_t task_scratch;  // bytes
  SoftResize soft;
};

template <class Weight>
ResizeRow<Weight> rows_of(const Params& p, uint32_t y, size_t rows) {
  return {p.out_w,
          p.channels,
          p.w.low,
          p.w.high,
          weights_of<Weight>(p.w.low_weight),
          weights_of<Weight>(p.w.high_weight),
          weights_of<Weight>(p.h.low_weight) + y,
          weights_of<Weight>(p.h.high_weight) + y,
          rows};
}

// Two dequantised rows of each plane of the input, or two and the same by columns, kept from output
// row to output row.
class FloatRows {
 public:
  FloatRows(const Params& p, float* scratch) : p_(p) {
    for (size_t k = 0; k < (p.is_volume ? 2 : 1); ++k)
      for (float*& row : pairs_[k].rows) {
        row = scratch;
        scratch += stride(p.in_row);
      }
    for (float*& columns : columns_) {
      columns = scratch;
      scratch += column_stride(p);
    }
  }

  // Returns the bytes of the floats of a row, or SIZE_MAX where size_t holds no such number: with
  // addresses of 32 bits, a row may fit of which the floats do not.
  static size_t bytes(const Params& p) {
    static_assert(kResizeOverRead * sizeof(float) <= kAlignment, "beyond the last row");
    const uint64_t rows = uint64_t{p.is_volume ? 4u : 2u} * stride(p.in_row) + 2 * column_stride(p);
    return size_or_most(rows * sizeof(float) + kAlignment);
  }

  void make(const ResizePlane<uint8_t, float>* planes, size_t count, const ResizeRow<float>& row,
            uint8_t* y) {
    ResizePlane<float, float> real[2];
    size_t low = 0, high = 0;
    for (size_t k = 0; k < count; ++k) {
      const ResizePlane<uint8_t, float>& plane = planes[k];
      low = place(k, row, plane.low, 2);
      high = place(k, row, plane.high, low);
      real[k] = {pairs_[k].rows[low], pairs_[k].rows[high], plane.weight};
    }
    if (p_.columns.tie == 0) {
      const bool is_usual = !p_.is_volume && !p_.bytes.truncates;
      if (is_usual && p_.channels >= kWideResize)
        p_.f32->f32(row, *real, p_.bytes, y);
      else
        p_.f32->f32_general(row, real, count, p_.bytes, y);
      return;
    }
    ResizeColumns columns = p_.columns;
    columns.low = columns_[low];
    columns.high = columns_[high];
    p_.kernel->f32_by_columns(row, *real, columns, p_.bytes, y);
  }

 private:
  struct RowCache {
    float* rows[2] = {};
    const uint8_t* held[2] = {};
    size_t next = 0;
  };

  // Floats of a row, aligned.
  static size_t stride(size_t elements) { return round_up(elements, kAlignment / sizeof(float)); }
  static size_t column_stride(const Params& p) { return p.columns.tie > 0 ? stride(p.out_row) : 0; }

  // Returns the place of plane k that holds the row x; a new row does not take the place `keep`.
  size_t place(size_t k, const ResizeRow<float>& row, const uint8_t* x, size_t keep) {
    RowCache& pair = pairs_[k];
    for (size_t i = 0; i < 2; ++i)
      if (pair.held[i] == x) return i;
    const size_t at = keep < 2 ? 1 - keep : pair.next;
    pair.next = 1 - at;
    pair.held[at] = x;
    p_.edge->dequantize(x, false, p_.in_row, p_.input_scale * kResizePart, p_.input_zero_point,
                        pair.rows[at]);
    if (p_.columns.tie > 0) p_.kernel->columns(row, pair.rows[at], columns_[at]);
    return at;
  }

  const Params& p_;
  RowCache pairs_[2];
  float* columns_[2];
};

// Returns the planes that output row i is made of; of a volume the second only where it weighs something.
template <class T, class Weight>
size_t planes_of(const Params& p, const T* x, size_t i, ResizePlane<T, Weight> (&planes)[2]) {
  const auto y = static_cast<uint32_t>(i % p.out_h);
  const auto z = static_cast<uint32_t>(i / p.out_h % p.out_d);
  const auto low = static_cast<size_t>(p.h.low[y]);
  const auto high = static_cast<size_t>(p.h.high[y]);
  const size_t first = i / p.out_h / p.out_d * p.in_d;
  const auto plane = [&](size_t at, Weight weight) -> ResizePlane<T, Weight> {
    const T* rows = x + (first + at) * p.in_h * p.in_row;
    return {rows + low * p.in_row, rows + high * p.in_row, weight};
  };
  if (!p.is_volume) {
    planes[0] = plane(0, Weight{1});
    return 1;
  }
  planes[0] = plane(static_cast<size_t>(p.d.low[z]), weights_of<Weight>(p.d.low_weight)[z]);
  planes[1] = plane(static_cast<size_t>(p.d.high[z]), weights_of<Weight>(p.d.high_weight)[z]);
  return planes[1].weight == Weight{0} ? 1 : 2;
}

// Calls f(planes, their number, rows of h, output) for the output's rows [begin, end), by up to most_rows
// of the same source rows. At the edges of images that grow are rows that are the one before them.
template <class T, class Weight, class Y, class F>
void for_rows(const Params& p, const Step& step, const RunContext& context, size_t begin,
              size_t end, size_t most_rows, const F& f) {
  const T* x = reinterpret_cast<const T*>(context.in(step, 0));
  Y* y = reinterpret_cast<Y*>(context.out(step, 0)) + begin * p.out_row;
  for (size_t i = begin, rows; i < end; i += rows, y += rows * p.out_row) {
    const size_t first = i % p.out_h, most = std::min({most_rows, end - i, p.out_h - first});
    const auto row = [first](size_t r) { return static_cast<uint32_t>(first + r); };
    rows = 1;
    if (i > begin && first > 0 && have_same_sources(p.h, row(0)) &&
        have_same_weights(p.h, row(0))) {
      memcpy(y, y - p.out_row, p.out_row * sizeof(Y));
      continue;
    }
    while (rows < most && have_same_sources(p.h, row(rows)) && !have_same_weights(p.h, row(rows)))
      ++rows;
    ResizePlane<T, Weight> planes[2];
    const size_t count = planes_of(p, x, i, planes);
    f(planes, count, rows_of<Weight>(p, row(0), rows), y);
  }
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t task, size_t begin, size_t end) {
    uint8_t* scratch = context.scratch + task * p.task_scratch;
    if (is_float(p.kind) && is_integer_build()) {
      for_rows<uint8_t, float, uint8_t>(
          p, step, context, begin, end, 1,
          [&](const auto* planes, size_t count, const ResizeRow<float>& row, uint8_t* y) {
            resize_row_soft(row, p.soft, planes, count, y);
          });
    } else if (is_float(p.kind)) {
      FloatRows rows(p, reinterpret_cast<float*>(scratch));
      for_rows<uint8_t, float, uint8_t>(
          p, step, context, begin, end, SIZE_MAX,
          [&](const auto* planes, size_t count, const ResizeRow<float>& row, uint8_t* y) {
            rows.make(planes, count, row, y);
          });
    } else if (p.kind == fb::ResizeKind::INT16_SUM) {
      auto* sums = reinterpret_cast<int32_t*>(scratch);
      for_rows<int16_t, int32_t, int32_t>(
          p, step, context, begin, end, 1,
          [&](const auto* planes, size_t count, const ResizeRow<int32_t>& row, int32_t* y) {
            p.kernel->fine(row, p.input_zero_point, planes[0].low, planes[0].high, y);
            if (!p.is_volume) return;
            if (count > 1)
              p.kernel->fine(row, p.input_zero_point, planes[1].low, planes[1].high, sums);
            p.kernel->blend(planes[0].weight, count > 1 ? planes[1].weight : 0,
                            row.out_w * row.channels, count > 1 ? sums : y, y);
          });
    } else if (p.dtype == DType::kUInt8) {
      for_rows<uint8_t, int32_t, uint8_t>(
          p, step, context, begin, end, 1,
          [&](const auto* planes, size_t, const ResizeRow<int32_t>& row, uint8_t* y) {
            p.kernel->u8(row, p.round, p.offset, planes->low, planes->high, y);
          });
    } else {
      for_rows<int16_t, int32_t, int16_t>(
          p, step, context, begin, end, 1,
          [&](const auto* planes, size_t, const ResizeRow<int32_t>& row, int16_t* y) {
            p.kernel->s16(row, p.round, planes->low, planes->high, y);
          });
    }
  });
}

// Returns the form by columns, which serves images of bytes that grow: several output rows use the
// columns of one row.
ResizeColumns columns_of(const Params& p) {
  if (p.kind != fb::ResizeKind::F32 || p.is_volume || p.out_h <= p.in_h ||
      p.out_row < kLeastColumns) {
    return {};
  }
  const int32_t most = std::max(p.input_zero_point, 255 - p.input_zero_point);
  const double weights = double{greatest_weight(p.h)} * double{greatest_weight(p.w)};
  return resize_columns(p.input_scale, p.bytes, weights * most, unit_of(p.h) * unit_of(p.w));
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::ResizeLinearOptions>();
  const Shape &from = context.inputs[0].type.shape, &to = context.outputs[0].shape;
  const auto size = [](int64_t d) { return static_cast<size_t>(d); };
  auto params = make_planned<Params>();
  Params& p = *params;
  p.kernel = select_resize(context.isas);
  p.edge = select_edge(context.isas);
  p.kind = o->kind();
  p.dtype = context.outputs[0].dtype;
  p.round = p.kind == fb::ResizeKind::INT_HALF_AWAY ? RoundShift20::kHalfAway
            : p.kind == fb::ResizeKind::INT_HALF_UP ? RoundShift20::kHalfUp
                                                    : RoundShift20::kTruncate;
  p.offset = o->offset();
  const bool truncates = p.kind == fb::ResizeKind::F32_TRUNCATED;
  p.input_scale = truncates ? 1.0f : float_of(o->input_scale());
  p.input_zero_point = truncates ? p.offset : o->input_zero_point();
  p.bytes = truncates ? ResizeBytes{true, 1.0f, p.offset, 0, 255}
                      : ResizeBytes{false, float_of(o->output_scale()), o->output_zero_point(),
                                    o->lo(), o->hi()};
  p.soft = {truncates,
            o->offset(),
            o->input_scale(),
            o->output_scale(),
            o->input_zero_point(),
            o->output_zero_point(),
            o->lo(),
            o->hi()};
  p.is_volume = o->d() != nullptr;
  p.h = resize_table(context, 0);
  p.w = resize_table(context, 1);
  p.d = resize_table(context, 2);
  const int h = p.is_volume ? 2 : 1;
  p.channels = size(from[h + 2]);
  p.in_d = p.is_volume ? size(from[1]) : 1;
  p.out_d = p.is_volume ? size(to[1]) : 1;
  p.in_h = size(from[h]);
  p.out_h = size(to[h]);
  p.out_w = size(to[h + 1]);
  p.in_row = size(from[h + 1]) * p.channels;
  p.out_row = p.out_w * p.channels;
  p.rows = size(to[0]) * p.out_d * p.out_h;
  p.columns = columns_of(p);
  // A sum has eight products at most, of weights up to 1 and integers up to 255.
  const double most =
      8.0 * 255 * static_cast<double>(p.input_scale) / static_cast<double>(p.bytes.scale);
  p.f32 = is_resize_scale(p.bytes.scale, most) ? p.kernel : select_resize(IsaSet{});
  constexpr double kElementsPerNs = 0.5;
  p.tasks =
      task_count(static_cast<double>(p.rows * p.out_row) / kElementsPerNs, p.rows, context.threads);
  if (is_float(p.kind)) {
    p.task_scratch = FloatRows::bytes(p);
  } else if (p.kind == fb::ResizeKind::INT16_SUM && p.is_volume) {
    p.task_scratch =
        product_or_most({round_up(p.out_row, kAlignment / sizeof(int32_t)), sizeof(int32_t)});
  }
  step->scratch_bytes = product_or_most({p.tasks, p.task_scratch});
  step->kernel = is_float(p.kind) && p.columns.tie == 0 ? p.f32->name : p.kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) {
  const fb::ResizeKind kind = op.options_as_ResizeLinear()->kind();
  return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED ? 1 : 0;
}

}  // namespace

std::string describe_resize_linear(const fb::Operator& op) {
  switch (op.options_as_ResizeLinear()->kind()) {
    case fb::ResizeKind::F32:
    case fb::ResizeKind::F32_TRUNCATED: return "ordered float32 sum";
    default: return "integer sum";
  }
}

const OpDef kResizeLinearOp = {"ResizeLinear",
                               fb::OpOptions::ResizeLinear,
                               infer,
                               prepare,
                               {Arithmetic::kForms, level, no_requant, always_apart,
                                LayoutRule::kImages, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt

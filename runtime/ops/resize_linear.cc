// ResizeLinear: an image [n, h, w, c], every output pixel weighed from four of the input. In
// float32 (ONNX Runtime) two input rows are dequantised, weighed and quantised; in integers
// (TFLite) the products are exact.
#include "kernels/boundary/boundary.h"
#include "kernels/integer_build.h"
#include "kernels/resize/resize.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

bool is_float(fb::ResizeKind kind) {
  return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED;
}

Status check_axis(const fb::ResizeAxis* axis, const char* name, int64_t size, bool in_float,
                  int64_t* out) {
  QRT_MODEL_CHECK(axis != nullptr, "%s is missing", name);
  const auto count = [](const auto* v) { return v ? v->size() : 0; };
  const uint32_t n = count(axis->low());
  QRT_MODEL_CHECK(n > 0 && count(axis->high()) == n && count(axis->low_weight()) == n &&
                      count(axis->high_weight()) == n,
                  "%s has %u and %u indices and %u and %u weights, expected as many of each", name,
                  n, count(axis->high()), count(axis->low_weight()), count(axis->high_weight()));
  for (uint32_t i = 0; i < n; ++i) {
    for (const int32_t index : {axis->low()->Get(i), axis->high()->Get(i)})
      QRT_MODEL_CHECK(index >= 0 && index < size, "index %u of %s is %d, expected 0 to %lld", i,
                      name, index, static_cast<long long>(size - 1));
    const int32_t weights[] = {axis->low_weight()->Get(i), axis->high_weight()->Get(i)};
    int64_t sum = 0;
    for (const int32_t w : weights) {
      sum += w < 0 ? -int64_t{w} : int64_t{w};
      if (!in_float) continue;
      const float real = float_of(static_cast<uint32_t>(w));
      QRT_MODEL_CHECK(real >= 0.0f && real <= 1.0f, "weight %u of %s is %g, expected 0 to 1", i,
                      name, static_cast<double>(real));
    }
    QRT_MODEL_CHECK(in_float || sum <= kMaxResizeWeight,
                    "weights %u of %s are %d and %d, expected at most %d together", i, name,
                    weights[0], weights[1], kMaxResizeWeight);
  }
  *out = n;
  return Status();
}

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* o = context.op->options_as<fb::ResizeLinearOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_rank(context, 0, "x", 4, "[n, h, w, c]"));
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(o->kind() >= fb::ResizeKind::MIN && o->kind() <= fb::ResizeKind::MAX,
                  "kind is %d, expected %d to %d", static_cast<int>(o->kind()),
                  static_cast<int>(fb::ResizeKind::MIN), static_cast<int>(fb::ResizeKind::MAX));
  const bool in_float = is_float(o->kind());
  QRT_MODEL_CHECK(x.dtype == DType::kUInt8 || (x.dtype == DType::kInt16 && !in_float),
                  "input 0 (x) is %s, expected uint8, or int16 with an integer kind",
                  dtype_name(x.dtype));
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
  QRT_TRY(check_axis(o->h(), "h", x.shape[1], in_float, &shape[1]));
  QRT_TRY(check_axis(o->w(), "w", x.shape[2], in_float, &shape[2]));
  return add_output(x.dtype, shape, outputs);
}

struct Params {
  const ResizeKernel* kernel;
  const BoundaryKernel* boundary;
  fb::ResizeKind kind;
  DType dtype;
  RoundShift20 round;
  int32_t offset, input_zero_point, output_zero_point, lo, hi;
  float input_scale, output_scale;
  const fb::ResizeAxis *h, *w;
  size_t in_h, out_h, in_row, out_row;  // rows in elements
  size_t out_w, channels;
  size_t rows;  // n * out_h
  size_t tasks;
  size_t task_floats;  // scratch of a task
  SoftResize soft;
};

template <class Weight>
ResizeRow<Weight> row_of(const Params& p, uint32_t y) {
  const auto weights = [](const flatbuffers::Vector<int32_t>* v) {
    return reinterpret_cast<const Weight*>(v->data());
  };
  return {p.out_w,
          p.channels,
          p.w->low()->data(),
          p.w->high()->data(),
          weights(p.w->low_weight()),
          weights(p.w->high_weight()),
          weights(p.h->low_weight())[y],
          weights(p.h->high_weight())[y]};
}

// Two dequantised rows of the input, kept from output row to output row, and the output's.
class FloatRows {
 public:
  FloatRows(const Params& p, float* scratch)
      : p_(p), rows_{scratch, scratch + stride(p.in_row)}, out_(scratch + 2 * stride(p.in_row)) {}

  // Floats of a row with readable slack.
  static size_t stride(size_t elements) {
    return (elements * sizeof(float) + kSlack + kAlignment - 1) / kAlignment * kAlignment /
           sizeof(float);
  }

  void make(const uint8_t* image, size_t low, size_t high, const ResizeRow<float>& row,
            uint8_t* y) {
    const float* a = get(image + low * p_.in_row, nullptr);
    const float* b = low == high ? a : get(image + high * p_.in_row, a);
    p_.kernel->f32(row, a, b, out_);
    if (p_.kind == fb::ResizeKind::F32) {
      p_.boundary->quantize(out_, p_.out_row, p_.output_scale, p_.output_zero_point, p_.lo, p_.hi,
                            y);
      return;
    }
    for (size_t i = 0; i < p_.out_row; ++i) {
      const int32_t v = static_cast<int32_t>(out_[i]) + p_.offset;
      y[i] = static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
    }
  }

 private:
  // The row in float32, not in the place of `keep`.
  const float* get(const uint8_t* x, const float* keep) {
    for (int i = 0; i < 2; ++i)
      if (held_[i] == x) return rows_[i];
    const int at = keep ? keep == rows_[0] : next_;
    next_ = 1 - at;
    held_[at] = x;
    p_.boundary->dequantize(x, false, p_.in_row, p_.input_scale, p_.input_zero_point, rows_[at]);
    return rows_[at];
  }

  const Params& p_;
  float* rows_[2];
  float* out_;
  const uint8_t* held_[2] = {};
  int next_ = 0;
};

template <class T, class F>
void for_rows(const Params& p, const Step& step, const RunContext& context, size_t begin,
              size_t end, const F& f) {
  const T* x = reinterpret_cast<const T*>(context.in(step, 0));
  T* y = reinterpret_cast<T*>(context.out(step, 0)) + begin * p.out_row;
  for (size_t i = begin; i < end; ++i, y += p.out_row) {
    const auto at = static_cast<uint32_t>(i % p.out_h);
    f(x + i / p.out_h * p.in_h * p.in_row, static_cast<size_t>(p.h->low()->Get(at)),
      static_cast<size_t>(p.h->high()->Get(at)), at, y);
  }
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t task, size_t begin, size_t end) {
    if (is_float(p.kind) && is_integer_build()) {
      for_rows<uint8_t>(
          p, step, context, begin, end,
          [&](const uint8_t* image, size_t low, size_t high, uint32_t at, uint8_t* y) {
            resize_row_soft(row_of<float>(p, at), p.soft, image + low * p.in_row,
                            image + high * p.in_row, y);
          });
    } else if (is_float(p.kind)) {
      FloatRows rows(p, reinterpret_cast<float*>(context.scratch) + task * p.task_floats);
      for_rows<uint8_t>(p, step, context, begin, end,
                        [&](const uint8_t* image, size_t low, size_t high, uint32_t at,
                            uint8_t* y) { rows.make(image, low, high, row_of<float>(p, at), y); });
    } else if (p.dtype == DType::kUInt8) {
      for_rows<uint8_t>(
          p, step, context, begin, end,
          [&](const uint8_t* image, size_t low, size_t high, uint32_t at, uint8_t* y) {
            p.kernel->u8(row_of<int32_t>(p, at), p.round, p.offset, image + low * p.in_row,
                         image + high * p.in_row, y);
          });
    } else {
      for_rows<int16_t>(
          p, step, context, begin, end,
          [&](const int16_t* image, size_t low, size_t high, uint32_t at, int16_t* y) {
            p.kernel->s16(row_of<int32_t>(p, at), p.round, image + low * p.in_row,
                          image + high * p.in_row, y);
          });
    }
  });
}

Status prepare(const PrepareContext& context, Step* step) {
  const auto* o = context.op->options_as<fb::ResizeLinearOptions>();
  const Shape &from = context.inputs[0].type.shape, &to = context.outputs[0].shape;
  const auto size = [](int64_t d) { return static_cast<size_t>(d); };
  auto params = std::make_shared<Params>();
  Params& p = *params;
  p.kernel = select_resize(context.isas);
  p.boundary = select_boundary(context.isas);
  p.kind = o->kind();
  p.dtype = context.outputs[0].dtype;
  p.round = p.kind == fb::ResizeKind::INT_HALF_AWAY ? RoundShift20::kHalfAway
            : p.kind == fb::ResizeKind::INT_HALF_UP ? RoundShift20::kHalfUp
                                                    : RoundShift20::kTruncate;
  p.offset = o->offset();
  const bool truncates = p.kind == fb::ResizeKind::F32_TRUNCATED;
  p.input_scale = truncates ? 1.0f : float_of(o->input_scale());
  p.input_zero_point = truncates ? p.offset : o->input_zero_point();
  p.output_scale = float_of(o->output_scale());
  p.output_zero_point = o->output_zero_point();
  p.lo = o->lo();
  p.hi = o->hi();
  p.soft = {truncates,
            o->offset(),
            o->input_scale(),
            o->output_scale(),
            o->input_zero_point(),
            o->output_zero_point(),
            o->lo(),
            o->hi()};
  p.h = o->h();
  p.w = o->w();
  p.channels = size(from[3]);
  p.in_h = size(from[1]);
  p.out_h = size(to[1]);
  p.out_w = size(to[2]);
  p.in_row = size(from[2]) * p.channels;
  p.out_row = p.out_w * p.channels;
  p.rows = size(to[0]) * p.out_h;
  constexpr double kElementsPerNs = 0.5;
  p.tasks =
      task_count(static_cast<double>(p.rows * p.out_row) / kElementsPerNs, p.rows, context.threads);
  if (is_float(p.kind)) {
    p.task_floats = 2 * FloatRows::stride(p.in_row) + FloatRows::stride(p.out_row);
    step->scratch_bytes = p.tasks * p.task_floats * sizeof(float);
  }
  step->kernel = p.kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

const OpDef kResizeLinearOp = {"ResizeLinear", fb::OpOptions::ResizeLinear, false, infer, prepare};

}  // namespace qrt

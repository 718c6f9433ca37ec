// SPDX-License-Identifier: Apache-2.0
// Operators that look at more than one float32 element: reductions, normalisations, pools, enlargements.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "converter/import/common/float_windows.h"
#include "converter/import/tflite/floats/float_op.h"
#include "converter/import/tflite/moving.h"

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;
using F = fb::FloatFunction;

F function_of(B code) {
  switch (code) {
    case B::SUM: return F::REDUCE_SUM;
    case B::REDUCE_MAX: return F::REDUCE_MAX;
    case B::REDUCE_MIN: return F::REDUCE_MIN;
    default: return F::REDUCE_MEAN;
  }
}

std::vector<bool> last_dimension(const Shape& shape) {
  std::vector<bool> marked(static_cast<size_t>(shape.rank()));
  if (!marked.empty()) marked.back() = true;
  return marked;
}

// Reads input 0 as floats of at least one dimension and element. Returns false where the operator
// was refused, or *status is set.
bool read_rows(FloatOp* f, int rank, ValueId* x, Status* status) {
  if (!f->read(0, x)) return false;
  const Shape shape = f->shape_of(*x);
  if ((rank == 0 ? shape.rank() >= 1 : shape.rank() == rank) && shape.elements() > 0) return true;
  *status = error(Code::kInvalidModel, "the input has shape %s", shape.to_string().c_str());
  return false;
}

// Replaces what the reference kernels pass over when they look for the greatest (least) element: NaN, as no number is greater. They
// begin with the least (greatest) finite number, or of a whole tensor with its first element.
Status without_nan(FloatOp* f, bool is_greatest, bool is_whole, ValueId x, ValueId* y) {
  ValueId start = f->constant({}, {is_greatest ? -FLT_MAX : FLT_MAX});
  if (is_whole) {
    start = f->builder().reshape(f->source(), x, {f->shape_of(x).elements()});
    IndexMaps maps(f->shape_of(start));
    maps.set(0, {0});
    start = f->builder().gather(f->source(), start, maps, 0);
  }
  return f->binary(is_greatest ? F::MAXIMUM : F::MINIMUM, x, start, y);
}

}  // namespace

Status import_float_reduction(Importer& importer, const Op& op) {
  FloatOp f(importer, op);
  ValueId x;
  Status status;
  std::vector<int32_t> axes;
  if (!read_rows(&f, 0, &x, &status) || !importer.read_integers(op, 1, &axes)) return status;
  std::vector<bool> marked(static_cast<size_t>(f.shape_of(x).rank()));
  for (const int32_t given : axes) {
    int axis;
    QRT_TRY(check_axis(given, f.shape_of(x).rank(), &axis));
    marked[static_cast<size_t>(axis)] = true;
  }
  if (axes.empty())
    return importer.refuse(op, "it reduces no dimension", importer.input(op, 1).name,
                           "build the model without this operator, which changes nothing");
  const F function = function_of(op.code);
  if (function == F::REDUCE_MAX || function == F::REDUCE_MIN) {
    const bool is_whole = std::find(marked.begin(), marked.end(), false) == marked.end();
    QRT_TRY(without_nan(&f, function == F::REDUCE_MAX, is_whole, x, &x));
  }
  ValueId y;
  QRT_TRY(f.rows(function, marked, 0, x, &y));
  return f.finish(y);
}

Status import_float_softmax(Importer& importer, const Op& op) {
  FloatOp f(importer, op);
  ValueId x, y;
  Status status;
  if (!read_rows(&f, 0, &x, &status)) return status;
  const bool is_log = op.code == B::LOG_SOFTMAX;
  const float beta = is_log ? 1.0f : op.options<tflite::SoftmaxOptions>().beta;
  QRT_MODEL_CHECK(std::isfinite(beta), "beta is %g", static_cast<double>(beta));
  if (beta != 1.0f) QRT_TRY(f.binary(F::MUL, x, f.constant({}, {beta}), &x));
  QRT_TRY(f.rows(is_log ? F::LOG_SOFTMAX : F::SOFTMAX, last_dimension(f.shape_of(x)), 0, x, &y));
  return f.finish(y);
}

// Computes x / max(the square root of the sum of squares, 1e-6).
Status import_float_l2_normalization(Importer& importer, const Op& op) {
  FloatOp f(importer, op);
  ValueId x, y;
  Status status;
  if (!read_rows(&f, 0, &x, &status)) return status;
  QRT_TRY(f.binary(F::MUL, x, x, &y));
  QRT_TRY(f.rows(F::REDUCE_SUM, last_dimension(f.shape_of(x)), 0, y, &y));
  y = f.add(F::SQRT, {y}, f.shape_of(y));
  QRT_TRY(f.binary(F::MAXIMUM, f.constant({}, {1e-6f}), y, &y));
  QRT_TRY(f.binary(F::DIV, x, y, &y));
  QRT_TRY(f.activate(op.options<tflite::L2NormOptions>().fused_activation_function, &y));
  return f.finish(y);
}

Status import_float_pool(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::Pool2DOptions>();
  const bool average = op.code == B::AVERAGE_POOL_2D;
  FloatOp f(importer, op);
  ValueId x, y;
  Status status;
  if (!read_rows(&f, 4, &x, &status)) return status;
  if (!average) QRT_TRY(without_nan(&f, true, false, x, &x));
  const Shape shape = f.shape_of(x);
  Window window{{o.filter_height, o.filter_width}, {o.stride_h, o.stride_w}};
  QRT_TRY(place_window(shape[1], shape[2], o.padding, &window));
  const bool is_whole =
      window.kernel[0] == shape[1] && window.kernel[1] == shape[2] && !window.padded();
  if (is_whole && window.output[0] * window.output[1] == 1) {
    QRT_TRY(f.rows(average ? F::REDUCE_MEAN : F::REDUCE_MAX, {false, true, true, false}, 0, x, &y));
  } else {
    Indices indices[2];
    for (int d = 0; d < 2; ++d) {
      QRT_TRY(check_index_count(window.output[d] * window.kernel[d]));
      indices[d] = window_indices(window.axis(d), shape[d + 1]);
    }
    const float fill = average ? 0 : -FLT_MAX;
    QRT_TRY(gather_taps(&f, window.output, window.kernel, indices, fill,
                        TermOrder::kTapsThenChannels, x, &y));
    y = reduce_taps(&f, average ? F::REDUCE_SUM : F::REDUCE_MAX, shape[3], y);
    if (average) {
      QRT_TRY(importer.reserve(static_cast<uint64_t>(window.output[0] * window.output[1]) *
                               sizeof(float)));
      const auto inside = [&](int d, int64_t at) {
        const auto first = indices[d].begin() + at * window.kernel[d];
        return window.kernel[d] - std::count(first, first + window.kernel[d], -1);
      };
      std::vector<float> counts;
      for (int64_t i = 0; i < window.output[0]; ++i)
        for (int64_t k = 0; k < window.output[1]; ++k)
          counts.push_back(static_cast<float>(inside(0, i) * inside(1, k)));
      QRT_TRY(f.binary(F::DIV, y, f.constant({window.output[0], window.output[1], 1}, counts), &y));
    }
  }
  QRT_TRY(f.activate(o.fused_activation_function, &y));
  return f.finish(y);
}

// Computes each row, and then each column, as a weighted mean of two of the input's.
Status import_float_resize_bilinear(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::ResizeBilinearOptions>();
  FloatOp f(importer, op);
  ValueId x;
  Status status;
  std::vector<int32_t> size;
  if (!read_rows(&f, 4, &x, &status) || !importer.read_integers(op, 1, &size)) return status;
  QRT_MODEL_CHECK(size.size() == 2 && size[0] >= 1 && size[1] >= 1, "its size has %zu numbers",
                  size.size());
  QRT_MODEL_CHECK(!o.align_corners || !o.half_pixel_centers,
                  "it has both align_corners and half_pixel_centers");
  for (int d = 1; d <= 2; ++d) {
    const int64_t in = f.shape_of(x)[d], out = size[static_cast<size_t>(d) - 1];
    QRT_TRY(check_index_count(out));
    const bool corners = o.align_corners && out > 1;
    const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                : static_cast<float>(in) / static_cast<float>(out);
    Indices indices;
    std::vector<float> weights;
    for (int64_t i = 0; i < out; ++i) {
      const auto index = static_cast<float>(i);
      const float product = (o.half_pixel_centers ? index + 0.5f : index) * scale;
      const float at = o.half_pixel_centers ? product - 0.5f : product;
      const auto first = std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, in - 1);
      const auto second = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, in - 1);
      const float part = at - static_cast<float>(first);
      indices.insert(indices.end(), {static_cast<int32_t>(first), static_cast<int32_t>(second)});
      weights.insert(weights.end(), {1 - part, part});
    }
    QRT_TRY(f.weighted_sum(d, out, indices, weights, x, &x));
  }
  return f.finish(x);
}

}  // namespace qrt::convert::from_tflite

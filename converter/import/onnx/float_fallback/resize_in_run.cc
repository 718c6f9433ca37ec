// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/resize_in_run.h"

#include <algorithm>

#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

ValueId binary(FloatGraph* f, F function, ValueId a, ValueId b) {
  Shape shape;
  broadcast(f->shape_of(a), f->shape_of(b), &shape);
  return f->add(function, {a, b}, shape);
}

// Arithmetic on float tensors of one axis: scalars and [out].
class RunFloats {
 public:
  explicit RunFloats(FloatGraph* f) : f_(*f), r_(f->importer(), f->node()) {}

  ValueId constant(float v) { return f_.constant({}, {v}); }
  ValueId number(int64_t n) { return to_float(r_.number(n)); }
  ValueId indices(int64_t n) { return to_float(r_.indices(n)); }
  ValueId add(ValueId a, ValueId b) { return binary(F::ADD, a, b); }
  ValueId subtract(ValueId a, ValueId b) { return binary(F::SUB, a, b); }
  ValueId multiply(ValueId a, ValueId b) { return binary(F::MUL, a, b); }
  ValueId divide(ValueId a, ValueId b) { return binary(F::DIV, a, b); }
  ValueId least(ValueId a, ValueId b) { return binary(F::MINIMUM, a, b); }
  ValueId greatest(ValueId a, ValueId b) { return binary(F::MAXIMUM, a, b); }
  // Return 1 where it is true, else 0.
  ValueId is_equal(ValueId a, ValueId b) { return binary(F::EQUAL, a, b); }
  ValueId is_less(ValueId a, ValueId b) { return binary(F::LESS, a, b); }

  // Rounds towards zero. Returns INT64.
  ValueId truncated(ValueId x) { return cast(x, DType::kInt64); }
  // Rounds down. Returns INT64.
  ValueId floor(ValueId x) {
    const ValueId whole = truncated(x);
    return r_.subtract(whole, truncated(is_less(x, to_float(whole))));
  }
  ValueId to_float(ValueId x) { return cast(x, DType::kFloat32); }
  RunIntegers& integers() { return r_; }

 private:
  ValueId binary(F function, ValueId a, ValueId b) {
    return convert::from_onnx::binary(&f_, function, a, b);
  }
  ValueId cast(ValueId x, DType to) {
    const ValueId y = f_.builder().new_value("", to, f_.shape_of(x));
    f_.builder().add<fb::CastOptionsT>(f_.node(), {x}, y).is_float = true;
    return y;
  }

  FloatGraph& f_;
  RunIntegers r_;
};

// Input indices INT64 [out] and their weights FLOAT32 [out].
struct RunTap {
  ValueId index, weight;
};

// The two neighbours of the outputs of an axis.
struct RunNeighbours {
  RunTap low, high;
};

// The taps of one axis, with the arithmetic of resize_coordinate() and of ONNX Runtime.
class AxisInRun {
 public:
  AxisInRun(FloatGraph* f, const Resize& r, const ResizeAxis& axis, bool has_own_scale)
      : f_(f), coordinates_(r.coordinates), axis_(axis), in_(f_.number(axis.in)) {
    out_ = f_.number(axis.out);
    scale_ = has_own_scale ? f_.constant(axis.scale) : f_.divide(out_, in_);
  }

  // Returns whether the run can compute where outputs lie in the input.
  static bool can_compute(Coordinates mode) {
    return mode != Coordinates::kHalfPixelSymmetric && mode != Coordinates::kTfCropAndResize;
  }

  // Returns neighbours that weigh a half each where both are the last input, as ONNX Runtime has it.
  RunNeighbours linear() {
    const ValueId last = f_.subtract(in_, one());
    const ValueId x = f_.greatest(f_.least(coordinate(), last), f_.constant(0));
    const ValueId low = f_.truncated(x), high = within(low, 1);
    const ValueId low_at = f_.to_float(low), high_at = f_.to_float(high);
    const ValueId half = f_.multiply(f_.is_equal(low_at, high_at), f_.constant(0.5f));
    return {{low, f_.add(f_.subtract(high_at, x), half)},
            {high, f_.add(f_.subtract(x, low_at), half)}};
  }

  std::vector<RunTap> cubic(float a) {
    const ValueId at = coordinate(), floor = f_.floor(at);
    const ValueId s = f_.subtract(at, f_.to_float(floor)), t = f_.subtract(one(), s);
    return {{within(floor, -1), outer(f_.add(s, one()), a)},
            {within(floor, 0), inner(s, a)},
            {within(floor, 1), inner(t, a)},
            {within(floor, 2), outer(f_.add(t, one()), a)}};
  }

 private:
  ValueId one() { return f_.constant(1); }

  ValueId coordinate() {
    const ValueId x = f_.indices(axis_.out), half = f_.constant(0.5f);
    switch (coordinates_) {
      case Coordinates::kAsymmetric: return f_.divide(x, scale_);
      case Coordinates::kTfHalfPixelForNn:
        return unless_same(x, f_.divide(f_.add(x, half), scale_));
      case Coordinates::kAlignCorners: {
        const ValueId most = f_.greatest(f_.subtract(out_, one()), one());
        return unless_same(x, f_.divide(f_.multiply(x, f_.subtract(in_, one())), most));
      }
      default: break;
    }
    const ValueId middle = f_.subtract(f_.divide(f_.add(x, half), scale_), half);
    if (coordinates_ == Coordinates::kPytorchHalfPixel)
      return f_.multiply(middle, f_.is_less(one(), out_));
    return middle;
  }

  // Returns x where the scale is 1, else y.
  ValueId unless_same(ValueId x, ValueId y) {
    const ValueId same = f_.is_equal(scale_, one());
    return f_.add(f_.multiply(x, same), f_.multiply(y, f_.subtract(one(), same)));
  }

  // Returns index + by within the axis.
  ValueId within(ValueId index, int64_t by) {
    RunIntegers& r = f_.integers();
    const ValueId last = r.subtract(r.number(axis_.in), r.constant(1));
    return r.greatest(r.least(by == 0 ? index : r.add(index, r.constant(by)), last), r.constant(0));
  }

  // Returns ((a * d - 5 * a) * d + 8 * a) * d - 4 * a.
  ValueId outer(ValueId d, float a) {
    const ValueId cubic = f_.subtract(f_.multiply(f_.constant(a), d), f_.constant(5 * a));
    const ValueId square = f_.add(f_.multiply(cubic, d), f_.constant(8 * a));
    return f_.subtract(f_.multiply(square, d), f_.constant(4 * a));
  }

  // ((a + 2) * d - (a + 3)) * d * d + 1
  ValueId inner(ValueId d, float a) {
    const ValueId cubic = f_.subtract(f_.multiply(f_.constant(a + 2), d), f_.constant(a + 3));
    return f_.add(f_.multiply(f_.multiply(cubic, d), d), one());
  }

  RunFloats f_;
  const Coordinates coordinates_;
  const ResizeAxis axis_;
  const ValueId in_;
  ValueId out_, scale_;
};

// Returns the elements of x at the tap's indices of an axis.
ValueId take(FloatGraph* f, ValueId x, int axis, const RunTap& tap) {
  Shape to = f->shape_of(x);
  to[axis] = f->shape_of(tap.index)[0];
  const ValueId taken = f->builder().new_value("", DType::kFloat32, to);
  f->builder().add<fb::TakeOptionsT>(f->node(), {x, tap.index}, taken).axis =
      static_cast<uint32_t>(axis);
  return taken;
}

// Returns the tap's weights in a shape that broadcasts along an axis of a tensor of that rank.
ValueId weights_along(FloatGraph* f, int rank, int axis, const RunTap& tap) {
  Shape shape;
  shape.push_back(f->shape_of(tap.index)[0]);
  for (int d = axis + 1; d < rank; ++d) shape.push_back(1);
  return f->builder().reshape(f->node(), tap.weight, shape);
}

// Returns the sum of the taps' elements along the axis, in their order.
ValueId sum_of_taps(FloatGraph* f, ValueId x, int axis, const std::vector<RunTap>& taps) {
  const int rank = f->shape_of(x).rank();
  ValueId sum = kNoValue;
  for (const RunTap& tap : taps) {
    const ValueId part =
        binary(f, F::MUL, take(f, x, axis, tap), weights_along(f, rank, axis, tap));
    sum = sum == kNoValue ? part : binary(f, F::ADD, sum, part);
  }
  return sum;
}

// Returns the sum of the four neighbours in two adjacent axes, of which `row_axis` is the first, in ONNX Runtime's order: the low row
// first, and in it the low column; each is multiplied by the product of its two weights.
ValueId sum_of_neighbours(FloatGraph* f, ValueId x, int row_axis, const RunNeighbours& rows,
                          const RunNeighbours& columns) {
  const int rank = f->shape_of(x).rank(), column_axis = row_axis + 1;
  ValueId sum = kNoValue;
  for (const RunTap* row : {&rows.low, &rows.high}) {
    const ValueId row_weights = weights_along(f, rank, row_axis, *row);
    const ValueId taken = take(f, x, row_axis, *row);
    for (const RunTap* column : {&columns.low, &columns.high}) {
      const ValueId weights =
          binary(f, F::MUL, weights_along(f, rank, column_axis, *column), row_weights);
      const ValueId part = binary(f, F::MUL, weights, take(f, taken, column_axis, *column));
      sum = sum == kNoValue ? part : binary(f, F::ADD, sum, part);
    }
  }
  return sum;
}

}  // namespace

bool has_lengths_of_a_run(const Importer& importer, const NodeView& node) {
  if (!importer.has_open_sizes()) return false;
  for (int i = 0; i < node.input_count(); ++i)
    if (node.has_input(i) && !importer.is_free_of_inputs(node.input(i))) return true;
  return false;
}

Status resize_in_run(FloatGraph* f, const Resize& r, const float* cubic, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  const int rank = static_cast<int>(r.axes.size());
  if (!AxisInRun::can_compute(r.coordinates)) return Status();
  const bool has_sizes = node.has_input(3) && f->importer().input(node, 3).shape.elements() > 0;
  bool scales_vary = has_sizes;
  for (int i = 1; i < node.input_count(); ++i)
    scales_vary = scales_vary || f->importer().may_differ_at_other_sizes(node, i);
  // ONNX Runtime resizes images and volumes, whose other dimensions keep their lengths at all sizes. A length of an image that
  // stays in this import may change in another one.
  const bool is_channels_last = rank == 4 && r.axes[1].scale != 1 && r.axes[3].scale == 1;
  const int end = is_channels_last ? rank - 1 : rank, begin = rank == 4   ? end - 2
                                                              : rank == 5 ? 2
                                                                          : 0;
  for (int d = 0; d < rank; ++d) {
    const ResizeAxis& axis = r.axes[static_cast<size_t>(d)];
    const bool stays = axis.scale == 1 && axis.in == axis.out;
    if ((d < begin || d >= end) && !stays) return Status();
    // A run knows no scale but the quotient of the lengths.
    if (scales_vary && axis.scale != resize_scale(axis.in, axis.out)) return Status();
    QRT_TRY(RunIntegers::check_count(std::max(axis.in, axis.out)));
  }
  const auto is_resized = [&](int d) {
    return scales_vary || r.axes[static_cast<size_t>(d)].scale != 1;
  };
  const auto axis = [&](int d) {
    return AxisInRun(f, r, r.axes[static_cast<size_t>(d)], !scales_vary);
  };
  const bool is_image = end - begin == 2;
  if (is_image && cubic == nullptr) {
    if (is_resized(begin) || is_resized(begin + 1))
      x = sum_of_neighbours(f, x, begin, axis(begin).linear(), axis(begin + 1).linear());
    *y = x;
    return Status();
  }
  // The last dimension first, as ONNX Runtime does.
  for (int d = end - 1; d >= begin; --d) {
    if (!is_resized(d)) continue;
    const RunNeighbours linear = cubic == nullptr ? axis(d).linear() : RunNeighbours();
    x = sum_of_taps(
        f, x, d,
        cubic != nullptr ? axis(d).cubic(*cubic) : std::vector<RunTap>{linear.low, linear.high});
  }
  *y = x;
  return Status();
}

}  // namespace qrt::convert::from_onnx

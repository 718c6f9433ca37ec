#include "converter/import/onnx/float_fallback/resize_in_run.h"

#include <algorithm>

#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

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
    Shape shape;
    broadcast(f_.shape_of(a), f_.shape_of(b), &shape);
    return f_.add(function, {a, b}, shape);
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

// The taps of one axis, with the arithmetic and the order of resize_coordinate() and of float_resize().
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

  std::vector<RunTap> linear() {
    const ValueId last = f_.subtract(in_, one());
    const ValueId x = f_.greatest(f_.least(coordinate(), last), f_.constant(0));
    const ValueId low = f_.truncated(x), part = f_.subtract(x, f_.to_float(low));
    return {{low, f_.subtract(one(), part)}, {within(low, 1), part}};
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

  // ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
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

// Returns the sum of the taps' elements along the axis, in their order.
ValueId sum_of_taps(FloatGraph* f, ValueId x, int axis, const std::vector<RunTap>& taps) {
  const Shape from = f->shape_of(x);
  ValueId sum = kNoValue;
  for (const RunTap& tap : taps) {
    Shape to = from, row;
    const int64_t out = f->shape_of(tap.index)[0];
    to[axis] = out;
    row.push_back(out);
    for (int d = axis + 1; d < from.rank(); ++d) row.push_back(1);
    const ValueId taken = f->builder().new_value("", DType::kFloat32, to);
    f->builder().add<fb::TakeOptionsT>(f->node(), {x, tap.index}, taken).axis =
        static_cast<uint32_t>(axis);
    const ValueId weight = f->builder().reshape(f->node(), tap.weight, row);
    const ValueId part = f->add(F::MUL, {taken, weight}, to);
    sum = sum == kNoValue ? part : f->add(F::ADD, {sum, part}, to);
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
    // The run has no scale but the quotient of the lengths.
    if (scales_vary && axis.scale != resize_scale(axis.in, axis.out)) return Status();
    QRT_TRY(RunIntegers::check_count(std::max(axis.in, axis.out)));
  }
  // The last dimension first, as ONNX Runtime does.
  for (int d = end - 1; d >= begin; --d) {
    const ResizeAxis& axis = r.axes[static_cast<size_t>(d)];
    if (!scales_vary && axis.scale == 1) continue;
    AxisInRun taps(f, r, axis, !scales_vary);
    x = sum_of_taps(f, x, d, cubic != nullptr ? taps.cubic(*cubic) : taps.linear());
  }
  *y = x;
  return Status();
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
// Operators that move, repeat or leave out elements.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "converter/quantize/float/broadcast.h"
#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

// A shape as [outer, axis, inner].
struct Split3 {
  int64_t outer = 1, inner = 1;
  Split3(const Dims& shape, size_t axis) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != axis) (d < axis ? outer : inner) *= shape[d];
  }
};

// Calls f(from, to) on the elements of either kind.
template <class F>
void on_elements(const Tensor& x, Tensor* y, const F& f) {
  if (x.is_real())
    f(x.reals.data(), y->reals.data());
  else
    f(x.integers.data(), y->integers.data());
}

template <class T>
void copy_span(const T* from, int64_t n, T* to) {
  if (n > 0) memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
}

Status need(const Call& call, size_t i) {
  return call.has(i) ? Status() : call.wrong("input %zu is absent", i);
}

}  // namespace

Status run_transpose(Call& call) {
  QRT_TRY(need(call, 0));
  const Tensor& x = call.in(0);
  const size_t rank = x.shape.size();
  Dims order = call.node.integers("perm");
  if (order.empty())
    for (size_t d = rank; d-- > 0;) order.push_back(static_cast<int64_t>(d));
  std::vector<bool> seen(rank, false);
  Dims shape, steps;
  const Dims own = dense_steps(x.shape);
  bool is_permutation = order.size() == rank;
  for (size_t i = 0; is_permutation && i < rank; ++i) {
    const int64_t d = order[i];
    is_permutation = d >= 0 && d < static_cast<int64_t>(rank) && !seen[static_cast<size_t>(d)];
    if (!is_permutation) break;
    seen[static_cast<size_t>(d)] = true;
    shape.push_back(x.shape[static_cast<size_t>(d)]);
    steps.push_back(own[static_cast<size_t>(d)]);
  }
  if (!is_permutation)
    return call.wrong("perm %s of %zu dimensions", to_string(order).c_str(), rank);
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  copy_elements(x, 0, steps, y);
  return Status();
}

Status run_concat(Call& call) {
  QRT_TRY(need(call, 0));
  Dims shape = call.in(0).shape;
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", 0), shape.size(), &axis));
  for (size_t i = 1; i < call.input_count(); ++i) {
    QRT_TRY(need(call, i));
    Dims other = call.in(i).shape;
    bool fits = call.in(i).element == call.in(0).element && other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) fits = d == axis || other[d] == shape[d];
    if (!fits)
      return call.wrong("operands %s of shape %s and %s of shape %s",
                        element_name(call.in(0).element), to_string(shape).c_str(),
                        element_name(call.in(i).element), to_string(other).c_str());
    shape[axis] += other[axis];
    if (shape[axis] > call.machine.limits.value)
      return call.beyond(static_cast<double>(call.machine.limits.value), "elements", "its result");
  }
  Tensor* y;
  QRT_TRY(call.make(0, shape, call.in(0).element, &y));
  const Split3 parts(shape, axis);
  int64_t first = 0;
  for (size_t i = 0; i < call.input_count(); ++i) {
    const int64_t run = call.in(i).shape[axis] * parts.inner;
    on_elements(call.in(i), y, [&](const auto* from, auto* to) {
      for (int64_t o = 0; o < parts.outer; ++o)
        copy_span(from + o * run, run, to + o * shape[axis] * parts.inner + first);
    });
    first += run;
  }
  return Status();
}

Status run_split(Call& call) {
  QRT_TRY(need(call, 0));
  const Tensor& x = call.in(0);
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", 0), x.shape.size(), &axis));
  const auto count = static_cast<int64_t>(call.output_count());
  Dims sizes;
  if (call.has(1)) {
    QRT_TRY(call.need_integers(1, 2));
    sizes = call.in(1).integers;
  } else {
    const int64_t each = (x.shape[axis] + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::max<int64_t>(0, std::min(each, x.shape[axis] - i * each)));
  }
  int64_t sum = 0;
  bool fits = static_cast<int64_t>(sizes.size()) == count;
  for (int64_t s : sizes) {
    fits = fits && s >= 0 && s <= x.shape[axis];
    sum += fits ? s : 0;
  }
  if (!fits || sum != x.shape[axis])
    return call.wrong("parts %s of shape %s in %lld outputs", to_string(sizes).c_str(),
                      to_string(x.shape).c_str(), static_cast<long long>(count));
  const Split3 parts(x.shape, axis);
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Dims shape = x.shape;
    shape[axis] = sizes[i];
    Tensor* y;
    QRT_TRY(call.make(i, shape, x.element, &y));
    const int64_t run = sizes[i] * parts.inner;
    on_elements(x, y, [&](const auto* from, auto* to) {
      for (int64_t o = 0; o < parts.outer; ++o)
        copy_span(from + o * x.shape[axis] * parts.inner + first, run, to + o * run);
    });
    first += run;
  }
  return Status();
}

Status run_slice(Call& call) {
  QRT_TRY(need(call, 0));
  QRT_TRY(call.need_integers(1, 3));
  const Tensor& x = call.in(0);
  const Dims &starts = call.in(1).integers, &ends = call.in(2).integers;
  Dims axes, strides(starts.size(), 1);
  if (call.has(3)) {
    QRT_TRY(call.need_integers(3, 4));
    axes = call.in(3).integers;
  } else {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (call.has(4)) {
    QRT_TRY(call.need_integers(4, 5));
    strides = call.in(4).integers;
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      strides.size() != starts.size())
    return call.wrong("starts, ends, axes and steps have %zu, %zu, %zu and %zu elements",
                      starts.size(), ends.size(), axes.size(), strides.size());
  Dims shape = x.shape, steps = dense_steps(x.shape);
  int64_t offset = 0;
  std::vector<bool> done(x.shape.size(), false);
  for (size_t i = 0; i < starts.size(); ++i) {
    size_t d;
    QRT_TRY(call.axis(axes[i], x.shape.size(), &d));
    const int64_t n = x.shape[d], step = strides[i];
    constexpr int64_t kMostStep = int64_t{1} << 31;
    if (done[d] || step == 0) return call.wrong("axis %zu twice, or a step of 0", d);
    done[d] = true;
    const int64_t bounded = std::min(std::max(step, -kMostStep), kMostStep);
    const auto place = [&](int64_t v, int64_t least, int64_t most) {
      if (v < 0) v = v < -n ? least : v + n;
      return std::min(std::max(v, least), most);
    };
    const int64_t first = step > 0 ? place(starts[i], 0, n) : place(starts[i], 0, n - 1);
    const int64_t end = step > 0 ? place(ends[i], 0, n) : place(ends[i], -1, n - 1);
    const int64_t span = step > 0 ? end - first : first - end;
    const int64_t size = std::abs(bounded);
    shape[d] = n == 0 || span <= 0 ? 0 : (span + size - 1) / size;
    if (shape[d] > 0) offset += first * steps[d];
    steps[d] *= shape[d] > 1 ? bounded : 1;
  }
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  if (y->size() > 0) copy_elements(x, offset, steps, y);
  return Status();
}

namespace {

enum class Border { kConstant, kEdge, kReflect, kWrap };

// Calls f(source) for each place from `first` to `end` (excluded) of an axis of n elements that goes on beyond
// both ends; source: the element that is there, -1: the constant.
template <class F>
void for_positions(int64_t first, int64_t end, int64_t n, Border border, const F& f) {
  if (border == Border::kConstant || border == Border::kEdge) {
    for (int64_t i = first; i < end; ++i)
      f(i >= 0 && i < n ? i : border == Border::kConstant ? -1 : i < 0 ? 0 : n - 1);
    return;
  }
  const int64_t period = border == Border::kWrap ? n : std::max<int64_t>(1, 2 * (n - 1));
  int64_t phase = ((first % period) + period) % period;
  for (int64_t i = first; i < end; ++i) {
    f(phase < n ? phase : period - phase);
    if (++phase == period) phase = 0;
  }
}

// Pads x [outer, n, inner] with `before` and `after` more along its axis; below 0: fewer.
template <class T>
void pad_axis(const T* x, const Split3& parts, int64_t n, int64_t before, int64_t after,
              Border border, T fill, T* y) {
  const int64_t inner = parts.inner, first = std::max<int64_t>(0, -before),
                end = std::max(first, std::min(n, n + after));
  for (int64_t o = 0; o < parts.outer; ++o, x += n * inner) {
    const auto take = [&](int64_t i) {
      if (i < 0)
        std::fill_n(y, inner, fill);
      else
        copy_span(x + i * inner, inner, y);
      y += inner;
    };
    for_positions(-before, std::min<int64_t>(0, n + after), n, border, take);
    copy_span(x + first * inner, (end - first) * inner, y);
    y += (end - first) * inner;
    for_positions(std::max(n, -before), n + after, n, border, take);
  }
}

// Picks indices: y [outer, indices, inner] of x [outer, n, inner].
template <class T>
void pick(const T* x, const Split3& parts, int64_t n, const std::vector<int64_t>& indices, T* y) {
  for (int64_t o = 0; o < parts.outer; ++o)
    for (int64_t i : indices) {
      copy_span(x + (o * n + i) * parts.inner, parts.inner, y);
      y += parts.inner;
    }
}

}  // namespace

Status run_pad(Call& call) {
  QRT_TRY(need(call, 0));
  QRT_TRY(call.need_integers(1, 2));
  const Tensor& x = call.in(0);
  const Dims& pads = call.in(1).integers;
  const std::string mode = call.node.text("mode", "constant");
  const char* const modes[] = {"constant", "edge", "reflect", "wrap"};  // as in Border
  const auto* const known = std::find(std::begin(modes), std::end(modes), mode);
  if (known == std::end(modes)) return call.wrong("mode '%s'", mode.c_str());
  const auto border = static_cast<Border>(known - std::begin(modes));
  float fill = 0;
  int64_t integer_fill = 0;
  if (call.has(2) && call.in(2).size() > 0) {
    if (call.in(2).size() != 1 || call.in(2).is_real() != x.is_real())
      return call.wrong("a value of shape %s", to_string(call.in(2).shape).c_str());
    if (x.is_real())
      fill = call.in(2).reals[0];
    else
      integer_fill = call.in(2).integers[0];
  }
  Dims axes;
  if (call.has(3)) {
    QRT_TRY(call.need_integers(3, 4));
    axes = call.in(3).integers;
  } else {
    for (size_t d = 0; d < x.shape.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  }
  if (pads.size() != 2 * axes.size())
    return call.wrong("%zu pads for %zu dimensions", pads.size(), axes.size());
  call.makes_elements();
  Tensor now;
  const Tensor* from = &x;
  // One dimension after the other.
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t d;
    QRT_TRY(call.axis(axes[i], x.shape.size(), &d));
    const int64_t n = from->shape[d], before = pads[i], after = pads[axes.size() + i];
    if (before == 0 && after == 0) continue;
    const auto is_far = [&](int64_t v) {
      return v > call.machine.limits.value || v < -call.machine.limits.value;
    };
    if (is_far(before) || is_far(after) || n + before + after < 0 || (n == 0 && mode != "constant"))
      return call.wrong("pads %lld and %lld of dimension %zu of %s", static_cast<long long>(before),
                        static_cast<long long>(after), d, to_string(x.shape).c_str());
    Dims shape = from->shape;
    shape[d] = n + before + after;
    Tensor* y;
    QRT_TRY(call.make(0, shape, x.element, &y));
    const Split3 parts(shape, d);
    if (x.is_real())
      pad_axis(from->reals.data(), parts, n, before, after, border, fill, y->reals.data());
    else
      pad_axis(from->integers.data(), parts, n, before, after, border, integer_fill,
               y->integers.data());
    call.machine.buffers.give(std::move(now.reals));
    now = std::move(*y);
    from = &now;
  }
  if (from == &x) return run_identity(call);
  call.out(0) = std::move(now);
  return Status();
}

Status run_gather(Call& call) {
  QRT_TRY(need(call, 0));
  QRT_TRY(call.need_integers(1, 2));
  const Tensor &x = call.in(0), &indices = call.in(1);
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", 0), x.shape.size(), &axis));
  const int64_t n = x.shape[axis];
  std::vector<int64_t> picked = indices.integers;
  for (int64_t& i : picked) {
    if (i < -n || i >= n)
      return call.wrong("index %lld of dimension %zu of %s", static_cast<long long>(i), axis,
                        to_string(x.shape).c_str());
    if (i < 0) i += n;
  }
  Dims shape(x.shape.begin(), x.shape.begin() + static_cast<ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + static_cast<ptrdiff_t>(axis) + 1, x.shape.end());
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  const Split3 parts(x.shape, axis);
  if (x.is_real())
    pick(x.reals.data(), parts, n, picked, y->reals.data());
  else
    pick(x.integers.data(), parts, n, picked, y->integers.data());
  return Status();
}

Status run_gather_elements(Call& call) {
  QRT_TRY(need(call, 0));
  QRT_TRY(call.need_integers(1, 2));
  const Tensor &x = call.in(0), &indices = call.in(1);
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", 0), x.shape.size(), &axis));
  bool fits = indices.shape.size() == x.shape.size();
  for (size_t d = 0; fits && d < x.shape.size(); ++d)
    fits = d == axis || indices.shape[d] <= x.shape[d];
  if (!fits)
    return call.wrong("indices of shape %s into %s", to_string(indices.shape).c_str(),
                      to_string(x.shape).c_str());
  Tensor* y;
  QRT_TRY(call.make(0, indices.shape, x.element, &y));
  const int64_t n = x.shape[axis];
  for (int64_t i : indices.integers)
    if (i < -n || i >= n)
      return call.wrong("index %lld of dimension %zu of %s", static_cast<long long>(i), axis,
                        to_string(x.shape).c_str());
  Dims steps = dense_steps(x.shape);
  const int64_t axis_step = steps[axis];
  steps[axis] = 0;
  size_t at = 0;
  on_elements(x, y, [&](const auto* from, auto* to) {
    Walk(indices.shape, {steps})
        .runs([&](const int64_t* offsets, int64_t count, const int64_t* step) {
          for (int64_t j = 0; j < count; ++j, ++at) {
            const int64_t i = indices.integers[at];
            to[at] = from[offsets[0] + j * *step + (i < 0 ? i + n : i) * axis_step];
          }
        });
  });
  return Status();
}

Status run_expand(Call& call) {
  QRT_TRY(need(call, 0));
  QRT_TRY(call.need_integers(1, 2));
  const Tensor& x = call.in(0);
  Dims shape;
  if (!broadcast_shape({&x.shape, &call.in(1).integers}, &shape))
    return call.wrong("%s to %s", to_string(x.shape).c_str(),
                      to_string(call.in(1).integers).c_str());
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  copy_elements(x, 0, broadcast_steps(x.shape, shape), y);
  return Status();
}

Status run_tile(Call& call) {
  QRT_TRY(need(call, 0));
  QRT_TRY(call.need_integers(1, 2));
  const Tensor& x = call.in(0);
  const Dims& repeats = call.in(1).integers;
  if (repeats.size() != x.shape.size())
    return call.wrong("%zu repeats of %zu dimensions", repeats.size(), x.shape.size());
  // Every dimension as two: the copies and the dimension itself.
  Dims shape, twice, steps;
  const Dims own = dense_steps(x.shape);
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0 || repeats[d] > call.machine.limits.value)
      return call.wrong("repeats %s", to_string(repeats).c_str());
    shape.push_back(repeats[d] * x.shape[d]);
    twice.insert(twice.end(), {repeats[d], x.shape[d]});
    steps.insert(steps.end(), {0, own[d]});
  }
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  y->shape = twice;
  copy_elements(x, 0, steps, y);
  y->shape = shape;
  return Status();
}

namespace {

// Splits the dimensions of x into `parts`, brings these into another order, and gives the result
// the shape `shape`.
Status rearranged(Call& call, const Dims& parts, const std::vector<size_t>& order,
                  const Dims& shape) {
  const Tensor& x = call.in(0);
  const Dims own = dense_steps(parts);
  Dims turned, steps;
  for (size_t d : order) {
    turned.push_back(parts[d]);
    steps.push_back(own[d]);
  }
  Tensor* y;
  QRT_TRY(call.make(0, shape, x.element, &y));
  y->shape = turned;
  copy_elements(x, 0, steps, y);
  y->shape = shape;
  return Status();
}

Status read_block(const Call& call, int64_t* size) {
  QRT_TRY(need(call, 0));
  *size = call.node.integer("blocksize", 0);
  constexpr int64_t kMost = 1 << 15;
  if (call.in(0).shape.size() == 4 && *size >= 1 && *size <= kMost) return Status();
  return call.wrong("blocks of %lld of an input of shape %s", static_cast<long long>(*size),
                    to_string(call.in(0).shape).c_str());
}

}  // namespace

Status run_depth_to_space(Call& call) {
  int64_t b = 0;
  QRT_TRY(read_block(call, &b));
  const Dims& x = call.in(0).shape;
  if (x[1] % (b * b) != 0)
    return call.wrong("%lld channels in blocks of %lld", static_cast<long long>(x[1]),
                      static_cast<long long>(b));
  const int64_t c = x[1] / (b * b);
  const Dims shape = {x[0], c, x[2] * b, x[3] * b};
  if (call.node.text("mode", "DCR") == "DCR")
    return rearranged(call, {x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, shape);
  return rearranged(call, {x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, shape);
}

Status run_space_to_depth(Call& call) {
  int64_t b = 0;
  QRT_TRY(read_block(call, &b));
  const Dims& x = call.in(0).shape;
  if (x[2] % b != 0 || x[3] % b != 0)
    return call.wrong("an image of shape %s in blocks of %lld", to_string(x).c_str(),
                      static_cast<long long>(b));
  return rearranged(call, {x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4},
                    {x[0], x[1] * b * b, x[2] / b, x[3] / b});
}

}  // namespace qrt::quantize

// SPDX-License-Identifier: Apache-2.0
// Normalisations, Softmax and reductions: functions of rows, which some of the dimensions make up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/quantize/float/broadcast.h"
#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

// The rows of a tensor x, whose marked dimensions come last. `data` is x itself if they already are
// last in x.
struct Rows {
  const std::vector<float>* data;
  std::vector<float> turned;
  Dims order, shape;  // order: the dimensions of x in the order of `data`
  size_t rows = 1, length = 1;
};

Rows rows_of(const Tensor& x, const std::vector<bool>& marked, Buffers* buffers) {
  Rows r;
  for (bool last : {false, true})
    for (size_t d = 0; d < marked.size(); ++d)
      if (marked[d] == last) {
        r.order.push_back(static_cast<int64_t>(d));
        r.shape.push_back(x.shape[d]);
        (last ? r.length : r.rows) *= static_cast<size_t>(x.shape[d]);
      }
  r.data = &x.reals;
  if (std::is_sorted(r.order.begin(), r.order.end())) return r;
  Tensor turned;
  turned.shape = r.shape;
  turned.reals = buffers->take(x.reals.size());
  const Dims steps = dense_steps(x.shape);
  Dims picked;
  for (int64_t d : r.order) picked.push_back(steps[static_cast<size_t>(d)]);
  copy_elements(x, 0, picked, &turned);
  r.turned = std::move(turned.reals);
  return r;
}

const std::vector<float>& data_of(const Rows& r) { return r.turned.empty() ? *r.data : r.turned; }

// Brings rows from the order of `r` back to that of y.
void put_back(const Rows& r, std::vector<float>&& values, Tensor* y, Buffers* buffers) {
  if (r.turned.empty()) {
    y->reals.swap(values);
  } else {
    Tensor from;
    from.shape = r.shape;
    from.reals = std::move(values);
    const Dims steps = dense_steps(r.shape);
    Dims picked(r.order.size());
    for (size_t i = 0; i < r.order.size(); ++i) picked[static_cast<size_t>(r.order[i])] = steps[i];
    copy_elements(from, 0, picked, y);
    values = std::move(from.reals);
  }
  buffers->give(std::move(values));
}

// Applies f to the rows of the marked dimensions; y has the shape of x.
Status same_shape(Call& call, const std::vector<bool>& marked, FloatRows f, float epsilon) {
  const Tensor& x = call.in(0);
  Tensor* y;
  QRT_TRY(call.make(x.shape, &y));
  if (x.size() == 0) return Status();
  Machine& machine = call.machine;
  Rows r = rows_of(x, marked, &machine.buffers);
  std::vector<float> made = machine.buffers.take(x.reals.size());
  const float* from = data_of(r).data();
  constexpr size_t kRowsOfTask = 64;
  machine.parallel.chunks(r.rows, kRowsOfTask, [&](size_t, size_t begin, size_t end) {
    machine.math->rows(f, epsilon, from + begin * r.length, made.data() + begin * r.length,
                       end - begin, r.length);
  });
  put_back(r, std::move(made), y, &machine.buffers);
  machine.buffers.give(std::move(r.turned));
  return Status();
}

// Computes y = y * scale + bias, with one of each for each channel (dimension 1) or, where groups
// share them, each group.
Status scale_channels(Call& call, size_t scale_at, Tensor* y) {
  const auto channels = static_cast<size_t>(y->shape[1]);
  for (size_t i : {scale_at, scale_at + 1}) {
    const auto given = static_cast<size_t>(call.in(i).size());
    if (given == 0 || channels % given != 0 ||
        (given != channels && call.node.op != "GroupNormalization"))
      return call.wrong("%zu channels, but input %zu has shape %s", channels, i,
                        to_string(call.in(i).shape).c_str());
  }
  const std::vector<float>&scale = call.in(scale_at).reals, &bias = call.in(scale_at + 1).reals;
  if (y->size() == 0) return Status();
  const size_t planes = static_cast<size_t>(y->shape[0]) * channels, n = y->reals.size() / planes;
  const FloatKernel& math = *call.machine.math;
  for (size_t p = 0; p < planes; ++p) {
    float* plane = y->reals.data() + p * n;
    const size_t c = p % channels;
    math.binary(FloatBinary::kMul, plane, 1, &scale[c / (channels / scale.size())], 0, plane, n);
    math.binary(FloatBinary::kAdd, plane, 1, &bias[c / (channels / bias.size())], 0, plane, n);
  }
  return Status();
}

}  // namespace

Status run_batch_normalization(Call& call) {
  QRT_TRY(call.need_reals(0, 5));
  const Tensor& x = call.in(0);
  if (x.shape.size() < 2) return call.wrong("an input of shape %s", to_string(x.shape).c_str());
  const auto channels = static_cast<size_t>(x.shape[1]);
  for (size_t i = 1; i < 5; ++i)
    if (static_cast<size_t>(call.in(i).size()) != channels)
      return call.wrong("%zu channels, but input %zu has shape %s", channels, i,
                        to_string(call.in(i).shape).c_str());
  Tensor* y;
  QRT_TRY(call.make(x.shape, &y));
  if (x.size() == 0) return Status();
  const auto epsilon = static_cast<double>(call.node.real("epsilon", 1e-5f));
  const size_t planes = static_cast<size_t>(x.shape[0]) * channels, n = x.reals.size() / planes;
  const FloatKernel& math = *call.machine.math;
  for (size_t p = 0; p < planes; ++p) {
    const size_t c = p % channels;
    const auto at = [&](size_t i) { return static_cast<double>(call.in(i).reals[c]); };
    const double factor = at(1) / std::sqrt(at(4) + epsilon);
    const auto scale = static_cast<float>(factor),
               shift = static_cast<float>(at(2) - at(3) * factor);
    float* to = y->reals.data() + p * n;
    math.binary(FloatBinary::kMul, x.reals.data() + p * n, 1, &scale, 0, to, n);
    math.binary(FloatBinary::kAdd, to, 1, &shift, 0, to, n);
  }
  return Status();
}

Status run_instance_normalization(Call& call) {
  QRT_TRY(call.need_reals(0, 3));
  const Dims& shape = call.in(0).shape;
  if (shape.size() < 3) return call.wrong("an input of shape %s", to_string(shape).c_str());
  std::vector<bool> marked(shape.size(), true);
  marked[0] = marked[1] = false;
  QRT_TRY(same_shape(call, marked, FloatRows::kNormalize, call.node.real("epsilon", 1e-5f)));
  return scale_channels(call, 1, &call.out(0));
}

Status run_group_normalization(Call& call) {
  QRT_TRY(call.need_reals(0, 3));
  const Tensor& x = call.in(0);
  const int64_t groups = call.node.integer("num_groups", 0);
  if (x.shape.size() < 3 || groups < 1 || x.shape[1] % groups != 0)
    return call.wrong("%lld groups of an input of shape %s", static_cast<long long>(groups),
                      to_string(x.shape).c_str());
  Tensor* y;
  QRT_TRY(call.make(x.shape, &y));
  if (x.size() == 0) return Status();
  const auto rows = static_cast<size_t>(x.shape[0] * groups);
  call.machine.math->rows(FloatRows::kNormalize, call.node.real("epsilon", 1e-5f), x.reals.data(),
                          y->reals.data(), rows, x.reals.size() / rows);
  return scale_channels(call, 1, y);
}

Status run_layer_normalization(Call& call) {
  QRT_TRY(call.need_reals(0, call.has(2) ? 3 : 2));
  if (call.output_count() > 1) return call.unsupported("outputs of mean and deviation");
  const Dims& shape = call.in(0).shape;
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", -1), shape.size(), &axis));
  std::vector<bool> marked(shape.size(), false);
  std::fill(marked.begin() + static_cast<ptrdiff_t>(axis), marked.end(), true);
  QRT_TRY(same_shape(call, marked, FloatRows::kNormalize, call.node.real("epsilon", 1e-5f)));
  Tensor& y = call.out(0);
  for (size_t i = 1; i < (call.has(2) ? 3u : 2u); ++i) {
    const Tensor& operand = call.in(i);
    Dims whole;
    if (!broadcast_shape({&shape, &operand.shape}, &whole) || whole != shape)
      return call.wrong("input %zu of shape %s", i, to_string(operand.shape).c_str());
    const Walk walk(shape, {dense_steps(shape), broadcast_steps(operand.shape, shape)});
    const FloatBinary f = i == 1 ? FloatBinary::kMul : FloatBinary::kAdd;
    walk.runs([&](const int64_t* offsets, int64_t n, const int64_t* steps) {
      float* to = y.reals.data() + offsets[0];
      call.machine.math->binary(f, to, 1, operand.reals.data() + offsets[1],
                                static_cast<size_t>(steps[1]), to, static_cast<size_t>(n));
    });
  }
  return Status();
}

Status run_softmax(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  const size_t rank = call.in(0).shape.size();
  size_t axis = 0;
  if (rank > 0) QRT_TRY(call.axis(call.node.integer("axis", -1), rank, &axis));
  std::vector<bool> marked(rank, false);
  const bool flattens = call.node.integer("flatten", 0) != 0;
  for (size_t d = axis; d < rank; ++d) marked[d] = flattens || d == axis;
  return same_shape(call, marked,
                    call.node.op == "Softmax" ? FloatRows::kSoftmax : FloatRows::kLogSoftmax, 0);
}

namespace {

struct Reduction {
  std::vector<bool> marked;
  Dims shape;  // of the result
};

Status read_reduction(Call& call, Reduction* reduction) {
  const Dims& x = call.in(0).shape;
  std::vector<int64_t> axes;
  if (call.has(1)) {
    QRT_TRY(call.need_integers(1, 2));
    axes = call.in(1).integers;
  }
  const bool all = axes.empty() && call.node.integer("noop_with_empty_axes", 0) == 0;
  reduction->marked.assign(x.size(), all);
  for (int64_t given : axes) {
    size_t axis;
    QRT_TRY(call.axis(given, x.size(), &axis));
    reduction->marked[axis] = true;
  }
  const bool keeps = call.node.integer("keepdims", 1) != 0;
  for (size_t d = 0; d < x.size(); ++d)
    if (!reduction->marked[d] || keeps) reduction->shape.push_back(reduction->marked[d] ? 1 : x[d]);
  return Status();
}

// Computes ReduceSum, ReduceProd, ReduceMax or ReduceMin of integers, which occur in shape
// arithmetic.
Status reduce_integers(Call& call, const Reduction& reduction) {
  const Tensor& x = call.in(0);
  const std::string& op = call.node.op;
  const bool sum = op == "ReduceSum", product = op == "ReduceProd";
  const bool greatest = op == "ReduceMax";
  if (!sum && !product && !greatest && op != "ReduceMin")
    return call.unsupported("of %s", element_name(x.element));
  Tensor* y;
  QRT_TRY(call.make(0, reduction.shape, x.element, &y));
  if (x.size() == 0) return call.unsupported("of no elements");
  Dims kept = x.shape;
  for (size_t d = 0; d < kept.size(); ++d)
    if (reduction.marked[d]) kept[d] = 1;
  std::vector<bool> started(y->integers.size(), false);
  size_t i = 0;
  Walk(x.shape, {broadcast_steps(kept, x.shape)})
      .runs([&](const int64_t* offsets, int64_t n, const int64_t* steps) {
        for (int64_t j = 0; j < n; ++j, ++i) {
          const auto at = static_cast<size_t>(offsets[0] + j * steps[0]);
          int64_t& to = y->integers[at];
          const auto u = static_cast<uint64_t>(to), v = static_cast<uint64_t>(x.integers[i]);
          if (!started[at])
            to = x.integers[i];
          else if (sum || product)
            to = static_cast<int64_t>(sum ? u + v : u * v);
          else
            to = greatest ? std::max(to, x.integers[i]) : std::min(to, x.integers[i]);
          started[at] = true;
        }
      });
  return Status();
}

}  // namespace

Status run_reduce(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Tensor& x = call.in(0);
  Reduction reduction;
  QRT_TRY(read_reduction(call, &reduction));
  if (!x.is_real()) return reduce_integers(call, reduction);
  Tensor* y;
  QRT_TRY(call.make(reduction.shape, &y));
  if (x.size() == 0) return call.unsupported("of no elements");
  Machine& machine = call.machine;
  Rows r = rows_of(x, reduction.marked, &machine.buffers);
  const std::string& op = call.node.op;
  const FloatKernel& math = *machine.math;
  const float* from = data_of(r).data();
  float* to = y->reals.data();
  std::vector<float> changed;
  const bool squares = op == "ReduceSumSquare" || op == "ReduceL2";
  if (squares || op == "ReduceL1") {
    changed = machine.buffers.take(x.reals.size());
    for (size_t i = 0; i < changed.size(); ++i)
      changed[i] = squares ? from[i] * from[i] : std::fabs(from[i]);
    from = changed.data();
  }
  if (op == "ReduceProd") {
    for (size_t i = 0; i < r.rows; ++i) {
      to[i] = 1.0f;
      for (size_t j = 0; j < r.length; ++j) to[i] *= from[i * r.length + j];
    }
  } else {
    const FloatRows f = op == "ReduceMean"  ? FloatRows::kMean
                        : op == "ReduceMax" ? FloatRows::kMax
                        : op == "ReduceMin" ? FloatRows::kMin
                                            : FloatRows::kSum;
    math.rows(f, 0, from, to, r.rows, r.length);
  }
  if (op == "ReduceL2") math.unary(FloatUnary::kSqrt, to, to, r.rows);
  machine.buffers.give(std::move(r.turned));
  machine.buffers.give(std::move(changed));
  return Status();
}

Status run_arg(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  const Tensor& x = call.in(0);
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", 0), x.shape.size(), &axis));
  std::vector<bool> marked(x.shape.size(), false);
  marked[axis] = true;
  Dims shape = x.shape;
  if (call.node.integer("keepdims", 1) != 0)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  Tensor* y;
  QRT_TRY(call.make(0, shape, Element::kInt64, &y));
  if (x.size() == 0) return call.unsupported("of no elements");
  const Rows r = rows_of(x, marked, &call.machine.buffers);
  const float* from = data_of(r).data();
  const bool greatest = call.node.op == "ArgMax";
  const bool last = call.node.integer("select_last_index", 0) != 0;
  for (size_t i = 0; i < r.rows; ++i, from += r.length) {
    size_t best = 0;
    for (size_t j = 1; j < r.length; ++j) {
      const bool better = greatest ? from[j] > from[best] : from[j] < from[best];
      if (better || (last && from[j] == from[best])) best = j;
    }
    y->integers[i] = static_cast<int64_t>(best);
  }
  return Status();
}

// Computes x divided by the sum of |x|, or by the root of the sum of squares.
Status run_lp_normalization(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  const Tensor& x = call.in(0);
  size_t axis;
  QRT_TRY(call.axis(call.node.integer("axis", -1), x.shape.size(), &axis));
  const int64_t p = call.node.integer("p", 2);
  if (p != 1 && p != 2) return call.wrong("p = %lld, expected 1 or 2", static_cast<long long>(p));
  std::vector<bool> marked(x.shape.size(), false);
  marked[axis] = true;
  Tensor* y;
  QRT_TRY(call.make(x.shape, &y));
  Rows r = rows_of(x, marked, &call.machine.buffers);
  std::vector<float> made = call.machine.buffers.take(x.reals.size());
  const float* from = data_of(r).data();
  for (size_t i = 0; i < r.rows; ++i) {
    float sum = 0;
    for (size_t j = i * r.length; j < (i + 1) * r.length; ++j)
      sum += p == 1 ? std::fabs(from[j]) : from[j] * from[j];
    const float norm = p == 1 ? sum : std::sqrt(sum);
    for (size_t j = i * r.length; j < (i + 1) * r.length; ++j)
      made[j] = norm == 0 ? 0.0f : from[j] / norm;
  }
  put_back(r, std::move(made), y, &call.machine.buffers);
  return Status();
}

}  // namespace qrt::quantize

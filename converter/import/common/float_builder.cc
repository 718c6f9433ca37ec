// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/float_builder.h"

#include <algorithm>

namespace qrt::convert {

using F = fb::FloatFunction;

ValueId FloatBuilder::constant(const Shape& shape, const std::vector<float>& values) {
  return builder_.graph().add_constant("", DType::kFloat32, shape, values);
}

ValueId FloatBuilder::zeros(int64_t n) {
  return constant({n}, std::vector<float>(static_cast<size_t>(n)));
}

ValueId FloatBuilder::add(F function, std::vector<ValueId> inputs, const Shape& shape,
                          float epsilon) {
  const ValueId y = builder_.new_value("", DType::kFloat32, shape);
  auto& o = builder_.add<fb::FloatOptionsT>(source_, std::move(inputs), y);
  o.function = function;
  o.epsilon = float_bits(epsilon);
  return y;
}

ValueId FloatBuilder::arrange(ValueId v, const Shape& from, const std::vector<int>& order,
                              const Shape& to) {
  if (!builder_.graph().values[v].is_constant) {
    v = builder_.transpose(source_, builder_.reshape(source_, v, from), order);
    return builder_.reshape(source_, v, to);
  }
  const size_t rank = order.size();
  std::vector<int64_t> steps(rank, 1), step_of(rank), sizes(rank), index(rank, 0);
  for (size_t i = rank - 1; i > 0; --i) steps[i - 1] = steps[i] * from[static_cast<int>(i)];
  for (size_t i = 0; i < rank; ++i) {
    step_of[i] = steps[static_cast<size_t>(order[i])];
    sizes[i] = from[order[i]];
  }
  const float* const elements = builder_.graph().values[v].as<float>();
  std::vector<float> arranged(static_cast<size_t>(to.elements()));
  int64_t at = 0;
  for (float& element : arranged) {
    element = elements[at];
    for (size_t i = rank; i-- > 0;) {
      at += step_of[i];
      if (++index[i] < sizes[i]) break;
      at -= step_of[i] * sizes[i];
      index[i] = 0;
    }
  }
  return constant(to, arranged);
}

ValueId FloatBuilder::gemm(F function, ValueId a, ValueId b, ValueId c, const Shape& shape,
                           int64_t block) {
  const ValueId y = builder_.new_value("", DType::kFloat32, shape);
  auto& o = builder_.add<fb::FloatOptionsT>(source_, {a, b, c}, y);
  o.function = function;
  o.block = static_cast<uint32_t>(block);
  return y;
}

Status FloatBuilder::binary(F function, ValueId a, ValueId b, ValueId* y) {
  const Shape sa = shape_of(a), sb = shape_of(b);
  std::vector<int64_t> dims(static_cast<size_t>(std::max(sa.rank(), sb.rank())), 1);
  for (const Shape* s : {&sa, &sb})
    for (int i = 0; i < s->rank(); ++i) {
      int64_t& d = dims[dims.size() - static_cast<size_t>(s->rank() - i)];
      QRT_MODEL_CHECK(d == 1 || (*s)[i] == 1 || d == (*s)[i], "shapes %s and %s do not broadcast",
                      sa.to_string().c_str(), sb.to_string().c_str());
      d = std::max(d, (*s)[i]);
    }
  Shape shape;
  QRT_TRY(make_shape(dims, &shape));
  *y = add(function, {a, b}, shape);
  return Status();
}

Status FloatBuilder::weighted_sum(int axis, int64_t outputs, const Indices& indices,
                                  const std::vector<float>& weights, ValueId x, ValueId* y) {
  const Shape terms = {outputs, static_cast<int64_t>(indices.size()) / outputs};
  const ValueId read = builder_.graph().add_constant("", DType::kInt32, terms, indices);
  Shape shape = shape_of(x);
  std::vector<int64_t> dims(shape.begin(), shape.end());
  dims[static_cast<size_t>(axis)] = outputs;
  QRT_TRY(make_shape(dims, &shape));
  *y = builder_.new_value("", DType::kFloat32, shape);
  auto& o = builder_.add<fb::FloatOptionsT>(source_, {x, read, constant(terms, weights)}, *y);
  o.function = F::WEIGHTED_SUM;
  o.axis = static_cast<uint32_t>(axis);
  return Status();
}

Status FloatBuilder::rows(F function, const std::vector<bool>& marked, float epsilon, ValueId x,
                          ValueId* y) {
  const Shape shape = shape_of(x);
  std::vector<int> perm, back(marked.size());
  std::vector<int64_t> kept, reduced;
  int64_t n = 1;
  for (const bool last : {false, true})
    for (size_t i = 0; i < marked.size(); ++i)
      if (marked[i] == last) perm.push_back(static_cast<int>(i));
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  for (int i = 0; i < shape.rank(); ++i) {
    const bool in_row = marked[static_cast<size_t>(i)];
    if (in_row)
      n *= shape[i];
    else
      kept.push_back(shape[i]);
    reduced.push_back(in_row ? 1 : shape[i]);
  }
  const bool sorted = std::is_sorted(perm.begin(), perm.end());
  if (!sorted) x = builder_.transpose(source_, x, perm);
  const Shape permuted = shape_of(x);
  kept.push_back(n);
  Shape flat;
  QRT_TRY(make_shape(kept, &flat));
  if (flat != permuted) x = builder_.reshape(source_, x, flat);
  if ((function >= F::REDUCE_SUM && function <= F::REDUCE_MIN) || function == F::REDUCE_PROD ||
      function == F::REDUCE_NAN_MAX || function == F::REDUCE_NAN_MIN) {
    Shape one = flat, result;
    one[one.rank() - 1] = 1;
    QRT_TRY(make_shape(reduced, &result));
    *y = add(function, {x}, one);
    if (one != result) *y = builder_.reshape(source_, *y, result);
    return Status();
  }
  *y = add(function, {x}, flat, epsilon);
  if (flat != permuted) *y = builder_.reshape(source_, *y, permuted);
  if (!sorted) *y = builder_.transpose(source_, *y, back);
  return Status();
}

}  // namespace qrt::convert

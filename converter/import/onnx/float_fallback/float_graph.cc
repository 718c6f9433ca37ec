// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/float_graph.h"

#include <algorithm>

#include "converter/import/onnx/deferred/pair_function.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

bool FloatGraph::read(int i, ValueId* x) {
  const Tensor& t = importer_.input(node_, i);
  if (!node_.has_input(i)) return false;
  if (t.is_value() && t.type == kFloat) {
    *x = t.value;
    return true;
  }
  if (t.is_value() && t.type == kHalf) {
    *x = half_to_float_value(importer_, node_, t.value);
    return true;
  }
  if (t.is_constant()) {
    std::vector<float> real;
    if (!constant_floats(t, &real) || real.empty()) return false;
    *x = constant(t.shape, real);
    return true;
  }
  if (t.is_pending()) return make_producer_float(importer_, node_.input(i), x);
  *x = kNoValue;
  if (t.is_pair_function())
    return pair_function_to_float(importer_, *t.pair_function->node, *t.pair_function, t.shape, x)
               .ok() &&
           *x != kNoValue;
  if (t.is_dequantized() && t.quant->is_int16()) {
    *x = dequantized(t);
    return true;
  }
  std::vector<float> table;
  if (!t.is_table()) return false;
  if (builder().type_of(t.value) == DType::kUInt8 && entries(t, &table) && table.size() == 256) {
    *x = add(F::TABLE, {t.value, constant({256}, table)}, t.shape);
    return true;
  }
  return table_to_float(importer_, node_, t, "", x).ok() && *x != kNoValue;
}

// A table of floats for 16 bits would be 256 KiB; reading the integers needs none.
ValueId FloatGraph::dequantized(const Tensor& t) {
  const ValueId y = builder().new_value("", DType::kFloat32, t.shape);
  auto& o = builder().add<fb::DequantizeOptionsT>(node_, {t.value}, y);
  for (size_t i = 0; i < t.quant->scale.size(); ++i) {
    o.scale.push_back(float_bits(t.quant->scale[i]));
    o.zero_point.push_back(t.quant->stored_zero_point(i));
  }
  o.axis = t.quant->axis;
  return y;
}

ValueId FloatGraph::constant(const Shape& shape, const std::vector<float>& values) {
  return importer_.graph().add_constant("", DType::kFloat32, shape, values);
}

ValueId FloatGraph::zeros(int64_t n) {
  return constant({n}, std::vector<float>(static_cast<size_t>(n)));
}

ValueId FloatGraph::add(F function, std::vector<ValueId> inputs, const Shape& shape,
                        float epsilon) {
  const ValueId y = builder().new_value("", DType::kFloat32, shape);
  auto& o = builder().add<fb::FloatOptionsT>(node_, std::move(inputs), y);
  o.function = function;
  o.epsilon = float_bits(epsilon);
  return y;
}

ValueId FloatGraph::arrange(ValueId v, const Shape& from, const std::vector<int>& order,
                            const Shape& to) {
  if (!importer_.graph().values[v].is_constant) {
    v = builder().transpose(node_, builder().reshape(node_, v, from), order);
    return builder().reshape(node_, v, to);
  }
  const size_t rank = order.size();
  std::vector<int64_t> steps(rank, 1), step_of(rank), sizes(rank), index(rank, 0);
  for (size_t i = rank - 1; i > 0; --i) steps[i - 1] = steps[i] * from[static_cast<int>(i)];
  for (size_t i = 0; i < rank; ++i) {
    step_of[i] = steps[static_cast<size_t>(order[i])];
    sizes[i] = from[order[i]];
  }
  const float* const elements = importer_.graph().values[v].as<float>();
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

ValueId FloatGraph::gemm(F function, ValueId a, ValueId b, ValueId c, const Shape& shape,
                         int64_t block) {
  const ValueId y = builder().new_value("", DType::kFloat32, shape);
  auto& o = builder().add<fb::FloatOptionsT>(node_, {a, b, c}, y);
  o.function = function;
  o.block = static_cast<uint32_t>(block);
  return y;
}

Status FloatGraph::binary(F function, ValueId a, ValueId b, ValueId* y) {
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

Status FloatGraph::rows(F function, const std::vector<bool>& marked, float epsilon, ValueId x,
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
  if (!sorted) x = builder().transpose(node_, x, perm);
  const Shape permuted = shape_of(x);
  kept.push_back(n);
  Shape flat;
  QRT_TRY(make_shape(kept, &flat));
  if (flat != permuted) x = builder().reshape(node_, x, flat);
  if (function >= F::REDUCE_SUM && function <= F::REDUCE_MIN) {
    Shape one = flat, result;
    one[one.rank() - 1] = 1;
    QRT_TRY(make_shape(reduced, &result));
    *y = add(function, {x}, one);
    if (one != result) *y = builder().reshape(node_, *y, result);
    return Status();
  }
  *y = add(function, {x}, flat, epsilon);
  if (flat != permuted) *y = builder().reshape(node_, *y, permuted);
  if (!sorted) *y = builder().transpose(node_, *y, back);
  return Status();
}

Status FloatGraph::per_channel(const std::vector<float>& scale, const std::vector<float>& bias,
                               ValueId x, ValueId* y) {
  const Shape shape = shape_of(x);
  Shape channels;
  for (int i = 1; i < shape.rank(); ++i) channels.push_back(i == 1 ? shape[1] : 1);
  ValueId scaled;
  QRT_TRY(binary(F::MUL, x, constant(channels, scale), &scaled));
  return binary(F::ADD, scaled, constant(channels, bias), y);
}

bool FloatGraph::channel_constants(int i, int64_t n, std::vector<float>* values) const {
  const Tensor& t = importer_.input(node_, i);
  return node_.has_input(i) && t.is_constant() && constant_floats(t, values) &&
         static_cast<int64_t>(values->size()) == n;
}

}  // namespace qrt::convert::from_onnx

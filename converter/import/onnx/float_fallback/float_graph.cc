// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/float_graph.h"

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
  return read_table(t, x);
}

bool FloatGraph::read_table(const Tensor& t, ValueId* x) {
  *x = kNoValue;
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

// Dequantises by an operator on the integers: a table of floats for 16 bits would take 256 KiB.
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

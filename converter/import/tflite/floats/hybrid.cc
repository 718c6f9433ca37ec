// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/floats/hybrid.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "converter/import/tflite/ops/linear.h"

namespace qrt::convert::from_tflite {

bool refuse_weights(Importer& importer, const Op& op, int i, const std::string& rule,
                    const char* remedy) {
  (void)importer.refuse(op, importer.quoted_input(op, i) + " " + rule, importer.input(op, i).name,
                        remedy);
  return false;
}

bool read_hybrid_weights(Importer& importer, const Op& op, int i, const WeightOrder& order,
                         HybridLayer* layer) {
  const Tensor& w = importer.input(op, i);
  const auto no = [&](const std::string& rule, const char* remedy) {
    return refuse_weights(importer, op, i, rule, remedy);
  };
  const bool is_int4 = w.type == TensorType::INT4 || w.type == TensorType::INT2;
  if (w.type != TensorType::INT8 && !is_int4)
    return no(std::string("is ") + type_name(w.type) + " beside float32 activations",
              "convert the model with int8 or float32 weights");
  if (!w.is_constant) return no("is not a constant", "store the weights as constants of the model");
  const size_t scales = w.scale.size();
  if (scales != 1 && (w.axis != order.axis || scales != order.channels))
    return no("has " + std::to_string(scales) + " scales along dimension " + std::to_string(w.axis),
              "quantise the weights with one scale, or one for every output channel");
  for (const float s : w.scale)
    if (!std::isfinite(s))
      return no("has a scale that is no finite number", "quantise the weights again");
  const auto elements = static_cast<size_t>(w.shape.elements());
  const size_t per_channel = elements / order.channels;
  layer->name = w.name;
  layer->weight_bits = w.type == TensorType::INT4 ? 4 : w.type == TensorType::INT2 ? 2 : 0;
  layer->channels = static_cast<int64_t>(order.channels);
  layer->weights.resize(elements);
  std::vector<int64_t> sums(order.channels);
  for (size_t k = 0; k < elements; ++k) {
    const int v = element(w, k);
    layer->weights[order.place(k, per_channel)] = static_cast<int16_t>(v);
    sums[order.channel_of(k, per_channel)] += std::abs(v);
  }
  for (const int64_t sum : sums)
    if (255 * sum > INT32_MAX)
      return no("makes sums that may leave int32",
                "split the layer into two of fewer weights, whose results ADD joins");
  for (size_t o = 0; o < order.channels; ++o) layer->scale.push_back(w.scale[scales == 1 ? 0 : o]);
  return true;
}

bool read_addend(FloatOp* f, int i, int64_t channels, float absent, HybridLayer* layer) {
  const size_t first = layer->addend.size(), count = static_cast<size_t>(channels);
  layer->addend.resize(first + count, absent);
  if (!f->op().has_input(i)) return true;
  const Value* bias = f->read_constant(i);
  if (!bias) return false;
  bool fits = bias->type.shape.elements() == channels;
  for (size_t k = 0; fits && k < count; ++k) {
    layer->addend[first + k] = bias->as<float>()[k];
    fits = std::isfinite(layer->addend[first + k]);
  }
  if (fits) return true;
  (void)f->importer().refuse(
      f->op(), f->importer().quoted_input(f->op(), i) + " is no finite number for every channel",
      f->importer().input(f->op(), i).name, "store one finite bias for every output channel");
  return false;
}

HybridConstants add_constants(FloatOp* f, const HybridLayer& layer, const Shape& weights) {
  Graph& graph = f->importer().graph();
  const ValueId matrix = graph.add_constant(layer.name, DType::kInt16, weights, layer.weights);
  graph.values[matrix].weight_bits = layer.weight_bits;
  const Shape channels{layer.channels};
  const std::vector<int32_t> none(static_cast<size_t>(layer.channels), 0);
  return {matrix, graph.add_constant("", DType::kInt32, channels, none),
          graph.add_constant("", DType::kFloat32, channels, layer.scale),
          graph.add_constant("", DType::kFloat32, channels, layer.addend)};
}

std::vector<ValueId> dynamic_inputs(FloatOp* f, const HybridLayer& layer,
                                    const HybridConstants& constants, ValueId x) {
  GraphBuilder& builder = f->builder();
  const Shape shape = f->shape_of(x), rows{shape[0]};
  const Quant codes = tensor_quant(DType::kUInt8, 1.0f, 0);
  const ValueId y = builder.new_value("", DType::kUInt8, shape, &codes);
  const ValueId scale = builder.new_value("", DType::kFloat32, rows);
  const ValueId zero = builder.new_value("", DType::kUInt8, rows);
  Node node = make_node<fb::DynamicQuantizeOptionsT>(f->source().name, f->source().op, {x},
                                                     {y, scale, zero});
  options<fb::DynamicQuantizeOptionsT>(node).form =
      layer.asymmetric ? fb::DynamicForm::TFLITE_ASYMMETRIC : fb::DynamicForm::TFLITE_SYMMETRIC;
  builder.graph().nodes.push_back(std::move(node));
  const auto& [matrix, none, scales, addend] = constants;
  return {y, matrix, none, zero, scale, scales, addend};
}

std::unique_ptr<fb::FloatStoreT> float_store(bool weights_first, float lo, float hi) {
  auto store = std::make_unique<fb::FloatStoreT>();
  store->weights_first = weights_first;
  store->lo = float_bits(lo);
  store->hi = float_bits(hi);
  return store;
}

ValueId hybrid_rows(FloatOp* f, const HybridLayer& layer, const HybridConstants& constants,
                    ValueId x, std::unique_ptr<fb::FloatStoreT> store) {
  const ValueId y =
      f->builder().new_value("", DType::kFloat32, {f->shape_of(x)[0], layer.channels});
  auto inputs = dynamic_inputs(f, layer, constants, x);
  auto& o = f->builder().add<fb::FullyConnectedOptionsT>(f->source(), std::move(inputs), y);
  o.requant = std::make_unique<fb::RequantT>();
  o.store = std::move(store);
  return y;
}

}  // namespace qrt::convert::from_tflite

// SPDX-License-Identifier: Apache-2.0
// The order of dimensions that tensors had in the source model; see source_order.h.
#include "runtime/tools/source_order.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/tools/metadata.h"
#include "runtime/tools/words.h"
#include "runtime/traits.h"

namespace qrt::tool {
namespace {

Order identity(size_t rank) {
  Order order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<uint8_t>(i);
  return order;
}

size_t rank_of(const fb::Tensor& tensor) {
  return tensor.shape() != nullptr ? tensor.shape()->size() : 0;
}

std::string told_orders(const fb::Model& model) {
  std::string text;
  find_metadata(model, kSourceOrderKey, &text);
  return text;
}

// Parses a text that text_of() made; a file may hold anything.
bool parse(const std::string& text, size_t* tensor, Order* order) {
  char* end;
  *tensor = strtoull(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != ':') return false;
  for (++end; *end >= '0' && *end <= '9'; ++end) order->push_back(static_cast<uint8_t>(*end - '0'));
  return *end == '\0';
}

// Returns the order of an output's dimensions. Where neither the operator nor the file says otherwise,
// it is that of the first input of its rank, as for elementwise operators and those that move pieces.
Order order_of_output(const fb::Model& model, const fb::Operator& op, size_t rank,
                      const std::vector<Order>& orders) {
  const bool is_onnx = model.source_format() != nullptr && model.source_format()->str() == "onnx";
  if (traits_of(op.options_type()).layout == LayoutRule::kImages)
    return is_onnx && rank == 4 ? Order{0, 3, 1, 2} : identity(rank);
  if (op.options_type() == fb::OpOptions::Reshape) return identity(rank);
  if (op.inputs() == nullptr) return identity(rank);
  for (const uint32_t input : *op.inputs()) {
    const fb::Tensor& x = *model.tensors()->Get(input);
    if (x.buffer() != 0 || rank_of(x) != rank) continue;
    if (const auto* transpose = op.options_as_Transpose()) {
      const Order perm(transpose->perm()->begin(), transpose->perm()->end());
      return composed(inverse(perm), orders[input]);
    }
    return orders[input];
  }
  return identity(rank);
}

}  // namespace

std::string text_of(size_t tensor, const Order& order) {
  std::string text = std::to_string(tensor) + ":";
  for (const uint8_t d : order) text += static_cast<char>('0' + d);
  return text;
}

Order composed(const Order& a, const Order& b) {
  Order result;
  for (const uint8_t i : b) result.push_back(a[i]);
  return result;
}

Order inverse(const Order& order) {
  Order result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<uint8_t>(i);
  return result;
}

std::vector<Order> source_orders(const fb::Model& model) {
  std::vector<Order> orders;
  std::vector<bool> is_settled(model.tensors()->size());
  for (const fb::Tensor* tensor : *model.tensors()) orders.push_back(identity(rank_of(*tensor)));
  for (const uint32_t output : *model.outputs()) is_settled[output] = true;
  for (const std::string& entry : words_of(told_orders(model))) {
    size_t tensor;
    Order order;
    if (!parse(entry, &tensor, &order) || tensor >= orders.size()) continue;
    if (!std::is_permutation(order.begin(), order.end(), orders[tensor].begin(),
                             orders[tensor].end()))
      continue;
    orders[tensor] = order;
    is_settled[tensor] = true;
  }
  for (const fb::Operator* op : *model.operators())
    for (const uint32_t output : *op->outputs())
      if (!is_settled[output])
        orders[output] =
            order_of_output(model, *op, rank_of(*model.tensors()->Get(output)), orders);
  return orders;
}

std::vector<std::string> source_names(const fb::Model& model) {
  std::vector<std::string> names;
  for (const fb::Tensor* tensor : *model.tensors())
    names.push_back(tensor->name() != nullptr ? tensor->name()->str() : "");
  for (const fb::Operator* op : *model.operators())
    for (const uint32_t output : *op->outputs())
      if (names[output].empty() && op->name() != nullptr) names[output] = op->name()->str();
  return names;
}

}  // namespace qrt::tool

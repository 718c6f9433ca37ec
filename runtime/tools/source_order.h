// SPDX-License-Identifier: Apache-2.0
// The order of a tensor's dimensions in the source model. The runtime works on images as [n, h, w,
// c]; an ONNX model has them as [n, c, h, w].
#ifndef QRT_RUNTIME_TOOLS_SOURCE_ORDER_H_
#define QRT_RUNTIME_TOOLS_SOURCE_ORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "qrt_model_generated.h"

namespace qrt::tool {

// The source's tensor is transpose(tensor, order): its dimension i is dimension order[i] here.
using Order = std::vector<uint8_t>;

// Returns the order of every tensor of a verified model. It follows from the operators, which is
// right for nearly all tensors; the converter writes down the orders of the others, as the file's
// metadata "source_order": "7:0312 9:021", the orders of tensors 7 and 9.
std::vector<Order> source_orders(const fb::Model& model);

constexpr char kSourceOrderKey[] = "source_order";
std::string text_of(size_t tensor, const Order& order);

// Returns the order c with transpose(transpose(x, a), b) = transpose(x, c).
Order composed(const Order& a, const Order& b);
Order inverse(const Order& order);

// Returns, by tensor, the name in the source model: the tensor's own, or, where it has none, that
// of the node that writes it.
std::vector<std::string> source_names(const fb::Model& model);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_SOURCE_ORDER_H_

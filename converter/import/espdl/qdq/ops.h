// SPDX-License-Identifier: Apache-2.0
// The operators of ONNX that ESP-DL has a form of: one handler each, and what handlers share.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_QDQ_OPS_H_
#define QRT_CONVERTER_IMPORT_ESPDL_QDQ_OPS_H_

#include "converter/import/espdl/qdq/translator.h"

namespace qrt::convert::from_qdq {

struct Handler {
  Status (*handle)(Translator& t, const NodeView& n);
  const char* op;
  int inputs;  // the first ones, which must be there
};

#define QRT_QDQ_OP(handler, op, ...) Status handler(Translator& t, const NodeView& n);
#include "converter/import/espdl/qdq/ops.inc"

// Returns the handler of a node, or null.
const Handler* find_handler(const NodeView& n);
// Returns whether an operator only moves values or keeps their order: the quantisation behind it
// counts for what stands in front of it.
bool keeps_quantisation(const std::string& op);
// Returns whether the operator is ONNX's, or Microsoft's QuantizeLinear or DequantizeLinear, which compute
// as ONNX's do. An operator of another domain may have the name of ONNX's and compute something else.
bool is_onnx(const NodeView& n);

// Returns the type that an operator computes in: int16 where one of its tensors is.
inline DataType wider(const Format& a, const Format& b) {
  return a.is_int16() || b.is_int16() ? DataType::INT16 : DataType::INT8;
}

// One number, and its value.
bool is_number(const Term& x);
float real_of(const Term& x);

// Copies the node's attributes of these names to the ESP-DL operator.
void copy_integers(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to);
void copy_reals(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to);
void copy_lists(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to);

// Sets the padding of a window with this kernel.
void set_pads(const NodeView& n, const std::vector<int64_t>& kernel, espdl::NodeT* to);

}  // namespace qrt::convert::from_qdq

#endif  // QRT_CONVERTER_IMPORT_ESPDL_QDQ_OPS_H_

// SPDX-License-Identifier: Apache-2.0
// Float forms of operators that have no integer form (--allow-float): operators between
// DequantizeLinear and QuantizeLinear become Float operators, level F.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Imports a refused node as float operators, if it has a float form and these are allowed. If they
// are not, the node's remedy names the option that allows them.
Status retry_in_float(Importer& importer, const NodeView& node);

// Emits the operator that writes this tensor, which is pending or was refused by its
// QuantizeLinear, as float operators, and sets *y. Returns false where that is not possible.
bool make_producer_float(Importer& importer, const std::string& tensor, ValueId* y);

// Emits the float result of a pending operator, with the limits and moves that follow it. *y stays
// kNoValue where that is not possible, or where only --allow-float would permit these floats.
Status float_function(Importer& importer, const Pending& pending, ValueId* y);

// Computes a node in float on *x, which replaces input 0, and sets *x to the result. Refuses the
// node, and sets *x to kNoValue, where the node has no float form, or computes more than a maximum
// and floats are not allowed.
Status step_in_float(Importer& importer, const NodeView& node, ValueId* x);

// Returns whether the node's operator has a float form at all (operators.cc).
bool has_float_form(const NodeView& node);
// Emits the node's float form. *made stays kNoValue where Float operators cannot compute the node.
Status make_float(Importer& importer, const NodeView& node, ValueId* made);
// Emits the node's float form on x, a float value that replaces input 0. *made stays kNoValue where
// Float operators cannot compute the node.
Status make_float_of(Importer& importer, const NodeView& node, ValueId x, ValueId* made);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

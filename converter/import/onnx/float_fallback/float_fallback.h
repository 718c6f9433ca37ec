// SPDX-License-Identifier: Apache-2.0
// Float where there is no integer form (--allow-float): operators between DequantizeLinear and
// QuantizeLinear as Float operators, level F.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Imports a refused node as float operators, if it has a float form and these are allowed. Where
// only the permission is missing, the node's remedy says so.
Status retry_in_float(Importer& importer, const NodeView& node);

// Makes the operator that wrote this tensor, which is pending or was refused by its QuantizeLinear,
// as float operators. Returns false where that is not possible.
bool make_producer_float(Importer& importer, const std::string& tensor, ValueId* y);

// Makes the floats of a pending operator, with the limits and moves that follow it. *y stays
// kNoValue where that is not possible, or where only --allow-float would permit these floats.
Status float_function(Importer& importer, const Pending& pending, ValueId* y);

// Computes a node whose integer form is not of floats on *x, floats in the place of input 0; *x becomes
// its result. Where floats are not allowed, or it has no form in them, it is refused and *x is kNoValue.
Status step_in_float(Importer& importer, const NodeView& node, ValueId* x);

// operators.cc: return whether the node may have a float form, and make it. *made stays kNoValue
// where Float operators do not compute what it needs.
bool has_float_form(const NodeView& node);
Status make_float(Importer& importer, const NodeView& node, ValueId* made);
// Makes the node in float, of the float value x in the place of input 0.
Status make_float_of(Importer& importer, const NodeView& node, ValueId x, ValueId* made);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

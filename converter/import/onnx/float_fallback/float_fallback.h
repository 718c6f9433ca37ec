// SPDX-License-Identifier: Apache-2.0
// Float where there is no integer form (--allow-float): operators between DequantizeLinear and
// QuantizeLinear as Float operators, level F.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// A node that was refused as float operators, if it has a float form and those are allowed; where
// only that is missing, its remedy says so.
Status retry_in_float(Importer& importer, const NodeView& node);

// Makes the operator that wrote this tensor, which waits for its QuantizeLinear or was refused by
// it, as float operators. False: that cannot be.
bool make_producer_float(Importer& importer, const std::string& tensor, ValueId* y);

// Makes the floats of an operator that waits, with the limits and moves that follow it. *y stays
// kNoValue where that cannot be, or where only --allow-float lets its floats be made.
Status float_function(Importer& importer, const Pending& pending, ValueId* y);

// *x, floats in the place of input 0, becomes the result of a node whose integer form is not of
// floats. Where those are not allowed, or it has no form in them, it is refused and *x kNoValue.
Status step_in_float(Importer& importer, const NodeView& node, ValueId* x);

// operators.cc: whether there may be a float form, and the node in it; *made stays kNoValue where it
// is not what Float operators compute.
bool has_float_form(const NodeView& node);
Status make_float(Importer& importer, const NodeView& node, ValueId* made);
// Makes the node in float, of the float value x in the place of input 0.
Status make_float_of(Importer& importer, const NodeView& node, ValueId x, ValueId* made);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

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

// What made this tensor, which waits for its QuantizeLinear or was refused by it, as float
// operators. False: that cannot be.
bool make_producer_float(Importer& importer, const std::string& tensor, ValueId* y);

// operators.cc: whether there may be a float form, and the node in it; *made stays kNoValue where it
// is not what Float operators compute.
bool has_float_form(const NodeView& node);
Status make_float(Importer& importer, const NodeView& node, ValueId* made);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

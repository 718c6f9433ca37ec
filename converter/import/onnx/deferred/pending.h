// Operators that wait for the quantisation of their float result.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PENDING_H_
#define QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PENDING_H_

#include <memory>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Starts a pending operator as output 0 of a node.
std::shared_ptr<Pending> defer(Importer& importer, const NodeView& node, const Shape& shape);

// What a node that takes over input i may change: the pending operator itself, or where others
// read it, too, a copy, which computes it once more; a pair function as one. Null: the input is
// neither.
std::shared_ptr<Pending> own_pending(Importer& importer, const NodeView& node, int i);

// Makes the operator, quantised as `quantize` says. *result stays kNoValue where it was refused.
Status resolve(Importer& importer, const NodeView& quantize,
               const std::shared_ptr<Pending>& pending, const Quant& out, ValueId* result);

// Whether ONNX Runtime drops a Clip to these bounds before a QuantizeLinear: they lie within a
// float's epsilon, whatever the scale, of what the integers can be.
bool is_clip_dropped(const Quant& out, float lo, float hi);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PENDING_H_

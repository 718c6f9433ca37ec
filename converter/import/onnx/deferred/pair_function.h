// SPDX-License-Identifier: Apache-2.0
// Float tensors that are functions of the bytes of two tensors.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PAIR_FUNCTION_H_
#define QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PAIR_FUNCTION_H_

#include <functional>
#include <memory>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Reads input i as a function of the bytes of at most two tensors. Returns false where it is none.
bool pair_function_of(Importer& importer, const NodeView& node, int i, PairFunction* out);
// Returns the pair function of a pending operator, with the limits of the Relu or Clip behind it.
// REQUIRES: pending.pair_function.
PairFunction limited_pair_function(const Pending& pending);

// Returns f of two functions of pairs. Null where they depend on more than two tensors.
std::shared_ptr<const PairFunction> joined(Importer& importer, const NodeView& node,
                                           const PairFunction& a, const PairFunction& b,
                                           const std::function<float(float, float)>& f);
// Sets output 0 of the node, of `shape`, to f(a, b). Returns false where they depend on more than two tensors.
bool join(Importer& importer, const NodeView& node, const PairFunction& a, const PairFunction& b,
          const Shape& shape, const std::function<float(float, float)>& f);

// Quantises the function as a PairLut: to bytes of one scale, or to float32. *result stays kNoValue
// where it was refused.
Status quantize_pair_function(Importer& importer, const NodeView& node, const PairFunction& f,
                              const Shape& shape, const Quant& out, Limits limits, ValueId* result);
Status pair_function_to_float(Importer& importer, const NodeView& node, const PairFunction& f,
                              const Shape& shape, ValueId* result);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PAIR_FUNCTION_H_

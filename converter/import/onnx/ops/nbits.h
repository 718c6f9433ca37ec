// SPDX-License-Identifier: Apache-2.0
// Products with weights of 2, 4 or 8 bits in blocks along k.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_NBITS_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_NBITS_H_

#include <cstdint>

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Returns whether products of such weights run in float, where the source names this accuracy_level (0: none). At level 4 they
// do where ONNX Runtime has no other kernels: of 2 bits in blocks of less than 32 or more than 128.
bool blocks_in_float(const Importer& importer, int64_t accuracy_level, int64_t bits, int64_t block);

// Multiplies x by b where b is a constant [k, n] that a DequantizeLinear in the graph makes of blocks along k. *y stays
// kNoValue where it is something else.
Status multiply_by_blocks(FloatGraph* f, ValueId x, ValueId b, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_NBITS_H_

// SPDX-License-Identifier: Apache-2.0
// Normalisations in float: over rows, by the mean and the variance or by the mean of squares alone.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_NORMALIZATION_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_NORMALIZATION_H_

#include <string>
#include <vector>

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

bool is_float_normalization(const std::string& op);

// The inputs of a node that are its factors and addends; -1: it has none.
struct NormInputs {
  int scale = 1, bias = 2;
};

// Computes LayerNormalization of the rows that the marked dimensions make. *y stays kNoValue where
// an input cannot be read.
Status layer_norm(FloatGraph* f, const std::vector<bool>& marked, float epsilon,
                  const NormInputs& inputs, ValueId x, ValueId* y);
// Normalises by the root mean square over the marked dimensions: x / sqrt(mean of x^2 + epsilon) * scale. *y stays kNoValue where it
// has no such form.
Status rms_norm(FloatGraph* f, const std::vector<bool>& marked, float epsilon,
                const NormInputs& inputs, ValueId x, ValueId* y);
// Computes LRN, LpNormalization and MeanVarianceNormalization, along the axes that the node names. *y stays
// kNoValue where its attributes are none that these know: LRN's exponent is a multiple of a quarter up to 1.
Status local_response_norm(FloatGraph* f, ValueId x, ValueId* y);
Status unit_norm(FloatGraph* f, ValueId x, ValueId* y);
Status mean_variance_norm(FloatGraph* f, ValueId x, ValueId* y);
// Computes the node's own normalisation, over the marked dimensions where it is one of rows. *y stays kNoValue where the node is none
// of the known forms.
Status float_normalization(FloatGraph* f, const std::vector<bool>& marked, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_NORMALIZATION_H_

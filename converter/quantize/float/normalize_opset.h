// SPDX-License-Identifier: Apache-2.0
// Older forms of operators as those of kOpset. (Younger ones, up to opset 25, are the same or are
// taken apart.)
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_NORMALIZE_OPSET_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_NORMALIZE_OPSET_H_

#include "converter/quantize/float/graph.h"

namespace qrt::quantize {

// Appends to the model's nodes what `node`, of a file of this opset, is in kOpset. `editor` is the
// model's.
Status append_normalized(int64_t opset, Node node, FloatModel* model, GraphEditor* editor);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_NORMALIZE_OPSET_H_

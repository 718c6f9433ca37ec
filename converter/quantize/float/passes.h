// SPDX-License-Identifier: Apache-2.0
// The steps of simplify(), in its order. Each takes a model as read_float_model() gives it or as another
// step leaves it.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_PASSES_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_PASSES_H_

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// Nodes whose inputs are all constant.
Status fold_constants(FloatModel* model);

// Computes the shapes of all values by runs on zeros: at two batches where the batch is open, and at
// each of model->sizes. Sets model->values, and replaces by constants what is computed from shapes,
// except what may depend on sizes that stay open. A batch at which the model does not run becomes 1.
Status fold_shapes(FloatModel* model);

// Nodes that change nothing.
void drop_identities(FloatModel* model);

// Forms that the converter knows best: Gemm as x * b + c; ReduceMean of images as GlobalAveragePool;
// Resize by scales; limits as Relu.
void unify_forms(FloatModel* model);
// Replaces a LayerNormalization over the last dimension that is written as single nodes.
void unify_layer_norms(FloatModel* model);
// Replaces a ConvTranspose whose windows do not overlap by Conv and DepthToSpace.
void split_transposed(FloatModel* model);

// Folds BatchNormalization, and products and sums with one constant for each channel, into the
// layer before or behind.
void fold_batch_norms(FloatModel* model);

// Merges Pad into the Conv or pool behind it.
void merge_pads(FloatModel* model);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_PASSES_H_

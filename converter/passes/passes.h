// SPDX-License-Identifier: Apache-2.0
// The passes, as run_passes() calls them one after the other. Every pass takes any graph that
// follows the conventions of ir.h and leaves one that does.
#ifndef QRT_CONVERTER_PASSES_PASSES_H_
#define QRT_CONVERTER_PASSES_PASSES_H_

#include "converter/ir.h"

namespace qrt::convert {

struct DefUse;

// Removes nodes that no output needs.
void drop_dead(Graph* graph);

// Folds Transpose, Reshape and Gather of constants into constants.
void fold_constants(Graph* graph);
// Folds as fold_constants() does, but for Gathers that make grids of indices.
void fold_open_constants(Graph* graph);

// Chooses the layout of every value between operators that do not care, so that the fewest bytes
// are transposed; keeps the layout of the model's inputs and outputs.
void move_transposes(Graph* graph);

// Moves the scales that a run computes, behind a layer that has its zero point, into the layer.
// Dynamic quantisation then is DynamicQuantize and layers with float results.
void fuse_dynamic_scales(Graph* graph);

// Replaces a Gelu written as single nodes, by Erf, by one Float operator.
void fuse_gelu(Graph* graph);

// Joins a Gather with the Gather behind it, and removes one without maps.
void simplify_gathers(Graph* graph);
// Simplifies as simplify_gathers() does, but for Pads behind Pads, and for Gathers behind one that repeats or turns the indices
// of the same axis: no rule of sizes gives what both do together.
void simplify_open_gathers(Graph* graph);

// Folds a Gather that only puts values around an image into the padding of the convolutions and
// pools behind it, where that gives the same bits.
void fold_pads(Graph* graph);

// Takes out taps of convolutions that meet nothing but padding.
void drop_taps(Graph* graph);

// Folds Transpose + flattening Reshape (+ Lut) + FullyConnected: permutes the weights' columns instead.
void fold_flatten(Graph* graph);

// Folds Transpose + Reshape + a pool over the whole image: gives the image other sides instead.
void fold_reductions(Graph* graph);

// Merges Reshapes that follow each other, and equal ones; drops those that keep the shape.
void simplify_reshapes(Graph* graph);

// Makes a Lut of each operator on two functions of one tensor's bytes.
void fuse_functions(Graph* graph);

// Luts that follow each other become one; a Lut that maps every value to itself goes.
void fuse_luts(Graph* graph);

// Turns depthwise convolutions of one channel into Conv2D.
void one_channel_depthwise(Graph* graph);

// Convolutions of few channels compute several pixels of a row as channels of one.
void join_pixels(Graph* graph);

// Makes dimension 0 of every value symbolic (-1) where every operator treats its indices
// independently.
void open_batch(Graph* graph);

// Layers whose weights are beyond int8 in some output channels only become several layers side by
// side, so that only these channels take two products for a weight.
void split_int16_weights(Graph* graph);

// Moves what stands between a LoopBegin and its LoopEnd, but does not depend on the LoopBegin, in front of it: it runs once.
void order_loops(Graph* graph);

// Packs the weights, and adds the input zero points to the biases.
Status pack_weights(Graph* graph);

// Returns the FullyConnected nodes behind the Reshape at `index` if it only feeds such, directly or
// through Lut of one table, as rows of all its elements but dimension 0: a permutation of these can
// go into the weights. Else nothing.
std::vector<int> fully_connected_behind(const Graph& graph, const DefUse& def_use, size_t index);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_PASSES_PASSES_H_

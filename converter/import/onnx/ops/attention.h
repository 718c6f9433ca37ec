// SPDX-License-Identifier: Apache-2.0
// Functions that the handlers of attention, rotary positions and normalisations share. Each of these operators stands for many, all
// of which are computed in float.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_ATTENTION_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_ATTENTION_H_

#include <string>

#include "converter/import/onnx/float_fallback/attention.h"
#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Refuses an operator that is float in itself where --allow-float was not given.
Status refuse_float_operator(Importer& importer, const NodeView& node);
// Refuses a form of an operator that qrt does not compute.
Status refuse_form(Importer& importer, const NodeView& node, const std::string& what);
// Sets output i of the node to the float value x.
void set_float_output(Importer& importer, const NodeView& node, int i, ValueId x);

// Takes the rows of a cache [rows, r] at positions [b, s]: [b, 1, s, r].
ValueId rows_at(FloatGraph* f, ValueId cache, ValueId positions);

// Queries, keys and values of one attention, each [b, heads, length, size of a head].
struct Heads {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue;
  bool is_joined = false;  // the query was [b, s, n * d], as the result will be
};

// Returns which keys a query may see that sees those up to its own position, behind `past` others.
ValueId causal(FloatGraph* f, int64_t queries, int64_t keys, int64_t past);
// Returns the factor of scores: the attribute, or 1 / sqrt(size of a head of q).
float scale_of(const FloatGraph& f, ValueId q);
// Adds the attribute mask_filter_value to the scores of keys that an input of integers leaves out: those from a length on [b], or
// those where it is not above 0 [b, t] or [b, s, t]. *known stays false where the node was refused.
Status add_padding_mask(FloatGraph* f, int input, int64_t batch, int64_t keys, AttentionForm* form,
                        bool* known);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_ATTENTION_H_

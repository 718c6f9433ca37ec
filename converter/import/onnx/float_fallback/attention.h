// SPDX-License-Identifier: Apache-2.0
// Attention in float: heads, rotary positions, and what is computed of queries, keys and values.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_ATTENTION_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_ATTENTION_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Makes [b, n, s, d] of x [b, s, n * d].
ValueId split_heads(FloatGraph* f, ValueId x, int64_t heads);
// Makes [b, s, n * d] of x [b, n, s, d].
ValueId join_heads(FloatGraph* f, ValueId x);
// Takes `count` elements of an axis from `begin` on, `step` apart.
ValueId slice_along(FloatGraph* f, ValueId x, int axis, int64_t begin, int64_t count,
                    int64_t step = 1);

// Turns the first 2 * r elements of the last dimension of x [b, n, s, d] in pairs by angles of which `cos` and `sin` are
// [b or 1, 1, s, r]. A pair is elements i and i + r, or where they are interleaved 2 * i and 2 * i + 1.
Status rotate(FloatGraph* f, ValueId cos, ValueId sin, bool is_interleaved, ValueId x, ValueId* y);

struct AttentionForm {
  float scale = 1;
  float softcap = 0;                 // 0: none
  ValueId bias = kNoValue;           // floats that are added to the scaled scores
  ValueId visible = kNoValue;        // truths: which keys count for which query
  bool hides_queries = false;        // a query for which no key counts gets zeros
  ValueId probabilities = kNoValue;  // out: after softmax
};

// Makes [b, n, s, e] of q [b, n, s, d], k [b, m, t, d] and v [b, m, t, e], n / m heads of q in a row being for one of k and v.
// REQUIRES: such shapes.
Status attend(FloatGraph* f, ValueId q, ValueId k, ValueId v, AttentionForm* form, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_ATTENTION_H_

// SPDX-License-Identifier: Apache-2.0
// Attention in float, the scores of a few queries at a time.
#ifndef QRT_RUNTIME_OPS_FLOAT_ATTENTION_H_
#define QRT_RUNTIME_OPS_FLOAT_ATTENTION_H_

#include <cstdint>

#include "runtime/op.h"

namespace qrt {

// The steps whose outputs are the scores of attention on the way: a product, functions of two operands one of
// which are the scores, and a Softmax.
struct AttentionScores {
  struct Stage {
    const PlannedStep* step;
    const Shape *operand, *scores;  // the shapes of its two inputs
    size_t input;                   // index of the input that the scores are
  };
  const PlannedStep* product = nullptr;
  PlanVector<Stage> stages;
};

// Lets `product` of these scores, a step that multiplies them by values, make them for itself, a block of rows
// that stays in the cache at a time. Its inputs become those of the scores' product, the values and the stages'
// operands. Returns false where it cannot, and changes nothing then.
// REQUIRES: float_step_kind() of scores.product and `product` is kProduct, of the stages' steps kBinary; what is
// between is a Softmax, of rows as long as those of the scores.
bool join_attention(const AttentionScores& scores, PlannedStep* product);

// Fuses `transpose` into input i of such a product, if it moves whole rows of the queries or the values: the product then
// reads the Transpose's input. Otherwise returns false and changes nothing.
bool pull_attention_rows(const Step& transpose, size_t i, PlannedStep* product);
// Fuses `transpose` into the output of `product`, if it moves rows from heads that follow each other to heads side by
// side: the product then writes the Transpose's output. Otherwise returns false and changes nothing.
bool push_attention_rows(const Step& transpose, PlannedStep* product);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_ATTENTION_H_

// SPDX-License-Identifier: Apache-2.0
// A model that keeps something between runs.
#ifndef QRT_TESTS_SUPPORT_COUNTER_MODEL_H_
#define QRT_TESTS_SUPPORT_COUNTER_MODEL_H_

#include <cstdint>

#include "tests/support/model_builder.h"

namespace qrt::testing {

// The tensors of the counter model, all UINT8 [batch, 4].
enum CounterTensor : uint32_t { kX, kTotal, kY };

// Returns a model of total' = total + x, saturating; y = total'.
inline ModelBuilder counter_model(int32_t initial = 0) {
  ModelBuilder m;
  m.input({-1, 4});
  m.tensor({-1, 4});
  m.output({-1, 4});
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = float_bits(1.0f);
  m.op(add, {kX, kTotal}, {kY});
  m.variable(kTotal, kY, initial);
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_COUNTER_MODEL_H_

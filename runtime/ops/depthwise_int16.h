// SPDX-License-Identifier: Apache-2.0
// Depthwise layers with INT16 activations, of DepthwiseConv2D and of a Conv2D of groups of one channel
// (whose weights may have several digits).
#ifndef QRT_RUNTIME_OPS_DEPTHWISE_INT16_H_
#define QRT_RUNTIME_OPS_DEPTHWISE_INT16_H_

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise_int16.h"
#include "runtime/op.h"

namespace qrt {

struct DepthwiseInt16Layer {
  DepthwiseShape shape;
  size_t images;
  int16_t input_zero_point;
  const fb::Requant* requant;
  const flatbuffers::Vector<int32_t>* weight_sum;
  size_t digits;
  // The weights in the form of DepthwiseInt16Args; the second is empty where there is one digit.
  PlanVector<int16_t> weights, upper_weights;
};

// Returns the bytes that a layer keeps, its weights among them, to take from the budget before
// these are made.
uint64_t depthwise_int16_bytes(const DepthwiseShape& shape, size_t digits,
                               const fb::Requant& requant);

// REQUIRES: check_int16_constants() succeeded, depthwise_int16_bytes() are taken; at most kMaxDepthwiseInt16 positions of the kernel, of
// several digits kMaxDepthwiseInt16Digits.
Status prepare_depthwise_int16(const PrepareContext& context, DepthwiseInt16Layer layer,
                               PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_DEPTHWISE_INT16_H_

// SPDX-License-Identifier: Apache-2.0
// The common part of the operators with weights in blocks: checks of their constants, and the weights as kernels read them.
#ifndef QRT_RUNTIME_OPS_NBITS_H_
#define QRT_RUNTIME_OPS_NBITS_H_

#include "kernels/integer_build.h"
#include "kernels/nbits/nbits.h"
#include "runtime/ops/check.h"

namespace qrt {

// Checks bits, block and n of the options and the constants: w and scales, which are inputs `first` and the one behind
// it, and the zero points, which are input `zero_points` where there are any.
template <class Options>
Status check_nbits(const InferContext& context, const Options& o, int64_t k, size_t first,
                   size_t zero_points) {
  if (is_integer_build())
    return error(Code::kUnsupported,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
  QRT_MODEL_CHECK(o.bits() == 2 || o.bits() == 4 || o.bits() == 8, "bits is %d, expected 2, 4 or 8",
                  int{o.bits()});
  QRT_MODEL_CHECK(o.block() >= kNBitsLeastBlock && o.block() <= kNBitsMostBlock &&
                      o.block() % kNBitsLeastBlock == 0,
                  "block is %d, expected a multiple of 16 from 16 to 256", int{o.block()});
  QRT_TRY(check_range("n", o.n(), 1, INT32_MAX));
  QRT_TRY(check_range("k", k, 1, INT32_MAX));
  const auto ceiling = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t panels = ceiling(o.n(), kNBitsPanel), blocks = ceiling(k, o.block());
  QRT_TRY(check_plain_constant(context, first, "w", DType::kUInt8,
                               {panels, blocks, int64_t{2} * o.block() * o.bits()}));
  const Shape each = {panels, blocks, static_cast<int64_t>(kNBitsPanel)};
  QRT_TRY(check_plain_constant(context, first + 1, "scales", DType::kFloat32, each));
  if (o.has_zero_points())
    QRT_TRY(check_plain_constant(context, zero_points, "zero_points", DType::kUInt8, each));
  return Status();
}

// REQUIRES: check_nbits() has accepted them.
template <class Options>
NBitsWeights nbits_weights(const InferContext& context, const Options& o, size_t k, size_t first,
                           size_t zero_points) {
  NBitsWeights w = {};
  w.bits = o.bits();
  w.block = o.block();
  w.blocks = (k + w.block - 1) / w.block;
  w.k = k;
  w.n = o.n();
  w.w = context.inputs[first].data;
  w.scales = reinterpret_cast<const float*>(context.inputs[first + 1].data);
  if (o.has_zero_points()) w.zero_points = context.inputs[zero_points].data;
  return w;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_NBITS_H_

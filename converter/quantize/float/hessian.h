// SPDX-License-Identifier: Apache-2.0
// Rounds weights with regard to the inputs that they are multiplied with. The error of a layer's
// result is (w - q)^T X X^T (w - q). Weights are rounded one after the other, and those not yet
// rounded compensate for the error of each, as far as their inputs correlate (the closed form of
// optimal brain surgery).
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_HESSIAN_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_HESSIAN_H_

#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// Sums of products of a layer's inputs with each other, as they meet its weights: for each group the
// lower half of a symmetric matrix [terms, terms], in the order of the weights of one output.
struct Gram {
  int64_t groups = 0, terms = 0;
  std::vector<double> sums;
};

// Adds what x, the input of a Conv, Gemm or MatMul with weights of this shape, contributes; sums in an
// order of their own, the same bits everywhere. An empty `gram` gets its size. kUnsupported for other
// operators. Several samples may lie in x.
Status add_gram(const Node& node, const Tensor& x, const Dims& weights, Gram* gram);

// Rounds n rows of k weights to multiples, lo to hi, of each row's scale. hessian [k, k], of which
// the lower half counts: a group of a Gram. Fails with kInvalidArgument where it is none.
Status round_weights(const float* w, int64_t n, int64_t k, const double* hessian,
                     const float* scale, int lo, int hi, int32_t* q);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_HESSIAN_H_

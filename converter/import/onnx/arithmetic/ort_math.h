// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's float functions, bit for bit (reference ort-x64-fma), and its quantisation of a
// float: what the entries of a table between DequantizeLinear and QuantizeLinear are made of. Needs
// nearest-even rounding and -ffp-contract=off.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_ORT_MATH_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_ORT_MATH_H_

#include <cstdint>

namespace qrt::convert::from_onnx {

// Returns clamp(HE(clamp(x / scale, lo - zp, hi - zp))) + zp; NaN gives lo.
int quantize_ort(float x, float scale, int zero_point, int lo, int hi);

float ort_logistic(float x);
float ort_tanh(float x);
float ort_exp(float x);
float ort_erf(float x);
float ort_leaky_relu(float x, float alpha);
float ort_hard_sigmoid(float x, float alpha, float beta);
float ort_hard_swish(float x);
float ort_softsign(float x);
float ort_gelu(float x);
float ort_gelu_tanh(float x);
float ort_quick_gelu(float x, float alpha);
// Functions that use ONNX Runtime's vector form of exp and log; for the last elements of a work
// chunk it calls libm instead, and an entry can differ with probability below 1e-6.
float ort_elu(float x, float alpha);
float ort_selu(float x, float alpha, float gamma);
float ort_softplus(float x);
float ort_mish(float x);
float ort_log(float x);
float ort_celu(float x, float alpha);

// Computes the 256 entries of QLinearSoftmax's table for rows of `length` elements at `input_scale`.
void ort_softmax_table(float input_scale, int64_t length, float* table);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_ORT_MATH_H_

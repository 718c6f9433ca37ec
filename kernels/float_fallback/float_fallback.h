// Float functions of layers that a caller asked to leave in float (--allow-float): exponentials
// and their kin by polynomials of our own, sums in the order of their elements, a NaN always the
// same one. The only float instructions are additions, products, divisions, square roots and
// comparisons, all IEEE-exact, none fused: the same bytes on every CPU, compiler and number of
// threads. REQUIRES: rounding to nearest even, subnormals kept. Scalar on every instruction set.
// Thread-safe.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_FLOAT_FALLBACK_H_
#define QRT_KERNELS_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// y = f(x). Within 4 units in the last place of the real function, but for kErf and kGelu: within
// 3e-7 absolutely (kGelu: times max(1, |x|)).
enum class FloatUnary : uint8_t { kExp, kLog, kSqrt, kErf, kSigmoid, kTanh, kGelu };
void float_unary(FloatUnary f, const float* x, float* y, size_t n);

// y = f(a, b); a step of 0 repeats one operand. kMin and kMax give b where the comparison does not
// hold.
enum class FloatBinary : uint8_t { kAdd, kSub, kMul, kDiv, kMin, kMax };
void float_binary(FloatBinary f, const float* a, size_t a_step, const float* b, size_t b_step,
                  float* y, size_t n);

// Rows of n values. kSoftmax: e_j / sum e, e_j = exp(x_j - max); kLogSoftmax: (x_j - max) - log(sum
// e); kNormalize: (x_j - mean) / sqrt(mean of (x - mean)^2 + epsilon); the others: one value.
enum class FloatRows : uint8_t { kSoftmax, kLogSoftmax, kNormalize, kSum, kMean, kMax, kMin };
void float_rows(FloatRows f, float epsilon, const float* x, float* y, size_t rows, size_t n);

// One row of a matrix product: y[j] = the sum over i < k of a[i] * b[i * n + j] in the order of i,
// every product and sum rounded. REQUIRES: k >= 1.
void float_product(const float* a, const float* b, size_t k, size_t n, float* y);

// y = table[x]
void float_table(const float table[256], const uint8_t* x, float* y, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

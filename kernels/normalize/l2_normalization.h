// SPDX-License-Identifier: Apache-2.0
// Rows of bytes divided by their Euclidean norm (TFLite's L2_NORMALIZATION of int8), output scale 1/128,
// stored domain. With d_j = x_j - zero_point, m and r of fixed::inverse_square_root(sum of d_j^2),
// 1 / norm = m / 2^31 / 2^r:
//
//   y_j = clamp(MBQM(d_j, m, 7 - r), -128, 127) + 128
//
// where MBQM(d, m, e) is, with one rounding, floor((d * m + 2^(30 - e)) / 2^(31 - e)), and with two
// HA(SRDHM(d * 2^max(e, 0), m) / 2^max(-e, 0)). A row without a norm becomes 128. One form for every
// instruction set. Thread-safe.
#ifndef QRT_KERNELS_NORMALIZE_L2_NORMALIZATION_H_
#define QRT_KERNELS_NORMALIZE_L2_NORMALIZATION_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

constexpr size_t kMaxL2Row = 33025;  // the sum stays below 2^31

// Normalises rows. zero_point: 0..255. 1 <= n <= kMaxL2Row. y may be x.
void l2_normalize_rows(int32_t zero_point, bool one_rounding, const uint8_t* x, uint8_t* y,
                       size_t rows, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_NORMALIZE_L2_NORMALIZATION_H_

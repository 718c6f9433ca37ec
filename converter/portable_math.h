// SPDX-License-Identifier: Apache-2.0
// exp and log for the tables that a converted model holds: the C library's differ between hosts in
// the last bit, these do not. Additions, products, divisions and powers of two in double precision,
// each rounded once, in a fixed order; within 2 units in the last place of a double, so that the
// float32 nearest to a result is that nearest to the real number but where that lies within some
// 2^-28 of a float32's last place from the middle of two.
#ifndef QRT_CONVERTER_PORTABLE_MATH_H_
#define QRT_CONVERTER_PORTABLE_MATH_H_

namespace qrt::convert {

// |x| <= 700.
double portable_exp(double x);
// A normal x > 0.
double portable_log(double x);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_PORTABLE_MATH_H_

// The kernels of lines.h, written once for all instruction sets over a policy:
//
//   kBytes                          of a register
//   map<kTwo, kRows>(block, i, x, stride, v)   y of x[0..kBytes) of kRows rows by the constants
//                                   from i, as registers
//   store(y, v), store_part(y, v, n)   n < kBytes bytes
#ifndef QRT_KERNELS_LUT_LINES_LOOPS_H_
#define QRT_KERNELS_LUT_LINES_LOOPS_H_

#include "kernels/isa/inline.h"
#include "kernels/lut/lines_entry.h"

namespace qrt {
namespace {

// The first n elements of kRows periods. Rows share what is loaded of the constants.
template <class Set, bool kTwo, size_t kRows>
inline void map_periods(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n) {
  const size_t stride = constants.period;
  const LineBlock* block = constants.blocks;
  typename Set::Bytes v[kRows];
  for (; n >= kLinesBlock; n -= kLinesBlock, ++block) {
    for (size_t i = 0; i < kLinesBlock; i += Set::kBytes, x += Set::kBytes, y += Set::kBytes) {
      Set::template map<kTwo>(*block, i, x, stride, v);
      QRT_UNROLL
      for (size_t r = 0; r < kRows; ++r) Set::store(y + r * stride, v[r]);
    }
  }
  for (size_t i = 0; i < n; i += Set::kBytes, x += Set::kBytes, y += Set::kBytes) {
    Set::template map<kTwo>(*block, i, x, stride, v);
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      if (n - i < Set::kBytes)
        Set::store_part(y + r * stride, v[r], n - i);
      else
        Set::store(y + r * stride, v[r]);
    }
  }
}

template <class Set, bool kTwo>
inline void map_lines(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n) {
  const size_t period = constants.period;
  for (; n >= 2 * period; n -= 2 * period, x += 2 * period, y += 2 * period)
    map_periods<Set, kTwo, 2>(constants, x, y, period);
  for (; n > 0; x += period, y += period) {
    const size_t these = n < period ? n : period;
    map_periods<Set, kTwo, 1>(constants, x, y, these);
    n -= these;
  }
}

#define QRT_LINES_LOOPS(suffix, ...)                                                        \
  namespace qrt {                                                                           \
  void lines_map_##suffix(const LineConstants& constants, const uint8_t* x, uint8_t* y,     \
                          size_t n) {                                                       \
    map_lines<__VA_ARGS__, false>(constants, x, y, n);                                      \
  }                                                                                         \
  void lines_map_two_##suffix(const LineConstants& constants, const uint8_t* x, uint8_t* y, \
                              size_t n) {                                                   \
    map_lines<__VA_ARGS__, true>(constants, x, y, n);                                       \
  }                                                                                         \
  }

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LINES_LOOPS_H_

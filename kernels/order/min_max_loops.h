// Minima and maxima as loops that compilers turn into vectors: order_<isa>.cc instantiates them for
// its instruction set.
#ifndef QRT_KERNELS_ORDER_MIN_MAX_LOOPS_H_
#define QRT_KERNELS_ORDER_MIN_MAX_LOOPS_H_

#include "kernels/order/entry.h"

namespace qrt {
namespace {

template <class T, bool kMaximum>
inline void min_max(const BinaryRun& run) {
  const T* a = static_cast<const T*>(run.a);
  const T* b = static_cast<const T*>(run.b);
  T* y = static_cast<T*>(run.y);
  const size_t n = run.n;  // bytes of y may be anybody's, those of `run` as well
  const auto choose = [](T u, T v) { return (kMaximum ? u < v : v < u) ? v : u; };
  if (run.a_is_scalar && run.b_is_scalar) {
    const T v = choose(*a, *b);
    for (size_t i = 0; i < n; ++i) y[i] = v;
  } else if (run.a_is_scalar || run.b_is_scalar) {
    const T* x = run.a_is_scalar ? b : a;
    const T v = run.a_is_scalar ? *a : *b;
    for (size_t i = 0; i < n; ++i) y[i] = choose(x[i], v);
  } else {
    for (size_t i = 0; i < n; ++i) y[i] = choose(a[i], b[i]);
  }
}

template <bool kMaximum>
inline void min_max(Element element, const BinaryRun& run) {
  switch (element) {
    case Element::kU8: return min_max<uint8_t, kMaximum>(run);
    case Element::kI8: return min_max<int8_t, kMaximum>(run);
    case Element::kU16: return min_max<uint16_t, kMaximum>(run);
    case Element::kI16: return min_max<int16_t, kMaximum>(run);
    case Element::kI32: return min_max<int32_t, kMaximum>(run);
    case Element::kI64: return min_max<int64_t, kMaximum>(run);
  }
}

}  // namespace
}  // namespace qrt

#define QRT_MIN_MAX_LOOPS(suffix)                                               \
  void qrt::minimum_##suffix(qrt::Element element, const qrt::BinaryRun& run) { \
    qrt::min_max<false>(element, run);                                          \
  }                                                                             \
  void qrt::maximum_##suffix(qrt::Element element, const qrt::BinaryRun& run) { \
    qrt::min_max<true>(element, run);                                           \
  }

#endif  // QRT_KERNELS_ORDER_MIN_MAX_LOOPS_H_

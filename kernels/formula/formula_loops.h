// The passes of a formula as loops that compilers turn into vectors: formula_<isa>.cc instantiates
// them for its instruction set.
#ifndef QRT_KERNELS_FORMULA_FORMULA_LOOPS_H_
#define QRT_KERNELS_FORMULA_FORMULA_LOOPS_H_

#include "kernels/formula/entry.h"

namespace qrt {
namespace {

// Elements of a piece: two buffers of int32 take a fifth of a first-level cache.
constexpr size_t kPiece = 1024;

inline int32_t wrapped(uint32_t v) { return static_cast<int32_t>(v); }
inline uint32_t raw(int32_t v) { return static_cast<uint32_t>(v); }

// In place on n values.
template <class F>
inline void each(int32_t* v, size_t n, const F& f) {
  for (size_t i = 0; i < n; ++i) v[i] = f(v[i]);
}

inline int32_t bits_of(int32_t v) {
  uint32_t u = v < 0 ? 0 - raw(v) : raw(v);
  int32_t n = 1;
  while (u >>= 1) ++n;
  return n;
}

inline void apply(const FormulaStep& step, int32_t* v, size_t n) {
  const int32_t k = step.value, high = step.high;
  switch (step.function) {
    case FormulaFunction::kAdd:
      return each(v, n, [=](int32_t x) { return wrapped(raw(x) + raw(k)); });
    case FormulaFunction::kMultiply:
      return each(v, n, [=](int32_t x) { return wrapped(raw(x) * raw(k)); });
    case FormulaFunction::kShiftRight:
      return each(v, n, [=](int32_t x) { return wrapped(raw(x >> (k - 1)) + 1) >> 1; });
    case FormulaFunction::kShiftLeft:
      return each(v, n, [=](int32_t x) { return wrapped(raw(x) << k); });
    case FormulaFunction::kClamp:
      return each(v, n, [=](int32_t x) { return x < k ? k : x > high ? high : x; });
    case FormulaFunction::kNegate: return each(v, n, [](int32_t x) { return wrapped(0 - raw(x)); });
    case FormulaFunction::kAbs:
      return each(v, n, [](int32_t x) { return x < 0 ? wrapped(0 - raw(x)) : x; });
    case FormulaFunction::kBits: return each(v, n, bits_of);
    case FormulaFunction::kNotZero: return each(v, n, [](int32_t x) { return x != 0 ? 1 : 0; });
  }
}

// a[i] = f(a[i], b[i]), b one value or as many.
template <class F>
inline void both(int32_t* a, const int32_t* b, bool b_is_scalar, size_t n, const F& f) {
  if (b_is_scalar) {
    const int32_t k = *b;
    for (size_t i = 0; i < n; ++i) a[i] = f(a[i], k);
  } else {
    for (size_t i = 0; i < n; ++i) a[i] = f(a[i], b[i]);
  }
}

inline int32_t quotient(int32_t a, int32_t b) {
  if (b == 0) return 0;
  return b == -1 ? wrapped(0 - raw(a)) : a / b;
}

inline void combine(FormulaPair pair, int32_t* a, const int32_t* b, bool b_is_scalar, size_t n) {
  using I = int32_t;
  switch (pair) {
    case FormulaPair::kAdd:
      return both(a, b, b_is_scalar, n, [](I x, I y) { return wrapped(raw(x) + raw(y)); });
    case FormulaPair::kSubtract:
      return both(a, b, b_is_scalar, n, [](I x, I y) { return wrapped(raw(x) - raw(y)); });
    case FormulaPair::kMultiply:
      return both(a, b, b_is_scalar, n, [](I x, I y) { return wrapped(raw(x) * raw(y)); });
    case FormulaPair::kMaximum:
      return both(a, b, b_is_scalar, n, [](I x, I y) { return x < y ? y : x; });
    case FormulaPair::kDivide: return both(a, b, b_is_scalar, n, quotient);
    case FormulaPair::kGreater:
      return both(a, b, b_is_scalar, n, [](I x, I y) { return x > y ? 1 : 0; });
  }
}

template <class T>
inline void widen(const void* from, int32_t zero_point, int32_t* to, size_t n) {
  const T* x = static_cast<const T*>(from);
  for (size_t i = 0; i < n; ++i) to[i] = wrapped(raw(x[i]) - raw(zero_point));
}

// n elements from `at` on, less the zero point, through the steps.
inline void load(const FormulaOperand& p, const void* from, size_t at, size_t n, int32_t* to) {
  switch (p.element) {
    case FormulaElement::kUInt8:
      widen<uint8_t>(static_cast<const uint8_t*>(from) + at, p.zero_point, to, n);
      break;
    case FormulaElement::kInt16:
      widen<int16_t>(static_cast<const int16_t*>(from) + at, p.zero_point, to, n);
      break;
    case FormulaElement::kInt32:
      widen<int32_t>(static_cast<const int32_t*>(from) + at, p.zero_point, to, n);
      break;
  }
  for (size_t i = 0; i < p.count; ++i) apply(p.steps[i], to, n);
}

// lo .. hi are the limits of T less the zero point, so that nothing is added to what saturates.
template <class T>
inline void narrow(const int32_t* from, int32_t zero_point, int32_t lo, int32_t hi, void* to,
                   size_t n) {
  T* y = static_cast<T*>(to);
  const int32_t least = lo - zero_point, most = hi - zero_point;
  for (size_t i = 0; i < n; ++i) {
    const int32_t v = from[i] < least ? least : from[i] > most ? most : from[i];
    y[i] = static_cast<T>(v + zero_point);
  }
}

inline int32_t saturated_sum(int32_t v, int32_t zero_point) {
  const int64_t sum = int64_t{v} + zero_point;
  return static_cast<int32_t>(sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum);
}

inline void store(const FormulaOperand& p, const int32_t* from, void* to, size_t at, size_t n) {
  const int32_t zero_point = p.zero_point;
  switch (p.element) {
    case FormulaElement::kUInt8:
      return narrow<uint8_t>(from, zero_point, 0, 255, static_cast<uint8_t*>(to) + at, n);
    case FormulaElement::kInt16:
      return narrow<int16_t>(from, zero_point, INT16_MIN, INT16_MAX, static_cast<int16_t*>(to) + at,
                             n);
    case FormulaElement::kInt32: {
      int32_t* y = static_cast<int32_t*>(to) + at;
      if (zero_point == 0) {
        for (size_t i = 0; i < n; ++i) y[i] = from[i];
      } else {
        for (size_t i = 0; i < n; ++i) y[i] = saturated_sum(from[i], zero_point);
      }
    }
  }
}

inline void formula(const FormulaParams& params, const FormulaRun& run) {
  int32_t a[kPiece], b[kPiece];
  if (params.has_b && run.b_is_scalar) load(params.b, run.b, 0, 1, b);
  for (size_t at = 0; at < run.n; at += kPiece) {
    const size_t n = run.n - at < kPiece ? run.n - at : kPiece;
    if (run.a_is_scalar) {
      int32_t v;
      load(params.a, run.a, 0, 1, &v);
      for (size_t i = 0; i < n; ++i) a[i] = v;
    } else {
      load(params.a, run.a, at, n, a);
    }
    if (params.has_b) {
      if (!run.b_is_scalar) load(params.b, run.b, at, n, b);
      combine(params.pair, a, b, run.b_is_scalar, n);
      for (size_t i = 0; i < params.y.count; ++i) apply(params.y.steps[i], a, n);
    }
    store(params.y, a, run.y, at, n);
  }
}

}  // namespace
}  // namespace qrt

#define QRT_FORMULA_LOOPS(suffix)                                                            \
  void qrt::formula_##suffix(const qrt::FormulaParams& params, const qrt::FormulaRun& run) { \
    qrt::formula(params, run);                                                               \
  }

#endif  // QRT_KERNELS_FORMULA_FORMULA_LOOPS_H_

// SPDX-License-Identifier: Apache-2.0
// A formula on blocks of elements that stay in registers through all its steps, for a policy V:
//
//   V::Ints                     a register of int32, of the compilers' vectors: operators work on all
//                               lanes, comparisons give 0 or -1 in each
//   V::kLanes                   of a register
//   V::widen(p)                 kLanes elements from p, bytes or int16, as int32
//   V::multiply16(v, k)         v * k; both are within int16
//   V::narrow(v, zero_point, y) a block + zero point, saturated, as bytes or int16
#ifndef QRT_KERNELS_FORMULA_FORMULA_LOOPS_H_
#define QRT_KERNELS_FORMULA_FORMULA_LOOPS_H_

#include <string.h>

#include "kernels/formula/entry.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr int kRegisters = 8;

template <class V>
struct FormulaLoops {
  using Ints = typename V::Ints;
  typedef uint32_t Bits __attribute__((vector_size(sizeof(Ints))));  // arithmetic modulo 2^32
  using Block = Ints[kRegisters];

  static constexpr size_t kBlock = kRegisters * V::kLanes;  // elements

  QRT_INLINE Bits raw(Ints v) { return reinterpret_cast<Bits>(v); }
  QRT_INLINE Ints wrapped(Bits v) { return reinterpret_cast<Ints>(v); }

  template <class F>
  QRT_INLINE void each(Block& v, const F& f) {
    QRT_UNROLL
    for (int i = 0; i < kRegisters; ++i) v[i] = f(v[i]);
  }

  // Digits of |x|, at least 1: by halves, the upper one where there is something in it.
  QRT_INLINE Ints bits_of(Ints x) {
    Bits u = raw(x < 0 ? wrapped(0u - raw(x)) : x);
    Ints n = x - x + 1;
    for (int half = 16; half > 0; half /= 2) {
      const Bits upper = u >> half;
      const Ints is_long = upper != 0;
      n += is_long & half;
      u = is_long ? upper : u;
    }
    return n;
  }

  QRT_INLINE void apply(const FormulaStep& step, Block& v) {
    const int32_t k = step.value, high = step.high;
    const uint32_t bits = static_cast<uint32_t>(k);
    switch (step.function) {
      case FormulaFunction::kAdd:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA { return wrapped(raw(x) + bits); });
      case FormulaFunction::kMultiply:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA { return wrapped(raw(x) * bits); });
      case FormulaFunction::kShiftRight:
        return each(v,
                    [=](Ints x) QRT_INLINE_LAMBDA { return wrapped(raw(x >> (k - 1)) + 1u) >> 1; });
      case FormulaFunction::kShiftLeft:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA { return wrapped(raw(x) << k); });
      case FormulaFunction::kClamp:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA {
          const Ints lo = k - Ints{}, hi = high - Ints{};
          x = x < lo ? lo : x;
          return x > hi ? hi : x;
        });
      case FormulaFunction::kNegate:
        return each(v, [](Ints x) QRT_INLINE_LAMBDA { return wrapped(0u - raw(x)); });
      case FormulaFunction::kAbs:
        return each(v, [](Ints x) QRT_INLINE_LAMBDA { return x < 0 ? wrapped(0u - raw(x)) : x; });
      case FormulaFunction::kBits:
        return each(v, [](Ints x) QRT_INLINE_LAMBDA { return bits_of(x); });
      case FormulaFunction::kNotZero:
        return each(v, [](Ints x) QRT_INLINE_LAMBDA { return (x != 0) & 1; });
      case FormulaFunction::kAtLeast:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA {
          const Ints lo = k - Ints{};
          return x < lo ? lo : x;
        });
      case FormulaFunction::kAtMost:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA {
          const Ints hi = high - Ints{};
          return x > hi ? hi : x;
        });
      case FormulaFunction::kMultiply16:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA { return V::multiply16(x, k); });
      case FormulaFunction::kAddAndShiftRight:
        return each(v, [=](Ints x) QRT_INLINE_LAMBDA { return (x + high) >> k; });
    }
  }

  template <class F>
  QRT_INLINE void both(Block& a, const Block& b, const F& f) {
    QRT_UNROLL
    for (int i = 0; i < kRegisters; ++i) a[i] = f(a[i], b[i]);
  }

  // Divides lane by lane: no instruction set has a division of integers for vectors.
  static __attribute__((noinline)) Ints quotient(const Ints& a, const Ints& b) {
    Ints q = {};
    for (size_t i = 0; i < V::kLanes; ++i)
      q[i] = b[i] == 0 ? 0 : b[i] == -1 ? static_cast<int32_t>(0 - raw(a)[i]) : a[i] / b[i];
    return q;
  }

  QRT_INLINE void combine(FormulaPair pair, Block& a, const Block& b) {
    switch (pair) {
      case FormulaPair::kAdd:
        return both(a, b,
                    [](Ints x, Ints y) QRT_INLINE_LAMBDA { return wrapped(raw(x) + raw(y)); });
      case FormulaPair::kSubtract:
        return both(a, b,
                    [](Ints x, Ints y) QRT_INLINE_LAMBDA { return wrapped(raw(x) - raw(y)); });
      case FormulaPair::kMultiply:
        return both(a, b,
                    [](Ints x, Ints y) QRT_INLINE_LAMBDA { return wrapped(raw(x) * raw(y)); });
      case FormulaPair::kMaximum:
        return both(a, b, [](Ints x, Ints y) QRT_INLINE_LAMBDA { return x < y ? y : x; });
      case FormulaPair::kDivide:
        return both(a, b, [](Ints x, Ints y) QRT_INLINE_LAMBDA { return quotient(x, y); });
      case FormulaPair::kGreater:
        return both(a, b, [](Ints x, Ints y) QRT_INLINE_LAMBDA { return (x > y) & 1; });
    }
  }

  template <class T>
  QRT_INLINE void widen(const void* from, Block& v) {
    QRT_UNROLL
    for (int i = 0; i < kRegisters; ++i)
      v[i] = V::widen(static_cast<const T*>(from) + static_cast<size_t>(i) * V::kLanes);
  }

  // Reads a block of an operand, less its zero point, and applies its steps.
  QRT_INLINE void read(const FormulaOperand& p, const void* from, Block& v) {
    switch (p.element) {
      case FormulaElement::kUInt8: widen<uint8_t>(from, v); break;
      case FormulaElement::kInt16: widen<int16_t>(from, v); break;
      case FormulaElement::kInt32:
        QRT_UNROLL
        for (int i = 0; i < kRegisters; ++i)
          memcpy(&v[i], static_cast<const uint8_t*>(from) + static_cast<size_t>(i) * sizeof(Ints),
                 sizeof(Ints));
        break;
    }
    if (p.zero_point != 0) apply({FormulaFunction::kAdd, negated(p.zero_point), 0}, v);
    for (size_t i = 0; i < p.count; ++i) apply(p.steps[i], v);
  }
  QRT_INLINE int32_t negated(int32_t v) {
    return static_cast<int32_t>(0 - static_cast<uint32_t>(v));
  }

  // Sums of two numbers of one sign have the other only where they left int32.
  QRT_INLINE Ints saturated_sum(Ints x, int32_t k) {
    const Ints sum = wrapped(raw(x) + static_cast<uint32_t>(k));
    if (k >= 0) return sum < x ? INT32_MAX - Ints{} : sum;
    return sum > x ? INT32_MIN - Ints{} : sum;
  }

  QRT_INLINE void write(const FormulaOperand& p, Block& v, void* to) {
    const int32_t zero_point = p.zero_point;
    switch (p.element) {
      case FormulaElement::kUInt8: return V::narrow(v, zero_point, static_cast<uint8_t*>(to));
      case FormulaElement::kInt16: return V::narrow(v, zero_point, static_cast<int16_t*>(to));
      case FormulaElement::kInt32:
        if (zero_point != 0)
          each(v, [=](Ints x) QRT_INLINE_LAMBDA { return saturated_sum(x, zero_point); });
        QRT_UNROLL
        for (int i = 0; i < kRegisters; ++i)
          memcpy(static_cast<uint8_t*>(to) + static_cast<size_t>(i) * sizeof(Ints), &v[i],
                 sizeof(Ints));
    }
  }

  static constexpr size_t bytes_of(FormulaElement e) {
    return e == FormulaElement::kUInt8 ? 1 : e == FormulaElement::kInt16 ? 2 : 4;
  }

  // A block of elements of which fewer, or one for all, are there.
  struct Copy {
    alignas(64) uint8_t bytes[kBlock * sizeof(int32_t)];

    const uint8_t* fill(const uint8_t* from, size_t element_bytes, size_t n) {
      memcpy(bytes, from, n * element_bytes);
      memset(bytes + n * element_bytes, 0, (kBlock - n) * element_bytes);
      return bytes;
    }
    const uint8_t* repeat(const uint8_t* element, size_t element_bytes) {
      memcpy(bytes, element, element_bytes);
      for (size_t have = 1; have < kBlock; have *= 2)
        memcpy(bytes + have * element_bytes, bytes, have * element_bytes);
      return bytes;
    }
  };

  QRT_INLINE void run_block(const FormulaParams& p, const void* a, const void* b, void* y) {
    Block v;
    if (p.has_b) {
      Block w;
      read(p.b, b, w);
      read(p.a, a, v);
      combine(p.pair, v, w);
      for (size_t i = 0; i < p.y.count; ++i) apply(p.y.steps[i], v);
    } else {
      read(p.a, a, v);
    }
    write(p.y, v, y);
  }

  QRT_INLINE void run(const FormulaParams& p, const FormulaArgs& run) {
    const size_t a_bytes = bytes_of(p.a.element), b_bytes = bytes_of(p.b.element),
                 y_bytes = bytes_of(p.y.element);
    Copy a_copy, b_copy, y_copy;
    const uint8_t* a = static_cast<const uint8_t*>(run.a);
    const uint8_t* b = static_cast<const uint8_t*>(run.b);
    uint8_t* y = static_cast<uint8_t*>(run.y);
    if (run.a_is_scalar) a = a_copy.repeat(a, a_bytes);
    if (p.has_b && run.b_is_scalar) b = b_copy.repeat(b, b_bytes);
    for (size_t left = run.n; left > 0;) {
      const size_t n = left < kBlock ? left : kBlock;
      uint8_t* to = y;
      if (n < kBlock) {
        if (!run.a_is_scalar) a = a_copy.fill(a, a_bytes, n);
        if (p.has_b && !run.b_is_scalar) b = b_copy.fill(b, b_bytes, n);
        to = y_copy.bytes;
      }
      run_block(p, a, b, to);
      if (n < kBlock) memcpy(y, to, n * y_bytes);
      left -= n, y += n * y_bytes;
      if (!run.a_is_scalar) a += n * a_bytes;
      if (p.has_b && !run.b_is_scalar) b += n * b_bytes;
    }
  }
};

}  // namespace
}  // namespace qrt

#define QRT_FORMULA_LOOPS(suffix, ...)                                         \
  void formula_##suffix(const FormulaParams& params, const FormulaArgs& run) { \
    FormulaLoops<__VA_ARGS__>::run(params, run);                               \
  }

#endif  // QRT_KERNELS_FORMULA_FORMULA_LOOPS_H_

// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic over formulas; see bounds.h.
#include "kernels/formula/bounds.h"

#include <algorithm>

namespace qrt {
namespace {

using F = FormulaFunction;

constexpr FormulaBounds kAny = {INT32_MIN, INT32_MAX};

// Returns the bounds after wrapping: a value that leaves int32 comes back anywhere in it.
FormulaBounds wrapped(int64_t lo, int64_t hi) {
  return lo < INT32_MIN || hi > INT32_MAX ? kAny : FormulaBounds{lo, hi};
}

bool is_within(FormulaBounds b, int64_t lo, int64_t hi) { return b.lo >= lo && b.hi <= hi; }

// Returns the bounds of all products, which fit 64 bits.
FormulaBounds product(FormulaBounds a, FormulaBounds b) {
  const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return wrapped(lo, hi);
}

FormulaBounds clamped(FormulaBounds b, FormulaStep* step) {
  const int64_t lo = step->value, hi = step->high;
  if (b.hi <= hi) {
    step->function = F::kAtLeast;
  } else if (b.lo >= lo) {
    step->function = F::kAtMost;
  }
  return {std::clamp(b.lo, lo, hi), std::clamp(b.hi, lo, hi)};
}

FormulaBounds shifted_right(FormulaBounds b, FormulaStep* step) {
  if (step->value == 32) {  // leaves nothing, and no instruction shifts so far
    *step = {F::kMultiply, 0, 0};
    return {0, 0};
  }
  const int64_t half = int64_t{1} << (step->value - 1);
  if (b.hi + half > INT32_MAX) {
    // Halving INT32_MAX adds 1 to it.
    if (step->value == 1) return kAny;
  } else {
    step->function = F::kAddAndShiftRight;
    step->high = static_cast<int32_t>(half);
  }
  return {(b.lo + half) >> step->value, (b.hi + half) >> step->value};
}

FormulaBounds behind(FormulaBounds b, FormulaStep* step) {
  const int64_t k = step->value;
  switch (step->function) {
    case F::kAdd: return wrapped(b.lo + k, b.hi + k);
    case F::kMultiply:
      if (is_within(b, INT16_MIN, INT16_MAX) && is_within({k, k}, INT16_MIN, INT16_MAX))
        step->function = F::kMultiply16;
      return product(b, {k, k});
    case F::kShiftRight: return shifted_right(b, step);
    case F::kShiftLeft: return product(b, {int64_t{1} << k, int64_t{1} << k});
    case F::kClamp: return clamped(b, step);
    case F::kNegate: return wrapped(-b.hi, -b.lo);
    case F::kAbs: return wrapped(b.lo > 0 ? b.lo : b.hi < 0 ? -b.hi : 0, std::max(-b.lo, b.hi));
    case F::kBits: return {1, 32};
    case F::kNotZero: return {0, 1};
    default: return kAny;
  }
}

}  // namespace

FormulaBounds formula_bounds(FormulaElement element, int32_t zero_point) {
  const int64_t zero = zero_point;
  switch (element) {
    case FormulaElement::kUInt8: return wrapped(-zero, UINT8_MAX - zero);
    case FormulaElement::kInt16: return wrapped(INT16_MIN - zero, INT16_MAX - zero);
    case FormulaElement::kInt32: break;
  }
  return kAny;
}

FormulaBounds formula_bounds(FormulaPair pair, FormulaBounds a, FormulaBounds b) {
  switch (pair) {
    case FormulaPair::kAdd: return wrapped(a.lo + b.lo, a.hi + b.hi);
    case FormulaPair::kSubtract: return wrapped(a.lo - b.hi, a.hi - b.lo);
    case FormulaPair::kMultiply: return product(a, b);
    case FormulaPair::kMaximum: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case FormulaPair::kDivide: break;
    case FormulaPair::kGreater: return {0, 1};
  }
  return kAny;
}

FormulaBounds simplify_formula(FormulaBounds bounds, FormulaStep* steps, size_t* count) {
  const auto changes = [&](FormulaStep* step) {
    if (step->function == F::kClamp && is_within(bounds, step->value, step->high)) return false;
    bounds = behind(bounds, step);
    return true;
  };
  size_t kept = 0;
  for (size_t i = 0; i < *count; ++i) {
    FormulaStep step = steps[i];
    if (changes(&step)) steps[kept++] = step;
  }
  *count = kept;
  return bounds;
}

}  // namespace qrt

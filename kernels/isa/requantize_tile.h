// SPDX-License-Identifier: Apache-2.0
// Requantisation of tiles of int32 accumulators in memory, for the kinds that a family does not do
// in the accumulators' registers: every integer stage, and the float orders other than half to even
// with the zero point last. One pass over the tile per stage, the stage's constants in registers
// for all rows of a tile, so the choice of the form is made once per tile. Vector forms of
// requantize() in kernels/requant.h, equal to it in every bit.
//
// An instruction set supplies a policy V (requantize_<isa>.h):
//
//   kLanes, Int, load(p), save(p, v)     a register of int32
//   clip(v, lo, hi)                      lo <= hi
//   Stage<kForm, kRound>                 made from a RequantStage and a channel; apply(x)
//   FloatStage<kOrder, kHalfUp>          made from a Requant and a channel; apply(acc): rounded,
//                                        and limited so that Finish limits it to the same byte
//   Finish                               made from offset, lo and hi;
//     store(v, y, n)                     y[i] = clamp(v[i] + offset, lo, hi), 16 ints, n bytes
//   to_float<kAdds>(acc, scale, addend, y)  fl32(f(acc) * scale), with kAdds also + addend, rounded
//
// For kernel files only: everything is in the namespace of their instruction set.
#ifndef QRT_KERNELS_ISA_REQUANTIZE_TILE_H_
#define QRT_KERNELS_ISA_REQUANTIZE_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/requant.h"
#include "kernels/requantize_scalar.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {

// The properties that all channels of a stage have.
enum class StageForm : uint8_t {
  kShift,    // multiplier 1, shift 0..31
  kQ31,      // shift 31, half up: SRDHM of gemmlowp
  kHigh,     // shift from 32 on, half up: only high halves of products matter
  kNarrow,   // no result leaves int32
  kClipped,  // anything: results are clipped in 64 bits
};

enum class FloatOrder : uint8_t { kAfter, kBefore, kFused };

// |x| never exceeds this, for accumulators of which nothing is known.
constexpr int64_t kAnyInt32 = int64_t{1} << 31;

// Returns the form of a stage for channels c .. c + channels - 1 and inputs |x| <= bound. x *
// multiplier / 2^shift does not leave int32 if multiplier <= 2^shift * floor((2^31 - 1) / bound);
// for any x, if multiplier <= 2^shift (-2^31 then gives at least -2^31, 2^31 - 1 at most itself).
inline StageForm form_of(const RequantStage& s, size_t c, size_t channels, int64_t bound) {
  uint8_t most = 0, least = 62;
  for (size_t i = c; i < c + channels; ++i) {
    const uint8_t shift = s.shift[i];
    most = shift > most ? shift : most;
    least = shift < least ? shift : least;
  }
  // The multipliers are not looked at here: for few rows that would take longer than the product.
  if (s.round == Round::kHalfUp && least == 31 && most == 31) return StageForm::kQ31;
  int32_t largest = 0, smallest = INT32_MAX;
  for (size_t i = c; i < c + channels; ++i) {
    const int32_t m = s.multiplier[i];
    largest = m > largest ? m : largest;
    smallest = m < smallest ? m : smallest;
  }
  if (largest == 1 && smallest == 1 && most <= 31) return StageForm::kShift;
  if (s.round == Round::kHalfUp && least >= 32) return StageForm::kHigh;
  const int64_t factor = bound < kAnyInt32 ? INT32_MAX / (bound > 0 ? bound : 1) : 1;
  const bool narrow = least >= 31 || largest <= factor << least;
  return narrow ? StageForm::kNarrow : StageForm::kClipped;
}

// The forms of an integer requantisation's stages, for any accumulators.
struct StageForms {
  StageForm of[kMaxStages];
};

inline StageForms forms_of(const Requant& r, size_t c, size_t channels, int64_t bound = kAnyInt32) {
  StageForms forms = {};
  if (r.kind != RequantKind::kInt) return forms;
  for (int i = 0; i < r.stage_count; ++i, bound = kAnyInt32)
    forms.of[i] = form_of(r.stages[i], c, channels, bound);
  return forms;
}

template <class V, class S, class Parameters>
__attribute__((noinline)) void pass(const Parameters& p, size_t c, int32_t* v, size_t rows,
                                    size_t columns) {
  for (size_t j = 0; j < columns; j += V::kLanes) {
    const S stage(p, c + j);
    int32_t* x = v + j;
    for (size_t i = 0; i < rows; ++i, x += columns) V::save(x, stage.apply(V::load(x)));
  }
}

template <class V>
__attribute__((noinline)) void clip_pass(int32_t lo, int32_t hi, int32_t* v, size_t n) {
  for (size_t i = 0; i < n; i += V::kLanes) V::save(v + i, V::clip(V::load(v + i), lo, hi));
}

template <class V, StageForm kForm>
inline void pass_of_form(const RequantStage& s, size_t c, int32_t* v, size_t rows, size_t columns) {
  using R = Round;
  switch (s.round) {
    case R::kHalfEven:
      return pass<V, typename V::template Stage<kForm, R::kHalfEven>>(s, c, v, rows, columns);
    case R::kHalfUp:
      return pass<V, typename V::template Stage<kForm, R::kHalfUp>>(s, c, v, rows, columns);
    case R::kHalfAway:
      return pass<V, typename V::template Stage<kForm, R::kHalfAway>>(s, c, v, rows, columns);
    case R::kFloor:
      return pass<V, typename V::template Stage<kForm, R::kFloor>>(s, c, v, rows, columns);
  }
}

inline bool clips(const RequantStage& s) {
  return s.clip_lo != INT32_MIN || s.clip_hi != INT32_MAX;
}

// Applies a stage to a tile of `rows` rows of `columns` ints, in place; columns is a multiple of
// 16, of the channels from c on.
template <class V>
inline void stage_pass(const RequantStage& s, StageForm form, size_t c, int32_t* v, size_t rows,
                       size_t columns) {
  switch (form) {
    case StageForm::kShift: pass_of_form<V, StageForm::kShift>(s, c, v, rows, columns); break;
    case StageForm::kQ31:
      pass<V, typename V::template Stage<StageForm::kQ31, Round::kHalfUp>>(s, c, v, rows, columns);
      break;
    case StageForm::kHigh:
      pass<V, typename V::template Stage<StageForm::kHigh, Round::kHalfUp>>(s, c, v, rows, columns);
      break;
    case StageForm::kNarrow: pass_of_form<V, StageForm::kNarrow>(s, c, v, rows, columns); break;
    case StageForm::kClipped: return pass_of_form<V, StageForm::kClipped>(s, c, v, rows, columns);
  }
  if (clips(s)) clip_pass<V>(s.clip_lo, s.clip_hi, v, rows * columns);
}

// TFLite's double rounding in one pass; an instruction set may have a form of its own.
template <class V>
struct DoubleRounding {
  DoubleRounding(const Requant& r, size_t c) : first(r.stages[0], c), second(r.stages[1], c) {}
  typename V::Int apply(typename V::Int x) const { return second.apply(first.apply(x)); }

  typename V::template Stage<StageForm::kQ31, Round::kHalfUp> first;
  typename V::template Stage<StageForm::kShift, Round::kHalfAway> second;
};

inline bool is_double_rounding(const Requant& r, const StageForms& forms) {
  return r.stage_count == 2 && forms.of[0] == StageForm::kQ31 && forms.of[1] == StageForm::kShift &&
         r.stages[1].round == Round::kHalfAway && !clips(r.stages[0]) && !clips(r.stages[1]);
}

template <class V>
inline void stage_passes(const Requant& r, const StageForms& forms, size_t c, int32_t* v,
                         size_t rows, size_t columns) {
  if (is_double_rounding(r, forms)) return pass<V, DoubleRounding<V>>(r, c, v, rows, columns);
  for (int i = 0; i < r.stage_count; ++i)
    stage_pass<V>(r.stages[i], forms.of[i], c, v, rows, columns);
}

template <class V, FloatOrder kOrder>
inline void float_pass(const Requant& r, size_t c, int32_t* v, size_t rows, size_t columns) {
  if (r.round == Round::kHalfUp)
    pass<V, typename V::template FloatStage<kOrder, true>>(r, c, v, rows, columns);
  else
    pass<V, typename V::template FloatStage<kOrder, false>>(r, c, v, rows, columns);
}

// Requantises the first n of `columns` (a multiple of 16) accumulators of every row, channels from
// c on, to bytes, by kind kF32 or kInt. The accumulators are overwritten; rows of y are y_stride
// bytes apart. The float kind needs the rounding mode nearest-even, which a session sets; with
// kIntegerOnly it is computed by the definition.
template <class V>
__attribute__((noinline)) void requantize_tile(const Requant& r, const StageForms& forms, size_t c,
                                               int32_t* v, size_t rows, size_t columns, size_t n,
                                               uint8_t* y, size_t y_stride) {
  if constexpr (kIntegerOnly) {
    if (r.kind == RequantKind::kF32)
      return requantize_scalar(r, c, v, columns, rows, n, y, y_stride);
  }
  if (r.kind == RequantKind::kInt) {
    stage_passes<V>(r, forms, c, v, rows, columns);
  } else if constexpr (!kIntegerOnly) {
    if (!r.zero_point_before)
      float_pass<V, FloatOrder::kAfter>(r, c, v, rows, columns);
    else if (r.fused)
      float_pass<V, FloatOrder::kFused>(r, c, v, rows, columns);
    else
      float_pass<V, FloatOrder::kBefore>(r, c, v, rows, columns);
  }
  const bool before = r.kind == RequantKind::kF32 && r.zero_point_before;
  const typename V::Finish finish(before ? r.offset : r.zero_point, r.lo, r.hi);
  for (size_t i = 0; i < rows; ++i, v += columns, y += y_stride) {
    for (size_t j = 0; j < n; j += 16) finish.store(v + j, y + j, n - j < 16 ? n - j : 16);
  }
}

template <class V, bool kAdds>
__attribute__((noinline)) void float_rows(const Requant& r, size_t c, const int32_t* v, size_t rows,
                                          size_t columns, size_t n, uint8_t* y, size_t y_stride) {
  const float *scale = r.scale + c, *addend = kAdds ? r.addend + c : nullptr;
  for (size_t i = 0; i < rows; ++i, v += columns, y += y_stride) {
    size_t j = 0;
    for (; j + V::kLanes <= n; j += V::kLanes)
      V::template to_float<kAdds>(v + j, scale + j, kAdds ? addend + j : nullptr,
                                  y + j * sizeof(float));
    if (j == n) continue;
    uint8_t last[V::kLanes * sizeof(float)];
    V::template to_float<kAdds>(v + j, scale + j, kAdds ? addend + j : nullptr, last);
    __builtin_memcpy(y + j * sizeof(float), last, (n - j) * sizeof(float));
  }
}

// Converts the first n of `columns` accumulators of every row, channels from c on, to float32, by kind kFloat.
template <class V>
inline void float_tile(const Requant& r, size_t c, int32_t* v, size_t rows, size_t columns,
                       size_t n, uint8_t* y, size_t y_stride) {
  if constexpr (!kIntegerOnly) {
    if (r.addend)
      float_rows<V, true>(r, c, v, rows, columns, n, y, y_stride);
    else
      float_rows<V, false>(r, c, v, rows, columns, n, y, y_stride);
  }
}

}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_REQUANTIZE_TILE_H_

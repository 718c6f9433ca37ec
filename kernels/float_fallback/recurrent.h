// SPDX-License-Identifier: Apache-2.0
// The gates of recurrent layers behind their products, with the bits of ONNX Runtime on x86-64 but for the tanh of an RNN (RecurrentStage
// of float_fallback.h). For kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_RECURRENT_H_
#define QRT_KERNELS_FLOAT_FALLBACK_RECURRENT_H_

#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// `count` floats of an array, as many as a register has but at its end.
struct PartialLanes {
  size_t count;
};

inline __attribute__((noinline)) void get_partial(size_t count, const float* p, Floats* v) {
  float part[kLanes] = {};
  __builtin_memcpy(part, p, count * sizeof(float));
  *v = load(part);
}
inline __attribute__((noinline)) void put_partial(size_t count, float* p, const Floats* v) {
  __builtin_memcpy(p, v, count * sizeof(float));
}
QRT_INLINE Floats get(PartialLanes lanes, const float* p) {
  if (lanes.count == kLanes) return load(p);
  Floats v;
  get_partial(lanes.count, p, &v);
  return v;
}
QRT_INLINE void put(PartialLanes lanes, float* p, Floats v) {
  if (lanes.count == kLanes)
    save(p, v);
  else
    put_partial(lanes.count, p, &v);
}

// Calls f(index, lanes) for n floats.
template <class F>
QRT_INLINE void for_lanes(size_t n, const F& f) {
  for (size_t i = 0; i < n; i += kLanes) f(i, PartialLanes{n - i < kLanes ? n - i : kLanes});
}

// Returns the quotient whose polynomials ort_tanh_of() fuses, with every step rounded.
QRT_INLINE Floats rounded_quotient(Floats x) {
  const Floats z = x * x;
  Floats p = z * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = z * p + -8.60467152213735e-11f;
  p = z * p + 5.12229709037114e-08f;
  p = z * p + 1.48572235717979e-05f;
  p = z * p + 6.37261928875436e-04f;
  p = z * p + 4.89352455891786e-03f;
  p = x * p;
  Floats q = z * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = z * q + 2.26843463243900e-03f;
  q = z * q + 4.89352518554385e-03f;
  return p / q;
}
QRT_INLINE Floats rounded_tanh_of(Floats x) { return rounded_quotient(within(x, 10.0f)); }
QRT_INLINE Floats rounded_sigmoid_of(Floats x) {
  return 0.5f * (1.0f + rounded_quotient(0.5f * within(x, 20.0f)));
}

// The argument of a gate.
QRT_INLINE Floats limited(const RecurrentGates& g, Floats v) {
  const Floats most = all(g.clip), least = all(-g.clip);
  if (!g.nan_is_clip) return v > most ? most : v < least ? least : v;
  v = v < most ? v : most;
  return v > least ? v : least;
}

inline void lstm_gates(const RecurrentGates& g, const float* sums, float* content, float* hidden) {
  const size_t n = g.cells;
  const float *const i_sum = sums, *const o_sum = sums + n, *const f_sum = sums + 2 * n;
  const float* const c_sum = sums + 3 * n;
  for_lanes(n, [&](size_t at, PartialLanes lanes) QRT_INLINE_LAMBDA {
    const Floats before = get(lanes, content + at);
    const auto gate = [&](const float* sum, size_t number, size_t peephole, Floats of)
                          QRT_INLINE_LAMBDA {
                            Floats v = get(lanes, sum + at);
                            if (g.peepholes != nullptr)
                              v = v + of * get(lanes, g.peepholes + peephole * n + at);
                            return limited(g, v + get(lanes, g.bias + number * n + at));
                          };
    const Floats i = ort_sigmoid_of(gate(i_sum, 0, 0, before));
    const Floats f = g.couples_forget ? 1.0f - i : ort_sigmoid_of(gate(f_sum, 2, 2, before));
    const Floats c =
        ort_tanh_of(limited(g, get(lanes, c_sum + at) + get(lanes, g.bias + 3 * n + at)));
    const Floats now = before * f + i * c;
    const Floats o = ort_sigmoid_of(gate(o_sum, 1, 1, now));
    put(lanes, content + at, canonical(now));
    put(lanes, hidden + at, canonical(ort_tanh_of(now) * o));
  });
}

inline void gru_reset(const RecurrentGates& g, const float* sums, const float* x, float* y) {
  const size_t n = g.cells;
  for_lanes(n, [&](size_t at, PartialLanes lanes) QRT_INLINE_LAMBDA {
    const Floats v = limited(g, get(lanes, sums + n + at) + get(lanes, g.bias + n + at));
    put(lanes, y + at, canonical(get(lanes, x + at) * rounded_sigmoid_of(v)));
  });
}

inline void gru_output(const RecurrentGates& g, const float* sums, const float* before, float* y) {
  const size_t n = g.cells;
  for_lanes(n, [&](size_t at, PartialLanes lanes) QRT_INLINE_LAMBDA {
    const Floats z = ort_sigmoid_of(limited(g, get(lanes, sums + at) + get(lanes, g.bias + at)));
    const Floats h = rounded_tanh_of(
        limited(g, get(lanes, sums + 2 * n + at) + get(lanes, g.bias + 2 * n + at)));
    put(lanes, y + at, canonical((1.0f - z) * h + z * get(lanes, before + at)));
  });
}

inline void rnn_output(const RecurrentGates& g, const float* sums, const float* x, float* y) {
  for_lanes(g.cells, [&](size_t at, PartialLanes lanes) QRT_INLINE_LAMBDA {
    const Floats v = limited(g, get(lanes, sums + at) + get(lanes, x + at));
    put(lanes, y + at, canonical(g.is_relu ? (v > 0.0f ? v : all(0.0f)) : tanh_of(v)));
  });
}

inline void recurrent_stage(RecurrentStage stage, const RecurrentGates& g, const float* sums,
                            const float* x, float* content, float* y) {
  switch (stage) {
    case RecurrentStage::kLstm: return lstm_gates(g, sums, content, y);
    case RecurrentStage::kGruReset: return gru_reset(g, sums, x, y);
    case RecurrentStage::kGruOutput: return gru_output(g, sums, x, y);
    case RecurrentStage::kRnn: return rnn_output(g, sums, x, y);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_RECURRENT_H_

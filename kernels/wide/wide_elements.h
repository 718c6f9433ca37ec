// Elementwise operators of the wide family for vector instruction sets: chunks of a run become
// int32, go through stages, and become the output's type. V: the policy of isa/requantize_tile.h.
// For this family's kernel files only; everything here is local to the including file.
#ifndef QRT_KERNELS_WIDE_WIDE_ELEMENTS_H_
#define QRT_KERNELS_WIDE_WIDE_ELEMENTS_H_

#include <string.h>

#include "kernels/isa/chain.h"
#include "kernels/wide/entry.h"

namespace qrt {
namespace {

inline size_t whole_columns(size_t n) { return (n + kColumns - 1) / kColumns * kColumns; }

// v[i] = (x[i] - zero_point) * 2^left_shift for i < n; 0 up to whole columns.
template <class T>
inline void load_chunk(const T* x, bool is_scalar, size_t n, int32_t zero_point, int32_t left_shift,
                       int32_t* v) {
  const int32_t factor = 1 << left_shift;
  if (is_scalar) {
    for (size_t i = 0; i < n; ++i) v[i] = (*x - zero_point) * factor;
  } else {
    for (size_t i = 0; i < n; ++i) v[i] = (x[i] - zero_point) * factor;
  }
  for (size_t i = n; i < whole_columns(n); ++i) v[i] = 0;
}

// y[i] = clamp(v[i] + zero_point, lo, hi) for types whose limits leave room in int32.
template <class T>
inline void store_chunk(const Requant& r, const int32_t* v, size_t n, T* y) {
  const int32_t lo = r.lo - r.zero_point, hi = r.hi - r.zero_point;
  for (size_t i = 0; i < n; ++i) {
    const int32_t x = v[i] < lo ? lo : v[i] > hi ? hi : v[i];
    y[i] = static_cast<T>(x + r.zero_point);
  }
}
inline void store_chunk(const Requant& r, const int32_t* v, size_t n, int32_t* y) {
  for (size_t i = 0; i < n; ++i) {
    const int64_t x = int64_t{v[i]} + r.zero_point;
    y[i] = static_cast<int32_t>(x < r.lo ? r.lo : x > r.hi ? r.hi : x);
  }
}

// The greatest |x - zero_point| of an int16 x.
inline int64_t reach(int32_t zero_point) {
  return zero_point < 0 ? int64_t{32767} - zero_point : int64_t{zero_point} + 32768;
}

template <class V>
inline void add_16(const AddIntParams& p, const WideRun& run) {
  int64_t a_bound = reach(p.a_zero_point) << p.left_shift;
  int64_t b_bound = reach(p.b_zero_point) << p.left_shift;
  const Chain a_chain(p.a_stages, p.a_stage_count, &a_bound);
  const Chain b_chain(p.b_stages, p.b_stage_count, &b_bound);
  int64_t bound = a_bound + b_bound;
  const Chain stages(p.requant.stages, p.requant.stage_count, &bound);
  alignas(64) int32_t a[kChunk], b[kChunk];
  for (size_t i = 0; i < run.n; i += kChunk) {
    const size_t n = run.n - i < kChunk ? run.n - i : kChunk, padded = whole_columns(n);
    load_chunk(run.a_is_scalar ? run.a : run.a + i, run.a_is_scalar, n, p.a_zero_point,
               p.left_shift, a);
    load_chunk(run.b_is_scalar ? run.b : run.b + i, run.b_is_scalar, n, p.b_zero_point,
               p.left_shift, b);
    a_chain.run<V>(a, padded);
    b_chain.run<V>(b, padded);
    if (p.subtract) {
      for (size_t j = 0; j < padded; ++j) a[j] -= b[j];
    } else {
      for (size_t j = 0; j < padded; ++j) a[j] += b[j];
    }
    stages.run<V>(a, padded);
    store_chunk(p.requant, a, n, run.y + i);
  }
}

template <class V>
inline void mul_16(const WideMulParams& p, const WideRun& run) {
  int64_t bound = reach(p.a_zero_point) * reach(p.b_zero_point);
  const Chain stages(p.requant.stages, p.requant.stage_count, &bound);
  alignas(64) int32_t a[kChunk], b[kChunk];
  for (size_t i = 0; i < run.n; i += kChunk) {
    const size_t n = run.n - i < kChunk ? run.n - i : kChunk, padded = whole_columns(n);
    load_chunk(run.a_is_scalar ? run.a : run.a + i, run.a_is_scalar, n, p.a_zero_point, 0, a);
    load_chunk(run.b_is_scalar ? run.b : run.b + i, run.b_is_scalar, n, p.b_zero_point, 0, b);
    for (size_t j = 0; j < padded; ++j) a[j] *= b[j];
    stages.run<V>(a, padded);
    store_chunk(p.requant, a, n, run.y + i);
  }
}

// One chunk of rescale(): v holds x - zero_point.
template <class V>
class Rescaler {
 public:
  explicit Rescaler(const RescaleParams& p)
      : p_(p),
        bound_(p.bound),
        negative_bound_(p.slopes ? p.bound * 32768 : p.bound),
        stages_(p.requant.stages, p.requant.stage_count, &bound_),
        negative_(p.negative, p.negative_count, &negative_bound_) {}
  Rescaler(const Rescaler&) = delete;

  void run(int32_t* v, size_t n, size_t channel, size_t channels) const {
    const size_t padded = whole_columns(n);
    if (!p_.has_negative) return stages_.run<V>(v, padded);
    alignas(64) int32_t negative[kChunk], source[kChunk];
    memcpy(source, v, padded * sizeof *v);
    if (p_.slopes) {
      for (size_t i = 0; i < padded; ++i, channel = channel + 1 < channels ? channel + 1 : 0)
        negative[i] = v[i] < 0 ? v[i] * p_.slopes[channel] : 0;
    } else {
      for (size_t i = 0; i < padded; ++i) negative[i] = v[i] < 0 ? v[i] : 0;
    }
    stages_.run<V>(v, padded);
    negative_.run<V>(negative, padded);
    if (p_.negate_negative)
      for (size_t i = 0; i < padded; ++i) negative[i] = -negative[i];
    for (size_t i = 0; i < padded; ++i) v[i] = source[i] < 0 ? negative[i] : v[i];
  }

 private:
  const RescaleParams& p_;
  int64_t bound_, negative_bound_;
  Chain stages_, negative_;
};

template <class V, class From, class To>
inline void rescale_elements(const RescaleParams& p, const RescaleRun& run, const From* x, To* y) {
  const Rescaler<V> rescaler(p);
  alignas(64) int32_t v[kChunk];
  size_t channel = run.channel;
  for (size_t i = 0; i < run.n; i += kChunk) {
    const size_t n = run.n - i < kChunk ? run.n - i : kChunk;
    load_chunk(x + i, false, n, p.zero_point, 0, v);
    rescaler.run(v, n, channel, run.channels);
    store_chunk(p.requant, v, n, y + i);
    channel = (channel + n) % run.channels;
  }
}

template <class V, class From>
inline void rescale_from(const RescaleParams& p, const RescaleRun& run, const From* x) {
  switch (run.to) {
    case WideElement::kUInt8: return rescale_elements<V>(p, run, x, static_cast<uint8_t*>(run.y));
    case WideElement::kInt16: return rescale_elements<V>(p, run, x, static_cast<int16_t*>(run.y));
    case WideElement::kInt32: return rescale_elements<V>(p, run, x, static_cast<int32_t*>(run.y));
  }
}

template <class V>
inline void rescale_run(const RescaleParams& p, const RescaleRun& run) {
  switch (run.from) {
    case WideElement::kUInt8: return rescale_from<V>(p, run, static_cast<const uint8_t*>(run.x));
    case WideElement::kInt16: return rescale_from<V>(p, run, static_cast<const int16_t*>(run.x));
    case WideElement::kInt32: return rescale_from<V>(p, run, static_cast<const int32_t*>(run.x));
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_WIDE_WIDE_ELEMENTS_H_

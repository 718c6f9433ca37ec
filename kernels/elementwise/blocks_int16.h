// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of int16, and rescaling between integer types, for vector instruction sets:
// chunks of a run become int32, go through stages, and become the output's type. V: the policy of
// isa/requantize_tile.h. For this family's kernel files only; everything here is local to the
// including file.
#ifndef QRT_KERNELS_ELEMENTWISE_BLOCKS_INT16_H_
#define QRT_KERNELS_ELEMENTWISE_BLOCKS_INT16_H_

#include <string.h>

#include "kernels/elementwise/blocks.h"
#include "kernels/isa/stage_sequence.h"

namespace qrt {
namespace {

inline size_t whole_columns(size_t n) { return (n + kColumns - 1) / kColumns * kColumns; }

// Loads v[i] = (x[i] - zero_point) * 2^left_shift for i < n, and 0 up to whole columns.
template <class T>
inline void load_block(const T* x, bool is_scalar, size_t n, int32_t zero_point, int32_t left_shift,
                       int32_t* __restrict v) {
  const int32_t factor = 1 << left_shift;
  if (is_scalar) {
    for (size_t i = 0; i < n; ++i) v[i] = (*x - zero_point) * factor;
  } else {
    for (size_t i = 0; i < n; ++i) v[i] = (x[i] - zero_point) * factor;
  }
  for (size_t i = n; i < whole_columns(n); ++i) v[i] = 0;
}

// Stores y[i] = clamp(v[i] + zero_point, lo, hi), for types whose limits leave room in int32.
template <class T>
inline void store_block(const Requant& r, const int32_t* v, size_t n, T* __restrict y) {
  const int32_t zero_point = r.zero_point, lo = r.lo - zero_point, hi = r.hi - zero_point;
  for (size_t i = 0; i < n; ++i) {
    const int32_t x = v[i] < lo ? lo : v[i] > hi ? hi : v[i];
    y[i] = static_cast<T>(x + zero_point);
  }
}
inline void store_block(const Requant& r, const int32_t* v, size_t n, int32_t* __restrict y) {
  const int64_t zero_point = r.zero_point, lo = r.lo, hi = r.hi;
  for (size_t i = 0; i < n; ++i) {
    const int64_t x = v[i] + zero_point;
    y[i] = static_cast<int32_t>(x < lo ? lo : x > hi ? hi : x);
  }
}

// Returns the greatest |x - zero_point| of an int16 x.
inline int64_t reach(int32_t zero_point) {
  return zero_point < 0 ? int64_t{32767} - zero_point : int64_t{zero_point} + 32768;
}

template <class V>
inline void add_int16_in_blocks(const AddIntParams& p, const Int16Args& run) {
  int64_t a_bound = reach(p.a_zero_point) << p.left_shift;
  int64_t b_bound = reach(p.b_zero_point) << p.left_shift;
  const StageSequence a_stages(p.a_stages, p.a_stage_count, &a_bound);
  const StageSequence b_stages(p.b_stages, p.b_stage_count, &b_bound);
  int64_t bound = a_bound + b_bound;
  const StageSequence stages(p.requant.stages, p.requant.stage_count, &bound);
  alignas(64) int32_t a[kChunk], b[kChunk];
  for (size_t i = 0; i < run.n; i += kChunk) {
    const size_t n = run.n - i < kChunk ? run.n - i : kChunk, padded = whole_columns(n);
    load_block(run.a_is_scalar ? run.a : run.a + i, run.a_is_scalar, n, p.a_zero_point,
               p.left_shift, a);
    load_block(run.b_is_scalar ? run.b : run.b + i, run.b_is_scalar, n, p.b_zero_point,
               p.left_shift, b);
    a_stages.run<V>(a, padded);
    b_stages.run<V>(b, padded);
    if (p.subtract) {
      for (size_t j = 0; j < padded; ++j) a[j] -= b[j];
    } else {
      for (size_t j = 0; j < padded; ++j) a[j] += b[j];
    }
    stages.run<V>(a, padded);
    store_block(p.requant, a, n, run.y + i);
  }
}

template <class V>
inline void mul_int16_in_blocks(const MulParams& p, const Int16Args& run) {
  int64_t bound = reach(p.a_zero_point) * reach(p.b_zero_point);
  const StageSequence stages(p.requant.stages, p.requant.stage_count, &bound);
  alignas(64) int32_t a[kChunk], b[kChunk];
  for (size_t i = 0; i < run.n; i += kChunk) {
    const size_t n = run.n - i < kChunk ? run.n - i : kChunk, padded = whole_columns(n);
    load_block(run.a_is_scalar ? run.a : run.a + i, run.a_is_scalar, n, p.a_zero_point, 0, a);
    load_block(run.b_is_scalar ? run.b : run.b + i, run.b_is_scalar, n, p.b_zero_point, 0, b);
    for (size_t j = 0; j < padded; ++j) a[j] *= b[j];
    stages.run<V>(a, padded);
    store_block(p.requant, a, n, run.y + i);
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
  StageSequence stages_, negative_;
};

// Elements begin .. begin + n - 1 of a run to v, and v to them: one function for each type, called
// once a chunk, so that the stages are not instantiated for every pair of types.
using LoadElements = void (*)(const RescaleParams& p, const void* x, size_t begin, size_t n,
                              int32_t* v);
using StoreElements = void (*)(const RescaleParams& p, const int32_t* v, void* y, size_t begin,
                               size_t n);

template <class T>
void load_elements(const RescaleParams& p, const void* x, size_t begin, size_t n, int32_t* v) {
  load_block(static_cast<const T*>(x) + begin, false, n, p.zero_point, 0, v);
}
template <class T>
void store_elements(const RescaleParams& p, const int32_t* v, void* y, size_t begin, size_t n) {
  store_block(p.requant, v, n, static_cast<T*>(y) + begin);
}

inline LoadElements load_elements_of(DType type) {
  return type == DType::kUInt8   ? load_elements<uint8_t>
         : type == DType::kInt16 ? load_elements<int16_t>
                                 : load_elements<int32_t>;
}
inline StoreElements store_elements_of(DType type) {
  return type == DType::kUInt8   ? store_elements<uint8_t>
         : type == DType::kInt16 ? store_elements<int16_t>
                                 : store_elements<int32_t>;
}

template <class V>
inline void rescale_in_blocks(const RescaleParams& p, const RescaleArgs& run) {
  const Rescaler<V> rescaler(p);
  const LoadElements load = load_elements_of(run.from);
  const StoreElements store = store_elements_of(run.to);
  alignas(64) int32_t v[kChunk];
  size_t channel = run.channel;
  for (size_t i = 0; i < run.n; i += kChunk) {
    const size_t n = run.n - i < kChunk ? run.n - i : kChunk;
    load(p, run.x, i, n, v);
    rescaler.run(v, n, channel, run.channels);
    store(p, v, run.y, i, n);
    channel = (channel + n) % run.channels;
  }
}

}  // namespace
}  // namespace qrt

// The entry points of a row that compute in integers, by its policy of isa/requantize_tile.h.
#define QRT_ELEMENTWISE_INTEGERS(suffix, Lanes)                                               \
  void elementwise_add_int_##suffix(const AddIntParams& params, const ElementwiseArgs& run) { \
    add_in_blocks<Lanes>(params, AddStages(params), run);                                     \
  }                                                                                           \
  void elementwise_add_int16_##suffix(const AddIntParams& params, const Int16Args& run) {     \
    add_int16_in_blocks<Lanes>(params, run);                                                  \
  }                                                                                           \
  void elementwise_mul_int16_##suffix(const MulParams& params, const Int16Args& run) {        \
    mul_int16_in_blocks<Lanes>(params, run);                                                  \
  }                                                                                           \
  void elementwise_rescale_##suffix(const RescaleParams& params, const RescaleArgs& run) {    \
    rescale_in_blocks<Lanes>(params, run);                                                    \
  }

#endif  // QRT_KERNELS_ELEMENTWISE_BLOCKS_INT16_H_

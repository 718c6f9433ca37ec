// SPDX-License-Identifier: Apache-2.0
// The kernels of the nbits family over the compiler's vectors (float_fallback/lanes.h) and a Policy, which has
//
//   dot(acc, u, q)     acc[i] += sum over j < 4 of byte j of u[i] * byte j of q, of which u's are 0..15 and q's int8
//   dot8(acc, u, q)    the same of bytes u of 0..255, less 128 where kLess128
//
// For kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_NBITS_LOOPS_H_
#define QRT_KERNELS_NBITS_LOOPS_H_

#include "kernels/float_fallback/lanes.h"
#include "kernels/nbits/entry.h"

namespace qrt {
namespace {

typedef uint8_t LaneBytes __attribute__((vector_size(QRT_FLOAT_LANES)));
typedef int8_t SignedLaneBytes __attribute__((vector_size(QRT_FLOAT_LANES)));

template <class T>
QRT_INLINE T load_as(const void* p) {
  T v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
QRT_INLINE Ints all_ints(int32_t v) { return v - Ints{}; }
QRT_INLINE Floats to_floats(Ints v) { return __builtin_convertvector(v, Floats); }
QRT_INLINE Ints widened(const uint8_t* p) {
  return __builtin_convertvector(load_as<LaneBytes>(p), Ints);
}

// A vector of kCount int32. Longer vectors are reduced by halves to shorter ones.
template <size_t kCount>
struct IntVector {
  typedef int32_t Type __attribute__((vector_size(4 * kCount)));
};
// Reduces all lanes of v to one by join(a, b), which joins two vectors lane by lane.
template <size_t kCount, class Join>
QRT_INLINE int32_t joined(typename IntVector<kCount>::Type v, const Join& join) {
  if constexpr (kCount == 2) {
    return join(v, typename IntVector<2>::Type{v[1], v[0]})[0];
  } else {
    typename IntVector<kCount / 2>::Type low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return joined<kCount / 2>(join(low, high), join);
  }
}

// Quantises a whole block of `count` elements, a multiple of 16.
inline void quantize_block(const float* x, size_t count, int8_t* q, float* scale, int32_t* sum) {
  // The bits of magnitudes, taken as integers, are ordered as the magnitudes, with infinity and NaN
  // above all others.
  Ints sizes = {};
  for (size_t i = 0; i < count; i += kLanes) {
    const Ints size = load_as<Ints>(x + i) & INT32_MAX;
    sizes = size > sizes ? size : sizes;
  }
  const float most = from_bits(
      static_cast<uint32_t>(joined<kLanes>(sizes, [](auto a, auto b) { return a > b ? a : b; })));
  const bool is_finite = most < infinity();
  const float inverse = 127.0f / most;
  *sum = 0;
  if (!is_finite || !(inverse < infinity())) {
    *scale = is_finite ? 0.0f : not_a_number();
    for (size_t i = 0; i < count; ++i) q[i] = 0;
    return;
  }
  *scale = most / 127.0f;
  // Adding 1.5 * 2^23 rounds to an integer, half to even, and leaves it in the low bits.
  constexpr float kMagic = 12582912.0f;
  const int32_t magic = static_cast<int32_t>(bits_of(kMagic));
  Ints sums = {};
  for (size_t i = 0; i < count; i += kLanes) {
    const Floats rounded = load(x + i) * inverse + kMagic;
    const Ints v = load_as<Ints>(&rounded) - magic;
    sums = sums + v;
    const SignedLaneBytes bytes = __builtin_convertvector(v, SignedLaneBytes);
    __builtin_memcpy(q + i, &bytes, sizeof bytes);
  }
  *sum = joined<kLanes>(sums, [](auto a, auto b) { return a + b; });
}

// Returns the default zero point of codes of `bits` bits, less what dot8() subtracts from codes.
template <class Policy>
QRT_INLINE int32_t middle(size_t bits) {
  return (1 << (bits - 1)) - (bits == 8 && Policy::kLess128 ? 128 : 0);
}

template <class Policy>
inline void quantize_rows(const NBitsWeights& w, const float* x, size_t rows, int8_t* q,
                          float* scales, int32_t* sums) {
  const size_t whole = w.k / w.block, rest = w.k % w.block;
  const int32_t times = w.zero_points != nullptr ? -1 : -middle<Policy>(w.bits);
  for (size_t r = 0; r < rows; ++r, x += w.k) {
    for (size_t b = 0; b < w.blocks; ++b, q += w.block, ++scales, ++sums) {
      if (b < whole) {
        quantize_block(x + b * w.block, w.block, q, scales, sums);
      } else {
        float last[kNBitsMostBlock] = {};
        __builtin_memcpy(last, x + b * w.block, rest * sizeof(float));
        quantize_block(last, w.block, q, scales, sums);
      }
      *sums *= times;
    }
  }
}

// Adds the bias to the sums of a row, and stores them from column `column` on.
template <int NV>
QRT_INLINE void end_row(const NBitsWeights& w, size_t column, const Floats (&acc)[NV], float* y) {
  const size_t left = column < w.n ? w.n - column : 0;
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) {
    const size_t at = static_cast<size_t>(v) * kLanes;
    if (at >= left) return;
    if (left - at >= kLanes) {
      const Floats sum = w.bias != nullptr ? acc[v] + load(w.bias + column + at) : acc[v];
      save(y + column + at, canonical(sum));
    } else {
      float lanes[kLanes];
      save(lanes, acc[v]);
      for (size_t i = 0; i < left - at; ++i)
        y[column + at + i] =
            canonical(w.bias != nullptr ? lanes[i] + w.bias[column + at + i] : lanes[i]);
    }
  }
}

// Elements by which weights and scales are prefetched. A single row reads weights as fast as memory
// provides them, and this makes it a quarter faster, since the hardware's own prefetch ends with a
// page. Addresses behind the last panel do no harm.
constexpr size_t kWeightsAhead = 2048, kScalesAhead = 8 * kNBitsPanel;

// Computes MR rows by NV vectors of the panel's outputs, from output `first` of the panel on.
template <class Policy, int kBits, int MR, int NV>
QRT_INLINE void product_tile(const NBitsWeights& w, const NBitsRows& x, size_t panel, size_t first,
                             float* y) {
  constexpr int kGroups = 8 / kBits;
  constexpr auto kMask = static_cast<int32_t>(((1u << kBits) - 1) * 0x01010101u);
  constexpr int32_t kLess = kBits == 8 && Policy::kLess128 ? 128 : 0;
  const size_t stride = w.blocks * w.block, lines = w.block * kBits / 32;
  const uint8_t* line = w.w + panel * w.blocks * w.block * kBits * 2 + 4 * first;
  const float* scale = w.scales + panel * w.blocks * kNBitsPanel + first;
  const uint8_t* zero_point =
      w.zero_points != nullptr ? w.zero_points + panel * w.blocks * kNBitsPanel + first : nullptr;
  const int8_t* q = x.q;
  Floats acc[MR][NV] = {};
  for (size_t b = 0; b < w.blocks; ++b) {
    if (MR == 1) __builtin_prefetch(scale + kScalesAhead);
    Ints dot[MR][NV];
    QRT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const int32_t less = x.sums[static_cast<size_t>(r) * w.blocks + b];
      QRT_UNROLL
      for (int v = 0; v < NV; ++v)
        dot[r][v] = zero_point != nullptr
                        ? (widened(zero_point + static_cast<size_t>(v) * kLanes) - kLess) * less
                        : all_ints(less);
    }
    for (size_t i = 0; i < lines; ++i, line += kNBitsLine) {
      if (MR == 1) __builtin_prefetch(line + kWeightsAhead);
      Ints packed[NV];
      QRT_UNROLL
      for (int v = 0; v < NV; ++v)
        packed[v] = load_as<Ints>(line + static_cast<size_t>(v) * kLanes * 4);
      QRT_UNROLL
      for (int g = 0; g < kGroups; ++g, q += 4) {
        Ints u[NV];
        QRT_UNROLL
        for (int v = 0; v < NV; ++v)
          u[v] = kBits == 8 ? packed[v] : (packed[v] >> (kBits * g)) & kMask;
        QRT_UNROLL
        for (int r = 0; r < MR; ++r) {
          const int32_t four = load_as<int32_t>(q + static_cast<size_t>(r) * stride);
          QRT_UNROLL
          for (int v = 0; v < NV; ++v) {
            if (kBits == 8)
              Policy::dot8(dot[r][v], u[v], four);
            else
              Policy::dot(dot[r][v], u[v], four);
          }
        }
      }
    }
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Floats w_scale = load(scale + static_cast<size_t>(v) * kLanes);
      QRT_UNROLL
      for (int r = 0; r < MR; ++r) {
        const Floats both = w_scale * x.scales[static_cast<size_t>(r) * w.blocks + b];
        acc[r][v] = acc[r][v] + to_floats(dot[r][v]) * both;
      }
    }
    scale += kNBitsPanel;
    if (zero_point != nullptr) zero_point += kNBitsPanel;
  }
  QRT_UNROLL
  for (int r = 0; r < MR; ++r)
    end_row(w, panel * kNBitsPanel + first, acc[r], y + static_cast<size_t>(r) * w.n);
}

template <int kBits, int MR, int NV>
QRT_INLINE void float_tile(const NBitsWeights& w, const float* x, size_t panel, size_t first,
                           float* y) {
  constexpr int kGroups = 8 / kBits;
  const size_t lines = w.block * kBits / 32;
  const uint8_t* line = w.w + panel * w.blocks * w.block * kBits * 2 + 4 * first;
  const float* scale = w.scales + panel * w.blocks * kNBitsPanel + first;
  const uint8_t* zero_point =
      w.zero_points != nullptr ? w.zero_points + panel * w.blocks * kNBitsPanel + first : nullptr;
  Floats acc[MR][NV] = {};
  size_t k = 0;
  for (size_t b = 0; b < w.blocks; ++b) {
    Ints zero[NV];
    Floats w_scale[NV];
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) {
      w_scale[v] = load(scale + static_cast<size_t>(v) * kLanes);
      zero[v] = zero_point != nullptr ? widened(zero_point + static_cast<size_t>(v) * kLanes)
                                      : all_ints(1 << (kBits - 1));
    }
    Floats sum[MR][NV] = {};
    for (size_t i = 0; i < lines; ++i, line += kNBitsLine) {
      if (MR == 1) __builtin_prefetch(line + kWeightsAhead);
      for (int at = 0; at < 4 * kGroups && k < w.k; ++at, ++k) {
        const int shift = at % 4 * 8 + at / 4 * kBits;
        Floats real[NV];
        QRT_UNROLL
        for (int v = 0; v < NV; ++v) {
          const Ints u = (load_as<Ints>(line + static_cast<size_t>(v) * kLanes * 4) >> shift) &
                         ((1 << kBits) - 1);
          real[v] = to_floats(u - zero[v]) * w_scale[v];
        }
        QRT_UNROLL
        for (int r = 0; r < MR; ++r) {
          const Floats splat = all(x[static_cast<size_t>(r) * w.k + k]);
          QRT_UNROLL
          for (int v = 0; v < NV; ++v) sum[r][v] = fused_lanes(splat, real[v], sum[r][v]);
        }
      }
    }
    QRT_UNROLL
    for (int r = 0; r < MR; ++r) {
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) acc[r][v] = acc[r][v] + sum[r][v];
    }
    scale += kNBitsPanel;
    if (zero_point != nullptr) zero_point += kNBitsPanel;
  }
  QRT_UNROLL
  for (int r = 0; r < MR; ++r)
    end_row(w, panel * kNBitsPanel + first, acc[r], y + static_cast<size_t>(r) * w.n);
}

constexpr int kVectors = static_cast<int>(kNBitsPanel / kLanes);

template <class Policy, int kBits, int MR, int NV>
inline void product_rows(const NBitsWeights& w, const NBitsRows& x, size_t panel, float* y) {
  for (size_t first = 0; first < kNBitsPanel; first += NV * kLanes)
    product_tile<Policy, kBits, MR, NV>(w, x, panel, first, y);
}

template <class Policy, int kBits, int MR, int NV>
inline void products(const NBitsWeights& w, NBitsRows x, size_t rows, size_t panel, float* y) {
  const auto skip = [&](size_t count) {
    x.q += count * w.blocks * w.block;
    x.scales += count * w.blocks;
    x.sums += count * w.blocks;
    y += count * w.n;
  };
  for (; rows >= MR; rows -= MR) {
    product_rows<Policy, kBits, MR, NV>(w, x, panel, y);
    skip(MR);
  }
  for (; rows >= 2; rows -= 2) {
    product_rows<Policy, kBits, 2, NV>(w, x, panel, y);
    skip(2);
  }
  if (rows > 0) product_rows<Policy, kBits, 1, kVectors>(w, x, panel, y);
}

template <int kBits, int MR, int NV>
inline void float_products(const NBitsWeights& w, const float* x, size_t rows, size_t panel,
                           float* y) {
  for (; rows >= MR; rows -= MR, x += MR * w.k, y += MR * w.n)
    for (size_t first = 0; first < kNBitsPanel; first += NV * kLanes)
      float_tile<kBits, MR, NV>(w, x, panel, first, y);
  for (; rows > 0; --rows, x += w.k, y += w.n) float_tile<kBits, 1, kVectors>(w, x, panel, 0, y);
}

}  // namespace

// Defines an instruction set's kernels except integer products. Float products have tiles of MR
// rows by NV vectors.
#define QRT_NBITS_OTHERS(suffix, Policy, MR, NV)                                              \
  void nbits_quantize_##suffix(const NBitsWeights& w, const float* x, size_t rows, int8_t* q, \
                               float* scales, int32_t* sums) {                                \
    quantize_rows<Policy>(w, x, rows, q, scales, sums);                                       \
  }                                                                                           \
  void nbits_float_product_##suffix(const NBitsWeights& w, const float* x, size_t rows,       \
                                    size_t panel, float* y) {                                 \
    if (w.bits == 4) return float_products<4, MR, NV>(w, x, rows, panel, y);                  \
    if (w.bits == 8) return float_products<8, MR, NV>(w, x, rows, panel, y);                  \
    float_products<2, MR, NV>(w, x, rows, panel, y);                                          \
  }

// Defines all kernels of an instruction set, with tiles of MR rows by NV vectors.
#define QRT_NBITS_ROW(suffix, Policy, MR, NV)                                         \
  QRT_NBITS_OTHERS(suffix, Policy, MR, NV)                                            \
  void nbits_product_##suffix(const NBitsWeights& w, const NBitsRows& x, size_t rows, \
                              size_t panel, float* y) {                               \
    if (w.bits == 4) return products<Policy, 4, MR, NV>(w, x, rows, panel, y);        \
    if (w.bits == 8) return products<Policy, 8, MR, NV>(w, x, rows, panel, y);        \
    products<Policy, 2, MR, NV>(w, x, rows, panel, y);                                \
  }

}  // namespace qrt

#endif  // QRT_KERNELS_NBITS_LOOPS_H_

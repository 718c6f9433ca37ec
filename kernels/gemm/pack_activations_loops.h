// The packing of a computed right side, written once for all vector sets. A policy V has registers of
// kLanes lanes of 16 bytes:
//
//   Part                       of a row's bytes the first n; of the rest reads give 128, the byte that
//                              packs to 0
//   load(p, part)              kLanes * 16 bytes
//   load_lanes(p, stride, lanes, part)
//                              16 bytes from p, p + stride ...: lane by lane, of the first `lanes`
//   missing()                  bytes of 128
//   low8, high8, low16, high16, low32, high32, low64, high64
//                              zips within the lanes
//   to_blocks(quads)           the lanes of four registers, by lanes: lane 0 of each, lane 1 of each ...
//   signs(v)                   every byte less 128
//   Sums: add(v), store(p)     of each four signed bytes
//
// Everything here is in an anonymous namespace: the object files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_PACK_ACTIVATIONS_LOOPS_H_
#define QRT_KERNELS_GEMM_PACK_ACTIVATIONS_LOOPS_H_

#include "kernels/gemm/pack_activations.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4, kWeightBlock = kBlock * kGroup, kLaneBytes = 16;

// Rows of k: 4 of them, of as many channels as a register has bytes.
template <class V>
QRT_INLINE void pack_rows(const ActivationPack& p, size_t j, size_t channels, size_t block_bytes) {
  using Bytes = typename V::Bytes;
  const typename V::Part part(channels);
  const size_t blocks = (channels + kBlock - 1) / kBlock;
  typename V::Sums sums[4];
  int8_t* to = p.packed + j / kBlock * block_bytes;
  const uint8_t* b = p.b + j;
  for (size_t i = 0; i < p.k; i += kGroup, b += kGroup * p.stride, to += kWeightBlock) {
    const size_t rows = p.k - i;
    const Bytes v0 = V::load(b, part),
                v1 = rows > 1 ? V::load(b + p.stride, part) : V::missing(),
                v2 = rows > 2 ? V::load(b + 2 * p.stride, part) : V::missing(),
                v3 = rows > 3 ? V::load(b + 3 * p.stride, part) : V::missing();
    const Bytes l01 = V::low8(v0, v1), l23 = V::low8(v2, v3), h01 = V::high8(v0, v1),
                h23 = V::high8(v2, v3);
    Bytes quads[4] = {V::low16(l01, l23), V::high16(l01, l23), V::low16(h01, h23),
                      V::high16(h01, h23)};
    V::to_blocks(quads);
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) {
      const size_t lane = q * V::kLanes;
      if (lane / 4 >= blocks) break;
      const Bytes weights = V::signs(quads[q]);
      sums[q].add(weights);
      V::store(to + lane / 4 * block_bytes + lane % 4 * kLaneBytes, weights);
    }
  }
  QRT_UNROLL
  for (size_t q = 0; q < 4; ++q) {
    const size_t lane = q * V::kLanes;
    if (lane / 4 < blocks) sums[q].store(p.sum + j + lane * 4);
  }
}

// Rows of channels: 16 of them, 16 k at a time, of every register as many as it has lanes, 4 apart.
template <class V>
QRT_INLINE void pack_channels(const ActivationPack& p, size_t j, size_t channels,
                              size_t block_bytes) {
  using Bytes = typename V::Bytes;
  constexpr size_t kParts = 4 / V::kLanes, kChannels = 4 * V::kLanes;
  typename V::Sums sums[kParts];
  int8_t* to = p.packed + j / kBlock * block_bytes;
  const uint8_t* b = p.b + j * p.stride;
  for (size_t i = 0; i < p.k; i += kLaneBytes, b += kLaneBytes, to += 4 * kWeightBlock) {
    const size_t bytes = p.k - i < kLaneBytes ? p.k - i : kLaneBytes;
    const typename V::LanePart part(bytes);
    QRT_UNROLL
    for (size_t h = 0; h < kParts; ++h) {
      Bytes v[4];
      QRT_UNROLL
      for (size_t r = 0; r < 4; ++r) {
        const size_t first = h * kChannels + r;
        const size_t lanes = first < channels ? (channels - first + 3) / 4 : 0;
        v[r] = V::load_lanes(b + first * p.stride, 4 * p.stride, lanes, part);
      }
      const Bytes l01 = V::low32(v[0], v[1]), l23 = V::low32(v[2], v[3]),
                  h01 = V::high32(v[0], v[1]), h23 = V::high32(v[2], v[3]);
      const Bytes groups[4] = {V::low64(l01, l23), V::high64(l01, l23), V::low64(h01, h23),
                               V::high64(h01, h23)};
      QRT_UNROLL
      for (size_t g = 0; g < 4; ++g) {
        if (g * kGroup >= bytes) break;
        const Bytes weights = V::signs(groups[g]);
        sums[h].add(weights);
        V::store(to + g * kWeightBlock + h * kChannels * kGroup, weights);
      }
    }
  }
  QRT_UNROLL
  for (size_t h = 0; h < kParts; ++h) sums[h].store(p.sum + j + h * kChannels);
}

template <class V>
QRT_INLINE void pack_activations_of(const ActivationPack& p, size_t begin, size_t end) {
  const size_t tail = activation_tail_bytes(p.k, p.zero_point);
  const size_t kc = (p.k + kGroup - 1) / kGroup * kGroup, block_bytes = (kc + tail) * kBlock;
  const size_t most = p.transposed ? kBlock : V::kLanes * kLaneBytes;
  for (size_t j = begin; j < end; j += most) {
    const size_t channels = end - j < most ? end - j : most;
    if (p.transposed)
      pack_channels<V>(p, j, channels, block_bytes);
    else
      pack_rows<V>(p, j, channels, block_bytes);
  }
  const uint32_t moved = static_cast<uint32_t>(p.k) * static_cast<uint32_t>(128 - p.zero_point);
  for (size_t j = begin; j < end; ++j) p.sum[j] += moved;
  for (size_t j = begin; tail > 0 && j < end; j += kBlock)
    write_tail_weights(p.zero_point, tail, end - j < kBlock ? end - j : kBlock,
                       p.packed + j / kBlock * block_bytes + kc * kBlock);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PACK_ACTIVATIONS_LOOPS_H_

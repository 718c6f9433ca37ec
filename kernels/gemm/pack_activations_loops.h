// SPDX-License-Identifier: Apache-2.0
// The packing of a computed right side, written once for all vector sets. A policy V has registers of
// kLanes lanes of 16 bytes:
//
//   Partial, PartialLanes             of kLanes * 16 bytes and of 16 the first n; for the rest loads give 128, the
//                              byte that packs to 0
//   load(p, part)              kLanes * 16 bytes
//   load_lanes(p, stride), load_lanes(p, stride, lanes, part)
//                              16 bytes from p, p + stride ...: lane by lane; of the first `lanes`
//   missing()                  bytes of 128
//   low8, high8, low16, high16, low32, high32, low64, high64
//                              zips within the lanes
//   to_blocks(quads)           the lanes of four registers, by lanes: lane 0 of each, lane 1 of each ...
//   signs(v)                   every byte less 128
//   Sums: add(v), store(factor, addend, p)
//                              of each four signed bytes; factor times them, plus addend, modulo 2^32
//
// Everything here is in an anonymous namespace: the object files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_PACK_ACTIVATIONS_LOOPS_H_
#define QRT_KERNELS_GEMM_PACK_ACTIVATIONS_LOOPS_H_

#include "kernels/gemm/pack_activations.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4, kWeightBlock = kBlock * kGroup, kLaneBytes = 16;

// The arguments of packing, copied: stores of bytes may change what a reference refers to.
struct Packing {
  const uint8_t* b;  // b at the first channel
  size_t stride, k, channels, block_bytes;
  int8_t* to;
  // A channel's bias is factor times its sum of bytes less 128, plus addend.
  uint32_t factor, addend;
  int32_t* bias;
};

// Rows of k: 4 of them, of as many channels as a register has bytes.
template <class V>
QRT_INLINE void pack_rows(const Packing p) {
  using Bytes = typename V::Bytes;
  const typename V::Partial part(p.channels);
  const size_t blocks = (p.channels + kBlock - 1) / kBlock;
  const uint8_t* b = p.b;
  int8_t* to = p.to;
  typename V::Sums sums[4];
  const auto load = [&](size_t row) QRT_INLINE_LAMBDA { return V::load(b + row * p.stride, part); };
  const auto pack = [&](Bytes v0, Bytes v1, Bytes v2, Bytes v3) QRT_INLINE_LAMBDA {
    const Bytes l01 = V::low8(v0, v1), l23 = V::low8(v2, v3), h01 = V::high8(v0, v1),
                h23 = V::high8(v2, v3);
    Bytes quads[4] = {V::low16(l01, l23), V::high16(l01, l23), V::low16(h01, h23),
                      V::high16(h01, h23)};
    V::to_blocks(quads);
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) {
      const size_t lane = q * V::kLanes;
      const Bytes weights = V::signs(quads[q]);
      sums[q].add(weights);
      if (lane / 4 < blocks)
        V::store(to + lane / 4 * p.block_bytes + lane % 4 * kLaneBytes, weights);
    }
    b += kGroup * p.stride;
    to += kWeightBlock;
  };
  size_t left = p.k;
  for (; left >= kGroup; left -= kGroup) pack(load(0), load(1), load(2), load(3));
  if (left > 0)
    pack(load(0), left > 1 ? load(1) : V::missing(), left > 2 ? load(2) : V::missing(),
         V::missing());
  QRT_UNROLL
  for (size_t q = 0; q < 4; ++q) {
    const size_t lane = q * V::kLanes;
    if (lane / 4 < blocks) sums[q].store(p.factor, p.addend, p.bias + lane * 4);
  }
}

// Rows of channels: 16 of them, 16 k at a time, of every register as many as it has lanes, 4 apart.
template <class V>
QRT_INLINE void pack_channels(const Packing p) {
  using Bytes = typename V::Bytes;
  constexpr size_t kParts = 4 / V::kLanes, kChannels = 4 * V::kLanes;
  typename V::Sums sums[kParts];
  const uint8_t* b = p.b;
  int8_t* to = p.to;
  const auto pack = [&](size_t bytes, const auto& load) QRT_INLINE_LAMBDA {
    QRT_UNROLL
    for (size_t h = 0; h < kParts; ++h) {
      const Bytes v0 = load(h * kChannels), v1 = load(h * kChannels + 1),
                  v2 = load(h * kChannels + 2), v3 = load(h * kChannels + 3);
      const Bytes l01 = V::low32(v0, v1), l23 = V::low32(v2, v3), h01 = V::high32(v0, v1),
                  h23 = V::high32(v2, v3);
      const Bytes groups[4] = {V::low64(l01, l23), V::high64(l01, l23), V::low64(h01, h23),
                               V::high64(h01, h23)};
      QRT_UNROLL
      for (size_t g = 0; g < 4; ++g) {
        const Bytes weights = V::signs(groups[g]);
        sums[h].add(weights);
        if (g * kGroup < bytes) V::store(to + g * kWeightBlock + h * kChannels * kGroup, weights);
      }
    }
    b += kLaneBytes;
    to += 4 * kWeightBlock;
  };
  size_t left = p.k;
  if (p.channels == kBlock) {
    for (; left >= kLaneBytes; left -= kLaneBytes) {
      pack(kLaneBytes, [&](size_t channel) QRT_INLINE_LAMBDA {
        return V::load_lanes(b + channel * p.stride, 4 * p.stride);
      });
    }
  }
  while (left > 0) {
    const size_t bytes = left < kLaneBytes ? left : kLaneBytes;
    const typename V::PartialLanes part(bytes);
    pack(bytes, [&](size_t channel) QRT_INLINE_LAMBDA {
      if (channel >= p.channels) return V::missing();
      return V::load_lanes(b + channel * p.stride, 4 * p.stride, (p.channels - channel + 3) / 4,
                           part);
    });
    left -= bytes;
  }
  QRT_UNROLL
  for (size_t h = 0; h < kParts; ++h) sums[h].store(p.factor, p.addend, p.bias + h * kChannels);
}

template <class V>
QRT_INLINE void pack_activations_of(const ActivationPack& p, size_t begin, size_t end) {
  constexpr size_t kRowChannels = V::kLanes * kBlock;
  const size_t tail = activation_tail_bytes(p.k, p.zero_point);
  const size_t kc = (p.k + kGroup - 1) / kGroup * kGroup, block_bytes = (kc + tail) * kBlock;
  const size_t most = p.transposed ? kBlock : kRowChannels;
  const uint32_t missing = static_cast<uint32_t>(p.k) * static_cast<uint32_t>(128 - p.zero_point);
  for (size_t j = begin; j < end; j += most) {
    const Packing part = {p.b + j * (p.transposed ? p.stride : 1),
                          p.stride,
                          p.k,
                          end - j < most ? end - j : most,
                          block_bytes,
                          p.packed + j / kBlock * block_bytes,
                          p.factor,
                          p.factor * missing + p.addend,
                          p.bias + j};
    if (p.transposed)
      pack_channels<V>(part);
    else
      pack_rows<V>(part);
  }
  for (size_t j = begin; tail > 0 && j < end; j += kBlock)
    write_tail_weights(p.zero_point, tail, end - j < kBlock ? end - j : kBlock,
                       p.packed + j / kBlock * block_bytes + kc * kBlock);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PACK_ACTIVATIONS_LOOPS_H_

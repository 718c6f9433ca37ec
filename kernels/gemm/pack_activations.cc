// A computed right side into the packed form of gemm.h; see pack_activations.h.
#include "kernels/gemm/pack_activations.h"

#include <string.h>

#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4, kWeightBlock = kBlock * kGroup, kLine = 16;

typedef uint8_t Bytes __attribute__((vector_size(kLine)));
typedef uint16_t Halves __attribute__((vector_size(kLine)));
typedef uint32_t Words __attribute__((vector_size(kLine)));

// 4 k of 16 channels in the order of a weight block, 4 channels a vector.
struct Block {
  Words quads[4];
};

QRT_INLINE Bytes load(const uint8_t* p) {
  Bytes v;
  memcpy(&v, p, sizeof v);
  return v;
}

// 4 rows of k of 16 channels each.
QRT_INLINE Block from_rows(const uint8_t* p, size_t stride) {
  const Bytes v0 = load(p), v1 = load(p + stride), v2 = load(p + 2 * stride),
              v3 = load(p + 3 * stride);
  const auto low = [](Bytes a, Bytes b) QRT_INLINE_LAMBDA {
    return reinterpret_cast<Halves>(
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  };
  const auto high = [](Bytes a, Bytes b) QRT_INLINE_LAMBDA {
    return reinterpret_cast<Halves>(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                            28, 13, 29, 14, 30, 15, 31));
  };
  const Halves l01 = low(v0, v1), l23 = low(v2, v3), h01 = high(v0, v1), h23 = high(v2, v3);
  return {{reinterpret_cast<Words>(__builtin_shufflevector(l01, l23, 0, 8, 1, 9, 2, 10, 3, 11)),
           reinterpret_cast<Words>(__builtin_shufflevector(l01, l23, 4, 12, 5, 13, 6, 14, 7, 15)),
           reinterpret_cast<Words>(__builtin_shufflevector(h01, h23, 0, 8, 1, 9, 2, 10, 3, 11)),
           reinterpret_cast<Words>(__builtin_shufflevector(h01, h23, 4, 12, 5, 13, 6, 14, 7, 15))}};
}

// 16 k of 16 channels, `stride` from channel to channel: four blocks.
QRT_INLINE void from_channels(const uint8_t* p, size_t stride, Block (&blocks)[4]) {
  QRT_UNROLL
  for (int q = 0; q < 4; ++q, p += 4 * stride) {
    const Words a = reinterpret_cast<Words>(load(p)), b = reinterpret_cast<Words>(load(p + stride)),
                c = reinterpret_cast<Words>(load(p + 2 * stride)),
                d = reinterpret_cast<Words>(load(p + 3 * stride));
    const Words ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    blocks[0].quads[q] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    blocks[1].quads[q] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    blocks[2].quads[q] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    blocks[3].quads[q] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
  }
}

// Writes blocks and sums up their bytes by channel.
class Writer {
 public:
  Writer(int8_t* to, uint32_t* sum) : to_(to), sum_(sum) {}

  // `flip`: 0x80 where there is a byte, 0 where there is none.
  __attribute__((always_inline)) void write(const Block& block, const Block& flip) {
    if (pending_ == kMaxPending) flush();
    ++pending_;
    QRT_UNROLL
    for (int q = 0; q < 4; ++q) {
      const Halves v = reinterpret_cast<Halves>(block.quads[q]);
      halves_[q] += (v & 0xff) + (v >> 8);
      const Words weights = block.quads[q] ^ flip.quads[q];
      memcpy(to_ + q * kLine, &weights, sizeof weights);
    }
    to_ += kWeightBlock;
  }
  void flush() {
    for (size_t c = 0; c < kBlock; ++c)
      sum_[c] += uint32_t{halves_[c / 4][c % 4 * 2]} + halves_[c / 4][c % 4 * 2 + 1];
    for (Halves& h : halves_) h = Halves{};
    pending_ = 0;
  }
  int8_t* position() const { return to_; }

 private:
  static constexpr size_t kMaxPending = 65535 / (2 * 255);  // of 510 in 16 bits

  int8_t* to_;
  uint32_t* sum_;
  Halves halves_[4] = {};
  size_t pending_ = 0;
};

constexpr Words kFlip = {0x80808080u, 0x80808080u, 0x80808080u, 0x80808080u};
constexpr Block kFlipAll = {{kFlip, kFlip, kFlip, kFlip}};

// Up to 4 rows of up to 16 channels; the rest is absent.
Block some_rows(const uint8_t* b, size_t stride, size_t rows, size_t channels, Block* flip) {
  uint8_t bytes[kGroup][kBlock] = {}, flips[kGroup][kBlock] = {};
  for (size_t r = 0; r < rows; ++r) {
    memcpy(bytes[r], b + r * stride, channels);
    memset(flips[r], 128, channels);
  }
  *flip = from_rows(flips[0], kBlock);
  return from_rows(bytes[0], kBlock);
}

void pack_rows(const ActivationPack& p, size_t j, size_t channels, Writer* writer) {
  const uint8_t* b = p.b + j;
  for (size_t i = 0; i < p.k; i += kGroup, b += kGroup * p.stride) {
    if (channels == kBlock && p.k - i >= kGroup) {
      writer->write(from_rows(b, p.stride), kFlipAll);
    } else {
      Block flip;
      const Block block =
          some_rows(b, p.stride, p.k - i < kGroup ? p.k - i : kGroup, channels, &flip);
      writer->write(block, flip);
    }
  }
}

void pack_channels(const ActivationPack& p, size_t j, size_t channels, Writer* writer) {
  const uint8_t* b = p.b + j * p.stride;
  Block blocks[4], flips[4];
  for (size_t i = 0; i < p.k; i += kLine, b += kLine) {
    const size_t left = p.k - i < kLine ? p.k - i : kLine;
    if (channels == kBlock && left == kLine) {
      from_channels(b, p.stride, blocks);
      for (const Block& block : blocks) writer->write(block, kFlipAll);
      continue;
    }
    uint8_t bytes[kBlock][kLine] = {}, flip[kBlock][kLine] = {};
    for (size_t c = 0; c < channels; ++c) {
      memcpy(bytes[c], b + c * p.stride, left);
      memset(flip[c], 128, left);
    }
    from_channels(bytes[0], kLine, blocks);
    from_channels(flip[0], kLine, flips);
    for (size_t g = 0; g * kGroup < left; ++g) writer->write(blocks[g], flips[g]);
  }
}

constexpr uint32_t kTailWeight = 127;

uint32_t missing(int32_t zero_point) {
  return static_cast<uint32_t>(zero_point < 128 ? 128 - zero_point : zero_point - 128);
}

// The constant weights: +-1 for the first byte of the tail, +-127 for the others.
void write_tail_weights(int32_t zero_point, size_t bytes, size_t channels, int8_t* to) {
  const int sign = zero_point < 128 ? 1 : -1;
  for (size_t i = 0; i < bytes; i += kGroup, to += kWeightBlock) {
    memset(to, 0, kWeightBlock);
    memset(to, sign * static_cast<int>(kTailWeight), channels * kGroup);
    if (i > 0) continue;
    for (size_t c = 0; c < channels; ++c) to[c * kGroup] = static_cast<int8_t>(sign);
  }
}

}  // namespace

size_t activation_tail_bytes(size_t k, int32_t zero_point) {
  if (zero_point == 128) return 0;
  const size_t greatest = missing(zero_point) * 255 * k / kTailWeight;
  return (1 + (greatest + 254) / 255 + kGroup - 1) / kGroup * kGroup;
}

uint32_t activation_excess(size_t k, int32_t zero_point) {
  if (zero_point == 128) return 0;
  const uint32_t sum =
      1 + kTailWeight * static_cast<uint32_t>(activation_tail_bytes(k, zero_point) - 1);
  const uint32_t rest = static_cast<uint32_t>(128 - zero_point) * static_cast<uint32_t>(k);
  return (zero_point < 128 ? sum : 0 - sum) - rest;
}

void pack_activations(const ActivationPack& p, size_t begin, size_t end) {
  const size_t tail = activation_tail_bytes(p.k, p.zero_point);
  const size_t block_bytes = ((p.k + kGroup - 1) / kGroup * kGroup + tail) * kBlock;
  for (size_t j = begin; j < end; j += kBlock) {
    const size_t channels = end - j < kBlock ? end - j : kBlock;
    uint32_t* const sum = p.sum + j;
    memset(sum, 0, kBlock * sizeof *sum);
    Writer writer(p.packed + j / kBlock * block_bytes, sum);
    if (p.transposed)
      pack_channels(p, j, channels, &writer);
    else
      pack_rows(p, j, channels, &writer);
    writer.flush();
    for (size_t c = 0; c < channels; ++c)
      sum[c] -= static_cast<uint32_t>(p.k) * static_cast<uint32_t>(p.zero_point);
    write_tail_weights(p.zero_point, tail, channels, writer.position());
  }
}

void append_activation_tails(const uint8_t* a, size_t stride, size_t rows, size_t k,
                             int32_t zero_point, uint8_t* y) {
  const size_t tail = activation_tail_bytes(k, zero_point), kc = (k + kGroup - 1) / kGroup * kGroup;
  const uint32_t factor = missing(zero_point);
  for (size_t row = 0; row < rows; ++row, a += stride, y += kc + tail) {
    uint32_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += a[i];
    memcpy(y, a, k);
    memset(y + k, 0, kc - k + tail);
    uint8_t* const t = y + kc;
    const uint32_t value = sum * factor, parts = value / kTailWeight;
    t[0] = static_cast<uint8_t>(value % kTailWeight);
    memset(t + 1, 255, parts / 255);
    if (parts % 255 != 0) t[1 + parts / 255] = static_cast<uint8_t>(parts % 255);
  }
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Depthwise for NEON with dot products: SDOT on four rows, the sign bit of the image flipped.
#include "kernels/depthwise/depthwise_neon.h"

namespace qrt {
namespace {

struct NeonDot : Neon {
  static constexpr DepthwiseTile kTile = kDepthwiseNeonDot;
  static constexpr int kOutputs = 2;
  static constexpr bool kSlides = true;
  static constexpr int kParts = 4, kUnrolledTaps = 4;
  using Data = int8x16_t;

  template <int>
  QRT_INLINE Row load_row(const uint8_t* const* p) {
    return veorq_u8(vld1q_u8(p[0]), vdupq_n_u8(0x80));
  }
  QRT_INLINE Row load_repeated(const uint8_t* const* p, Row order) {
    return veorq_u8(vqtbl1q_u8(vld1q_u8(p[0]), order), vdupq_n_u8(0x80));
  }
  QRT_INLINE Data load_data(const uint8_t* p) { return vreinterpretq_s8_u8(vld1q_u8(p)); }
  QRT_INLINE void store_data(uint8_t* p, Data v) { vst1q_u8(p, vreinterpretq_u8_s8(v)); }
  QRT_INLINE void interleave(const Row row[4], Data cells[4]) {
    const uint16x8_t low01 = vreinterpretq_u16_u8(vzip1q_u8(row[0], row[1]));
    const uint16x8_t high01 = vreinterpretq_u16_u8(vzip2q_u8(row[0], row[1]));
    const uint16x8_t low23 = vreinterpretq_u16_u8(vzip1q_u8(row[2], row[3]));
    const uint16x8_t high23 = vreinterpretq_u16_u8(vzip2q_u8(row[2], row[3]));
    cells[0] = vreinterpretq_s8_u16(vzip1q_u16(low01, low23));
    cells[1] = vreinterpretq_s8_u16(vzip2q_u16(low01, low23));
    cells[2] = vreinterpretq_s8_u16(vzip1q_u16(high01, high23));
    cells[3] = vreinterpretq_s8_u16(vzip2q_u16(high01, high23));
  }
  template <int kRows, int kPixels>
  QRT_INLINE void multiply_taps(Acc (&acc)[kRows][kPixels][4], const uint8_t* data,
                                size_t pixel_step, const uint8_t* const (&weights)[kRows],
                                size_t taps) {
    Taps<NeonDot, kRows, kPixels>(data, pixel_step, weights).multiply(acc, taps);
  }
  QRT_INLINE void multiply(int, Acc& acc, uint8x16_t data, uint8x16_t weights) {
    __asm__ volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(data), "w"(weights));
  }

  template <int kRows, Store kStore, bool kInside>
  static void slide(const Block& b, const Loop& loop, const Area& area,
                    const SourceRow<NeonDot> (&image)[4]);
};

// Instructions that stay in the order in which they are written.
namespace ordered {

// 8 or 16 bytes at p + offset.
QRT_INLINE void load_half(uint8x16_t& to, const uint8_t* p, ptrdiff_t offset) {
  __asm__ volatile("ldr %d0, [%1, %2]" : "=w"(to) : "r"(p), "r"(offset) : "memory");
}
template <class T>
QRT_INLINE void load(T& to, const uint8_t* p, ptrdiff_t offset) {
  __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(to) : "r"(p), "r"(offset) : "memory");
}
// Adds by an instruction that is as late as a product, unlike ADD, and so beside one. `one` is 1.
template <class T>
QRT_INLINE void add(T& to, ptrdiff_t step, ptrdiff_t one) {
  __asm__ volatile("madd %0, %1, %2, %0" : "+r"(to) : "r"(step), "r"(one));
}
// Flips the sign bits by an instruction that is as late as a product, unlike EOR: `bit` is 0x80.
QRT_INLINE uint8x16_t flip(uint8x16_t x, uint8x16_t bit) {
  uint8x16_t y;
  __asm__ volatile("add %0.16b, %1.16b, %2.16b" : "=w"(y) : "w"(x), "w"(bit));
  return y;
}
QRT_INLINE uint8x16_t zip_bytes(uint8x16_t x, uint8x16_t y) {
  uint8x16_t z;
  __asm__ volatile("zip1 %0.16b, %1.16b, %2.16b" : "=w"(z) : "w"(x), "w"(y));
  return z;
}
QRT_INLINE uint8x16_t zip_pairs(int half, uint8x16_t x, uint8x16_t y) {
  uint8x16_t z;
  if (half == 0)
    __asm__ volatile("zip1 %0.8h, %1.8h, %2.8h" : "=w"(z) : "w"(x), "w"(y));
  else
    __asm__ volatile("zip2 %0.8h, %1.8h, %2.8h" : "=w"(z) : "w"(x), "w"(y));
  return z;
}
QRT_INLINE int32x4_t to_float(int32x4_t v) {
  int32x4_t x;
  __asm__ volatile("scvtf %0.4s, %1.4s" : "=w"(x) : "w"(v));
  return x;
}
QRT_INLINE int32x4_t multiply(int32x4_t x, int32x4_t s) {
  int32x4_t y;
  __asm__ volatile("fmul %0.4s, %1.4s, %2.4s" : "=w"(y) : "w"(x), "w"(s));
  return y;
}
QRT_INLINE int32x4_t to_int(int32x4_t x) {
  int32x4_t v;
  __asm__ volatile("fcvtns %0.4s, %1.4s" : "=w"(v) : "w"(x));
  return v;
}
// Returns the high product of TFLite's double rounding: times the multiplier, 1 less if negative, shifted.
QRT_INLINE int32x4_t multiply_high(int32x4_t v, int32x4_t m) {
  int32x4_t y;
  __asm__ volatile("sqrdmulh %0.4s, %1.4s, %2.4s" : "=w"(y) : "w"(v), "w"(m));
  return y;
}
QRT_INLINE int32x4_t less_if_negative(int32x4_t v) {
  __asm__ volatile("ssra %0.4s, %0.4s, #31" : "+w"(v));
  return v;
}
QRT_INLINE int32x4_t shift(int32x4_t v, int32x4_t s) {
  int32x4_t y;
  __asm__ volatile("srshl %0.4s, %1.4s, %2.4s" : "=w"(y) : "w"(v), "w"(s));
  return y;
}
// addend + x * s
QRT_INLINE int32x4_t multiply_add(int32x4_t addend, int32x4_t x, int32x4_t s) {
  __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(addend) : "w"(x), "w"(s));
  return addend;
}
QRT_INLINE int32x4_t add(int32x4_t x, int32x4_t y) {
  int32x4_t sum;
  __asm__ volatile("fadd %0.4s, %1.4s, %2.4s" : "=w"(sum) : "w"(x), "w"(y));
  return sum;
}
QRT_INLINE int16x8_t low_halves(int32x4_t low, int32x4_t high) {
  int16x8_t v;
  __asm__ volatile("uzp1 %0.8h, %1.8h, %2.8h" : "=w"(v) : "w"(low), "w"(high));
  return v;
}
QRT_INLINE int16x8_t narrow(int32x4_t low) {
  int16x8_t v;
  __asm__ volatile("sqxtn %0.4h, %1.4s" : "=w"(v) : "w"(low));
  return v;
}
QRT_INLINE void narrow_high(int16x8_t& v, int32x4_t high) {
  __asm__ volatile("sqxtn2 %0.8h, %1.4s" : "+w"(v) : "w"(high));
}
QRT_INLINE uint8x8_t to_bytes(int16x8_t v) {
  uint8x8_t bytes;
  __asm__ volatile("sqxtun %0.8b, %1.8h" : "=w"(bytes) : "w"(v));
  return bytes;
}

}  // namespace ordered

// Whole rows of a kernel of up to 4 rows of 3 taps, as slide() of depthwise_tile.h, but of 8
// channels, whose weights stay in registers: loads of 16 bytes take Cortex-A55 two cycles. And the
// instructions in this order, every line hiding the latencies of the one before it, with the loads
// beside them:
//
//   products with two columns       the next column
//   interleave that by bytes
//   products with the newest column addends
//   to float
//   times scale                     bias
//   flip the next column
//   to integer, to 16 bits
//   interleave the next column by pairs of bytes
//   zero point, to bytes, limits
template <int kRows, Store kStore, bool kInside>
struct Slide {
  static constexpr bool kFused = kStore == Store::kFused;
  static constexpr bool kFixed = kStore == Store::kFixed || kStore == Store::kFixedFromZero;
  static constexpr bool kLimits = kStore == Store::kClamp || kStore == Store::kFixed;
  static constexpr int kAccs = 2 * kRows;  // of a row one after the other
  using Column = uint8x16_t[2];

  __attribute__((always_inline))
  Slide(const Block& b, const Loop& loop, const Neon::Finish* finish, size_t half) {
    const uint8_t* const weights = loop.weights + half * 32;
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      unroll<3>([&](auto kx) QRT_INLINE_LAMBDA {
        unroll<2>([&](auto q) QRT_INLINE_LAMBDA {
          w[2 * r + q][kx] = vld1q_u8(weights + r * loop.weight_row_bytes + kx * 64 + q * 16);
        });
      });
    });
    start = b.args.zero + b.c + half * 8;
    channel = half * 8;
    unroll<4>([&](auto r) QRT_INLINE_LAMBDA {
      p[r] = start;
      step[r] = 0;
    });
    limits = finish;
    if (kLimits) __asm__ volatile("" : "+r"(limits) : : "memory");
    unroll<2>([&](auto q) QRT_INLINE_LAMBDA {
      offset[q] = 16 * static_cast<ptrdiff_t>(q);
      __asm__("" : "+r"(offset[q]));
    });
    one = 1;
    __asm__("" : "+r"(one));
    moved = 0;
    until = b.args.shape.pad_left;
    width = b.args.shape.in_w;
    bias = loop.constants + half * 32;
    unroll<2>([&](auto q) QRT_INLINE_LAMBDA { ordered::load(scale[q], bias + 64, offset[q]); });
    if (kFixed)
      unroll<2>([&](auto q) QRT_INLINE_LAMBDA { ordered::load(shift[q], bias + 128, offset[q]); });
    addends = opaque(bias + 128);
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA { load_bias(i); });
    mask = vdupq_n_u8(0x80);
    magic = vreinterpretq_s32_f32(vdupq_n_f32(Neon::kMagic));
  }

  __attribute__((always_inline)) void count_column(const SourceRow<NeonDot> (&image)[4]) {
    if (__builtin_expect(until == 0, 0)) {
      const bool enters = width != 0;
      unroll<4>([&](auto r) QRT_INLINE_LAMBDA {
        p[r] = opaque(enters ? image[r].p[0] + channel : start);
        step[r] = enters ? static_cast<ptrdiff_t>(image[r].step[0]) : 0;
      });
      moved = 0;
      until = enters ? width : SIZE_MAX;
      width = 0;
    }
    --until;
  }
  __attribute__((always_inline)) void load_row(int r) { ordered::load_half(row[r], p[r], moved); }
  __attribute__((always_inline)) void advance(int r) {
    if (!kInside) ordered::add(p[r], step[r], one);
    if (kInside && r == 0) ordered::add(moved, step[0], one);
  }
  __attribute__((always_inline)) void load_bias(int i) {
    ordered::load(acc[i], bias, offset[i % 2]);
  }
  __attribute__((always_inline)) void load_addend(int i) {
    if (kFused) ordered::load(addend[i], addends, offset[i % 2]);
  }

  // Interleaves a column in three functions, so that other instructions can go between them.
  __attribute__((always_inline)) void zip_bytes() {
    unroll<2>([&](auto i)
                  QRT_INLINE_LAMBDA { z[i] = ordered::zip_bytes(row[2 * i], row[2 * i + 1]); });
  }
  __attribute__((always_inline)) void flip() {
    unroll<2>([&](auto i) QRT_INLINE_LAMBDA { z[i] = ordered::flip(z[i], mask); });
  }
  __attribute__((always_inline)) void zip_pairs(Column& column) const {
    unroll<2>([&](auto i) QRT_INLINE_LAMBDA { column[i] = ordered::zip_pairs(i, z[0], z[1]); });
  }

  // The next column.
  __attribute__((always_inline)) void load_column(Column& column) {
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA { load_row(i); });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA { advance(i); });
    zip_bytes();
    flip();
    zip_pairs(column);
  }

  __attribute__((always_inline)) void product(int i, int kx, const Column& column) {
    NeonDot::multiply(0, acc[i], column[i % 2], w[i][kx]);
  }

  // Turns accumulators into integers, in three functions; with kFused in two, the first of which
  // multiplies, as it does with kFixed.
  __attribute__((always_inline)) void to_float(int i) {
    value[i] = kFused   ? ordered::multiply_add(addend[i], acc[i], scale[i % 2])
               : kFixed ? ordered::multiply_high(acc[i], scale[i % 2])
                        : ordered::to_float(acc[i]);
  }
  __attribute__((always_inline)) void multiply(int i) {
    value[i] = kFused   ? ordered::add(value[i], magic)
               : kFixed ? ordered::less_if_negative(value[i])
                        : ordered::multiply(value[i], scale[i % 2]);
  }

  __attribute__((always_inline)) void to_int(int i) {
    value[i] = kFixed ? ordered::shift(value[i], shift[i % 2]) : ordered::to_int(value[i]);
  }

  // Narrows row r to 16 bits.
  __attribute__((always_inline)) void narrow(int r) {
    half[r] = kFused ? ordered::low_halves(value[2 * r], value[2 * r + 1])
                     : ordered::narrow(value[2 * r]);
  }
  __attribute__((always_inline)) void narrow_high(int r) {
    ordered::narrow_high(half[r], value[2 * r + 1]);
  }

  // Computes a pixel of every row, and loads the next column in place of the oldest.
  __attribute__((always_inline)) void pixel(Column& oldest, const Column& middle,
                                            const Column& newest, uint8x8_t (&bytes)[kRows]) {
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA {
      product(i, 0, oldest);
      unroll<4 / kAccs>([&](auto j) QRT_INLINE_LAMBDA { load_row(i * 4 / kAccs + j); });
    });
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA {
      product(i, 1, middle);
      unroll<4 / kAccs>([&](auto j) QRT_INLINE_LAMBDA { advance(i * 4 / kAccs + j); });
    });
    zip_bytes();
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA {
      product(i, 2, newest);
      load_addend(i);
    });
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA { to_float(i); });
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA {
      multiply(i);
      load_bias(i);
    });
    flip();
    if (!kFused) unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA { to_int(i); });
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { narrow(r); });
    if (!kFused) unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { narrow_high(r); });
    zip_pairs(oldest);
    if (kLimits) {
      unroll<kRows>([&](auto r)
                        QRT_INLINE_LAMBDA { half[r] = vqaddq_s16(half[r], limits->zero_point); });
    }
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { bytes[r] = ordered::to_bytes(half[r]); });
    if (kLimits)
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { bytes[r] = limits->limit(bytes[r]); });
  }

  // The rows' pixels of the next column: padding, the image, padding. After `until` columns that changes.
  const uint8_t *p[4], *start;
  // Bytes to the next column; kInside: step[0] for all rows, whose sum is `moved`.
  ptrdiff_t step[4], moved;
  size_t until, width, channel;
  const uint8_t *bias, *addends;
  const Neon::Finish* limits;  // kLimits: in memory, there are no registers left
  ptrdiff_t offset[2], one;
  uint8x16_t w[kAccs][3], mask;
  uint8x16_t row[4], z[2];
  int32x4_t scale[2], shift[2], magic;
  int32x4_t acc[kAccs], addend[kAccs], value[kAccs];
  int16x8_t half[kRows];
};

// The first n of 8 channels.
QRT_INLINE void put(uint8x8_t bytes, uint8_t* out, size_t n) {
  if (n == 8) return vst1_u8(out, bytes);
  uint64_t rest = vget_lane_u64(vreinterpret_u64_u8(bytes), 0);
  for (size_t i = 0; i < n; ++i, rest >>= 8) out[i] = static_cast<uint8_t>(rest);
}

// Channels 8 * half to 8 * half + 7 of the block.
template <int kRows, Store kStore, bool kInside>
QRT_NOINLINE void slide_half(const Block& b, const Loop& loop, const Area& area,
                             const SourceRow<NeonDot> (&image)[4], size_t half) {
  const Neon::Finish finish(b.args.requant, b.n);
  uint8_t* out = b.args.output + area.y * loop.row_bytes + b.c + half * 8;
  const size_t row_bytes = loop.row_bytes, channels = loop.channels, stride = b.args.shape.stride_w;
  const size_t n = b.n - half * 8 < 8 ? b.n - half * 8 : 8;
  size_t missing = 3, left = b.args.shape.out_w;  // columns before the next pixel, pixels
  Slide<kRows, kStore, kInside> s(b, loop, &finish, half);
  const auto column = [&](uint8x16_t(&oldest)[2], const uint8x16_t(&middle)[2],
                          const uint8x16_t(&newest)[2]) QRT_INLINE_LAMBDA {
    s.count_column(image);
    if (--missing > 0) return s.load_column(oldest);
    missing = stride;
    uint8x8_t bytes[kRows];
    s.pixel(oldest, middle, newest, bytes);
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { put(bytes[r], out + r * row_bytes, n); });
    out += channels;
    --left;
  };
  uint8x16_t columns[3][2] = {};
  s.count_column(image);
  s.load_column(columns[2]);
  for (;;) {
    column(columns[0], columns[1], columns[2]);
    if (left == 0) return;
    column(columns[1], columns[2], columns[0]);
    if (left == 0) return;
    column(columns[2], columns[0], columns[1]);
    if (left == 0) return;
  }
}

template <int kRows, Store kStore, bool kInside>
void NeonDot::slide(const Block& b, const Loop& loop, const Area& area,
                    const SourceRow<NeonDot> (&image)[4]) {
  for (size_t half = 0; half * 8 < b.n; ++half)
    slide_half<kRows, kStore, kInside>(b, loop, area, image, half);
}

}  // namespace

void depthwise_u8s8_neondot(const DepthwiseArgs& args) { run<NeonDot>(args); }

}  // namespace qrt

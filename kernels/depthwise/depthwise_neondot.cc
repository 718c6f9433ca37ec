// Depthwise for NEON with dot products: SDOT on four rows, the sign bit of the image flipped.
#include "kernels/depthwise/depthwise_neon.h"

namespace qrt {
namespace {

struct NeonDot : Neon {
  static constexpr DepthwiseTile kTile = kDepthwiseNeonDot;
  static constexpr int kOutputs = 2;
  static constexpr bool kSlides = true;
  static constexpr int kParts = 4, kUnrolledTaps = 4;
  static constexpr bool kFixes = false;
  using Data = int8x16_t;

  QRT_INLINE Row load_row(const uint8_t* const* p) {
    return veorq_u8(vld1q_u8(p[0]), vdupq_n_u8(0x80));
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

// 16 bytes at p + offset.
template <class T>
QRT_INLINE void load(T& to, const uint8_t* p, ptrdiff_t offset) {
  __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(to) : "r"(p), "r"(offset) : "memory");
}
// As late as a product, unlike ADD, and so beside one. `one` is 1.
template <class T>
QRT_INLINE void add(T& to, ptrdiff_t step, ptrdiff_t one) {
  __asm__ volatile("madd %0, %1, %2, %0" : "+r"(to) : "r"(step), "r"(one));
}
QRT_INLINE void flip(uint8x16_t& x, uint8x16_t mask) {
  __asm__ volatile("eor %0.16b, %0.16b, %1.16b" : "+w"(x) : "w"(mask));
}
QRT_INLINE uint8x16_t zip_bytes(int half, uint8x16_t x, uint8x16_t y) {
  uint8x16_t z;
  if (half == 0)
    __asm__ volatile("zip1 %0.16b, %1.16b, %2.16b" : "=w"(z) : "w"(x), "w"(y));
  else
    __asm__ volatile("zip2 %0.16b, %1.16b, %2.16b" : "=w"(z) : "w"(x), "w"(y));
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
QRT_INLINE void to_float(int32x4_t& v) { __asm__ volatile("scvtf %0.4s, %0.4s" : "+w"(v)); }
QRT_INLINE void scale(int32x4_t& v, int32x4_t s) {
  __asm__ volatile("fmul %0.4s, %0.4s, %1.4s" : "+w"(v) : "w"(s));
}
QRT_INLINE void to_int(int32x4_t& v) { __asm__ volatile("fcvtns %0.4s, %0.4s" : "+w"(v)); }
QRT_INLINE void subtract(int32x4_t& v, int32x4_t s) {
  __asm__ volatile("fsub %0.4s, %0.4s, %1.4s" : "+w"(v) : "w"(s));
}
QRT_INLINE void add(int32x4_t& v, int32x4_t s) {
  __asm__ volatile("fadd %0.4s, %0.4s, %1.4s" : "+w"(v) : "w"(s));
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
QRT_INLINE uint8x16_t to_bytes(int16x8_t low) {
  uint8x16_t v;
  __asm__ volatile("sqxtun %0.8b, %1.8h" : "=w"(v) : "w"(low));
  return v;
}
QRT_INLINE void to_bytes_high(uint8x16_t& v, int16x8_t high) {
  __asm__ volatile("sqxtun2 %0.16b, %1.8h" : "+w"(v) : "w"(high));
}
QRT_INLINE void narrow_high(int16x8_t& v, int32x4_t high) {
  __asm__ volatile("sqxtn2 %0.8h, %1.4s" : "+w"(v) : "w"(high));
}

}  // namespace ordered

// Whole rows of a kernel of up to 4 rows of 3 taps, as slide() of depthwise_tile.h, but the
// instructions in this order, every line hiding the latencies of the one before it, with the loads
// beside them:
//
//   flip the newest column
//   interleave it by bytes                         weights
//   products with the oldest column                weights
//   interleave by pairs of bytes                   the next column
//   products with the other two columns            weights, scales
//   to float, times scale, to integer, to 16 bits  bias and first weights of the next pixel
//   zero point, to bytes, limits
template <int kRows, Store kStore, bool kInside>
struct Slide {
  static constexpr int kProducts = 12 * kRows, kAccs = 4 * kRows;
  // Weights before their products, as many as there are registers for.
  static constexpr int kAhead = kStore == Store::kFused ? 7 : 6;
  using Column = uint8x16_t[4];

  __attribute__((always_inline))
  Slide(const Block& b, const Loop& loop, const Neon::Finish* finish) {
    const uint8_t* const zero = b.args.zero + b.c;
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      unroll<3>([&](auto kx) QRT_INLINE_LAMBDA {
        weights[r][kx] = opaque(loop.weights + r * loop.weight_row_bytes + kx * 64);
      });
    });
    unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
      offset[q] = 16 * static_cast<ptrdiff_t>(q);
      __asm__("" : "+r"(offset[q]));
      p[q] = zero;
      step[q] = 0;
    });
    limits = finish;
    if (kStore == Store::kClamp) __asm__ volatile("" : "+r"(limits) : : "memory");
    one = 1;
    __asm__("" : "+r"(one));
    moved = 0;
    until = b.args.shape.pad_left;
    width = b.args.shape.in_w;
    bias = loop.constants;
    scales = loop.constants + 64;
    mask = vdupq_n_u8(0x80);
    magic = vreinterpretq_s32_f32(vdupq_n_f32(Neon::kMagic));
  }

  __attribute__((always_inline)) void count_column(const SourceRow<NeonDot> (&image)[4],
                                                   const uint8_t* zero) {
    if (__builtin_expect(until == 0, 0)) {
      const bool enters = width != 0;
      unroll<4>([&](auto r) QRT_INLINE_LAMBDA {
        p[r] = opaque(enters ? image[r].p[0] : zero);
        step[r] = enters ? static_cast<ptrdiff_t>(image[r].step[0]) : 0;
      });
      moved = 0;
      until = enters ? width : SIZE_MAX;
      width = 0;
    }
    --until;
  }
  __attribute__((always_inline)) void load_row(int r) { ordered::load(row[r], p[r], moved); }
  __attribute__((always_inline)) void advance(int r) {
    if (!kInside) ordered::add(p[r], step[r], one);
    if (kInside && r == 0) ordered::add(moved, step[0], one);
  }
  __attribute__((always_inline)) void load_weights(int i) {
    ordered::load(w[i], weights[row_of(i)][column_of(i)], offset[i % 4]);
  }
  __attribute__((always_inline)) void load_bias(int i) {
    ordered::load(acc[i / 4][i % 4], bias, offset[i % 4]);
  }
  __attribute__((always_inline)) void load_first() {
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA { load_bias(i); });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA { load_weights(i); });
  }

  // The interleaving, in two halves.
  __attribute__((always_inline)) void zip_bytes(int i) {
    z[i / 2][i % 2] = ordered::zip_bytes(i / 2, row[i % 2 * 2], row[i % 2 * 2 + 1]);
  }
  __attribute__((always_inline)) uint8x16_t zip_pairs(int i) const {
    return ordered::zip_pairs(i % 2, z[i / 2][0], z[i / 2][1]);
  }

  // A column of which no output pixel is the last.
  __attribute__((always_inline)) void pass(Column& newest) {
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA { ordered::flip(row[i], mask); });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA { zip_bytes(i); });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA {
      newest[i] = zip_pairs(i);
      load_row(i);
    });
    unroll<4>([&](auto r) QRT_INLINE_LAMBDA { advance(r); });
  }

  // Product i of the pixel: four of each row with the oldest column, then eight of each row.
  static constexpr int row_of(int i) { return i < kAccs ? i / 4 : (i - kAccs) / 8; }
  static constexpr int column_of(int i) { return i < kAccs ? 0 : (i - kAccs) % 8 / 4 + 1; }
  __attribute__((always_inline)) void product(int i, const Column& oldest, const Column& middle,
                                              const Column& newest) {
    int32x4_t& sum = acc[row_of(i)][i % 4];
    if (column_of(i) == 0) NeonDot::multiply(0, sum, oldest[i % 4], w[i]);
    if (column_of(i) == 1) NeonDot::multiply(0, sum, middle[i % 4], w[i]);
    if (column_of(i) == 2) NeonDot::multiply(0, sum, newest[i % 4], w[i]);
    if (i + kAhead < kProducts) load_weights(i + kAhead);
    if (i >= kProducts - 8 && i < kProducts - 4) ordered::load(scale[i % 4], scales, offset[i % 4]);
    if (i >= kProducts - 4) advance(i % 4);
  }
  // Row r to integers: i < 4 to float, i < 8 times scale, i < 12 rounded.
  __attribute__((always_inline)) void convert(int r, int i) {
    int32x4_t& v = acc[r][i % 4];
    if (i / 4 == 0) kStore == Store::kFused ? ordered::subtract(v, magic) : ordered::to_float(v);
    if (i / 4 == 1) ordered::scale(v, scale[i % 4]);
    if (i / 4 == 2) kStore == Store::kFused ? ordered::add(v, magic) : ordered::to_int(v);
  }

  // Row r to 16 bits, from all of which it goes to bytes.
  __attribute__((always_inline)) void narrow(int r, int i) {
    if (kStore == Store::kFused) {
      if (i < 2) half[r][i] = ordered::low_halves(acc[r][2 * i], acc[r][2 * i + 1]);
    } else if (i < 2) {
      half[r][i] = ordered::narrow(acc[r][2 * i]);
    } else {
      ordered::narrow_high(half[r][i - 2], acc[r][2 * i - 3]);
    }
  }

  __attribute__((always_inline)) void pixel(const Column& oldest, const Column& middle,
                                            Column& newest, uint8x16_t (&bytes)[kRows]) {
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA { ordered::flip(row[i], mask); });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA {
      zip_bytes(i);
      if (i + 4 < kAhead) load_weights(i + 4);
    });
    unroll<kAccs>([&](auto i) QRT_INLINE_LAMBDA { product(i, oldest, middle, newest); });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA {
      newest[i] = zip_pairs(i);
      load_row(i);
    });
    unroll<8>([&](auto i) QRT_INLINE_LAMBDA { product(kAccs + i, oldest, middle, newest); });
    // The second row's products beside the first row's conversion, and that beside its own.
    unroll<8>([&](auto i) QRT_INLINE_LAMBDA {
      if (kRows == 2) product(kAccs + 8 + i, oldest, middle, newest);
      convert(0, i);
    });
    unroll<4>([&](auto i) QRT_INLINE_LAMBDA {
      if (kRows == 2) convert(1, i);
      convert(0, i + 8);
      load_weights(i);
    });
    constexpr bool kFused = kStore == Store::kFused;
    if (kRows == 2) {
      unroll<4>([&](auto i) QRT_INLINE_LAMBDA { convert(1, i + 4); });
      unroll<4>([&](auto i) QRT_INLINE_LAMBDA {
        convert(1, i + 8);
        narrow(0, i);
        if (kFused && i >= 2) load_bias(i - 2);
      });
      unroll<4>([&](auto i) QRT_INLINE_LAMBDA {
        narrow(1, i);
        if (!kFused) load_bias(i);
        if (kFused && i < 2) load_bias(i + 2);
      });
    } else {
      unroll<4>([&](auto i) QRT_INLINE_LAMBDA { narrow(0, i); });
      unroll<4>([&](auto i) QRT_INLINE_LAMBDA { load_bias(i); });
    }
    if (kStore == Store::kClamp) {
      unroll<2 * kRows>([&](auto i) QRT_INLINE_LAMBDA {
        half[i / 2][i % 2] = vqaddq_s16(half[i / 2][i % 2], limits->zero_point);
      });
    }
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      bytes[r] = ordered::to_bytes(half[r][0]);
      if (kRows == 2) load_bias(r + 4);
    });
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      ordered::to_bytes_high(bytes[r], half[r][1]);
      if (kRows == 2) load_bias(r + 6);
    });
    if (kStore == Store::kClamp) {
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { bytes[r] = limits->limit(bytes[r]); });
    }
  }

  // Where the next column is: padding, the image, padding. After `until` columns that changes.
  const uint8_t* p[4];
  ptrdiff_t step[4], moved;  // kInside: step[0] for all rows, by what they moved together
  size_t until, width;
  const uint8_t *weights[kRows][3], *bias, *scales;
  const Neon::Finish* limits;  // kClamp: in memory, there are no registers left
  ptrdiff_t offset[4], one;
  uint8x16_t row[4], z[2][2], mask;  // z: [half][rows]
  uint8x16_t w[kProducts];
  int32x4_t acc[kRows][4], scale[4], magic;
  int16x8_t half[kRows][2];
};

template <int kRows, Store kStore, bool kInside>
QRT_NOINLINE void NeonDot::slide(const Block& b, const Loop& loop, const Area& area,
                                 const SourceRow<NeonDot> (&image)[4]) {
  const Finish finish(b.args.requant, b.n);
  const uint8_t* const zero = b.args.zero + b.c;
  uint8_t* out = b.args.output + area.y * loop.row_bytes + b.c;
  const size_t row_bytes = loop.row_bytes, channels = loop.channels, stride = b.args.shape.stride_w;
  size_t missing = 3, left = b.args.shape.out_w;  // columns before the next pixel, pixels
  Slide<kRows, kStore, kInside> s(b, loop, &finish);
  const auto column = [&](const uint8x16_t(&oldest)[4], const uint8x16_t(&middle)[4],
                          uint8x16_t(&newest)[4]) QRT_INLINE_LAMBDA {
    s.count_column(image, zero);
    if (--missing > 0) return s.pass(newest);
    missing = stride;
    uint8x16_t bytes[kRows];
    s.pixel(oldest, middle, newest, bytes);
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { finish.put(bytes[r], out + r * row_bytes); });
    out += channels;
    --left;
  };
  uint8x16_t columns[3][4] = {};
  s.count_column(image, zero);
  unroll<4>([&](auto r) QRT_INLINE_LAMBDA { s.load_row(r); });
  unroll<4>([&](auto r) QRT_INLINE_LAMBDA { s.advance(r); });
  s.load_first();
  for (;;) {
    column(columns[1], columns[2], columns[0]);
    if (left == 0) return;
    column(columns[2], columns[0], columns[1]);
    if (left == 0) return;
    column(columns[0], columns[1], columns[2]);
    if (left == 0) return;
  }
}

}  // namespace

void depthwise_u8s8_neondot(const DepthwiseArgs& args) { run<NeonDot>(args); }

}  // namespace qrt

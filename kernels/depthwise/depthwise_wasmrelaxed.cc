// SPDX-License-Identifier: Apache-2.0
// Depthwise by the relaxed dot product of bytes, on engines where it is exact (isa/relaxed.h): four rows of a column of
// the kernel in a product, whose bytes are interleaved as the packed weights are. Kernels of three by three and stride 1 keep
// interleaved columns for the next pixels. More than one filter per channel takes the scalar row.
#include "kernels/depthwise/depthwise_wasm.h"
#include "kernels/isa/zip_wasm128.h"

namespace qrt {

void depthwise_u8s8_scalar(const DepthwiseArgs& args);

namespace {

using wasm128::Zip;

constexpr size_t kStripRows = 8, kBlock = 16, kQuadBytes = 4 * kBlock;

QRT_INLINE v128_t dot(v128_t acc, v128_t data, v128_t weights) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, data, acc);
}

// Four rows of the kernel, or the last ones, at an output row. Rows above and below the image read the zero point.
struct Rows {
  const uint8_t* base[4];
  size_t step[4];  // bytes from a column to the next
  const uint8_t* zero;
  size_t in_w;

  Rows(const DepthwiseArgs& args, size_t y, size_t first, size_t c)
      : zero(args.zero + c), in_w(args.shape.in_w) {
    const DepthwiseShape& s = args.shape;
    for (size_t r = 0; r < 4; ++r) {
      // Weights of rows beyond the kernel are 0.
      const size_t ky = first + r < s.kernel_h ? first + r : s.kernel_h - 1;
      const size_t iy = y * s.stride_h + ky * s.dilation_h - s.pad_top;  // huge above the image
      const bool is_inside = iy < s.in_h;
      base[r] = is_inside ? args.input + iy * s.in_w * s.in_c + c : zero;
      step[r] = is_inside ? s.in_c : 0;
    }
  }
  // Returns where row r has its channels at column ix, which is huge left of the image.
  const uint8_t* at(size_t r, size_t ix) const { return ix < in_w ? base[r] + ix * step[r] : zero; }
};

// Interleaves the bytes of kRows rows of 16 channels, the last row in the place of those that are missing.
template <int kRows>
QRT_INLINE void interleave(const Rows& rows, size_t ix, v128_t (&data)[4]) {
  v128_t row[4];
  QRT_UNROLL
  for (size_t r = 0; r < 4; ++r)
    row[r] = r < kRows ? wasm_v128_load(rows.at(r, ix)) : row[kRows - 1];
  const v128_t low = Zip<1>::low(row[0], row[1]), high = Zip<1>::high(row[0], row[1]);
  const v128_t low2 = kRows > 1 ? Zip<1>::low(row[2], row[3]) : low;
  const v128_t high2 = kRows > 1 ? Zip<1>::high(row[2], row[3]) : high;
  data[0] = Zip<2>::low(low, low2);
  data[1] = Zip<2>::high(low, low2);
  data[2] = Zip<2>::low(high, high2);
  data[3] = Zip<2>::high(high, high2);
}

// Adds the products of a quad of kernel rows at the pixel whose window begins at column ix.
template <int kRows>
QRT_INLINE void add_quad(const DepthwiseShape& s, const Rows& rows, const int8_t* weights,
                         size_t ix, v128_t (&acc)[4]) {
  for (size_t kx = 0; kx < s.kernel_w; ++kx, ix += s.dilation_w, weights += kQuadBytes) {
    v128_t data[4];
    interleave<kRows>(rows, ix, data);
    QRT_UNROLL
    for (int q = 0; q < 4; ++q) acc[q] = dot(acc[q], data[q], wasm_v128_load(weights + 16 * q));
  }
}

constexpr size_t kMostQuads = 4;  // of kernel rows that a row of the output keeps addresses of

// Computes 16 channels of a row of the output, any kernel of at most kMostQuads quads of rows.
void compute_row(const DepthwiseArgs& args, const DepthwiseStore& store, size_t c, size_t y) {
  const DepthwiseShape& s = args.shape;
  const size_t quads = (s.kernel_h + 3) / 4;
  const size_t term_bytes = (s.in_c + kBlock - 1) / kBlock * quads * s.kernel_w * kQuadBytes;
  const int8_t* const weights = args.weights + c / kBlock * quads * s.kernel_w * kQuadBytes;
  const Rows rows[kMostQuads] = {
      {args, y, 0, c}, {args, y, 4, c}, {args, y, 8, c}, {args, y, 12, c}};
  uint8_t* out = args.output + y * s.out_w * s.in_c + c;
  for (size_t x = 0; x < s.out_w; ++x, out += s.in_c) {
    const size_t ix = x * s.stride_w - s.pad_left;
    v128_t acc[4];
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) acc[q] = wasm_v128_load(args.bias + c + 4 * q);
    for (size_t term = 0; term < s.terms; ++term) {
      const int8_t* w = weights + term * term_bytes;
      for (size_t quad = 0; quad < quads; ++quad, w += s.kernel_w * kQuadBytes) {
        const size_t left = s.kernel_h - 4 * quad;
        if (left == 1)
          add_quad<1>(s, rows[quad], w, ix, acc);
        else if (left == 3)
          add_quad<3>(s, rows[quad], w, ix, acc);
        else
          add_quad<4>(s, rows[quad], w, ix, acc);
      }
    }
    store.pixel(acc, out);
  }
}

// A column of three rows of 8 channels, interleaved.
struct Column {
  v128_t low, high;
};

QRT_INLINE Column column_of(const Rows& rows, size_t ix) {
  v128_t row[3];
  QRT_UNROLL
  for (size_t r = 0; r < 3; ++r) row[r] = wasm_v128_load64_zero(rows.at(r, ix));
  const v128_t first = Zip<1>::low(row[0], row[1]), last = Zip<1>::low(row[2], row[2]);
  return {Zip<2>::low(first, last), Zip<2>::high(first, last)};
}

// Computes half of 16 channels of a row of the output, two pixels at a time, for kernels of three by three and stride 1.
void slide_row(const DepthwiseArgs& args, const DepthwiseStore& store, size_t c, size_t h,
               size_t y) {
  const DepthwiseShape& s = args.shape;
  const DepthwiseStore::Half half = store.half(h);
  const int8_t* const packed = args.weights + c / kBlock * 3 * kQuadBytes + h * 32;
  v128_t w[3][2];
  QRT_UNROLL
  for (int kx = 0; kx < 3; ++kx) {
    QRT_UNROLL
    for (int q = 0; q < 2; ++q) w[kx][q] = wasm_v128_load(packed + kx * kQuadBytes + 16 * q);
  }
  c += 8 * h;
  const v128_t bias[2] = {wasm_v128_load(args.bias + c), wasm_v128_load(args.bias + c + 4)};
  const Rows rows(args, y, 0, c);
  const auto add = [&w](const Column& column, int kx, v128_t& low, v128_t& high) QRT_INLINE_LAMBDA {
    low = dot(low, column.low, w[kx][0]);
    high = dot(high, column.high, w[kx][1]);
  };
  uint8_t* out = args.output + y * s.out_w * s.in_c + c;
  size_t ix = 0 - s.pad_left;
  Column a = column_of(rows, ix), b = column_of(rows, ix + 1);
  for (size_t x = 0; x < s.out_w; x += 2, ix += 2, out += 2 * s.in_c) {
    const Column next = column_of(rows, ix + 2);
    v128_t acc[4] = {bias[0], bias[1], bias[0], bias[1]};
    add(a, 0, acc[0], acc[1]);
    add(b, 1, acc[0], acc[1]);
    add(next, 2, acc[0], acc[1]);
    add(b, 0, acc[2], acc[3]);
    add(next, 1, acc[2], acc[3]);
    a = next;
    b = column_of(rows, ix + 3);
    add(b, 2, acc[2], acc[3]);
    store.pixels(acc, half, x + 1 < s.out_w, out, s.in_c);
  }
}

}  // namespace

void depthwise_u8s8_wasmrelaxed(const DepthwiseArgs& args) {
  const DepthwiseShape& s = args.shape;
  if (s.multiplier != 1 || s.kernel_h > 4 * kMostQuads) return depthwise_u8s8_scalar(args);
  DepthwiseStore store(args);
  const bool slides = store.is_in_registers() && s.terms == 1 && s.kernel_h == 3 &&
                      s.kernel_w == 3 && s.stride_w == 1 && s.dilation_w == 1;
  for (size_t y = args.row_begin; y < args.row_end; y += kStripRows) {
    const size_t end = args.row_end - y < kStripRows ? args.row_end : y + kStripRows;
    for (size_t c = 0; c < s.in_c; c += kBlock) {
      store.set_channels(c);
      for (size_t row = y; row < end; ++row) {
        if (!slides) {
          compute_row(args, store, c, row);
          continue;
        }
        slide_row(args, store, c, 0, row);
        if (c + 8 < s.in_c) slide_row(args, store, c, 1, row);
      }
    }
  }
}

}  // namespace qrt

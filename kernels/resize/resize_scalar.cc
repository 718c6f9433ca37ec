// SPDX-License-Identifier: Apache-2.0
#include "kernels/resize/float_loops.h"
#include "kernels/resize/integer_loops.h"

namespace qrt {
namespace {

// Halves of a block: compilers take apart comparisons and conversions of more than a register.
typedef float Half __attribute__((vector_size(16)));
typedef int32_t HalfOfInts __attribute__((vector_size(16)));

struct Lanes {
  static constexpr size_t kBlock = 8;
  static constexpr size_t kBlocks = 1;
  static constexpr bool kDoubles = false;
  typedef float Block __attribute__((vector_size(kBlock * sizeof(float))));
  typedef int32_t Ints __attribute__((vector_size(kBlock * sizeof(int32_t))));

  // Limits are integers, so that they may come before rounding: |v| < 2^22, and 1.5 * 2^23 leaves
  // no bits behind the point.
  template <bool kMayTruncate>
  struct ToCodes {
    explicit ToCodes(const ResizeBytes& b)
        : truncates(kMayTruncate && b.truncates),
          scale(splat(b.scale)),
          low(static_cast<float>(b.lo - b.offset) - Half{}),
          high(static_cast<float>(b.hi - b.offset) - Half{}) {}
    Ints operator()(Block sums) const {
      Block v = sums / scale;
      Half halves[2];
      __builtin_memcpy(halves, &v, sizeof v);
      for (Half& h : halves) {
        h = h > low ? h : low;
        h = h < high ? h : high;
      }
      __builtin_memcpy(&v, halves, sizeof v);
      return truncates ? truncate(v) : reinterpret_cast<Ints>(v + 12582912.0f) - 0x4b400000;
    }

    const bool truncates;
    Block scale;
    Half low, high;
  };

  static void store(uint8_t* y, const Ints (&v)[1], const ResizeBytes& b) {
    const Ints bytes = v[0] + b.offset;
    int32_t all[kBlock];
    __builtin_memcpy(all, &bytes, sizeof all);
    for (size_t i = 0; i < kBlock; ++i) y[i] = static_cast<uint8_t>(all[i]);
  }
  static Block splat(float v) { return v - Block{}; }
  static Ints truncate(Block v) {
    Half halves[2];
    __builtin_memcpy(halves, &v, sizeof v);
    const HalfOfInts ints[] = {__builtin_convertvector(halves[0], HalfOfInts),
                               __builtin_convertvector(halves[1], HalfOfInts)};
    Ints out;
    __builtin_memcpy(&out, ints, sizeof out);
    return out;
  }
  static Block fma(Block a, Block b, Block c) { return a * b + c; }  // rounds once or twice
  static void store_high(uint8_t* y, const Ints (&v)[4], int16_t more, const ResizeBytes& b) {
    int32_t all[4 * kBlock];
    __builtin_memcpy(all, v, sizeof all);
    for (size_t i = 0; i < 4 * kBlock; ++i) {
      int32_t word = (all[i] >> 16) + more;
      word = word > b.lo ? word : b.lo;
      y[i] = static_cast<uint8_t>(word < b.hi ? word : b.hi);
    }
  }
  static bool any_word_below(const Ints (&v)[4], uint16_t limit) {
    int32_t all[4 * kBlock];
    __builtin_memcpy(all, v, sizeof all);
    int32_t any = 0;
    for (const int32_t lane : all) any |= (lane & 0xffff) - limit;
    return any < 0;
  }
  static uint32_t words_below(Ints v, uint16_t limit) {
    int32_t all[kBlock];
    __builtin_memcpy(all, &v, sizeof all);
    uint32_t bits = 0;
    for (size_t i = 0; i < kBlock; ++i) bits |= uint32_t{(all[i] & 0xffff) < limit} << i;
    return bits;
  }
};

}  // namespace

void resize_f32_scalar(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                       const ResizeBytes& bytes, uint8_t* y) {
  row_f32<Lanes>(row, plane, bytes, y);
}
void resize_f32_general_scalar(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                               size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  row_f32_general<Lanes>(row, planes, plane_count, bytes, y);
}
void resize_columns_scalar(const ResizeRow<float>& row, const float* source, float* y) {
  weigh_columns<Lanes>(row, source, y);
}
void resize_f32_by_columns_scalar(const ResizeRow<float>& row,
                                  const ResizePlane<float, float>& plane,
                                  const ResizeColumns& columns, const ResizeBytes& bytes,
                                  uint8_t* y) {
  row_by_columns<Lanes>(row, plane, columns, bytes, y);
}
void resize_u8_scalar(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset,
                      const uint8_t* low, const uint8_t* high, uint8_t* y) {
  row_u8(row, round, offset, low, high, y);
}
void resize_s16_scalar(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
                       const int16_t* high, int16_t* y) {
  row_s16(row, round, low, high, y);
}
void resize_fine_scalar(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
                        const int16_t* high, int32_t* y) {
  row_fine(row, zero_point, low, high, y);
}
void resize_blend_scalar(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high,
                         int32_t* y) {
  blend_rows(low_weight, high_weight, n, high, y);
}

}  // namespace qrt

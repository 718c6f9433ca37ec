#include "kernels/resize/resize_loops.h"

namespace qrt {
namespace {

// Halves of a block: compilers take apart comparisons and conversions of more than a register.
typedef float Half __attribute__((vector_size(16)));
typedef int32_t HalfOfInts __attribute__((vector_size(16)));

struct Lanes {
  // The low byte of every lane.
  static void store_low_bytes(uint8_t* y, BlockOfInts v) {
    int32_t all[kBlock];
    __builtin_memcpy(all, &v, sizeof all);
    for (size_t i = 0; i < kBlock; ++i) y[i] = static_cast<uint8_t>(all[i]);
  }
  static Block limited(Block v, Block low, Block high) {
    const Half least = low[0] - Half{}, most = high[0] - Half{};
    Half halves[2];
    __builtin_memcpy(halves, &v, sizeof v);
    for (Half& h : halves) {
      h = h > least ? h : least;
      h = h < most ? h : most;
    }
    __builtin_memcpy(&v, halves, sizeof v);
    return v;
  }
  static BlockOfInts truncate(Block v) {
    Half halves[2];
    __builtin_memcpy(halves, &v, sizeof v);
    const HalfOfInts ints[] = {__builtin_convertvector(halves[0], HalfOfInts),
                               __builtin_convertvector(halves[1], HalfOfInts)};
    BlockOfInts out;
    __builtin_memcpy(&out, ints, sizeof out);
    return out;
  }
  static Block fma(Block a, Block b, Block c) { return a * b + c; }  // rounds once or twice
  // The high words and `more`, limited.
  static void store_high(uint8_t* y, const BlockOfInts (&v)[4], int16_t more, int32_t lo,
                         int32_t hi) {
    int32_t all[4 * kBlock];
    __builtin_memcpy(all, v, sizeof all);
    for (size_t i = 0; i < 4 * kBlock; ++i) {
      int32_t word = (all[i] >> 16) + more;
      word = word > lo ? word : lo;
      y[i] = static_cast<uint8_t>(word < hi ? word : hi);
    }
  }
  // REQUIRES: lanes < 0.
  static bool any_word_below(const BlockOfInts (&v)[4], uint16_t limit) {
    int32_t all[4 * kBlock];
    __builtin_memcpy(all, v, sizeof all);
    int32_t any = 0;
    for (const int32_t lane : all) any |= (lane & 0xffff) - limit;
    return any < 0;
  }
};

}  // namespace

void resize_f32_scalar(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                       size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  row_f32<Lanes>(row, planes, plane_count, bytes, y);
}
void resize_columns_scalar(const ResizeRow<float>& row, const float* source, float* y) {
  weigh_columns(row, source, y);
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

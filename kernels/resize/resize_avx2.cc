#include "kernels/isa/vec_avx2.h"
#include "kernels/resize/resize_loops.h"

namespace qrt {
namespace {

struct Lanes : avx2::Vec {
  static void store_low_bytes(uint8_t* y, BlockOfInts v) {
    Vec::store_low_bytes(y, reinterpret_cast<Int>(v));
  }
  static Block limited(Block v, Block low, Block high) {
    v = v > low ? v : low;
    return v < high ? v : high;
  }
  static BlockOfInts truncate(Block v) { return __builtin_convertvector(v, BlockOfInts); }
  static Block fma(Block a, Block b, Block c) {
    return reinterpret_cast<Block>(Vec::fma(reinterpret_cast<Float>(a), reinterpret_cast<Float>(b),
                                            reinterpret_cast<Float>(c)));
  }
  static void store_high(uint8_t* y, const BlockOfInts (&v)[4], int16_t more, int32_t lo,
                         int32_t hi) {
    const auto words = [&](BlockOfInts a, BlockOfInts b) {
      return add16(packs32(reinterpret_cast<Int>(a >> 16), reinterpret_cast<Int>(b >> 16)),
                   splat16(more));
    };
    const Int bytes = in_order(packus16(words(v[0], v[1]), words(v[2], v[3])), order_of_packs());
    store(y, min_u8(max_u8(bytes, splat8(lo)), splat8(hi)));
  }
  static bool any_word_below(const BlockOfInts (&v)[4], uint16_t limit) {
    const auto least = [](BlockOfInts a, BlockOfInts b) {
      return _mm256_min_epu16(reinterpret_cast<Int>(a), reinterpret_cast<Int>(b));
    };
    const Int l = _mm256_min_epu16(least(v[0], v[1]), least(v[2], v[3]));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_max_epu16(l, splat16(limit)), l)) != -1;
  }
};

}  // namespace

void resize_f32_avx2(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                     size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  row_f32<Lanes>(row, planes, plane_count, bytes, y);
}
void resize_columns_avx2(const ResizeRow<float>& row, const float* source, float* y) {
  weigh_columns(row, source, y);
}
void resize_f32_by_columns_avx2(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                                const ResizeColumns& columns, const ResizeBytes& bytes,
                                uint8_t* y) {
  row_by_columns<Lanes>(row, plane, columns, bytes, y);
}
void resize_u8_avx2(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset,
                    const uint8_t* low, const uint8_t* high, uint8_t* y) {
  row_u8(row, round, offset, low, high, y);
}
void resize_s16_avx2(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
                     const int16_t* high, int16_t* y) {
  row_s16(row, round, low, high, y);
}
void resize_fine_avx2(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
                      const int16_t* high, int32_t* y) {
  row_fine(row, zero_point, low, high, y);
}
void resize_blend_avx2(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high,
                       int32_t* y) {
  blend_rows(low_weight, high_weight, n, high, y);
}

}  // namespace qrt

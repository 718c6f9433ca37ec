#include "kernels/isa/vec_avx2.h"
#include "kernels/resize/integer_loops.h"
#include "kernels/resize/lanes_x86.h"

namespace qrt {
namespace {

struct Lanes : LanesX86<avx2::Vec, Lanes> {
  static void store_first(uint8_t* y, Int v) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(y), _mm256_castsi256_si128(v));
  }
  static Int high_words(Int a, Int b) {
    return packs32(_mm256_srai_epi32(a, 16), _mm256_srai_epi32(b, 16));
  }
  static bool any_word_below(const Int (&v)[4], uint16_t limit) {
    const Int least = _mm256_min_epu16(_mm256_min_epu16(v[0], v[1]), _mm256_min_epu16(v[2], v[3]));
    const Int is_not = _mm256_cmpeq_epi16(_mm256_max_epu16(least, splat16(limit)), least);
    return _mm256_movemask_epi8(is_not) != -1;
  }
  static uint32_t words_below(Int v, uint16_t limit) {
    const Int is = _mm256_cmpgt_epi32(splat32(limit), _mm256_and_si256(v, splat32(0xffff)));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is)));
  }
};

}  // namespace

void resize_f32_avx2(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                     const ResizeBytes& bytes, uint8_t* y) {
  row_f32<Lanes>(row, plane, bytes, y);
}
void resize_f32_general_avx2(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                             size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  row_f32_general<Lanes>(row, planes, plane_count, bytes, y);
}
void resize_columns_avx2(const ResizeRow<float>& row, const float* source, float* y) {
  weigh_columns<Lanes>(row, source, y);
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

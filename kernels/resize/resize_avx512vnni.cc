// The float forms of images; the others are those of AVX2.
#include "kernels/isa/vec_avx512vnni.h"
#include "kernels/resize/lanes_x86.h"

namespace qrt {
namespace {

struct Lanes : LanesX86<avx512vnni::Vec, Lanes> {
  static void store_first(uint8_t* y, Int v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_castsi512_si128(v));
  }
  static Int high_words(Int a, Int b) {
    alignas(64) static constexpr uint16_t kFrom[] = {1,  3,  5,  7,  33, 35, 37, 39, 9,  11, 13,
                                                     15, 41, 43, 45, 47, 17, 19, 21, 23, 49, 51,
                                                     53, 55, 25, 27, 29, 31, 57, 59, 61, 63};
    return _mm512_permutex2var_epi16(a, load(kFrom), b);
  }
  static bool any_word_below(const Int (&v)[4], uint16_t limit) {
    const Int least = _mm512_min_epu16(_mm512_min_epu16(v[0], v[1]), _mm512_min_epu16(v[2], v[3]));
    return _mm512_cmplt_epu16_mask(least, splat16(limit)) != 0;
  }
  static uint32_t words_below(Int v, uint16_t limit) {
    return _mm512_cmplt_epi32_mask(_mm512_and_si512(v, splat32(0xffff)), splat32(limit));
  }
};

}  // namespace

void resize_f32_avx512vnni(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                           const ResizeBytes& bytes, uint8_t* y) {
  row_f32<Lanes>(row, plane, bytes, y);
}
void resize_columns_avx512vnni(const ResizeRow<float>& row, const float* source, float* y) {
  weigh_columns<Lanes>(row, source, y);
}
void resize_f32_by_columns_avx512vnni(const ResizeRow<float>& row,
                                      const ResizePlane<float, float>& plane,
                                      const ResizeColumns& columns, const ResizeBytes& bytes,
                                      uint8_t* y) {
  row_by_columns<Lanes>(row, plane, columns, bytes, y);
}

}  // namespace qrt

// PairLut's look-ups against indexing, with guard pages and a table that is not aligned.
#include "kernels/lut/pair_lut.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Guarded;
using testing::Random;

template <class T>
void check(void (*map)(const uint8_t*, const PairLutRun&)) {
  Random random;
  SCOPED_TRACE(random.trace());
  Guarded<uint8_t> table(kPairs * sizeof(T));
  random.fill(table, 0, 255);
  for (const size_t n : {1, 2, 31, 64, 65, 1000}) {
    for (int scalars = 0; scalars < 4; ++scalars) {
      const bool a_is_scalar = scalars & 1, b_is_scalar = scalars & 2;
      Guarded<uint8_t> a(a_is_scalar ? 1 : n), b(b_is_scalar ? 1 : n), y(n * sizeof(T));
      random.fill(a, 0, 255);
      random.fill(b, 0, 255);
      map(table.data(), {a.data(), b.data(), a_is_scalar, b_is_scalar, y.data(), n});
      for (size_t i = 0; i < n; ++i) {
        const size_t at = size_t{256} * a[a_is_scalar ? 0 : i] + b[b_is_scalar ? 0 : i];
        ASSERT_EQ(memcmp(y.data() + i * sizeof(T), table.data() + at * sizeof(T), sizeof(T)), 0)
            << n << ", " << i;
      }
    }
  }
}

TEST(PairLut, Bytes) { check<uint8_t>(pair_lut_u8); }

TEST(PairLut, Floats) { check<float>(pair_lut_f32); }

}  // namespace
}  // namespace qrt

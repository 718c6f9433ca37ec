// SPDX-License-Identifier: Apache-2.0
// Packed elements of 4 and 2 bits against the bit numbers of the contract.
#include "kernels/edge/packed.h"

#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::packed_test {
namespace {

using testing::Guarded;

// Elements are packed into the lowest bits first and unpacked: sizes on both sides of a word of
// eight elements, in buffers that end at guard pages.
TEST(Packed, PacksIntoTheLowestBitsFirstAndUnpacks) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const int bits : {4, 2}) {
    for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 65, 257}) {
      const size_t bytes = (n * static_cast<size_t>(bits) + 7) / 8;
      Guarded<uint8_t> codes(n), packed(bytes), back(n);
      for (auto& c : codes) c = static_cast<uint8_t>(random.integer(0, 255));
      pack_codes(bits, codes.data(), n, packed.data());
      const int mask = (1 << bits) - 1;
      for (size_t i = 0; i < bytes * 8 / static_cast<size_t>(bits); ++i) {
        const size_t at = i * static_cast<size_t>(bits);
        ASSERT_EQ(packed[at / 8] >> at % 8 & mask, i < n ? codes[i] & mask : 0)
            << i << " of " << n << ", " << bits << " bits";
      }
      unpack_codes(bits, false, packed.data(), n, back.data());
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(int{back[i]}, codes[i] & mask);
      unpack_codes(bits, true, packed.data(), n, back.data());
      for (size_t i = 0; i < n; ++i) {
        const int code = codes[i] & mask;
        const int value = code < (1 << (bits - 1)) ? code : code - (1 << bits);
        ASSERT_EQ(int{static_cast<int8_t>(back[i])}, value) << i << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace qrt::packed_test

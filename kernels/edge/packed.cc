// SPDX-License-Identifier: Apache-2.0
// Eight elements in the bytes of one word: gathered by three shifts, expand_fields by three more.
#include "kernels/edge/packed.h"

#include <string.h>

namespace qrt {
namespace {

constexpr uint64_t repeat(uint8_t byte) { return 0x0101010101010101u * byte; }

// Packs a word: byte i becomes bits [i * kBits, (i + 1) * kBits) of the result.
template <int kBits>
inline uint32_t gather(uint64_t w) {
  w &= repeat((1 << kBits) - 1);
  if (kBits == 4) {
    w = (w | w >> 4) & 0x00ff00ff00ff00ffu;
    w = (w | w >> 8) & 0x0000ffff0000ffffu;
    return static_cast<uint32_t>(w | w >> 16);
  }
  w = (w | w >> 6) & 0x000f000f000f000fu;
  w = (w | w >> 12) & 0x000000ff000000ffu;
  return static_cast<uint32_t>((w | w >> 24) & 0xffff);
}

template <int kBits>
inline uint64_t expand_fields(uint32_t packed) {
  uint64_t w = packed;
  if (kBits == 4) {
    w = (w | w << 16) & 0x0000ffff0000ffffu;
    w = (w | w << 8) & 0x00ff00ff00ff00ffu;
    return (w | w << 4) & repeat(15);
  }
  w = (w | w << 24) & 0x000000ff000000ffu;
  w = (w | w << 12) & 0x000f000f000f000fu;
  return (w | w << 6) & repeat(3);
}

// Copies the code's top bit into the byte's bits above it.
template <int kBits>
inline uint64_t sign_extend(uint64_t w) {
  const uint64_t sign = w >> (kBits - 1) & repeat(1);
  return w | sign * (0x100 - (1 << kBits));
}

template <int kBits>
void pack(const uint8_t* codes, size_t n, uint8_t* packed) {
  for (; n > 0; codes += 8, packed += kBits) {
    const size_t count = n < 8 ? n : 8;
    uint64_t w = 0;
    memcpy(&w, codes, count);
    const uint32_t out = gather<kBits>(w);
    memcpy(packed, &out, (count * kBits + 7) / 8);
    n -= count;
  }
}

template <int kBits>
void unpack(bool is_signed, const uint8_t* packed, size_t n, uint8_t* codes) {
  for (; n > 0; codes += 8, packed += kBits) {
    const size_t count = n < 8 ? n : 8;
    uint32_t in = 0;
    memcpy(&in, packed, (count * kBits + 7) / 8);
    uint64_t w = expand_fields<kBits>(in);
    if (is_signed) w = sign_extend<kBits>(w);
    memcpy(codes, &w, count);
    n -= count;
  }
}

}  // namespace

void pack_codes(int bits, const uint8_t* codes, size_t n, uint8_t* packed) {
  bits == 4 ? pack<4>(codes, n, packed) : pack<2>(codes, n, packed);
}

void unpack_codes(int bits, bool is_signed, const uint8_t* packed, size_t n, uint8_t* codes) {
  bits == 4 ? unpack<4>(is_signed, packed, n, codes) : unpack<2>(is_signed, packed, n, codes);
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/hash.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace qrt::tool {
namespace {

constexpr size_t kBlock = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

void add_block(const uint8_t* block, uint32_t state[8]) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; ++i)
    w[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
           static_cast<uint32_t>(block[4 * i + 1]) << 16 |
           static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  memcpy(s, state, sizeof s);
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i];
    const uint32_t u = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += t;
    s[0] = t + u;
  }
  for (size_t i = 0; i < 8; ++i) state[i] += s[i];
}

// The remainders (CRC-32) of all 256 bytes, with the polynomial's bits reversed.
struct CrcTable {
  uint32_t of[256] = {};
  constexpr CrcTable() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t r = byte;
      for (int bit = 0; bit < 8; ++bit) r = r >> 1 ^ (r & 1 ? 0xedb88320 : 0);
      of[byte] = r;
    }
  }
};
constexpr CrcTable kCrc;

}  // namespace

void Crc32::add(const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < bytes; ++i) state_ = state_ >> 8 ^ kCrc.of[(state_ ^ p[i]) & 255];
}

std::string Fnv1a::text() const {
  char text[17];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
  return text;
}

std::string sha256(const void* data, size_t bytes) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* p = static_cast<const uint8_t*>(data);
  size_t left = bytes;
  for (; left >= kBlock; left -= kBlock, p += kBlock) add_block(p, state);
  // A bit 1, zeros, and the number of bits end the last block.
  uint8_t last[2 * kBlock] = {};
  if (left > 0) memcpy(last, p, left);
  last[left] = 0x80;
  const size_t size = left + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (size_t i = 0; i < 8; ++i)
    last[size - 1 - i] = static_cast<uint8_t>(static_cast<uint64_t>(bytes) * 8 >> 8 * i);
  for (size_t at = 0; at < size; at += kBlock) add_block(last + at, state);
  std::string text;
  for (const uint32_t word : state) {
    char digits[9];
    snprintf(digits, sizeof digits, "%08x", word);
    text += digits;
  }
  return text;
}

}  // namespace qrt::tool

// SPDX-License-Identifier: Apache-2.0
#include "runtime/checksum.h"

#include <string.h>

namespace qrt {
namespace {

constexpr uint64_t kPrime[] = {0x9e3779b185ebca87u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                               0x85ebca77c2b2ae63u, 0x27d4eb2f165667c5u};
constexpr size_t kStripe = 32;  // bytes, eight for each of four sums

constexpr char kMagic[8] = "QRTSUM1";

uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// Reads a word. The file's words are little-endian, as are all processors that qrt runs on.
uint64_t read64(const uint8_t* p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}
uint64_t read32(const uint8_t* p) {
  uint32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

uint64_t mix(uint64_t sum, uint64_t word) { return rotate(sum + word * kPrime[1], 31) * kPrime[0]; }

}  // namespace

uint64_t xxh64(const uint8_t* data, size_t bytes) {
  const uint8_t *p = data, *const end = data + bytes;
  uint64_t hash = kPrime[4];
  if (bytes >= kStripe) {
    uint64_t a = kPrime[0] + kPrime[1], b = kPrime[1], c = 0, d = 0 - kPrime[0];
    for (; static_cast<size_t>(end - p) >= kStripe; p += kStripe) {
      a = mix(a, read64(p));
      b = mix(b, read64(p + 8));
      c = mix(c, read64(p + 16));
      d = mix(d, read64(p + 24));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    for (const uint64_t sum : {a, b, c, d}) hash = (hash ^ mix(0, sum)) * kPrime[0] + kPrime[3];
  }
  hash += bytes;
  for (; end - p >= 8; p += 8) hash = rotate(hash ^ mix(0, read64(p)), 27) * kPrime[0] + kPrime[3];
  for (; end - p >= 4; p += 4)
    hash = rotate(hash ^ read32(p) * kPrime[0], 23) * kPrime[1] + kPrime[2];
  for (; p < end; ++p) hash = rotate(hash ^ *p * kPrime[4], 11) * kPrime[0];
  hash = (hash ^ hash >> 33) * kPrime[1];
  hash = (hash ^ hash >> 29) * kPrime[2];
  return hash ^ hash >> 32;
}

void write_checksum(uint8_t* file, size_t bytes) {
  memcpy(file + bytes - kChecksumBytes, kMagic, sizeof kMagic);
  const uint64_t sum = xxh64(file, bytes - sizeof(uint64_t));
  memcpy(file + bytes - sizeof sum, &sum, sizeof sum);
}

Status check_checksum(const uint8_t* file, size_t bytes) {
  if (bytes < kChecksumBytes) return {};
  if (memcmp(file + bytes - kChecksumBytes, kMagic, sizeof kMagic) != 0) return {};
  const uint64_t sum = xxh64(file, bytes - sizeof(uint64_t));
  QRT_MODEL_CHECK(sum == read64(file + bytes - sizeof sum),
                  "the file is damaged: its bytes do not have the checksum at its end");
  return {};
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Digests of bytes, in hexadecimal digits.
#ifndef QRT_RUNTIME_TOOLS_HASH_H_
#define QRT_RUNTIME_TOOLS_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace qrt::tool {

// 64-bit FNV-1a, 16 digits: tells values apart, not forgeries.
class Fnv1a {
 public:
  void add(const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      state_ = (state_ ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  }
  std::string text() const;

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

// CRC-32 as zip archives have it, zlib's.
class Crc32 {
 public:
  void add(const void* data, size_t bytes);
  uint32_t value() const { return ~state_; }

 private:
  uint32_t state_ = UINT32_MAX;
};

// Returns the SHA-256 (FIPS 180-4) in 64 digits, as sha256sum prints it.
std::string sha256(const void* data, size_t bytes);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_HASH_H_

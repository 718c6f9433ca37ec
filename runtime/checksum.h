// SPDX-License-Identifier: Apache-2.0
// The checksum at the end of a model file. Its last 16 bytes are "QRTSUM1" with a zero, and XXH64 (seed 0)
// of all bytes before that hash, low byte first. They are part of the slack behind the last buffer, to
// which nothing in the file refers, so a reader need not know of them.
#ifndef QRT_RUNTIME_CHECKSUM_H_
#define QRT_RUNTIME_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace qrt {

// Returns XXH64 with seed 0, as Yann Collet published it.
uint64_t xxh64(const uint8_t* data, size_t bytes);

constexpr size_t kChecksumBytes = 16;

// Writes the checksum of a file into its last bytes. REQUIRES: there are as many, and nothing refers to
// them.
void write_checksum(uint8_t* file, size_t bytes);

// Returns kInvalidModel where the file has a checksum that its bytes do not have. Files of older
// converters have none.
Status check_checksum(const uint8_t* file, size_t bytes);

}  // namespace qrt

#endif  // QRT_RUNTIME_CHECKSUM_H_

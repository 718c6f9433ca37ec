// SPDX-License-Identifier: Apache-2.0
// Elements of 4 and 2 bits: packed, the first in the lowest bits of a byte, or one per byte as
// codes. Portable; whole words of eight elements at a time.
#ifndef QRT_KERNELS_EDGE_PACKED_H_
#define QRT_KERNELS_EDGE_PACKED_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// Packs the low `bits` (4 or 2) of n codes into ceil(n * bits / 8) bytes; bits behind the last code are 0.
void pack_codes(int bits, const uint8_t* codes, size_t n, uint8_t* packed);

// Unpacks n codes from the start of a byte, sign extended to int8 where is_signed.
void unpack_codes(int bits, bool is_signed, const uint8_t* packed, size_t n, uint8_t* codes);

}  // namespace qrt

#endif  // QRT_KERNELS_EDGE_PACKED_H_

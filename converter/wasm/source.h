// SPDX-License-Identifier: Apache-2.0
// The file that the WebAssembly module converts: bytes in its memory, since it has no file system. Whatever path is
// read is this file.
#ifndef QRT_CONVERTER_WASM_SOURCE_H_
#define QRT_CONVERTER_WASM_SOURCE_H_

#include <cstddef>
#include <cstdint>

namespace qrt::convert {

// Sets the file, whose bytes stay the caller's.
void set_source(const uint8_t* data, size_t bytes);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_WASM_SOURCE_H_

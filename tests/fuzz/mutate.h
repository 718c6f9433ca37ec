// SPDX-License-Identifier: Apache-2.0
// Other files from one, most of which still read as a model.
#ifndef QRT_TESTS_FUZZ_MUTATE_H_
#define QRT_TESTS_FUZZ_MUTATE_H_

#include <cstdint>
#include <vector>

namespace qrt::fuzz {

// Returns a mutated file; empty where the given one is no whole flatbuffer of a model: of a .qrt
// file, of a TFLite file, of a plain ESP-DL file.
std::vector<uint8_t> mutate_model(const std::vector<uint8_t>& file, unsigned seed);
std::vector<uint8_t> mutate_tflite(const std::vector<uint8_t>& file, unsigned seed);
std::vector<uint8_t> mutate_espdl(const std::vector<uint8_t>& file, unsigned seed);

// Mutates a file as fuzz_cvm() takes it; empty where it is too short.
std::vector<uint8_t> mutate_cvm(const std::vector<uint8_t>& file, unsigned seed);

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_MUTATE_H_

// SPDX-License-Identifier: Apache-2.0
// The files that the fuzzers start from: small ones of every kind, made from tests/models and the
// model builder.
#ifndef QRT_TESTS_FUZZ_SEEDS_H_
#define QRT_TESTS_FUZZ_SEEDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace qrt::fuzz {

// Returns the seeds of the target of this name.
std::vector<std::vector<uint8_t>> seeds(const std::string& target);

std::vector<uint8_t> read_file(const std::string& path);

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_SEEDS_H_

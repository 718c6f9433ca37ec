// SPDX-License-Identifier: Apache-2.0
// Random models for the differential driver, from the generators that the fuzzer and the comparison
// with ONNX Runtime have.
#ifndef QRT_TESTS_DIFFERENTIAL_MODELS_H_
#define QRT_TESTS_DIFFERENTIAL_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace qrt::differential {

struct RandomModel {
  std::string name;  // which generator made it, and from which number
  std::vector<uint8_t> file;
};

// Returns the model of this number; an empty file where the generator's graph is refused. Even numbers
// are graphs of operators (tests/fuzz), odd ones converted ONNX graphs (tests/onnxruntime), every other
// of these with layers left in float.
RandomModel random_model(uint64_t seed, uint64_t number);

}  // namespace qrt::differential

#endif  // QRT_TESTS_DIFFERENTIAL_MODELS_H_

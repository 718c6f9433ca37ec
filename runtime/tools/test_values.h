// SPDX-License-Identifier: Apache-2.0
// Values to test a model with that its file holds: inputs, and what the model must make of them.
// qrt_convert --keep-test-values puts them there, qrt_run --check runs them.
#ifndef QRT_RUNTIME_TOOLS_TEST_VALUES_H_
#define QRT_RUNTIME_TOOLS_TEST_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/verify.h"

namespace qrt::tool {

// Indices of the file's buffers, one for each of the model's inputs and outputs, and the sizes of the model's open dimensions
// that they have: the batch where it is one of them, then those of the symbols in the file's order; none are the model's own. The
// file's metadata "test_values" tells them: "5 6 > 7", two inputs and an output, or "5 6 > 7 @ 2 128", at a batch of 2 and at a
// size of 128 of the only symbol.
struct TestBuffers {
  std::vector<uint32_t> inputs, outputs;
  std::vector<int64_t> sizes;
};

constexpr char kTestValuesKey[] = "test_values";
std::string text_of(const TestBuffers& buffers);

// Finds the model's test values. Fails with kInvalidArgument where it holds none, kInvalidModel
// where they do not fit the model.
Status find_test_buffers(const VerifiedModel& model, TestBuffers* buffers);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_TEST_VALUES_H_

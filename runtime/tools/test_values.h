// Values to test a model with that its file holds: inputs, and what the model must make of them.
// qrt_convert --keep-test-values puts them there, qrt_run --check runs them.
#ifndef QRT_RUNTIME_TOOLS_TEST_VALUES_H_
#define QRT_RUNTIME_TOOLS_TEST_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/status.h"

namespace qrt::tool {

// Indices of the file's buffers, one for each of the model's inputs and outputs. The file's metadata
// "test_values" tells them: "5 6 > 7", two inputs and an output.
struct TestBuffers {
  std::vector<uint32_t> inputs, outputs;
};

constexpr char kTestValuesKey[] = "test_values";
std::string text_of(const TestBuffers& buffers);

// Of a verified model. kInvalidArgument: it holds none; kInvalidModel: what it tells is wrong.
Status find_test_buffers(const fb::Model& model, TestBuffers* buffers);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_TEST_VALUES_H_

// SPDX-License-Identifier: Apache-2.0
// Runs a converted model on inputs that its source file holds, or a folder beside it, and compares with
// the outputs that stand beside them: --check.
#ifndef QRT_CONVERTER_CHECK_VALUES_H_
#define QRT_CONVERTER_CHECK_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan.h"
#include "runtime/status.h"
#include "runtime/tensor.h"
#include "runtime/verify.h"

namespace qrt::convert {

struct TestTensor {
  std::string name;  // name of the input or output in the model
  DType dtype = DType::kInt8;
  Shape shape;
  std::vector<uint8_t> data;
};

struct TestValues {
  std::vector<TestTensor> inputs, outputs;
};

// Returns the values of this name, or null.
const TestTensor* find_values(const std::vector<TestTensor>& values, const std::string& name);

// Sets the batch and the sizes of a plan to those that the values' inputs have; an open dimension that none of them
// has keeps the model's own size. kInvalidModel where two of them have different sizes for one dimension.
Status find_sizes(const VerifiedModel& model, const TestValues& values, PlanOptions* options);

// Checks that there are values for every input and output of a plan at find_sizes(), of their types and sizes.
// kInvalidArgument where some are missing, kInvalidModel where others are needed.
Status check_fit(const VerifiedModel& model, const Plan& plan, const TestValues& values);

struct CheckedOutput {
  std::string name;
  size_t elements = 0, different = 0;
  double worst = 0;  // greatest difference
  // Integers by 1 at most, floats by 2^-20 of themselves or 10^-6: exporters compute test values in
  // floating point, in an order of their own.
  bool is_near = true;
};

// Runs `model`, the bytes of a .qrt file, at the sizes that the values have. kInvalidArgument or kInvalidModel where
// names, types or sizes of the values are not those of the model's inputs and outputs.
Status check_values(const std::vector<uint8_t>& model, const TestValues& values,
                    std::vector<CheckedOutput>* outputs);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_CHECK_VALUES_H_

// Runs a converted model on inputs that its source file holds, or a folder beside it, and compares with
// the outputs that stand beside them: --check.
#ifndef QRT_CONVERTER_CHECK_VALUES_H_
#define QRT_CONVERTER_CHECK_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt::convert {

struct TestTensor {
  std::string name;  // of the model's input or output
  DType dtype = DType::kInt8;
  Shape shape;
  std::vector<uint8_t> data;
};

struct TestValues {
  std::vector<TestTensor> inputs, outputs;
};

// The values of a model's input or output (`kind`) of this name, type and size. kInvalidArgument:
// there are none.
Status find_values(const std::vector<TestTensor>& values, const char* kind, const std::string& name,
                   DType dtype, size_t bytes, const TestTensor** found);

struct CheckedOutput {
  std::string name;
  size_t elements = 0, different = 0;
  double worst = 0;  // greatest difference
  // Integers by 1 at most, floats by 2^-20 of themselves or 10^-6: exporters compute test values in
  // floating point, in an order of their own.
  bool is_near = true;
};

// `model`: bytes of a .qrt file, run at the batch of the values where it leaves that open. kInvalidArgument where names, types or sizes of the values are not
// those of the model's inputs and outputs.
Status check_values(const std::vector<uint8_t>& model, const TestValues& values,
                    std::vector<CheckedOutput>* outputs);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_CHECK_VALUES_H_

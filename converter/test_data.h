// SPDX-License-Identifier: Apache-2.0
// qrt_convert --test-data: values to test a model with that lie in a folder beside it.
#ifndef QRT_CONVERTER_TEST_DATA_H_
#define QRT_CONVERTER_TEST_DATA_H_

#include <string>

#include "converter/check_values.h"
#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert {

// Reads a folder as ONNX's model zoo and its backend tests have them (test_data_set_0): input_0.pb,
// output_0.pb and so on, a TensorProto each, or .npy instead. They are for the graph's input or
// output of their name, else of their number. Fails with kInvalidArgument where one is missing or
// left over; kIoError, kInvalidModel, kUnsupported as of the files.
Status read_test_data(const std::string& folder, const Graph& graph, TestValues* values);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_TEST_DATA_H_

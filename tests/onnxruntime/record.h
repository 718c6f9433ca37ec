// SPDX-License-Identifier: Apache-2.0
// Writes down what qrt makes of a model, for the scripts that compare it with ONNX Runtime: a line
// of JSON, and the bytes of the tensors that it names.
#ifndef QRT_TESTS_ONNXRUNTIME_RECORD_H_
#define QRT_TESTS_ONNXRUNTIME_RECORD_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/support/runner.h"

namespace qrt::onnxruntime {

using Json = nlohmann::json;

struct Record {
  Json json;
  std::string bytes;

  // Keeps a tensor's data and returns how the line describes it. `type` is ONNX's number or qrt's name.
  Json add(const std::string& name, const Json& type, const std::vector<int64_t>& dims,
           const testing::Bytes& data);
};

// Converts an ONNX file and loads what came of it. *json tells "status" ("ok", "refused", "internal error" or "failed"), the
// "op" that is refused, "message", and "has_float" where a layer is left in float. Null unless "ok". The model stays in *bytes.
qrt_model* convert_and_load(const std::string& path, bool allow_float, Json* json,
                            testing::Bytes* bytes);

// Runs a loaded model in a session of these options. *run tells its "outputs", or "status" and "message".
void run_model(const qrt_model* model, const onnx::GraphProto& graph,
               const std::vector<testing::Bytes>& inputs, const qrt_session_options& options,
               Record* record, Json* run);

}  // namespace qrt::onnxruntime

#endif  // QRT_TESTS_ONNXRUNTIME_RECORD_H_

// SPDX-License-Identifier: Apache-2.0
// Loads and runs models through the public C API.
#ifndef QRT_TESTS_SUPPORT_RUNNER_H_
#define QRT_TESTS_SUPPORT_RUNNER_H_

#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace qrt::testing {

using Bytes = std::vector<uint8_t>;

template <class T>
Bytes to_bytes(const std::vector<T>& elements) {
  Bytes bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> from_bytes(const Bytes& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!bytes.empty()) memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

struct RunOptions {
  size_t batch = 0;
  size_t threads = 1;
  const char* isa = nullptr;
  std::vector<qrt_dim> dims = {};  // sizes of open dimensions
};

// The outcome of loading a model, making a session and running it.
struct RunResult {
  qrt_status status = QRT_OK;  // of the first step that failed
  std::string message;
  std::vector<Bytes> outputs;
  std::vector<std::string> kernels;  // by operator
};

// Returns the instruction sets of this machine, "scalar" first.
inline std::vector<const char*> machine_isas() {
  std::vector<const char*> isas;
  for (size_t i = 0; qrt_isa(i) != nullptr; ++i) isas.push_back(qrt_isa(i));
  return isas;
}

inline qrt_session_options session_options(const RunOptions& options) {
  qrt_session_options o;
  qrt_struct_init(&o);
  o.batch = options.batch;
  o.threads = options.threads;
  o.isa = options.isa;
  o.dims = options.dims.data();
  o.dim_count = options.dims.size();
  return o;
}

// Runs a model. `inputs` may be shorter than the model's list: the others stay zero.
inline RunResult run_model(const Bytes& file, const std::vector<Bytes>& inputs,
                           const RunOptions& options = {}) {
  RunResult result;
  qrt_error error = {};
  qrt_model* model = nullptr;
  qrt_session* session = nullptr;
  result.status = qrt_model_load_memory(file.data(), file.size(), nullptr, &model, &error);
  const std::unique_ptr<qrt_model, void (*)(qrt_model*)> model_owner(model, qrt_model_destroy);
  if (result.status == QRT_OK) {
    const qrt_session_options o = session_options(options);
    result.status = qrt_session_create(model, &o, &session, &error);
  }
  const std::unique_ptr<qrt_session, void (*)(qrt_session*)> session_owner(session,
                                                                           qrt_session_destroy);
  for (size_t i = 0; i < inputs.size() && result.status == QRT_OK; ++i) {
    result.status =
        qrt_session_set_input_bytes(session, i, inputs[i].data(), inputs[i].size(), &error);
  }
  if (result.status == QRT_OK) result.status = qrt_session_run(session, &error);
  result.message = error.message;
  if (result.status != QRT_OK) return result;
  for (size_t i = 0; i < qrt_model_output_count(model); ++i) {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    EXPECT_EQ(qrt_session_output_info(session, i, &info), QRT_OK);
    Bytes output(info.bytes);
    EXPECT_EQ(qrt_session_get_output_bytes(session, i, output.data(), output.size(), nullptr),
              QRT_OK);
    result.outputs.push_back(std::move(output));
  }
  for (size_t i = 0; i < qrt_session_op_count(session); ++i) {
    qrt_op_info info;
    qrt_struct_init(&info);
    EXPECT_EQ(qrt_session_op_info(session, i, &info), QRT_OK);
    result.kernels.push_back(info.kernel);
  }
  return result;
}

// Expects that the model is refused with this status and a message that holds `part`.
inline void expect_refused(const Bytes& file, qrt_status status, const std::string& part) {
  const RunResult result = run_model(file, {});
  EXPECT_EQ(result.status, status) << result.message;
  EXPECT_NE(result.message.find(part), std::string::npos)
      << "message: " << result.message << "\nexpected part: " << part;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_RUNNER_H_

// SPDX-License-Identifier: Apache-2.0
// Short forms of qrt.h's functions, for tests.
#ifndef QRT_TESTS_SUPPORT_C_API_H_
#define QRT_TESTS_SUPPORT_C_API_H_

#include <cstddef>
#include <numeric>
#include <vector>

#include "qrt/qrt.h"

namespace qrt::testing {

// Loads a copy of the bytes.
inline qrt_status load_copy(const void* data, size_t size, qrt_model** model, qrt_error* error) {
  qrt_load_options options;
  qrt_struct_init(&options);
  options.flags = QRT_LOAD_COPY;
  return qrt_model_load_memory(data, size, &options, model, error);
}

inline qrt_model_info info_of(const qrt_model* model) {
  qrt_model_info info;
  qrt_struct_init(&info);
  qrt_model_get_info(model, &info);
  return info;
}

inline qrt_session_info info_of(const qrt_session* session) {
  qrt_session_info info;
  qrt_struct_init(&info);
  qrt_session_get_info(session, &info);
  return info;
}

inline size_t memory_of(const qrt_session* session) { return info_of(session).memory; }
inline size_t threads_of(const qrt_session* session) { return info_of(session).threads; }

// Finds the bytes that a session would hold.
inline qrt_status needed_memory(const qrt_model* model, const qrt_session_options* options,
                                size_t* bytes, qrt_error* error) {
  qrt_session_info info;
  qrt_struct_init(&info);
  const qrt_status status = qrt_session_needed_memory(model, options, &info, error);
  if (status == QRT_OK) *bytes = info.memory;
  return status;
}

// Makes all inputs, all outputs or both external in `options`, for as long as this lives.
class External {
 public:
  void add_inputs(const qrt_model* model, qrt_session_options* options) {
    options->external_input_count = fill(qrt_model_input_count(model), &inputs_);
    options->external_inputs = inputs_.data();
  }
  void add_outputs(const qrt_model* model, qrt_session_options* options) {
    options->external_output_count = fill(qrt_model_output_count(model), &outputs_);
    options->external_outputs = outputs_.data();
  }

 private:
  static size_t fill(size_t count, std::vector<size_t>* indices) {
    indices->resize(count);
    std::iota(indices->begin(), indices->end(), size_t{0});
    return count;
  }
  std::vector<size_t> inputs_, outputs_;
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_C_API_H_

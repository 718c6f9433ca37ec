// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/run/self_check.h"

#include <cstdio>
#include <utility>

#include "runtime/text.h"
#include "runtime/tools/digests.h"
#include "runtime/tools/elements.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/test_values.h"

namespace qrt::tool {
namespace {

// Finds the bytes of a test value, which must be as many as the tensor takes.
Status find_values(const RunOptions& options, const fb::Model& file, uint32_t buffer,
                   const qrt_tensor_info& info, const uint8_t** data) {
  const auto* found = file.buffers()->Get(buffer)->data();
  const size_t size = found == nullptr ? 0 : found->size();
  *data = found == nullptr ? nullptr : found->data();
  if (size == info.bytes) return {};
  return error(Code::kInvalidModel, "%s: %zu bytes of test values for '%s', which takes %zu",
               options.model.c_str(), size, info.name, info.bytes);
}

// Returns the sizes that the test values have of the model's open dimensions; the names are the model's.
std::vector<qrt_dim> dims_of(const Model& model, const TestBuffers& tests) {
  std::vector<qrt_dim> dims;
  for (size_t i = 0; i < tests.sizes.size(); ++i)
    dims.push_back({model.dim_info(i).name, tests.sizes[i]});
  return dims;
}

Status put_inputs(const RunOptions& options, const fb::Model& file, const TestBuffers& tests,
                  Session* session) {
  for (size_t i = 0; i < tests.inputs.size(); ++i) {
    const qrt_tensor_info info = session->input_info(i);
    const uint8_t* data;
    QRT_TRY(find_values(options, file, tests.inputs[i], info, &data));
    session->set_input_bytes(i, data, info.bytes);
  }
  return {};
}

Status check_outputs(const RunOptions& options, const fb::Model& file, const TestBuffers& tests,
                     const Session& session, bool* equal) {
  for (size_t i = 0; i < tests.outputs.size(); ++i) {
    const qrt_tensor_info info = session.output_info(i);
    const uint8_t* data;
    QRT_TRY(find_values(options, file, tests.outputs[i], info, &data));
    const Difference d = compare(dtype_of(info), qrt_session_output_data(session.get(), i), data,
                                 static_cast<size_t>(shape_of(info).elements()));
    printf("check output %zu '%s': %s\n", i, escaped(info.name).c_str(), describe(d).c_str());
    *equal &= d.different == 0;
  }
  return {};
}

// Returns a text such as "12 'conv' (Conv2D, from Conv+Relu)".
std::string describe_operator(const fb::Operator& op, size_t index) {
  const auto text = [](const flatbuffers::String* s) {
    return s != nullptr ? escaped(s->str()) : std::string();
  };
  const std::string source = text(op.source_op());
  return std::to_string(index) + " '" + text(op.name()) + "' (" +
         fb::EnumNameOpOptions(op.options_type()) + (source.empty() ? "" : ", from " + source) +
         ")";
}

// Runs all operators on the inputs for which the file has digests. The first operator that differs
// is the wrong one: differences behind it may follow from that.
Status check_operators(const RunOptions& options, SessionOptions session_options,
                       const Model& model, const fb::Model& file, const TestBuffers& tests,
                       const std::vector<OperatorDigest>& told, bool* equal) {
  session_options.keep_all = true;
  Session session(model, session_options);
  QRT_TRY(put_inputs(options, file, tests, &session));
  session.run();
  std::vector<OperatorDigest> got;
  QRT_TRY(operator_digests(file, session, &got));
  for (size_t i = 0; i < told.size(); ++i) {
    const bool is_damaged = got[i].constants != told[i].constants;
    if (!is_damaged && got[i].outputs == told[i].outputs) continue;
    printf("check operators: the first of %zu that differs is %s: %s\n", told.size(),
           describe_operator(*file.operators()->Get(static_cast<uint32_t>(i)), i).c_str(),
           is_damaged ? "its constants are not those that were converted: the file is damaged"
                      : "its constants are right, its output is not");
    *equal = false;
    return {};
  }
  printf("check operators: all %zu equal\n", told.size());
  return {};
}

}  // namespace

Status self_check(const RunOptions& options, bool* equal) {
  auto verified = load_unchecked(options.model);
  if (!verified.ok()) return std::move(verified.status());
  const fb::Model& file = (*verified)->file();
  std::vector<OperatorDigest> told;
  QRT_TRY(find_digests(file, &told).at(options.model));
  // Compares the checksum last, and only where digests have not already named the damaged operator.
  if (told.empty()) QRT_TRY(check_sum(**verified, options.model));
  TestBuffers tests;
  QRT_TRY(find_test_buffers(**verified, &tests).at(options.model));
  const Model model = Model::load_file(options.model);
  SessionOptions session_options = options.session();
  const std::vector<qrt_dim> dims = dims_of(model, tests);
  session_options.dims = dims.data();
  session_options.dim_count = dims.size();
  Session session(model, session_options);
  QRT_TRY(put_inputs(options, file, tests, &session));
  session.run();
  QRT_TRY(check_outputs(options, file, tests, session, equal));
  if (told.empty()) return {};
  QRT_TRY(check_operators(options, session_options, model, file, tests, told, equal));
  return *equal ? check_sum(**verified, options.model) : Status();
}

}  // namespace qrt::tool

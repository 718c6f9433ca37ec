// SPDX-License-Identifier: Apache-2.0
#include "converter/digests.h"

#include "converter/convert.h"
#include "qrt/qrt.hpp"
#include "runtime/tools/counted.h"
#include "runtime/tools/digests.h"
#include "runtime/tools/inputs.h"
#include "runtime/tools/model_file.h"

namespace qrt::convert {
namespace {

TestTensor test_tensor(const qrt_tensor_info& info, const void* data) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return {info.name, tool::dtype_of(info), tool::shape_of(info), {bytes, bytes + info.bytes}};
}

Status read_inputs(const Model& model, const std::vector<std::string>& given,
                   tool::Inputs* inputs) {
  QRT_TRY(inputs->read_any(model, given));
  if (inputs->steps() > 0)
    return error(Code::kInvalidModel,
                 "the inputs are a sequence of %s, expected one without a dimension in front",
                 tool::counted(inputs->steps(), "run").c_str());
  return {};
}

}  // namespace

Status add_digests(const Graph& graph, const std::vector<std::string>& inputs,
                   std::vector<uint8_t>* bytes) {
  const Model model = Model::load_memory(bytes->data(), bytes->size(), QRT_LOAD_COPY);
  tool::Inputs given;
  QRT_TRY(read_inputs(model, inputs, &given).at("--digests"));
  SessionOptions options;
  tool::Dims dims = given.dims();
  dims.put_in(&options);
  options.keep_all = true;
  Session session(model, options);
  QRT_TRY(given.put(0, &session));
  session.run();
  TestValues tests;
  for (size_t i = 0; i < model.input_count(); ++i)
    tests.inputs.push_back(
        test_tensor(session.input_info(i), qrt_session_input_data(session.get(), i)));
  for (size_t i = 0; i < model.output_count(); ++i)
    tests.outputs.push_back(
        test_tensor(session.output_info(i), qrt_session_output_data(session.get(), i)));
  std::vector<tool::OperatorDigest> digests;
  QRT_TRY(tool::operator_digests(*fb::GetModel(bytes->data()), session, &digests));
  return write_model(graph, bytes, {&tests, {{tool::kDigestsKey, tool::text_of(digests)}}});
}

}  // namespace qrt::convert

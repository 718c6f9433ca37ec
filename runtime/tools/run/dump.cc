// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/run/dump.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/tools/files.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/run/outputs.h"
#include "runtime/tools/source_tensors.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

std::string text_of(const flatbuffers::String* s) { return s != nullptr ? s->str() : ""; }

ordered_json entry(const std::string& file, const qrt_tensor_info& info) {
  ordered_json j = {{"file", file + ".npy"},
                    {"name", info.name},
                    {"dtype", qrt_dtype_name(info.dtype)},
                    {"shape", std::vector<int64_t>(info.dims, info.dims + info.rank)}};
  if (info.quantization->count == 1) {
    j["scale"] = info.quantization->scale[0];
    j["zero_point"] = info.quantization->zero_point[0];
  }
  return j;
}

}  // namespace

Status dump_tensors(const RunOptions& options, const Model& model, const Session& session,
                    NpzWriter* archive) {
  auto verified = load_verified(options.model);
  if (!verified.ok()) return std::move(verified.status());
  const fb::Model& file = (*verified)->file();
  const bool writes = !options.output_dir.empty();
  auto list = ordered_json::array();
  for (size_t i = 0; writes && i < model.input_count(); ++i) {
    const qrt_tensor_info info = session.input_info(i);
    const std::string stem = "input_" + std::to_string(i);
    const void* data = qrt_session_input_data(session.get(), i);
    QRT_TRY(write_npy(options.output_dir + "/" + stem + ".npy", dtype_of(info), shape_of(info),
                      data, info.bytes));
    list.push_back(entry(stem, info));
    list.back()["input"] = i;
  }
  size_t i = 0;
  const auto use = [&](const SourceTensor& t) -> Status {
    char number[32];
    snprintf(number, sizeof number, "tensor_%04zu", i++);
    const std::string part = file_name_of(t.info.name);
    const std::string stem = !writes || part.empty() ? number : number + ("_" + part);
    QRT_TRY(deliver(options, stem, t.info, t.data().data(), archive));
    const fb::Operator& op = *file.operators()->Get(static_cast<uint32_t>(t.op));
    list.push_back(entry(stem, t.info));
    list.back().update({{"node", text_of(op.name())},
                        {"source_op", text_of(op.source_op())},
                        {"operator", fb::EnumNameOpOptions(op.options_type())},
                        {"operator_index", t.op},
                        {"order", std::vector<int>(t.order.begin(), t.order.end())}});
    return {};
  };
  QRT_TRY(each_source_tensor(file, session, use));
  if (!writes) return {};
  const std::string text = list.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  return write_file(options.output_dir + "/index.json", text.data(), text.size());
}

}  // namespace qrt::tool

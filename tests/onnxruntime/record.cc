// SPDX-License-Identifier: Apache-2.0
#include "tests/onnxruntime/record.h"

#include <cstring>

#include "converter/convert.h"

namespace qrt::onnxruntime {
namespace {

const char* name_of(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kUnsupported: return "refused";
    case Code::kInternal: return "internal error";
    default: return "failed";
  }
}

// Records the first refused node and why.
void note_refusal(const convert::Report& report, Json* json) {
  for (const convert::Finding& f : report.findings()) {
    if (f.outcome != convert::Outcome::kRefused) continue;
    (*json)["op"] = f.op;
    (*json)["message"] = f.rule;
    return;
  }
}

}  // namespace

Json Record::add(const std::string& name, const Json& type, const std::vector<int64_t>& dims,
                 const testing::Bytes& data) {
  const size_t at = bytes.size();
  bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return {{"name", name}, {"type", type}, {"dims", dims}, {"at", at}, {"bytes", data.size()}};
}

qrt_model* convert_and_load(const std::string& path, bool allow_float, Json* json,
                            testing::Bytes* bytes) {
  convert::Graph graph;
  convert::Report report;
  Status s = convert::import_onnx(path, &graph, &report, allow_float);
  if (!s.ok()) note_refusal(report, json);
  const bool is_imported = s.ok(), is_open = graph.import_at != nullptr;
  if (s.ok()) s = convert::run_passes(&graph, nullptr);
  if (s.ok()) s = convert::write_model(graph, bytes);
  // Importers refuse, and the pass that opens dimensions; where the writer does, one of them has taken too much.
  const bool opens = is_open && strstr(s.message(), "cannot stay open") != nullptr;
  (*json)["status"] = name_of(is_imported && !opens && !s.ok() ? Code::kInternal : s.code());
  if (!json->contains("message")) (*json)["message"] = s.ok() ? "" : s.message();
  if (!s.ok()) return nullptr;
  for (const convert::Finding& f : report.findings())
    if (f.level == "F") (*json)["has_float"] = true;
  qrt_model* model = nullptr;
  qrt_error error{};
  if (qrt_model_load_memory(bytes->data(), bytes->size(), nullptr, &model, &error) != QRT_OK)
    (*json)["status"] = "failed", (*json)["message"] = error.message;
  return model;
}

void run_model(const qrt_model* model, const onnx::GraphProto& graph,
               const std::vector<testing::Bytes>& inputs, const qrt_session_options& options,
               Record* record, Json* run) {
  qrt_session* session = nullptr;
  qrt_error error{};
  qrt_status status = qrt_session_create(model, &options, &session, &error);
  size_t index = 0;
  for (const testing::Bytes& input : inputs)
    if (status == QRT_OK && !input.empty())  // an empty tensor is no input of the converted model
      status = qrt_session_set_input_bytes(session, index++, input.data(), input.size(), &error);
  if (status == QRT_OK) status = qrt_session_run(session, nullptr);
  if (status != QRT_OK) {
    (*run)["status"] = qrt_status_name(status);
    (*run)["message"] = error.message;
  } else {
    (*run)["outputs"] = Json::array();
    for (size_t i = 0; i < qrt_model_output_count(model); ++i) {
      qrt_tensor_info info;
      qrt_struct_init(&info);
      qrt_session_output_info(session, i, &info);
      testing::Bytes out(info.bytes);
      qrt_session_get_output_bytes(session, i, out.data(), out.size(), &error);
      std::vector<int64_t> dims(info.dims, info.dims + info.rank);
      // ONNX Runtime's output has only the rows that a run has filled.
      const auto rows = static_cast<int64_t>(qrt_session_output_count(session, i));
      if (info.rank > 0 && rows < dims[0]) {
        out.resize(out.size() / static_cast<size_t>(dims[0]) * static_cast<size_t>(rows));
        dims[0] = rows;
      }
      (*run)["outputs"].push_back(record->add(graph.output(static_cast<int>(i)).name(),
                                              qrt_dtype_name(info.dtype), dims, out));
    }
  }
  qrt_session_destroy(session);
}

}  // namespace qrt::onnxruntime

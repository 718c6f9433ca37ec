// SPDX-License-Identifier: Apache-2.0
// open_graphs DIR SEED FIRST COUNT [--pair-safe]
// Writes for each graph DIR/<index>.onnx and DIR/<index>.run: a line of JSON, what qrt made of the model with its
// dimensions open and in each run with the dimensions fixed to that run's sizes, then the bytes of inputs and outputs
// that it speaks of. judge.mjs reads them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/onnxruntime/open/sized_maker.h"
#include "tests/onnxruntime/record.h"
#include "tests/support/legal_sizes.h"

namespace qrt::open_onnx {
namespace {

using onnxruntime::Json;
using onnxruntime::Record;
using testing::Bytes;

template <class T, class F>
Bytes filled(int64_t n, const F& next) {
  std::vector<T> v(static_cast<size_t>(n));
  for (T& e : v) e = static_cast<T>(next());
  return testing::to_bytes(v);
}

Bytes random_input(Dice* dice, const Input& input, int64_t n) {
  const auto whole = [&] {
    return dice->integer(static_cast<int64_t>(input.least), static_cast<int64_t>(input.most));
  };
  switch (input.type) {
    case 2: return filled<uint8_t>(n, whole);
    case 3: return filled<int8_t>(n, whole);
    case 6: return filled<int32_t>(n, whole);
    case 7: return filled<int64_t>(n, whole);
    default: return filled<float>(n, [&] { return dice->real(input.least, input.most); });
  }
}

// Converts a model, without layers in float where that is possible.
qrt_model* convert(const std::string& path, Json* json, Bytes* bytes) {
  qrt_model* model = onnxruntime::convert_and_load(path, false, json, bytes);
  if (model || (*json)["status"] != "refused") return model;
  *json = Json::object();
  return onnxruntime::convert_and_load(path, true, json, bytes);
}

// Fills in the sizes that the file leaves open. Returns an input dimension that the file has fixed to another size;
// "" where there is none.
std::string sizes_of(const qrt_model* model, const std::vector<Input>& inputs, size_t run,
                     std::vector<qrt_dim>* dims) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    if (qrt_model_input_info(model, i, &info) != QRT_OK) return "input " + std::to_string(i);
    for (int d = 0; d < info.rank; ++d) {
      const int64_t size = inputs[i].dims[static_cast<size_t>(d)][run];
      if (info.dims[d] >= 0 && info.dims[d] != size)
        return inputs[i].name + "." + std::to_string(d);
      if (info.dims[d] >= 0) continue;
      bool is_known = false;
      for (const qrt_dim& known : *dims) is_known |= strcmp(known.name, info.dim_names[d]) == 0;
      if (!is_known) dims->push_back({info.dim_names[d], size});
    }
  }
  return "";
}

// Writes the model with this run's sizes in place of its open dimensions.
void write_fixed(const onnx::ModelProto& model, const std::vector<Input>& inputs, size_t run,
                 const std::string& path) {
  onnx::ModelProto copy = model;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto* shape = copy.mutable_graph()
                      ->mutable_input(static_cast<int>(i))
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    for (int d = 0; d < shape->dim_size(); ++d)
      shape->mutable_dim(d)->set_dim_value(inputs[i].dims[static_cast<size_t>(d)][run]);
  }
  std::ofstream(path, std::ios::binary) << copy.SerializeAsString();
}

// Returns what the model answers that is converted at this run's sizes alone.
Json run_fixed(const std::string& path, const onnx::GraphProto& graph,
               const std::vector<Bytes>& inputs, Record* record) {
  Json json = Json::object();
  Bytes bytes;
  qrt_model* model = convert(path, &json, &bytes);
  remove(path.c_str());
  if (!model) return json;
  qrt_session_options options;
  qrt_struct_init(&options);
  onnxruntime::run_model(model, graph, inputs, options, record, &json);
  qrt_model_destroy(model);
  return json;
}

Json run_at(const SizedMaker& maker, const onnx::ModelProto& onnx, const qrt_model* model,
            size_t run, const std::string& stem, Dice* dice, Record* record) {
  Json json = {{"run", run}, {"inputs", Json::array()}, {"sizes", Json::array()}};
  std::vector<Bytes> inputs;
  for (const Input& input : maker.inputs()) {
    Dims dims;
    for (const Size& d : input.dims) dims.push_back(d[run]);
    int64_t n = 1;
    for (const int64_t d : dims) n *= d;
    inputs.push_back(random_input(dice, input, n));
    json["sizes"].push_back(dims);
    json["inputs"].push_back(record->add(input.name, input.type, dims, inputs.back()));
  }
  if (!model) return json;
  qrt_session_options options;
  qrt_struct_init(&options);
  std::vector<qrt_dim> dims;
  const std::string closed = sizes_of(model, maker.inputs(), run, &dims);
  if (!closed.empty()) {
    json["status"] = "closed";
    json["message"] = "the file has another size of " + closed;
  } else {
    options.dims = dims.data();
    options.dim_count = dims.size();
    onnxruntime::run_model(model, onnx.graph(), inputs, options, record, &json);
  }
  const std::string path = stem + ".fixed.onnx";
  write_fixed(onnx, maker.inputs(), run, path);
  json["fixed"] = run_fixed(path, onnx.graph(), inputs, record);
  return json;
}

void make_one(const std::string& stem, uint64_t seed, bool pair_safe) {
  SizedMaker maker(seed, pair_safe);
  const OnnxBuilder& builder = maker.make();
  const std::string path = stem + ".onnx";
  std::ofstream(path, std::ios::binary) << builder.bytes();
  Record record;
  record.json = Json::object();
  Bytes bytes;
  qrt_model* model = convert(path, &record.json, &bytes);
  if (const std::string refused = model ? testing::refused_size(model) : ""; !refused.empty()) {
    record.json["status"] = "refuses a size that the file allows";
    record.json["message"] = refused;
  }
  record.json["layers"] = maker.layers();
  Dice dice(seed + 1);
  record.json["runs"] = Json::array();
  for (size_t run = 0; run < kRuns; ++run)
    record.json["runs"].push_back(run_at(maker, builder.model, model, run, stem, &dice, &record));
  qrt_model_destroy(model);
  std::ofstream(stem + ".run", std::ios::binary) << record.json.dump() << '\n' << record.bytes;
}

}  // namespace
}  // namespace qrt::open_onnx

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: open_graphs DIR SEED FIRST COUNT [--pair-safe]\n");
    return 2;
  }
  const uint64_t seed = strtoull(argv[2], nullptr, 0), first = strtoull(argv[3], nullptr, 0);
  const uint64_t count = strtoull(argv[4], nullptr, 0);
  const bool pair_safe = argc > 5 && strcmp(argv[5], "--pair-safe") == 0;
  for (uint64_t i = first; i < first + count; ++i)
    qrt::open_onnx::make_one(std::string(argv[1]) + "/" + std::to_string(i),
                             seed * 1000003 + i * 7919, pair_safe);
  return 0;
}

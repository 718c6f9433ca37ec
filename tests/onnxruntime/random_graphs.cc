// SPDX-License-Identifier: Apache-2.0
// random_graphs DIR SEED FIRST COUNT [--allow-float] [--quantized] [--pair-safe] [--layers N] [--only KIND]
// --layers, --only: graphs of at most N layers, or of one kind (layers.cc), in which nothing hides behind what is refused.
// --quantized: what every QuantizeLinear makes, and every Resize of that, is an output as well, to see where a graph parts.
// Writes for each graph DIR/<index>.onnx and DIR/<index>.run: a line of JSON, what qrt made of the
// model, then the bytes of the inputs and of qrt's outputs that it speaks of. compare.mjs reads
// them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/onnxruntime/graph_maker.h"
#include "tests/onnxruntime/record.h"

namespace qrt::random_onnx {
namespace {

using onnxruntime::Json;
using onnxruntime::Record;
using testing::Bytes;

struct Options {
  GraphOptions graph;
  bool allow_float = false, quantized = false;
};

template <class T, class F>
Bytes filled(int64_t n, const F& next) {
  std::vector<T> v(static_cast<size_t>(n));
  for (T& e : v) e = static_cast<T>(next());
  return testing::to_bytes(v);
}

Bytes random_input(Dice* dice, int type, int64_t n, const std::string& name,
                   const GraphMaker& maker) {
  const auto integers = [&](int64_t lo, int64_t hi) {
    if (const auto* limits = maker.limits(name)) std::tie(lo, hi) = *limits;
    return [=] { return dice->integer(lo, hi); };
  };
  const auto real = [&] {
    if (const auto* limits = maker.real_limits(name))
      return dice->real(limits->first, limits->second);
    const double amplitude = maker.amplitude(name);
    return dice->real(-amplitude, amplitude) * 1.2;
  };
  switch (type) {
    case kUint8: return filled<uint8_t>(n, integers(0, 255));
    case kInt8: return filled<int8_t>(n, integers(-128, 127));
    case kUint16: return filled<uint16_t>(n, integers(0, 65535));
    case kInt16: return filled<int16_t>(n, integers(-32768, 32767));
    case kInt32: return filled<int32_t>(n, integers(-100000, 100000));
    case kInt64: return filled<int64_t>(n, integers(-100000, 100000));
    case kBool: return filled<uint8_t>(n, [=] { return dice->integer(0, 1); });
    // Numbers of usual size: their sign, exponents around that of 1, any fraction.
    case kHalf:
      return filled<uint16_t>(n, [=] {
        return dice->integer(0, 1) << 15 | dice->integer(10, 18) << 10 | dice->integer(0, 1023);
      });
    default: return filled<float>(n, real);
  }
}

Dims dims_of(const onnx::ValueInfoProto& info, int64_t batch) {
  Dims dims;
  for (const auto& d : info.type().tensor_type().shape().dim())
    dims.push_back(d.has_dim_value() ? d.dim_value() : batch);
  return dims;
}

void add_quantized_outputs(OnnxBuilder* builder) {
  std::set<std::string> known, quantized;
  for (const auto& output : builder->graph().output()) known.insert(output.name());
  for (const auto& node : builder->graph().node()) {
    // A Resize on integers rounds by itself, so its result is an output as well.
    const bool resized = node.op_type() == "Resize" && quantized.count(node.input(0)) != 0;
    if (node.op_type() != "QuantizeLinear" && !resized) continue;
    quantized.insert(node.output(0));
    if (known.insert(node.output(0)).second) builder->output(node.output(0));
  }
}

// Runs the model at one batch, and returns the inputs and qrt's outputs.
Json run_at(const GraphMaker& maker, const onnx::GraphProto& graph, const qrt_model* model,
            int64_t batch, Dice* dice, Record* record) {
  Json run = {{"batch", batch}, {"inputs", Json::array()}};
  std::vector<Bytes> inputs;
  for (const auto& info : graph.input()) {
    const Dims dims = dims_of(info, batch);
    const int type = info.type().tensor_type().elem_type();
    inputs.push_back(random_input(dice, type, elements(dims), info.name(), maker));
    run["inputs"].push_back(record->add(info.name(), type, dims, inputs.back()));
  }
  if (model) {
    qrt_session_options options;
    qrt_struct_init(&options);
    qrt_dim_info open_batch;
    qrt_struct_init(&open_batch);
    qrt_dim size = {nullptr, batch};
    // Where an input has no images of its own, the batch is an open dimension.
    if (qrt_model_dim_info(model, 0, &open_batch) == QRT_OK) {
      size.name = open_batch.name;
      options.dims = &size;
      options.dim_count = 1;
    } else if (maker.has_symbolic_batch()) {
      options.batch = static_cast<size_t>(batch);
    }
    onnxruntime::run_model(model, graph, inputs, options, record, &run);
  }
  return run;
}

void make_one(const std::string& stem, uint64_t seed, const Options& options) {
  GraphMaker maker(seed, options.graph);
  OnnxBuilder builder = maker.make();
  if (options.quantized) add_quantized_outputs(&builder);
  const std::string path = stem + ".onnx";
  std::ofstream(path, std::ios::binary) << builder.bytes();
  Record record;
  record.json["opset"] = builder.model.opset_import(0).version();
  Bytes bytes;
  qrt_model* model = onnxruntime::convert_and_load(path, options.allow_float, &record.json, &bytes);
  Dice dice(seed + 1);
  record.json["runs"] = Json::array();
  const int64_t most = maker.has_symbolic_batch() ? 3 : 1;
  for (int64_t batch = 1; batch <= most; ++batch)
    record.json["runs"].push_back(
        run_at(maker, builder.model.graph(), model, batch, &dice, &record));
  qrt_model_destroy(model);
  std::ofstream(stem + ".run", std::ios::binary) << record.json.dump() << '\n' << record.bytes;
}

}  // namespace
}  // namespace qrt::random_onnx

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr,
            "usage: random_graphs DIR SEED FIRST COUNT [--allow-float] [--quantized] [--pair-safe] "
            "[--layers N] [--only KIND]\n");
    return 2;
  }
  const uint64_t seed = strtoull(argv[2], nullptr, 0), first = strtoull(argv[3], nullptr, 0);
  const uint64_t count = strtoull(argv[4], nullptr, 0);
  qrt::random_onnx::Options options;
  for (int i = 5; i < argc; ++i) {
    options.allow_float = options.allow_float || strcmp(argv[i], "--allow-float") == 0;
    options.quantized = options.quantized || strcmp(argv[i], "--quantized") == 0;
    options.graph.pair_safe = options.graph.pair_safe || strcmp(argv[i], "--pair-safe") == 0;
    if (i + 1 < argc && strcmp(argv[i], "--layers") == 0) options.graph.layers = atoi(argv[++i]);
    if (i + 1 < argc && strcmp(argv[i], "--only") == 0) options.graph.only = argv[++i];
  }
  for (uint64_t i = first; i < first + count; ++i)
    qrt::random_onnx::make_one(std::string(argv[1]) + "/" + std::to_string(i),
                               seed * 1000003 + i * 7919, options);
  return 0;
}

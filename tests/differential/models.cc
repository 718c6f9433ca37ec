// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/models.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "converter/convert.h"
#include "tests/fuzz/generator.h"
#include "tests/onnxruntime/graph_maker.h"

namespace qrt::differential {
namespace {

std::vector<uint8_t> operator_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> choices(20 + random() % 300);
  for (uint8_t& c : choices) c = static_cast<uint8_t>(random() >> 8);
  return fuzz::Generator(choices.data(), choices.size()).run();
}

std::vector<uint8_t> onnx_graph(uint64_t seed, bool allow_float) {
  random_onnx::GraphMaker maker(seed, {});
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("qrt_differential_" + std::to_string(getpid()) + ".onnx"))
                               .string();
  std::ofstream(path, std::ios::binary) << testing::OnnxBuilder(maker.make()).bytes();
  convert::Graph graph;
  convert::Report report;
  std::vector<uint8_t> file;
  Status status = convert::import_onnx(path, &graph, &report, allow_float);
  if (status.ok()) status = convert::run_passes(&graph, nullptr);
  if (status.ok()) status = convert::write_model(graph, &file);
  std::filesystem::remove(path);
  return status.ok() ? file : std::vector<uint8_t>();
}

}  // namespace

RandomModel random_model(uint64_t seed, uint64_t number) {
  const uint64_t own = seed * 1000003 + number * 7919;
  const bool is_onnx = number % 2 != 0, allow_float = number % 4 == 3;
  return {std::string(is_onnx ? "ONNX graph " : "graph of operators ") + std::to_string(number) +
              (allow_float ? " (with layers in float)" : ""),
          is_onnx ? onnx_graph(own, allow_float) : operator_graph(own)};
}

}  // namespace qrt::differential

// QRT_TESTS_DIR: the folder tests/ of the sources.
#include "tests/fuzz/seeds.h"

#include <fstream>
#include <iterator>
#include <random>

#include "converter/convert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/every_op_model.h"

namespace qrt::fuzz {
namespace {

using File = std::vector<uint8_t>;

const std::string kDigits = QRT_TESTS_DIR "/models/digits/digits.onnx";

File converted(const std::string& path) {
  convert::Graph graph;
  convert::Report report;
  File bytes;
  Status status = convert::import_onnx(path, &graph, &report);
  if (status.ok()) status = convert::run_passes(&graph, nullptr);
  if (status.ok()) status = convert::write_model(graph, &bytes);
  if (!status.ok()) failed(path + ": " + status.message());
  return bytes;
}

std::vector<File> random_bytes(size_t files, size_t most) {
  std::mt19937 random(1);
  std::vector<File> result(files);
  for (File& file : result) {
    file.resize(1 + random() % most);
    for (uint8_t& b : file) b = static_cast<uint8_t>(random() >> 8);
  }
  return result;
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) failed("cannot read " + path);
  return File(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::vector<std::vector<uint8_t>> seeds(const std::string& target) {
  if (target == "fuzz_onnx") return {read_file(kDigits)};
  if (target == "fuzz_graph") return random_bytes(60, 300);
  return {testing::every_op_model().build(), converted(kDigits)};
}

}  // namespace qrt::fuzz

// QRT_TESTS_DIR: the folder tests/ of the sources.
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "converter/convert.h"
#include "converter/import/frontend.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/cvm_models.h"
#include "tests/support/espdl_models.h"
#include "tests/support/every_op_model.h"
#include "tests/support/float_models.h"
#include "tests/support/tflite_models.h"

namespace qrt::fuzz {
namespace {

using File = std::vector<uint8_t>;

constexpr size_t kMaxSeed = 65536;  // tests/fuzz/run: -max_len

const std::string kDigits = QRT_TESTS_DIR "/models/digits/digits.onnx";

// A file of any source format. Empty: it does not convert.
File converted(const std::string& path) {
  convert::Graph graph;
  convert::Report report;
  File bytes = read_file(path);
  const convert::Frontend& format = convert::recognise(bytes);
  Status status = convert::import_model(format, path, {}, &graph, &report);
  if (status.ok()) status = convert::run_passes(&graph, nullptr);
  if (status.ok()) status = convert::write_model(graph, &bytes);
  return status.ok() ? bytes : File();
}

// The files of one kind that libFuzzer takes whole, below the folder that QRT_ZOO names, in the
// order of their names.
std::vector<std::string> zoo_files(const std::string& extension) {
  std::vector<std::string> files;
  const char* root = getenv("QRT_ZOO");
  if (root == nullptr) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file() && entry.path().extension() == extension &&
        entry.file_size() <= kMaxSeed)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void add_files(const std::string& extension, std::vector<File>* seeds) {
  for (const std::string& path : zoo_files(extension)) seeds->push_back(read_file(path));
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
  std::vector<File> result;
  if (target == "fuzz_onnx") {
    result = {read_file(kDigits)};
    add_files(".onnx", &result);
  } else if (target == "fuzz_float") {
    result = testing::sample_float_models();
    result.push_back(read_file(QRT_TESTS_DIR "/models/digits/float.onnx"));
    add_files(".onnx", &result);
  } else if (target == "fuzz_tflite") {
    result = testing::sample_tflite_models();
    add_files(".tflite", &result);
  } else if (target == "fuzz_espdl") {
    result = testing::sample_espdl_models();
    add_files(".espdl", &result);
  } else if (target == "fuzz_cvm") {
    result = {testing::joined(testing::sample_cvm_model())};
    for (const std::string& path : zoo_files(".params")) {
      const auto symbol = std::filesystem::path(path).replace_extension(".json");
      if (!std::filesystem::exists(symbol)) continue;
      const File text = read_file(symbol);
      result.push_back(testing::joined({std::string(text.begin(), text.end()), read_file(path)}));
    }
  } else if (target == "fuzz_graph") {
    result = random_bytes(60, 300);
  } else {
    result = {testing::every_op_model().build(), converted(kDigits)};
    for (const char* extension : {".onnx", ".tflite"})
      for (const std::string& path : zoo_files(extension))
        if (File file = converted(path); !file.empty() && file.size() <= kMaxSeed)
          result.push_back(std::move(file));
  }
  return result;
}

}  // namespace qrt::fuzz

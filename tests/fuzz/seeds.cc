// SPDX-License-Identifier: Apache-2.0
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
#include "runtime/tools/npy.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/cvm_models.h"
#include "tests/support/espdl_models.h"
#include "tests/support/every_op_model.h"
#include "tests/support/float_models.h"
#include "tests/support/pictures.h"
#include "tests/support/sized_model.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_models.h"
#include "tests/support/zip.h"

namespace qrt::fuzz {
namespace {

using File = std::vector<uint8_t>;

constexpr size_t kMaxSeed = 65536;  // tests/fuzz/run: -max_len

const std::string kDigits = QRT_TESTS_DIR "/models/digits/digits.onnx";

// Returns a file of any source format. Empty: it does not convert.
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

// Returns the files of one kind that libFuzzer takes whole, below the folder that QRT_ZOO names, in
// the order of their names.
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
  } else if (target == "fuzz_image") {
    for (const std::string& file :
         {testing::png(9, 7), testing::png(300, 2, testing::chunk("tEXt", "key")),
          testing::jpeg(24, 17, 3, false, 2), testing::jpeg(24, 17, 1, true),
          testing::with_scans(testing::jpeg(40, 40, 3, true), 3), std::string("P6 2 1 255\nabcdef"),
          std::string("P5\n# grey\n3 1\n255\nabc")})
      result.emplace_back(file.begin(), file.end());
  } else if (target == "fuzz_npy" || target == "fuzz_npz") {
    const uint8_t data[24] = {1, 2, 3};
    const std::string array = tool::npy_content(DType::kFloat32, {2, 3}, data, sizeof data),
                      bytes = tool::npy_content(DType::kUInt8, {24}, data, sizeof data);
    const std::vector<testing::ZipMember> members = {{"x.npy", array}, {"arr_0.npy", bytes}};
    for (const std::string& file :
         target == "fuzz_npy"
             ? std::vector<std::string>{array, bytes}
             : std::vector<std::string>{testing::zip(members, false), testing::zip(members, true)})
      result.emplace_back(file.begin(), file.end());
  } else if (target == "fuzz_labels") {
    result = {{'3', '\n', '1', '7', '\n'}};
  } else if (target == "fuzz_test_data") {
    for (const std::string& tensor :
         {std::string("\x08\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\x40\x42\x01x", 17),
          std::string("\x08\x02\x10\x02\x4a\x02\x05\x06", 8)})
      result.emplace_back(tensor.begin(), tensor.end());
  } else if (target == "fuzz_json") {
    for (const std::string text :
         {R"([{"name": "x", "file": "x.npy", "shape": [1, 2], "scale": 0.5}])",
          R"([{"name": "\u00e9", "file": "a.npy", "more": {"deep": [[[null, true]]]}}])"})
      result.emplace_back(text.begin(), text.end());
  } else if (target == "fuzz_flexbuffers") {
    result = {testing::custom_options(
        {{"max_detections", 2}, {"use_regular_nms", 1}, {"num_classes", 1000000}},
        {{"y_scale", 10}, {"nms_iou_threshold", 0.5f}})};
  } else if (target == "fuzz_options") {
    for (const std::string text :
         {"m.qrt\n--image\nx.png\n--mean\n0.485,0.456,0.406\n--resize\n256\n--crop\n224x224\n--bgr",
          "m.onnx\n--from=onnx\n--input-shape\nx=1x3x224x?\n--outputs\na,b\n--print\n5", "--help"})
      result.emplace_back(text.begin(), text.end());
  } else if (target == "fuzz_graph") {
    result = random_bytes(60, 300);
  } else {
    result = {testing::every_op_model().build(), testing::SizedModel(8, 7, true).build(),
              testing::sized_counter(3).build(), converted(kDigits)};
    for (const char* extension : {".onnx", ".tflite"})
      for (const std::string& path : zoo_files(extension))
        if (File file = converted(path); !file.empty() && file.size() <= kMaxSeed)
          result.push_back(std::move(file));
  }
  return result;
}

}  // namespace qrt::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "converter/test_data.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "converter/convert.h"
#include "runtime/tools/arrays.h"
#include "runtime/tools/files.h"
#include "runtime/tools/npy.h"

namespace qrt::convert {
namespace {

// Finds FOLDER/input_0 with either extension; "" where there is none.
Status find_file(const std::string& folder, const std::string& kind, size_t i, std::string* path) {
  for (const char* extension : {".pb", ".npy"}) {
    *path = folder + "/" + kind + "_" + std::to_string(i) + extension;
    std::error_code failure;
    const auto found = std::filesystem::status(*path, failure).type();
    if (found != std::filesystem::file_type::not_found)
      return failure ? error(Code::kIoError, "%s: %s", path->c_str(), failure.message().c_str())
                     : Status();
  }
  path->clear();
  return {};
}

Status read_file(const std::string& path, const Value& edge, TestTensor* tensor) {
  if (tool::has_extension(path, ".pb")) return read_onnx_tensor(path, tensor);
  tool::NpyArray array;
  QRT_TRY(tool::read_npy(path, &array));
  if (array.dtype == tool::npy_dtype(edge.type.dtype))
    QRT_TRY(tool::from_npy_form(edge.type.dtype, &array).at(path));
  *tensor = {"", array.dtype, array.shape, std::move(array.data)};
  return {};
}

// Reads the files of one side and adds their names to `used`.
Status read_side(const std::string& folder, const Graph& graph, const char* kind,
                 const std::vector<ValueId>& edges, std::vector<TestTensor>* tensors,
                 std::set<std::string>* used) {
  const size_t count = edges.size() - graph.variables.size();
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(graph.values[edges[i]].name);
  for (size_t i = 0; i < count; ++i) {
    std::string path;
    QRT_TRY(find_file(folder, kind, i, &path));
    if (path.empty())
      return error(Code::kInvalidArgument,
                   "%s: holds no %s_%zu.pb or .npy, and the model has %zu %ss", folder.c_str(),
                   kind, i, count, kind);
    used->insert(std::filesystem::path(path).filename().string());
    TestTensor tensor;
    QRT_TRY(read_file(path, graph.values[edges[i]], &tensor));
    if (std::find(names.begin(), names.end(), tensor.name) == names.end()) tensor.name = names[i];
    tensors->push_back(std::move(tensor));
  }
  return {};
}

// Checks that every tensor of the folder was read.
Status check_used(const std::string& folder, const Graph& graph,
                  const std::set<std::string>& used) {
  std::vector<std::string> unused;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    const bool is_tensor = tool::has_extension(name, ".pb") || tool::has_extension(name, ".npy");
    if (is_tensor && used.count(name) == 0) unused.push_back(name);
  }
  if (failed) return error(Code::kIoError, "%s: %s", folder.c_str(), failed.message().c_str());
  std::sort(unused.begin(), unused.end());
  std::vector<std::string> tensors;
  for (const std::vector<ValueId>* side : {&graph.inputs, &graph.outputs})
    for (size_t i = 0; i + graph.variables.size() < side->size(); ++i)
      tensors.push_back((side == &graph.inputs ? "input_" : "output_") + std::to_string(i) + " " +
                        graph.values[(*side)[i]].name);
  return tool::check_match(tool::Match::kArrays, "tensor", unused, {}, tensors).at(folder);
}

}  // namespace

Status read_test_data(const std::string& folder, const Graph& graph, TestValues* values) {
  std::set<std::string> used;
  QRT_TRY(read_side(folder, graph, "input", graph.inputs, &values->inputs, &used));
  QRT_TRY(read_side(folder, graph, "output", graph.outputs, &values->outputs, &used));
  return check_used(folder, graph, used);
}

}  // namespace qrt::convert

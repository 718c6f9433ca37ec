#include "converter/test_data.h"

#include <algorithm>
#include <filesystem>

#include "converter/convert.h"
#include "runtime/tools/files.h"
#include "runtime/tools/npy.h"

namespace qrt::convert {
namespace {

// FOLDER/input_0 with either extension; "": there is none.
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

Status read_side(const std::string& folder, const Graph& graph, const char* kind,
                 const std::vector<ValueId>& edges, std::vector<TestTensor>* tensors) {
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
    TestTensor tensor;
    QRT_TRY(read_file(path, graph.values[edges[i]], &tensor));
    if (std::find(names.begin(), names.end(), tensor.name) == names.end()) tensor.name = names[i];
    tensors->push_back(std::move(tensor));
  }
  std::string more;
  QRT_TRY(find_file(folder, kind, count, &more));
  if (more.empty()) return {};
  return error(Code::kInvalidArgument, "%s: the model has only %zu %ss", more.c_str(), count, kind);
}

}  // namespace

Status read_test_data(const std::string& folder, const Graph& graph, TestValues* values) {
  QRT_TRY(read_side(folder, graph, "input", graph.inputs, &values->inputs));
  return read_side(folder, graph, "output", graph.outputs, &values->outputs);
}

}  // namespace qrt::convert

// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/samples/labels.h"

#include <cstring>
#include <sstream>

#include "runtime/tools/counted.h"
#include "runtime/tools/files.h"
#include "runtime/tools/npy.h"

namespace qrt::quantize {
namespace {

template <class T>
void append(const std::vector<uint8_t>& bytes, std::vector<int64_t>* labels) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    memcpy(&value, &bytes[at], sizeof(T));
    labels->push_back(static_cast<int64_t>(value));
  }
}

Status read_array(const std::string& path, std::vector<int64_t>* labels) {
  tool::NpyArray array;
  QRT_TRY(tool::read_npy(path, &array));
  switch (array.dtype) {
    case DType::kUInt8: append<uint8_t>(array.data, labels); return {};
    case DType::kInt8: append<int8_t>(array.data, labels); return {};
    case DType::kInt16: append<int16_t>(array.data, labels); return {};
    case DType::kInt32: append<int32_t>(array.data, labels); return {};
    case DType::kInt64: append<int64_t>(array.data, labels); return {};
    default: break;
  }
  return error(Code::kInvalidModel, "%s: labels are integers, it holds %s", path.c_str(),
               dtype_name(array.dtype));
}

Status read_text(const std::string& path, std::vector<int64_t>* labels) {
  std::string text;
  QRT_TRY(tool::read_text(path, &text));
  std::istringstream file(text);
  for (int64_t label; file >> label;) labels->push_back(label);
  if (!file.eof())
    return error(Code::kInvalidModel, "%s: expected one integer a line", path.c_str());
  return {};
}

}  // namespace

Status read_labels(const std::string& path, size_t count, std::vector<int64_t>* labels) {
  if (path.empty()) return {};
  const bool is_array = tool::has_extension(path, ".npy");
  QRT_TRY(is_array ? read_array(path, labels) : read_text(path, labels));
  if (labels->size() != count)
    return error(Code::kInvalidModel, "%s: holds %s for %s", path.c_str(),
                 tool::counted(labels->size(), "label").c_str(),
                 tool::counted(count, "sample").c_str());
  return check_labels(path, *labels, INT64_MAX);
}

Status check_labels(const std::string& path, const std::vector<int64_t>& labels, int64_t classes) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < classes) continue;
    const std::string most =
        classes == INT64_MAX ? "0 or more" : "0 to " + std::to_string(classes - 1);
    return error(Code::kInvalidModel, "%s: label %zu is %lld, expected a class, %s", path.c_str(),
                 i, static_cast<long long>(labels[i]), most.c_str());
  }
  return {};
}

}  // namespace qrt::quantize

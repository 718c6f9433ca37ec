// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/model_file.h"

#include <cstring>
#include <vector>

#include "runtime/checksum.h"
#include "runtime/model_bytes.h"
#include "runtime/text.h"
#include "runtime/tools/file_kind.h"
#include "runtime/tools/files.h"

namespace qrt::tool {
namespace {

// Returns the name of a format that qrt_convert takes, by a file's first bytes and its name; else null.
const char* source_format(const FileKind* kind, const std::vector<uint8_t>& head,
                          const std::string& extension) {
  if (kind != nullptr && kind->use == FileUse::kSource) return kind->name;
  // ONNX has no magic: protobuf, whose first field is the version of its format.
  if (extension == "onnx" && !head.empty() && head[0] == 8) return "an ONNX model";
  return nullptr;
}

}  // namespace

Status check_model_file(const std::string& path) {
  QRT_TRY(check_readable(path));
  std::vector<uint8_t> head;
  QRT_TRY(read_head(path, kKindBytes, &head));
  const size_t dot = path.find_last_of("./");
  const bool has_extension = dot != std::string::npos && path[dot] == '.';
  const FileKind* kind = find_kind(head, path);
  const char* format = source_format(kind, head, has_extension ? path.substr(dot + 1) : "");
  const std::string stem = has_extension ? path.substr(0, dot) : path;
  if (format != nullptr)
    return error(Code::kInvalidModel,
                 "%s: is %s, not a .qrt file; convert it first: qrt_convert '%s' -o '%s.qrt'",
                 path.c_str(), format, path.c_str(), stem.c_str());
  if (kind == nullptr || kind->use == FileUse::kModel) return {};
  const bool is_input = kind->use == FileUse::kArray || kind->use == FileUse::kPicture;
  const bool is_foreign = kind->use == FileUse::kForeign;
  return error(Code::kInvalidModel, "%s: is %s, and no .qrt file%s%s%s", path.c_str(), kind->name,
               is_input                  ? ": the model comes first, its inputs behind it"
               : kind->remedy[0] != '\0' ? ": "
                                         : "",
               is_input ? "" : kind->remedy, is_foreign ? ", then qrt_convert" : "");
}

Result<std::shared_ptr<const VerifiedModel>> load_verified(const std::string& path) {
  auto model = load_unchecked(path);
  if (model.ok()) QRT_TRY(check_sum(**model, path));
  return model;
}

Result<std::shared_ptr<const VerifiedModel>> load_unchecked(const std::string& path) {
  QRT_TRY(check_model_file(path));
  auto bytes = ModelBytes::map_file(path.c_str());
  QRT_TRY(std::move(bytes.status()).at(path));
  auto model = verify(std::move(*bytes));
  if (!model.ok()) return std::move(model.status()).at(path);
  return model;
}

Status check_sum(const VerifiedModel& model, const std::string& path) {
  const size_t bytes = model.file_bytes();
  return check_checksum(model.file_end() - bytes, bytes).at(path);
}

DType dtype_of(const qrt_tensor_info& info) { return static_cast<DType>(info.dtype); }

Shape shape_of(const qrt_tensor_info& info) {
  Shape shape;
  for (int i = 0; i < info.rank; ++i) shape.push_back(info.dims[i]);
  return shape;
}

std::string type_text(const qrt_tensor_info& info) {
  const std::string dtype = std::string(qrt_dtype_name(info.dtype)) + " ";
  const auto is_named = [&](int d) {
    return info.dim_names != nullptr && info.dim_names[d] != nullptr;
  };
  bool has_names = false;  // beside that of the batch, which is the first dimension's
  for (int d = 0; d < info.rank; ++d)
    has_names |= is_named(d) && strcmp(info.dim_names[d], "batch") != 0;
  if (!has_names) return dtype + shape_of(info).to_string();
  std::string text;
  for (int d = 0; d < info.rank; ++d)
    text += (d == 0 ? "" : ", ") +
            (is_named(d) ? escaped(info.dim_names[d]) : std::to_string(info.dims[d]));
  return dtype + "[" + text + "]";
}

}  // namespace qrt::tool

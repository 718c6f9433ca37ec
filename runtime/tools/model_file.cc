#include "runtime/tools/model_file.h"

#include <cstring>
#include <vector>

#include "runtime/checksum.h"
#include "runtime/model_bytes.h"
#include "runtime/tools/files.h"

namespace qrt::tool {
namespace {

// What a file's first bytes and its name say it is, where that is no .qrt file; else null.
const char* other_format(const std::vector<uint8_t>& head, const std::string& extension) {
  const auto has = [&](size_t at, const char* magic) {
    const size_t n = strlen(magic);
    return head.size() >= at + n && memcmp(head.data() + at, magic, n) == 0;
  };
  if (has(4, "TFL3")) return "a TFLite model";
  if (has(0, "EDL") || has(0, "PDL")) return "an ESP-DL model";
  // ONNX has no magic: protobuf, whose first field is the version of its format.
  if (extension == "onnx" && !head.empty() && head[0] == 8) return "an ONNX model";
  return nullptr;
}

}  // namespace

Status check_model_file(const std::string& path) {
  QRT_TRY(check_readable(path));
  std::vector<uint8_t> head;
  QRT_TRY(read_head(path, 8, &head));
  const size_t dot = path.find_last_of("./");
  const bool has_extension = dot != std::string::npos && path[dot] == '.';
  const char* format = other_format(head, has_extension ? path.substr(dot + 1) : "");
  if (format == nullptr) return {};
  const std::string stem = has_extension ? path.substr(0, dot) : path;
  return error(Code::kInvalidModel,
               "%s: is %s, not a .qrt file; convert it first: qrt_convert '%s' -o '%s.qrt'",
               path.c_str(), format, path.c_str(), stem.c_str());
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
  return std::string(qrt_dtype_name(info.dtype)) + " " + shape_of(info).to_string();
}

}  // namespace qrt::tool

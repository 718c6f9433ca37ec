// SPDX-License-Identifier: Apache-2.0
// Decoding of ONNX tensors and of external data files.
#include "converter/import/onnx/file/constant.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "kernels/edge/numbers.h"
#include "kernels/edge/packed.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Bytes as stored in a file.
uint64_t packed_bytes(int type, uint64_t elements) {
  const auto bits = static_cast<uint64_t>(packed_bits(type));
  return bits != 0 ? (elements * bits + 7) / 8 : elements * element_bytes(type);
}

template <class T, class Field>
void copy_field(const Field& field, std::vector<uint8_t>* out) {
  out->resize(static_cast<size_t>(field.size()) * sizeof(T));
  T* to = reinterpret_cast<T*>(out->data());
  for (const auto& v : field) *to++ = static_cast<T>(v);
}

// Reads the typed field of a tensor without raw data, as packed bytes.
void read_field(const onnx::TensorProto& proto, std::vector<uint8_t>* out) {
  switch (proto.data_type()) {
    case kFloat: return copy_field<float>(proto.float_data(), out);
    case kDouble: return copy_field<double>(proto.double_data(), out);
    case kInt64: return copy_field<int64_t>(proto.int64_data(), out);
    case kUint64: return copy_field<uint64_t>(proto.uint64_data(), out);
    case kUint32: return copy_field<uint32_t>(proto.uint64_data(), out);
    case kInt32: return copy_field<int32_t>(proto.int32_data(), out);
    default:
      return element_bytes(proto.data_type()) == 2 ? copy_field<uint16_t>(proto.int32_data(), out)
                                                   : copy_field<uint8_t>(proto.int32_data(), out);
  }
}

Status read_external(const onnx::TensorProto& proto, uint64_t bytes, ExternalFiles* files,
                     std::vector<uint8_t>* out) {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    char* end = nullptr;
    const unsigned long long v = strtoull(entry.value().c_str(), &end, 10);
    QRT_MODEL_CHECK(!entry.value().empty() && *end == 0 && entry.value()[0] != '-',
                    "external %s '%s' is not a number", entry.key().c_str(), entry.value().c_str());
    (entry.key() == "offset" ? offset : length) = v;
  }
  QRT_MODEL_CHECK(!location.empty(), "external data without a location");
  QRT_MODEL_CHECK(length == bytes, "external data has %llu bytes, its type and shape need %llu",
                  static_cast<unsigned long long>(length), static_cast<unsigned long long>(bytes));
  return files->read(location, offset, bytes, out);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
}

// Closes on the way out.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int next) {
    if (fd >= 0) close(fd);
    fd = next;
  }
  int fd;
};

// Opens a file that lies beneath a folder by real folders all the way: a symbolic link could lead
// out, to any file of the user who converts. From folder to folder, each by its descriptor, so that
// nothing on the way can be exchanged in between. REQUIRES: no part of `location` is "..".
Status open_beneath(const std::string& folder, const std::string& location, Descriptor* file) {
  file->reset(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (size_t at = 0; file->fd >= 0 && at < location.size();) {
    const size_t end = std::min(location.find('/', at), location.size());
    const std::string part = location.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    const int kind = at < location.size() ? O_DIRECTORY : O_NONBLOCK;  // a pipe would wait
    const int next = openat(file->fd, part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind);
    const int failure = errno;
    struct stat info;
    if (next < 0 && fstatat(file->fd, part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      QRT_MODEL_CHECK(!S_ISLNK(info.st_mode),
                      "external data '%s': '%s' is a symbolic link, which may lead out of the "
                      "model's folder: put the file itself there",
                      location.c_str(), part.c_str());
    file->reset(next);
    errno = failure;
  }
  if (file->fd >= 0) return Status();
  // A missing file makes the model incomplete, which is no error of the system.
  const bool is_missing = errno == ENOENT || errno == ENOTDIR;
  return error(is_missing ? Code::kInvalidModel : Code::kIoError,
               "external data file '%s' cannot be read: %s", (folder + "/" + location).c_str(),
               strerror(errno));
}

bool read_all(int fd, uint64_t offset, uint64_t bytes, uint8_t* to) {
  while (bytes > 0) {
    const ssize_t n = pread(fd, to, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<uint64_t>(n);
  }
  return true;
}

}  // namespace

const char* element_type_name(int type) {
  switch (type) {
    case kUndefined: return "undefined";
    case kFloat: return "float32";
    case kUint8: return "uint8";
    case kInt8: return "int8";
    case kUint16: return "uint16";
    case kInt16: return "int16";
    case kInt32: return "int32";
    case kInt64: return "int64";
    case kString: return "string";
    case kBool: return "bool";
    case kHalf: return "float16";
    case kDouble: return "float64";
    case kUint32: return "uint32";
    case kUint64: return "uint64";
    case kBfloat16: return "bfloat16";
    case kFloat8E4M3FN: return "float8e4m3fn";
    case kFloat8E4M3FNUZ: return "float8e4m3fnuz";
    case kFloat8E5M2: return "float8e5m2";
    case kFloat8E5M2FNUZ: return "float8e5m2fnuz";
    case kUint4: return "uint4";
    case kInt4: return "int4";
    case kFloat4E2M1: return "float4e2m1";
    case kFloat8E8M0: return "float8e8m0";
    case kUint2: return "uint2";
    case kInt2: return "int2";
    default: return "an unknown type";
  }
}

size_t element_bytes(int type) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kBool:
    case kFloat8E4M3FN:
    case kFloat8E4M3FNUZ:
    case kFloat8E5M2:
    case kFloat8E5M2FNUZ:
    case kFloat8E8M0:
    case kFloat4E2M1:
    case kUint4:
    case kInt4:
    case kUint2:
    case kInt2: return 1;
    case kUint16:
    case kInt16:
    case kHalf:
    case kBfloat16: return 2;
    case kFloat:
    case kInt32:
    case kUint32: return 4;
    case kInt64:
    case kUint64:
    case kDouble: return 8;
    default: return 0;
  }
}

int packed_bits(int type) {
  if (type == kUint4 || type == kInt4 || type == kFloat4E2M1) return 4;
  return type == kUint2 || type == kInt2 ? 2 : 0;
}

bool ir_type(int type, DType* dtype) {
  switch (type) {
    case kFloat: *dtype = DType::kFloat32; return true;
    case kUint8: *dtype = DType::kUInt8; return true;
    case kInt8: *dtype = DType::kInt8; return true;
    case kUint16: *dtype = DType::kUInt16; return true;
    case kInt16: *dtype = DType::kInt16; return true;
    case kInt32: *dtype = DType::kInt32; return true;
    case kInt64: *dtype = DType::kInt64; return true;
    case kHalf: *dtype = DType::kFloat16; return true;
    case kBfloat16: *dtype = DType::kBFloat16; return true;
    case kBool: *dtype = DType::kBool; return true;
    case kUint32: *dtype = DType::kUInt32; return true;
    case kUint4: *dtype = DType::kUInt4; return true;
    case kInt4: *dtype = DType::kInt4; return true;
    case kUint2: *dtype = DType::kUInt2; return true;
    case kInt2: *dtype = DType::kInt2; return true;
    case kFloat8E4M3FN: *dtype = DType::kFloat8E4M3FN; return true;
    case kFloat8E4M3FNUZ: *dtype = DType::kFloat8E4M3FNUZ; return true;
    case kFloat8E5M2: *dtype = DType::kFloat8E5M2; return true;
    case kFloat8E5M2FNUZ: *dtype = DType::kFloat8E5M2FNUZ; return true;
    case kFloat8E8M0: *dtype = DType::kFloat8E8M0; return true;
    case kFloat4E2M1: *dtype = DType::kFloat4E2M1; return true;
    default: return false;
  }
}

int onnx_type(DType dtype) {
  for (int type = 1; type <= kInt2; ++type)
    if (DType made; ir_type(type, &made) && made == dtype) return type;
  return kUndefined;
}

bool quantized_range(int type, int* lo, int* hi) {
  switch (type) {
    case kUint8: *lo = 0, *hi = 255; return true;
    case kInt8: *lo = -128, *hi = 127; return true;
    case kUint16: *lo = 0, *hi = 65535; return true;
    case kInt16: *lo = -32768, *hi = 32767; return true;
    case kUint4: *lo = 0, *hi = 15; return true;
    case kInt4: *lo = -8, *hi = 7; return true;
    case kUint2: *lo = 0, *hi = 3; return true;
    case kInt2: *lo = -2, *hi = 1; return true;
    default: return false;
  }
}

bool Constant::is_integer() const {
  const bool is_small_float = (type >= kFloat8E4M3FN && type <= kFloat8E5M2FNUZ) ||
                              type == kFloat4E2M1 || type == kFloat8E8M0;
  return element_bytes(type) != 0 && !is_real() && !is_small_float && type != kUint64;
}

bool Constant::is_real() const {
  return type == kFloat || type == kHalf || type == kBfloat16 || type == kDouble;
}

int64_t Constant::integer(int64_t i) const {
  switch (type) {
    case kUint8:
    case kUint4:
    case kUint2:
    case kBool: return as<uint8_t>()[i];
    case kInt8:
    case kInt4:
    case kInt2: return as<int8_t>()[i];
    case kUint16: return as<uint16_t>()[i];
    case kInt16: return as<int16_t>()[i];
    case kInt32: return as<int32_t>()[i];
    case kUint32: return as<uint32_t>()[i];
    default: return as<int64_t>()[i];
  }
}

float Constant::real(int64_t i) const {
  switch (type) {
    case kFloat: return as<float>()[i];
    case kDouble: return static_cast<float>(as<double>()[i]);
    case kHalf: return half_to_float(as<uint16_t>()[i]);
    default: return bfloat_to_float(as<uint16_t>()[i]);
  }
}

std::string external_path(const std::string& model_path, const std::string& location) {
  return folder_of(model_path) + "/" + location;
}

Status ExternalFiles::read(const std::string& location, uint64_t offset, uint64_t bytes,
                           std::vector<uint8_t>* data) {
  const bool leaves = location[0] == '/' || location.find('\\') != std::string::npos ||
                      location.find('\0') != std::string::npos ||
                      ("/" + location + "/").find("/../") != std::string::npos;
  QRT_MODEL_CHECK(!leaves, "external data location '%s' leaves the model's directory",
                  location.c_str());
  Descriptor file(-1);
  QRT_TRY(open_beneath(folder_of(model_path_), location, &file));
  struct stat info;
  if (fstat(file.fd, &info) != 0)
    return error(Code::kIoError, "external data file '%s': %s", location.c_str(), strerror(errno));
  QRT_MODEL_CHECK(S_ISREG(info.st_mode), "external data '%s' is not a regular file",
                  location.c_str());
  // A hard link may be a file of any folder that the user can read, as a symbolic link may.
  QRT_MODEL_CHECK(info.st_nlink <= 1,
                  "external data '%s' has %llu names (hard links), one of which may be out of the "
                  "model's folder: put a copy of the file there",
                  location.c_str(), static_cast<unsigned long long>(info.st_nlink));
  const auto size = static_cast<uint64_t>(info.st_size);
  if (opened_.emplace(info.st_dev, info.st_ino).second) total_ += size;
  QRT_MODEL_CHECK(
      offset <= size && bytes <= size - offset,
      "external data of %llu bytes at offset %llu goes beyond the end of '%s' (%llu bytes)",
      static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
      location.c_str(), static_cast<unsigned long long>(size));
  QRT_MODEL_CHECK(bytes <= 2 * total_ - read_,
                  "tensors refer to more than twice the external data there is");
  read_ += bytes;
  data->resize(bytes);
  if (!read_all(file.fd, offset, bytes, data->data()))
    return error(Code::kIoError, "reading '%s' failed", location.c_str());
  return Status();
}

Status read_constant(const onnx::TensorProto& proto, ExternalFiles* files, ConstantPtr* result) {
  const std::string where = "tensor '" + proto.name() + "'";
  auto constant = std::make_shared<Constant>();
  constant->type = proto.data_type();
  const std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  if (Status s = make_shape(dims, &constant->shape); !s.ok()) return std::move(s).at(where);
  if (element_bytes(constant->type) == 0)
    return error(Code::kUnsupported, "%s: element type %s is not supported", where.c_str(),
                 element_type_name(constant->type));
  const uint64_t elements = static_cast<uint64_t>(constant->elements());
  const uint64_t bytes = packed_bytes(constant->type, elements);
  std::vector<uint8_t>& data = constant->data;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (Status s = read_external(proto, bytes, files, &data); !s.ok())
      return std::move(s).at(where);
  } else if (proto.has_raw_data()) {
    data.assign(proto.raw_data().begin(), proto.raw_data().end());
  } else {
    read_field(proto, &data);
  }
  QRT_MODEL_CHECK(data.size() == bytes, "%s: %zu bytes of data, type %s and shape %s need %llu",
                  where.c_str(), data.size(), element_type_name(constant->type),
                  constant->shape.to_string().c_str(), static_cast<unsigned long long>(bytes));
  if (const int bits = packed_bits(constant->type); bits != 0) {
    std::vector<uint8_t> unpacked(elements);
    const bool is_signed = constant->type == kInt4 || constant->type == kInt2;
    unpack_codes(bits, is_signed, data.data(), elements, unpacked.data());
    data = std::move(unpacked);
  }
  *result = std::move(constant);
  return Status();
}

}  // namespace qrt::convert::from_onnx

// Decoding of ONNX tensors and of external data files.
#include "converter/import/onnx/file/constant.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "kernels/edge/numbers.h"
#include "kernels/edge/packed.h"

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

// The typed field of a tensor without raw data, as packed bytes.
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

ExternalFiles::ExternalFiles(const std::string& model_path) {
  const size_t slash = model_path.rfind('/');
  directory_ = slash == std::string::npos ? "." : model_path.substr(0, slash);
}

Status ExternalFiles::read(const std::string& location, uint64_t offset, uint64_t bytes,
                           std::vector<uint8_t>* data) {
  const bool leaves = location[0] == '/' || location.find('\\') != std::string::npos ||
                      location.find('\0') != std::string::npos ||
                      ("/" + location + "/").find("/../") != std::string::npos;
  QRT_MODEL_CHECK(!leaves, "external data location '%s' leaves the model's directory",
                  location.c_str());
  const std::string path = directory_ + "/" + location;
  auto known = sizes_.find(location);
  if (known == sizes_.end()) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) {
      // Without that file the model is incomplete: not the system's fault.
      const bool is_missing = errno == ENOENT || errno == ENOTDIR;
      return error(is_missing ? Code::kInvalidModel : Code::kIoError,
                   "external data file '%s' cannot be read: %s", path.c_str(), strerror(errno));
    }
    QRT_MODEL_CHECK(S_ISREG(info.st_mode), "external data '%s' is not a regular file",
                    path.c_str());
    known = sizes_.emplace(location, static_cast<uint64_t>(info.st_size)).first;
    total_ += known->second;
  }
  QRT_MODEL_CHECK(
      offset <= known->second && bytes <= known->second - offset,
      "external data of %llu bytes at offset %llu goes beyond the end of '%s' (%llu bytes)",
      static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
      location.c_str(), static_cast<unsigned long long>(known->second));
  QRT_MODEL_CHECK(bytes <= 2 * total_ - read_,
                  "tensors refer to more than twice the external data there is");
  read_ += bytes;
  data->resize(bytes);
  FILE* file = fopen(path.c_str(), "rb");
  if (!file) return error(Code::kIoError, "external data file '%s' cannot be read", path.c_str());
  const bool done = fseeko(file, static_cast<off_t>(offset), SEEK_SET) == 0 &&
                    fread(data->data(), 1, bytes, file) == bytes;
  fclose(file);
  if (!done) return error(Code::kIoError, "reading '%s' failed", path.c_str());
  return Status();
}

Status make_shape(const std::vector<int64_t>& dims, Shape* shape) {
  if (dims.size() > kMaxTensorRank)
    return error(Code::kUnsupported, "%zu dimensions, at most %d are supported", dims.size(),
                 kMaxTensorRank);
  *shape = Shape();
  for (int64_t d : dims) {
    QRT_MODEL_CHECK(d >= 0, "dimension %lld is negative", static_cast<long long>(d));
    shape->push_back(d);
  }
  const int64_t limit = std::numeric_limits<int32_t>::max();
  bool fits = shape->elements() >= 0 && shape->elements() <= limit;
  for (int64_t d : dims) fits = fits && d <= limit;
  if (!fits)
    return error(Code::kUnsupported, "shape %s has more than 2^31 - 1 elements",
                 shape->to_string().c_str());
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

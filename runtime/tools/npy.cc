// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files. A reader of its own because the files come from anywhere: every size is
// checked against the bytes present before anything is allocated.
#include "runtime/tools/npy.h"

#include <errno.h>
#include <string.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "kernels/edge/packed.h"
#include "runtime/tools/file_kind.h"
#include "runtime/tools/files.h"

namespace qrt::tool {
namespace {

constexpr size_t kMaxHeader = 1 << 16;

struct TypeName {
  const char* name;
  DType dtype;
};
// The first name of a type is the one written.
constexpr TypeName kTypes[] = {{"|u1", DType::kUInt8},   {"|i1", DType::kInt8},
                               {"<u2", DType::kUInt16},  {"<i2", DType::kInt16},
                               {"<i4", DType::kInt32},   {"<i8", DType::kInt64},
                               {"<f4", DType::kFloat32}, {"<f2", DType::kFloat16},
                               {"<u4", DType::kUInt32},  {"|b1", DType::kBool}};

// The header is a Python dictionary:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }
class HeaderParser {
 public:
  explicit HeaderParser(const std::string& text) : text_(text) {}

  // Parses a header. Fails with kInvalidModel; messages do not name the file.
  Status parse(NpyArray* array) {
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take('{')) return malformed();
    while (!take('}')) {
      std::string key;
      if (!string(&key) || !take(':')) return malformed();
      if (key == "descr" && !has_descr) {
        std::string name;
        if (!string(&name)) {
          if (peek() == '[')
            return error(
                Code::kInvalidModel,
                "structured arrays are not supported: save each field as an array of its own");
          return malformed();
        }
        QRT_TRY(set_type(name, array));
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        if (word("True"))
          return error(Code::kInvalidModel,
                       "Fortran order is not supported: save it in C order, as by numpy's "
                       "ascontiguousarray");
        if (!word("False")) return malformed();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        QRT_TRY(shape(&array->shape));
        has_shape = true;
      } else {
        return malformed();
      }
      if (!take(',') && peek() != '}') return malformed();
    }
    skip_space();
    if (!has_descr || !has_order || !has_shape || at_ != text_.size()) return malformed();
    return {};
  }

 private:
  static Status malformed() {
    return error(Code::kInvalidModel, "damaged: its npy header is not well-formed");
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool word(const char* expected) {
    skip_space();
    if (text_.compare(at_, strlen(expected), expected) != 0) return false;
    at_ += strlen(expected);
    return true;
  }
  bool string(std::string* value) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string::npos) return false;
    *value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }
  bool number(int64_t* value) {
    if (peek() < '0' || peek() > '9') return false;
    for (*value = 0; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      *value = *value * 10 + (text_[at_] - '0');
      if (*value > kMaxElements) return false;
    }
    return true;
  }
  Status shape(Shape* result) {
    if (!take('(')) return malformed();
    while (!take(')')) {
      int64_t dim;
      if (!number(&dim))
        return error(Code::kInvalidModel, "damaged: its shape has a bad or too large dimension");
      if (result->rank() == kMaxTensorRank)
        return error(
            Code::kInvalidModel,
            "more than %d dimensions are not supported: reshape it to what the model takes",
            kMaxTensorRank);
      result->push_back(dim);
      if (!take(',') && peek() != ')') return malformed();
    }
    return {};
  }
  static Status set_type(const std::string& name, NpyArray* array) {
    for (const TypeName& t : kTypes) {
      if (name == t.name) {
        array->dtype = t.dtype;
        return {};
      }
    }
    if (name[0] == '>')
      return error(
          Code::kInvalidModel,
          "element type '%.20s' has its high byte first: save it the other way round, as by "
          "numpy's array.astype(array.dtype.newbyteorder('<'))",
          name.c_str());
    std::string known;
    for (const TypeName& t : kTypes) known += std::string(known.empty() ? "" : " ") + t.name;
    return error(Code::kInvalidModel,
                 "element type '%.20s' is not supported (known: %s): save it as another, as by "
                 "numpy's array.astype(numpy.float32)",
                 name.c_str(), known.c_str());
  }

  const std::string& text_;
  size_t at_ = 0;
};

// Reads the header of an array that lies at `start` of a file and takes up `bytes` of it. *data_at:
// where its elements start.
Status read_header(FILE* file, size_t start, size_t bytes, NpyArray* array, size_t* data_at) {
  if (fseek(file, static_cast<long>(start), SEEK_SET) != 0)
    return error(Code::kIoError, "%s", strerror(errno));
  uint8_t head[12] = {};
  const size_t got = fread(head, 1, sizeof head, file);
  if (ferror(file)) return error(Code::kIoError, "cannot be read");
  if (got < 10 || memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3)
    return error(Code::kInvalidModel, "not an npy file (no '\\x93NUMPY', version 1 to 3)");
  const bool is_long = head[6] >= 2;
  const size_t header_at = is_long ? 12 : 10;
  size_t length = head[8] | static_cast<size_t>(head[9]) << 8;
  if (is_long) length |= static_cast<size_t>(head[10]) << 16 | static_cast<size_t>(head[11]) << 24;
  if (length > kMaxHeader || header_at + length > bytes)
    return error(Code::kInvalidModel, "damaged: its npy header of %zu bytes is too long", length);
  std::string header(length, '\0');
  if (fseek(file, static_cast<long>(start + header_at), SEEK_SET) != 0 ||
      fread(header.data(), 1, length, file) != length)
    return error(Code::kIoError, "cannot be read");
  QRT_TRY(HeaderParser(header).parse(array));
  const int64_t elements = array->shape.elements();
  const size_t present = bytes - header_at - length;
  const size_t element = dtype_bytes(array->dtype);
  if (elements < 0 || static_cast<uint64_t>(elements) != present / element ||
      present % element != 0)
    return error(Code::kInvalidModel, "damaged: %zu bytes of data do not make %s of %s", present,
                 array->shape.to_string().c_str(), dtype_name(array->dtype));
  *data_at = start + header_at + length;
  return {};
}

}  // namespace

Status NpyFile::open(const std::string& path) {
  std::shared_ptr<FILE> file;
  size_t bytes = 0;
  QRT_TRY(open_file(path, &file, &bytes));
  std::vector<uint8_t> head;
  QRT_TRY(read_head(path, kKindBytes, &head));
  const FileKind* kind = find_kind(head, path);
  if (kind != nullptr && kind->use != FileUse::kArray)
    return error(Code::kInvalidModel, "%s: not an npy file: it is %s%s%s", path.c_str(), kind->name,
                 kind->use == FileUse::kOther && kind->remedy[0] != '\0' ? ": " : "",
                 kind->use == FileUse::kPicture ? " (qrt_run --image takes pictures)"
                 : kind->use == FileUse::kOther ? kind->remedy
                                                : "");
  return open(std::move(file), 0, bytes).at(path);
}

Status NpyFile::open(std::shared_ptr<FILE> file, size_t start, size_t bytes) {
  file_ = std::move(file);
  NpyArray array;
  QRT_TRY(read_header(file_.get(), start, bytes, &array, &data_at_));
  dtype_ = array.dtype;
  shape_ = array.shape;
  return {};
}

Status NpyFile::read(size_t offset, size_t bytes, void* data) const {
  if (fseek(file_.get(), static_cast<long>(data_at_ + offset), SEEK_SET) != 0 ||
      fread(data, 1, bytes, file_.get()) != bytes)
    return error(Code::kIoError, "cannot be read");
  return {};
}

Status read_all(const NpyFile& file, NpyArray* array) {
  array->dtype = file.dtype();
  array->shape = file.shape();
  array->data.resize(static_cast<size_t>(array->shape.elements()) * dtype_bytes(array->dtype));
  return file.read(0, array->data.size(), array->data.data());
}

Status read_npy(const std::string& path, NpyArray* array) {
  *array = NpyArray();
  NpyFile file;
  QRT_TRY(file.open(path));
  return read_all(file, array).at(path);
}

Status read_npy_of_stdin(NpyArray* array) {
  *array = NpyArray();
  // Sizes are checked against a whole file: one is made of what comes.
  std::shared_ptr<FILE> copy;
  size_t bytes = 0;
  QRT_TRY(copy_stdin(&copy, &bytes));
  NpyFile file;
  QRT_TRY(file.open(copy, 0, bytes).at("standard input"));
  return read_all(file, array).at("standard input");
}

DType npy_dtype(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16: return DType::kUInt16;
    case DType::kInt4:
    case DType::kInt2: return DType::kInt8;
    case DType::kUInt4:
    case DType::kUInt2:
    case DType::kFloat4E2M1:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0: return DType::kUInt8;
    default: return dtype;
  }
}

Status from_npy_form(DType dtype, NpyArray* array) {
  array->dtype = dtype;
  if (!is_packed(dtype)) return {};
  const bool is_signed = npy_dtype(dtype) == DType::kInt8;
  std::vector<uint8_t> packed(tensor_bytes({dtype, array->shape})), again(array->data.size());
  pack_codes(dtype_bits(dtype), array->data.data(), array->data.size(), packed.data());
  unpack_codes(dtype_bits(dtype), is_signed, packed.data(), again.size(), again.data());
  for (size_t i = 0; i < again.size(); ++i) {
    const int value = is_signed ? static_cast<int8_t>(array->data[i]) : array->data[i];
    if (again[i] != array->data[i])
      return error(Code::kInvalidModel, "element %zu is %d, which %s cannot hold", i, value,
                   dtype_name(dtype));
  }
  array->data = std::move(packed);
  return {};
}

NpyArray to_npy_form(DType dtype, const Shape& shape, const void* data, size_t bytes) {
  NpyArray array;
  array.dtype = npy_dtype(dtype);
  array.shape = shape;
  const auto* from = static_cast<const uint8_t*>(data);
  if (!is_packed(dtype)) {
    array.data.assign(from, from + bytes);
    return array;
  }
  array.data.resize(static_cast<size_t>(shape.elements()));
  unpack_codes(dtype_bits(dtype), array.dtype == DType::kInt8, from, array.data.size(),
               array.data.data());
  return array;
}

std::string npy_header(DType dtype, const Shape& shape) {
  std::string dims;
  for (int64_t d : shape) dims += std::to_string(d) + ", ";
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  std::string header = "{'descr': '";
  for (const TypeName& t : kTypes)
    if (t.dtype == dtype) header += t.name;
  header += "', 'fortran_order': False, 'shape': (" + dims + "), }";
  constexpr size_t kStart = 10, kAlign = 64;
  header.append((kAlign - (kStart + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  return start + header;
}

std::string npy_content(DType dtype, const Shape& shape, const void* data, size_t bytes) {
  const NpyArray array = to_npy_form(dtype, shape, data, bytes);
  std::string content = npy_header(array.dtype, shape);
  content.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  return content;
}

Status write_npy(const std::string& path, DType dtype, const Shape& shape, const void* data,
                 size_t bytes) {
  const std::string content = npy_content(dtype, shape, data, bytes);
  return write_file(path, content.data(), content.size());
}

}  // namespace qrt::tool

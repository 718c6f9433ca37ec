// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: format versions 1 to 3, little-endian, C order. npy has no small types:
// bfloat16 travels as uint16 bits, float8 and float4 as uint8 codes, 4- and 2-bit integers one per
// byte as int8 or uint8.
#ifndef QRT_RUNTIME_TOOLS_NPY_H_
#define QRT_RUNTIME_TOOLS_NPY_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt::tool {

struct NpyArray {
  DType dtype = DType::kUInt8;
  Shape shape;
  std::vector<uint8_t> data;  // row-major, low byte first
};

// An array in a file, read in parts.
class NpyFile {
 public:
  // Opens a file. Errors as of read_npy().
  Status open(const std::string& path);
  // Opens an array that takes up `bytes` bytes of a file from `start` on. Messages do not name the file.
  Status open(std::shared_ptr<FILE> file, size_t start, size_t bytes);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // Reads some bytes of the elements. REQUIRES: the array has them.
  Status read(size_t offset, size_t bytes, void* data) const;

 private:
  std::shared_ptr<FILE> file_;
  size_t data_at_ = 0;
  DType dtype_ = DType::kUInt8;
  Shape shape_;
};

// Reads an array. Fails with kIoError, or with kInvalidModel for anything but a whole, well-formed
// file, and for element types, orders and ranks that qrt does not have. The message names the file.
Status read_npy(const std::string& path, NpyArray* array);
// Reads the whole array of an open file. Messages do not name it.
Status read_all(const NpyFile& file, NpyArray* array);
// Reads an array from standard input to its end, as read_npy() from a file.
Status read_npy_of_stdin(NpyArray* array);

// Returns the type as which elements of `dtype` travel.
DType npy_dtype(DType dtype);

// Makes of an array of npy_dtype(dtype) one of `dtype`, packed where that is. Fails with
// kInvalidModel where a value is none of the type.
Status from_npy_form(DType dtype, NpyArray* array);

// Returns elements of `dtype` in the form in which they travel. `bytes`: their size, packed where
// the type is.
NpyArray to_npy_form(DType dtype, const Shape& shape, const void* data, size_t bytes);

// Returns what stands in front of the elements of such a file. `dtype`: one of npy_dtype().
std::string npy_header(DType dtype, const Shape& shape);
// Returns, or writes, an .npy file of version 1 whose data are aligned to 64. `bytes` must be what
// the shape takes.
std::string npy_content(DType dtype, const Shape& shape, const void* data, size_t bytes);
Status write_npy(const std::string& path, DType dtype, const Shape& shape, const void* data,
                 size_t bytes);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_NPY_H_

// SPDX-License-Identifier: Apache-2.0
// Constant tensors of an ONNX file as plain bytes: typed fields, raw data and external files,
// sub-byte types unpacked to one byte per element (small floats as codes). Every size is checked
// against the bytes present before anything is allocated.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_CONSTANT_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_CONSTANT_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt::convert::from_onnx {

// TensorProto::DataType values, also those younger than the installed ONNX headers.
enum OnnxType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kHalf = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

const char* element_type_name(int type);  // "float32"
// Finds the graph's type for elements of an ONNX type, and returns false where there is none.
// onnx_type() is the reverse.
bool ir_type(int type, DType* dtype);
int onnx_type(DType dtype);
// Returns the bytes of one unpacked element, or 0 for types a constant cannot have here.
size_t element_bytes(int type);
// Bits of an element of the packed types, 0 for all others.
int packed_bits(int type);
// Finds the range of an integer type of up to 16 bits. Returns false for other types.
bool quantized_range(int type, int* lo, int* hi);

// Immutable once made; shared between the tensors that hold it.
struct Constant {
  int type = kUndefined;
  Shape shape;
  // Elements, low byte first; those of 4 and 2 bits one per byte, sign extended.
  std::vector<uint8_t> data;

  int64_t elements() const { return shape.elements(); }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
  // Returns element i of an integer type, or of a float type; REQUIRES: i < elements().
  int64_t integer(int64_t i) const;
  float real(int64_t i) const;
  bool is_integer() const;  // integer() gives its elements
  bool is_real() const;     // real() gives its elements: float32, float16, bfloat16, float64
};
using ConstantPtr = std::shared_ptr<const Constant>;

// Returns the path of a model's external data file: `location` is beside the model.
std::string external_path(const std::string& model_path, const std::string& location);

// The external data files of one model: opened once, only below the model's own directory. All
// reads together may not exceed twice the files' size, so that a file cannot be made to unfold
// without bound.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string model_path) : model_path_(std::move(model_path)) {}
  Status read(const std::string& location, uint64_t offset, uint64_t bytes,
              std::vector<uint8_t>* data);
  uint64_t total_bytes() const { return total_; }  // size of all files opened so far

 private:
  std::string model_path_;
  // The files that were opened, by device and number: one file has many names, "./data" and hard links among them.
  std::set<std::pair<uint64_t, uint64_t>> opened_;
  uint64_t total_ = 0, read_ = 0;
};

// Decodes a TensorProto; the message names the tensor.
Status read_constant(const onnx::TensorProto& proto, ExternalFiles* files, ConstantPtr* result);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_CONSTANT_H_

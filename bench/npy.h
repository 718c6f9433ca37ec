// NumPy's .npy files: format versions 1 to 3, little-endian, C order, element types of qrt.
#ifndef QRT_BENCH_NPY_H_
#define QRT_BENCH_NPY_H_

#include <cstdint>
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

// kIoError; kInvalidModel for anything but a whole, well-formed file; kUnsupported for element
// types, orders and ranks that qrt does not have. The message names the file. bfloat16 travels as
// uint16 (npy has no name for it).
Status read_npy(const std::string& path, NpyArray* array);

// Version 1, data aligned to 64. `bytes`: the elements' size.
Status write_npy(const std::string& path, DType dtype, const Shape& shape, const void* data,
                 size_t bytes);

}  // namespace qrt::tool

#endif  // QRT_BENCH_NPY_H_

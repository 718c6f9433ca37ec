// SPDX-License-Identifier: Apache-2.0
// Value types shared by the runtime and the converter: element types and shapes.
#ifndef QRT_RUNTIME_TENSOR_H_
#define QRT_RUNTIME_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "kernels/dtype.h"

namespace qrt {

// Bits of an element: 64 to 8, or 4 or 2 of the packed types.
int dtype_bits(DType dtype);
// Returns the bytes of an element; 0 for a packed type.
size_t dtype_bytes(DType dtype);
inline bool is_packed(DType dtype) { return dtype_bytes(dtype) == 0; }
const char* dtype_name(DType dtype);  // "uint8"

constexpr int kMaxTensorRank = 6;
constexpr int64_t kMaxElements = int64_t{1} << 40;

// Up to kMaxTensorRank dimensions, row-major. A dimension is >= 0, or -1 where a batch is still
// open.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    for (int64_t d : dims) push_back(d);
  }

  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  // REQUIRES: rank() < kMaxTensorRank.
  void push_back(int64_t d) { dims_[static_cast<size_t>(rank_++)] = d; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }

  // Returns the product of the dimensions, or -1 if one is negative or the product exceeds kMaxElements.
  int64_t elements() const;
  std::string to_string() const;  // "[1, 224, 224, 3]"

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::array<int64_t, kMaxTensorRank> dims_{};
  int rank_ = 0;
};

struct TensorType {
  DType dtype = DType::kUInt8;
  Shape shape;
};

// Returns the bytes of a tensor's elements. REQUIRES: shape.elements() >= 0.
size_t tensor_bytes(const TensorType& type);

}  // namespace qrt

#endif  // QRT_RUNTIME_TENSOR_H_

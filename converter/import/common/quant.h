// SPDX-License-Identifier: Apache-2.0
// The quantisation of a tensor, as source files say it and as qrt stores it.
#ifndef QRT_CONVERTER_IMPORT_COMMON_QUANT_H_
#define QRT_CONVERTER_IMPORT_COMMON_QUANT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// real = (q - zero_point) * scale, in the source domain: q is an integer as the source file has it.
// qrt stores 8 bits as UINT8 and 16 bits as INT16 (the stored domain), whatever the source's sign.
struct Quant {
  DType type = DType::kUInt8;       // type of the integers q
  std::vector<float> scale;         // one, or one for each index of `axis`
  std::vector<int32_t> zero_point;  // as many as scales
  int axis = -1;                    // -1: per tensor

  bool per_tensor() const { return axis < 0; }
  bool is_int16() const { return type == DType::kUInt16 || type == DType::kInt16; }
  // Returns what is added to a source integer to give the stored one.
  int offset() const { return type == DType::kInt8 ? 128 : type == DType::kUInt16 ? -32768 : 0; }
  // Returns the stored type: of 8 or 16 bits, or int32, which is stored as it is.
  DType stored_type() const {
    if (type == DType::kInt32) return DType::kInt32;
    return is_int16() ? DType::kInt16 : DType::kUInt8;
  }
  // Return the number of stored integers, and the least of them. A table is indexed by a code, the
  // distance to the least. REQUIRES: 8 or 16 bits.
  size_t codes() const { return is_int16() ? 65536 : 256; }
  int first_code() const { return is_int16() ? -32768 : 0; }
  int stored_zero_point(size_t i = 0) const { return zero_point[i] + offset(); }
};
// Equal to the bit.
bool operator==(const Quant& a, const Quant& b);
inline bool operator!=(const Quant& a, const Quant& b) { return !(a == b); }

// Returns the parameters of a whole tensor.
Quant tensor_quant(DType type, float scale, int32_t zero_point);

// The least and the greatest integer of an output, in the stored domain if nothing else is said.
struct Limits {
  int lo = 0, hi = 255;

  // Returns all integers of the stored type.
  static Limits of(const Quant& q);
  // Returns all integers of the source's type. REQUIRES: 8 or 16 bits, or int32.
  static Limits of_source(const Quant& q);
  // Returns whether the limits exclude some of the stored integers.
  bool cut(const Quant& q) const { return lo > of(q).lo || hi < of(q).hi; }
};

// Returns the quantisation that tools show of a tensor. The file format wants finite positive
// scales: for others, which are legal at a model's edges, the result is empty.
Quantization quantization_of(const std::vector<float>& scale, std::vector<int32_t> zero_point,
                             int axis);
// Returns the quantisation in the stored domain.
Quantization stored_quantization(const Quant& quant);
bool same(const Quantization& a, const Quantization& b);

// Returns the bits of a float32, as the file holds scales.
uint32_t float_bits(float f);

// Finds the shape of two tensors broadcast as in numpy. Returns false where they do not broadcast.
bool broadcast(const Shape& a, const Shape& b, Shape* result);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_QUANT_H_

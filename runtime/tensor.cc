// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor.h"

namespace qrt {

int dtype_bits(DType dtype) {
  switch (dtype) {
    case DType::kInt2:
    case DType::kUInt2: return 2;
    case DType::kInt4:
    case DType::kUInt4:
    case DType::kFloat4E2M1: return 4;
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kBool:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0: return 8;
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kFloat16:
    case DType::kBFloat16: return 16;
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kFloat32: return 32;
    case DType::kInt64: return 64;
  }
  return 0;
}

size_t dtype_bytes(DType dtype) { return static_cast<size_t>(dtype_bits(dtype)) / 8; }

const char* dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return "uint8";
    case DType::kInt8: return "int8";
    case DType::kUInt16: return "uint16";
    case DType::kInt16: return "int16";
    case DType::kInt32: return "int32";
    case DType::kInt64: return "int64";
    case DType::kFloat32: return "float32";
    case DType::kFloat16: return "float16";
    case DType::kBFloat16: return "bfloat16";
    case DType::kBool: return "bool";
    case DType::kUInt32: return "uint32";
    case DType::kInt4: return "int4";
    case DType::kUInt4: return "uint4";
    case DType::kInt2: return "int2";
    case DType::kUInt2: return "uint2";
    case DType::kFloat8E4M3FN: return "float8e4m3fn";
    case DType::kFloat8E4M3FNUZ: return "float8e4m3fnuz";
    case DType::kFloat8E5M2: return "float8e5m2";
    case DType::kFloat8E5M2FNUZ: return "float8e5m2fnuz";
    case DType::kFloat8E8M0: return "float8e8m0";
    case DType::kFloat4E2M1: return "float4e2m1";
  }
  return "unknown";
}

size_t tensor_bytes(const TensorType& type) {
  return (static_cast<size_t>(type.shape.elements()) * static_cast<size_t>(dtype_bits(type.dtype)) +
          7) /
         8;
}

int64_t Shape::elements() const {
  int64_t n = 1;
  for (int64_t d : *this) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n) || n > kMaxElements) return -1;
  }
  return n;
}

std::string Shape::to_string() const {
  std::string s = "[";
  for (int i = 0; i < rank_; ++i) s += (i ? ", " : "") + std::to_string((*this)[i]);
  return s + "]";
}

}  // namespace qrt

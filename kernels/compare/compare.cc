// SPDX-License-Identifier: Apache-2.0
// The indices of greatest and least elements; see compare.h.
#include "kernels/compare/compare.h"

#include "kernels/integer_only.h"

namespace qrt {
namespace {

// Columns along `inner` that are compared side by side.
constexpr size_t kColumns = 64;

template <class T, bool kMinimum, bool kLast>
void find(const T* x, size_t n, size_t inner, size_t columns, int32_t* at) {
  T best[kColumns];
  for (size_t c = 0; c < columns; ++c) {
    best[c] = x[c];
    at[c] = 0;
  }
  for (size_t i = 1; i < n; ++i) {
    const T* row = x + i * inner;
    for (size_t c = 0; c < columns; ++c) {
      const T v = row[c];
      const bool better = kMinimum ? v < best[c] : best[c] < v;
      const bool take = better || (kLast && v == best[c]);
      best[c] = take ? v : best[c];
      at[c] = take ? static_cast<int32_t>(i) : at[c];
    }
  }
}

template <class T>
void arg_max(const ArgMaxArgs& args) {
  const T* x = static_cast<const T*>(args.x);
  const auto scan = args.minimum ? (args.last ? find<T, true, true> : find<T, true, false>)
                                 : (args.last ? find<T, false, true> : find<T, false, false>);
  size_t to = 0;
  for (size_t o = 0; o < args.outer; ++o, x += args.n * args.inner) {
    for (size_t begin = 0; begin < args.inner; begin += kColumns) {
      const size_t columns = args.inner - begin < kColumns ? args.inner - begin : kColumns;
      int32_t at[kColumns];
      scan(x + begin, args.n, args.inner, columns, at);
      for (size_t c = 0; c < columns; ++c, ++to) {
        if (args.to_int64) {
          static_cast<int64_t*>(args.y)[to] = at[c];
        } else {
          static_cast<int32_t*>(args.y)[to] = at[c];
        }
      }
    }
  }
}

}  // namespace

ArgMaxFn arg_max_kernel(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return arg_max<uint8_t>;
    case DType::kInt8: return arg_max<int8_t>;
    case DType::kUInt16: return arg_max<uint16_t>;
    case DType::kInt16: return arg_max<int16_t>;
    case DType::kInt32: return arg_max<int32_t>;
    case DType::kFloat32:
      if constexpr (!kIntegerOnly) return arg_max<float>;
      break;
    default: break;  // kInt64
  }
  return arg_max<int64_t>;
}

}  // namespace qrt

// SPDX-License-Identifier: Apache-2.0
// Constants made at conversion.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONSTANTS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONSTANTS_H_

#include <cstring>
#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Shape arithmetic is small; anything longer is data and is not folded.
constexpr int64_t kMaxFolded = 4096;

template <class T>
ConstantPtr make_constant(int type, const Shape& shape, const std::vector<T>& elements) {
  auto c = std::make_shared<Constant>();
  c->type = type;
  c->shape = shape;
  c->data.resize(elements.size() * sizeof(T));
  if (!elements.empty()) memcpy(c->data.data(), elements.data(), c->data.size());
  return c;
}

// Makes a constant of type int64, int32 or bool.
ConstantPtr integer_constant(int type, const Shape& shape, const std::vector<int64_t>& v);

Tensor constant_tensor(ConstantPtr constant);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONSTANTS_H_

// SPDX-License-Identifier: Apache-2.0
// Tensors and attributes of a float model as parts of an ONNX file.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_ONNX_PARTS_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_ONNX_PARTS_H_

#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace onnx {
class AttributeProto;
class TensorProto;
}  // namespace onnx

namespace qrt::quantize {

// Returns the bytes of numbers, as TensorProto::raw_data has them.
template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T, class From>
std::string raw_as(const std::vector<From>& values) {
  return raw(std::vector<T>(values.begin(), values.end()));
}

void set_tensor(const std::string& name, int type, const Dims& shape, std::string data,
                onnx::TensorProto* t);
void set_tensor(const std::string& name, const Tensor& tensor, onnx::TensorProto* t);
void set_attribute(const std::string& name, const Attribute& from, onnx::AttributeProto* to);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_ONNX_PARTS_H_

// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/onnx_parts.h"

#include "onnx/onnx_pb.h"

namespace qrt::quantize {

void set_tensor(const std::string& name, int type, const Dims& shape, std::string data,
                onnx::TensorProto* t) {
  t->set_name(name);
  t->set_data_type(type);
  for (const int64_t d : shape) t->add_dims(d);
  t->set_raw_data(std::move(data));
}

void set_tensor(const std::string& name, const Tensor& tensor, onnx::TensorProto* t) {
  std::string data;
  switch (tensor.element) {
    case Element::kFloat: data = raw(tensor.reals); break;
    case Element::kInt64: data = raw(tensor.integers); break;
    case Element::kInt32: data = raw_as<int32_t>(tensor.integers); break;
    case Element::kBool:
    case Element::kUint8: data = raw_as<uint8_t>(tensor.integers); break;
    case Element::kInt8: data = raw_as<int8_t>(tensor.integers); break;
    case Element::kUint16: data = raw_as<uint16_t>(tensor.integers); break;
    case Element::kInt16: data = raw_as<int16_t>(tensor.integers); break;
  }
  set_tensor(name, onnx_element(tensor.element), tensor.shape, std::move(data), t);
}

void set_attribute(const std::string& name, const Attribute& from, onnx::AttributeProto* to) {
  to->set_name(name);
  switch (from.kind) {
    case Attribute::Kind::kInteger:
      to->set_type(onnx::AttributeProto::INT);
      to->set_i(from.integer);
      break;
    case Attribute::Kind::kReal:
      to->set_type(onnx::AttributeProto::FLOAT);
      to->set_f(from.real);
      break;
    case Attribute::Kind::kText:
      to->set_type(onnx::AttributeProto::STRING);
      to->set_s(from.text);
      break;
    case Attribute::Kind::kIntegers:
      to->set_type(onnx::AttributeProto::INTS);
      for (const int64_t v : from.integers) to->add_ints(v);
      break;
    case Attribute::Kind::kReals:
      to->set_type(onnx::AttributeProto::FLOATS);
      for (const float v : from.reals) to->add_floats(v);
      break;
    case Attribute::Kind::kTexts:
      to->set_type(onnx::AttributeProto::STRINGS);
      for (const std::string& text : from.texts) to->add_strings(text);
      break;
    case Attribute::Kind::kTensor:
      to->set_type(onnx::AttributeProto::TENSOR);
      set_tensor("", *from.tensor, to->mutable_t());
      break;
  }
}

}  // namespace qrt::quantize

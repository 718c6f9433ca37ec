// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/float_model.h"

#include <algorithm>

namespace qrt::quantize {
namespace {

constexpr struct {
  const char* name;
  int onnx;  // TensorProto::DataType
} kElements[] = {{"float32", 1}, {"int64", 7}, {"int32", 6},  {"bool", 9},
                 {"uint8", 2},   {"int8", 3},  {"uint16", 4}, {"int16", 5}};

}  // namespace

Status input_too_large(const Value& input, const Dims& shape, int64_t most) {
  return error(
      Code::kUnsupported,
      "the input '%s' of shape %s has more than %lld elements, the limit for files of this "
      "size: --budget 16 gives 16 times as much",
      input.name.c_str(), to_string(shape).c_str(), static_cast<long long>(most));
}

RunLimits RunLimits::of_files(uint64_t bytes, uint64_t factor) {
  // 64 MB of values, and a second or two; for each byte two elements and 4,096 terms. A model of images has a
  // hundred elements at once for a hundred of its bytes, and some 400 terms for each of them.
  const double size = static_cast<double>(bytes), times = static_cast<double>(factor);
  const RunLimits most;
  RunLimits limits;
  const double elements = (0x1p24 + 2 * size) * times;
  limits.value = static_cast<int64_t>(std::min(elements, static_cast<double>(most.value)));
  limits.values = static_cast<int64_t>(std::min(elements, static_cast<double>(most.values)));
  limits.terms = std::min((0x1p32 + 4096 * size) * times, most.terms);
  return limits;
}

const char* element_name(Element element) { return kElements[static_cast<size_t>(element)].name; }
int onnx_element(Element element) { return kElements[static_cast<size_t>(element)].onnx; }

int64_t elements(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

bool is_within(const Dims& dims, int64_t limit) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d > limit / n) return false;
    n *= d > 1 ? d : 1;
  }
  return true;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

Tensor real_tensor(const Dims& shape, std::vector<float> values) {
  Tensor t;
  t.shape = shape;
  t.reals = std::move(values);
  return t;
}

Tensor integer_tensor(const std::vector<int64_t>& values) {
  Tensor t;
  t.element = Element::kInt64;
  t.shape = {static_cast<int64_t>(values.size())};
  t.integers = values;
  return t;
}

int64_t Node::integer(const char* attribute, int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.integer;
}
float Node::real(const char* attribute, float otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.real;
}
std::string Node::text(const char* attribute, const std::string& otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.text;
}
std::vector<int64_t> Node::integers(const char* attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::vector<int64_t>() : found->second.integers;
}

void Node::set(const char* attribute, int64_t value) {
  Attribute a;
  a.kind = Attribute::Kind::kInteger;
  a.integer = value;
  attributes[attribute] = a;
}
void Node::set(const char* attribute, float value) {
  Attribute a;
  a.kind = Attribute::Kind::kReal;
  a.real = value;
  attributes[attribute] = a;
}
void Node::set(const char* attribute, const std::string& value) {
  Attribute a;
  a.kind = Attribute::Kind::kText;
  a.text = value;
  attributes[attribute] = a;
}
void Node::set(const char* attribute, std::vector<int64_t> values) {
  Attribute a;
  a.kind = Attribute::Kind::kIntegers;
  a.integers = std::move(values);
  attributes[attribute] = a;
}

const Tensor* FloatModel::constant(const std::string& name) const {
  const auto found = constants.find(name);
  return found == constants.end() ? nullptr : &found->second;
}

int64_t Value::sample_elements() const {
  if (most_elements > 0) return most_elements;
  int64_t n = 1;
  for (const int64_t d : shape) n *= d < 0 ? 1 : d;
  return n;
}

}  // namespace qrt::quantize

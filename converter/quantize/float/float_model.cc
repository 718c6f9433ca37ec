#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {
namespace {

constexpr struct {
  const char* name;
  int onnx;  // TensorProto::DataType
} kElements[] = {{"float32", 1}, {"int64", 7}, {"int32", 6},
                 {"bool", 9},    {"uint8", 2}, {"int8", 3}};

}  // namespace

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

Status fix_input_shapes(const std::map<std::string, Dims>& samples, FloatModel* model) {
  for (Value& input : model->inputs) {
    const auto found = samples.find(input.name);
    if (found == samples.end()) continue;
    const Dims& sample = found->second;
    bool fits = sample.size() == input.shape.size();
    for (size_t i = 0; fits && i < sample.size(); ++i)
      fits = input.shape[i] < 0 || input.shape[i] == sample[i];
    if (!fits)
      return error(Code::kInvalidModel, "samples for input '%s' have shape %s, the model has %s",
                   input.name.c_str(), to_string(sample).c_str(), to_string(input.shape).c_str());
    for (size_t i = 1; i < sample.size(); ++i) input.shape[i] = sample[i];
  }
  return Status();
}

}  // namespace qrt::quantize

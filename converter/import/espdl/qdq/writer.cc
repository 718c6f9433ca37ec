// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/qdq/writer.h"

#include <cstring>

namespace qrt::convert::from_qdq {

Writer::Writer(const std::string& name, uint64_t most_bytes) : most_bytes_(most_bytes) {
  model_.graph = std::make_unique<espdl::GraphT>();
  model_.graph->name = name;
}

std::string Writer::fresh(const std::string& stem) {
  std::string name = stem;
  int& next = next_.emplace(stem, 2).first->second;
  while (name.empty() || !names_.insert(name).second) name = stem + "/" + std::to_string(next++);
  return name;
}

void Writer::declare(const std::string& name, const Format& format,
                     const std::vector<int64_t>& dims,
                     std::vector<std::unique_ptr<espdl::ValueInfoT>>* infos) {
  auto info = std::make_unique<espdl::ValueInfoT>();
  info->name = name;
  info->exponents = {format.exponent};
  espdl::TensorTypeAndShapeT type;
  type.elem_type = format.type;
  type.shape = std::make_unique<espdl::TensorShapeT>();
  for (const int64_t d : dims) {
    auto dimension = std::make_unique<espdl::DimensionT>();
    dimension->value = std::make_unique<espdl::DimensionValueT>();
    dimension->value->dim_type = espdl::DimensionValueType::VALUE;
    dimension->value->dim_value = d;
    type.shape->dim.push_back(std::move(dimension));
  }
  info->value_info_type = std::make_unique<espdl::TypeInfoT>();
  info->value_info_type->value.Set(std::move(type));
  infos->push_back(std::move(info));
}

void Writer::add_input(const std::string& name, const Format& format,
                       const std::vector<int64_t>& dims) {
  names_.insert(name);
  declare(name, format, dims, &model_.graph->input);
}

void Writer::add_output(const std::string& name, const Format& format) {
  declare(name, format, {}, &model_.graph->output);
}

espdl::NodeT& Writer::add_node(const std::string& label, const std::string& op,
                               std::vector<std::string> inputs, const std::string& output,
                               const Format& format) {
  auto node = std::make_unique<espdl::NodeT>();
  node->name = label;
  node->op_type = op;
  node->input = std::move(inputs);
  add_result(node.get(), output, format);
  model_.graph->node.push_back(std::move(node));
  return *model_.graph->node.back();
}

void Writer::add_result(espdl::NodeT* node, const std::string& name, const Format& format) {
  node->output.push_back(name);
  declare(name, format, {}, &model_.graph->value_info);
}

namespace {

template <class T>
void put(const std::vector<int64_t>& values, std::vector<uint8_t>* bytes) {
  bytes->resize(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    memcpy(bytes->data() + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

std::string Writer::add_constant(const std::string& stem, const Numbers& numbers) {
  auto tensor = std::make_unique<espdl::TensorT>();
  tensor->name = fresh(stem);
  tensor->data_type = numbers.type;
  tensor->dims = numbers.dims;
  tensor->exponents = numbers.exponents;
  tensor->doc_string = "layout ==> NHWC";  // filters row by row
  bytes_ += numbers.values.size() * from_espdl::element_bytes(numbers.type);
  if (fits()) switch (numbers.type) {
      case DataType::INT8: put<int8_t>(numbers.values, &tensor->raw_data); break;
      case DataType::INT16: put<int16_t>(numbers.values, &tensor->raw_data); break;
      case DataType::INT32: put<int32_t>(numbers.values, &tensor->raw_data); break;
      default: put<int64_t>(numbers.values, &tensor->raw_data); break;
    }
  model_.graph->initializer.push_back(std::move(tensor));
  return model_.graph->initializer.back()->name;
}

std::string Writer::add_floats(const std::string& stem, const std::vector<float>& values) {
  auto tensor = std::make_unique<espdl::TensorT>();
  tensor->name = fresh(stem);
  tensor->data_type = DataType::FLOAT;
  tensor->dims = {static_cast<int64_t>(values.size())};
  tensor->exponents = {0};
  bytes_ += values.size() * sizeof(float);
  if (fits()) tensor->raw_data.resize(values.size() * sizeof(float));
  if (!tensor->raw_data.empty())
    memcpy(tensor->raw_data.data(), values.data(), values.size() * sizeof(float));
  model_.graph->initializer.push_back(std::move(tensor));
  return model_.graph->initializer.back()->name;
}

std::vector<uint8_t> Writer::file() const {
  constexpr size_t kHeaderBytes = 16;  // the mark, mode 0, the size, 0
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(espdl::Model::Pack(builder, &model_));
  const uint32_t size = builder.GetSize();
  std::vector<uint8_t> file(kHeaderBytes + size, 0);
  memcpy(file.data(), "EDL2", 4);
  memcpy(file.data() + 8, &size, sizeof size);
  memcpy(file.data() + kHeaderBytes, builder.GetBufferPointer(), size);
  return file;
}

namespace {

espdl::AttributeT& attribute(espdl::NodeT* node, const std::string& name,
                             espdl::AttributeType type) {
  auto a = std::make_unique<espdl::AttributeT>();
  a->name = name;
  a->attr_type = type;
  node->attribute.push_back(std::move(a));
  return *node->attribute.back();
}

}  // namespace

void set(espdl::NodeT* node, const std::string& name, int64_t value) {
  attribute(node, name, espdl::AttributeType::INT).i = std::make_unique<espdl::AttributeI>(value);
}

void set(espdl::NodeT* node, const std::string& name, float value) {
  attribute(node, name, espdl::AttributeType::FLOAT).f = std::make_unique<espdl::AttributeF>(value);
}

void set(espdl::NodeT* node, const std::string& name, const std::string& text) {
  attribute(node, name, espdl::AttributeType::STRING).s.assign(text.begin(), text.end());
}

void set(espdl::NodeT* node, const std::string& name, std::vector<int64_t> values) {
  attribute(node, name, espdl::AttributeType::INTS).ints = std::move(values);
}

}  // namespace qrt::convert::from_qdq

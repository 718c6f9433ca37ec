// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/cvm/symbol.h"

#include <nlohmann/json.hpp>

namespace qrt::quantize {
namespace {

using nlohmann::json;

constexpr uint64_t kFileMagic = 0xF7E58D4F05049CB7, kTensorMagic = 0xDD5E40F096B4A13F;

// Appends a number, little-endian, as is every machine that qrt runs on.
template <class T>
void put(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <class T>
void put_all(const std::vector<int32_t>& values, std::string* bytes) {
  for (const int32_t v : values) put(static_cast<T>(v), bytes);
}

json tagged(const char* tag, json list) {
  json pair = json::array();
  pair.push_back(tag);
  pair.push_back(std::move(list));
  return pair;
}

}  // namespace

int CvmSymbol::add_node(Node node, const Dims& shape, int precision) {
  nodes_.push_back(std::move(node));
  entries_.push_back({shape, precision});
  return static_cast<int>(entries_.size()) - 1;
}

int CvmSymbol::add_input(const Dims& shape, int precision) {
  return add_node({"data", "", {}, {}}, shape, precision);
}

int CvmSymbol::add_parameter(const Dims& shape, int precision, const std::vector<int32_t>& values) {
  const std::string name = "parameter_" + std::to_string(parameters_.size());
  parameters_.push_back({name, shape, precision <= 8, values});
  return add_node({name, "", {}, {}}, shape, precision);
}

int CvmSymbol::add(const std::string& function, const std::string& name,
                   const std::vector<int>& inputs, const Dims& shape, int precision,
                   const Attributes& attributes) {
  return add_node({name, function, inputs, attributes}, shape, precision);
}

std::string CvmSymbol::symbol(const std::vector<int>& heads) const {
  json nodes = json::array(), op_attrs = json::array(), shapes = json::array();
  json precisions = json::array(), types = json::array(), ids = json::array();
  json variables = json::array(), rows = json::array();
  const auto entry = [](int i) { return json::array({i, 0, 0}); };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    json inputs = json::array();
    for (const int x : n.inputs) inputs.push_back(entry(x));
    json node = {{"op", n.function.empty() ? "null" : "cvm_op"}, {"name", n.name}};
    node["inputs"] = std::move(inputs);
    if (n.function.empty())
      variables.push_back(i);
    else
      node["attrs"] = {{"func_name", n.function}};
    nodes.push_back(std::move(node));
    op_attrs.push_back(n.attributes.empty() ? "{}" : json(n.attributes).dump());
    shapes.push_back(entries_[i].shape);
    precisions.push_back(entries_[i].precision);
    types.push_back("int32");
    ids.push_back(i);
    rows.push_back(i);
  }
  rows.push_back(nodes_.size());
  json text;
  text["nodes"] = std::move(nodes);
  text["arg_nodes"] = std::move(variables);
  text["node_row_ptr"] = std::move(rows);
  text["heads"] = json::array();
  for (const int h : heads) text["heads"].push_back(entry(h));
  text["version"] = "cvm_1.0.0";
  json& attrs = text["attrs"];
  attrs["op_attrs"] = tagged("list_str", std::move(op_attrs));
  attrs["shape"] = tagged("list_shape", std::move(shapes));
  attrs["precision"] = tagged("list_int", std::move(precisions));
  attrs["dltype"] = tagged("list_str", std::move(types));
  attrs["storage_id"] = tagged("list_int", std::move(ids));
  // Names of a source model need not be UTF-8.
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string CvmSymbol::params() const {
  std::string bytes;
  put(kFileMagic, &bytes);
  put(uint64_t{0}, &bytes);
  put(uint64_t{parameters_.size()}, &bytes);
  for (const Parameter& p : parameters_) {
    put(uint64_t{p.name.size()}, &bytes);
    bytes += p.name;
  }
  put(uint64_t{parameters_.size()}, &bytes);
  for (const Parameter& p : parameters_) {
    put(kTensorMagic, &bytes);
    put(uint64_t{0}, &bytes);
    put(int32_t{1}, &bytes);  // device: CPU 0
    put(int32_t{0}, &bytes);
    put(static_cast<int32_t>(p.shape.size()), &bytes);
    put(uint8_t{0}, &bytes);  // signed integers
    put(static_cast<uint8_t>(p.is_byte ? 8 : 32), &bytes);
    put(uint16_t{1}, &bytes);
    for (const int64_t d : p.shape) put(d, &bytes);
    put(static_cast<int64_t>(p.values.size() * (p.is_byte ? 1 : 4)), &bytes);
    if (p.is_byte)
      put_all<int8_t>(p.values, &bytes);
    else
      put_all<int32_t>(p.values, &bytes);
  }
  return bytes;
}

std::string cvm_tuple(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return "(" + text + (values.size() == 1 ? ",)" : ")");
}

}  // namespace qrt::quantize

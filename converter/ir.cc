// SPDX-License-Identifier: Apache-2.0
// The converter's graph: lookups and its text form.
#include "converter/ir.h"

#include <algorithm>
#include <cstring>

#include "runtime/text.h"

namespace qrt::convert {

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

ValueId Graph::add_constant_bytes(std::string name, DType dtype, const Shape& shape,
                                  const void* data, size_t size) {
  Value v;
  v.name = std::move(name);
  v.type = {dtype, shape};
  v.is_constant = true;
  v.data.resize(size);
  if (size > 0) memcpy(v.data.data(), data, size);
  return add_value(std::move(v));
}

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

int Graph::producer(ValueId value) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& out = nodes[i].outputs;
    if (std::find(out.begin(), out.end(), value) != out.end()) return static_cast<int>(i);
  }
  return -1;
}

std::vector<int> Graph::consumers(ValueId value) const {
  std::vector<int> found;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& in = nodes[i].inputs;
    found.insert(found.end(), static_cast<size_t>(std::count(in.begin(), in.end(), value)),
                 static_cast<int>(i));
  }
  return found;
}

bool Graph::is_output(ValueId value) const {
  return std::find(outputs.begin(), outputs.end(), value) != outputs.end();
}

namespace {

// "%12 'conv1_out' uint8[1, 56, 56, 64]"
std::string describe(const Graph& graph, ValueId id) {
  if (id >= graph.values.size()) return "%?" + std::to_string(id);
  const Value& v = graph.values[id];
  std::string s = std::string("%") + std::to_string(id) + " '" + escaped(v.name) + "' " +
                  dtype_name(v.type.dtype) + v.type.shape.to_string();
  if (v.is_constant) {
    s += " constant";
    if (v.packing != fb::Packing::NONE) s += std::string(" ") + fb::EnumNamePacking(v.packing);
  }
  if (v.quantization.scale.size() == 1) {
    char text[64];
    snprintf(text, sizeof text, " scale %.9g zero %d", static_cast<double>(v.quantization.scale[0]),
             v.quantization.zero_point.empty() ? 0 : v.quantization.zero_point[0]);
    s += text;
  } else if (!v.quantization.scale.empty()) {
    s += " scales[" + std::to_string(v.quantization.scale.size()) + "] axis " +
         std::to_string(v.quantization.axis);
  }
  return s;
}

std::string list(const std::vector<ValueId>& ids) {
  std::string s;
  for (ValueId id : ids) s += (s.empty() ? "%" : ", %") + std::to_string(id);
  return s;
}

template <class T>
std::string numbers(const std::vector<T>& v) {
  std::string s = " [";
  for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + std::to_string(v[i]);
  return s + "]";
}

std::string attributes(const Node& node) {
  if (const auto* t = node.options.AsTranspose()) return numbers(t->perm);
  if (const auto* r = node.options.AsReshape()) return numbers(r->shape);
  if (const auto* c = node.options.AsConcat()) return " axis " + std::to_string(c->axis);
  if (const auto* c = node.options.AsConv2D())
    return " groups " + std::to_string(c->groups) + " terms " + std::to_string(c->terms) + " " +
           fb::EnumNameTapLayout(c->tap_layout);
  if (const auto* g = node.options.AsGather()) {
    std::string s;
    for (const auto& map : g->axes) s += " axis " + std::to_string(map->axis) + numbers(map->index);
    return s + " fill " + std::to_string(g->fill);
  }
  if (const auto* l = node.options.AsLut()) return l->per_channel ? " per channel" : "";
  return "";
}

}  // namespace

StoredForm::StoredForm(const Node& node) {
  const auto options = node.options.Pack(bytes_);
  fb::OperatorBuilder op(bytes_);
  op.add_options_type(node.options.type);
  op.add_options(options);
  bytes_.Finish(op.Finish());
}

bool StoredForm::operator!=(const StoredForm& other) const {
  return bytes_.GetSize() != other.bytes_.GetSize() ||
         memcmp(bytes_.GetBufferPointer(), other.bytes_.GetBufferPointer(), bytes_.GetSize()) != 0;
}

const fb::Operator& StoredForm::op() const {
  return *flatbuffers::GetRoot<fb::Operator>(bytes_.GetBufferPointer());
}

std::string dump(const Graph& graph) {
  std::string s = "graph '" + escaped(graph.name) + "' batch " +
                  std::to_string(graph.default_batch) + (graph.batch_is_open ? " (open)" : "") +
                  "\n";
  for (ValueId id : graph.inputs) s += "input " + describe(graph, id) + "\n";
  for (const Node& node : graph.nodes) {
    s += std::string(fb::EnumNameOpOptions(node.options.type)) + attributes(node) + " '" +
         escaped(node.name) + "' (" + list(node.inputs) + ")\n";
    for (ValueId id : node.inputs)
      if (id < graph.values.size() && graph.values[id].is_constant)
        s += "    with " + describe(graph, id) + "\n";
    for (ValueId id : node.outputs) s += "    -> " + describe(graph, id) + "\n";
  }
  s += "outputs " + list(graph.outputs) + "\n";
  if (!graph.variables.empty())
    s += "the last " + std::to_string(graph.variables.size()) + " of either are variables\n";
  return s;
}

}  // namespace qrt::convert

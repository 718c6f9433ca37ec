// SPDX-License-Identifier: Apache-2.0
// Reading of the file, its operators, and the structural checks of its graph. Tensors: tensors.cc.
#include "converter/import/espdl/model.h"

#include "converter/import/common/choice.h"
#include "converter/import/common/source_file.h"
#include "converter/import/common/source_limits.h"
#include "converter/import/espdl/fields.h"
#include "espdl_types.h"
#include "runtime/checked.h"
#include "runtime/unshared.h"

namespace qrt::convert::from_espdl {
namespace {

constexpr int kMaxDepth = 32, kMaxTables = 1000000;

const espdl::Attribute* find_attribute(const Node& node, const char* name,
                                       espdl::AttributeType type) {
  if (!node.table->attribute()) return nullptr;
  for (const espdl::Attribute* a : *node.table->attribute())
    if (a->name() && a->attr_type() == type && strcmp(a->name()->c_str(), name) == 0) return a;
  return nullptr;
}

}  // namespace

std::string Node::label() const {
  return name.empty() ? "#" + std::to_string(index) + " (" + op + ")" : name;
}

int64_t Node::integer(const char* name, int64_t otherwise) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::INT);
  return a && a->i() ? a->i()->i() : otherwise;
}

float Node::real(const char* name, float otherwise) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::FLOAT);
  return a && a->f() ? a->f()->f() : otherwise;
}

std::string Node::text(const char* name, const std::string& otherwise) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::STRING);
  if (!a || !a->s()) return otherwise;
  return std::string(reinterpret_cast<const char*>(a->s()->data()),
                     std::min<size_t>(a->s()->size(), kMaxNameBytes));
}

std::vector<int64_t> Node::integers(const char* name) const {
  const auto* a = find_attribute(*this, name, espdl::AttributeType::INTS);
  std::vector<int64_t> values;
  for (size_t i = 0; a && i < std::min(size_of(a->ints()), kMaxDims); ++i)
    values.push_back(element(*a->ints(), i));
  return values;
}

Status Model::load(const std::string& path, const std::string& selector, Model* model) {
  std::vector<uint8_t> file;
  QRT_TRY(read_source_file(path, "an ESP-DL", &file));
  Status status = parse(std::move(file), selector, model);
  return status.ok() ? Status() : std::move(status).at(path);
}

Status Model::list(const std::string& path, std::vector<Entry>* entries) {
  std::vector<uint8_t> file;
  QRT_TRY(read_source_file(path, "an ESP-DL", &file));
  Status status = list_entries(file, entries);
  return status.ok() ? Status() : std::move(status).at(path);
}

Status Model::parse(std::vector<uint8_t> file, const std::string& selector, Model* model) {
  std::vector<Entry> entries;
  QRT_TRY(list_entries(file, &entries));
  size_t index;
  QRT_TRY(choose_model(names_of(entries), selector, {"model", "--model"}, &index));
  Status status = model->read_entry(file, entries[index]);
  if (status.ok() || entries[index].name.empty()) return status;
  return std::move(status).at("model '" + entries[index].name + "'");
}

Status Model::parse_plain(std::vector<uint8_t> file, Model* model) {
  model->is_plain_ = true;
  return parse(std::move(file), "", model);
}

Status Model::read_entry(const std::vector<uint8_t>& file, const Entry& entry) {
  const uint8_t* data = file.data() + entry.offset;
  Wrapper wrapper;
  QRT_TRY(read_wrapper(data, entry.bytes, &wrapper));
  for (const size_t header : wrapper.headers) {
    // Copied: an entry may start anywhere, the flatbuffer's numbers count on their alignment.
    bytes_.assign(data + header, data + entry.bytes);
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size(), kMaxDepth, kMaxTables);
    if (bytes_.size() < 8 || !espdl::VerifyModelBuffer(verifier)) continue;
    const espdl::Model& root = *espdl::GetModel(bytes_.data());
    QRT_TRY(check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(bytes_.data()),
                           espdl_types::ModelTypeTable(), bytes_.size()));
    if (!root.graph() || size_of(root.graph()->node()) == 0) continue;
    return read_graph(root);
  }
  return error(
      Code::kInvalidModel,
      "is not a valid ESP-DL model: its flatbuffer is damaged, cut short, or has no operators");
}

int Model::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? -1 : found->second;
}

int Model::tensor_of(const std::string& name) {
  const auto [at, is_new] = index_.emplace(name, static_cast<int>(tensors_.size()));
  if (is_new) {
    tensors_.emplace_back();
    tensors_.back().name = name;
  }
  return at->second;
}

Status Model::read_graph(const espdl::Model& root) {
  const espdl::Graph& graph = *root.graph();
  QRT_TRY(check_node_count(size_of(graph.node())));
  name_ = string_of(graph.name());
  producer_ = string_of(root.producer_name());
  if (root.metadata_props())
    for (const espdl::StringStringEntry* e : *root.metadata_props())
      if (e->key() && e->key()->str() == "target") target_ = string_of(e->value());
  std::vector<Tensor> constants;
  QRT_TRY(read_constants(graph.initializer(), &constants));
  for (Tensor& t : constants) {
    const int at = tensor_of(t.name);
    QRT_MODEL_CHECK(!tensors_[static_cast<size_t>(at)].is_constant, "has two constants '%s'",
                    t.name.c_str());
    tensors_[static_cast<size_t>(at)] = std::move(t);
  }
  QRT_TRY(read_infos(graph));
  QRT_TRY(read_nodes(graph));
  if (graph.output())
    for (const espdl::ValueInfo* v : *graph.output()) {
      const int at = find(string_of(v->name()));
      QRT_MODEL_CHECK(at >= 0, "has an output '%s' that nothing makes",
                      string_of(v->name()).c_str());
      outputs_.push_back(at);
    }
  QRT_MODEL_CHECK(!outputs_.empty(), "has no outputs");
  QRT_TRY(read_constants(graph.test_inputs_value(), &test_inputs_));
  QRT_TRY(read_constants(graph.test_outputs_value(), &test_outputs_));
  return check_order();
}

Status Model::read_nodes(const espdl::Graph& graph) {
  size_t edges = 0, attributes = 0;
  for (const espdl::Node* source : *graph.node()) {
    Node node;
    node.index = static_cast<int>(nodes_.size());
    node.table = source;
    for (const auto* s : {source->op_type(), source->name()})
      QRT_MODEL_CHECK(!s || s->size() <= kMaxNameBytes, "operator %d has too long a name",
                      node.index);
    node.op = string_of(source->op_type());
    node.name = string_of(source->name());
    // Every name in a list takes four bytes of the file, unless operators share their lists.
    edges += size_of(source->input()) + size_of(source->output());
    attributes += size_of(source->attribute());
    QRT_TRY(check_edge_count(edges));
    QRT_MODEL_CHECK(edges + attributes <= bytes_.size() / 4,
                    "its operators have more inputs, outputs and attributes than the file holds");
    const auto add = [&](const auto* names, std::vector<int>* to) -> Status {
      for (size_t i = 0; i < size_of(names); ++i) {
        const flatbuffers::String& name = *names->Get(static_cast<uint32_t>(i));
        QRT_MODEL_CHECK(name.size() <= kMaxNameBytes,
                        "operator %d has a value with too long a name", node.index);
        to->push_back(name.size() == 0 ? -1 : tensor_of(name.str()));
      }
      return Status();
    };
    QRT_TRY(add(source->input(), &node.inputs));
    QRT_TRY(add(source->output(), &node.outputs));
    nodes_.push_back(std::move(node));
  }
  return Status();
}

Status Model::check_order() const {
  std::vector<bool> known(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) known[i] = tensors_[i].is_constant;
  const auto name = [&](int i) { return tensors_[static_cast<size_t>(i)].name.c_str(); };
  for (int i : inputs_) {
    QRT_MODEL_CHECK(!known[static_cast<size_t>(i)], "input '%s' stands twice", name(i));
    known[static_cast<size_t>(i)] = true;
  }
  for (const Node& node : nodes_) {
    for (int i : node.inputs)
      QRT_MODEL_CHECK(i < 0 || known[static_cast<size_t>(i)],
                      "operator %d (%s) reads '%s', which nothing wrote before", node.index,
                      node.op.c_str(), name(i));
    for (int i : node.outputs) {
      if (i < 0) continue;
      QRT_MODEL_CHECK(
          !known[static_cast<size_t>(i)],
          "operator %d (%s) writes '%s', which is a constant, an input, or written before",
          node.index, node.op.c_str(), name(i));
      known[static_cast<size_t>(i)] = true;
    }
  }
  for (int i : outputs_)
    QRT_MODEL_CHECK(known[static_cast<size_t>(i)], "nothing makes the output '%s'", name(i));
  return Status();
}

}  // namespace qrt::convert::from_espdl

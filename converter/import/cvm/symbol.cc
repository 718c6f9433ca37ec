// SPDX-License-Identifier: Apache-2.0
// Checks of the JSON text. The JSON library reads it; depth and size are bounded before.
#include "converter/import/cvm/symbol.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "converter/import/common/source_limits.h"
#include "converter/import/cvm/functions.h"
#include "runtime/tools/json_cost.h"

namespace qrt::convert::from_cvm {
namespace {

using Json = nlohmann::json;

// Limits far above those of real graphs, whose JSON nests six deep; that of MobileNet has 100 KB.
constexpr int kMaxDepth = 16;
constexpr size_t kMaxTextBytes = size_t{1} << 26;
constexpr int64_t kMaxDimension = int64_t{1} << 24, kMaxTensorElements = int64_t{1} << 30;

// Checks how deep the brackets are nested: the JSON library keeps a value per bracket, and destroys
// them recursively.
Status check_depth(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    QRT_MODEL_CHECK(depth <= kMaxDepth, "byte %zu: brackets nest more than %d deep", i, kMaxDepth);
  }
  return Status();
}

Status parse_text(const std::string& text, const std::string& where, Json* json) {
  QRT_TRY(check_depth(text));
  try {
    *json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    return error(Code::kInvalidModel, "%s: no JSON at byte %zu", where.c_str(), e.byte);
  } catch (const Json::out_of_range&) {
    return error(Code::kInvalidModel, "%s: a number beyond a double's range", where.c_str());
  }
  return Status();
}

std::string in_quotes(const std::string& s) { return "'" + s.substr(0, 64) + "'"; }

// Checks that all keys of an object are in `known`.
Status check_keys(const Json& object, const std::set<std::string>& known,
                  const std::string& where) {
  QRT_MODEL_CHECK(object.is_object(), "%s is no object", where.c_str());
  for (const auto& item : object.items())
    QRT_MODEL_CHECK(known.count(item.key()) != 0, "%s has the unknown key %s", where.c_str(),
                    in_quotes(item.key()).c_str());
  return Status();
}

Status read_integer(const Json& json, int64_t lo, int64_t hi, const std::string& where,
                    int64_t* value) {
  QRT_MODEL_CHECK(json.is_number_integer(), "%s is no integer", where.c_str());
  if (json.is_number_unsigned()) {
    const auto v = json.get<uint64_t>();
    QRT_MODEL_CHECK(v <= static_cast<uint64_t>(INT64_MAX), "%s is %llu, expected %lld to %lld",
                    where.c_str(), static_cast<unsigned long long>(v), static_cast<long long>(lo),
                    static_cast<long long>(hi));
  }
  *value = json.get<int64_t>();
  QRT_MODEL_CHECK(*value >= lo && *value <= hi, "%s is %lld, expected %lld to %lld", where.c_str(),
                  static_cast<long long>(*value), static_cast<long long>(lo),
                  static_cast<long long>(hi));
  return Status();
}

Status read_string(const Json& json, const std::string& where, std::string* value) {
  QRT_MODEL_CHECK(json.is_string(), "%s is no string", where.c_str());
  *value = json.get<std::string>();
  return Status();
}

class Reader {
 public:
  Reader(const Json& root, Symbol* symbol) : root_(root), symbol_(*symbol) {}
  Status run();

 private:
  // Reads [node, index] or [node, index, version].
  Status read_reference(const Json& json, size_t nodes_before, const std::string& where,
                        EntryId* entry) const;
  Status read_node(const Json& json, size_t index);
  Status read_function(const Json& attributes, const std::string& where, Node* node) const;
  // Reads attrs[key]: [tag, list] with `length` values.
  Status tagged_list(const char* key, const char* tag, size_t length, const Json** list) const;
  Status read_shapes();
  Status read_precisions();
  Status read_attributes();
  Status check_lists() const;
  Status check_node_lists() const;

  const Json& root_;
  Symbol& symbol_;
  bool is_first_version_ = true;
};

Status Reader::run() {
  QRT_TRY(check_keys(
      root_, {"nodes", "heads", "attrs", "arg_nodes", "node_row_ptr", "version", "postprocess"},
      "the graph"));
  for (const char* key : {"nodes", "heads", "attrs"})
    QRT_MODEL_CHECK(root_.contains(key), "the graph lacks the key '%s'", key);
  if (root_.contains("version")) {
    QRT_TRY(read_string(root_["version"], "version", &symbol_.version));
    QRT_MODEL_CHECK(symbol_.version == "cvm_1.0.0" || symbol_.version == "cvm_1.1.0",
                    "version is %s, expected 'cvm_1.0.0' or 'cvm_1.1.0'",
                    in_quotes(symbol_.version).c_str());
  }
  is_first_version_ = symbol_.version != "cvm_1.1.0";
  if (root_.contains("postprocess")) {
    std::string process;
    QRT_TRY(read_string(root_["postprocess"], "postprocess", &process));
    QRT_MODEL_CHECK(process.empty() || process == "argmax" || process == "detection",
                    "postprocess is %s, expected '', 'argmax' or 'detection'",
                    in_quotes(process).c_str());
  }
  const Json& nodes = root_["nodes"];
  QRT_MODEL_CHECK(nodes.is_array() && !nodes.empty(), "'nodes' is no list of nodes");
  QRT_TRY(check_node_count(nodes.size()));
  for (size_t i = 0; i < nodes.size(); ++i) QRT_TRY(read_node(nodes[i], i));
  QRT_TRY(check_node_lists());
  QRT_TRY(check_lists());
  QRT_TRY(read_shapes());
  QRT_TRY(read_precisions());
  QRT_TRY(read_attributes());
  const Json& heads = root_["heads"];
  QRT_MODEL_CHECK(heads.is_array() && !heads.empty(), "'heads' is no list of outputs");
  for (size_t i = 0; i < heads.size(); ++i) {
    EntryId entry;
    QRT_TRY(
        read_reference(heads[i], symbol_.nodes.size(), "heads[" + std::to_string(i) + "]", &entry));
    symbol_.heads.push_back(entry);
  }
  return Status();
}

Status Reader::read_reference(const Json& json, size_t nodes_before, const std::string& where,
                              EntryId* entry) const {
  QRT_MODEL_CHECK(json.is_array() && (json.size() == 2 || json.size() == 3),
                  "%s is no [node, output] or [node, output, version]", where.c_str());
  int64_t node, index, version;
  QRT_TRY(read_integer(json[0], 0, UINT32_MAX, where + "[0]", &node));
  QRT_MODEL_CHECK(static_cast<size_t>(node) < nodes_before,
                  "%s names node %lld, expected one before (0 to %lld)", where.c_str(),
                  static_cast<long long>(node), static_cast<long long>(nodes_before) - 1);
  const Node& from = symbol_.nodes[static_cast<size_t>(node)];
  QRT_TRY(read_integer(json[1], 0, int64_t{from.outputs} - 1, where + "[1], an output,", &index));
  if (json.size() == 3)
    QRT_TRY(read_integer(json[2], INT32_MIN, UINT32_MAX, where + "[2]", &version));
  *entry = from.first_output + static_cast<EntryId>(index);
  return Status();
}

Status Reader::read_function(const Json& attributes, const std::string& where, Node* node) const {
  QRT_MODEL_CHECK(attributes.contains("func_name"), "%s has no func_name", where.c_str());
  QRT_TRY(read_string(attributes["func_name"], where + ": func_name", &node->function));
  const Function* function = find_function(node->function);
  if (function == nullptr) {
    // Names may end with a number: cvm_right_shift_28 is the function cvm_right_shift.
    std::string& name = node->function;
    const size_t cut = name.find_last_not_of("0123456789");
    if (cut != std::string::npos && cut > 0 && cut + 1 < name.size() && name[cut] == '_')
      function = find_function(name.substr(0, cut));
    QRT_MODEL_CHECK(function != nullptr, "%s: no CVM operator has the name %s", where.c_str(),
                    in_quotes(name).c_str());
    name.resize(cut);
  }
  node->outputs = function->outputs;
  return Status();
}

Status Reader::read_node(const Json& json, size_t index) {
  const std::string where = "node " + std::to_string(index);
  QRT_TRY(check_keys(json, {"op", "name", "inputs", "attrs", "precision"}, where));
  for (const char* key : {"op", "name", "inputs"})
    QRT_MODEL_CHECK(json.contains(key), "%s lacks the key '%s'", where.c_str(), key);
  Node node;
  std::string op;
  QRT_TRY(read_string(json["name"], where + ": name", &node.name));
  QRT_TRY(read_string(json["op"], where + ": op", &op));
  QRT_MODEL_CHECK(op == "null" || op == "cvm_op", "%s: op is %s, expected 'null' or 'cvm_op'",
                  where.c_str(), in_quotes(op).c_str());
  node.is_variable = op == "null";
  static const Json kNone = Json::object();
  const Json& attributes = json.contains("attrs") ? json["attrs"] : kNone;
  QRT_TRY(check_keys(attributes,
                     {"func_name", "num_inputs", "num_outputs", "flatten_data", "op_attrs"},
                     where + ": attrs"));
  if (!node.is_variable) QRT_TRY(read_function(attributes, where, &node));
  const Json& inputs = json["inputs"];
  QRT_MODEL_CHECK(inputs.is_array(), "%s: 'inputs' is no list", where.c_str());
  QRT_MODEL_CHECK(!node.is_variable || inputs.empty(), "%s: a variable has %zu inputs",
                  where.c_str(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EntryId entry;
    QRT_TRY(
        read_reference(inputs[i], index, where + ": inputs[" + std::to_string(i) + "]", &entry));
    node.inputs.push_back(entry);
  }
  node.first_output = static_cast<EntryId>(symbol_.entries.size());
  for (uint32_t i = 0; i < node.outputs; ++i) {
    symbol_.entries.emplace_back();
    symbol_.entries.back().node = static_cast<uint32_t>(index);
  }
  symbol_.nodes.push_back(std::move(node));
  return Status();
}

// Checks the lists in which version 1.0.0 repeats facts of the nodes.
Status Reader::check_node_lists() const {
  if (!is_first_version_) return Status();
  for (const char* key : {"arg_nodes", "node_row_ptr"})
    QRT_MODEL_CHECK(root_.contains(key) && root_[key].is_array(), "'%s' is no list", key);
  std::vector<int64_t> variables, first;
  for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
    if (symbol_.nodes[i].is_variable) variables.push_back(static_cast<int64_t>(i));
    first.push_back(symbol_.nodes[i].first_output);
  }
  first.push_back(static_cast<int64_t>(symbol_.entries.size()));
  const auto check = [&](const char* key, const std::vector<int64_t>& expected) -> Status {
    const Json& list = root_[key];
    QRT_MODEL_CHECK(list.size() == expected.size(), "'%s' has %zu values, expected %zu", key,
                    list.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      QRT_MODEL_CHECK(list[i].is_number_integer() && list[i] == expected[i], "%s[%zu] is not %lld",
                      key, i, static_cast<long long>(expected[i]));
    return Status();
  };
  QRT_TRY(check("arg_nodes", variables));
  return check("node_row_ptr", first);
}

Status Reader::tagged_list(const char* key, const char* tag, size_t length,
                           const Json** list) const {
  const Json& attributes = root_["attrs"];
  QRT_MODEL_CHECK(attributes.contains(key), "attrs lacks the list '%s'", key);
  const Json& value = attributes[key];
  QRT_MODEL_CHECK(value.is_array() && value.size() == 2 && value[0].is_string() &&
                      value[0].get<std::string>() == tag && value[1].is_array(),
                  "attrs: '%s' is no [\"%s\", list]", key, tag);
  QRT_MODEL_CHECK(value[1].size() == length, "attrs: '%s' has %zu values, expected %zu", key,
                  value[1].size(), length);
  *list = &value[1];
  return Status();
}

// Checks lists whose content is not used.
Status Reader::check_lists() const {
  const Json& attributes = root_["attrs"];
  QRT_TRY(check_keys(
      attributes,
      {"op_attrs", "shape", "storage_id", "precision", "dltype", "dtype", "device_index"},
      "attrs"));
  const size_t entries = symbol_.entries.size();
  const Json* list;
  QRT_TRY(tagged_list("storage_id", "list_int", entries, &list));
  int64_t id;
  for (size_t i = 0; i < entries; ++i)
    QRT_TRY(read_integer((*list)[i], 0, INT32_MAX, "attrs: storage_id[" + std::to_string(i) + "]",
                         &id));
  if (attributes.contains("device_index"))
    QRT_TRY(tagged_list("device_index", "list_int", 0, &list));
  if (attributes.contains("dtype"))
    QRT_MODEL_CHECK(attributes["dtype"].is_array() && attributes["dtype"].size() == 2 &&
                        attributes["dtype"][0] == "list_int",
                    "attrs: 'dtype' is no [\"list_int\", list]");
  // Files of 2019 have dtype, a list of type codes, and neither version nor dltype.
  if (!is_first_version_ ||
      (symbol_.version.empty() && !attributes.contains("dltype") && attributes.contains("dtype")))
    return Status();
  QRT_TRY(tagged_list("dltype", "list_str", entries, &list));
  for (size_t i = 0; i < entries; ++i)
    QRT_MODEL_CHECK((*list)[i] == "int32", "attrs: dltype[%zu] is not \"int32\"", i);
  return Status();
}

Status Reader::read_shapes() {
  const Json* list;
  QRT_TRY(tagged_list("shape", "list_shape", symbol_.entries.size(), &list));
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& dims = (*list)[i];
    const std::string where = "attrs: shape[" + std::to_string(i) + "]";
    QRT_MODEL_CHECK(dims.is_array() && !dims.empty() && dims.size() <= kMaxTensorRank,
                    "%s has no 1 to %d dimensions", where.c_str(), kMaxTensorRank);
    Shape& shape = symbol_.entries[i].shape;
    for (const Json& d : dims) {
      int64_t size;
      QRT_TRY(read_integer(d, 1, kMaxDimension, where + ", a dimension,", &size));
      shape.push_back(size);
    }
    QRT_MODEL_CHECK(shape.elements() >= 0 && shape.elements() <= kMaxTensorElements,
                    "%s has more than 2^30 elements", where.c_str());
  }
  return Status();
}

Status Reader::read_precisions() {
  if (!root_["attrs"].contains("precision")) return Status();  // variables will be missed
  const Json* list;
  QRT_TRY(tagged_list("precision", "list_int", symbol_.entries.size(), &list));
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string where = "attrs: precision[" + std::to_string(i) + "]";
    int64_t p;
    QRT_TRY(read_integer((*list)[i], kNoPrecision, kMaxPrecision, where, &p));
    QRT_MODEL_CHECK(p != 0, "%s is 0, expected -1 or 1 to %d", where.c_str(), kMaxPrecision);
    symbol_.entries[i].precision = static_cast<int>(p);
  }
  return Status();
}

Status Reader::read_attributes() {
  const Json* list;
  QRT_TRY(tagged_list("op_attrs", "list_str", symbol_.nodes.size(), &list));
  for (size_t i = 0; i < list->size(); ++i) {
    Node& node = symbol_.nodes[i];
    const std::string where = label(node, i) + ": op_attrs";
    std::string text;
    QRT_TRY(read_string((*list)[i], where, &text));
    if (node.is_variable) continue;
    Json attributes;
    QRT_TRY(parse_text(text, where, &attributes));
    QRT_MODEL_CHECK(attributes.is_object(), "%s is no object", where.c_str());
    for (const auto& item : attributes.items())
      QRT_TRY(read_string(item.value(), where + ": " + in_quotes(item.key()),
                          &node.attributes[item.key()]));
  }
  return Status();
}

}  // namespace

Status parse_symbol(const std::string& text, Symbol* symbol) {
  QRT_MODEL_CHECK(text.size() <= kMaxTextBytes, "has %zu bytes, expected at most %zu", text.size(),
                  kMaxTextBytes);
  Budget budget(text.size());
  QRT_TRY(reserve_json(text, &budget));
  Json root;
  QRT_TRY(parse_text(text, "the graph", &root));
  return Reader(root, symbol).run();
}

}  // namespace qrt::convert::from_cvm

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/functions.h"

#include <algorithm>
#include <unordered_set>

#include "converter/import/common/growth.h"
#include "converter/import/common/source_limits.h"
#include "converter/import/onnx/file/names.h"
#include "converter/import/onnx/file/replace_nodes.h"

namespace qrt::convert::from_onnx {
namespace {

// Functions that call others: exporters make two or three levels.
constexpr int kMaxDepth = 64;
// The greatest length of a call's name in front of its tensors' names.
constexpr size_t kMaxPrefix = 64;

// Numbers of fields that are younger than the ONNX headers which may be installed.
constexpr int kNodeOverload = 8, kFunctionOverload = 13, kFunctionDefaults = 11;

// Calls f(bytes) for each element of a length-delimited field that the headers may not know.
template <class F>
void for_field(const google::protobuf::Message& message, int number, const F& f) {
  const auto* field = message.GetDescriptor()->FindFieldByNumber(number);
  const auto* reflection = message.GetReflection();
  if (!field) {
    const auto& unknown = reflection->GetUnknownFields(message);
    for (int i = 0; i < unknown.field_count(); ++i)
      if (const auto& u = unknown.field(i);
          u.number() == number && u.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
        f(u.length_delimited());
  } else if (field->is_repeated()) {
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      f(reflection->GetRepeatedMessage(message, field, i).SerializeAsString());
  } else if (reflection->HasField(message, field)) {
    f(reflection->GetString(message, field));
  }
}

std::string text_field(const google::protobuf::Message& message, int number) {
  std::string text;
  for_field(message, number, [&](const std::string& bytes) { text = bytes; });
  return text;
}

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Operators of these domains have implementations of their own, which count before a function that a
// file brings along for runtimes without.
bool is_standard(const std::string& domain) {
  return domain.empty() || domain == "com.microsoft" || domain == "com.ms.internal.nhwc";
}

std::string key_of(const std::string& domain, const std::string& name,
                   const std::string& overload) {
  return domain_of(domain) + '\0' + name + '\0' + overload;
}

using Attributes = google::protobuf::RepeatedPtrField<onnx::AttributeProto>;

struct Function {
  const onnx::FunctionProto* proto = nullptr;
  std::shared_ptr<const OpsetVersions> versions;  // null: the model's
  Attributes defaults;
  bool is_open = false;  // a call of it is being replaced
};

const onnx::AttributeProto* find(const Attributes& in, const std::string& name) {
  for (const onnx::AttributeProto& a : in)
    if (a.name() == name) return &a;
  return nullptr;
}

class Inliner {
 public:
  Inliner(onnx::ModelProto* model, NodeVersions* versions)
      : versions_of_(versions),
        names_(model->graph()),
        source_bytes_(model->ByteSizeLong()),
        function_protos_(std::move(*model->mutable_functions())) {
    for (const auto& entry : model->opset_import())
      model_versions_.emplace(domain_of(entry.domain()), entry.version());
  }

  Status read_functions() {
    for (const onnx::FunctionProto& proto : function_protos_) {
      Function f;
      f.proto = &proto;
      OpsetVersions versions = model_versions_;
      for (const auto& entry : proto.opset_import())
        versions[domain_of(entry.domain())] = entry.version();
      if (versions != model_versions_)
        f.versions = std::make_shared<const OpsetVersions>(std::move(versions));
      bool parsed = true;
      for_field(proto, kFunctionDefaults, [&](const std::string& bytes) {
        parsed = f.defaults.Add()->ParseFromString(bytes) && parsed;
      });
      QRT_MODEL_CHECK(parsed, "function '%s': the default of an attribute cannot be read",
                      proto.name().c_str());
      const std::string key =
          key_of(proto.domain(), proto.name(), text_field(proto, kFunctionOverload));
      QRT_MODEL_CHECK(functions_.emplace(key, std::move(f)).second,
                      "function '%s' is defined twice", proto.name().c_str());
    }
    return Status();
  }

  Status expand(onnx::GraphProto* graph) { return expand(graph, "", nullptr, 0); }

 private:
  using Versions = std::shared_ptr<const OpsetVersions>;

  // Replaces the calls in a graph whose nodes have `versions`. `prefix`: of the call around it.
  Status expand(onnx::GraphProto* graph, const std::string& prefix, const Versions& versions,
                int depth) {
    Nodes made;
    for (onnx::NodeProto& node : *graph->mutable_node()) {
      auto owned = std::make_unique<onnx::NodeProto>();
      owned->Swap(&node);
      QRT_TRY(place(std::move(owned), prefix, versions, depth, &made));
    }
    graph->mutable_node()->Swap(&made);
    return Status();
  }

  // Appends the node, or what it calls.
  Status place(std::unique_ptr<onnx::NodeProto> node, const std::string& prefix,
               const Versions& versions, int depth, Nodes* to) {
    for (onnx::AttributeProto& a : *node->mutable_attribute()) {
      if (a.has_g()) QRT_TRY(expand(a.mutable_g(), prefix, versions, depth));
      for (onnx::GraphProto& g : *a.mutable_graphs()) QRT_TRY(expand(&g, prefix, versions, depth));
    }
    const auto found = is_standard(domain_of(node->domain()))
                           ? functions_.end()
                           : functions_.find(key_of(node->domain(), node->op_type(),
                                                    text_field(*node, kNodeOverload)));
    if (found == functions_.end()) {
      if (versions) versions_of_->emplace(node.get(), versions);
      to->AddAllocated(node.release());
      return Status();
    }
    return replace(*node, prefix, depth, &found->second, to);
  }

  Status replace(const onnx::NodeProto& call, const std::string& prefix, int depth, Function* f,
                 Nodes* to) {
    const onnx::FunctionProto& body = *f->proto;
    const char* name = body.name().c_str();
    QRT_MODEL_CHECK(!f->is_open, "function '%s' calls itself", name);
    if (depth >= kMaxDepth)
      return error(Code::kUnsupported, "functions call one another %d deep, the limit is %d",
                   depth + 1, kMaxDepth);
    QRT_MODEL_CHECK(call.input_size() <= body.input_size(),
                    "a call of function '%s' has %d inputs, expected %d or fewer", name,
                    call.input_size(), body.input_size());
    QRT_MODEL_CHECK(call.output_size() <= body.output_size(),
                    "a call of function '%s' has %d outputs, expected %d or fewer", name,
                    call.output_size(), body.output_size());
    std::string own = prefix + (call.name().empty() ? body.name() : call.name());
    if (own.size() > kMaxPrefix) own.erase(0, own.size() - kMaxPrefix);
    own += "/";
    Renaming renaming(&names_, own);
    for (int i = 0; i < body.input_size(); ++i)
      renaming.set(body.input(i), i < call.input_size() ? call.input(i) : "");
    // Outputs of the body that are its inputs, or that it names twice.
    std::vector<std::pair<std::string, std::string>> passed;
    for (int i = 0; i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      if (renaming.has(body.output(i)))
        passed.emplace_back(body.output(i), call.output(i));
      else
        renaming.set(body.output(i), call.output(i));
    }
    f->is_open = true;
    for (const onnx::NodeProto& inner : body.node()) {
      QRT_TRY(charge(inner, own.size()));
      auto node = std::make_unique<onnx::NodeProto>(inner);
      renaming.apply(node.get());
      if (!node->name().empty()) node->set_name(own + node->name());
      QRT_TRY(resolve_attributes(call, *f, node.get()));
      QRT_TRY(place(std::move(node), own, f->versions, depth + 1, to));
    }
    f->is_open = false;
    for (const auto& [from, output] : passed) {
      const onnx::NodeProto* identity = add_node("Identity", {renaming.of(from)}, output, to);
      if (f->versions) versions_of_->emplace(identity, f->versions);
    }
    return Status();
  }

  // Counts a node before it is copied.
  Status charge(const onnx::NodeProto& node, size_t prefix) {
    QRT_TRY(check_node_count(++nodes_));
    edges_ += static_cast<size_t>(node.input_size()) + static_cast<size_t>(node.output_size());
    QRT_TRY(check_edge_count(edges_));
    const auto names = static_cast<uint64_t>(node.input_size() + node.output_size() + 1);
    return charge(node.ByteSizeLong() + names * prefix);
  }
  Status charge(uint64_t bytes) {
    growth_.charge(bytes);
    return growth_.check(Graph(), source_bytes_);
  }

  // Puts the call's attributes, or else the function's defaults, where the node refers to them.
  Status resolve_attributes(const onnx::NodeProto& call, const Function& f, onnx::NodeProto* node) {
    Attributes resolved;
    for (onnx::AttributeProto& a : *node->mutable_attribute()) {
      if (a.has_g()) QRT_TRY(resolve_attributes(call, f, a.mutable_g()));
      for (onnx::GraphProto& g : *a.mutable_graphs()) QRT_TRY(resolve_attributes(call, f, &g));
      const std::string& referred = a.ref_attr_name();
      if (referred.empty()) {
        resolved.Add()->Swap(&a);
        continue;
      }
      const onnx::AttributeProto* given = find(call.attribute(), referred);
      if (!given) given = find(f.defaults, referred);
      if (!given) continue;  // an optional attribute
      QRT_TRY(charge(given->ByteSizeLong()));
      *resolved.Add() = *given;
      resolved.rbegin()->set_name(a.name());
    }
    node->mutable_attribute()->Swap(&resolved);
    return Status();
  }
  Status resolve_attributes(const onnx::NodeProto& call, const Function& f,
                            onnx::GraphProto* graph) {
    for (onnx::NodeProto& node : *graph->mutable_node())
      QRT_TRY(resolve_attributes(call, f, &node));
    return Status();
  }

  NodeVersions* versions_of_;
  FreshNames names_;
  const uint64_t source_bytes_;
  const google::protobuf::RepeatedPtrField<onnx::FunctionProto> function_protos_;
  OpsetVersions model_versions_;
  std::unordered_map<std::string, Function> functions_;
  Growth growth_;
  size_t nodes_ = 0, edges_ = 0;
};

}  // namespace

Status inline_functions(onnx::ModelProto* model, NodeVersions* versions) {
  if (model->functions_size() == 0) return Status();
  Inliner inliner(model, versions);
  QRT_TRY(inliner.read_functions());
  return inliner.expand(model->mutable_graph());
}

}  // namespace qrt::convert::from_onnx

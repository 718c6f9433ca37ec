// SPDX-License-Identifier: Apache-2.0
// Parsing of the protobuf file and the structural checks of its graph.
#include "converter/import/onnx/file/model.h"

#include <cstring>
#include <queue>
#include <set>
#include <unordered_set>

#include "converter/import/common/cut.h"
#include "converter/import/common/source_limits.h"
#include "converter/import/onnx/file/dimensions.h"
#include "converter/import/onnx/file/fused.h"
#include "converter/import/onnx/file/input_constants.h"
#include "converter/import/onnx/file/parse.h"
#include "converter/import/onnx/file/qonnx.h"
#include "converter/import/onnx/file/upgrade.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr int64_t kMinIrVersion = 3, kMaxIrVersion = 13;

Status parse(const std::string& path, onnx::ModelProto* proto) {
  Budget budget(0);
  QRT_TRY(parse_file(path, "model", "ModelProto", proto, &budget));
  QRT_MODEL_CHECK(proto->has_graph(), "'%s' is not an ONNX model: it has no graph", path.c_str());
  open_dimensions(proto->mutable_graph());
  return Status();
}

Status check_opset(int64_t version) {
  if (version == 0 || (version >= kMinOpset && version <= kMaxOpset)) return Status();
  return error(Code::kUnsupported, "opset %lld, supported are %lld to %lld",
               static_cast<long long>(version), static_cast<long long>(kMinOpset),
               static_cast<long long>(kMaxOpset));
}

}  // namespace

void collect_subgraph_reads(const onnx::NodeProto& node, std::vector<std::string>* names) {
  auto graph_reads = [names](const onnx::GraphProto& graph) {
    std::unordered_set<std::string> own;
    for (const onnx::TensorProto& t : graph.initializer()) own.insert(t.name());
    for (const onnx::ValueInfoProto& input : graph.input()) own.insert(input.name());
    for (const onnx::NodeProto& inner : graph.node())
      own.insert(inner.output().begin(), inner.output().end());
    std::vector<std::string> read;
    for (const onnx::NodeProto& inner : graph.node()) {
      for (const std::string& name : inner.input()) read.push_back(name);
      collect_subgraph_reads(inner, &read);
    }
    for (const onnx::ValueInfoProto& output : graph.output()) read.push_back(output.name());
    for (const std::string& name : read)
      if (own.count(name) == 0) names->push_back(name);
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) graph_reads(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) graph_reads(graph);
  }
}

namespace {

// Keeps those elements of a repeated field that `keeps` says, in their order.
template <class Field, class Keeps>
void keep_only(Field* field, const Keeps& keeps) {
  int kept = 0;
  for (int i = 0; i < field->size(); ++i)
    if (keeps(i)) field->SwapElements(kept++, i);
  field->DeleteSubrange(kept, field->size() - kept);
}

// Ends the graph at `outputs`: nodes and inputs that they do not need go.
Status cut(const std::vector<std::string>& outputs, onnx::GraphProto* g) {
  std::unordered_map<std::string, int> producer;  // -1: none is needed
  std::unordered_map<std::string, const onnx::ValueInfoProto*> infos;
  for (const auto* list : {&g->output(), &g->value_info(), &g->input()})
    for (const onnx::ValueInfoProto& info : *list) infos.emplace(info.name(), &info);
  for (const onnx::TensorProto& t : g->initializer()) producer.emplace(t.name(), -1);
  for (const onnx::ValueInfoProto& v : g->input()) producer.emplace(v.name(), -1);
  for (int i = 0; i < g->node_size(); ++i)
    for (const std::string& name : g->node(i).output())
      if (!name.empty()) producer.emplace(name, i);

  std::unordered_set<std::string> needed;
  std::vector<std::string> open;
  const auto need = [&](const std::string& name) {
    if (needed.insert(name).second) open.push_back(name);
  };
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> made;
  for (const std::string& name : outputs) {
    QRT_TRY(check_cut(name, producer.count(name) != 0, needed.count(name) != 0));
    need(name);
    if (const auto info = infos.find(name); info != infos.end())
      *made.Add() = *info->second;
    else
      made.Add()->set_name(name);
  }
  std::vector<bool> kept(static_cast<size_t>(g->node_size()));
  while (!open.empty()) {
    const auto found = producer.find(open.back());
    open.pop_back();
    if (found == producer.end() || found->second < 0 || kept[static_cast<size_t>(found->second)])
      continue;
    kept[static_cast<size_t>(found->second)] = true;
    const onnx::NodeProto& node = g->node(found->second);
    for (const std::string& name : node.input()) need(name);
    std::vector<std::string> inner;
    collect_subgraph_reads(node, &inner);
    for (const std::string& name : inner) need(name);
  }
  g->mutable_output()->Swap(&made);
  keep_only(g->mutable_node(), [&](int i) { return kept[static_cast<size_t>(i)]; });
  keep_only(g->mutable_input(), [&](int i) { return needed.count(g->input(i).name()) != 0; });
  return Status();
}

}  // namespace

Status apply_edges(const SourceEdges& edges, onnx::GraphProto* graph) {
  if (!edges.outputs.empty()) QRT_TRY(cut(edges.outputs, graph));
  QRT_TRY(set_input_shapes(edges.input_shapes, graph));
  return set_input_constants(edges.constants, graph);
}

bool is_quantized_op(const std::string& op) {
  const auto ends_with = [&](const char* end) {
    const size_t n = strlen(end);
    return op.size() >= n && op.compare(op.size() - n, n, end) == 0;
  };
  return ends_with("QuantizeLinear") || ends_with("DequantizeLinear") || ends_with("Integer") ||
         op.rfind("QLinear", 0) == 0 || op == "QGemm" || op == "QAttention" ||
         op == "MatMulNBits" || op == "DynamicQuantizeMatMul" || op == "MatMulIntegerToFloat";
}

std::string op_label(const onnx::NodeProto& node) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  return standard ? node.op_type() : node.domain() + "." + node.op_type();
}

std::string node_label(const onnx::NodeProto& node, int index) {
  if (!node.name().empty()) return node.name();
  return "#" + std::to_string(index) + " (" + node.op_type() + ")";
}

Model::Model() : proto_(std::make_unique<onnx::ModelProto>()) {}
Model::~Model() = default;

const onnx::GraphProto& Model::graph() const { return proto_->graph(); }

Status Model::load(const std::string& path, Model* model, const SourceEdges& edges) {
  QRT_TRY(parse(path, model->proto_.get()));
  QRT_TRY(inline_functions(model->proto_.get(), &model->node_versions_));
  onnx::GraphProto* g = model->proto_->mutable_graph();
  QRT_TRY(rewrite_quant_nodes(model->proto_.get()));
  QRT_TRY(expand_fused_nodes(model->proto_.get()));
  for (const auto& entry : model->proto_->opset_import())
    model->opsets_.emplace(entry.domain() == "ai.onnx" ? "" : entry.domain(), entry.version());
  upgrade_nodes([model](const onnx::NodeProto& node) { return model->opset(node); }, g);
  QRT_TRY(apply_edges(edges, g));
  model->path_ = path;
  const int64_t ir = model->proto_->ir_version();
  QRT_MODEL_CHECK(ir >= kMinIrVersion, "IR version %lld, expected %lld or more",
                  static_cast<long long>(ir), static_cast<long long>(kMinIrVersion));
  if (ir > kMaxIrVersion)
    return error(Code::kUnsupported, "IR version %lld, at most %lld is known",
                 static_cast<long long>(ir), static_cast<long long>(kMaxIrVersion));
  QRT_TRY(model->index());
  QRT_TRY(check_opset(model->opset("")));
  for (const auto& [node, versions] : model->node_versions_)
    if (const auto found = versions->find(""); found != versions->end())
      QRT_TRY(check_opset(found->second));
  return model->sort();
}

Status Model::take_branches(const KnownConditions& conditions) {
  for (const auto& [index, value] : conditions) {
    const onnx::NodeProto& node = graph().node(index);
    taken_branches_.push_back({node_label(node, index), node.input(0), value});
  }
  QRT_TRY(from_onnx::take_branches(conditions, proto_->mutable_graph()));
  return index_again();
}

Status Model::join_branches(const std::unordered_set<int>& nodes) {
  QRT_TRY(from_onnx::join_branches(nodes, proto_->mutable_graph()));
  return index_again();
}

Status Model::unroll_loops(const KnownLoops& loops) {
  for (const auto& [index, loop] : loops) unrolled_loops_.push_back(loop);
  QRT_TRY(from_onnx::unroll_loops(
      loops, [this](const onnx::NodeProto& node) { return opset(node); }, &node_versions_,
      proto_->mutable_graph()));
  return index_again();
}

Status Model::open_loops(const KnownLoops& loops) {
  QRT_TRY(from_onnx::open_loops(
      loops, [this](const onnx::NodeProto& node) { return opset(node); }, &node_versions_,
      proto_->mutable_graph()));
  has_open_loops_ = true;
  return index_again();
}

namespace {

// Keeps what is known of the graph's nodes and of those in its subgraphs: others may get the addresses of nodes that are gone.
void keep_versions(const onnx::GraphProto& graph, const NodeVersions& known, NodeVersions* kept) {
  for (const onnx::NodeProto& node : graph.node()) {
    if (const auto found = known.find(&node); found != known.end()) kept->insert(*found);
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g()) keep_versions(a.g(), known, kept);
      for (const onnx::GraphProto& g : a.graphs()) keep_versions(g, known, kept);
    }
  }
}

}  // namespace

Status Model::index_again() {
  NodeVersions kept;
  if (!node_versions_.empty()) keep_versions(graph(), node_versions_, &kept);
  node_versions_ = std::move(kept);
  order_.clear();
  initializers_.clear();
  uses_.clear();
  readers_.clear();
  producer_.clear();
  QRT_TRY(index());
  QRT_TRY(sort());
  if (has_open_loops_) is_in_open_loop_ = find_nodes_in_loops(graph(), order_);
  return Status();
}

std::vector<std::string> Model::files() const {
  std::set<std::string> external;
  const auto collect = [&](const onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    for (const auto& entry : tensor.external_data())
      if (entry.key() == "location") external.insert(external_path(path_, entry.value()));
  };
  for (const onnx::TensorProto& tensor : graph().initializer()) collect(tensor);
  for (const onnx::NodeProto& node : graph().node())
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_t()) collect(attribute.t());
  std::vector<std::string> result = {path_};
  result.insert(result.end(), external.begin(), external.end());
  return result;
}

int64_t Model::opset(const std::string& domain) const {
  const auto found = opsets_.find(domain == "ai.onnx" ? "" : domain);
  return found == opsets_.end() ? 0 : found->second;
}

int64_t Model::opset(int index) const { return opset(graph().node(index)); }

int64_t Model::opset(const onnx::NodeProto& node) const {
  const auto own = node_versions_.find(&node);
  if (own == node_versions_.end()) return opset(node.domain());
  const auto found = own->second->find(node.domain() == "ai.onnx" ? "" : node.domain());
  return found == own->second->end() ? 0 : found->second;
}

int Model::uses(const std::string& tensor) const {
  const auto found = uses_.find(tensor);
  return found == uses_.end() ? 0 : found->second;
}

const std::vector<int>& Model::readers(const std::string& tensor) const {
  static const std::vector<int> none;
  const auto found = readers_.find(tensor);
  return found == readers_.end() ? none : found->second;
}

int Model::producer(const std::string& tensor) const {
  const auto found = producer_.find(tensor);
  return found == producer_.end() ? -1 : found->second;
}

Status Model::index() {
  const onnx::GraphProto& g = graph();
  QRT_TRY(check_node_count(static_cast<size_t>(g.node_size())));
  size_t edges = 0;
  for (const onnx::NodeProto& node : g.node())
    edges += static_cast<size_t>(node.input_size()) + static_cast<size_t>(node.output_size());
  QRT_TRY(check_edge_count(edges));
  for (const onnx::TensorProto& t : g.initializer()) {
    QRT_MODEL_CHECK(!t.name().empty(), "an initialiser has no name");
    QRT_MODEL_CHECK(initializers_.emplace(t.name(), &t).second, "initialiser '%s' is defined twice",
                    t.name().c_str());
    producer_.emplace(t.name(), -1);
  }
  QRT_MODEL_CHECK(g.sparse_initializer().empty(), "sparse initialisers are not supported");
  for (const onnx::ValueInfoProto& v : g.input()) {
    QRT_MODEL_CHECK(!v.name().empty(), "a graph input has no name");
    const bool fresh = producer_.emplace(v.name(), -1).second;
    QRT_MODEL_CHECK(fresh || initializers_.count(v.name()), "graph input '%s' is defined twice",
                    v.name().c_str());
  }
  for (int i = 0; i < g.node_size(); ++i) {
    for (const std::string& name : g.node(i).output()) {
      if (name.empty()) continue;
      const auto [at, fresh] = producer_.emplace(name, i);
      QRT_MODEL_CHECK(fresh, "node %s writes '%s', which %s already defines",
                      node_label(g.node(i), i).c_str(), name.c_str(),
                      at->second < 0 ? "an input or initialiser"
                                     : node_label(g.node(at->second), at->second).c_str());
    }
    for (const std::string& name : g.node(i).input()) {
      ++uses_[name];
      readers_[name].push_back(i);
    }
    std::vector<std::string> inner;
    collect_subgraph_reads(g.node(i), &inner);
    for (const std::string& name : inner) ++uses_[name];
  }
  QRT_MODEL_CHECK(g.output_size() > 0, "the graph has no outputs");
  for (const onnx::ValueInfoProto& v : g.output()) {
    QRT_MODEL_CHECK(producer_.count(v.name()), "graph output '%s' is written by no node",
                    v.name().c_str());
    ++uses_[v.name()];
  }
  return Status();
}

// Sorts the nodes by Kahn's algorithm; among ready nodes the file's order is kept.
Status Model::sort() {
  const onnx::GraphProto& g = graph();
  std::vector<int> missing(static_cast<size_t>(g.node_size()), 0);
  std::vector<std::vector<int>> readers(static_cast<size_t>(g.node_size()));
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < g.node_size(); ++i) {
    auto need = [&](int producer) {
      if (producer < 0) return;
      ++missing[static_cast<size_t>(i)];
      readers[static_cast<size_t>(producer)].push_back(i);
    };
    for (const std::string& name : g.node(i).input()) {
      if (name.empty()) continue;
      const auto found = producer_.find(name);
      QRT_MODEL_CHECK(found != producer_.end(), "node %s reads '%s', which nothing defines",
                      node_label(g.node(i), i).c_str(), name.c_str());
      need(found->second);
    }
    std::vector<std::string> inner;
    collect_subgraph_reads(g.node(i), &inner);
    for (const std::string& name : inner)
      if (const auto found = producer_.find(name); found != producer_.end()) need(found->second);
    if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order_.push_back(i);
    for (int reader : readers[static_cast<size_t>(i)])
      if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
  }
  for (int i = 0; i < g.node_size(); ++i)
    QRT_MODEL_CHECK(missing[static_cast<size_t>(i)] == 0, "node %s is part of a cycle",
                    node_label(g.node(i), i).c_str());
  return Status();
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
// From an ONNX file to a FloatModel.
#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/folding/conditions.h"
#include "converter/import/onnx/open_dimensions.h"
#include "converter/quantize/float/float_model.h"
#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/names.h"
#include "converter/quantize/float/normalize_opset.h"
#include "converter/quantize/float/operators.h"
#include "converter/quantize/float/refusals.h"
#include "onnx/onnx_pb.h"

namespace qrt::quantize {
namespace {

using convert::from_onnx::Constant;
using convert::from_onnx::ConstantPtr;
using convert::from_onnx::ExternalFiles;
using convert::from_onnx::Model;
namespace file = convert::from_onnx;

// Operators that the converter runs (runtime_nodes.h) as they are since this version.
constexpr struct {
  const char* op;
  int64_t opset;
} kYoungForms[] = {{"GridSample", 20}, {"DFT", 20}, {"Hardmax", 13}};

bool element_of(int type, Element* element) {
  switch (type) {
    case file::kFloat:
    case file::kHalf:
    case file::kBfloat16:
    case file::kDouble: *element = Element::kFloat; return true;
    case file::kInt64: *element = Element::kInt64; return true;
    case file::kInt32: *element = Element::kInt32; return true;
    case file::kBool: *element = Element::kBool; return true;
    case file::kUint8: *element = Element::kUint8; return true;
    case file::kInt8: *element = Element::kInt8; return true;
    case file::kUint16: *element = Element::kUint16; return true;
    case file::kInt16: *element = Element::kInt16; return true;
    default: return false;
  }
}

class Reader {
 public:
  Reader(const Model& source, FloatModel* model)
      : source_(source), files_(source.path()), model_(model) {}

  Status run() {
    check_operators();
    QRT_TRY(read_edges());
    if (!refusals_.empty()) return refusals_.status();
    for (const auto& [name, proto] : source_.initializers())
      if (source_.uses(name) > 0) {
        Tensor t;
        QRT_TRY(read_tensor(*proto, &t));
        model_->constants.emplace(name, std::move(t));
      }
    GraphEditor editor(model_);
    for (int index : source_.execution_order()) QRT_TRY(read_node(index, &editor));
    for (const Node& node : model_->nodes)  // names that were made up are new ones
      for (const std::string& output : node.outputs)
        QRT_MODEL_CHECK(model_->constants.count(output) == 0, "%s: '%s' is defined twice",
                        node.label().c_str(), output.c_str());
    Names node_names;  // files may give one twice
    for (Node& node : model_->nodes) node.name = node_names.take(node.name, 2);
    model_->name = source_.graph().name();
    model_->path = source_.path();
    model_->files = source_.files();
    for (const auto& entry : source_.proto().metadata_props())
      model_->metadata[entry.key()] = entry.value();
    return Status();
  }

 private:
  // Notes all operators that cannot be run, before anything is read.
  void check_operators() {
    std::unordered_set<std::string> made;
    for (const onnx::NodeProto& node : source_.graph().node())
      made.insert(node.output().begin(), node.output().end());
    for (int i = 0; i < source_.graph().node_size(); ++i) {
      const onnx::NodeProto& node = source_.graph().node(i);
      std::vector<std::string> before;
      for (const std::string& x : node.input())
        if (made.count(x) != 0) before.push_back(x);
      const std::string why = why_not_taken(node, i);
      if (!why.empty())
        refusals_.add(file::op_label(node), file::node_label(node, i), why,
                      remedy_to_end_before(before));
    }
  }

  std::string why_not_taken(const onnx::NodeProto& node, int index) const {
    if (node.op_type() == "If")
      return "it has a subgraph, and its condition is computed in the run";
    if (node.op_type() == "Loop" || node.op_type() == "Scan")
      return "it has a subgraph that runs as often as a run decides";
    if (!is_known(node)) return "qrt has no form of this operator";
    for (const auto& young : kYoungForms)
      if (node.op_type() == young.op && domain_of(node).empty() &&
          source_.opset(index) < young.opset)
        return "its form of opset " + std::to_string(source_.opset(index)) +
               " is another than that of opset " + std::to_string(young.opset);
    return "";
  }

  static std::string domain_of(const onnx::NodeProto& node) {
    return node.domain() == "ai.onnx" ? "" : node.domain();
  }
  static bool is_known(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    if (find_operator(domain_of(node), op) != nullptr) return true;
    // These nodes are split up or renamed when they are read.
    return domain_of(node).empty() &&
           (op == "Constant" || op == "Dropout" || op == "Upsample" || op == "Swish");
  }

  Status read_edges() {
    for (const onnx::ValueInfoProto& info : source_.graph().input()) {
      if (source_.initializers().count(info.name()) != 0) continue;
      Value value;
      QRT_TRY(read_value(info, "input", &value));
      model_->inputs.push_back(std::move(value));
    }
    for (const onnx::ValueInfoProto& info : source_.graph().output()) {
      Value value;
      QRT_TRY(read_value(info, "output", &value));
      model_->outputs.push_back(std::move(value));
    }
    QRT_MODEL_CHECK(!model_->inputs.empty(), "the model has no inputs");
    return Status();
  }

  Status read_value(const onnx::ValueInfoProto& info, const char* what, Value* value) {
    value->name = info.name();
    const auto& type = info.type().tensor_type();
    // Files may leave out what an output is: a run tells.
    const bool is_left_out = type.elem_type() == file::kUndefined && strcmp(what, "output") == 0;
    if (!is_left_out && !element_of(type.elem_type(), &value->element))
      refusals_.add(what, info.name(),
                    std::string("it is of ") + file::element_type_name(type.elem_type()) +
                        ", expected a float type or an integer",
                    "export the model with another type there");
    for (const auto& dim : type.shape().dim()) {
      const bool known = dim.has_dim_value() && dim.dim_value() >= 0;
      value->shape.push_back(known ? dim.dim_value() : -1);
      value->dim_names.push_back(known ? "" : dim.dim_param());
    }
    return Status();
  }

  Status read_tensor(const onnx::TensorProto& proto, Tensor* tensor) {
    ConstantPtr constant;
    QRT_TRY(file::read_constant(proto, &files_, &constant));
    if (!element_of(constant->type, &tensor->element))
      return error(Code::kUnsupported, "tensor '%s' is of %s, expected a float type or an integer",
                   proto.name().c_str(), file::element_type_name(constant->type));
    tensor->shape.assign(constant->shape.begin(), constant->shape.end());
    if (!is_within(tensor->shape, int64_t{1} << 31))
      return error(Code::kUnsupported, "tensor '%s' has shape %s", proto.name().c_str(),
                   to_string(tensor->shape).c_str());
    const int64_t n = constant->elements();
    if (tensor->is_real()) {
      tensor->reals.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) tensor->reals[static_cast<size_t>(i)] = constant->real(i);
    } else {
      tensor->integers.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        tensor->integers[static_cast<size_t>(i)] = constant->integer(i);
    }
    return Status();
  }

  Status read_node(int index, GraphEditor* editor) {
    const onnx::NodeProto& proto = source_.graph().node(index);
    Node node;
    node.op = proto.op_type();
    node.domain = domain_of(proto);
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    QRT_MODEL_CHECK(!node.outputs.empty() && !node.outputs[0].empty(), "node %s has no output",
                    file::node_label(proto, index).c_str());
    node.name = proto.name().empty() ? node.outputs[0] : proto.name();
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      Attribute a;
      if (Status s = read_attribute(attribute, &a); !s.ok())
        return std::move(s).at(node.label() + ", attribute " + attribute.name());
      node.attributes.emplace(attribute.name(), std::move(a));
    }
    if (node.op == "Constant" && node.domain.empty()) return add_constant(node);
    if (node.op == "Cast") use_known_type(&node);
    const int64_t opset = node.domain.empty() ? source_.opset(index) : source_.opset("");
    return append_normalized(opset, std::move(node), model_, editor);
  }

  Status read_attribute(const onnx::AttributeProto& proto, Attribute* a) {
    using Kind = Attribute::Kind;
    switch (proto.type()) {
      case onnx::AttributeProto::INT:
        a->kind = Kind::kInteger;
        a->integer = proto.i();
        return Status();
      case onnx::AttributeProto::FLOAT:
        a->kind = Kind::kReal;
        a->real = proto.f();
        return Status();
      case onnx::AttributeProto::STRING:
        a->kind = Kind::kText;
        a->text = proto.s();
        return Status();
      case onnx::AttributeProto::INTS:
        a->kind = Kind::kIntegers;
        a->integers.assign(proto.ints().begin(), proto.ints().end());
        return Status();
      case onnx::AttributeProto::FLOATS:
        a->kind = Kind::kReals;
        a->reals.assign(proto.floats().begin(), proto.floats().end());
        return Status();
      case onnx::AttributeProto::STRINGS:
        a->kind = Kind::kTexts;
        a->texts.assign(proto.strings().begin(), proto.strings().end());
        return Status();
      case onnx::AttributeProto::TENSOR: {
        a->kind = Kind::kTensor;
        Tensor t;
        QRT_TRY(read_tensor(proto.t(), &t));
        a->tensor = std::make_shared<Tensor>(std::move(t));
        return Status();
      }
      default:
        return error(Code::kUnsupported, "is of a type that no operator of float models has");
    }
  }

  Status add_constant(const Node& node) {
    using Kind = Attribute::Kind;
    for (const auto& [name, a] : node.attributes) {
      if (name.rfind("value", 0) != 0) continue;
      Tensor t;
      t.element = Element::kInt64;
      switch (a.kind) {
        case Kind::kTensor: t = *a.tensor; break;
        case Kind::kReal: t = real_tensor({}, {a.real}); break;
        case Kind::kReals: t = real_tensor({static_cast<int64_t>(a.reals.size())}, a.reals); break;
        case Kind::kInteger: t.integers = {a.integer}; break;
        case Kind::kIntegers: t = integer_tensor(a.integers); break;
        case Kind::kText:
        case Kind::kTexts: continue;
      }
      model_->constants[node.outputs[0]] = std::move(t);
      return Status();
    }
    return error(Code::kUnsupported, "%s: a constant of strings, or without a value",
                 node.label().c_str());
  }

  // Takes float16 and similar types for float32.
  static void use_known_type(Node* node) {
    Element element;
    if (element_of(static_cast<int>(node->integer("to", 0)), &element))
      node->set("to", static_cast<int64_t>(onnx_element(element)));
  }

  const Model& source_;
  ExternalFiles files_;
  FloatModel* const model_;
  Refusals refusals_;
};

// Puts the branches of constant conditions, and the steps of loops of known numbers, in their places.
Status settle_subgraphs(Model* source) {
  const auto& nodes = source->graph().node();
  const bool has_loops = std::any_of(nodes.begin(), nodes.end(), [](const onnx::NodeProto& n) {
    return n.op_type() == "Loop" || n.op_type() == "Scan";
  });
  // The steps of a loop may follow from an open dimension.
  if (has_loops && !file::find_open_dimensions(source->graph()).empty()) return Status();
  return file::settle_branches(true, {}, source);
}

}  // namespace

Status read_float_model(const std::string& path, FloatModel* model,
                        const convert::SourceEdges& edges) {
  Model source;
  QRT_TRY(Model::load(path, &source, edges));
  QRT_TRY(settle_subgraphs(&source));
  *model = FloatModel();
  return Reader(source, model).run();
}

}  // namespace qrt::quantize

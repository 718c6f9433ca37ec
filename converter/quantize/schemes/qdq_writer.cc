// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/qdq_writer.h"

#include <set>

#include "converter/import/onnx/file/branches.h"
#include "converter/quantize/float/names.h"
#include "converter/quantize/float/onnx_parts.h"
#include "google/protobuf/arena.h"
#include "onnx/onnx_pb.h"

namespace qrt::quantize {
namespace {

constexpr int64_t kIrVersion = 10;  // the oldest that has opset 21

int onnx_type(const Coding& c) {
  if (c.bits == 8) return c.is_signed ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8;
  return c.is_signed ? onnx::TensorProto::INT16 : onnx::TensorProto::UINT16;
}

std::string raw_zero_point(const Coding& c) {
  const std::vector<int32_t> z = {c.zero_point};
  if (c.bits == 8) return c.is_signed ? raw_as<int8_t>(z) : raw_as<uint8_t>(z);
  return c.is_signed ? raw_as<int16_t>(z) : raw_as<uint16_t>(z);
}

class Writer {
 public:
  Writer(const FloatModel& model, const Placement& placement, const Parameters& parameters)
      : model_(model),
        placement_(placement),
        parameters_(parameters),
        graph_(*proto_.mutable_graph()) {
    for (const Value& v : model.outputs) outputs_.insert(v.name);
    for (const Value& v : model.inputs) names_in_use_.insert(v.name);
    for (const auto& [name, value] : model.values) names_in_use_.insert(name);
    for (const auto& [name, value] : model.constants) names_in_use_.insert(name);
    for (const Node& n : model.nodes) {
      node_names_.insert(n.name);
      for (const std::string& y : n.outputs) names_in_use_.insert(y);
    }
  }

  Status run(std::string* bytes) {
    proto_.set_ir_version(kIrVersion);
    proto_.set_producer_name("qrt_quantize");
    std::set<std::string> domains = {""};
    for (const Node& n : model_.nodes) domains.insert(n.domain);
    for (const std::string& domain : domains) {
      auto* opset = proto_.add_opset_import();
      opset->set_domain(domain);
      opset->set_version(domain.empty() ? kOpset : 1);
    }
    for (const auto& [key, value] : model_.metadata) {
      auto* entry = proto_.add_metadata_props();
      entry->set_key(key);
      entry->set_value(value);
    }
    graph_.set_name(model_.name.empty() ? "quantised" : model_.name);  // ONNX wants one
    for (const Value& v : model_.inputs) set_value(v, graph_.add_input());
    for (const Value& v : model_.outputs) set_value(v, graph_.add_output());
    for (const Value& v : model_.inputs)
      if (placement_.is_coded(v.name)) add_pair(v.name, v.name);
    for (size_t i = 0; i < model_.nodes.size(); ++i) add_node(i);
    for (const std::string& name : used_constants_)
      set_tensor(name, *model_.constant(name), graph_.add_initializer());
    if (proto_.ByteSizeLong() > INT32_MAX)
      return error(Code::kUnsupported, "the quantised model is beyond ONNX's 2 GB");
    *bytes = proto_.SerializeAsString();
    return {};
  }

 private:
  static constexpr char kBatch[] = "batch";
  static void set_value(const Value& from, onnx::ValueInfoProto* to) {
    to->set_name(from.name);
    auto* type = to->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx_element(from.element));
    auto* shape = type->mutable_shape();
    for (size_t d = 0; d < from.shape.size(); ++d) {
      auto* dim = shape->add_dim();
      const bool has_name = d < from.dim_names.size() && from.dim_names[d] != kBatch;
      if (from.shape[d] >= 0)
        dim->set_dim_value(from.shape[d]);
      else if (d == 0)
        dim->set_dim_param(kBatch);
      else if (has_name)
        dim->set_dim_param(from.dim_names[d]);
    }
  }
  std::string fresh(const std::string& wish) { return names_in_use_.take(wish, 2); }
  onnx::TensorProto* new_tensor() { return graph_.add_initializer(); }

  // The scale and zero point of a coding, one pair of initialisers for all that have the same.
  struct CodingNames {
    std::string scale, zero_point;
  };
  CodingNames coding_names(const std::string& of, const Coding& c) {
    CodingNames names = {fresh(of + "_scale"), fresh(of + "_zero_point")};
    set_tensor(names.scale, onnx::TensorProto::FLOAT, {}, raw(std::vector<float>{c.scale}),
               new_tensor());
    set_tensor(names.zero_point, onnx_type(c), {}, raw_zero_point(c), new_tensor());
    return names;
  }
  onnx::NodeProto* op(const char* type, const std::string& name, std::vector<std::string> inputs,
                      const std::string& output) {
    onnx::NodeProto* n = graph_.add_node();
    n->set_op_type(type);
    n->set_name(node_names_.take(name, 2));
    for (std::string& input : inputs) n->add_input(std::move(input));
    n->add_output(output);
    return n;
  }
  // Quantises the float tensor `from`, which stands for the model's value `name`.
  void add_pair(const std::string& name, const std::string& from) {
    const std::string root = placement_.coded.at(name);
    auto known = names_.find(root);
    if (known == names_.end())
      known = names_.emplace(root, coding_names(root, parameters_.codings.at(root))).first;
    const CodingNames& n = known->second;
    const std::string q = fresh(name + "_quantized");
    const std::string dq =
        outputs_.count(name) != 0 && from != name ? name : fresh(name + "_dequantized");
    op("QuantizeLinear", name + "/quantize", {from, n.scale, n.zero_point}, q);
    op("DequantizeLinear", name + "/dequantize", {q, n.scale, n.zero_point}, dq);
    read_as_[name] = dq;
  }
  // Adds a constant of integers behind a DequantizeLinear.
  std::string add_codes(const std::string& name, int type, const Dims& shape, std::string data,
                        const std::vector<float>& scale, int axis, bool has_zero_point) {
    const std::string codes = fresh(name + "_quantized"), scales = fresh(name + "_scale");
    const std::string result = fresh(name + "_dequantized");
    const Dims scale_shape = scale.size() > 1 ? Dims{static_cast<int64_t>(scale.size())} : Dims{};
    set_tensor(codes, type, shape, std::move(data), new_tensor());
    set_tensor(scales, onnx::TensorProto::FLOAT, scale_shape, raw(scale), new_tensor());
    std::vector<std::string> inputs = {codes, scales};
    if (has_zero_point) {
      inputs.push_back(fresh(name + "_zero_point"));
      const size_t bytes = type == onnx::TensorProto::INT8    ? 1
                           : type == onnx::TensorProto::INT16 ? 2
                                                              : 4;
      set_tensor(inputs.back(), type, scale_shape, std::string(scale.size() * bytes, '\0'),
                 new_tensor());
    }
    auto* dequantize = op("DequantizeLinear", name + "/dequantize", inputs, result);
    if (scale.size() > 1) {
      auto* a = dequantize->add_attribute();
      a->set_name("axis");
      a->set_type(onnx::AttributeProto::INT);
      a->set_i(axis);
    }
    return result;
  }
  std::string add_weights(const Layer& layer, const LayerParameters& p) {
    const Tensor& w = *model_.constant(layer.weights);
    const bool is_int16 = p.bits > 8;
    return add_codes(layer.weights, is_int16 ? onnx::TensorProto::INT16 : onnx::TensorProto::INT8,
                     w.shape, is_int16 ? raw(p.codes) : raw_as<int8_t>(p.codes), p.scale,
                     layer.axis, true);
  }
  std::string add_bias(const Layer& layer, const LayerParameters& p) {
    const float x = parameters_.coding(placement_, layer.input).scale;
    std::vector<float> scale;
    for (const float w : p.scale) scale.push_back(x * w);
    Dims shape = {static_cast<int64_t>(p.bias.size())};
    const std::string name =
        layer.bias.empty() ? model_.nodes[layer.node].name + "_bias" : layer.bias;
    return add_codes(name, onnx::TensorProto::INT32, shape, raw(bias_codes(p, x)), scale, 0, true);
  }
  // Adds the bias that an Add behind a MatMul holds, in float: ONNX Runtime rounds it as this scheme does.
  std::string add_float_bias(const Layer& layer, const LayerParameters& p) {
    Tensor bias = *model_.constant(layer.bias);
    bias.reals = p.bias;
    const std::string name = fresh(layer.bias + "_corrected");
    set_tensor(name, bias, new_tensor());
    return name;
  }
  std::string add_constant_operand(const std::string& name) {
    const auto known = read_as_.find(name);
    if (known != read_as_.end()) return known->second;
    const Coding& c = parameters_.constants.at(name);
    const Tensor& t = *model_.constant(name);
    std::vector<int32_t> codes;
    for (const float v : t.reals) codes.push_back(c.code(v));
    std::string data = c.bits == 8
                           ? (c.is_signed ? raw_as<int8_t>(codes) : raw_as<uint8_t>(codes))
                           : (c.is_signed ? raw_as<int16_t>(codes) : raw_as<uint16_t>(codes));
    const CodingNames names = coding_names(name, c);
    const std::string q = fresh(name + "_quantized"), dq = fresh(name + "_dequantized");
    set_tensor(q, onnx_type(c), t.shape, std::move(data), new_tensor());
    op("DequantizeLinear", name + "/dequantize", {q, names.scale, names.zero_point}, dq);
    return read_as_[name] = dq;
  }

  void add_node(size_t i) {
    const Node& n = model_.nodes[i];
    const Layer* layer = placement_.layer_at(i);  // whose weights, or bias, this node reads
    if (layer && parameters_.layers.count(layer->node) == 0) layer = nullptr;
    const LayerParameters* p = layer ? &parameters_.layers.at(layer->node) : nullptr;
    const bool is_float = placement_.float_nodes.count(i) != 0;
    std::vector<std::string> inputs;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const std::string& name = n.inputs[k];
      if (name.empty()) {
        inputs.emplace_back();
      } else if (layer && layer->node == i && k == 1) {
        inputs.push_back(add_weights(*layer, *p));
      } else if (layer && layer->bias_node == i && static_cast<int>(k) == layer->bias_input &&
                 !p->bias.empty()) {
        inputs.push_back(layer->node == i ? add_bias(*layer, *p) : add_float_bias(*layer, *p));
      } else if (!is_float && placement_.constants.count(name) != 0) {
        inputs.push_back(add_constant_operand(name));
      } else if (model_.constant(name)) {
        used_constants_.insert(name);
        inputs.push_back(name);
      } else {
        // A value that the model quantises itself is not rounded before.
        const auto read = n.op == "QuantizeLinear" ? read_as_.end() : read_as_.find(name);
        inputs.push_back(read == read_as_.end() ? name : read->second);
      }
    }
    // A bias that correction has given to a layer without one.
    if (layer && layer->node == i && layer->bias_node == i && layer->bias_input == 2 &&
        !p->bias.empty() && !n.has_input(2)) {
      inputs.resize(3);
      inputs[2] = add_bias(*layer, *p);
    }
    onnx::NodeProto& to = *google::protobuf::Arena::CreateMessage<onnx::NodeProto>(&arena_);
    to.set_op_type(n.op);
    to.set_name(n.name);
    to.set_domain(n.domain);
    for (const std::string& input : inputs) to.add_input(input);
    for (const auto& [name, attribute] : n.attributes)
      // A choice of whole tensors is a Where of these.
      if (name != convert::from_onnx::kChoice) set_attribute(name, attribute, to.add_attribute());
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& y : n.outputs) {
      const bool is_written = placement_.is_coded(y) && placement_.kept.count(y) == 0;
      const bool renamed = is_written && outputs_.count(y) != 0;
      const std::string written = renamed ? fresh(y + "_float") : y;
      to.add_output(written);
      if (is_written) pairs.emplace_back(y, written);
    }
    *graph_.add_node() = to;
    for (const auto& [name, written] : pairs) add_pair(name, written);
  }

  const FloatModel& model_;
  const Placement& placement_;
  const Parameters& parameters_;
  // On an arena: outside one protobuf's destructors fail where it ran out of memory in the middle.
  google::protobuf::Arena arena_;
  onnx::ModelProto& proto_ = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena_);
  onnx::GraphProto& graph_;
  std::set<std::string> outputs_, used_constants_;
  Names names_in_use_, node_names_;
  std::map<std::string, CodingNames> names_;    // of codings
  std::map<std::string, std::string> read_as_;  // what stands for a value behind its quantisation
};

}  // namespace

Status write_qdq(const FloatModel& model, const Placement& placement, const Parameters& parameters,
                 std::string* bytes) {
  return Writer(model, placement, parameters).run(bytes);
}

}  // namespace qrt::quantize

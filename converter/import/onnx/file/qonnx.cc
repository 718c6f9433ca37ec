// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/qonnx.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/import/common/growth.h"
#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/names.h"
#include "converter/import/onnx/file/replace_nodes.h"

namespace qrt::convert::from_onnx {
namespace {

bool is_quant(const onnx::NodeProto& node) {
  const std::string& domain = node.domain();
  return node.op_type() == "Quant" && node.input_size() == 4 && node.output_size() == 1 &&
         (domain == "qonnx.custom_op.general" || domain == "onnx.brevitas" ||
          domain == "finn.custom_op.general");
}

int64_t integer(const onnx::NodeProto& node, const char* name, int64_t otherwise) {
  for (const onnx::AttributeProto& a : node.attribute())
    if (a.name() == name) return a.i();
  return otherwise;
}

std::string text(const onnx::NodeProto& node, const char* name, const char* otherwise) {
  for (const onnx::AttributeProto& a : node.attribute())
    if (a.name() == name) return a.s();
  return otherwise;
}

// The parameters of a Quant node. Its integers are lo to hi.
struct Quantisation {
  bool is_signed;
  int lo, hi;
  std::vector<int> zero_points;  // one, or one for each channel
  bool has_axis = false;
  int64_t axis = 0;  // from the end
  bool is_narrowed() const { return is_signed ? lo > -128 || hi < 127 : lo > 0 || hi < 255; }
};

class Rewriter {
 public:
  explicit Rewriter(onnx::ModelProto* model)
      : graph_(model->mutable_graph()), names_(*graph_), source_bytes_(model->ByteSizeLong()) {
    for (const onnx::TensorProto& t : graph_->initializer()) constants_.emplace(t.name(), &t);
    for (const onnx::NodeProto& node : graph_->node())
      for (const onnx::AttributeProto& a : node.attribute())
        if (node.op_type() == "Constant" && a.name() == "value" && node.output_size() == 1)
          constants_.emplace(node.output(0), &a.t());
  }

  Status run() {
    Nodes made;
    std::vector<std::unique_ptr<onnx::NodeProto>> nodes(static_cast<size_t>(graph_->node_size()));
    for (size_t i = nodes.size(); i-- > 0;) nodes[i].reset(graph_->mutable_node()->ReleaseLast());
    for (auto& node : nodes) {
      Quantisation q;
      if (is_quant(*node) && read(*node, &q))
        QRT_TRY(rewrite(*node, q, &made));
      else
        made.AddAllocated(node.release());
    }
    graph_->mutable_node()->Swap(&made);
    return Status();
  }

 private:
  // Reads a small constant of whole numbers, such as a width or a zero point. Returns false where
  // it is not known, not small, or not whole.
  bool read_whole(const std::string& name, int64_t most, std::vector<int>* values) {
    const auto found = constants_.find(name);
    ConstantPtr c;
    ExternalFiles none("");
    if (found == constants_.end()) return false;
    growth_.charge(found->second->ByteSizeLong());
    if (!growth_.check(Graph(), source_bytes_).ok() ||
        found->second->data_location() == onnx::TensorProto::EXTERNAL ||
        found->second->ByteSizeLong() > static_cast<size_t>(16 * most + 4096) ||
        !read_constant(*found->second, &none, &c).ok() || !(c->is_real() || c->is_integer()))
      return false;
    for (int64_t i = 0; i < c->elements(); ++i) {
      const float v = c->is_real() ? c->real(i) : static_cast<float>(c->integer(i));
      if (!(std::fabs(v) <= 255) || v != std::trunc(v)) return false;
      values->push_back(static_cast<int>(v));
    }
    return true;
  }

  bool read(const onnx::NodeProto& node, Quantisation* q) {
    const auto scale = constants_.find(node.input(1));
    std::vector<int> width, zero;
    if (scale == constants_.end() || !read_whole(node.input(3), 1, &width) || width.size() != 1 ||
        width[0] < 2 || width[0] > 8 || text(node, "rounding_mode", "ROUND") != "ROUND")
      return false;
    q->is_signed = integer(node, "signed", 1) != 0;
    const bool narrow = integer(node, "narrow", 0) != 0;
    const int half = 1 << (width[0] - 1);
    q->lo = q->is_signed ? -half + narrow : 0;
    q->hi = q->is_signed ? half - 1 : 2 * half - 1 - narrow;
    int64_t n = 1;
    for (int d = 0; d < scale->second->dims_size(); ++d) {
      const int64_t dim = scale->second->dims(d);
      if (dim == 1) continue;
      if (q->has_axis || dim < 1 || dim > INT32_MAX) return false;  // one axis
      q->has_axis = true;
      q->axis = d - scale->second->dims_size();
      n = dim;
    }
    if (!read_whole(node.input(2), n, &zero)) return false;
    for (int z : zero)
      if (z < (q->is_signed ? -128 : 0) || z > (q->is_signed ? 127 : 255)) return false;
    if (zero.size() != 1 && static_cast<int64_t>(zero.size()) != n) return false;
    q->zero_points = zero;
    const bool is_stored = scale->second->ByteSizeLong() >= static_cast<size_t>(n);
    if (zero.size() == 1 && n > 1 && !is_stored) return false;  // a hostile shape
    q->zero_points.resize(static_cast<size_t>(n), zero[0]);
    return true;
  }

  std::string constant(const std::string& stem, int type, const std::vector<int64_t>& dims,
                       const void* data, size_t bytes) {
    onnx::TensorProto* t = graph_->add_initializer();
    t->set_name(names_.make(stem));
    t->set_data_type(type);
    for (int64_t d : dims) t->add_dims(d);
    t->set_raw_data(data, bytes);
    return t->name();
  }

  onnx::NodeProto* add(const onnx::NodeProto& quant, const char* op,
                       const std::vector<std::string>& inputs, const std::string& output,
                       Nodes* to) {
    onnx::NodeProto* node = to->Add();
    node->set_op_type(op);
    if (!quant.name().empty()) node->set_name(quant.name() + "/" + op);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  }

  static void set_axis(int64_t axis, onnx::NodeProto* node) {
    onnx::AttributeProto* a = node->add_attribute();
    a->set_name("axis");
    a->set_type(onnx::AttributeProto::INT);
    a->set_i(axis);
  }

  Status rewrite(const onnx::NodeProto& node, const Quantisation& q, Nodes* to) {
    const size_t names = node.name().size() + node.output(0).size();
    growth_.charge(q.zero_points.size() + 8 * names + 1024);
    QRT_TRY(growth_.check(Graph(), source_bytes_));
    const std::string& stem = node.output(0);
    const int type = q.is_signed ? kInt8 : kUint8;
    std::string scale = node.input(1);
    std::vector<int64_t> dims;
    if (q.has_axis) {
      const int64_t flat = -1;
      dims = {static_cast<int64_t>(q.zero_points.size())};
      scale = names_.make(stem + "_scale");
      add(node, "Reshape",
          {node.input(1), constant(stem + "_flat", kInt64, {1}, &flat, sizeof flat)}, scale, to);
    }
    const std::vector<int8_t> zero(q.zero_points.begin(), q.zero_points.end());  // the low byte
    const std::string zero_point =
        constant(stem + "_zero_point", type, dims, zero.data(), zero.size());
    std::string integers = names_.make(stem + "_quantised");
    onnx::NodeProto* quantize =
        add(node, "QuantizeLinear", {node.input(0), scale, zero_point}, integers, to);
    if (q.is_narrowed()) {
      const auto lo = static_cast<int8_t>(q.lo), hi = static_cast<int8_t>(q.hi);
      const std::string limited = names_.make(stem + "_limited");
      add(node, "Clip",
          {integers, constant(stem + "_min", type, {}, &lo, 1),
           constant(stem + "_max", type, {}, &hi, 1)},
          limited, to);
      integers = limited;
    }
    onnx::NodeProto* dequantize =
        add(node, "DequantizeLinear", {integers, scale, zero_point}, node.output(0), to);
    if (q.has_axis) {
      set_axis(q.axis, quantize);
      set_axis(q.axis, dequantize);
    }
    return Status();
  }

  onnx::GraphProto* const graph_;
  FreshNames names_;
  const uint64_t source_bytes_;
  std::unordered_map<std::string, const onnx::TensorProto*> constants_;
  Growth growth_;
};

}  // namespace

Status rewrite_quant_nodes(onnx::ModelProto* model) {
  for (const onnx::NodeProto& node : model->graph().node())
    if (is_quant(node)) return Rewriter(model).run();
  return Status();
}

}  // namespace qrt::convert::from_onnx

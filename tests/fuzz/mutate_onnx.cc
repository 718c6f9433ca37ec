// SPDX-License-Identifier: Apache-2.0
// libFuzzer's mutator for ONNX files: changes the parsed model, since changed bytes seldom are one.
#include <algorithm>
#include <climits>
#include <random>
#include <string>
#include <vector>

#include "converter/import/onnx/ops/handlers.h"
#include "onnx/onnx_pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed);

namespace qrt {
namespace {

constexpr const char* kAttributes[] = {"axis",
                                       "axes",
                                       "perm",
                                       "pads",
                                       "strides",
                                       "dilations",
                                       "kernel_shape",
                                       "group",
                                       "alpha",
                                       "beta",
                                       "min",
                                       "max",
                                       "transA",
                                       "transB",
                                       "auto_pad",
                                       "ceil_mode",
                                       "to",
                                       "value",
                                       "gamma",
                                       "allowzero",
                                       "keepdims",
                                       "starts",
                                       "ends",
                                       "channels_last",
                                       "count_include_pad",
                                       "storage_order",
                                       "block_size",
                                       "approximate",
                                       "mode",
                                       "coordinate_transformation_mode",
                                       "nearest_mode",
                                       "direction",
                                       "fmod",
                                       "k",
                                       "largest",
                                       "batch_dims",
                                       "epsilon",
                                       "saturate"};
constexpr int64_t kIntegers[] = {0,     1,         2,         3,         4,        7,  -1,
                                 -2,    16,        255,       -3,        64,       13, 128,
                                 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
constexpr float kFloats[] = {0.0f, 1.0f, -1.0f, 0.5f, 0.1f, 6.0f, 1e-38f, 1e38f, -0.0f, 3e-45f};

class Mutator {
 public:
  Mutator(onnx::ModelProto* model, unsigned seed) : model_(*model), random_(seed) {}

  void run() {
    for (int n = 1 + below(3); n > 0; --n) mutate();
  }

 private:
  int below(int n) { return n <= 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class T, size_t N>
  T any(const T (&of)[N]) {
    return of[random_() % N];
  }
  int64_t integer() {
    return below(3) == 0 ? below(40) - 8 : kIntegers[random_() % (sizeof(kIntegers) / 8)];
  }

  std::string tensor() {
    const onnx::GraphProto& g = model_.graph();
    const int kind = below(3);
    if (kind == 0 && g.initializer_size() > 0)
      return g.initializer(below(g.initializer_size())).name();
    if (kind == 1 && g.input_size() > 0) return g.input(below(g.input_size())).name();
    if (g.node_size() == 0) return "";
    const onnx::NodeProto& n = g.node(below(g.node_size()));
    return n.output_size() == 0 ? "" : n.output(below(n.output_size()));
  }

  void mutate() {
    onnx::GraphProto* g = model_.mutable_graph();
    onnx::NodeProto* node = g->node_size() ? g->mutable_node(below(g->node_size())) : g->add_node();
    switch (below(14)) {
      case 0: return another_op(node);
      case 1: node->set_domain(below(2) ? "com.microsoft" : ""); return;
      case 2: inputs(node); return;
      case 3: attribute(node); return;
      case 4: attribute(node); return;
      case 5: repeat(g, *node); return;
      case 6:
        if (g->node_size() > 1) g->mutable_node()->DeleteSubrange(below(g->node_size()), 1);
        return;
      case 7:
      case 8:
        if (g->initializer_size())
          initializer(g->mutable_initializer(below(g->initializer_size())));
        return;
      case 9:
        if (g->input_size()) shape(g->mutable_input(below(g->input_size())));
        return;
      case 10: {
        onnx::ValueInfoProto* out = below(2) || !g->output_size()
                                        ? g->add_output()
                                        : g->mutable_output(below(g->output_size()));
        out->set_name(tensor());
        return;
      }
      case 11: call(node); return;
      case 12: branch(g, node); return;
      default:
        if (model_.opset_import_size() == 0) model_.add_opset_import();
        model_.mutable_opset_import(below(model_.opset_import_size()))->set_version(5 + below(25));
        if (below(4) == 0) {
          auto* domain = model_.add_opset_import();
          domain->set_domain("com.microsoft");
          domain->set_version(1);
        }
    }
  }

  // Turns the node into a call of a function with the node as its body, sometimes with a call of
  // another function, or of itself, beside it.
  void call(onnx::NodeProto* node) {
    onnx::FunctionProto* f = model_.add_functions();
    f->set_domain("functions");
    f->set_name("f" + std::to_string(model_.functions_size()));
    *f->mutable_input() = node->input();
    *f->mutable_output() = node->output();
    *f->add_node() = *node;
    if (below(4) == 0) {
      onnx::NodeProto* other = f->add_node();
      other->set_domain("functions");
      other->set_op_type("f" + std::to_string(1 + below(model_.functions_size())));
      if (node->output_size()) other->add_input(node->output(0));
      other->add_output("behind");
      if (f->output_size() && below(2)) f->set_output(0, "behind");
    }
    for (onnx::AttributeProto& a : *f->mutable_node(0)->mutable_attribute())
      if (below(2)) a.set_ref_attr_name(a.name());
    if (below(3) == 0) f->add_opset_import()->set_version(5 + below(25));
    node->set_domain("functions");
    node->set_op_type(f->name());
  }

  // Turns the node into an If with the node in its branches, mostly with a condition that is known.
  void branch(onnx::GraphProto* g, onnx::NodeProto* node) {
    const onnx::NodeProto inner = *node;
    node->Clear();
    node->set_op_type("If");
    std::string condition = tensor();
    if (below(4)) {
      onnx::TensorProto* t = g->add_initializer();
      condition = "condition" + std::to_string(g->initializer_size());
      t->set_name(condition);
      t->set_data_type(onnx::TensorProto::BOOL);
      t->add_int32_data(below(2));
    }
    node->add_input(condition);
    *node->mutable_output() = inner.output();
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto* a = node->add_attribute();
      a->set_name(name);
      a->set_type(onnx::AttributeProto::GRAPH);
      onnx::NodeProto* copy = a->mutable_g()->add_node();
      *copy = inner;
      for (std::string& output : *copy->mutable_output()) {
        if (below(8)) output += " inside";
        a->mutable_g()->add_output()->set_name(output);
      }
    }
  }

  void another_op(onnx::NodeProto* node) {
    static const std::vector<convert::from_onnx::OpEntry> ops = convert::from_onnx::known_ops();
    if (below(30) == 0) return node->set_op_type("Loop");
    const convert::from_onnx::OpEntry& op = ops[random_() % ops.size()];
    node->set_domain(op.domain);
    node->set_op_type(op.op);
    while (node->input_size() < op.inputs) node->add_input(tensor());
  }

  void inputs(onnx::NodeProto* node) {
    const int kind = below(4);
    if (kind == 0 || node->input_size() == 0) return node->add_input(tensor());
    const int i = below(node->input_size());
    if (kind == 1) return node->mutable_input()->DeleteSubrange(i, 1);
    if (kind == 2) return node->set_input(i, "");
    node->set_input(i, tensor());
  }

  void attribute(onnx::NodeProto* node) {
    onnx::AttributeProto* a = below(3) == 0 || node->attribute_size() == 0
                                  ? node->add_attribute()
                                  : node->mutable_attribute(below(node->attribute_size()));
    if (a->name().empty() || below(8) == 0) a->set_name(any(kAttributes));
    switch (below(6)) {
      case 0:
        a->set_type(onnx::AttributeProto::INT);
        a->set_i(integer());
        return;
      case 1:
        a->set_type(onnx::AttributeProto::FLOAT);
        a->set_f(any(kFloats));
        return;
      case 2:
        a->set_type(onnx::AttributeProto::STRING);
        a->set_s(below(2) ? "SAME_UPPER" : "VALID");
        return;
      case 3:
        if (a->ints_size() > 0) {
          a->set_ints(below(a->ints_size()), integer());
          return;
        }
        [[fallthrough]];
      default:
        a->set_type(onnx::AttributeProto::INTS);
        if (a->ints_size() > 0 && below(2)) return a->mutable_ints()->RemoveLast();
        a->add_ints(integer());
    }
  }

  // Adds a copy of the node with an output of its own, which another node then reads.
  void repeat(onnx::GraphProto* g, const onnx::NodeProto& node) {
    onnx::NodeProto* copy = g->add_node();
    *copy = onnx::NodeProto(node);
    const std::string name = "n" + std::to_string(random_() % 100000);
    copy->clear_output();
    copy->add_output(name);
    onnx::NodeProto* reader = g->mutable_node(below(g->node_size()));
    if (reader->input_size() > 0) reader->set_input(below(reader->input_size()), name);
  }

  void initializer(onnx::TensorProto* t) {
    switch (below(5)) {
      case 0: t->set_data_type(1 + below(26)); return;
      case 1:
        if (t->dims_size() > 0) t->set_dims(below(t->dims_size()), integer());
        return;
      case 2:
        if (t->dims_size() > 0 && below(2)) return t->mutable_dims()->RemoveLast();
        t->add_dims(below(2) ? 1 : integer());
        return;
      case 3: {  // other values
        std::string* raw = t->mutable_raw_data();
        for (int n = 1 + below(8); n > 0 && !raw->empty(); --n)
          (*raw)[random_() % raw->size()] = static_cast<char>(random_() >> 8);
        return;
      }
      default: {  // another shape, with the data it needs
        const size_t element =
            t->raw_data().empty() ? 1 : std::max<size_t>(1, t->raw_data().size());
        t->clear_dims();
        size_t n = 1;
        for (int rank = below(4); rank > 0; --rank) {
          const int d = 1 + below(4);
          n *= static_cast<size_t>(d);
          t->add_dims(d);
        }
        std::string raw(n * std::min<size_t>(element, 8), '\1');
        t->set_raw_data(raw);
      }
    }
  }

  void shape(onnx::ValueInfoProto* v) {
    auto* type = v->mutable_type()->mutable_tensor_type();
    if (below(4) == 0) return type->set_elem_type(1 + below(16));
    auto* s = type->mutable_shape();
    if (s->dim_size() == 0 || below(6) == 0) {
      s->add_dim()->set_dim_value(integer());
      return;
    }
    auto* dim = s->mutable_dim(below(s->dim_size()));
    if (below(4) == 0) return dim->set_dim_param("N");
    dim->set_dim_value(integer());
  }

  onnx::ModelProto& model_;
  std::minstd_rand random_;
};

}  // namespace
}  // namespace qrt

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  onnx::ModelProto model;
  if (seed % 8 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  qrt::Mutator(&model, seed).run();
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

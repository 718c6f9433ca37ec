// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/fused.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "converter/import/common/growth.h"
#include "converter/import/onnx/file/names.h"
#include "converter/import/onnx/file/replace_nodes.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr char kMicrosoft[] = "com.microsoft", kNhwc[] = "com.ms.internal.nhwc",
               kNchwc[] = "com.microsoft.nchwc";

// A fused operator and the standard operator that it becomes. `channels_last`: the layout of its
// first input and its output.
struct Form {
  const char *domain, *op, *to_domain, *to_op;
  bool channels_last;
};
constexpr Form kForms[] = {
    {kMicrosoft, "FusedConv", "", "Conv", false},
    {kMicrosoft, "NhwcFusedConv", "", "Conv", true},
    {kMicrosoft, "FusedGemm", "", "Gemm", false},
    {kMicrosoft, "FusedMatMul", "", "MatMul", false},
    {kMicrosoft, "TransposeMatMul", "", "MatMul", false},
    {kMicrosoft, "NhwcMaxPool", "", "MaxPool", true},
    {kMicrosoft, "BiasGelu", "", "Gelu", false},
    {kMicrosoft, "FastGelu", "", "Gelu", false},
    {kMicrosoft, "QEmbedLayerNormalization", kMicrosoft, "EmbedLayerNormalization", false},

    {kNhwc, "Conv", "", "Conv", true},
    {kNhwc, "ConvTranspose", "", "ConvTranspose", true},
    {kNhwc, "MaxPool", "", "MaxPool", true},
    {kNhwc, "AveragePool", "", "AveragePool", true},
    {kNhwc, "GlobalMaxPool", "", "GlobalMaxPool", true},
    {kNhwc, "GlobalAveragePool", "", "GlobalAveragePool", true},
    {kNhwc, "BatchNormalization", "", "BatchNormalization", true},
    {kNhwc, "InstanceNormalization", "", "InstanceNormalization", true},
    {kNhwc, "LRN", "", "LRN", true},
    {kNhwc, "DepthToSpace", "", "DepthToSpace", true},
    {kNhwc, "SpaceToDepth", "", "SpaceToDepth", true},
    // Scales and sizes follow the layout's order of axes, so nothing is transposed.
    {kNhwc, "Resize", "", "Resize", false},
    {kNhwc, "QLinearConv", "", "QLinearConv", true},
    {kNhwc, "QLinearAveragePool", kMicrosoft, "QLinearAveragePool", true},
    {kNhwc, "QLinearGlobalAveragePool", kMicrosoft, "QLinearGlobalAveragePool", true},
    {kNhwc, "QLinearConvTranspose", kMicrosoft, "QLinearConvTranspose", true},

    // Channels in blocks, which pools and the copies around them do not see. A Conv has weights in
    // such blocks, too, of a size that the file does not tell: it is refused.
    {kNchwc, "ReorderInput", "", "Identity", false},
    {kNchwc, "ReorderOutput", "", "Identity", false},
    {kNchwc, "MaxPool", "", "MaxPool", false},
    {kNchwc, "GlobalMaxPool", "", "GlobalMaxPool", false},
    {kNchwc, "AveragePool", "", "AveragePool", false},
    {kNchwc, "GlobalAveragePool", "", "GlobalAveragePool", false},
};

const Form* form_of(const onnx::NodeProto& node) {
  for (const Form& form : kForms)
    if (node.domain() == form.domain && node.op_type() == form.op) return &form;
  return nullptr;
}

// Attributes of fusion, which the operators that a node becomes do not have.
constexpr const char* kOfFusion[] = {"activation",      "activation_params", "activation_alpha",
                                     "activation_beta", "activation_gamma",  "channels_last"};
constexpr const char* kOfMatMul[] = {"transA", "transB", "transBatchA", "transBatchB", "alpha"};

const onnx::AttributeProto* find(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& a : node.attribute())
    if (a.name() == name) return &a;
  return nullptr;
}
bool is_set(const onnx::NodeProto& node, const char* name) {
  const onnx::AttributeProto* a = find(node, name);
  return a && a->i() != 0;
}

onnx::AttributeProto* add_attribute(onnx::NodeProto* node, const char* name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(type);
  return a;
}
void set_real(onnx::NodeProto* node, const char* name, float value) {
  add_attribute(node, name, onnx::AttributeProto::FLOAT)->set_f(value);
}

struct Activation {
  std::string op;  // "": none
  std::vector<float> parameters;
};

// Returns how many parameters an activation has, or -1 where it is not known.
int parameters_of(const std::string& activation) {
  for (const char* op : {"Relu", "Tanh", "Sigmoid", "Silu", "Softplus", "Softsign"})
    if (activation == op) return 0;
  for (const char* op : {"LeakyRelu", "Elu", "ThresholdedRelu"})
    if (activation == op) return 1;
  return activation == "Clip" || activation == "HardSigmoid" ? 2 : -1;
}

// Reads the activation that is fused into a node. Returns false where it is not known.
bool read_activation(const onnx::NodeProto& node, Activation* to) {
  const onnx::AttributeProto* kind = find(node, "activation");
  if (!kind || kind->s().empty()) return true;
  to->op = kind->s();
  if (const onnx::AttributeProto* all = find(node, "activation_params"))
    to->parameters.assign(all->floats().begin(), all->floats().end());
  else
    for (const char* name : {"activation_alpha", "activation_beta"})
      if (const onnx::AttributeProto* a = find(node, name)) to->parameters.push_back(a->f());
  const int expected = parameters_of(to->op);
  return expected >= 0 && to->parameters.size() == static_cast<size_t>(expected);
}

class Expander {
 public:
  explicit Expander(onnx::ModelProto* model)
      : main_(model->mutable_graph()), names_(*main_), source_bytes_(model->ByteSizeLong()) {}

  Status run(onnx::GraphProto* graph) {
    Nodes made;
    std::vector<std::unique_ptr<onnx::NodeProto>> nodes(static_cast<size_t>(graph->node_size()));
    for (size_t i = nodes.size(); i-- > 0;) nodes[i].reset(graph->mutable_node()->ReleaseLast());
    for (auto& node : nodes) {
      for (onnx::AttributeProto& a : *node->mutable_attribute()) {
        if (a.has_g()) QRT_TRY(run(a.mutable_g()));
        for (onnx::GraphProto& g : *a.mutable_graphs()) QRT_TRY(run(&g));
      }
      const Form* form = form_of(*node);
      Activation activation;
      if (form && node->input_size() > 0 && node->output_size() > 0 &&
          read_activation(*node, &activation))
        QRT_TRY(expand(*node, *form, activation, &made));
      else
        made.AddAllocated(node.release());
    }
    graph->mutable_node()->Swap(&made);
    return Status();
  }

 private:
  // Appends a node with a new output.
  onnx::NodeProto* add(const onnx::NodeProto& fused, const std::string& op,
                       const std::vector<std::string>& inputs, Nodes* to) {
    onnx::NodeProto* node = to->Add();
    node->set_op_type(op);
    if (!fused.name().empty()) node->set_name(fused.name() + "/" + op);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(names_.make(fused.output(0) + "/" + op));
    return node;
  }

  std::string add_transpose(const onnx::NodeProto& fused, const std::string& x, AxisOrder order,
                            Nodes* to) {
    onnx::NodeProto* node = add(fused, "Transpose", {x}, to);
    add_attribute(node, kAxisOrder, onnx::AttributeProto::INT)->set_i(static_cast<int>(order));
    return node->output(0);
  }

  std::string constant(const std::string& stem, float value) {
    onnx::TensorProto* t = main_->add_initializer();
    t->set_name(names_.make(stem));
    t->set_data_type(onnx::TensorProto::FLOAT);
    t->add_float_data(value);
    return t->name();
  }

  void add_activation(const onnx::NodeProto& fused, const Activation& a, const std::string& x,
                      Nodes* to) {
    onnx::NodeProto* node = add(fused, a.op == "Silu" ? "Swish" : a.op, {x}, to);
    if (a.op == "Clip") {
      for (float limit : a.parameters) node->add_input(constant(fused.output(0) + "/limit", limit));
      return;
    }
    if (!a.parameters.empty()) set_real(node, "alpha", a.parameters[0]);
    if (a.parameters.size() > 1) set_real(node, "beta", a.parameters[1]);
  }

  // Returns operand i of a FusedMatMul in the order that MatMul wants. ONNX Runtime does not
  // transpose vectors; what it refuses, MatMul refuses, too.
  std::string matmul_operand(const onnx::NodeProto& node, int i, Nodes* to) {
    const std::string& x = node.input(i);
    const bool swaps = is_set(node, i == 0 ? "transA" : "transB"),
               outer = is_set(node, i == 0 ? "transBatchA" : "transBatchB");
    if (!swaps && !outer) return x;
    const AxisOrder order = !outer  ? AxisOrder::kSwapped
                            : swaps ? AxisOrder::kBatchOuterSwapped
                                    : AxisOrder::kBatchOuter;
    return add_transpose(node, x, order, to);
  }

  // Returns the inputs of an EmbedLayerNormalization for those of a QEmbedLayerNormalization: word, position and segment tables, scale
  // and bias are inputs 2 to 6, with their scales from input 8 and their zero points from input 13 on.
  std::vector<std::string> dequantized_tables(const onnx::NodeProto& node, Nodes* to) {
    constexpr int kFirst = 2, kMask = 7, kScales = 8, kZeroPoints = 13;
    const auto input = [&](int i) { return i < node.input_size() ? node.input(i) : std::string(); };
    std::vector<std::string> inputs;
    for (int i = 0; i <= kMask; ++i) inputs.push_back(input(i));
    for (int i = kFirst; i < kMask; ++i) {
      std::string& table = inputs[static_cast<size_t>(i)];
      if (table.empty()) continue;
      const int nth = i - kFirst;
      table =
          add(node, "DequantizeLinear", {table, input(kScales + nth), input(kZeroPoints + nth)}, to)
              ->output(0);
    }
    return inputs;
  }

  Status expand(const onnx::NodeProto& node, const Form& form, const Activation& activation,
                Nodes* to) {
    size_t bytes = node.ByteSizeLong() + 1024;
    bytes += 8 * (node.name().size() + node.output(0).size());
    growth_.charge(bytes);
    QRT_TRY(growth_.check(Graph(), source_bytes_));
    const bool is_matmul = std::string(form.to_op) == "MatMul";
    const bool is_conv = std::string(form.to_op) == "Conv",
               is_gelu = std::string(form.to_op) == "Gelu";
    const bool reorders = std::string(form.to_op) == "Identity" && is_set(node, "channels_last");
    std::vector<std::string> inputs(node.input().begin(), node.input().end());
    std::string sum;
    if (is_conv && inputs.size() > 3) {
      sum = inputs[3];
      inputs.resize(3);
    }
    if (form.channels_last)
      inputs[0] = add_transpose(node, inputs[0], AxisOrder::kChannelsFirst, to);
    for (int i = 0; is_matmul && i < 2 && i < node.input_size(); ++i)
      inputs[static_cast<size_t>(i)] = matmul_operand(node, i, to);
    if (is_gelu && inputs.size() > 1) inputs = {add(node, "Add", inputs, to)->output(0)};
    if (node.op_type() == "QEmbedLayerNormalization") inputs = dequantized_tables(node, to);
    if (reorders) {
      add_transpose(
          node, inputs[0],
          node.op_type() == "ReorderInput" ? AxisOrder::kChannelsFirst : AxisOrder::kChannelsLast,
          to);
    } else {
      onnx::NodeProto* main = add(node, form.to_op, inputs, to);
      main->set_name(node.name());
      main->set_domain(form.to_domain);
      for (int i = 1; i < node.output_size(); ++i) main->add_output(node.output(i));
      for (const onnx::AttributeProto& a : node.attribute())
        if (!is_dropped(a.name(), is_matmul)) *main->add_attribute() = a;
      if (node.op_type() == "FastGelu")
        add_attribute(main, "approximate", onnx::AttributeProto::STRING)->set_s("tanh");
    }
    const auto last = [to]() -> const std::string& { return to->rbegin()->output(0); };
    if (form.channels_last) add_transpose(node, last(), AxisOrder::kChannelsLast, to);
    if (!sum.empty()) add(node, "Add", {last(), sum}, to);
    if (const auto* alpha = find(node, "alpha"); is_matmul && alpha && alpha->f() != 1.0f)
      add(node, "Mul", {last(), constant(node.output(0) + "/alpha", alpha->f())}, to);
    if (!activation.op.empty()) add_activation(node, activation, last(), to);
    to->rbegin()->set_output(0, node.output(0));
    return Status();
  }

  static bool is_dropped(const std::string& attribute, bool is_matmul) {
    for (const char* name : kOfFusion)
      if (attribute == name) return true;
    for (const char* name : kOfMatMul)
      if (is_matmul && attribute == name) return true;
    return false;
  }

  onnx::GraphProto* const main_;
  FreshNames names_;
  const uint64_t source_bytes_;
  Growth growth_;
};

bool has_fused(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node()) {
    if (form_of(node)) return true;
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g() && has_fused(a.g())) return true;
      for (const onnx::GraphProto& g : a.graphs())
        if (has_fused(g)) return true;
    }
  }
  return false;
}

// Imports the operator sets of the operators that are made, which a file of fused operators need not import.
void import_sets(onnx::ModelProto* model) {
  constexpr int kFirstWithAllForms = 13;
  bool standard = false, microsoft = false;
  for (const auto& entry : model->opset_import()) {
    standard = standard || entry.domain().empty() || entry.domain() == "ai.onnx";
    microsoft = microsoft || entry.domain() == kMicrosoft;
  }
  if (!standard) model->add_opset_import()->set_version(kFirstWithAllForms);
  if (microsoft) return;
  auto* entry = model->add_opset_import();
  entry->set_domain(kMicrosoft);
  entry->set_version(1);
}

}  // namespace

std::vector<int64_t> permutation_of(int64_t order, int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  const auto rotate = [&perm](size_t from, size_t count, bool left) {
    if (count < 2) return;
    const auto begin = perm.begin() + static_cast<std::ptrdiff_t>(from),
               end = begin + static_cast<std::ptrdiff_t>(count);
    std::rotate(begin, left ? begin + 1 : end - 1, end);
  };
  const auto n = static_cast<size_t>(rank);
  switch (static_cast<AxisOrder>(order)) {
    case AxisOrder::kChannelsFirst: rotate(1, n > 1 ? n - 1 : 0, false); return perm;
    case AxisOrder::kChannelsLast: rotate(1, n > 1 ? n - 1 : 0, true); return perm;
    case AxisOrder::kSwapped: break;
    case AxisOrder::kBatchOuter: rotate(0, n > 1 ? n - 1 : 0, true); return perm;
    case AxisOrder::kBatchOuterSwapped: rotate(0, n > 1 ? n - 1 : 0, true); break;
    default: return {};
  }
  if (n > 1) std::swap(perm[n - 1], perm[n - 2]);
  return perm;
}

Status expand_fused_nodes(onnx::ModelProto* model) {
  if (!has_fused(model->graph())) return Status();
  import_sets(model);
  return Expander(model).run(model->mutable_graph());
}

}  // namespace qrt::convert::from_onnx

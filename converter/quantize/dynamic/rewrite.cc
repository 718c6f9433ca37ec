// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/dynamic/rewrite.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "converter/import/onnx/file/constant.h"
#include "converter/quantize/float/names.h"
#include "converter/quantize/overrides/overrides.h"
#include "onnx/onnx_pb.h"

namespace qrt::quantize {
namespace {

namespace file = convert::from_onnx;

constexpr int64_t kLeastOpset = 11;
constexpr char kMicrosoft[] = "com.microsoft";
// A table of fewer rows is no table of embeddings.
constexpr int64_t kLeastRows = 64;

using Dims = std::vector<int64_t>;

Dims dims_of(const onnx::TensorProto& t) { return {t.dims().begin(), t.dims().end()}; }

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Weights as integers: element i has the scale of channel i / inner % channels.
struct Codes {
  std::vector<int8_t> codes;
  std::vector<float> scale;
};

Codes quantise(const std::vector<float>& weights, size_t channels, size_t inner) {
  Codes result;
  std::vector<float> most(channels);
  for (size_t i = 0; i < weights.size(); ++i) {
    float& m = most[i / inner % channels];
    m = std::max(m, std::fabs(weights[i]));
  }
  for (const float m : most) {
    const float scale = m / 127.0f;
    result.scale.push_back(scale < FLT_MIN ? 1.0f : scale);
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const float q = std::nearbyint(weights[i] / result.scale[i / inner % channels]);
    result.codes.push_back(static_cast<int8_t>(std::clamp(q, -127.0f, 127.0f)));
  }
  return result;
}

bool is_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

std::vector<float> transposed(const std::vector<float>& w, size_t rows, size_t columns) {
  std::vector<float> result(w.size());
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) result[c * rows + r] = w[r * columns + c];
  return result;
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& a : node.attribute())
    if (a.name() == name) return &a;
  return nullptr;
}
int64_t integer(const onnx::NodeProto& node, const char* name, int64_t otherwise) {
  const auto* a = find_attribute(node, name);
  return a == nullptr ? otherwise : a->i();
}
float real(const onnx::NodeProto& node, const char* name, float otherwise) {
  const auto* a = find_attribute(node, name);
  return a == nullptr ? otherwise : a->f();
}

class Rewriter {
 public:
  Rewriter(const std::vector<std::string>& exclude, onnx::ModelProto* model, Rewritten* rewritten)
      : exclude_(exclude),
        model_(*model),
        graph_(*model->mutable_graph()),
        rewritten_(*rewritten) {}

  Status run() {
    QRT_TRY(check_opset());
    for (const onnx::TensorProto& t : graph_.initializer()) constants_[t.name()] = &t;
    collect_names(graph_);
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph_.mutable_node());
    for (const onnx::NodeProto& n : nodes)
      if (n.op_type() == "Constant" && n.output_size() == 1)
        if (const auto* value = find_attribute(n, "value")) constants_[n.output(0)] = &value->t();
    for (const onnx::NodeProto& n : nodes) {
      bool is_done = false;
      if (!is_excluded(n)) QRT_TRY(rewrite(n, &is_done));
      if (is_done) {
        rewritten_.nodes.push_back(n.name().empty() ? n.output(0) : n.name());
      } else {
        add()->CopyFrom(n);
      }
    }
    for (auto& tensor : new_tensors_) *graph_.add_initializer() = std::move(tensor);
    drop_unread();
    return {};
  }

 private:
  Status check_opset() {
    for (const auto& set : model_.opset_import())
      if ((set.domain().empty() || set.domain() == "ai.onnx") && set.version() < kLeastOpset)
        return error(Code::kUnsupported,
                     "opset %lld has no DynamicQuantizeLinear: export the model with opset %lld "
                     "or later",
                     static_cast<long long>(set.version()), static_cast<long long>(kLeastOpset));
    return {};
  }
  // NOLINTNEXTLINE(misc-no-recursion): protobuf's own limit bounds the depth.
  void collect_names(const onnx::GraphProto& g) {
    for (const auto* infos : {&g.input(), &g.output(), &g.value_info()})
      for (const onnx::ValueInfoProto& info : *infos) names_.insert(info.name());
    for (const onnx::TensorProto& t : g.initializer()) names_.insert(t.name());
    for (const onnx::NodeProto& n : g.node()) {
      node_names_.insert(n.name());
      for (const std::string& y : n.output()) names_.insert(y);
      for (const onnx::AttributeProto& a : n.attribute()) {
        if (a.has_g()) collect_names(a.g());
        for (const onnx::GraphProto& inner : a.graphs()) collect_names(inner);
      }
    }
  }
  bool is_excluded(const onnx::NodeProto& n) const {
    return std::any_of(exclude_.begin(), exclude_.end(), [&](const std::string& pattern) {
      return matches(pattern, n.name()) || matches(pattern, n.op_type());
    });
  }

  // --- reading

  bool is_constant(const std::string& name) const { return constants_.count(name) != 0; }
  // Reads a float32 constant of `rank` dimensions, or of any; false where it is none.
  Status read_floats(const std::string& name, int rank, std::vector<float>* values, Dims* dims,
                     bool* is_read) {
    *is_read = false;
    const auto found = constants_.find(name);
    if (found == constants_.end() || found->second->data_type() != file::kFloat ||
        (rank >= 0 && found->second->dims_size() != rank))
      return {};
    file::ConstantPtr constant;
    QRT_TRY(file::read_constant(*found->second, &files_, &constant));
    const auto n = static_cast<size_t>(constant->elements());
    values->assign(constant->as<float>(), constant->as<float>() + n);
    *dims = dims_of(*found->second);
    *is_read = n > 0 && is_finite(*values);
    return {};
  }

  // --- writing

  onnx::NodeProto* add() { return graph_.add_node(); }
  std::string fresh(const std::string& wish) { return names_.take(wish, 2); }
  onnx::NodeProto* op(const char* type, const std::string& name,
                      const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
    onnx::NodeProto* n = add();
    n->set_op_type(type);
    n->set_name(node_names_.take(name, 2));
    for (const std::string& x : inputs) n->add_input(x);
    for (const std::string& y : outputs) n->add_output(y);
    return n;
  }
  std::string tensor(const std::string& wish, int type, const Dims& dims, std::string data) {
    onnx::TensorProto t;
    t.set_name(fresh(wish));
    t.set_data_type(type);
    for (const int64_t d : dims) t.add_dims(d);
    t.set_raw_data(std::move(data));
    new_tensors_.push_back(std::move(t));
    return new_tensors_.back().name();
  }

  // The integers of a value at run time, their scale and zero point: made once for all that read it.
  struct Dynamic {
    std::string codes, scale, zero_point;
  };
  const Dynamic& dynamic(const std::string& x) {
    const auto known = dynamic_.find(x);
    if (known != dynamic_.end()) return known->second;
    const Dynamic d = {fresh(x + "_quantized"), fresh(x + "_scale"), fresh(x + "_zero_point")};
    op("DynamicQuantizeLinear", x + "_QuantizeLinear", {x}, {d.codes, d.scale, d.zero_point});
    return dynamic_.emplace(x, d).first->second;
  }
  // The weights' codes, scales and zero points.
  struct Weights {
    std::string codes, scale, zero_point;
  };
  // Adds y = float(sums) * (scale of x * scale of the weights).
  void scale_sums(const std::string& name, const std::string& sums, const std::string& x_scale,
                  const std::string& w_scale, const std::string& y) {
    const std::string cast = fresh(sums + "_cast_output"), scale = fresh(name + "_scales_mul:0");
    auto* node = op("Cast", sums + "_cast", {sums}, {cast});
    auto* to = node->add_attribute();
    to->set_name("to");
    to->set_type(onnx::AttributeProto::INT);
    to->set_i(file::kFloat);
    op("Mul", name + "_scales_mul", {x_scale, w_scale}, {scale});
    op("Mul", name + "_output_scale_mul", {cast, scale}, {y});
  }
  static std::string name_of(const onnx::NodeProto& n) {
    return n.name().empty() ? n.output(0) : n.name();
  }

  // --- operators

  Status rewrite(const onnx::NodeProto& n, bool* is_done) {
    if (!n.domain().empty() && n.domain() != "ai.onnx") return {};
    if (n.output_size() < 1 || n.input_size() < 2 ||
        is_constant(n.input(0)) == (n.op_type() != "Gather"))
      return {};
    if (n.op_type() == "MatMul") return rewrite_matmul(n, is_done);
    if (n.op_type() == "Gemm") return rewrite_gemm(n, is_done);
    if (n.op_type() == "Conv") return rewrite_conv(n, is_done);
    if (n.op_type() == "LSTM") return rewrite_lstm(n, is_done);
    if (n.op_type() == "Gather") return rewrite_gather(n, is_done);
    return {};
  }

  // Columns of a matrix, which nodes share under a key.
  const Weights& matrix(const std::string& key, const std::string& name,
                        const std::vector<float>& w, const Dims& dims) {
    const auto known = matrices_.find(key);
    if (known != matrices_.end()) return known->second;
    const auto columns = static_cast<size_t>(dims[1]);
    const Codes q = quantise(w, columns, 1);
    const Weights result = {
        tensor(name + "_quantized", file::kInt8, dims, raw(q.codes)),
        tensor(name + "_scale", file::kFloat, {dims[1]}, raw(q.scale)),
        tensor(name + "_zero_point", file::kInt8, {dims[1]}, std::string(columns, '\0'))};
    return matrices_.emplace(key, result).first->second;
  }
  void multiply(const onnx::NodeProto& n, const Weights& w, const std::string& y) {
    const Dynamic x = dynamic(n.input(0));
    const std::string name = name_of(n) + "_quant", sums = fresh(y + "_output_quantized");
    op("MatMulInteger", name, {x.codes, w.codes, x.zero_point, w.zero_point}, {sums});
    scale_sums(name, sums, x.scale, w.scale, y);
  }
  Status rewrite_matmul(const onnx::NodeProto& n, bool* is_done) {
    std::vector<float> w;
    Dims dims;
    QRT_TRY(read_floats(n.input(1), 2, &w, &dims, is_done));
    if (*is_done) multiply(n, matrix(n.input(1), n.input(1), w, dims), n.output(0));
    return {};
  }
  // Rewrites a Gemm as MatMul and Add: x * w + b.
  Status rewrite_gemm(const onnx::NodeProto& n, bool* is_done) {
    if (integer(n, "transA", 0) != 0 || real(n, "alpha", 1) != 1.0f || real(n, "beta", 1) != 1.0f)
      return {};
    std::vector<float> w;
    Dims dims;
    QRT_TRY(read_floats(n.input(1), 2, &w, &dims, is_done));
    if (!*is_done) return {};
    std::string key = n.input(1);
    if (integer(n, "transB", 0) != 0) {
      w = transposed(w, static_cast<size_t>(dims[0]), static_cast<size_t>(dims[1]));
      std::swap(dims[0], dims[1]);
      key += " transposed";  // a key for the transposed form: no tensor has this name
    }
    const bool has_bias = n.input_size() > 2 && !n.input(2).empty();
    const std::string product = has_bias ? fresh(n.output(0) + "_MatMul") : n.output(0);
    multiply(n, matrix(key, n.input(1), w, dims), product);
    if (has_bias) op("Add", name_of(n) + "_Add", {product, n.input(2)}, {n.output(0)});
    return {};
  }
  Status rewrite_conv(const onnx::NodeProto& n, bool* is_done) {
    std::vector<float> w, bias;
    Dims dims, bias_dims;
    const bool has_bias = n.input_size() > 2 && !n.input(2).empty();
    if (has_bias) {
      QRT_TRY(read_floats(n.input(2), 1, &bias, &bias_dims, is_done));
      if (!*is_done) return {};
    }
    QRT_TRY(read_floats(n.input(1), -1, &w, &dims, is_done));
    *is_done = *is_done && dims.size() >= 3;
    if (!*is_done) return {};
    const auto channels = static_cast<size_t>(dims[0]);
    const Codes q = quantise(w, channels, w.size() / channels);
    std::vector<uint8_t> codes;
    for (const int8_t c : q.codes) codes.push_back(static_cast<uint8_t>(c + 128));
    // One for each channel, which broadcasts over places.
    Dims per_channel(dims.size() - 1, 1);
    per_channel[0] = dims[0];
    const Dynamic x = dynamic(n.input(0));
    const std::string name = name_of(n) + "_quant", &y = n.output(0);
    const std::string sums = fresh(y + "_output_quantized");
    const std::string codes_name =
        tensor(n.input(1) + "_quantized", file::kUint8, dims, raw(codes));
    const std::string zero =
        tensor(n.input(1) + "_zero_point", file::kUint8, {}, std::string(1, '\x80'));
    const std::string scale =
        tensor(n.input(1) + "_scale", file::kFloat, per_channel, raw(q.scale));
    auto* conv = op("ConvInteger", name, {x.codes, codes_name, x.zero_point, zero}, {sums});
    conv->mutable_attribute()->CopyFrom(n.attribute());
    const std::string scaled = has_bias ? fresh(y + "_bias_add") : y;
    scale_sums(name, sums, x.scale, scale, scaled);
    if (has_bias)
      op("Add", name_of(n) + "_bias",
         {scaled, tensor(n.input(2) + "_reshaped", file::kFloat, per_channel, raw(bias))}, {y});
    return {};
  }

  // Weights of a recurrent layer, [directions, rows, columns], as [directions, columns, rows].
  Weights recurrent(const std::string& name, const std::vector<float>& w, const Dims& dims) {
    const auto directions = static_cast<size_t>(dims[0]), rows = static_cast<size_t>(dims[1]);
    const auto columns = static_cast<size_t>(dims[2]);
    std::vector<int8_t> codes;
    std::vector<float> scale;
    for (size_t d = 0; d < directions; ++d) {
      const auto first = w.begin() + static_cast<std::ptrdiff_t>(d * rows * columns);
      const std::vector<float> own(first, first + static_cast<std::ptrdiff_t>(rows * columns));
      const Codes q = quantise(transposed(own, rows, columns), rows, 1);
      codes.insert(codes.end(), q.codes.begin(), q.codes.end());
      scale.insert(scale.end(), q.scale.begin(), q.scale.end());
    }
    return {tensor(name + "_quantized", file::kInt8, {dims[0], dims[2], dims[1]}, raw(codes)),
            tensor(name + "_scale", file::kFloat, {dims[0], dims[1]}, raw(scale)),
            tensor(name + "_zero_point", file::kInt8, {dims[0], dims[1]},
                   std::string(directions * rows, '\0'))};
  }
  Status rewrite_lstm(const onnx::NodeProto& n, bool* is_done) {
    if (integer(n, "layout", 0) != 0 || n.input_size() < 3) return {};
    std::vector<float> w, r;
    Dims w_dims, r_dims;
    QRT_TRY(read_floats(n.input(1), 3, &w, &w_dims, is_done));
    if (!*is_done) return {};
    QRT_TRY(read_floats(n.input(2), 3, &r, &r_dims, is_done));
    if (!*is_done) return {};
    const Weights input = recurrent(n.input(1), w, w_dims);
    const Weights state = recurrent(n.input(2), r, r_dims);
    std::vector<std::string> inputs = {n.input(0), input.codes, state.codes};
    for (int i = 3; i < 8; ++i) inputs.push_back(i < n.input_size() ? n.input(i) : "");
    inputs.insert(inputs.end(), {input.scale, input.zero_point, state.scale, state.zero_point});
    auto* lstm = op("DynamicQuantizeLSTM", name_of(n) + "_quant", inputs,
                    {n.output().begin(), n.output().end()});
    lstm->set_domain(kMicrosoft);
    for (const onnx::AttributeProto& a : n.attribute())
      if (a.name() != "layout") lstm->add_attribute()->CopyFrom(a);
    const auto& sets = model_.opset_import();
    if (std::none_of(sets.begin(), sets.end(),
                     [](const auto& set) { return set.domain() == kMicrosoft; })) {
      auto* set = model_.add_opset_import();
      set->set_domain(kMicrosoft);
      set->set_version(1);
    }
    return {};
  }

  // Rewrites a Gather of weights: a row is int8 with a scale of its own, float(row) * scale.
  Status rewrite_gather(const onnx::NodeProto& n, bool* is_done) {
    if (integer(n, "axis", 0) != 0 || is_constant(n.input(1))) return {};
    std::vector<float> table;
    Dims dims;
    QRT_TRY(read_floats(n.input(0), 2, &table, &dims, is_done));
    *is_done = *is_done && dims[0] >= kLeastRows;
    if (!*is_done) return {};
    const auto known = tables_.find(n.input(0));
    Weights w;
    if (known != tables_.end()) {
      w = known->second;
    } else {
      const Codes q = quantise(table, static_cast<size_t>(dims[0]), static_cast<size_t>(dims[1]));
      w = {tensor(n.input(0) + "_quantized", file::kInt8, dims, raw(q.codes)),
           tensor(n.input(0) + "_scale", file::kFloat, {dims[0], 1}, raw(q.scale)), ""};
      tables_.emplace(n.input(0), w);
    }
    const std::string name = name_of(n), &y = n.output(0);
    const std::string codes = fresh(y + "_quantized"), reals = fresh(y + "_cast_output");
    const std::string scale = fresh(y + "_scale");
    op("Gather", name + "_quant", {w.codes, n.input(1)}, {codes});
    auto* cast = op("Cast", name + "_cast", {codes}, {reals});
    auto* to = cast->add_attribute();
    to->set_name("to");
    to->set_type(onnx::AttributeProto::INT);
    to->set_i(file::kFloat);
    op("Gather", name + "_scales", {w.scale, n.input(1)}, {scale});
    op("Mul", name + "_scale_mul", {reals, scale}, {y});
    return {};
  }

  // --- what nothing reads any more

  // NOLINTNEXTLINE(misc-no-recursion): protobuf's own limit bounds the depth.
  static void collect_reads(const onnx::GraphProto& g, std::unordered_set<std::string>* reads) {
    for (const onnx::ValueInfoProto& y : g.output()) reads->insert(y.name());
    for (const onnx::NodeProto& n : g.node()) {
      reads->insert(n.input().begin(), n.input().end());
      for (const onnx::AttributeProto& a : n.attribute()) {
        if (a.has_g()) collect_reads(a.g(), reads);
        for (const onnx::GraphProto& inner : a.graphs()) collect_reads(inner, reads);
      }
    }
  }
  void drop_unread() {
    std::unordered_set<std::string> reads;
    collect_reads(graph_, &reads);
    const auto drop = [&](auto* field, const auto& is_needed) {
      int kept = 0;
      for (int i = 0; i < field->size(); ++i)
        if (is_needed(field->Get(i))) field->SwapElements(kept++, i);
      field->DeleteSubrange(kept, field->size() - kept);
    };
    std::unordered_set<std::string> constants;
    drop(graph_.mutable_initializer(), [&](const onnx::TensorProto& t) {
      const bool is_read = reads.count(t.name()) != 0;
      if (!is_read) constants.insert(t.name());
      return is_read;
    });
    // Files of old versions list their initialisers as inputs, too.
    drop(graph_.mutable_input(),
         [&](const onnx::ValueInfoProto& x) { return constants.count(x.name()) == 0; });
    drop(graph_.mutable_node(), [&](const onnx::NodeProto& n) {
      return n.op_type() != "Constant" || n.output_size() != 1 || reads.count(n.output(0)) != 0;
    });
  }

  const std::vector<std::string>& exclude_;
  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  Rewritten& rewritten_;
  file::ExternalFiles files_{""};
  std::unordered_map<std::string, const onnx::TensorProto*> constants_;
  Names names_, node_names_;
  std::vector<onnx::TensorProto> new_tensors_;
  std::map<std::string, Dynamic> dynamic_;
  std::map<std::string, Weights> matrices_, tables_;
};

}  // namespace

Status rewrite_dynamic(const std::vector<std::string>& exclude, onnx::ModelProto* model,
                       Rewritten* rewritten) {
  return Rewriter(exclude, model, rewritten).run();
}

}  // namespace qrt::quantize

// SPDX-License-Identifier: Apache-2.0
// Rows of the converter's support table, written by the tests themselves: every model that
// OnnxBuilder, TfliteBuilder, EspdlBuilder or run_cvm() converts and runs tells, for each of its
// operators, the element types, options and result. Tests need do nothing for it. Recorded only
// where QRT_SUPPORT_ROWS names a file; tests/converter/support_table.sh collects them.
#ifndef QRT_TESTS_SUPPORT_SUPPORT_ROWS_H_
#define QRT_TESTS_SUPPORT_SUPPORT_ROWS_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/report.h"
#include "espdl_generated.h"
#include "onnx/onnx_pb.h"
#include "tflite_generated.h"

namespace qrt::testing {

// Records one line: source format, operator, element types, options, result; tabs between them.
inline void record_support_row(const std::string& format, const std::string& op,
                               const std::string& types, const std::set<std::string>& options,
                               const std::string& result) {
  const char* path = getenv("QRT_SUPPORT_ROWS");
  if (!path) return;
  std::string line = format + "\t" + op + "\t" + types + "\t";
  for (const std::string& o : options) line += (line.back() == '\t' ? "" : ", ") + o;
  line += "\t" + result + "\n";
  if (FILE* file = fopen(path, "a")) {
    fwrite(line.data(), 1, line.size(), file);
    fclose(file);
  }
}

inline std::string join(const std::vector<std::string>& parts) {
  std::string s;
  for (const std::string& p : parts) s += (s.empty() ? "" : ", ") + p;
  return s;
}

// Returns "Conv2D [I1]" for a converted node, and "" for other nodes and for those that left no operator.
inline std::string support_result(const convert::Finding& f) {
  if (f.outcome != convert::Outcome::kConverted) return "";
  return f.result + (f.level.empty() ? "" : " [" + f.level + "]");
}

// The element types of an ONNX model's tensors as a table of support wants them: what a tensor is
// quantised to, where it is, and its float type elsewhere.
class OnnxTypes {
 public:
  explicit OnnxTypes(const onnx::GraphProto& graph) {
    for (const auto& t : graph.initializer()) constants_[t.name()] = &t;
    for (const auto& v : graph.input()) inputs_[v.name()] = v.type().tensor_type().elem_type();
    for (const auto& n : graph.node()) {
      for (const auto& o : n.output()) producers_[o] = &n;
      for (const auto& i : n.input()) readers_[i] = &n;
    }
  }

  // Returns the type of an operator's input or output; "" where nothing tells.
  std::string of(const std::string& tensor) const {
    if (const auto c = constants_.find(tensor); c != constants_.end())
      return name(c->second->data_type()) + " constant";
    if (const auto i = inputs_.find(tensor); i != inputs_.end()) return name(i->second);
    const auto p = producers_.find(tensor);
    if (p != producers_.end() && is(*p->second, "DequantizeLinear"))
      return integers(*p->second, p->second->input(0));
    if (p != producers_.end() && is(*p->second, "QuantizeLinear")) return integers(*p->second, "");
    const auto r = readers_.find(tensor);
    if (r != readers_.end() && is(*r->second, "QuantizeLinear")) return integers(*r->second, "");
    return "";
  }

 private:
  static bool is(const onnx::NodeProto& n, const char* op) {
    return n.op_type().find(op) != std::string::npos && n.op_type().find("Dynamic") != 0;
  }
  static std::string name(int type) {
    static const char* const kNames[] = {"?",
                                         "float32",
                                         "uint8",
                                         "int8",
                                         "uint16",
                                         "int16",
                                         "int32",
                                         "int64",
                                         "string",
                                         "bool",
                                         "float16",
                                         "float64",
                                         "uint32",
                                         "uint64",
                                         "?",
                                         "?",
                                         "bfloat16",
                                         "float8e4m3fn",
                                         "float8e4m3fnuz",
                                         "float8e5m2",
                                         "float8e5m2fnuz",
                                         "uint4",
                                         "int4",
                                         "float4e2m1",
                                         "float8e8m0",
                                         "uint2",
                                         "int2"};
    const size_t i = static_cast<size_t>(type);
    return i < sizeof kNames / sizeof *kNames ? kNames[i] : "type " + std::to_string(type);
  }
  // Returns the integers of a QuantizeLinear or DequantizeLinear.
  std::string integers(const onnx::NodeProto& n, const std::string& x) const {
    int type = 0;
    std::string suffix;
    const auto constant = constants_.find(x);
    if (constant != constants_.end()) suffix = " constant";
    if (n.input_size() > 2 && constants_.count(n.input(2)))
      type = constants_.at(n.input(2))->data_type();
    else if (constant != constants_.end())
      type = constant->second->data_type();
    else if (inputs_.count(x))
      type = inputs_.at(x);
    for (const auto& a : n.attribute())
      if (a.name() == "output_dtype" && !x.size()) type = static_cast<int>(a.i());
    if (type == 0) type = 2;
    if (n.input_size() > 1 && constants_.count(n.input(1))) {
      const onnx::TensorProto& scale = *constants_.at(n.input(1));
      int64_t elements = 1;
      for (int64_t d : scale.dims()) elements *= d;
      suffix += scale.dims_size() > 1 && elements > 1 ? " blocked"
                : elements > 1                        ? " per axis"
                                                      : "";
    }
    return name(type) + suffix;
  }

  std::unordered_map<std::string, const onnx::TensorProto*> constants_;
  std::unordered_map<std::string, int> inputs_;
  std::unordered_map<std::string, const onnx::NodeProto*> producers_, readers_;
};

// Records every operator of a model that was converted and run.
inline void record_support(const onnx::ModelProto& model, const convert::Report& report,
                           const char* format = "ONNX") {
  if (!getenv("QRT_SUPPORT_ROWS")) return;
  const OnnxTypes types(model.graph());
  std::unordered_map<std::string, const convert::Finding*> findings;
  for (const convert::Finding& f : report.findings()) findings.emplace(f.node, &f);
  for (const onnx::NodeProto& n : model.graph().node()) {
    const auto f = findings.find(n.name());
    if (f == findings.end()) continue;
    std::string result = support_result(*f->second);
    std::vector<std::string> in;
    std::string out = types.of(n.output(0));
    if (n.op_type().find("QuantizeLinear") != std::string::npos ||
        n.op_type().find("DequantizeLinear") != std::string::npos) {
      // Scale and zero point say nothing new; between the edges they belong to other operators.
      if (result.rfind("fused", 0) == 0 || result.rfind("folded", 0) == 0) continue;
      const bool dequantizes = n.op_type().find("Dequantize") != std::string::npos;
      in.push_back(dequantizes ? out : types.of(n.input(0)));
      if (dequantizes) out = "float";
    } else {
      // QLinear operators name a scale and a zero point behind each tensor.
      const bool qlinear = n.op_type()[0] == 'Q';
      for (int i = 0; i < n.input_size(); ++i) {
        const std::string type = types.of(n.input(i));
        if (qlinear && type == "float32 constant")
          ++i;
        else if (!type.empty())
          in.push_back(type);
      }
    }
    std::string signature = join(in);
    if (!out.empty()) signature += (signature.empty() ? "-> " : " -> ") + out;
    std::set<std::string> options;
    for (const onnx::AttributeProto& a : n.attribute()) {
      options.insert(a.has_s() && !a.s().empty() ? a.name() + "=" + a.s() : a.name());
      if (a.name() == "kernel_shape" && a.ints_size() == 3) options.insert("three dimensions");
    }
    // The range of the S3's accumulators is a fact of each layer, not of the operator.
    const size_t note =
        result.find("S3-exact") == std::string::npos ? std::string::npos : result.find(", ");
    if (note != std::string::npos) result.erase(note, result.find(" [") - note);
    record_support_row(format, n.domain().empty() ? n.op_type() : n.domain() + "." + n.op_type(),
                       signature, options, result);
  }
}

inline std::string tflite_type(const tflite::ModelT& model, const tflite::TensorT& t) {
  std::string name;
  for (const char* c = tflite::EnumNameTensorType(t.type); *c; ++c)
    name += static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
  if (t.buffer < model.buffers.size() && !model.buffers[t.buffer]->data.empty())
    name += " constant";
  if (t.quantization && t.quantization->scale.size() > 1) name += " per axis";
  return name;
}

template <class Options>
void tflite_activation(const Options* o, std::set<std::string>* options) {
  if (o && o->fused_activation_function != tflite::ActivationFunctionType::NONE)
    options->insert(tflite::EnumNameActivationFunctionType(o->fused_activation_function));
}
template <class Options>
void tflite_window(const Options* o, std::set<std::string>* options) {
  if (!o) return;
  options->insert(tflite::EnumNamePadding(o->padding));
  if (o->stride_h != 1 || o->stride_w != 1) options->insert("stride");
}

inline void record_support(const tflite::ModelT& model, const convert::Report& report) {
  if (!getenv("QRT_SUPPORT_ROWS")) return;
  const tflite::SubGraphT& graph = *model.subgraphs[0];
  std::unordered_map<std::string, const convert::Finding*> findings;
  for (const convert::Finding& f : report.findings()) findings.emplace(f.node, &f);
  for (const auto& op : graph.operators) {
    if (op->outputs.empty()) continue;
    const tflite::TensorT& y = *graph.tensors[static_cast<size_t>(op->outputs[0])];
    const auto f = findings.find(y.name);
    if (f == findings.end()) continue;
    std::vector<std::string> in;
    for (int i : op->inputs)
      if (i >= 0) in.push_back(tflite_type(model, *graph.tensors[static_cast<size_t>(i)]));
    std::set<std::string> options;
    const auto& o = op->builtin_options;
    tflite_activation(o.AsConv2DOptions(), &options);
    tflite_activation(o.AsDepthwiseConv2DOptions(), &options);
    tflite_activation(o.AsFullyConnectedOptions(), &options);
    tflite_activation(o.AsPool2DOptions(), &options);
    tflite_activation(o.AsAddOptions(), &options);
    tflite_activation(o.AsSubOptions(), &options);
    tflite_activation(o.AsMulOptions(), &options);
    tflite_activation(o.AsConcatenationOptions(), &options);
    tflite_window(o.AsConv2DOptions(), &options);
    tflite_window(o.AsDepthwiseConv2DOptions(), &options);
    tflite_window(o.AsPool2DOptions(), &options);
    const tflite::OperatorCodeT& code = *model.operator_codes[op->opcode_index];
    record_support_row(
        "TFLite",
        tflite::EnumNameBuiltinOperator(std::max(
            code.builtin_code, static_cast<tflite::BuiltinOperator>(code.deprecated_builtin_code))),
        join(in) + " -> " + tflite_type(model, y), options, support_result(*f->second));
  }
}

inline void record_support(const espdl::ModelT& model, const convert::Report& report) {
  if (!getenv("QRT_SUPPORT_ROWS")) return;
  std::unordered_map<std::string, std::string> types;
  const auto name_of = [](espdl::TensorDataType type) {
    std::string name;
    for (const char* c = espdl::EnumNameTensorDataType(type); *c; ++c)
      name += static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return name == "float" ? "float32" : name;
  };
  for (const auto* infos : {&model.graph->value_info, &model.graph->output, &model.graph->input})
    for (const auto& v : *infos)
      types[v->name] = name_of(v->value_info_type->value.Astensor_type()->elem_type);
  for (const auto& t : model.graph->initializer)
    types[t->name] =
        name_of(t->data_type) + " constant" + (t->exponents.size() > 1 ? " per channel" : "");
  std::unordered_map<std::string, const convert::Finding*> findings;
  for (const convert::Finding& f : report.findings()) findings.emplace(f.node, &f);
  for (const auto& node : model.graph->node) {
    const auto f = findings.find(node->name);
    if (f == findings.end()) continue;
    std::vector<std::string> in;
    for (const std::string& i : node->input)
      if (!i.empty()) in.push_back(types[i]);
    std::set<std::string> options;
    for (const auto& a : node->attribute) {
      const bool is_text = a->attr_type == espdl::AttributeType::STRING && a->name != "lut";
      options.insert(is_text ? a->name + "=" + std::string(a->s.begin(), a->s.end()) : a->name);
    }
    // The range of the S3's accumulators is a fact of each layer, not of the operator.
    std::string result = support_result(*f->second);
    if (const size_t comma = result.find(", "), bracket = result.find(" [");
        result.find("S3-exact") != std::string::npos)
      result = result.substr(0, comma) + result.substr(bracket);
    record_support_row("ESP-DL", node->op_type, join(in) + " -> " + types[node->output[0]], options,
                       result);
  }
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_SUPPORT_ROWS_H_

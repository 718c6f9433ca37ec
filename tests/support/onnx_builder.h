// SPDX-License-Identifier: Apache-2.0
// Builds small ONNX models with the protobuf classes, writes them to a temporary file and imports,
// converts and runs them.
#ifndef QRT_TESTS_SUPPORT_ONNX_BUILDER_H_
#define QRT_TESTS_SUPPORT_ONNX_BUILDER_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "onnx/onnx_pb.h"
#include "tests/support/graph_builder.h"
#include "tests/support/imported.h"
#include "tests/support/support_rows.h"

namespace qrt::testing {

template <class T>
constexpr int onnx_type() {
  if (std::is_same_v<T, float>) return 1;
  if (std::is_same_v<T, uint8_t>) return 2;
  if (std::is_same_v<T, int8_t>) return 3;
  if (std::is_same_v<T, uint16_t>) return 4;
  if (std::is_same_v<T, int16_t>) return 5;
  if (std::is_same_v<T, int32_t>) return 6;
  return 7;
}

using Dims = std::vector<int64_t>;
using Names = std::vector<std::string>;

// An attribute of a node: an integer, a float, integers or a text.
struct Attr {
  Attr(const char* name, int value) : Attr(name, static_cast<int64_t>(value)) {}
  Attr(const char* name, int64_t value) {
    proto.set_name(name);
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  Attr(const char* name, float value) {
    proto.set_name(name);
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  Attr(const char* name, const Dims& values) {
    proto.set_name(name);
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t v : values) proto.add_ints(v);
  }
  Attr(const char* name, const char* text) {
    proto.set_name(name);
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(text);
  }
  onnx::AttributeProto proto;
};

class OnnxBuilder {
 public:
  explicit OnnxBuilder(int64_t opset = 13) {
    model.set_ir_version(8);
    model.set_producer_name("test");
    model.add_opset_import()->set_version(opset);
    auto* microsoft = model.add_opset_import();
    microsoft->set_domain("com.microsoft");
    microsoft->set_version(1);
    model.mutable_graph()->set_name("g");
  }

  onnx::GraphProto& graph() { return *model.mutable_graph(); }

  template <class T = float>
  std::string input(const Dims& dims, const std::string& name = "") {
    const std::string n = name.empty() ? fresh("x") : name;
    declare(graph().add_input(), n, onnx_type<T>(), dims);
    return n;
  }
  // Names dimension `axis` of an input, which makes it open.
  void name_dim(int input, int axis, const std::string& name) {
    auto* type = graph().mutable_input(input)->mutable_type()->mutable_tensor_type();
    type->mutable_shape()->mutable_dim(axis)->set_dim_param(name);
  }
  template <class T>
  std::string constant(const Dims& dims, const std::vector<T>& values) {
    onnx::TensorProto* t = graph().add_initializer();
    t->set_name(fresh("c"));
    t->set_data_type(onnx_type<T>());
    for (int64_t d : dims) t->add_dims(d);
    t->set_raw_data(values.data(), values.size() * sizeof(T));
    return t->name();
  }
  template <class T>
  std::string scalar(T value) {
    return constant<T>({}, {value});
  }
  // Output 0 of a new node.
  std::string node(const std::string& op, const Names& inputs,
                   const std::vector<Attr>& attributes = {}, const std::string& domain = "") {
    onnx::NodeProto* n = graph().add_node();
    n->set_op_type(op);
    n->set_domain(domain);
    n->set_name(op + std::to_string(graph().node_size()));
    for (const std::string& i : inputs) n->add_input(i);
    for (const Attr& a : attributes) *n->add_attribute() = a.proto;
    n->add_output(fresh("t"));
    return n->output(0);
  }
  template <class T>
  std::string q(const std::string& x, float scale, T zero_point) {
    return node("QuantizeLinear", {x, scalar(scale), scalar(zero_point)});
  }
  template <class T>
  std::string dq(const std::string& x, float scale, T zero_point) {
    return node("DequantizeLinear", {x, scalar(scale), scalar(zero_point)});
  }
  template <class T>
  std::string qdq(const std::string& x, float scale, T zero_point) {
    return dq(q(x, scale, zero_point), scale, zero_point);
  }
  // Add a model input of integers behind a DequantizeLinear, and an integer model output.
  template <class T>
  std::string integer_input(const Dims& dims, float scale, T zero_point) {
    return dq(input<T>(dims), scale, zero_point);
  }
  template <class T>
  void integer_output(const std::string& x, float scale, T zero_point) {
    output(q(x, scale, zero_point));
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }

  static void declare(onnx::ValueInfoProto* info, const std::string& name, int type,
                      const Dims& dims) {
    info->set_name(name);
    auto* t = info->mutable_type()->mutable_tensor_type();
    t->set_elem_type(type);
    t->mutable_shape();
    for (int64_t d : dims) {
      auto* dim = t->mutable_shape()->add_dim();
      if (d >= 0) {
        dim->set_dim_value(d);
      } else {
        dim->set_dim_param("N");
      }
    }
  }

  std::string bytes() const { return model.SerializeAsString(); }
  Imported import() const { return import_bytes(bytes(), allow_float); }

  static Imported import_bytes(const std::string& bytes, bool allow_float = false) {
    return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
      return convert::import_onnx(path, &to->graph, &to->report, allow_float);
    });
  }

  // Imports, converts and runs the model. REQUIRES: it succeeds.
  std::vector<Bytes> run(const std::vector<Bytes>& inputs) const {
    return run_imported(model, import(), inputs);
  }
  template <class T>
  std::vector<T> run_to(const std::vector<Bytes>& inputs) const {
    const std::vector<Bytes> outputs = run(inputs);
    return outputs.empty() ? std::vector<T>() : from_bytes<T>(outputs[0]);
  }

  onnx::ModelProto model;
  bool allow_float = false;  // as --allow-float

 private:
  std::string fresh(const std::string& stem) { return stem + std::to_string(++names_); }
  int names_ = 0;
};

// Computes ONNX Runtime's requantisation of an accumulator by its definition: zp +
// half-even(float(acc) * scale), saturated.
template <class T>
T requantize_reference(int32_t acc, float scale, int zero_point) {
  const float v = static_cast<float>(acc) * scale;
  const float lo = static_cast<float>(std::numeric_limits<T>::min() - zero_point);
  const float hi = static_cast<float>(std::numeric_limits<T>::max() - zero_point);
  const float clamped = v < lo ? lo : v > hi ? hi : v;
  return static_cast<T>(static_cast<int>(std::nearbyint(clamped)) + zero_point);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_ONNX_BUILDER_H_

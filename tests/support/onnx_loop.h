// SPDX-License-Identifier: Apache-2.0
// ONNX models with a Loop or a Scan, and the same models with the steps written one behind the other by hand.
#ifndef QRT_TESTS_SUPPORT_ONNX_LOOP_H_
#define QRT_TESTS_SUPPORT_ONNX_LOOP_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_loop {

constexpr int kFloatType = 1, kInt64Type = 7, kBoolType = 9;

// A graph that nodes are added to: a body, or the model's own.
struct Scope {
  onnx::GraphProto* graph;
  std::string prefix;
  int64_t opset;
  int made = 0;

  std::string add(const std::string& op, const Names& inputs,
                  const std::vector<Attr>& attributes = {}) {
    onnx::NodeProto* n = graph->add_node();
    n->set_op_type(op);
    for (const std::string& i : inputs) n->add_input(i);
    for (const Attr& a : attributes) *n->add_attribute() = a.proto;
    n->add_output(prefix + std::to_string(++made));
    return n->output(0);
  }
  template <class T>
  std::string constant(const Dims& dims, const std::vector<T>& values) {
    onnx::TensorProto* t = graph->add_initializer();
    t->set_name(prefix + "c" + std::to_string(++made));
    t->set_data_type(onnx_type<T>());
    for (const int64_t d : dims) t->add_dims(d);
    t->set_raw_data(values.data(), values.size() * sizeof(T));
    return t->name();
  }
  // Adds a Constant node and returns its output.
  std::string number(float value) {
    const std::string name = add("Constant", {});
    onnx::AttributeProto* a = graph->mutable_node(graph->node_size() - 1)->add_attribute();
    a->set_name("value");
    a->set_type(onnx::AttributeProto::TENSOR);
    a->mutable_t()->set_data_type(kFloatType);
    a->mutable_t()->add_float_data(value);
    return name;
  }
  std::string raised(const std::string& x, int64_t axis) {
    if (opset < 13) return add("Unsqueeze", {x}, {{"axes", Dims{axis}}});
    return add("Unsqueeze", {x, constant<int64_t>({1}, {axis})});
  }
};

// A function that adds one iteration's nodes to a scope. `in` has the iteration number (for a
// Loop), the states and the slices; returns the new states and the values to be stacked.
using Iteration = std::function<Names(Scope* scope, const Names& in)>;

struct Scanned {
  Dims dims;
  int64_t axis = 0;
  bool is_reversed = false;
};
struct Stacked {
  int64_t axis = 0;
  bool is_reversed = false;
};

struct Case {
  Iteration step;
  std::vector<Dims> states;
  std::vector<Scanned> scanned;  // inputs of a Scan; empty for a Loop
  std::vector<Stacked> stacked;
  int64_t steps = 0;
  int64_t opset = 17;
  bool passes_condition = true;  // for a Loop; false: the body returns a constant instead
  bool has_condition = true;     // for a Loop

  bool is_scan() const { return !scanned.empty(); }
};

inline Dims without(Dims dims, int64_t axis) {
  dims.erase(dims.begin() + (axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis));
  return dims;
}

inline void add_constant_truth(onnx::GraphProto* graph, const std::string& name) {
  onnx::TensorProto* t = graph->add_initializer();
  t->set_name(name);
  t->set_data_type(kBoolType);
  t->add_int32_data(1);
}

inline onnx::GraphProto* add_body(onnx::NodeProto* node) {
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name("body");
  a->set_type(onnx::AttributeProto::GRAPH);
  a->mutable_g()->set_name("body");
  return a->mutable_g();
}

// Fills a body, whose tensors have names that begin with `prefix`.
inline void fill_body(const Case& c, onnx::GraphProto* body, const std::string& prefix = "") {
  Scope scope{body, prefix + "b", c.opset};
  Names in;
  if (!c.is_scan()) {
    OnnxBuilder::declare(body->add_input(), prefix + "step", kInt64Type, {});
    OnnxBuilder::declare(body->add_input(), prefix + "goes_on", kBoolType, {});
    in.push_back(prefix + "step");
  }
  for (size_t i = 0; i < c.states.size(); ++i) {
    in.push_back(prefix + "state" + std::to_string(i));
    OnnxBuilder::declare(body->add_input(), in.back(), kFloatType, c.states[i]);
  }
  for (size_t i = 0; i < c.scanned.size(); ++i) {
    in.push_back(prefix + "slice" + std::to_string(i));
    OnnxBuilder::declare(body->add_input(), in.back(), kFloatType,
                         without(c.scanned[i].dims, c.scanned[i].axis));
  }
  const Names out = c.step(&scope, in);
  if (!c.is_scan()) {
    std::string goes_on = prefix + "goes_on";
    if (!c.passes_condition) {
      goes_on = prefix + "truth";
      add_constant_truth(body, goes_on);
    }
    body->add_output()->set_name(scope.add("Identity", {goes_on}));
  }
  for (const std::string& name : out) body->add_output()->set_name(name);
}

inline OnnxBuilder with_inputs(const Case& c, Names* states, Names* scanned) {
  OnnxBuilder b(c.opset);
  b.allow_float = true;
  for (const Dims& dims : c.states) states->push_back(b.input(dims));
  for (const Scanned& s : c.scanned) scanned->push_back(b.input(s.dims));
  return b;
}

inline void add_outputs(const Case& c, OnnxBuilder* b) {
  for (size_t i = 0; i < c.states.size() + c.stacked.size(); ++i)
    b->output("y" + std::to_string(i));
}

inline OnnxBuilder looped(const Case& c) {
  Names states, scanned;
  OnnxBuilder b = with_inputs(c, &states, &scanned);
  onnx::NodeProto* n = b.graph().add_node();
  n->set_op_type(c.is_scan() ? "Scan" : "Loop");
  n->set_name("loop");
  if (!c.is_scan()) {
    n->add_input(b.scalar<int64_t>(c.steps));
    n->add_input(c.has_condition ? "begins" : "");
    add_constant_truth(&b.graph(), "begins");
  }
  for (const auto* names : {&states, &scanned})
    for (const std::string& name : *names) n->add_input(name);
  for (size_t i = 0; i < c.states.size() + c.stacked.size(); ++i)
    n->add_output("y" + std::to_string(i));
  if (c.is_scan()) {
    Dims input_axes, input_directions, output_axes, output_directions;
    for (const Scanned& s : c.scanned) {
      input_axes.push_back(s.axis);
      input_directions.push_back(s.is_reversed);
    }
    for (const Stacked& s : c.stacked) {
      output_axes.push_back(s.axis);
      output_directions.push_back(s.is_reversed);
    }
    *n->add_attribute() = Attr("num_scan_inputs", static_cast<int64_t>(c.scanned.size())).proto;
    *n->add_attribute() = Attr("scan_input_axes", input_axes).proto;
    *n->add_attribute() = Attr("scan_input_directions", input_directions).proto;
    if (!c.stacked.empty()) {
      *n->add_attribute() = Attr("scan_output_axes", output_axes).proto;
      *n->add_attribute() = Attr("scan_output_directions", output_directions).proto;
    }
  }
  fill_body(c, add_body(n));
  add_outputs(c, &b);
  return b;
}

inline OnnxBuilder unrolled(const Case& c) {
  Names states, scanned;
  OnnxBuilder b = with_inputs(c, &states, &scanned);
  std::vector<Names> parts(c.stacked.size());
  for (int64_t step = 0; step < c.steps; ++step) {
    Scope scope{&b.graph(), "step" + std::to_string(step) + "_", c.opset};
    Names in;
    if (!c.is_scan()) in.push_back(b.scalar<int64_t>(step));
    in.insert(in.end(), states.begin(), states.end());
    for (size_t i = 0; i < scanned.size(); ++i) {
      const int64_t at = c.scanned[i].is_reversed ? c.steps - 1 - step : step;
      in.push_back(
          scope.add("Gather", {scanned[i], b.scalar<int64_t>(at)}, {{"axis", c.scanned[i].axis}}));
    }
    const Names out = c.step(&scope, in);
    states.assign(out.begin(), out.begin() + static_cast<ptrdiff_t>(states.size()));
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string part = scope.raised(out[states.size() + i], c.stacked[i].axis);
      parts[i].insert(c.stacked[i].is_reversed ? parts[i].begin() : parts[i].end(), part);
    }
  }
  const auto name = [&](const std::string& op, const Names& inputs, std::vector<Attr> attributes,
                        size_t i) {
    b.node(op, inputs, attributes);
    b.graph().mutable_node(b.graph().node_size() - 1)->set_output(0, "y" + std::to_string(i));
  };
  for (size_t i = 0; i < states.size(); ++i) name("Identity", {states[i]}, {}, i);
  for (size_t i = 0; i < parts.size(); ++i)
    name("Concat", parts[i], {{"axis", c.stacked[i].axis}}, states.size() + i);
  add_outputs(c, &b);
  return b;
}

inline std::vector<Bytes> numbers_for(const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Bytes> inputs;
  const auto add = [&](const Dims& dims) {
    size_t count = 1;
    for (const int64_t d : dims) count *= static_cast<size_t>(d);
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 512;
    inputs.push_back(to_bytes(values));
  };
  for (const Dims& dims : c.states) add(dims);
  for (const Scanned& s : c.scanned) add(s.dims);
  return inputs;
}

// Adds a running sum, whose intermediate results are stacked.
inline Names running_sum(Scope* scope, const Names& in) {
  const std::string sum = scope->add("Add", {in[0], in[1]});
  return {sum, scope->add("Identity", {sum})};
}

// Adds a GRU cell with 3 inputs and 4 units; states and slices have one row.
inline Names cell(Scope* scope, const Names& in) {
  const auto weights = [&](int64_t rows, int step) {
    std::vector<float> values(static_cast<size_t>(rows * 4));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(static_cast<int>(i * static_cast<size_t>(step) % 17) - 8) / 16;
    return scope->constant<float>({rows, 4}, values);
  };
  const auto gate = [&](const char* function, const std::string& h, int step) {
    const std::string x = scope->add("MatMul", {in[1], weights(3, step)});
    return scope->add(function,
                      {scope->add("Add", {x, scope->add("MatMul", {h, weights(4, step + 2)})})});
  };
  const std::string reset = gate("Sigmoid", in[0], 5), update = gate("Sigmoid", in[0], 7);
  const std::string next = gate("Tanh", scope->add("Mul", {reset, in[0]}), 3);
  const std::string kept = scope->add("Mul", {update, in[0]});
  const std::string part = scope->add("Sub", {scope->number(1), update});
  const std::string h = scope->add("Add", {kept, scope->add("Mul", {part, next})});
  return {h, scope->add("Identity", {h})};
}

inline Case sum_of_rows(int64_t steps) {
  Case c;
  c.step = running_sum;
  c.states = {{1, 3}};
  c.scanned = {{{steps, 1, 3}, 0, false}};
  c.stacked = {{}};
  c.steps = steps;
  return c;
}

inline void open_dimension(OnnxBuilder* b, int input, int axis, const char* name) {
  auto* dims =
      b->graph().mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape();
  dims->mutable_dim(axis)->set_dim_param(name);
}

}  // namespace qrt::testing::onnx_loop

#endif  // QRT_TESTS_SUPPORT_ONNX_LOOP_H_

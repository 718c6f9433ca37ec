// SPDX-License-Identifier: Apache-2.0
// Converter graphs for tests, as a front end would leave them (converter/ir.h): random weights,
// tables and scales; zero points differ from value to value only where an operator can bridge them.
#ifndef QRT_TESTS_SUPPORT_GRAPH_BUILDER_H_
#define QRT_TESTS_SUPPORT_GRAPH_BUILDER_H_

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "converter/convert.h"
#include "converter/ir.h"
#include "converter/passes/passes.h"
#include "converter/permutation.h"
#include "tests/support/model_builder.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::testing {

using convert::Graph;
using convert::Node;
using convert::Perm;
using convert::ValueId;

inline const Perm kToNhwc = {0, 2, 3, 1}, kToNchw = {0, 3, 1, 2};

class GraphBuilder {
 public:
  Graph graph;
  Random random;
  int weight_lo = -128, weight_hi = 127;

  GraphBuilder() {
    graph.name = "test";
    graph.source_format = "onnx";
    graph.source_producer = "tests";
    graph.reference = "ort-x64-fma";
  }

  ValueId value(const Shape& shape, DType dtype = DType::kUInt8) {
    convert::Value v;
    v.name = "v" + std::to_string(graph.values.size());
    v.type = {dtype, shape};
    if (dtype == DType::kUInt8) v.quantization = {{0.5f}, {kZeroPoint}, -1};
    return graph.add_value(std::move(v));
  }
  ValueId input(const Shape& shape, DType dtype = DType::kUInt8) {
    graph.inputs.push_back(value(shape, dtype));
    return graph.inputs.back();
  }
  void output(ValueId id) { graph.outputs.push_back(id); }
  const Shape& shape(ValueId id) const { return graph.values[id].type.shape; }

  template <class Options>
  ValueId op(Options options, std::vector<ValueId> inputs, const Shape& out,
             DType dtype = DType::kUInt8) {
    const ValueId id = value(out, dtype);
    Node node = convert::make_node<Options>("n" + std::to_string(graph.nodes.size()), "Test",
                                            std::move(inputs), {id});
    node.options.Set(std::move(options));
    graph.nodes.push_back(std::move(node));
    return id;
  }

  ValueId quantize(ValueId x) {
    fb::QuantizeOptionsT o;
    o.scale = {float_bits(0.5f)};
    o.zero_point = {kZeroPoint};
    return op(std::move(o), {x}, shape(x));
  }
  ValueId dequantize(ValueId x) {
    fb::DequantizeOptionsT o;
    o.scale = {float_bits(0.5f)};
    o.zero_point = {kZeroPoint};
    return op(std::move(o), {x}, shape(x), DType::kFloat32);
  }
  ValueId transpose(ValueId x, const Perm& perm) {
    fb::TransposeOptionsT o;
    o.perm = perm;
    return op(std::move(o), {x}, convert::permuted(shape(x), perm), graph.values[x].type.dtype);
  }
  ValueId reshape(ValueId x, const Shape& to) {
    fb::ReshapeOptionsT o;
    o.shape.assign(to.begin(), to.end());
    return op(std::move(o), {x}, to, graph.values[x].type.dtype);
  }

  // NHWC.
  ValueId conv(ValueId x, int64_t out, int64_t kernel, int64_t groups = 1) {
    const Shape s = shape(x);
    fb::Conv2DOptionsT o;
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(kernel / 2);
    o.groups = static_cast<uint32_t>(groups);
    o.input_zero_point = kZeroPoint;
    o.requant = requant_f32({0.001f}, kZeroPoint);
    const ValueId w = weights({out, kernel, kernel, s[3] / groups}), b = bias(out);
    return op(std::move(o), {x, w, b}, {s[0], s[1], s[2], out});
  }
  ValueId depthwise(ValueId x, int64_t kernel, int64_t multiplier = 1) {
    const Shape s = shape(x);
    fb::DepthwiseConv2DOptionsT o;
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(kernel / 2);
    o.multiplier = static_cast<uint32_t>(multiplier);
    o.input_zero_point = kZeroPoint;
    o.requant = requant_f32({0.01f}, kZeroPoint);
    const ValueId w = weights({kernel, kernel, s[3] * multiplier}), b = bias(s[3] * multiplier);
    return op(std::move(o), {x, w, b}, {s[0], s[1], s[2], s[3] * multiplier});
  }
  ValueId global_average_pool(ValueId x) {
    const Shape s = shape(x);
    fb::GlobalAveragePool2DOptionsT o;
    o.input_zero_point = kZeroPoint;
    o.requant = requant_f32({1.0f / static_cast<float>(s[1] * s[2])}, kZeroPoint);
    return op(std::move(o), {x}, {s[0], 1, 1, s[3]});
  }
  // NCHW, with the front end's transposes.
  ValueId nchw_conv(ValueId x, int64_t out, int64_t kernel) {
    return transpose(conv(transpose(x, kToNhwc), out, kernel), kToNchw);
  }
  ValueId nchw_depthwise(ValueId x, int64_t kernel) {
    return transpose(depthwise(transpose(x, kToNhwc), kernel), kToNchw);
  }
  ValueId nchw_global_average_pool(ValueId x) {
    return transpose(global_average_pool(transpose(x, kToNhwc)), kToNchw);
  }
  ValueId nchw_channel_lut(ValueId x) {
    return transpose(lut(transpose(x, kToNhwc), true), kToNchw);
  }

  ValueId fully_connected(ValueId x, int64_t out) {
    const Shape s = shape(x);
    fb::FullyConnectedOptionsT o;
    o.requant = requant_f32({0.002f}, kZeroPoint);
    const ValueId w = weights({out, s[s.rank() - 1]}), b = bias(out);
    Shape to = s;
    to[s.rank() - 1] = out;
    return op(std::move(o), {x, w, b}, to);
  }
  ValueId add(ValueId a, ValueId b) {
    fb::AddOptionsT o;
    o.a_scale = float_bits(0.5f);
    o.b_scale = float_bits(0.375f);
    o.constant = float_bits(3.0f);
    return op(std::move(o), {a, b}, broadcast(a, b));
  }
  ValueId mul(ValueId a, ValueId b) {
    fb::MulOptionsT o;
    o.a_zero_point = o.b_zero_point = kZeroPoint;
    o.requant = requant_f32({0.02f}, kZeroPoint);
    return op(std::move(o), {a, b}, broadcast(a, b));
  }
  ValueId lut(ValueId x, bool per_channel = false) {
    const Shape s = shape(x);
    std::vector<uint8_t> table(256 * static_cast<size_t>(per_channel ? s[s.rank() - 1] : 1));
    for (auto& t : table) t = static_cast<uint8_t>(random.integer(0, 255));
    fb::LutOptionsT o;
    o.per_channel = per_channel;
    const auto size = static_cast<int64_t>(table.size());
    return op(std::move(o), {x, graph.add_constant("table", DType::kUInt8, {size}, table)}, s);
  }
  ValueId concat(const std::vector<ValueId>& inputs, int axis) {
    fb::ConcatOptionsT o;
    o.axis = static_cast<uint32_t>(axis);
    Shape out = shape(inputs[0]);
    out[axis] = 0;
    for (ValueId id : inputs) out[axis] += shape(id)[axis];
    return op(std::move(o), inputs, out);
  }
  ValueId constant(const Shape& s) {
    std::vector<uint8_t> data(static_cast<size_t>(s.elements()));
    for (auto& d : data) d = static_cast<uint8_t>(random.integer(0, 255));
    return graph.add_constant("c" + std::to_string(graph.values.size()), DType::kUInt8, s, data);
  }
  ValueId weights(const Shape& s) {
    std::vector<int16_t> w(static_cast<size_t>(s.elements()));
    for (auto& v : w) v = static_cast<int16_t>(random.integer(weight_lo, weight_hi));
    return graph.add_constant("w" + std::to_string(graph.values.size()), DType::kInt16, s, w);
  }
  ValueId bias(int64_t n) {
    std::vector<int32_t> b(static_cast<size_t>(n));
    for (auto& v : b) v = static_cast<int32_t>(random.integer(-20000, 20000));
    return graph.add_constant("b" + std::to_string(graph.values.size()), DType::kInt32, {n}, b);
  }

  int count(fb::OpOptions type) const {
    int n = 0;
    for (const Node& node : graph.nodes) n += node.options.type == type;
    return n;
  }

  // Returns random bytes for every input, with `batch` times the first dimension that the graph was built with.
  std::vector<Bytes> random_inputs(size_t batch = 1) {
    std::vector<Bytes> inputs;
    for (ValueId id : graph.inputs) {
      const auto n = static_cast<size_t>(std::abs(shape(id).elements())) * batch;
      if (graph.values[id].type.dtype == DType::kFloat32) {
        std::vector<float> x(n);
        for (auto& v : x) v = random.real(-70.0f, 70.0f);
        inputs.push_back(to_bytes(x));
      } else {
        Bytes x(n);
        for (auto& v : x) v = static_cast<uint8_t>(random.integer(0, 255));
        inputs.push_back(std::move(x));
      }
    }
    return inputs;
  }

 private:
  static constexpr int kZeroPoint = 117;

  Shape broadcast(ValueId a, ValueId b) const {
    const Shape &x = shape(a), &y = shape(b);
    Shape out = x.rank() >= y.rank() ? x : y;
    const Shape& other = x.rank() >= y.rank() ? y : x;
    for (int i = 1; i <= other.rank(); ++i) {
      int64_t& d = out[out.rank() - i];
      if (d == 1) d = other[other.rank() - i];
    }
    return out;
  }
};

// Runs the graph, with or without the passes (weights are always packed).
inline RunResult run_graph(Graph graph, bool optimised, const std::vector<Bytes>& inputs,
                           size_t batch = 0) {
  RunResult result;
  Status status = optimised ? run_passes(&graph, nullptr) : convert::pack_weights(&graph);
  Bytes file;
  if (status.ok()) status = write_model(graph, &file);
  EXPECT_TRUE(status.ok()) << status.message() << "\n" << dump(graph);
  result.status = static_cast<qrt_status>(status.code());
  if (!status.ok()) return result;
  RunOptions options;
  options.batch = batch;
  result = run_model(file, inputs, options);
  EXPECT_EQ(result.status, QRT_OK) << result.message << "\n" << dump(graph);
  return result;
}

// Checks that the passes change no output byte; the graph after them is left in `b`.
inline void expect_same_outputs(GraphBuilder* b) {
  const auto inputs = b->random_inputs();
  const RunResult before = run_graph(b->graph, false, inputs);
  const RunResult after = run_graph(b->graph, true, inputs);
  ASSERT_EQ(before.outputs.size(), b->graph.outputs.size());
  ASSERT_EQ(before.outputs, after.outputs) << dump(b->graph);
  Status status = run_passes(&b->graph, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_GRAPH_BUILDER_H_

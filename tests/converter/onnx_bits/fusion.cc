// SPDX-License-Identifier: Apache-2.0
// Operators between a DequantizeLinear and a QuantizeLinear, with a node between them and one of these across which ONNX Runtime
// copies a pair, or does not: in the first case it fuses the operator, in the second it computes floats.
#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

using Mover = std::string (*)(BitsModel& m, const std::string& x);

// Movements of a tensor [1, 4, 4, 8]; the result has 4 dimensions, the last two of which are not 1.
const Mover kMovers[] = {[](BitsModel& m, const std::string& x) {
                           return m.b.node("Gather", {x, m.ints({3, 1, 0})}, {{"axis", 1}});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("Tile", {x, m.ints({1, 1, 2, 1})});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("DepthToSpace", {x}, {{"blocksize", 2}});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("Pad", {x, m.ints({0, 0, 1, 0, 0, 0, 0, 0})});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("Concat", {x, x}, {{"axis", 1}});
                         },
                         [](BitsModel& m, const std::string& x) {
                           const std::string flat = m.b.node("Flatten", {x}, {{"axis", 2}});
                           return m.b.node("Unsqueeze", {flat, m.ints({0, 1})});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("Slice", {x, m.ints({1}), m.ints({4}), m.ints({1})});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("Transpose", {x}, {{"perm", Dims{0, 2, 1, 3}}});
                         },
                         [](BitsModel& m, const std::string& x) {
                           return m.b.node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}});
                         }};

std::string codes_of_image(BitsModel& m, uint8_t zero_point) {
  return m.b.dq<uint8_t>(m.pixels({1, 4, 4, 8}), 0.013f, zero_point);
}

void additions_behind_movements(BitsModel& m) {
  for (const Mover& move : kMovers) {
    const std::string x = move(m, codes_of_image(m, 120)), y = move(m, codes_of_image(m, 131));
    m.stored(m.b.node("Add", {x, y}), 0.021f);
  }
}
void additions_in_front_of_movements(BitsModel& m) {
  for (const Mover& move : kMovers) {
    const std::string x = codes_of_image(m, 120), y = codes_of_image(m, 131);
    m.stored(move(m, m.b.node("Add", {x, y})), 0.021f);
  }
}
// Nodes that change nothing, which ONNX Runtime takes out or, as a CastLike, keeps.
void operators_in_front_of_what_changes_nothing(BitsModel& m) {
  m.b.allow_float = true;
  const std::vector<Mover> nothing = {
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Mul", {x, m.b.scalar(1.0f)});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Add", {m.b.scalar(0.0f), x});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Cast", {x}, {{"to", 1}});
      },
      [](BitsModel& m, const std::string& x) { return m.b.node("Identity", {x}); },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Expand", {x, m.ints({1, 1, 1, 8})});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("CastLike", {x, m.b.scalar(1.0f)});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Where", {m.b.node("Less", {m.b.scalar(1.0f), m.b.scalar(2.0f)}), x, x});
      }};
  m.b.model.mutable_opset_import(0)->set_version(15);
  for (const Mover& f : nothing) {
    const std::string x = codes_of_image(m, 120), y = codes_of_image(m, 131);
    m.stored(f(m, m.b.node("Add", {x, y})), 0.021f);
    m.stored(f(m, m.b.node("Softmax", {codes_of_image(m, 120)})), 1.0f / 256, 0);
  }
}
// A QuantizeLinear beside the reader keeps ONNX Runtime from copying a pair.
void additions_beside_a_quantize(BitsModel& m) {
  for (const Mover& move : kMovers) {
    const std::string x = move(m, codes_of_image(m, 120)), y = move(m, codes_of_image(m, 131));
    m.stored(m.b.node("Add", {x, y}), 0.021f);
    m.stored(m.b.node("Identity", {x}), 0.017f);
  }
}
// A pair behind the movement, which has the parameters of the pair in front of it, makes the reader fused.
void additions_behind_pairs_of_one_scale(BitsModel& m) {
  for (const Mover& move : kMovers) {
    const std::string x = m.b.qdq<uint8_t>(move(m, codes_of_image(m, 120)), 0.013f, 120);
    const std::string y = m.b.qdq<uint8_t>(move(m, codes_of_image(m, 131)), 0.013f, 131);
    m.stored(m.b.node("Add", {x, y}), 0.021f);
  }
}
void additions_behind_an_output(BitsModel& m) {
  const std::string x = m.b.node("Identity", {codes_of_image(m, 120)});
  m.b.output(x);
  m.stored(m.b.node("Add", {x, codes_of_image(m, 131)}), 0.021f);
}
void pools_and_softmax_behind_movements(BitsModel& m) {
  m.b.allow_float = true;
  for (const Mover& move : kMovers) {
    m.stored(
        m.b.node("AveragePool", {move(m, codes_of_image(m, 120))}, {{"kernel_shape", Dims{2, 2}}}),
        0.012f);
    m.stored(m.b.node("Softmax", {move(m, codes_of_image(m, 120))}), 1.0f / 256, 0);
  }
}
// Only what is read as floats may stand in front of a Flatten without an integer form of its own.
void products_in_front_of_a_flatten(BitsModel& m) {
  m.b.output(m.b.node("Flatten", {m.b.node("MatMul", {m.image({3, 4}), m.weights({4, 2})})}));
}
// Results that two nodes read, or a node and the graph's output, which ONNX Runtime fuses with no
// QuantizeLinear unless the two are equal nodes.
void results_with_two_readers(BitsModel& m) {
  m.b.allow_float = true;
  const std::vector<Mover> operators = {
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Add", {x, codes_of_image(m, 131)});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Reshape", {m.b.node("Mul", {x, x}), m.ints({4, 32})});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("AveragePool", {x}, {{"kernel_shape", Dims{2, 2}}});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("Relu", {m.b.node("Conv", {x, m.weights({3, 4, 1, 1})})});
      },
      [](BitsModel& m, const std::string& x) {
        return m.b.node("MatMul", {x, m.weights({8, 3})});
      }};
  for (const Mover& f : operators) {
    const std::string two = f(m, codes_of_image(m, 120));
    m.stored(two, 0.021f);
    m.stored(two, 0.023f);
    const std::string equal = f(m, codes_of_image(m, 120));
    m.stored(equal, 0.021f);
    m.b.output(m.b.node("Neg", {m.b.qdq<uint8_t>(equal, 0.021f, 128)}));
    const std::string output = f(m, codes_of_image(m, 120));
    m.stored(output, 0.021f);
    m.b.output(output);
  }
}
// The row of a stored table at an index of the run.
void softmax_of_a_row_of_the_run(BitsModel& m) {
  m.b.allow_float = true;
  const std::string table =
      m.b.dq<uint8_t>(m.b.constant<uint8_t>({5, 12}, codes<uint8_t>(60)), 0.02f, 120);
  const std::string index =
      m.b.node("Cast", {m.b.dq<uint8_t>(m.pixels({1}), 1.0f / 64, 0)}, {{"to", 7}});
  m.stored(m.b.node("Softmax", {m.b.node("Gather", {table, index})}), 1.0f / 256, 0);
}

// --- subgraphs

// Moves the nodes behind the first `count` into a graph, as the attribute `name` of `node`.
onnx::GraphProto* move_nodes(BitsModel& m, int count, onnx::NodeProto* node, const char* name) {
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  a->mutable_g()->set_name(name);
  auto* nodes = m.b.graph().mutable_node();
  for (int i = count; i < nodes->size(); ++i) *a->mutable_g()->add_node() = nodes->Get(i);
  nodes->DeleteSubrange(count, nodes->size() - count);
  return a->mutable_g();
}

// A Loop of three steps whose state passes pairs of several scales and is added to a tensor from
// outside. ONNX Runtime merges no pairs in the body, and none with those around it.
void loop_of_pairs(BitsModel& m) {
  const Dims dims = {1, 12};
  const std::string begin = m.b.dq<uint8_t>(m.pixels(dims), 0.013f, 120);
  const std::string beside = m.b.dq<uint8_t>(m.pixels(dims), 0.017f, 110);
  const std::string trips = m.b.scalar<int64_t>(3);
  const int outside = m.b.graph().node_size();
  const std::string state = m.b.qdq<uint8_t>(m.b.qdq<uint8_t>("state", 0.011f, 100), 0.014f, 90);
  const std::string sum = m.b.node("Add", {state, beside});
  const std::string end = m.b.qdq<uint8_t>(m.b.qdq<uint8_t>(sum, 0.021f, 128), 0.019f, 140);
  const std::string goes_on = m.b.node("Identity", {"condition"});
  onnx::NodeProto loop;
  onnx::GraphProto* body = move_nodes(m, outside, &loop, "body");
  OnnxBuilder::declare(body->add_input(), "step", onnx_type<int64_t>(), {});
  OnnxBuilder::declare(body->add_input(), "condition", onnx::TensorProto::BOOL, {});
  OnnxBuilder::declare(body->add_input(), "state", onnx_type<float>(), dims);
  OnnxBuilder::declare(body->add_output(), goes_on, onnx::TensorProto::BOOL, {});
  OnnxBuilder::declare(body->add_output(), end, onnx_type<float>(), dims);
  loop.set_op_type("Loop");
  loop.set_name("Loop");
  for (const std::string& x : {trips, std::string(), begin}) loop.add_input(x);
  loop.add_output("last_state");
  *m.b.graph().add_node() = loop;
  m.b.output(m.b.qdq<uint8_t>("last_state", 0.016f, 128));
}

// An If of a known condition, whose branch passes on a part of what is quantised outside. ONNX
// Runtime copies the pair across the Slice before it takes the branch.
void if_behind_a_slice(BitsModel& m) {
  const Dims dims = {1, 3};
  const std::string x = m.b.dq<uint8_t>(m.pixels({1, 6}), 0.013f, 143);
  const std::string part = m.b.node("Slice", {x, m.ints({1}), m.ints({4}), m.ints({1})});
  const std::string one = m.b.scalar<int64_t>(1);
  const std::string condition = m.b.node("Equal", {one, one});
  const int outside = m.b.graph().node_size();
  onnx::NodeProto choice;
  for (const char* branch : {"then_branch", "else_branch"}) {
    const std::string y = m.b.node(branch[0] == 't' ? "Identity" : "Neg", {part});
    onnx::GraphProto* graph = move_nodes(m, outside, &choice, branch);
    OnnxBuilder::declare(graph->add_output(), y, onnx_type<float>(), dims);
  }
  choice.set_op_type("If");
  choice.set_name("If");
  choice.add_input(condition);
  choice.add_output("chosen");
  *m.b.graph().add_node() = choice;
  m.b.output(m.b.qdq<uint8_t>("chosen", 0.0154f, 132));
}

}  // namespace

std::vector<BitsCase> fusion_cases() {
  return {
      {"additions_behind_movements", additions_behind_movements},
      {"additions_in_front_of_movements", additions_in_front_of_movements},
      {"operators_in_front_of_what_changes_nothing", operators_in_front_of_what_changes_nothing},
      {"additions_beside_a_quantize", additions_beside_a_quantize},
      {"additions_behind_pairs_of_one_scale", additions_behind_pairs_of_one_scale},
      {"additions_behind_an_output", additions_behind_an_output},
      {"pools_and_softmax_behind_movements", pools_and_softmax_behind_movements},
      {"products_in_front_of_a_flatten", products_in_front_of_a_flatten},
      {"results_with_two_readers", results_with_two_readers, 1e-6f},
      {"softmax_of_a_row_of_the_run", softmax_of_a_row_of_the_run},
      {"loop_of_pairs", loop_of_pairs},
      {"if_behind_a_slice", if_behind_a_slice}};
}

}  // namespace qrt::testing

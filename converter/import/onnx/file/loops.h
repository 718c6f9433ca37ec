// SPDX-License-Identifier: Apache-2.0
// Loop and Scan. Where the number of steps is the same in every run, as many copies of the body stand in the node's place, each reading
// the states that the one before it made. Where it follows from an open dimension, the body stands there once, between two nodes that
// begin and end a step.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_LOOPS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_LOOPS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "converter/import/onnx/file/functions.h"
#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"
#include "runtime/tools/budget.h"

namespace qrt::convert::from_onnx {

// A Loop or Scan with its number of steps, and where that comes from.
struct KnownLoop {
  std::string node;   // the node's name in messages
  int64_t steps = 0;  // 0 or more
  // The tensor whose number (axis -1) or length this is; "": the number of steps is fixed.
  std::string tensor;
  int axis = -1;
  bool is_inner = false;  // the node stands in the body of an open loop
};

// Such nodes by their indices in the graph.
using KnownLoops = std::map<int, KnownLoop>;

// The parts of a Loop or Scan. Its inputs are the trip count and condition (Loop), the states, the scanned tensors (Scan); its body's
// inputs the iteration number and condition (Loop), the states, a slice of each scanned tensor. The body's outputs are the
// condition (Loop), the states, what the steps put together; the node's the same without the condition.
struct LoopForm {
  const onnx::GraphProto* body = nullptr;
  bool is_scan = false;
  int states = 0, scanned = 0, stacked = 0;  // numbers of each
  std::vector<int64_t> input_axes, output_axes;
  std::vector<int64_t> input_directions, output_directions;  // 1: from the end

  // Returns the index of the first state among the inputs of node and body.
  int first_input() const { return is_scan ? 0 : 2; }
  // Returns the index of the first state among the body's outputs.
  int first_output() const { return is_scan ? 0 : 1; }
};

// Reads a loop. Fails with kInvalidModel where the numbers of inputs, outputs and attributes do not
// fit together.
Status read_loop(const onnx::NodeProto& node, int index, LoopForm* form);

// Takes the work of so many copies of the body, before they are made. kUnsupported where that is too much.
Status charge_steps(const onnx::NodeProto& node, const KnownLoop& loop, Budget* budget);

// The nodes around the body of an open loop have the operator of the loop, and one of these attributes.
//   kLoopBegin  inputs: the states, the scanned tensors. Outputs: the mark of the step, its number, the states, the slices
//   kLoopEnd    inputs: the mark of the step, the states, what the steps put together, and the tensor that says the number of steps,
//               by its length along kLoopAxis, or where that is -1 by its value. Outputs: the loop's
// Both have kLoopStates, the number of states, and kLoopAxes and kLoopDirections of what is scanned or put together.
constexpr char kLoopBegin[] = "qrt_loop_begin", kLoopEnd[] = "qrt_loop_end",
               kLoopStates[] = "qrt_states", kLoopAxes[] = "qrt_axes",
               kLoopDirections[] = "qrt_directions", kLoopAxis[] = "qrt_axis",
               kLoopHasRow[] =
                   "qrt_has_row";  // the body declares the number of the step with a dimension

// Puts the bodies of these nodes, with nodes that begin and end a step, in their places.
Status open_loops(const KnownLoops& loops,
                  const std::function<int64_t(const onnx::NodeProto&)>& opset,
                  NodeVersions* versions, onnx::GraphProto* graph);

// Returns which nodes stand in the body of an open loop. `order`: the nodes' execution order.
std::vector<bool> find_nodes_in_loops(const onnx::GraphProto& graph, const std::vector<int>& order);

// Replaces these nodes. A node that comes from a function has versions of its own, and so have its copies.
Status unroll_loops(const KnownLoops& loops,
                    const std::function<int64_t(const onnx::NodeProto&)>& opset,
                    NodeVersions* versions, onnx::GraphProto* graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_LOOPS_H_

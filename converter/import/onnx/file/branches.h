// SPDX-License-Identifier: Apache-2.0
// `If` whose condition is known at conversion: the branch that it takes stands in its place, as ONNX
// Runtime makes of it. In the place of an `If` whose condition a run computes both branches stand, and a choice of their results.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_BRANCHES_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_BRANCHES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "converter/import/onnx/file/proto.h"
#include "runtime/status.h"

namespace qrt::convert::from_onnx {

// Conditions of If nodes, by the node's index in the graph.
using KnownConditions = std::unordered_map<int, bool>;

// A condition on whose value a branch was taken.
struct TakenBranch {
  std::string node;       // the node's name in messages
  std::string condition;  // tensor
  bool value;
};

// Replaces these If nodes. kInvalidModel for an If without that branch, or whose branch has other
// outputs.
Status take_branches(const KnownConditions& conditions, onnx::GraphProto* graph);

// A Where that is made here has this attribute: it chooses between two tensors of one type and shape, whole.
constexpr char kChoice[] = "qrt_choice";

// Replaces these If nodes by both their branches, and a choice for each output.
Status join_branches(const std::unordered_set<int>& nodes, onnx::GraphProto* graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_BRANCHES_H_

// SPDX-License-Identifier: Apache-2.0
// Tensors one of whose lengths a run decides: the first tokens of a cache of fixed capacity. In the graph such a tensor has its
// capacity. Elements beyond the length stand for nothing, and what reads the tensor is imported so that they have no effect.
#ifndef QRT_CONVERTER_IMPORT_ONNX_RUN_LENGTHS_H_
#define QRT_CONVERTER_IMPORT_ONNX_RUN_LENGTHS_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "converter/import/onnx/run_offsets.h"
#include "converter/ir.h"

namespace qrt::convert::from_onnx {

class NodeView;

struct RunLength {
  int axis = 0;
  RunOffset number;  // the length: equal ones are equal in every run
  // INT64 [capacity]: the index itself where it is within the length, the capacity beyond it.
  ValueId rows = kNoValue;
  bool is_zero_beyond = false;
};

// Collects the lengths that one import has met, by the names of tensors.
struct RunLengths {
  std::unordered_map<std::string, RunLength> tensors;
  std::unordered_set<std::string>
      numbers;  // constants with a capacity where the source has a length

  bool are_read_by(const NodeView& node) const;
};

// Returns the part of value x, output 0 of the Slice `node`, from index 0 to the index `end` along `axis`: an INT64 scalar, which is
// `number`. The run ends where that leaves nothing.
ValueId cut_in_run(Importer& importer, const NodeView& node, ValueId x, int axis, ValueId end,
                   const RunOffset& number);

// Judges a node that reads such tensors or numbers. Nodes that would see beyond a length are refused.
Status assess_run_lengths(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_RUN_LENGTHS_H_

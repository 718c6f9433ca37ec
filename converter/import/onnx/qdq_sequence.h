// SPDX-License-Identifier: Apache-2.0
// Plays the rounds in which ONNX Runtime merges QuantizeLinear and DequantizeLinear nodes in a row, with
// Transposes and other data movement between them. Before it fuses anything it goes through the graph in rounds:
// two pairs that meet become one, whose range is what the two have in common; it copies pairs to
// the other side of nodes that move data; in the first round it moves a Transpose down to the next one, and
// joins them.
// Where pairs meet, and in which order, decides about the numbers.
#ifndef QRT_CONVERTER_IMPORT_ONNX_QDQ_SEQUENCE_H_
#define QRT_CONVERTER_IMPORT_ONNX_QDQ_SEQUENCE_H_

#include <cstdint>
#include <list>
#include <vector>

#include "converter/import/common/quant.h"

namespace qrt::convert::from_onnx {

// A node of a sequence; the next one is all that reads it.
struct QdqNode {
  enum class Kind {
    kQuantize,
    kDequantize,
    kTranspose,
    kSqueeze,
    kUnsqueeze,
    kSlice,
    kMove,  // another that pairs are copied across, but Transposes are not moved through
  };
  Kind kind;
  Quant quant;                   // of kQuantize and kDequantize
  std::vector<int64_t> numbers;  // the permutation, or the axes; empty: not known
  bool is_shared = false;        // other nodes read it, too
};

struct QdqSequence {
  std::list<QdqNode> entries;

  // The node in front of the first entry.
  struct {
    bool is_made = false;         // by a node: no graph input, no constant
    bool has_dequantize = false;  // that node is a DequantizeLinear
    bool takes_pair = false;      // a pair may be put between it and the first entry
  } front;

  // The readers of the last entry.
  struct {
    int readers = 0;         // nodes
    int outputs = 0;         // of the graph; several where equal last nodes make them
    bool has_twins = false;  // two of these read the same tensor
    bool quantizes = false;  // one of the readers is a QuantizeLinear
    // One of them, so that a Transpose would move down to another one
    bool leads_to_transpose = false;
    bool all_lead = false;            // all of them do
    bool takes_transpose = false;     // the reader lets a Transpose through
    bool has_lone_transpose = false;  // one of several is a Transpose that gets a pair of its own
  } back;
};

enum class Outcome {
  kRow,
  kEmpty,   // two pairs have nothing but 0 in common: ONNX Runtime makes a pair of scale 0 of them
  kForked,  // one of the readers keeps a pair of what another round merges for the others
};
Outcome play_rounds(QdqSequence* sequence);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_QDQ_SEQUENCE_H_

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
  Quant quant;                   // parameters of a kQuantize or kDequantize
  std::vector<int64_t> numbers;  // the permutation, or the axes; empty: not known
  bool is_shared = false;        // other nodes read it, too
};

struct QdqSequence {
  std::list<QdqNode> entries;

  // The node in front of the first entry.
  struct {
    bool is_made = false;         // a node makes it: it is no graph input and no constant
    bool has_dequantize = false;  // the node in front is a DequantizeLinear
    bool takes_pair = false;      // a pair may be put between it and the first entry
  } front;

  // The readers of the last entry.
  struct {
    int readers = 0;         // nodes
    int outputs = 0;         // graph outputs; several where equal last nodes make them
    bool has_twins = false;  // two readers read the same tensor
    bool quantizes = false;  // a reader is a QuantizeLinear
    // One of them, so that a Transpose would move down to another one
    bool leads_to_transpose = false;
    bool all_lead = false;            // all readers lead to a Transpose
    bool takes_transpose = false;     // the reader lets a Transpose through
    bool has_lone_transpose = false;  // a Transpose among several readers gets a pair of its own
  } back;
};

enum class Outcome {
  kRow,
  kEmpty,   // two pairs have nothing but 0 in common: ONNX Runtime makes a pair of scale 0 of them
  kForked,  // a reader keeps a pair that another round merges for the other readers
};
Outcome play_rounds(QdqSequence* sequence);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_QDQ_SEQUENCE_H_

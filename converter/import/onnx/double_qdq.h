// Two QuantizeLinear/DequantizeLinear pairs in a row. ONNX Runtime makes them one, whose range is
// what the two ranges have in common, before it fuses anything; so must we. It looks for them after
// it has taken out what changes nothing and made one node of several that are equal.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_
#define QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "converter/import/onnx/merged_pairs.h"
#include "converter/import/onnx/tensors.h"

namespace qrt::convert::from_onnx {

class DoubleQdq {
 public:
  using Nodes = std::vector<std::unique_ptr<NodeView>>;  // by index in the file

  DoubleQdq(const Model& model, const Nodes& nodes, Tensors* tensors)
      : model_(model), nodes_(nodes), tensors_(tensors) {}

  // Merges the pair that begins with this QuantizeLinear of floats of `shape` and those behind it.
  // REQUIRES: the scales and zero points are loaded.
  Status merge(const NodeView& quantize, const Shape& shape);

  // The parameters that stand for a node's own after merging, or null.
  const Quant* quant(const NodeView& node) const;
  // Of a node between the first and the last of merged pairs: the input that is its output. -1 for
  // others.
  int passed_input(const NodeView& node) const;

 private:
  // Nodes that were passed, each with the input that is its output.
  using Passed = std::vector<std::pair<int, int>>;

  // The nodes that read a tensor, looking through those that change nothing. *all: nothing else
  // reads it.
  Status find_readers(const std::string& tensor, const Shape& shape,
                      std::vector<const NodeView*>* found, Passed* passed, bool* all) const;
  bool read(const NodeView& node, Quant* quant) const;
  bool are_one(const std::vector<const NodeView*>& nodes, const char* op, Quant* quant) const;

  // Pairs that are one by now.
  struct Pair {
    const NodeView& quantize;  // the first node
    const NodeView* front;     // that, or the Transpose before it
    Shape shape;               // of what the last nodes make
    Quant quant;
    MergedPairs members;
    std::vector<const NodeView*> dequantizes;  // the last nodes, equal ones
    // What the Transposes in front of the pair do that ONNX Runtime moves behind it.
    std::vector<int64_t> turn;
    // Where all that became one were single nodes in a row: those nodes. Else empty.
    struct Member {
      const NodeView *quantize, *dequantize;
      Quant quant;
    };
    std::vector<Member> row;
  };
  // The pair that begins with this QuantizeLinear; nothing where there is none.
  Status begin(const NodeView& quantize, const Shape& shape, std::optional<Pair>* begun) const;
  // Merges with the pair behind, whose last nodes become the pair's. *merged: there was one.
  // `adjacent_only`: no Transposes have to be taken out or moved before.
  Status merge_next(Pair* pair, bool adjacent_only, bool* merged);
  // The same across a Transpose, where ONNX Runtime makes it one with a later Transpose.
  Status merge_across(Pair* pair, bool* merged);
  // Behind the pair: the Transpose that undoes its turn. Null where there is none.
  const NodeView* undoes_turn(const Pair& pair) const;
  // Of three and more pairs ONNX Runtime copies what the first two, or the last, are at first to the
  // other side of a node that moves data, before it makes all of them one.
  Status leave_copies(const Pair& pair);
  // Whether the pair that a node reads, one that moves data to shape `to`, is put behind it, too.
  Status is_copied_behind(const NodeView& move, const Shape& to, bool* is_copied) const;
  bool is_move(const NodeView& node) const;
  const NodeView* sole_reader(const NodeView& node) const;
  bool is_turned(const NodeView& quantize) const;
  const NodeView* producer(const std::string& tensor) const;  // null: a graph input, a constant
  // ONNX Runtime puts a pair like this node's in front of the node before it, at once; the pair
  // itself it may merge later.
  bool goes_in_front(const NodeView& node) const;

  const Model& model_;
  const Nodes& nodes_;
  Tensors* tensors_;
  std::unordered_map<int, Quant> merged_;  // by node
  std::unordered_map<int, int> passed_;
  std::unordered_set<int> settled_;  // QuantizeLinears that begin what leave_copies() has left
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DOUBLE_QDQ_H_

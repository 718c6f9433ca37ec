// SPDX-License-Identifier: Apache-2.0
// The converter's one graph: operators of schema/ops.inc whose attributes are the flatbuffer's
// object-API option structs, over values. A front end (import/) fills it, passes (passes/) rewrite
// it, write.cc serialises it.
//
// Conventions, from the front end on:
//  - 8-bit activations are UINT8 in the stored domain: an int8 source's values and zero points
//    + 128. A model input or output of type INT8 is joined by a Lut that flips the sign bit.
//  - Conv2D, DepthwiseConv2D and the pools work on NHWC. A front end with NCHW data puts Transpose
//    nodes around them, and passes/ move and cancel those.
//  - Until passes/pack_weights, weights are row-major INT16 constants that hold (source weight -
//    source zero point): in -255..255, or any with INT16 activations. Their shapes:
//      Conv2D           [out, kh, kw, in / groups]
//      DepthwiseConv2D  [kh, kw, out]
//      FullyConnected   [out, in]
//    The bias is an INT32 constant [out] that holds the source bias. The input's zero point is not
//    in it yet: Conv2DOptions::input_zero_point names that, and for FullyConnected the
//    quantisation of the input value. weight_sum, terms, digits, pair_safe and tap_layout are
//    unset.
//  - A Lut's or Softmax's table is a second, constant input; write.cc turns it into a buffer index.
//  - Shapes are concrete, at the source's own batch. passes/open_batch makes dimension 0 symbolic
//    where it can.
#ifndef QRT_CONVERTER_IR_H_
#define QRT_CONVERTER_IR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/status.h"
#include "runtime/tensor.h"
#include "runtime/traits.h"

namespace qrt::convert {

using ValueId = uint32_t;
constexpr ValueId kNoValue = UINT32_MAX;

// real = (q - zero_point) * scale, stored domain. Empty: not quantised.
struct Quantization {
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
  int axis = -1;
};

struct Value {
  std::string name;
  TensorType type;
  Quantization quantization;
  bool is_constant = false;
  std::vector<uint8_t> data;  // a constant's elements, low byte first, or packed
  fb::Packing packing = fb::Packing::NONE;
  // Weights before passes/pack_weights: bits of a source element that are to be kept, 4 or 2; or 0.
  int weight_bits = 0;
  std::vector<int8_t> weight_offset;  // schema/qrt_model.fbs
  // The source's tensor of this name is transpose(this, source_order); empty where that is not
  // known. Set by passes/move_transposes.
  std::vector<uint8_t> source_order;
  // An expression for each dimension, if this is an input or output of the model and has open dimensions.
  std::vector<fb::SizeT> sizes;

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data.data());
  }
};

struct Node {
  std::string name;       // name of the source node
  std::string source_op;  // "Conv+Relu"
  fb::OpOptionsUnion options;
  std::vector<ValueId> inputs, outputs;
  std::vector<fb::SizeRuleT> sizes;  // fields of the options that follow from open dimensions

  // The constructors are in ir.cc, so that not every file compiles the destructors of all options.
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();
};

// A value that keeps its content between runs: the value it has when a run starts, and the one it
// takes afterwards, are among the last of the graph's inputs and outputs.
struct Variable {
  int32_t initial = 0;  // the value of every element, in the stored domain
};

// A dimension of the source that has a name, or no number: fb::Symbol.
struct Symbol {
  std::string name;
  int64_t value = 1;  // size that the graph's shapes have in its place
  int64_t least = 1, most = INT32_MAX, step = 1;
  bool is_first = false;  // the first dimension of an input, which may be a batch
  bool is_other = false;  // a dimension behind the first
  // The caller asked for this dimension to be open: at more than one size, or from asked_least to asked_most, where
  // that is not 0.
  bool is_asked = false;
  int64_t asked_least = 0, asked_most = 0;
  bool wants_zero() const { return asked_most != 0 && asked_least == 0; }
  int tied_to = -1;  // a symbol before it, of which it has the size (or 1 in its place), or -1
  std::string limited_by;  // reason why its sizes were narrowed; "" where only the caller did it
};

// A dimension of the source whose name says that its size is a sum of symbols' sizes.
struct SizeSum {
  std::string name, sum;  // "total_length", "past_length + length"
};

struct Graph;
// Imports a source again, with other sizes of its graph's symbols.
using ImportAtSizes = std::function<Status(const std::vector<int64_t>& sizes, Graph* graph)>;

// The difference between a number that follows from the sizes of an import and the value at which a node begins to do something
// else: the length at which a Slice ends, the other operand of a comparison, the divisor below which a quotient is 0. Where its
// sign differs between two sizes, there is a turning point between them.
struct Distance {
  int64_t node, distance;  // the node's index in the source
};

struct Graph {
  std::string name, source_format, source_producer, reference;
  std::vector<std::string> source_files;  // every file that the model was read from
  int64_t default_batch = 1;
  bool batch_is_symbolic = false;  // the source names no number for it
  // Why dimension 0 stays as it is: set by a front end that knows, or by passes/open_batch; ""
  // where nothing is known against opening it.
  std::string batch_closed;
  bool batch_is_open = false;  // dimension 0 of some values is the batch (set by passes/open_batch)
  std::vector<Value> values;   // never shrinks while passes run: ids stay valid
  std::vector<Node> nodes;     // in execution order
  // The model's own, then one for each variable: to the passes it is an input and an output.
  std::vector<ValueId> inputs, outputs;
  std::vector<Variable> variables;
  // The open dimensions; the batch is among them where batch_is_open is false. With `import_at` set,
  // passes/open_sizes has still to find what follows from them.
  std::vector<Symbol> symbols;
  std::vector<SizeSum> sums;
  ImportAtSizes import_at;
  std::vector<Distance> distances;  // the import's, in the order of its nodes
  uint64_t bytes_read = 0;          // bytes of constants that the import read
  bool rounds_floats = false;  // it multiplied sizes by floats that no small quotient expresses

  ValueId add_value(Value value);
  // Makes a constant of `dtype` from elements.
  template <class T>
  ValueId add_constant(std::string name, DType dtype, const Shape& shape,
                       const std::vector<T>& elements);
  ValueId add_constant_bytes(std::string name, DType dtype, const Shape& shape, const void* data,
                             size_t size);

  // Returns the index of the node that writes a value, or -1.
  int producer(ValueId value) const;
  // Indices of the nodes that read a value (a node reading it twice stands twice).
  std::vector<int> consumers(ValueId value) const;
  bool is_output(ValueId value) const;
};

// Returns the options of a node as their type; REQUIRES: the node is of that type.
template <class T>
T& options(Node& node) {
  return *static_cast<T*>(node.options.value);
}
template <class T>
const T& options(const Node& node) {
  return *static_cast<const T*>(node.options.value);
}

// Returns a node with default options of type T (fb::Conv2DOptionsT ...).
template <class T>
Node make_node(std::string name, std::string source_op, std::vector<ValueId> inputs,
               std::vector<ValueId> outputs) {
  Node node;
  node.name = std::move(name);
  node.source_op = std::move(source_op);
  node.options.type = fb::OpOptionsUnionTraits<T>::enum_value;
  node.options.value = new T();
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

// Returns the runtime's facts of the node's operator. REQUIRES: it has one.
inline const OpTraits& traits(const Node& node) { return traits_of(node.options.type); }

// Returns whether a node computes each element of its output from the elements of two operands that
// are broadcast as in numpy: inputs 0 and 1.
inline bool broadcasts(const Node& node) {
  return traits(node).broadcasting == Broadcasting::kElements && node.inputs.size() > 1;
}

// Returns whether the input of this number is a table, which in a file is no input.
inline bool input_is_table(const Node& node, size_t slot) {
  return traits(node).constants.are_a_table() && slot == (broadcasts(node) ? 2 : 1);
}

// The node's options as they will stand in a file, for functions of the runtime that read them
// there.
class StoredForm {
 public:
  explicit StoredForm(const Node& node);
  const fb::Operator& op() const;
  bool operator!=(const StoredForm& other) const;

 private:
  flatbuffers::FlatBufferBuilder bytes_;
};

// Returns one line per value and node, for tests and for --verbose.
std::string dump(const Graph& graph);

template <class T>
ValueId Graph::add_constant(std::string name, DType dtype, const Shape& shape,
                            const std::vector<T>& elements) {
  return add_constant_bytes(std::move(name), dtype, shape, elements.data(),
                            elements.size() * sizeof(T));
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IR_H_

// SPDX-License-Identifier: Apache-2.0
// Adds operators to the graph: what the handlers of every source format build their results from.
// Nothing here knows a source format or decides what may be converted.
#ifndef QRT_CONVERTER_IMPORT_COMMON_GRAPH_BUILDER_H_
#define QRT_CONVERTER_IMPORT_COMMON_GRAPH_BUILDER_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/common/quant.h"
#include "converter/ir.h"

namespace qrt::convert {

// The source's operator that something is made for, as tools show it. The nodes of source formats
// convert to it.
struct SourceNode {
  std::string name, op;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph* graph) : graph_(graph) {}

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  // Returns a value's shape: a copy, as adding to the graph moves its values.
  Shape shape_of(ValueId value) const { return graph_->values[value].type.shape; }
  DType type_of(ValueId value) const { return graph_->values[value].type.dtype; }

  // Adds a value that is no constant and that no node writes yet.
  ValueId new_value(const std::string& name, DType dtype, const Shape& shape,
                    const Quant* quant = nullptr);
  // Adds integers of the stored domain as a constant. REQUIRES: UINT8 or INT16.
  ValueId stored_constant(const std::string& name, DType dtype, const Shape& shape,
                          const std::vector<int32_t>& stored);
  // Adds any operator, with default options that the caller fills in.
  template <class Options>
  Options& add(const SourceNode& node, std::vector<ValueId> inputs, ValueId y) {
    graph_->nodes.push_back(make_node<Options>(node.name, node.op, std::move(inputs), {y}));
    return options<Options>(graph_->nodes.back());
  }

  // --- tables
  // UINT8 to UINT8: 256 bytes, or with per_channel 256 for each index of the last dimension.
  ValueId lut(const SourceNode& node, ValueId x, const std::vector<uint8_t>& table,
              bool per_channel, const std::string& name, const Quant* quant);
  // Adds a table indexed by the codes of x: stored integers of `dtype`. UINT8 to INT16, or INT16 to any.
  ValueId int16_lut(const SourceNode& node, ValueId x, const std::vector<int32_t>& table,
                    DType dtype, const std::string& name, const Quant* quant);
  // Adds a table to float32 of an INT16 value, or for bytes one table for each index of the last dimension.
  ValueId float_lut(const SourceNode& node, ValueId x, const std::vector<float>& table,
                    const std::string& name);
  // Adds table[256 * a + b], one byte each, or four with `dtype` FLOAT32. `a` and `b` are UINT8 values or
  // kNoValue, which counts as 0. `shape`: of the result, which has as many elements as the operands broadcast.
  ValueId pair_lut(const SourceNode& node, ValueId a, ValueId b, const Shape& shape, DType dtype,
                   const std::vector<uint8_t>& table, const Quant* quant);
  // Returns an 8-bit value as INT16, with the same numbers; an INT16 value itself.
  ValueId widened(const SourceNode& node, ValueId x);
  // Returns an INT16 value as UINT8, limited to 0..255.
  ValueId narrowed(const SourceNode& node, ValueId x, const Quant* quant);
  // Returns the same 8-bit tensor as int8 or uint8: 128 more or less, which flips the sign bit.
  ValueId flip_sign(const SourceNode& node, ValueId x, DType dtype);
  // Returns the same bytes as another 8-bit type: truth values are bytes 0 and 1 within the graph.
  ValueId relabel(const SourceNode& node, ValueId x, DType dtype);
  // Convert between UINT16, which stands at the graph's edges alone, and INT16, less 32768, which
  // uint16 tensors are within. Each returns what the other was made of, where that is known.
  ValueId stored_uint16(const std::string& name, ValueId raw);
  ValueId raw_uint16(const std::string& name, ValueId stored);
  bool has_raw_uint16(ValueId stored) const { return other_16_.count(stored) != 0; }

  // --- data movement
  ValueId transpose(const SourceNode& node, ValueId x, const std::vector<int>& perm,
                    const std::string& name = "");
  ValueId reshape(const SourceNode& node, ValueId x, const Shape& shape,
                  const std::string& name = "");
  // Equal but for `axis`.
  ValueId concat(const SourceNode& node, const std::vector<ValueId>& parts, int axis,
                 const std::string& name = "");
  // Gathers by maps. `fill`: an element's bits as the graph stores it.
  ValueId gather(const SourceNode& node, ValueId x, const IndexMaps& maps, int64_t fill,
                 const std::string& name = "");
  // Convert [n, c, h, w] to [n, h, w, c] and back, and likewise volumes. A value that from_nhwc()
  // made gives its origin back.
  ValueId to_nhwc(const SourceNode& node, ValueId x);
  ValueId from_nhwc(const SourceNode& node, ValueId x, const std::string& name);
  // Return x with this dimension last, and a result of that form with the dimension back in its place.
  ValueId axis_last(const SourceNode& node, ValueId x, int axis);
  ValueId axis_back(const SourceNode& node, ValueId y, int axis, const std::string& name);
  // Returns the value with these parameters for tools to see: itself, or a copy where it has others.
  ValueId with_quant(const SourceNode& node, ValueId x, const Quant& quant);

  // --- arithmetic
  // Adds the lesser or the greater of two values' elements, broadcast.
  ValueId min_max(const SourceNode& node, ValueId a, ValueId b, bool maximum,
                  const Quant* quant = nullptr);
  // Takes one of two values of one type and shape, in the run: a where the condition, UINT8 of one element, is not 0.
  ValueId choose(const SourceNode& node, ValueId condition, ValueId a, ValueId b,
                 const Quant* quant = nullptr);
  // Dequantises int32 to float32: fl32(f(acc) * scale), with one scale or one for each index of `axis`.
  ValueId dequantize_accumulators(const SourceNode& node, ValueId acc,
                                  const std::vector<float>& scale, int axis);

  // Return whether a value has the mark, and set it. Tables, gathers and elementwise operators pass
  // the mark on to their results; other data movement drops it. The ONNX front end marks values
  // that ONNX Runtime keeps in NHWC, on which its broadcasts depend.
  bool is_marked(ValueId value) const { return marked_.count(value) != 0; }
  void mark(ValueId value) { marked_.insert(value); }

 private:
  void pass_mark(ValueId x, ValueId y) {
    if (is_marked(x)) mark(y);
  }
  ValueId map_bytes(const SourceNode& node, ValueId x, DType dtype, uint8_t flip);
  ValueId flip_16(const std::string& name, ValueId x, DType dtype);

  Graph* graph_;
  std::unordered_set<ValueId> marked_;
  std::unordered_map<ValueId, ValueId> nhwc_form_;  // NCHW value -> the same in NHWC
  std::unordered_map<ValueId, ValueId> other_16_;   // UINT16 value <-> the same as INT16
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_GRAPH_BUILDER_H_

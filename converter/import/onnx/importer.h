// The state of one import: what each ONNX tensor has become so far, and the graph that grows from
// it. Nodes are visited in execution order; a handler reads its inputs' states and writes its
// outputs'.
//
// The float side between DequantizeLinear and QuantizeLinear is never computed, only remembered,
// until a QuantizeLinear (or a graph output) says what it becomes:
// - Table: a function of one stored integer of 8 or 16 bits: DequantizeLinear and any elementwise
//   operators behind it. Becomes a Lut.
// - Pairs: the same of the bytes of two tensors: elementwise operators that have no integer
//   arithmetic of their own, or whose float result several nodes read. Becomes a PairLut.
// - Pending: an operator with integer arithmetic of its own (Conv, Add ...) and what may follow it.
//   Becomes that operator.
#ifndef QRT_CONVERTER_IMPORT_ONNX_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_ONNX_IMPORTER_H_

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/node.h"
#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_onnx {

// The shape of two tensors broadcast as in numpy. False: they do not broadcast.
bool broadcast(const Shape& a, const Shape& b, Shape* result);

// The graph's type for elements of a source type; false where there is none.
bool ir_type(int type, DType* dtype);

// Parameters of a quantised tensor in the source's own domain.
struct Quant {
  int type = kUint8;  // ElementType of the integers
  std::vector<float> scale;
  std::vector<int32_t> zero_point;  // as many as scales
  int axis = -1;                    // -1: per tensor

  bool per_tensor() const { return axis < 0; }
  bool is_wide() const { return type == kUint16 || type == kInt16; }
  // Added to a source integer to give the stored one: 8 bits are stored as UINT8, 16 as INT16.
  int offset() const { return type == kInt8 ? 128 : type == kUint16 ? -32768 : 0; }
  DType stored_type() const { return is_wide() ? DType::kInt16 : DType::kUInt8; }
  // Stored integers there are, and the least of them: codes are counted from it.
  size_t codes() const { return is_wide() ? 65536 : 256; }
  int first_code() const { return is_wide() ? -32768 : 0; }
  int stored_zero_point(size_t i = 0) const { return zero_point[i] + offset(); }
};
bool operator==(const Quant& a, const Quant& b);
inline bool operator!=(const Quant& a, const Quant& b) { return !(a == b); }

inline uint32_t float_bits(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, 4);
  return bits;
}

// Metadata of a tensor with these scales and zero points. The format wants finite positive scales:
// for others, which are legal at the model's edges, there is none.
Quantization quantization_of(const std::vector<float>& scale, std::vector<int32_t> zero_point,
                             int axis);

// Limits of an output, stored domain.
struct Limits {
  int lo = 0, hi = 255;

  static Limits of(const Quant& q) {
    return {q.first_code(), q.first_code() + static_cast<int>(q.codes()) - 1};
  }
  bool cut(const Quant& q) const { return lo > of(q).lo || hi < of(q).hi; }
};

struct Pending;

// A float tensor each of whose elements follows from one stored byte of `a` and one of `b`, which
// are broadcast together. One of them may be missing, or both where it is a constant.
struct Pairs {
  const NodeView* node = nullptr;  // the operator that made it
  ValueId a = kNoValue, b = kNoValue;
  std::function<float(int a, int b)> value;
  int steps = 1;  // functions behind `value`; a long chain is made a table
};

struct Tensor {
  enum class Kind {
    kRefused,   // comes from a refused node: what reads it is judged on a stand-in, if it can be
    kConstant,  // `constant`; with `quant` its dequantised reading
    kValue,     // `value` of the graph, elements of `type` (int8 lies in it as uint8)
    kTable,     // function of the bytes of `value`
    kPending,   // `pending`
    kPairs,     // `pairs`
  };
  Kind kind = Kind::kRefused;
  Shape shape;
  bool shape_known = false;  // kRefused: `shape` is what the tensor would have
  ConstantPtr constant;
  int type = kUndefined;  // of the source tensor
  ValueId value = kNoValue;
  std::optional<Quant> quant;  // kConstant: see there; kTable: of `value`
  // kTable: entry [c * codes + code] for index c of `table_axis` (-1: one table). Null: the
  // dequantised value itself.
  std::shared_ptr<const std::vector<float>> table;
  int table_axis = -1;
  std::shared_ptr<Pending> pending;
  std::shared_ptr<const Pairs> pairs;

  bool is_constant() const { return kind == Kind::kConstant; }
  bool is_value() const { return kind == Kind::kValue; }
  bool is_table() const { return kind == Kind::kTable; }
  bool is_pending() const { return kind == Kind::kPending; }
  bool is_pairs() const { return kind == Kind::kPairs; }
  // DequantizeLinear of a stored tensor and nothing else.
  bool is_dequantized() const { return is_table() && !table; }
  // The plain tensor of a value or constant that holds integers or floats.
  bool is_plain_constant() const { return is_constant() && !quant; }
};

// A float result that waits for its QuantizeLinear. Elementwise limits and data movement met on the
// way are kept.
struct Pending {
  const NodeView* node = nullptr;  // the operator itself
  std::string ops;                 // "Conv+Relu"
  std::vector<int> followers;      // indices of the nodes taken in: they are reported with it
  float lo, hi;                    // composition of the Relus and Clips, real domain
  // Makes the operator with this output quantisation; *out stays kNoValue where it was refused.
  std::function<Status(const Quant& out, Limits limits, ValueId* result)> emit;
  // Makes a float result where no QuantizeLinear follows; null: there is none.
  std::function<Status(ValueId* result)> emit_float;
  // The same float result as a function of bytes, for readers that cannot take the operator over;
  // null: there is none.
  std::shared_ptr<const Pairs> pairs;
  // REQUIRES: there is one. With the limits.
  Pairs limited_pairs() const;
  // Of a copy: what `emit` was written for and refers to.
  std::shared_ptr<const Pending> original;
  // Data movement behind it, on the integers.
  std::vector<std::function<Status(ValueId* value)>> moves;
};

class Importer {
 public:
  Importer(const Model& model, bool allow_float, Graph* graph, Report* report);

  Status run();

  // --- the model
  int64_t opset(const NodeView& node) const { return model_.opset(node.domain()); }
  int uses(const std::string& tensor) const { return model_.uses(tensor); }
  bool is_output(const std::string& tensor) const;
  Status read(const onnx::TensorProto& proto, ConstantPtr* constant) {
    return read_constant(proto, &files_, constant);
  }

  // --- tensors by ONNX name. REQUIRES for input(): node.has_input(i); all inputs of a handled node
  // have a state.
  const Tensor& input(const NodeView& node, int i) const;
  void set_output(const NodeView& node, int i, Tensor tensor);

  // --- report. Refusing is not an error: the node's outputs become kRefused and the import goes
  // on.
  Status refuse(const NodeView& node, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  // What a node became; nodes that say nothing count as folded.
  void became(int node_index, const std::string& result, const std::string& level);
  void became(const NodeView& node, const std::string& result, const std::string& level) {
    became(node.index(), result, level);
  }
  // For --lint: a scale tensor as a node reads it. Every tensor is looked at once.
  void note_scale(const NodeView& node, const std::string& tensor, const std::vector<float>& scale);
  // Says that a needed input is still float, naming what would help.
  Status refuse_float(const NodeView& node, int i);

  // --- double Q/DQ pairs (double_qdq.cc)
  // The parameters that stand for a node's own after merging, or null.
  const Quant* merged_quant(const NodeView& node) const {
    const auto found = merged_.find(node.index());
    return found == merged_.end() ? nullptr : &found->second;
  }
  // A node in the middle of two merged pairs: its output is its input.
  bool is_bypassed(const NodeView& node) const { return bypassed_.count(node.index()) != 0; }

  // --- the graph
  Graph& graph() { return *graph_; }
  // By value: adding to the graph moves its values.
  Shape shape_of(ValueId value) const { return graph_->values[value].type.shape; }
  // float32 of int32: fl32(f(acc) * scale), one scale or one for each index of `axis`.
  ValueId dequantize_accumulators(const NodeView& node, ValueId acc,
                                  const std::vector<float>& scale, int axis);
  // Maps each code to a float32: one table, or for bytes one for each index of the last axis.
  ValueId new_float_lut(const NodeView& node, ValueId x, const std::vector<float>& table,
                        const std::string& name);
  // A value that is not constant yet written by no node.
  ValueId new_value(const std::string& name, DType dtype, const Shape& shape,
                    const Quant* quant = nullptr);
  ValueId new_lut(const NodeView& node, ValueId x, const std::vector<uint8_t>& table,
                  bool per_channel, const std::string& name, const Quant* quant);
  // One table by codes of x: stored values of `dtype`, UINT8 or INT16.
  ValueId new_wide_lut(const NodeView& node, ValueId x, const std::vector<int32_t>& table,
                       DType dtype, const Quant* quant);
  // An 8-bit value as INT16, the same numbers. Itself where it is INT16.
  ValueId widened(const NodeView& node, ValueId x);
  // An INT16 value as UINT8, limited.
  ValueId narrowed(const NodeView& node, ValueId x, const Quant* quant);
  // uint16 tensors are INT16 in the graph, less 32768; the raw UINT16 is at its edges. Each gives
  // back what the other was made of.
  ValueId stored_uint16(const std::string& name, ValueId raw);
  ValueId raw_uint16(const std::string& name, ValueId stored);
  // `table` of a function of two tensors; `shape` is the result's.
  ValueId new_pair_lut(const NodeView& node, const Pairs& pairs, const Shape& shape, DType dtype,
                       const std::vector<uint8_t>& table, const Quant* quant);
  // The same 8-bit tensor as int8 or uint8: the sign bit flipped, 128 more or less.
  ValueId flip_sign(const std::string& name, const char* source_op, ValueId x, DType dtype);
  // The same bytes as another 8-bit type: truth values are bytes 0 and 1 within the graph.
  ValueId relabel(const std::string& name, const char* source_op, ValueId x, DType dtype);
  ValueId transpose(const NodeView& node, ValueId x, const std::vector<int>& perm,
                    const std::string& name = "");
  ValueId reshape(const NodeView& node, ValueId x, const Shape& shape,
                  const std::string& name = "");
  // `fill`: an element's bits as the graph stores it.
  ValueId gather(const NodeView& node, ValueId x, const IndexMaps& maps, int64_t fill);
  // [n, c, h, w] <-> [n, h, w, c]; a value made by from_nhwc() gives its origin back.
  ValueId to_nhwc(const NodeView& node, ValueId x);
  ValueId from_nhwc(const NodeView& node, ValueId x, const std::string& name);
  // x with this axis last, and a result of that form with the axis back in its place.
  ValueId axis_last(const NodeView& node, ValueId x, int axis);
  ValueId axis_back(const NodeView& node, ValueId y, int axis, const std::string& name);
  // The value with this quantisation as its metadata: itself, or a copy where it already has
  // another one.
  ValueId with_quant(const NodeView& node, ValueId x, const Quant& quant);
  // The value of a plain tensor in the stored domain, made where it is a constant; kNoValue where
  // it is still float between DequantizeLinear and QuantizeLinear.
  ValueId plain_value(const std::string& name, const Tensor& tensor);
  // A constant's integers as a stored-domain constant of the graph. REQUIRES: an integer type of 8
  // or 16 bits.
  ValueId stored_constant(const Constant& constant, const Quant& quant, const std::string& name);
  // ONNX Runtime keeps what a convolution made in NHWC until data movement ends it; its broadcasts
  // depend on that.
  bool in_nhwc(ValueId value) const { return nhwc_.count(value) != 0; }
  void mark_nhwc(ValueId value) { nhwc_.insert(value); }

  // --- tables and pending operators (table.cc)
  // The entries of a table, made explicit. False: too large, refused.
  bool entries(const Tensor& table, std::vector<float>* out) const;
  // The float reading of a constant. False: it is neither dequantised nor of a float type.
  bool constant_floats(const Tensor& constant, std::vector<float>* out) const;
  Status quantize_table(const NodeView& node, const Tensor& table, const Quant& out, Limits limits,
                        const std::string& name, ValueId* result);
  // Output 0 of the node is input i after f, elementwise.
  Status map_table(const NodeView& node, int i, const std::function<float(float)>& f);
  // Input i as a function of at most two tensors' bytes. False: it is none.
  bool pairs_of(const NodeView& node, int i, Pairs* out);
  // f of two such functions. Null: they take more than two tensors.
  std::shared_ptr<const Pairs> joined(const NodeView& node, const Pairs& a, const Pairs& b,
                                      const std::function<float(float, float)>& f);
  // Makes that output 0 of the node, of `shape`. False: they take more than two tensors.
  bool join_pairs(const NodeView& node, const Pairs& a, const Pairs& b, const Shape& shape,
                  const std::function<float(float, float)>& f);
  Status quantize_pairs(const NodeView& node, const Pairs& pairs, const Shape& shape,
                        const Quant& out, Limits limits, ValueId* result);
  Status pairs_to_float(const NodeView& node, const Pairs& pairs, const Shape& shape,
                        ValueId* result);
  // Floats, quantised per tensor, as a constant of the graph.
  ValueId quantized_constant(const std::vector<float>& real, const Shape& shape, const Quant& out,
                             Limits limits);
  // A table or a float constant, quantised: a value of the graph. *result stays kNoValue where it
  // was refused.
  Status quantize_tensor(const NodeView& node, const Tensor& tensor, const Quant& out,
                         Limits limits, ValueId* result);
  // The lesser or the greater of two values' elements.
  ValueId min_max(const NodeView& node, ValueId a, ValueId b, bool maximum,
                  const Quant* quant = nullptr);
  // What a node that takes over input i may change: the pending operator itself, or where others
  // read it, too, a copy, which computes it once more; a function of two tensors as one. Null: the
  // input is neither.
  std::shared_ptr<Pending> own_pending(const NodeView& node, int i);
  // Starts a pending operator as output 0 of a node.
  std::shared_ptr<Pending> defer(const NodeView& node, const Shape& shape);
  // Float islands: what made this tensor, which waits for its QuantizeLinear or was refused by it,
  // as a float operator. False: that cannot be.
  bool make_producer_float(const std::string& tensor, ValueId* y);
  // True when output 0 of the node that made input i may be taken over by `node`: nothing else
  // reads it.
  bool sole_reader(const NodeView& node, int i) const;
  Status resolve(const NodeView& quantize, const std::shared_ptr<Pending>& pending,
                 const Quant& out, ValueId* result);

 private:
  Status quantize_wide_table(const NodeView& node, const Tensor& table, const Quant& out,
                             Limits limits, ValueId* result);
  ValueId flip_16(const std::string& name, ValueId x, DType dtype);
  ValueId map_type(const std::string& name, const char* source_op, ValueId x, DType dtype,
                   uint8_t flip);
  Status import_inputs();
  void refuse_input(const std::string& name, const std::string& rule, const std::string& remedy);
  Status visit(const NodeView& node);
  Status assess(const NodeView& node);
  // --- float islands (float_fallback.cc)
  // A refused node as a float operator, if it has a float form: where they are allowed.
  Status retry_in_float(const NodeView& node);
  Status make_float(const NodeView& node, ValueId* made);
  void set_float(const NodeView& node, ValueId y);
  Status export_outputs();
  // `node` wrote the tensor; null for inputs and initialisers.
  Status export_output(const std::string& name, const Tensor& tensor, const NodeView* node,
                       ValueId* result);
  Status dequantize_output(const std::string& name, const Tensor& tensor, const NodeView* node,
                           ValueId* result);
  Status refuse_output(const std::string& name, const NodeView* node, const std::string& why);
  ValueId copy(const std::string& name, ValueId x);
  Status constant_state(const std::string& name);
  // The node that makes a node's first input, looking through Identity, if nothing else reads it;
  // else null.
  const NodeView* sole_producer(const NodeView& node) const;
  bool pair_quant(const NodeView& q, const NodeView& dq, Quant* result) const;
  void merge_double_pairs();
  std::vector<int> constant_nodes() const;
  Status load_quant_parameters();
  Status charge_derived();
  void drop_unread_nodes();
  // Findings of the nodes, in the file's order.
  void write_report();
  void report_unresolved();

  // --- what follows a refused node (stand_in.cc)
  // Puts a value in the place of input i, which comes from a refused node. False: too little is
  // known of it.
  bool stand_in(const NodeView& node, int i);
  // What a QuantizeLinear reads is float for its eyes only: for other readers it is not known.
  void drop_float_stand_in(const NodeView& node);
  // The shape of output i of a node whose outputs are refused, as far as it can be told.
  Status note_shape(const NodeView& node, int i);
  void not_assessed(const NodeView& node, const std::string& origin);
  // The refused node or input that a tensor depends on, as messages name it; "" for none.
  const std::string& origin(const std::string& tensor) const;

  struct NodeOutcome {
    std::string result, level = "I0";  // "": folded
    std::string rule, tensor, remedy;  // rule not empty: refused
    std::string not_assessed;          // why
  };

  const Model& model_;
  const bool allow_float_;
  Graph* graph_;
  Report* report_;
  std::vector<std::unique_ptr<NodeView>> nodes_;  // by index in the file
  std::vector<NodeOutcome> outcomes_;             // by index in the file
  std::unordered_map<std::string, Tensor> tensors_;
  std::unordered_set<std::string> noted_scales_;
  std::unordered_map<std::string, std::string> origins_;  // by tensor, see origin()
  std::unordered_map<std::string, const onnx::ValueInfoProto*> value_infos_;
  std::unordered_set<ValueId> nhwc_;
  std::unordered_map<ValueId, ValueId> nhwc_form_;  // NCHW value -> the same in NHWC
  std::unordered_map<ValueId, ValueId> other_16_;   // UINT16 value <-> the same as INT16
  std::unordered_map<int, Quant> merged_;
  std::unordered_set<int> bypassed_;
  uint64_t derived_bytes_ = 0;  // of constants and tables that nodes made
  size_t charged_values_ = 0;   // values of the graph that are counted in it
  uint64_t model_bytes_;
  ExternalFiles files_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_IMPORTER_H_

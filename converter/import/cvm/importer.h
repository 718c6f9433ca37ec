// SPDX-License-Identifier: Apache-2.0
// The state of one import: the state of each entry of the file, and the graph that is built. Nodes
// are visited in the file's order. Arithmetic on one tensor is not emitted at once, but collected
// in a sequence (fused_ops.h) until a reader needs the values, or a second reader comes.
//
// Values of the graph have the file's shapes, NCHW. Operators that need NHWC are put between
// Transposes, which passes/ remove.
#ifndef QRT_CONVERTER_IMPORT_CVM_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_CVM_IMPORTER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "converter/import/common/growth.h"
#include "converter/import/cvm/fused_ops.h"
#include "converter/import/cvm/infer.h"
#include "converter/import/cvm/model.h"
#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_cvm {

struct Op {
  size_t index;
  const Node& node;

  EntryId input(int i = 0) const { return node.inputs[static_cast<size_t>(i)]; }
  EntryId output(uint32_t i = 0) const { return node.first_output + i; }
};

// A value of the graph, how its integers are stored, and the range they lie in.
struct Stored {
  ValueId value = kNoValue;
  Storage storage;
  Range range;
};

// A product (or a sum) that is not emitted yet, since its requantisation is not known. `emit` adds
// its operators and returns their value, which has the entry's shape; with null `requant` these are
// the INT32 accumulators.
struct Product {
  Range range;       // range of the accumulators
  int channel_axis;  // dimension of the entry's shape
  std::function<ValueId(std::unique_ptr<fb::RequantT> requant, Storage storage)> emit;
  std::string name;  // "Conv2D"
};

// A binary operation that is not emitted yet: its operands, and the operations on each of them
// before it.
struct BinaryOp {
  Stored a, b;
  std::vector<ElementOp> a_ops, b_ops;
  fb::FormulaPair function;
};

// A sequence of operations that is not emitted yet. It starts from a value, a product or a pair.
struct FusedOps {
  Stored from;
  std::shared_ptr<Product> product;
  std::shared_ptr<BinaryOp> pair;
  std::vector<ElementOp> element_ops;
  std::vector<Range> ranges;  // ranges of the values: before the first operation, and behind each
  bool wraps = false;         // some operation may overflow int32
  std::vector<size_t> nodes;  // indices of the file's nodes in the sequence

  const Range& range() const { return ranges.back(); }
};

class Importer {
 public:
  Importer(const Model& model, const std::vector<Form>& forms, Graph* graph, Report* report);

  Status run();

  Graph& graph() { return *graph_; }
  const Form& form(EntryId entry) const { return forms_[entry]; }
  const Shape& shape(EntryId entry) const { return forms_[entry].shape; }
  const std::string& name_of(EntryId entry) const { return op_of(entry).node.name; }
  Range range(EntryId entry) const;
  // Returns the elements of a parameter, or null for a computed entry.
  const std::vector<int32_t>* constant(EntryId entry) const;

  // Returns the entry as a value of the graph, in the smallest storage that is proven to hold it.
  Stored stored(EntryId entry);
  // Returns the entry in this storage, which has to hold it.
  ValueId stored_as(EntryId entry, Storage storage);
  ValueId stored_int32(EntryId entry) { return stored_as(entry, {DType::kInt32, 0}); }

  // Defers the operator: its output is input i's sequence with one more operation.
  void extend(const Op& op, int i, ElementOp operation);
  // Defers an operator that takes several operations.
  void extend(const Op& op, int i, std::vector<ElementOp> element_ops);
  void set_product(const Op& op, std::shared_ptr<Product> product);
  void join(const Op& op, fb::FormulaPair function);
  // Multiplies input i by one factor per channel. Returns false, and changes nothing, where the
  // input's sequence cannot take factors.
  bool scale_channels(const Op& op, int i, EntryId factors);
  // Sets an output to a value of the graph. `became` describes the operators in the report.
  void set_output(const Op& op, const Stored& stored, const std::string& became,
                  uint32_t output = 0);

  // Adds a value for an operator's result. `name` is the node's where the value is a whole entry of
  // the CVM graph, and "" for intermediate values.
  ValueId new_value(const std::string& name, Storage storage, const Shape& shape);
  // Adds a node and returns its options, which the caller fills before the next node is added.
  template <class T>
  T& add_node(const Op& op, std::vector<ValueId> inputs, ValueId output) {
    graph_->nodes.push_back(
        make_node<T>(op.node.name, op.node.function, std::move(inputs), {output}));
    return options<T>(graph_->nodes.back());
  }
  ValueId transposed(const Op& op, ValueId value, Storage storage, std::vector<uint8_t> perm);
  ValueId reshaped(const Op& op, ValueId value, Storage storage, const Shape& shape);
  // Emits one operation on `from` without deferring it.
  Stored limited(const Op& op, const Stored& from, ElementOp operation);
  // Emits a table look-up of `from`, whose values are bytes: results[value + zero point], 256 in
  // all.
  Stored table_of(const Op& op, const Stored& from, const std::vector<int32_t>& results,
                  Range range);
  // Returns the entry's values clamped to [0, size - 1], as INT32.
  Stored clamped_indices(const Op& op, EntryId entry, int64_t size);

  // Refuses an operator. Nodes that depend on it are not imported; all others are. Returns OK.
  Status refuse(const Op& op, const std::string& rule, const std::string& remedy);

 private:
  struct State {
    std::shared_ptr<FusedOps> fused;  // null once its operators are in the graph
    Stored stored;
    size_t readers = 0;
    bool refused = false;
  };

  void count_readers();
  // Returns the entry of an equal earlier node, or the entry itself.
  EntryId same_as(EntryId entry) const { return aliases_[entry]; }
  void import_input();
  Status visit(size_t index);
  Status export_outputs();
  std::shared_ptr<FusedOps> take_fused(EntryId entry);
  static void add_op(ElementOp operation, FusedOps* fused);
  Stored write(EntryId entry, const FusedOps& fused, const Storage* wanted);
  Stored write_product(const Op& op, const FusedOps& fused, const Storage* wanted);
  Stored write_formula(const Op& op, const Stored& from, const std::vector<ElementOp>& element_ops,
                       Range range, const Storage* wanted);
  ValueId write_table(const Op& op, const Stored& from, const std::vector<int32_t>& results,
                      Storage storage);
  Stored write_binary_op(const Op& op, const FusedOps& fused, const Storage* wanted);
  ValueId add_parameter(EntryId entry, Storage storage);
  // Returns an operand of a pair as a value of the graph. Adds to `element_ops` the operations of
  // its sequence that the pair's operator does itself.
  Stored operand(EntryId entry, std::vector<ElementOp>* element_ops);
  bool may_be_joined(EntryId entry) const;
  bool gives_sums(EntryId entry) const;
  void report_fused(const FusedOps& fused, const std::string& became);
  Op op_of(EntryId entry) const;

  const Model& model_;
  const std::vector<Form>& forms_;
  Graph* graph_;
  Growth growth_;
  Report* report_;
  std::vector<State> states_;        // indexed by entry
  std::vector<EntryId> aliases_;     // indexed by entry: the first entry that is equal to it
  std::vector<std::string> became_;  // indexed by node
  std::vector<bool> refused_;        // indexed by node
};

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_IMPORTER_H_

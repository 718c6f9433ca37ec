// SPDX-License-Identifier: Apache-2.0
// The state of one import: what each entry of the file has become, and the graph that grows from
// it. Nodes are visited in the file's order. Arithmetic on one tensor is not written at once: it
// waits in a sequence (fused_ops.h) until a reader needs the values, or a second reader comes.
//
// Values of the graph have the file's shapes, NCHW; what works on NHWC stands between Transposes,
// which passes/ move away.
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

// A value of the graph and what it holds.
struct Stored {
  ValueId value = kNoValue;
  Storage storage;
  Range range;
};

// A product (or a sum) of which the requantisation is still open. `emit` adds its operators and
// returns the value, of the entry's shape: with null options the accumulators, INT32.
struct Product {
  Range range;       // range of the accumulators
  int channel_axis;  // dimension of the entry's shape
  std::function<ValueId(std::unique_ptr<fb::RequantT> requant, Storage storage)> emit;
  std::string name;  // "Conv2D"
};

// Two operands and what joins them.
struct BinaryOp {
  Stored a, b;
  std::vector<ElementOp> a_ops, b_ops;
  fb::FormulaPair function;
};

// Arithmetic that waits. It starts from a value, a product or a pair.
struct FusedOps {
  Stored from;
  std::shared_ptr<Product> product;
  std::shared_ptr<BinaryOp> pair;
  std::vector<ElementOp> element_ops;
  std::vector<Range> ranges;  // ranges of the values: before the first operation, and behind each
  bool wraps = false;         // some step may leave int32
  std::vector<size_t> nodes;  // indices of the file's nodes that it stands for

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
  // Returns the elements of a parameter; null for what is computed.
  const std::vector<int32_t>* constant(EntryId entry) const;

  // Returns the entry as a value of the graph, in the smallest storage that is proven to hold it.
  Stored stored(EntryId entry);
  // Returns the entry in this storage, which has to hold it.
  ValueId stored_as(EntryId entry, Storage storage);
  ValueId stored_int32(EntryId entry) { return stored_as(entry, {DType::kInt32, 0}); }

  // Makes the operator's output one more step on input i.
  void extend(const Op& op, int i, ElementOp operation);
  // Several steps at once.
  void extend(const Op& op, int i, std::vector<ElementOp> element_ops);
  void set_product(const Op& op, std::shared_ptr<Product> product);
  void join(const Op& op, fb::FormulaPair function);
  // Makes input i times one factor per channel; false where its sequence cannot take these.
  bool scale_channels(const Op& op, int i, EntryId factors);
  // The output is that value.
  void set_output(const Op& op, const Stored& stored, const std::string& became,
                  uint32_t output = 0);

  // Adds a value for what an operator makes; it gets a name only where it holds a whole entry.
  ValueId new_value(const std::string& name, Storage storage, const Shape& shape);
  // Adds a node with default options and gives them; the caller fills them at once.
  template <class T>
  T& add_node(const Op& op, std::vector<ValueId> inputs, ValueId output) {
    graph_->nodes.push_back(
        make_node<T>(op.node.name, op.node.function, std::move(inputs), {output}));
    return options<T>(graph_->nodes.back());
  }
  ValueId transposed(const Op& op, ValueId value, Storage storage, std::vector<uint8_t> perm);
  ValueId reshaped(const Op& op, ValueId value, Storage storage, const Shape& shape);
  // One step, written at once.
  Stored limited(const Op& op, const Stored& from, ElementOp operation);
  // A table of 256 results, by value + the zero point of `from`, which are bytes.
  Stored table_of(const Op& op, const Stored& from, const std::vector<int32_t>& results,
                  Range range);
  // Returns the entry's values limited to 0 .. size - 1, as INT32.
  Stored clamped_indices(const Op& op, EntryId entry, int64_t size);

  // Refuses an operator, which ends the import of the nodes behind it, not of the others. Returns OK.
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
  // Returns an operand of a pair, a value, and adds to `element_ops` what can be done on the way.
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

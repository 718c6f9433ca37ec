// SPDX-License-Identifier: Apache-2.0
// Imports node by node, and collects chains on the way.
#include "converter/import/cvm/importer.h"

#include <algorithm>
#include <map>

namespace qrt::convert::from_cvm {
namespace {

using F = fb::FormulaFunction;

// The most operations in a sequence; longer ones are split, since a Formula takes 64.
constexpr size_t kMaxLinks = 60;

Range precision_range(int precision) { return {-alpha(precision), alpha(precision)}; }

}  // namespace

Importer::Importer(const Model& model, const std::vector<Form>& forms, Graph* graph, Report* report)
    : model_(model),
      forms_(forms),
      graph_(graph),
      report_(report),
      states_(model.entries().size()),
      aliases_(model.entries().size()),
      became_(model.nodes().size()),
      refused_(model.nodes().size()) {}

Status Importer::run() {
  graph_->source_format = "cvm";
  graph_->source_producer = model_.version().empty() ? "MRT" : "MRT, " + model_.version();
  graph_->reference = "cvm-formal";
  count_readers();
  import_input();
  for (size_t i = 0; i < model_.nodes().size(); ++i) {
    const Node& node = model_.nodes()[i];
    if (node.is_variable || same_as(node.first_output) != node.first_output) continue;
    Status status = visit(i);
    if (!status.ok()) return std::move(status).at(label(node, i));
  }
  QRT_TRY(export_outputs());
  for (size_t i = 0; i < model_.nodes().size(); ++i) {
    const Node& node = model_.nodes()[i];
    if (node.is_variable || refused_[i]) continue;
    const bool is_copy = same_as(node.first_output) != node.first_output;
    if (became_[i].empty()) became_[i] = is_copy ? "the same as an earlier node" : "not used";
    report_->converted(node.name, node.function, became_[i], "I0");
  }
  if (!report_->has_refusals()) return Status();
  return error(Code::kUnsupported, "%zu of %zu nodes cannot be converted",
               report_->count(Outcome::kRefused), model_.nodes().size());
}

// Counts the readers of each entry. Equal nodes on equal entries count as one: MRT writes such
// nodes where two operators read one tensor.
void Importer::count_readers() {
  for (EntryId e = 0; e < aliases_.size(); ++e) aliases_[e] = e;
  std::map<std::string, EntryId> seen;
  for (const Node& node : model_.nodes()) {
    if (node.is_variable) continue;
    std::string key = node.function;
    for (EntryId e : node.inputs) key += "\n" + std::to_string(aliases_[e]);
    for (const auto& [name, value] : node.attributes) key += "\n" + name + "\n" + value;
    const auto [at, is_new] = seen.emplace(key, node.first_output);
    for (uint32_t k = 0; k < node.outputs && !is_new; ++k)
      aliases_[node.first_output + k] = at->second + k;
    for (EntryId e : node.inputs)
      if (is_new) ++states_[same_as(e)].readers;
  }
  for (EntryId e : model_.heads()) ++states_[same_as(e)].readers;
}

Op Importer::op_of(EntryId entry) const {
  const size_t node = model_.entries()[entry].node;
  return {node, model_.nodes()[node]};
}

// Imports the input as bytes, or as int32. A CVM runtime clamps values beyond the precision.
void Importer::import_input() {
  const EntryId entry = model_.input();
  const Form& form = forms_[entry];
  const Op op = op_of(entry);
  const bool is_byte = form.precision <= 8;
  const Storage declared{is_byte ? DType::kInt8 : DType::kInt32, 0};
  graph_->default_batch = form.shape[0];
  const ValueId input = new_value(op.node.name, declared, form.shape);
  graph_->inputs.push_back(input);
  State& state = states_[entry];
  const Range range = precision_range(form.precision);
  const auto limit = static_cast<int32_t>(range.hi);
  if (!is_byte) {
    state.fused = std::make_shared<FusedOps>();
    state.fused->from = {input, declared, kAnyInt32};
    state.fused->ranges = {kAnyInt32, range};
    state.fused->element_ops = {clamp_to(-limit, limit)};
    return;
  }
  const Storage storage = storage_for(range);
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i) {
    const int32_t v = std::clamp<int32_t>(static_cast<int8_t>(i), -limit, limit);
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(v + storage.zero_point);
  }
  const ValueId bytes = graph_->add_constant("", DType::kUInt8, {256}, table);
  state.stored = {new_value("", storage, form.shape), storage, range};
  add_node<fb::LutOptionsT>(op, {input, bytes}, state.stored.value);
}

Status Importer::visit(size_t index) {
  const Op op{index, model_.nodes()[index]};
  for (EntryId e : op.node.inputs) {
    if (!states_[same_as(e)].refused) continue;
    for (uint32_t k = 0; k < op.node.outputs; ++k) states_[op.output(k)].refused = true;
    refused_[index] = true;
    report_->not_assessed(op.node.name, op.node.function, "depends on a refused node");
    return Status();
  }
  for (EntryId e : op.node.inputs)
    if (const std::vector<int32_t>* values = constant(same_as(e)))
      growth_.read(values->size() * sizeof(int32_t));
  Status status = growth_.check(*graph_, model_.file_bytes());
  if (!status.ok())
    return refuse(op, status.message(),
                  "make the model's constants smaller: the 2^31 elements of a tensor and the "
                  "file's size bound them");
  return find_function(op.node.function)->import(*this, op);
}

Status Importer::refuse(const Op& op, const std::string& rule, const std::string& remedy) {
  for (uint32_t k = 0; k < op.node.outputs; ++k) states_[op.output(k)].refused = true;
  refused_[op.index] = true;
  report_->refused(label(op.node, op.index), op.node.function, rule, "", remedy);
  return Status();
}

// Exports all outputs, as bytes where no output's precision exceeds 8 bits, else as int32.
Status Importer::export_outputs() {
  int precision = 0;
  for (EntryId e : model_.heads()) precision = std::max(precision, forms_[e].precision);
  const bool is_byte = precision <= 8;
  for (EntryId head : model_.heads()) {
    const EntryId entry = same_as(head);
    if (states_[entry].refused) continue;
    const Op op = op_of(entry);
    // Adds a value with the name and shape of this output, once for each output.
    const auto output = [&](DType dtype) {
      return new_value(op_of(head).node.name, {dtype, 0}, shape(entry));
    };
    ValueId made;
    if (is_byte) {
      const Range values = range(entry);
      if (!values.within(-128, 127)) {
        (void)refuse(op,
                     "is an output of precision " + std::to_string(forms_[entry].precision) +
                         ", a byte, but its values may lie from " + std::to_string(values.lo) +
                         " to " + std::to_string(values.hi),
                     "quantise the outputs with a precision that holds their values (cvm_clip)");
        continue;
      }
      const Storage storage = storage_for(values);
      const ValueId from = stored_as(entry, storage);
      std::vector<uint8_t> table(256);
      for (int i = 0; i < 256; ++i)
        table[static_cast<size_t>(i)] = static_cast<uint8_t>(i - storage.zero_point);
      made = output(DType::kInt8);
      const ValueId bytes = graph_->add_constant("", DType::kInt8, {256}, table);
      add_node<fb::LutOptionsT>(op, {from, bytes}, made);
    } else {
      made = stored_int32(entry);
      if (graph_->producer(made) < 0 || graph_->is_output(made)) {
        const ValueId copy = output(DType::kInt32);
        const Shape& s = shape(entry);
        add_node<fb::ReshapeOptionsT>(op, {made}, copy).shape.assign(s.begin(), s.end());
        made = copy;
      } else {
        graph_->values[made].name = op_of(head).node.name;
      }
    }
    graph_->outputs.push_back(made);
  }
  return Status();
}

const std::vector<int32_t>* Importer::constant(EntryId entry) const {
  const Node& node = op_of(entry).node;
  return node.is_variable && entry != model_.input() ? &model_.parameter(entry) : nullptr;
}

Range Importer::range(EntryId entry) const {
  const State& state = states_[same_as(entry)];
  if (state.fused) return state.fused->range();
  if (const auto* values = constant(entry)) return range_of(*values);
  return state.stored.range;
}

ValueId Importer::new_value(const std::string& name, Storage storage, const Shape& shape) {
  Value v;
  v.name = name;
  v.type = {storage.dtype, shape};
  // Scale 1 stands for the integers themselves. Dense layers fold the zero point that is set here.
  if (storage.dtype == DType::kUInt8 || storage.dtype == DType::kInt16)
    v.quantization = {{1.0f}, {storage.zero_point}, -1};
  return graph_->add_value(std::move(v));
}

ValueId Importer::transposed(const Op& op, ValueId value, Storage storage,
                             std::vector<uint8_t> perm) {
  Shape to;
  for (uint8_t p : perm) to.push_back(graph_->values[value].type.shape[p]);
  const ValueId made = new_value("", storage, to);
  add_node<fb::TransposeOptionsT>(op, {value}, made).perm = std::move(perm);
  return made;
}

ValueId Importer::reshaped(const Op& op, ValueId value, Storage storage, const Shape& shape) {
  const ValueId made = new_value("", storage, shape);
  add_node<fb::ReshapeOptionsT>(op, {value}, made).shape.assign(shape.begin(), shape.end());
  return made;
}

ValueId Importer::add_parameter(EntryId entry, Storage storage) {
  Value v;
  v.name = op_of(entry).node.name;
  v.type = {storage.dtype, shape(entry)};
  v.is_constant = true;
  if (storage.dtype == DType::kUInt8 || storage.dtype == DType::kInt16)
    v.quantization = {{1.0f}, {storage.zero_point}, -1};
  v.data = stored_bytes(*constant(entry), storage);
  return graph_->add_value(std::move(v));
}

Stored Importer::stored(EntryId e) {
  const EntryId entry = same_as(e);
  State& state = states_[entry];
  if (state.stored.value != kNoValue) return state.stored;
  if (constant(entry)) {
    const Range values = range(entry);
    const Storage storage = storage_for(values);
    state.stored = {add_parameter(entry, storage), storage, values};
  } else {
    const std::shared_ptr<FusedOps> fused = std::move(state.fused);
    state.fused = nullptr;
    const Stored made = write(entry, *fused, nullptr);
    states_[entry].stored = made;
  }
  return states_[entry].stored;
}

ValueId Importer::stored_as(EntryId e, Storage storage) {
  const EntryId entry = same_as(e);
  State& state = states_[entry];
  if (state.fused && state.readers == 1) {
    const std::shared_ptr<FusedOps> fused = std::move(state.fused);
    state.fused = nullptr;
    const Stored made = write(entry, *fused, &storage);
    states_[entry].stored = made;
    return made.value;
  }
  if (constant(entry) && state.stored.value == kNoValue) return add_parameter(entry, storage);
  const Stored from = stored(entry);
  if (from.storage == storage) return from.value;
  return write_formula(op_of(entry), from, {}, from.range, &storage).value;
}

std::shared_ptr<FusedOps> Importer::take_fused(EntryId e) {
  const EntryId entry = same_as(e);
  State& state = states_[entry];
  if (state.fused && state.readers == 1 && state.fused->element_ops.size() < kMaxLinks)
    return std::move(state.fused);
  auto fused = std::make_shared<FusedOps>();
  fused->from = stored(entry);
  fused->ranges = {fused->from.range};
  return fused;
}

// Appends an operation. Leaves out a clamp to limits that hold already, and merges two clamps.
void Importer::add_op(ElementOp operation, FusedOps* fused) {
  if (operation.function == F::CLAMP) {
    if (fused->range().within(operation.value, operation.high)) return;
    if (!fused->element_ops.empty() && fused->element_ops.back().function == F::CLAMP) {
      const ElementOp& last = fused->element_ops.back();
      operation = clamp_to(std::clamp(last.value, operation.value, operation.high),
                           std::clamp(last.high, operation.value, operation.high));
      fused->element_ops.pop_back();
      fused->ranges.pop_back();
    }
  }
  fused->ranges.push_back(range_after(operation, fused->range(), &fused->wraps));
  fused->element_ops.push_back(std::move(operation));
}

void Importer::extend(const Op& op, int i, ElementOp operation) {
  extend(op, i, std::vector<ElementOp>{std::move(operation)});
}

void Importer::extend(const Op& op, int i, std::vector<ElementOp> element_ops) {
  std::shared_ptr<FusedOps> fused = take_fused(op.input(i));
  for (ElementOp& operation : element_ops) add_op(std::move(operation), fused.get());
  fused->nodes.push_back(op.index);
  states_[op.output()].fused = std::move(fused);
}

void Importer::set_product(const Op& op, std::shared_ptr<Product> product) {
  auto fused = std::make_shared<FusedOps>();
  fused->ranges = {product->range};
  fused->product = std::move(product);
  fused->nodes = {op.index};
  states_[op.output()].fused = std::move(fused);
}

bool Importer::scale_channels(const Op& op, int i, EntryId factors) {
  const EntryId entry = same_as(op.input(i));
  const State& state = states_[entry];
  const auto* values = constant(factors);
  if (!values || !state.fused || state.readers != 1 || !state.fused->product ||
      state.fused->wraps || !is_scalar(state.fused->element_ops) ||
      shape(op.output()) != shape(entry))
    return false;
  const Shape &x = shape(entry), &w = shape(factors);
  const int axis = state.fused->product->channel_axis - (x.rank() - w.rank());
  if (axis < 0 || w[axis] != w.elements() || w[axis] != x[state.fused->product->channel_axis])
    return false;
  ElementOp operation;
  operation.function = F::MULTIPLY;
  operation.by_channel = *values;
  // The factors are added only where the whole sequence so far fits the product's requantisation.
  std::vector<ElementOp> element_ops = state.fused->element_ops;
  element_ops.push_back(operation);
  if (!requantization(element_ops, element_ops.size(), state.fused->ranges[0])) return false;
  extend(op, i, std::move(operation));
  return true;
}

// Returns whether the only operator that reads the entry may take over its sequence. Accumulators
// are read as they are, except those that fit a byte, which the product itself writes.
bool Importer::may_be_joined(EntryId e) const {
  const State& state = states_[same_as(e)];
  return state.fused && state.readers == 1 && !state.fused->pair &&
         is_scalar(state.fused->element_ops) &&
         !(state.fused->product && storage_for(state.fused->range()).dtype == DType::kUInt8);
}

bool Importer::gives_sums(EntryId e) const {
  return may_be_joined(e) && states_[same_as(e)].fused->product;
}

Stored Importer::operand(EntryId e, std::vector<ElementOp>* element_ops) {
  const EntryId entry = same_as(e);
  if (!may_be_joined(entry)) return stored(entry);
  const State& state = states_[entry];
  FusedOps& fused = *state.fused;
  if (!fused.product) {
    *element_ops = fused.element_ops;
    report_fused(fused, "steps of a Formula");
    return fused.from;
  }
  *element_ops = fused.element_ops;
  const ValueId sums = fused.product->emit(nullptr, {DType::kInt32, 0});
  report_fused(fused, fused.product->name + ", int32 sums; steps of a Formula");
  return {sums, {DType::kInt32, 0}, fused.ranges[0]};
}

void Importer::join(const Op& op, fb::FormulaPair function) {
  using P = fb::FormulaPair;
  const Range x = range(op.input(0)), y = range(op.input(1));
  auto pair = std::make_shared<BinaryOp>();
  pair->function = function;
  // The runtime computes the pair within the product that is emitted last. So at most one operand
  // may be a product's int32 sums, and that product has to be emitted after the other operand.
  const bool a_is_last = gives_sums(op.input(0)) && !gives_sums(op.input(1));
  if (same_as(op.input(0)) == same_as(op.input(1))) {
    pair->a = pair->b = operand(op.input(0), &pair->a_ops);
    pair->b_ops = pair->a_ops;
  } else if (a_is_last) {
    pair->b = operand(op.input(1), &pair->b_ops);
    pair->a = operand(op.input(0), &pair->a_ops);
  } else {
    pair->a = gives_sums(op.input(0)) ? stored(op.input(0)) : operand(op.input(0), &pair->a_ops);
    pair->b = operand(op.input(1), &pair->b_ops);
  }
  const auto fused = std::make_shared<FusedOps>();
  Range made;
  switch (function) {
    case P::ADD: made = {x.lo + y.lo, x.hi + y.hi}; break;
    case P::SUBTRACT: made = {x.lo - y.hi, x.hi - y.lo}; break;
    case P::MULTIPLY: {
      const int64_t ends[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
      made = {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
      break;
    }
    case P::MAXIMUM: made = {std::max(x.lo, y.lo), std::max(x.hi, y.hi)}; break;
    case P::DIVIDE: {
      const int64_t most = std::max({-x.lo, x.hi, -x.hi, x.lo});
      made = {x.lo >= 0 && y.lo >= 0 ? 0 : -most, most};
      break;
    }
    case P::GREATER: made = {0, 1}; break;
  }
  if (!made.is_int32()) {
    fused->wraps = true;
    made = kAnyInt32;
  }
  fused->ranges = {made};
  fused->pair = std::move(pair);
  fused->nodes = {op.index};
  states_[op.output()].fused = fused;
}

void Importer::set_output(const Op& op, const Stored& made, const std::string& became,
                          uint32_t output) {
  State& state = states_[op.output(output)];
  state.stored = made;
  Value& value = graph_->values[made.value];
  if (value.name.empty() && !value.is_constant) value.name = op.node.name;
  became_[op.index] = became + ", " + describe(made.storage, made.range);
}

}  // namespace qrt::convert::from_cvm

// SPDX-License-Identifier: Apache-2.0
// The nodes that begin and end a step of an open loop (file/loops.h).
#include "converter/import/onnx/folding/loops.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

// Reads an input that a loop passes on or slices. A tensor that is float or quantised in the source
// is read as floats. *x stays kNoValue where the node was refused.
Status read_passed(Importer& importer, const NodeView& node, int i, ValueId* x, int* type) {
  *x = value_of(importer, node, i, type);
  if (*x == kNoValue) return importer.refuse_float(node, i);
  if (*type != kFloat || importer.allows_float()) return Status();
  *x = kNoValue;
  return importer.refuse(node, "'" + node.input(i) + "', which its steps pass on or take, is float",
                         node.input(i), remedy_to_compute_outside(importer, node));
}

// Reads the `count` inputs from index `first` on into *values and *types. *known stays false where
// the node was refused.
Status read_all(Importer& importer, const NodeView& node, int first, int count,
                std::vector<ValueId>* values, std::vector<int>* types, bool* known) {
  for (int i = first; i < first + count; ++i) {
    values->push_back(kNoValue);
    types->push_back(kUndefined);
    QRT_TRY(read_passed(importer, node, i, &values->back(), &types->back()));
    if (values->back() == kNoValue) return Status();
  }
  *known = true;
  return Status();
}

void set_result(Importer& importer, const NodeView& node, int i, int type, ValueId y) {
  Tensor t;
  t.kind = Tensor::Kind::kValue;
  t.type = type;
  t.value = y;
  t.shape = importer.builder().shape_of(y);
  importer.set_output(node, i, std::move(t));
}

// Reads the axes and directions of `count` slices. rank(i) is the rank of the tensor that slice i
// is taken from.
template <class Rank>
Status read_slices(const NodeView& node, size_t count, const Rank& rank,
                   std::vector<std::unique_ptr<fb::LoopSliceT>>* slices) {
  const std::vector<int64_t> axes = node.integers(kLoopAxes),
                             directions = node.integers(kLoopDirections);
  QRT_MODEL_CHECK(axes.size() == count && directions.size() == count,
                  "it has %zu axes and %zu directions, expected %zu", axes.size(),
                  directions.size(), count);
  for (size_t i = 0; i < count; ++i) {
    int axis;
    QRT_TRY(read_axis(axes[i], rank(i), &axis));
    slices->push_back(std::make_unique<fb::LoopSliceT>());
    slices->back()->axis = static_cast<uint8_t>(axis);
    slices->back()->reversed = directions[i] != 0;
  }
  return Status();
}

// Returns the number of states, or -1 where the node has fewer inputs than states.
int read_states(const NodeView& node, int inputs) {
  const int64_t states = node.integer(kLoopStates, 0);
  return states >= 0 && states <= inputs ? static_cast<int>(states) : -1;
}

}  // namespace

Status import_loop_begin(Importer& importer, const NodeView& node) {
  constexpr int kOwn = 2;  // outputs in front of the states
  const int count = node.input_count(), states = read_states(node, count);
  QRT_MODEL_CHECK(states >= 0 && node.output_count() == kOwn + count,
                  "it has %d inputs and %d outputs", count, node.output_count());
  std::vector<ValueId> inputs;
  std::vector<int> types;
  bool known = false;
  QRT_TRY(read_all(importer, node, 0, count, &inputs, &types, &known));
  if (!known) return Status();
  GraphBuilder& builder = importer.builder();
  fb::LoopBeginOptionsT o;
  o.states = static_cast<uint32_t>(states);
  const auto shape = [&](size_t i) {
    return builder.shape_of(inputs[static_cast<size_t>(states) + i]);
  };
  QRT_TRY(read_slices(
      node, static_cast<size_t>(count - states), [&](size_t i) { return shape(i).rank(); },
      &o.slices));
  std::vector<ValueId> outputs = {builder.new_value("", DType::kInt64, {1})};
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const Shape whole = builder.shape_of(inputs[at]);
    Shape taken = whole;
    if (i >= states) {
      const int axis = o.slices[static_cast<size_t>(i - states)]->axis;
      taken = Shape();
      for (int d = 0; d < whole.rank(); ++d)
        if (d != axis) taken.push_back(whole[d]);
    }
    outputs.push_back(builder.new_value(node.output(kOwn + i), builder.type_of(inputs[at]), taken));
  }
  importer.graph().nodes.push_back(
      make_node<fb::LoopBeginOptionsT>(node.name(), node.op(), inputs, outputs));
  options<fb::LoopBeginOptionsT>(importer.graph().nodes.back()) = o;
  importer.became(node, "LoopBegin", "I0");
  set_result(importer, node, 0, kInt64, outputs[0]);
  const bool has_row = node.integer(kLoopHasRow, 0) != 0;
  set_result(importer, node, 1, kInt64,
             has_row ? outputs[0] : builder.reshape(node, outputs[0], Shape()));
  for (int i = 0; i < count; ++i)
    set_result(importer, node, kOwn + i, types[static_cast<size_t>(i)],
               outputs[1 + static_cast<size_t>(i)]);
  return Status();
}

Status import_loop_end(Importer& importer, const NodeView& node) {
  const int count = node.input_count() - 2, states = read_states(node, count);
  QRT_MODEL_CHECK(states >= 0 && node.output_count() == count, "it has %d inputs and %d outputs",
                  node.input_count(), node.output_count());
  const NodeView* begin = importer.producer(node.input(0));
  QRT_MODEL_CHECK(begin && begin->has(kLoopBegin) && begin->output(0) == node.input(0) &&
                      begin->output_count() >= 2 + states,
                  "nothing begins the step that it ends");
  const Tensor mark = importer.input(node, 0);
  QRT_MODEL_CHECK(mark.is_value(), "the step's mark '%s' is no value", node.input(0).c_str());
  std::vector<ValueId> inputs;
  std::vector<int> types;
  bool known = false;
  QRT_TRY(read_all(importer, node, 1, count, &inputs, &types, &known));
  if (!known) return Status();
  GraphBuilder& builder = importer.builder();
  for (int i = 0; i < states; ++i) {
    const Tensor& state = importer.tensors().at(begin->output(2 + i));
    const auto at = static_cast<size_t>(i);
    const Shape next = builder.shape_of(inputs[at]);
    if (state.is_value() && state.type == types[at] && state.shape == next) continue;
    return importer.refuse(
        node,
        "its state '" + begin->input(i) + "' is " + element_type_name(state.type) + " " +
            state.shape.to_string() + " before a step and " + element_type_name(types[at]) + " " +
            next.to_string() +
            " behind it, and the number of its steps follows from an open dimension",
        node.input(1 + i),
        "export the model with a state that keeps its type and shape, or give the inputs' open "
        "sizes "
        "by --input-shape");
  }
  const std::optional<int64_t> trips = steps_of(importer.input(node, node.input_count() - 1),
                                                static_cast<int>(node.integer(kLoopAxis, -1)));
  if (!trips || *trips < 1 || *trips > INT32_MAX)
    return importer.refuse(
        node,
        trips ? "it has " + std::to_string(*trips) + " steps at these sizes of the inputs"
              : "its number of steps is computed in the run",
        node.input(node.input_count() - 1), "give the inputs' open sizes by --input-shape");
  fb::LoopEndOptionsT o;
  o.states = static_cast<uint32_t>(states);
  o.trips = static_cast<uint32_t>(*trips);
  const auto slice = [&](size_t i) {
    return builder.shape_of(inputs[static_cast<size_t>(states) + i]);
  };
  for (size_t i = 0; i < static_cast<size_t>(count - states); ++i)
    if (slice(i).rank() >= kMaxTensorRank)
      return error(Code::kUnsupported,
                   "what it puts together has %d dimensions, expected at most %d",
                   slice(i).rank() + 1, kMaxTensorRank);
  QRT_TRY(read_slices(
      node, static_cast<size_t>(count - states), [&](size_t i) { return slice(i).rank() + 1; },
      &o.slices));
  std::vector<ValueId> outputs;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    Shape shape = builder.shape_of(inputs[at]);
    if (i >= states) {
      const int axis = o.slices[static_cast<size_t>(i - states)]->axis;
      Shape whole;
      for (int d = 0; d <= shape.rank(); ++d)
        whole.push_back(d == axis ? *trips : shape[d < axis ? d : d - 1]);
      shape = whole;
    }
    outputs.push_back(builder.new_value(node.output(i), builder.type_of(inputs[at]), shape));
  }
  inputs.insert(inputs.begin(), mark.value);
  importer.graph().nodes.push_back(
      make_node<fb::LoopEndOptionsT>(node.name(), node.op(), std::move(inputs), outputs));
  options<fb::LoopEndOptionsT>(importer.graph().nodes.back()) = o;
  importer.became(node, "LoopEnd", "I0");
  for (int i = 0; i < count; ++i)
    set_result(importer, node, i, types[static_cast<size_t>(i)], outputs[static_cast<size_t>(i)]);
  return importer.tensors().check_growth(importer.graph());
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/folding/loops.h"

#include <algorithm>
#include <optional>

#include "converter/import/common/shell_word.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns the number that a tensor of one integer or truth value holds; nothing where it is not known.
std::optional<int64_t> read_number(const Tensor& t) {
  if (!t.is_plain_constant() || !t.constant->is_integer() || t.constant->elements() != 1)
    return std::nullopt;
  return t.constant->integer(0);
}

// Returns the truth value of an outer tensor, if no size decides on it.
std::optional<bool> read_truth(Importer& importer, const std::string& name) {
  if (!importer.tensors().load_initializer(name).ok()) return std::nullopt;
  const std::optional<int64_t> value = read_number(importer.tensors().at(name));
  const bool may_vary = importer.graph().batch_is_symbolic && !importer.is_free_of_inputs(name);
  if (!value || may_vary) return std::nullopt;
  return *value != 0;
}

// Returns the condition behind a step of a Loop in which it was true; nothing where the body computes it.
std::optional<bool> condition_behind_step(Importer& importer, const onnx::GraphProto& body) {
  std::string name = body.output(0).name();
  for (int hops = 0; hops <= body.node_size(); ++hops) {
    if (name == body.input(1).name()) return true;
    for (const onnx::TensorProto& t : body.initializer()) {
      ConstantPtr constant;
      if (t.name() != name) continue;
      if (!importer.tensors().read(t, &constant).ok()) return std::nullopt;
      const std::optional<int64_t> value = read_number(constant_tensor(constant));
      return value ? std::optional<bool>(*value != 0) : std::nullopt;
    }
    const auto maker = std::find_if(
        body.node().begin(), body.node().end(),
        [&](const onnx::NodeProto& n) { return n.output_size() > 0 && n.output(0) == name; });
    if (maker == body.node().end()) return read_truth(importer, name);
    const NodeView node(*maker, 0);
    if (const onnx::TensorProto* value = node.tensor("value"); value && node.op() == "Constant") {
      ConstantPtr constant;
      if (!importer.tensors().read(*value, &constant).ok()) return std::nullopt;
      const std::optional<int64_t> number = read_number(constant_tensor(constant));
      return number ? std::optional<bool>(*number != 0) : std::nullopt;
    }
    const bool passes =
        node.op() == "Identity" || (node.op() == "Cast" && node.integer("to", 0) == kBool);
    if (!passes || maker->input_size() != 1) return std::nullopt;
    name = maker->input(0);
  }
  return std::nullopt;
}

// Returns whether a step takes or gives what is no tensor.
bool has_sequences(const onnx::GraphProto& body) {
  for (const auto* infos : {&body.input(), &body.output()})
    for (const onnx::ValueInfoProto& info : *infos)
      if (info.has_type() && !info.type().has_tensor_type() &&
          info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET)
        return true;
  return false;
}

// Says which sizes would make the number of steps known.
std::string remedy_for_sizes(Importer& importer) {
  std::string options;
  for (const onnx::ValueInfoProto& info : importer.model().graph().input()) {
    if (importer.model().initializers().count(info.name()) != 0) continue;
    bool is_open = false;
    std::string sizes;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      is_open |= !dim.has_dim_value();
      sizes += (sizes.empty() ? "" : "x") +
               (dim.has_dim_value() ? std::to_string(dim.dim_value()) : std::string("N"));
    }
    if (is_open) options += " --input-shape " + shell_word(info.name() + "=" + sizes);
  }
  return "give the inputs' open sizes in the place of each N," + options;
}

// Notes the loop, and says why it may still stand where it is in the import that counts.
Status note_steps(Importer& importer, const NodeView& node, const LoopForm& form, KnownLoop loop) {
  for (int i = form.states; i < node.output_count() && loop.steps == 0; ++i)
    if (node.has_output(i))
      return importer.refuse(node,
                             "it has no step, so that its output '" + node.output(i) + "' is empty",
                             node.output(i), "export the model without the loop");
  const bool is_inner = importer.model().is_in_open_loop(node.index());
  if (is_inner) loop.is_inner = true;
  importer.note_loop(node, loop);
  if (is_inner && !loop.tensor.empty())
    return importer.refuse(node,
                           "it stands in the body of another loop, and the numbers of steps of "
                           "both follow from open dimensions of the inputs",
                           loop.tensor, remedy_for_sizes(importer));
  if (importer.graph().batch_is_symbolic && !loop.tensor.empty())
    return importer.refuse(node,
                           "its number of steps follows from an open dimension of the inputs at "
                           "which qrt cannot import "
                           "the model",
                           loop.tensor, remedy_for_sizes(importer));
  return importer.refuse(node, "loops and branches lie too deep in one another", node.output(0),
                         "export the model with fewer Loop, Scan and If nodes within one another");
}

Status refuse_sequences(Importer& importer, const NodeView& node) {
  return importer.refuse(node, "its steps pass on a sequence or an optional, which is no tensor",
                         node.output(0),
                         "export the model with tensors in their place, which the steps' outputs "
                         "become by themselves");
}

}  // namespace

std::optional<int64_t> steps_of(const Tensor& t, int axis) {
  if (axis >= 0)
    return (!t.is_refused() || t.shape_known) && axis < t.shape.rank()
               ? std::optional<int64_t>(t.shape[axis])
               : std::nullopt;
  const std::optional<int64_t> number = read_number(t);
  return number ? std::optional<int64_t>(std::max<int64_t>(*number, 0)) : std::nullopt;
}

Status import_loop(Importer& importer, const NodeView& node) {
  if (node.has(kLoopBegin)) return import_loop_begin(importer, node);
  if (node.has(kLoopEnd)) return import_loop_end(importer, node);
  LoopForm form;
  QRT_TRY(read_loop(importer.model().graph().node(node.index()), node.index(), &form));
  if (has_sequences(*form.body)) return refuse_sequences(importer, node);
  const std::optional<bool> begins =
      node.has_input(1) ? read_truth(importer, node.input(1)) : std::optional<bool>(true);
  if (!begins)
    return importer.refuse(
        node, "its condition '" + node.input(1) + "' is computed in the run", node.input(1),
        "export the model with a loop whose condition is always true and whose trip count is a "
        "constant; or " +
            remedy_to_compute_outside(importer, node));
  KnownLoop loop;
  loop.node = node.label();
  if (*begins) {
    const std::optional<bool> goes_on = condition_behind_step(importer, *form.body);
    // Without a condition the standard ignores the body's, which ONNX Runtime does not.
    if (!goes_on || (!*goes_on && !node.has_input(1)))
      return importer.refuse(
          node,
          "its body computes the condition '" + form.body->output(0).name() +
              "' on which it goes on",
          node.output(0),
          "export the model with a body that passes its condition on, so that the trip count alone "
          "ends the loop; or " +
              remedy_to_compute_outside(importer, node));
    if (!node.has_input(0) && *goes_on)
      return importer.refuse(node, "it has no trip count, and nothing else ends it", node.output(0),
                             "give the loop a trip count that is a constant");
    loop.steps = 1;
    if (node.has_input(0)) {
      const std::optional<int64_t> trips = steps_of(importer.input(node, 0), -1);
      const bool is_free = importer.is_free_of_inputs(node.input(0));
      if (!trips || (!*goes_on && !is_free && importer.graph().batch_is_symbolic))
        return importer.refuse(node,
                               "its trip count '" + node.input(0) +
                                   "' is computed in the run, qrt repeats its body a fixed number "
                                   "of times",
                               node.input(0), remedy_for_constant(importer, node, 0));
      loop.steps = *goes_on ? *trips : std::min<int64_t>(*trips, 1);
      if (*goes_on && !is_free) loop.tensor = node.input(0);
    }
  }
  return note_steps(importer, node, form, loop);
}

Status import_scan(Importer& importer, const NodeView& node) {
  if (node.has(kLoopBegin)) return import_loop_begin(importer, node);
  if (node.has(kLoopEnd)) return import_loop_end(importer, node);
  constexpr int64_t kWithoutLengths = 9;
  if (importer.opset(node) < kWithoutLengths)
    return importer.refuse(node, "in opset 8 it has batches of sequences of several lengths",
                           node.output(0), "convert the model to opset 9 or later");
  LoopForm form;
  QRT_TRY(read_loop(importer.model().graph().node(node.index()), node.index(), &form));
  if (has_sequences(*form.body)) return refuse_sequences(importer, node);
  KnownLoop loop;
  loop.node = node.label();
  for (int i = 0; i < form.scanned; ++i) {
    const Shape& shape = importer.input(node, form.states + i).shape;
    int64_t axis = form.input_axes[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(axis >= -shape.rank() && axis < shape.rank(),
                    "scan_input_axes: axis %lld of a tensor of %d dimensions",
                    static_cast<long long>(axis), shape.rank());
    if (axis < 0) axis += shape.rank();
    const int64_t steps = shape[static_cast<int>(axis)];
    if (i == 0) {
      loop.steps = steps;
      loop.tensor = node.input(form.states);
      loop.axis = static_cast<int>(axis);
    }
    QRT_MODEL_CHECK(steps == loop.steps, "its scanned tensors have %lld and %lld slices",
                    static_cast<long long>(loop.steps), static_cast<long long>(steps));
  }
  return note_steps(importer, node, form, loop);
}

LoopsOfSizes loops_of_all_sizes(const Model& model, bool allow_float,
                                const std::vector<OpenDimension>& open, const KnownLoops& known) {
  // Multiples of 32, since networks of images divide their sizes by as much.
  constexpr int64_t kSizes[][2] = {{1, 64}, {2, 96}, {5, 160}};
  std::vector<KnownLoops> imports;
  for (const auto& [batch, other] : kSizes) {
    std::vector<int64_t> sizes;
    for (const OpenDimension& d : open) {
      const int64_t wanted = d.is_first && !d.is_length ? batch : other;
      const int64_t most = std::clamp(wanted, d.least, d.most);
      sizes.push_back(most - (most - d.least) % d.step);
    }
    Graph graph;
    Report report;
    Importer importer(model, allow_float, batch, &graph, &report,
                      name_sizes(model.graph(), open, sizes));
    if (importer.run().code() == Code::kInvalidModel) continue;  // it has no such sizes
    imports.push_back(importer.loops());
  }
  LoopsOfSizes loops;
  if (imports.empty()) loops.fixed = known;
  for (const KnownLoops& all : imports)
    for (const auto& loop : all) {
      const bool is_fixed =
          std::all_of(imports.begin(), imports.end(), [&](const KnownLoops& other) {
            const auto found = other.find(loop.first);
            return found != other.end() && found->second.steps == loop.second.steps;
          });
      if (is_fixed)
        loops.fixed.insert(loop);
      else if (!loop.second.tensor.empty() && !loop.second.is_inner)
        loops.open.insert(loop);
    }
  return loops;
}

Status check_unrolled_loops(Importer& importer) {
  for (const KnownLoop& loop : importer.model().unrolled_loops()) {
    if (loop.tensor.empty()) continue;
    const std::optional<int64_t> steps = steps_of(importer.tensors().at(loop.tensor), loop.axis);
    if (!steps || *steps == loop.steps) continue;
    importer.outcomes().refuse_outside("loop", loop.node,
                                       "it has " + std::to_string(*steps) +
                                           " steps at these sizes of the inputs, and " +
                                           std::to_string(loop.steps) + " at others",
                                       remedy_for_sizes(importer));
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx

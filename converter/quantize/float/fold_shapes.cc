// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/float/operators.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

// The most elements of a shape; longer tensors of integers are data.
constexpr int64_t kMostOfShape = 4096;

// The shapes and integers that a run on zeros gave.
struct Measured {
  int64_t batch = 1;
  std::map<std::string, Value> values;
  std::map<std::string, Tensor> integers;  // values that depend on shapes and constants only
};

class Measure {
 public:
  explicit Measure(const FloatModel& model) : model_(model) {
    // Values that depend on shapes and constants, but on no data.
    for (const auto& [name, constant] : model.constants) from_shapes_.insert(name);
    for (const Node& node : model.nodes) {
      const bool reads_shape = node.op == "Shape" || node.op == "Size";
      const bool all = std::all_of(node.inputs.begin(), node.inputs.end(), [&](const auto& x) {
        return x.empty() || from_shapes_.count(x) != 0;
      });
      if (reads_shape || all) from_shapes_.insert(node.outputs.begin(), node.outputs.end());
      // A run decides these, whatever the sizes are.
      if (node.op == "NonMaxSuppression") found_.emplace(node.outputs[0], 0);
      if (node.op == "NonZero") found_.emplace(node.outputs[0], 1);
    }
  }

  // Runs the model on zeros at a batch. `shapes` are those of the inputs that have an open
  // dimension besides the first.
  Status run(int64_t batch, const Shapes& shapes, Measured* measured) const {
    std::map<std::string, Tensor> feeds;
    for (const Value& input : model_.inputs) {
      Tensor t;
      t.element = input.element;
      t.shape = input.shape;
      if (const auto found = shapes.find(input.name); found != shapes.end() && !t.shape.empty())
        std::copy(found->second.begin() + 1, found->second.end(), t.shape.begin() + 1);
      if (!t.shape.empty() && t.shape[0] < 0) t.shape[0] = batch;
      if (std::any_of(t.shape.begin(), t.shape.end(), [](int64_t d) { return d < 0; }))
        return error(Code::kInvalidArgument,
                     "input '%s' has shape %s: samples must say what its open dimensions are",
                     input.name.c_str(), to_string(input.shape).c_str());
      if (!is_within(t.shape, model_.limits.value))
        return input_too_large(input, t.shape, model_.limits.value);
      (t.is_real() ? t.reals.resize(static_cast<size_t>(t.size()))
                   : t.integers.resize(static_cast<size_t>(t.size())));
      feeds[input.name] = std::move(t);
    }
    Interpreter interpreter;
    QRT_TRY(interpreter.create(model_, 1));
    measured->batch = batch;
    const auto see = [&](const std::string& name, const Tensor& value) {
      measured->values[name] = {name, value.shape, value.element};
      if (const auto found = found_.find(name); found != found_.end())
        measured->values[name].shape[found->second] = -1;
      if (!value.is_real() && value.size() <= kMostOfShape && from_shapes_.count(name) != 0)
        measured->integers[name] = value;
    };
    return interpreter.run_shapes(feeds, from_shapes_, see);
  }

 private:
  const FloatModel& model_;
  std::set<std::string> from_shapes_;
  std::map<std::string, size_t> found_;  // value -> the dimension that is as long as what is found
};

bool batch_is_open(const FloatModel& model) {
  return std::any_of(model.inputs.begin(), model.inputs.end(),
                     [](const Value& v) { return !v.shape.empty() && v.shape[0] < 0; });
}

// Runs the model with batches 2 and 3 if its batch is open, and at all given sizes of other open
// dimensions. Sets the batch to 1 if the model fails at these.
Status measure_all(const Measure& measure, FloatModel* model, std::vector<Measured>* runs) {
  constexpr int64_t kBatches[] = {2, 3};
  const std::vector<Shapes> none(1);
  const std::vector<Shapes>& sizes = model->sizes.empty() ? none : model->sizes;
  const size_t needed = std::max<size_t>(model->sample_sizes, 1);
  const auto run_all = [&](bool is_open) -> Status {
    runs->clear();
    const size_t count = std::max<size_t>(sizes.size(), is_open ? 2 : 1);
    for (size_t i = 0; i < count; ++i) {
      Measured measured;
      Status status =
          measure.run(is_open ? kBatches[i % 2] : 1, sizes[i % sizes.size()], &measured);
      // Sizes that no sample has are left out if a run fails there, as beyond the end of a table of
      // positions.
      if (status.ok())
        runs->push_back(std::move(measured));
      else if (i < needed || i >= sizes.size() || status.code() == Code::kOutOfMemory)
        return status;
    }
    return {};
  };
  const bool is_open = batch_is_open(*model);
  Status status = run_all(is_open);
  if (status.ok() || !is_open || status.code() == Code::kInvalidArgument ||
      status.code() == Code::kOutOfMemory)
    return status;
  for (Value& input : model->inputs)
    if (!input.shape.empty() && input.shape[0] < 0) input.shape[0] = 1;
  return run_all(false);  // reads the inputs' shapes from the model as it is now
}

// Joins the types and shapes that several runs gave one value: a dimension in which they differ is
// -1. Fails with kUnsupported where numbers of dimensions differ.
Status join(const std::vector<Measured>& runs, const std::string& name, Value* joined) {
  *joined = runs[0].values.at(name);
  for (const Measured& run : runs) {
    const Value& other = run.values.at(name);
    if (other.shape.size() != joined->shape.size())
      return error(Code::kUnsupported,
                   "'%s' has %zu or %zu dimensions, as the batch or a size is: export the model "
                   "with a batch of 1, or give samples of one size",
                   name.c_str(), joined->shape.size(), other.shape.size());
    for (size_t d = 0; d < other.shape.size(); ++d)
      if (other.shape[d] != joined->shape[d]) joined->shape[d] = -1;
  }
  return {};
}

// Returns the names of values that depend on open dimensions, by a Shape or Size of a tensor that
// has one. Such values could differ at sizes that were not measured.
std::set<std::string> follow_sizes(const FloatModel& model) {
  std::set<std::string> open;
  const auto is_open_shape = [](const Value& v) {
    return std::count(v.shape.begin(), v.shape.end(), -1) > 0;
  };
  std::set<std::string> has_open_shape;
  for (const Value& input : model.inputs)
    if (is_open_shape(input)) has_open_shape.insert(input.name);
  for (const auto& [name, value] : model.values)
    if (is_open_shape(value)) has_open_shape.insert(name);
  for (const Node& node : model.nodes) {
    const bool reads_shape = node.op == "Shape" || node.op == "Size";
    const bool follows = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const auto& x) {
      return open.count(x) != 0 || (reads_shape && has_open_shape.count(x) != 0);
    });
    if (follows) open.insert(node.outputs.begin(), node.outputs.end());
  }
  return open;
}

// Replaces a Reshape's computed shape by the result's shape, which has one open dimension.
void set_reshape(size_t at, FloatModel* model, GraphEditor* editor) {
  Node& node = model->nodes[at];
  const auto found = model->values.find(node.outputs[0]);
  if (found == model->values.end()) return;
  const Dims& shape = found->second.shape;
  if (std::count(shape.begin(), shape.end(), -1) > 1 ||
      std::count(shape.begin(), shape.end(), 0) > 0)
    return;
  node.attributes.erase("allowzero");
  editor->set_constant(at, 1, integer_tensor(shape));
}

}  // namespace

Status fold_shapes(FloatModel* model) {
  std::vector<Measured> runs;
  QRT_TRY(measure_all(Measure(*model), model, &runs));
  const bool has_sizes = !model->sizes.empty();
  model->values.clear();
  for (const auto& [name, value] : runs[0].values) {
    Value joined;
    QRT_TRY(join(runs, name, &joined));
    for (const Measured& run : runs) {
      const Dims& shape = run.values.at(name).shape;
      const bool has_batch = !shape.empty() && joined.shape[0] < 0 && shape[0] == run.batch;
      const int64_t own = elements(shape) / (has_batch ? run.batch : 1);
      if (has_sizes) joined.most_elements = std::max(joined.most_elements, own);
    }
    model->values[name] = joined;
  }
  for (Value& output : model->outputs)
    if (const auto found = model->values.find(output.name); found != model->values.end())
      output = found->second;

  const std::set<std::string> open = has_sizes ? follow_sizes(*model) : std::set<std::string>();
  for (const auto& first : runs[0].integers) {
    const bool is_fixed =
        open.count(first.first) == 0 &&
        std::all_of(runs.begin(), runs.end(), [&](const Measured& run) {
          const auto other = run.integers.find(first.first);
          return other != run.integers.end() && other->second.integers == first.second.integers;
        });
    if (is_fixed) model->constants[first.first] = first.second;
  }
  std::set<std::string> outputs;
  for (const Value& v : model->outputs) outputs.insert(v.name);
  GraphEditor editor(model);
  for (size_t i = 0; i < model->nodes.size(); ++i) {
    const Node& node = model->nodes[i];
    if (node.op == "Reshape" && model->constant(node.inputs[1]) == nullptr && !has_sizes)
      set_reshape(i, model, &editor);
    const bool is_folded =
        std::all_of(node.outputs.begin(), node.outputs.end(),
                    [&](const auto& y) { return y.empty() || model->constants.count(y) != 0; });
    const bool is_output = std::any_of(node.outputs.begin(), node.outputs.end(),
                                       [&](const auto& y) { return outputs.count(y) != 0; });
    if (is_folded && !is_output) {
      editor.remove(i);
    } else {
      for (const std::string& y : node.outputs) model->constants.erase(y);
    }
  }
  editor.finish();
  return Status();
}

}  // namespace qrt::quantize

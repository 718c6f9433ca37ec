#include <algorithm>
#include <set>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/float/operators.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

// Longer tensors of integers are data, not shapes.
constexpr int64_t kMostOfShape = 4096;

// What a run on zeros found out.
struct Measured {
  std::map<std::string, Value> values;
  std::map<std::string, Tensor> integers;  // of those that follow from shapes alone
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
    }
  }

  Status run(int64_t batch, Measured* measured) const {
    std::map<std::string, Tensor> feeds;
    for (const Value& input : model_.inputs) {
      Tensor t;
      t.element = input.element;
      t.shape = input.shape;
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
    const auto see = [&](const std::string& name, const Tensor& value) {
      measured->values[name] = {name, value.shape, value.element};
      if (!value.is_real() && value.size() <= kMostOfShape && from_shapes_.count(name) != 0)
        measured->integers[name] = value;
    };
    return interpreter.run(feeds, see, nullptr);
  }

 private:
  const FloatModel& model_;
  std::set<std::string> from_shapes_;
};

bool batch_is_open(const FloatModel& model) {
  return std::any_of(model.inputs.begin(), model.inputs.end(),
                     [](const Value& v) { return !v.shape.empty() && v.shape[0] < 0; });
}

// -1 where the two differ; false: different ranks.
bool join(const Dims& a, const Dims& b, Dims* joined) {
  *joined = a;
  if (a.size() != b.size()) return false;
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d] != b[d]) (*joined)[d] = -1;
  return true;
}

// The result's shape, with its one open dimension, in place of one that was computed.
void set_reshape(size_t at, FloatModel* model, Links* links) {
  Node& node = model->nodes[at];
  const auto found = model->values.find(node.outputs[0]);
  if (found == model->values.end()) return;
  const Dims& shape = found->second.shape;
  if (std::count(shape.begin(), shape.end(), -1) > 1 ||
      std::count(shape.begin(), shape.end(), 0) > 0)
    return;
  node.attributes.erase("allowzero");
  links->set_constant(at, 1, integer_tensor(shape));
}

}  // namespace

Status fold_shapes(FloatModel* model) {
  Measured one, two;
  const bool open = batch_is_open(*model);
  Measure measure(*model);
  constexpr int64_t kBatches[] = {2, 3};
  Status first = measure.run(open ? kBatches[0] : 1, &one);
  if (first.ok() && open) first = measure.run(kBatches[1], &two);
  if (!first.ok()) {
    if (!open || first.code() == Code::kInvalidArgument || first.code() == Code::kOutOfMemory)
      return first;
    for (Value& input : model->inputs)
      if (!input.shape.empty() && input.shape[0] < 0) input.shape[0] = 1;
    one = two = Measured();
    QRT_TRY(measure.run(1, &one));  // reads the inputs' shapes from the model as it is now
  }
  const bool varies = !two.values.empty();
  model->values.clear();
  for (const auto& [name, value] : one.values) {
    Value joined = value;
    if (varies && !join(value.shape, two.values[name].shape, &joined.shape))
      return error(Code::kUnsupported,
                   "'%s' has %zu or %zu dimensions, as the batch is: export the model with a batch "
                   "of 1",
                   name.c_str(), value.shape.size(), two.values[name].shape.size());
    model->values[name] = joined;
  }
  for (Value& output : model->outputs)
    if (const auto found = model->values.find(output.name); found != model->values.end())
      output = found->second;

  for (const auto& [name, value] : one.integers) {
    const bool is_fixed = !varies || two.integers[name].integers == value.integers;
    if (is_fixed) model->constants[name] = value;
  }
  std::set<std::string> outputs;
  for (const Value& v : model->outputs) outputs.insert(v.name);
  Links links(model);
  for (size_t i = 0; i < model->nodes.size(); ++i) {
    const Node& node = model->nodes[i];
    if (node.op == "Reshape" && model->constant(node.inputs[1]) == nullptr)
      set_reshape(i, model, &links);
    const bool is_folded =
        std::all_of(node.outputs.begin(), node.outputs.end(),
                    [&](const auto& y) { return y.empty() || model->constants.count(y) != 0; });
    const bool is_output = std::any_of(node.outputs.begin(), node.outputs.end(),
                                       [&](const auto& y) { return outputs.count(y) != 0; });
    if (is_folded && !is_output) {
      links.remove(i);
    } else {
      for (const std::string& y : node.outputs) model->constants.erase(y);
    }
  }
  links.finish();
  return Status();
}

}  // namespace qrt::quantize

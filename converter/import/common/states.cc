// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/states.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace qrt::convert {
namespace {

// The inputs or outputs of a graph that are none of a variable yet, and what messages call them.
struct Edges {
  const Graph& graph;
  const std::vector<ValueId>& values;
  const char* role;

  size_t count() const { return values.size() - graph.variables.size(); }
  const std::string& name(size_t i) const { return graph.values[values[i]].name; }
  // Returns count() where there is none of that name.
  size_t find(const std::string& wanted) const {
    size_t i = 0;
    while (i < count() && name(i) != wanted) ++i;
    return i;
  }
  // Returns a text such as "the model has no input 'h': it has 'x', 'c'".
  std::string lacks(const std::string& wanted) const {
    constexpr size_t kMostNames = 20;
    std::string text = std::string("the model has no ") + role + " '" + wanted + "': it has ";
    for (size_t i = 0; i < std::min(count(), kMostNames); ++i)
      text += (i == 0 ? "'" : ", '") + name(i) + "'";
    return text + (count() > kMostNames ? " ..." : "");
  }
};

// Finds the input and output that a pair names. A name may hold a '=', too.
Status find_pair(const std::string& pair, const Edges& inputs, const Edges& outputs, size_t* in,
                 size_t* out) {
  std::string why = "give the names of an input and an output as IN=OUT";
  for (size_t at = pair.find('='); at != std::string::npos; at = pair.find('=', at + 1)) {
    const std::string from = pair.substr(0, at), to = pair.substr(at + 1);
    *in = inputs.find(from);
    *out = outputs.find(to);
    if (*in < inputs.count() && *out < outputs.count()) return Status();
    why = *in < inputs.count() ? outputs.lacks(to) : inputs.lacks(from);
  }
  return error(Code::kInvalidArgument, "--state %s: %s", pair.c_str(), why.c_str());
}

// Checks that a state's input and output have one type and one size: a run writes the state whole.
Status check_pair(const std::string& pair, const Value& in, const Value& out) {
  if (in.type.dtype != out.type.dtype)
    return error(Code::kInvalidArgument,
                 "--state %s: the input is %s, the output %s: a state has one type", pair.c_str(),
                 dtype_name(in.type.dtype), dtype_name(out.type.dtype));
  const Quantization &a = in.quantization, &b = out.quantization;
  const bool are_known = !a.scale.empty() && !b.scale.empty();
  if (are_known && (a.scale != b.scale || a.zero_point != b.zero_point))
    return error(
        Code::kInvalidArgument,
        "--state %s: the input and the output are quantised by other scales or zero points, "
        "so that the same numbers mean something else",
        pair.c_str());
  const Shape &before = in.type.shape, &after = out.type.shape;
  if (before == after) return Status();
  const bool grows = before.rank() == after.rank() &&
                     std::equal(before.begin(), before.end(), after.begin(), std::less_equal<>());
  return error(Code::kUnsupported,
               "--state %s: the input has the shape %s, the output %s, but a state has one size in "
               "all runs%s",
               pair.c_str(), before.to_string().c_str(), after.to_string().c_str(),
               grows ? ". This one grows in each: leave it an input and an output, or export the "
                       "model with a cache of fixed length in which it writes at an offset"
                     : "");
}

// Finds the stored integer that stands for 0, with which the state begins. Fails with kUnsupported
// where channels have different ones.
Status find_zero(const std::string& pair, const Value& value, int32_t* zero) {
  const std::vector<int32_t>& zeros = value.quantization.zero_point;
  const bool is_float = value.type.dtype == DType::kFloat32 ||
                        value.type.dtype == DType::kFloat16 || value.type.dtype == DType::kBFloat16;
  *zero = is_float || zeros.empty() ? 0 : zeros[0];
  if (is_float ||
      std::count(zeros.begin(), zeros.end(), *zero) == static_cast<ptrdiff_t>(zeros.size()))
    return Status();
  return error(Code::kUnsupported,
               "--state %s: its channels have zero points of their own, so that no number is 0 in "
               "all of them",
               pair.c_str());
}

// Moves what stands at `from` behind the last of the values.
void move_last(size_t from, std::vector<ValueId>* values) {
  const auto at = values->begin() + static_cast<ptrdiff_t>(from);
  std::rotate(at, at + 1, values->end());
}

Status make_all(const std::vector<std::string>& pairs, Graph* graph) {
  for (const std::string& pair : pairs) {
    const Edges inputs = {*graph, graph->inputs, "input"},
                outputs = {*graph, graph->outputs, "output"};
    size_t in = 0, out = 0;
    QRT_TRY(find_pair(pair, inputs, outputs, &in, &out));
    const Value& value = graph->values[graph->inputs[in]];
    QRT_TRY(check_pair(pair, value, graph->values[graph->outputs[out]]));
    int32_t zero = 0;
    QRT_TRY(find_zero(pair, value, &zero));
    move_last(in, &graph->inputs);
    move_last(out, &graph->outputs);
    graph->variables.push_back({zero});
  }
  return Status();
}

}  // namespace

Status make_states(const std::vector<std::string>& pairs, Graph* graph) {
  if (pairs.empty()) return Status();
  QRT_TRY(make_all(pairs, graph));
  const size_t states = graph->variables.size();
  if (graph->inputs.size() == states || graph->outputs.size() == states)
    return error(Code::kInvalidArgument, "--state %s: a model has one %s at least that is no state",
                 pairs.back().c_str(), graph->inputs.size() == states ? "input" : "output");
  if (!graph->import_at) return Status();
  graph->import_at = [pairs, import_at = std::move(graph->import_at)](
                         const std::vector<int64_t>& sizes, Graph* to) {
    QRT_TRY(import_at(sizes, to));
    // A tensor that is empty at these sizes is no input of the graph.
    const Status made = make_all(pairs, to);
    return made.ok() ? Status() : error(Code::kUnsupported, "%s", made.message());
  };
  return Status();
}

}  // namespace qrt::convert

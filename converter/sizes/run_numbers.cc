// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/run_numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>

#include "converter/sizes/fit_number.h"

namespace qrt::convert {
namespace {

// The elements of a constant: one, or a shape's.
constexpr int64_t kMostElements = 8;
// The largest number that is counted, since each takes a table of as many entries.
constexpr double kMostCounted = 1 << 20;

// Returns whether the node reads values of a run in the place of constants.
bool takes_values(const Node& node) {
  if (const auto* real = node.options.AsFloat()) {
    const auto f = real->function;
    return (f >= fb::FloatFunction::ADD && f <= fb::FloatFunction::MAXIMUM) ||
           (f >= fb::FloatFunction::EQUAL && f <= fb::FloatFunction::LESS_OR_EQUAL) ||
           f == fb::FloatFunction::NAN_MINIMUM || f == fb::FloatFunction::NAN_MAXIMUM ||
           f == fb::FloatFunction::KEEP_NONZERO || f == fb::FloatFunction::KEEP_ZERO;
  }
  return node.options.AsInteger() || node.options.AsMinMax() || node.options.AsTake() ||
         node.options.AsCast() || node.options.AsConcat() || node.options.AsScatter();
}

// Reads the elements of a constant as whole numbers. Returns false where they are none.
bool read_numbers(const Value& v, std::vector<int64_t>* numbers) {
  const auto count = static_cast<size_t>(v.type.shape.elements());
  if (v.packing != fb::Packing::NONE ||
      v.data.size() != count * static_cast<size_t>(dtype_bytes(v.type.dtype)))
    return false;
  for (size_t i = 0; i < count; ++i) {
    double number;
    switch (v.type.dtype) {
      case DType::kInt32: number = v.as<int32_t>()[i]; break;
      case DType::kInt64: number = static_cast<double>(v.as<int64_t>()[i]); break;
      case DType::kFloat32: number = static_cast<double>(v.as<float>()[i]); break;
      default: return false;
    }
    if (!(std::fabs(number) <= kMostCounted) || number != std::floor(number)) return false;
    if (number == 0 && std::signbit(number)) return false;
    numbers->push_back(static_cast<int64_t>(number));
  }
  return true;
}

// Makes operators in front of all others.
class Maker {
 public:
  Maker(std::string name, Graph* graph) : name_(std::move(name)), graph_(graph) {}

  // Puts what was made into the graph.
  void finish() {
    graph_->nodes.insert(graph_->nodes.begin(), std::make_move_iterator(nodes_.begin()),
                         std::make_move_iterator(nodes_.end()));
  }

  // Returns an INT64 [1] that is `own` at the sizes of the graph's shapes, and at others what the expression gives, 0 or more.
  ValueId count(const Expression& number, int64_t own) {
    if (one_ == kNoValue) one_ = make_one();
    ValueId ones = add_value(DType::kInt64, {own + 1});
    gather(one_, ones, std::vector<int32_t>(static_cast<size_t>(own) + 1, 0),
           number + Expression(1), Expression(0), 0);
    const ValueId indices = add_value(DType::kInt64, {own + 1});
    add<fb::CumSumOptionsT>({ones}, indices).exclusive = true;
    const ValueId last = add_value(DType::kInt64, {1});
    gather(indices, last, {static_cast<int32_t>(own)}, Expression(1), number, 1);
    return last;
  }

  ValueId difference(ValueId a, ValueId b) {
    const ValueId y = add_value(DType::kInt64, {1});
    add<fb::IntegerOptionsT>({a, b}, y).function = fb::IntegerFunction::SUB;
    return y;
  }

  ValueId constant(int64_t v) {
    return graph_->add_constant("", DType::kInt64, {1}, std::vector<int64_t>{v});
  }

  // Returns the numbers as one tensor.
  ValueId joined(const std::vector<ValueId>& parts, const TensorType& type) {
    ValueId x = parts[0];
    if (parts.size() > 1) {
      x = add_value(DType::kInt64, {static_cast<int64_t>(parts.size())});
      add<fb::ConcatOptionsT>(parts, x);
    }
    x = reshaped(x, type.shape);
    return type.dtype == DType::kInt64 ? x : cast(x, type.dtype);
  }

 private:
  ValueId add_value(DType dtype, const Shape& shape) {
    Value v;
    v.name = name_;
    v.type.dtype = dtype;
    v.type.shape = shape;
    return graph_->add_value(std::move(v));
  }

  template <class Options>
  Options& add(std::vector<ValueId> inputs, ValueId y) {
    nodes_.push_back(make_node<Options>(name_, "Constant", std::move(inputs), {y}));
    return options<Options>(nodes_.back());
  }

  ValueId reshaped(ValueId x, const Shape& shape) {
    const ValueId y = add_value(graph_->values[x].type.dtype, shape);
    auto& o = add<fb::ReshapeOptionsT>({x}, y);
    for (const int64_t d : shape) o.shape.push_back(static_cast<int32_t>(d));
    return y;
  }

  ValueId cast(ValueId x, DType to) {
    const ValueId y = add_value(to, graph_->values[x].type.shape);
    add<fb::CastOptionsT>({x}, y).is_float = to == DType::kFloat32;
    return y;
  }

  // Reads dimension 0 of x by a map that follows from sizes.
  void gather(ValueId x, ValueId y, std::vector<int32_t> own, const Expression& count,
              const Expression& begin, int32_t step) {
    auto& o = add<fb::GatherOptionsT>({x}, y);
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes[0]->index = std::move(own);
    if (count.is_constant() && begin.is_constant()) return;
    fb::SizeRuleT rule;
    rule.field = fb::SizeField::MAP;
    rule.pieces.push_back(std::make_unique<fb::IndexPieceT>());
    rule.pieces[0]->count = std::make_unique<fb::SizeT>(count.stored());
    rule.pieces[0]->begin = std::make_unique<fb::SizeT>(begin.stored());
    rule.pieces[0]->step = step;
    nodes_.back().sizes.push_back(std::move(rule));
  }

  // Returns an INT64 [1] that is 1 in every run, made of an input, so that there is one to count with.
  ValueId make_one() {
    ValueId x = graph_->inputs[0];
    const Shape shape = graph_->values[x].type.shape;
    if (shape.rank() > 0) {
      Shape ones;
      for (int d = 0; d < shape.rank(); ++d) ones.push_back(1);
      const ValueId first = add_value(graph_->values[x].type.dtype, ones);
      auto& o = add<fb::GatherOptionsT>({x}, first);
      for (int d = 0; d < shape.rank(); ++d) {
        o.axes.push_back(std::make_unique<fb::GatherAxisT>());
        o.axes.back()->axis = static_cast<uint8_t>(d);
        o.axes.back()->index = {0};
      }
      x = first;
    }
    x = reshaped(x, {1});
    if (graph_->values[x].type.dtype == DType::kFloat32) {
      const ValueId truth = add_value(DType::kUInt8, {1});
      auto& o = add<fb::CastOptionsT>({x}, truth);
      o.is_float = o.is_truth = true;
      x = truth;
    }
    const ValueId same = add_value(DType::kUInt8, {1});
    add<fb::IntegerOptionsT>({x, x}, same).function = fb::IntegerFunction::EQUAL;
    return cast(same, DType::kInt64);
  }

  const std::string name_;
  Graph* const graph_;
  std::vector<Node> nodes_;
  ValueId one_ = kNoValue;
};

bool can_count_with(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kUInt8 || dtype == DType::kInt8 ||
         dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
}

}  // namespace

bool fit_run_numbers(const ImportedGraphs& imports, ValueId id, Graph* graph) {
  if (graph->inputs.empty() || !can_count_with(graph->values[graph->inputs[0]].type.dtype))
    return false;
  for (const Node& node : graph->nodes)
    if (std::count(node.inputs.begin(), node.inputs.end(), id) != 0 && !takes_values(node))
      return false;
  const TensorType type = graph->values[id].type;
  const auto count = static_cast<size_t>(type.shape.elements());
  if (count == 0 || count > kMostElements || graph->is_output(id)) return false;
  std::vector<std::vector<int64_t>> by_import;
  for (const Graph* g : imports.graphs) {
    // An import that has the first one's bytes keeps none.
    const Value& v = g->values[id].data.empty() ? imports.graphs[0]->values[id] : g->values[id];
    by_import.emplace_back();
    if (v.type.shape != type.shape || v.type.dtype != type.dtype ||
        !read_numbers(v, &by_import.back()))
      return false;
  }
  Imports sizes;
  for (const auto& symbols : imports.symbols) sizes.at.push_back({symbols, {}});
  sizes.others = &imports.dimensions;
  sizes.rounds_floats = imports.rounds_floats();
  Maker maker(graph->values[id].name, graph);
  std::vector<ValueId> parts;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> values;
    for (const auto& numbers : by_import) values.push_back(numbers[i]);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least == *most) {
      parts.push_back(maker.constant(values[0]));
      continue;
    }
    // Only numbers from 0 upwards can be counted: one that reaches further below 0 than above is counted with the opposite sign.
    const bool is_negative = -*least > *most;
    if (is_negative)
      for (int64_t& v : values) v = -v;
    const std::optional<Expression> number = fit_number(sizes, values);
    if (!number) return false;
    int64_t low = *std::min_element(values.begin(), values.end());
    for (const int64_t size : {0, 1}) {
      const std::vector<int64_t> smallest(imports.symbols[0].size(), size);
      const int64_t there = evaluate(*number, {smallest, {}});
      if (there != INT64_MIN) low = std::min(low, there);
    }
    const int64_t below = std::max<int64_t>(0, -low);
    ValueId x = maker.count(*number + Expression(below), values[0] + below);
    if (below > 0) x = maker.difference(x, maker.constant(below));
    parts.push_back(is_negative ? maker.difference(maker.constant(0), x) : x);
  }
  const ValueId made = maker.joined(parts, type);
  maker.finish();
  for (Node& node : graph->nodes) std::replace(node.inputs.begin(), node.inputs.end(), id, made);
  return true;
}

}  // namespace qrt::convert

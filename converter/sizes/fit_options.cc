// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/fit_options.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "converter/sizes/fit_map.h"
#include "converter/sizes/fit_resize.h"

namespace qrt::convert {
namespace {

using Field = fb::SizeField;

class NodeFit {
 public:
  NodeFit(const ImportedGraphs& imports, size_t index, Node* node) : node_(node) {
    for (size_t i = 0; i < imports.graphs.size(); ++i) {
      const Graph& graph = *imports.graphs[i];
      const Node& n = graph.nodes[index];
      SizesAt at;
      at.symbols = imports.symbols[i];
      for (const ValueId id : n.inputs) at.inputs.push_back(graph.values[id].type.shape);
      imports_.at.push_back(std::move(at));
      graphs_.push_back(&graph);
      others_.push_back(n);
    }
    imports_.others = &imports.dimensions;
    imports_.rounds_floats = imports.rounds_floats();
  }

  bool run() {
    node_->sizes.clear();
    const bool found =
        fit_shape() && fit_maps() && fit_resized() && fit_window<fb::Conv2DOptionsT>() &&
        fit_window<fb::DepthwiseConv2DOptionsT>() && fit_window<fb::MaxPool2DOptionsT>() &&
        fit_window<fb::AveragePool2DOptionsT>() && fit_mean() && fit_trips();
    // The fields that rules give are the same in all copies now, so that any difference left has no rule.
    const StoredForm first(*node_);
    return found && std::none_of(others_.begin(), others_.end(),
                                 [&](const Node& other) { return StoredForm(other) != first; });
  }

 private:
  template <class Options>
  Options* of(size_t import) {
    return node_->options.type == fb::OpOptionsUnionTraits<Options>::enum_value
               ? &options<Options>(others_[import])
               : nullptr;
  }
  template <class Options>
  Options* own() {
    return of<Options>(0) ? &options<Options>(*node_) : nullptr;
  }

  void add_rule(Field field, size_t index, const Expression& expression) {
    fb::SizeRuleT rule;
    rule.field = field;
    rule.index = static_cast<uint32_t>(index);
    rule.size = std::make_unique<fb::SizeT>(expression.stored());
    node_->sizes.push_back(std::move(rule));
  }

  // Adds a rule for the numbers that all imports have at this place, unless they are equal, and
  // gives every import the first one's. Returns false where no rule gives them.
  template <class Number>
  bool fit_field(Field field, size_t index, const std::vector<Number*>& fields,
                 const std::vector<Expression>& forms = {}) {
    std::vector<int64_t> values;
    for (const Number* f : fields) values.push_back(static_cast<int64_t>(*f));
    if (std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; }))
      return true;
    const auto form = std::find_if(forms.begin(), forms.end(),
                                   [&](const Expression& e) { return fits(e, imports_, values); });
    std::optional<Expression> found;
    if (form != forms.end())
      found = *form;
    else
      found = fit_number(imports_, values);
    if (!found) return false;
    add_rule(field, index, *found);
    for (Number* f : fields) *f = *fields[0];
    return true;
  }

  bool fit_shape() {
    auto* reshape = own<fb::ReshapeOptionsT>();
    if (!reshape) return true;
    const size_t rank = reshape->shape.size();
    bool has_unknown = std::count(reshape->shape.begin(), reshape->shape.end(), -1) != 0;
    for (size_t i = 0; i < others_.size(); ++i)
      if (of<fb::ReshapeOptionsT>(i)->shape.size() != rank) return false;
    for (size_t d = 0; d < rank; ++d) {
      std::vector<int32_t*> fields;
      for (size_t i = 0; i < others_.size(); ++i)
        fields.push_back(&of<fb::ReshapeOptionsT>(i)->shape[d]);
      if (fit_field(Field::SHAPE, d, fields)) continue;
      if (has_unknown) return false;
      has_unknown = true;
      reshape->shape[d] = -1;
      for (int32_t* f : fields) *f = -1;
    }
    return true;
  }

  // Returns the map of an axis in one import: all indices where the Gather has none.
  std::vector<int32_t> map_of(size_t import, int axis) {
    for (const auto& a : of<fb::GatherOptionsT>(import)->axes)
      if (a->axis == axis) return a->index;
    std::vector<int32_t> all(static_cast<size_t>(imports_.at[import].inputs[0][axis]));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // Finds what fills, which only the imports tell that have something to fill. Returns false where they differ.
  bool fit_fill(int64_t* fill) {
    bool is_known = false;
    for (size_t i = 0; i < others_.size(); ++i) {
      const auto& o = *of<fb::GatherOptionsT>(i);
      const bool fills = std::any_of(o.axes.begin(), o.axes.end(), [](const auto& a) {
        return std::find(a->index.begin(), a->index.end(), -1) != a->index.end();
      });
      if (!fills) continue;
      if (is_known && *fill != o.fill) return false;
      *fill = o.fill;
      is_known = true;
    }
    return true;
  }

  bool fit_maps() {
    auto* gather = own<fb::GatherOptionsT>();
    if (!gather) return true;
    std::set<int> axes;
    for (size_t i = 0; i < others_.size(); ++i)
      for (const auto& a : of<fb::GatherOptionsT>(i)->axes) axes.insert(a->axis);
    std::vector<std::unique_ptr<fb::GatherAxisT>> made;
    for (const int axis : axes) {
      std::vector<std::vector<int32_t>> maps;
      std::vector<const std::vector<int32_t>*> pointers;
      for (size_t i = 0; i < others_.size(); ++i) maps.push_back(map_of(i, axis));
      for (const auto& map : maps) pointers.push_back(&map);
      if (std::any_of(maps.begin(), maps.end(), [&](const auto& m) { return m != maps[0]; })) {
        fb::SizeRuleT rule;
        rule.field = Field::MAP;
        rule.index = static_cast<uint32_t>(made.size());
        if (!fit_map(imports_, pointers, axis, &rule)) return false;
        node_->sizes.push_back(std::move(rule));
      }
      auto of_axis = std::make_unique<fb::GatherAxisT>();
      of_axis->axis = static_cast<uint8_t>(axis);
      of_axis->index = maps[0];
      made.push_back(std::move(of_axis));
    }
    gather->axes = std::move(made);
    if (!fit_fill(&gather->fill)) return false;
    for (size_t i = 0; i < others_.size(); ++i) *of<fb::GatherOptionsT>(i) = *gather;
    return true;
  }

  bool fit_resized() {
    auto* resize = own<fb::ResizeLinearOptionsT>();
    if (!resize) return true;
    using Axis = std::unique_ptr<fb::ResizeAxisT> fb::ResizeLinearOptionsT::*;
    const struct {
      Axis axis;
      int from_last;  // dimension, counted from the channels
    } axes[] = {{&fb::ResizeLinearOptionsT::h, 2},
                {&fb::ResizeLinearOptionsT::w, 1},
                {&fb::ResizeLinearOptionsT::d, 3}};
    for (size_t k = 0; k < std::size(axes); ++k) {
      const Axis axis = axes[k].axis;
      if (!(resize->*axis)) continue;
      std::vector<const fb::ResizeAxisT*> tables;
      std::vector<int64_t> lengths;
      for (size_t i = 0; i < others_.size(); ++i) {
        tables.push_back((of<fb::ResizeLinearOptionsT>(i)->*axis).get());
        if (!tables.back()) return false;
        const Shape& x = imports_.at[i].inputs[0];
        lengths.push_back(x[x.rank() - 1 - axes[k].from_last]);
      }
      if (std::all_of(tables.begin(), tables.end(), [&](const fb::ResizeAxisT* t) {
            return t->low == tables[0]->low && t->low_weight == tables[0]->low_weight;
          }))
        continue;
      fb::SizeRuleT rule;
      rule.field = Field::RESIZE;
      rule.index = static_cast<uint32_t>(k);
      if (!fit_linear(imports_, lengths, resize->kind, tables, &rule)) return false;
      node_->sizes.push_back(std::move(rule));
      for (size_t i = 0; i < others_.size(); ++i)
        (of<fb::ResizeLinearOptionsT>(i)->*axis) =
            std::make_unique<fb::ResizeAxisT>(*(resize->*axis));
    }
    return true;
  }

  int64_t kernel_of(const fb::MaxPool2DOptionsT& o, int i) {
    return i == 0 ? o.kernel_h : o.kernel_w;
  }
  int64_t kernel_of(const fb::AveragePool2DOptionsT& o, int i) {
    return i == 0 ? o.kernel_h : o.kernel_w;
  }
  int64_t kernel_of(const fb::Conv2DOptionsT&, int i) { return imports_.at[0].inputs[1][1 + i]; }
  int64_t kernel_of(const fb::DepthwiseConv2DOptionsT&, int i) {
    return imports_.at[0].inputs[1][i];
  }
  template <class Options>
  int64_t dilation_of(const Options& o, int i) {
    return i == 0 ? o.dilation_h : o.dilation_w;
  }
  int64_t dilation_of(const fb::AveragePool2DOptionsT&, int) { return 1; }

  // Returns the paddings that sources compute from the size: SAME, and what ceil_mode adds at the end.
  std::vector<Expression> paddings(int64_t kernel, int64_t stride, int64_t dilation, int axis,
                                   int64_t before_of_first, bool at_end) {
    std::vector<Expression> forms;
    const Expression n = Expression::dimension(0, imports_.at[0].inputs[0].rank() - 3 + axis);
    const Expression s(stride);
    for (const int64_t extent : {(kernel - 1) * dilation + 1, kernel}) {
      const Expression total =
          greatest(((n + Expression(stride - 1)) / s - Expression(1)) * s + Expression(extent) - n,
                   Expression(0));
      for (const int64_t up : {0, 1}) {
        const Expression before = (total + Expression(up)) / Expression(2);
        forms.push_back(at_end ? total - before : before);
      }
    }
    if (!at_end) return forms;
    const int64_t extent = (kernel - 1) * dilation + 1, before = before_of_first;
    for (int64_t after = 0; after < extent; ++after) {
      const Expression room = n + Expression(before + after + stride - 1) - Expression(extent);
      const Expression last = least(room / s, (n + Expression(before - 1)) / s);
      forms.push_back(
          greatest(last * s + Expression(extent) - n - Expression(before), Expression(0)));
    }
    return forms;
  }

  template <class Options>
  bool fit_window() {
    Options* o = own<Options>();
    if (!o) return true;
    const auto fields = [&](auto Options::*field) {
      std::vector<decltype(&(o->*field))> all;
      for (size_t i = 0; i < others_.size(); ++i) all.push_back(&(of<Options>(i)->*field));
      return all;
    };
    if constexpr (std::is_same_v<Options, fb::MaxPool2DOptionsT> ||
                  std::is_same_v<Options, fb::AveragePool2DOptionsT>) {
      if (!fit_field(Field::KERNEL_H, 0, fields(&Options::kernel_h)) ||
          !fit_field(Field::KERNEL_W, 0, fields(&Options::kernel_w)))
        return false;
    }
    const auto forms = [&](int axis, bool at_end) {
      const int64_t stride = axis == 0 ? o->stride_h : o->stride_w;
      const int64_t before = axis == 0 ? o->pad_top : o->pad_left;
      return paddings(kernel_of(*o, axis), stride, dilation_of(*o, axis), axis, before, at_end);
    };
    // Rules stand in ascending order of their fields.
    const bool found =
        fit_field(Field::PAD_TOP, 0, fields(&Options::pad_top), forms(0, false)) &&
        fit_field(Field::PAD_LEFT, 0, fields(&Options::pad_left), forms(1, false)) &&
        fit_field(Field::PAD_BOTTOM, 0, fields(&Options::pad_bottom), forms(0, true)) &&
        fit_field(Field::PAD_RIGHT, 0, fields(&Options::pad_right), forms(1, true));
    std::sort(node_->sizes.begin(), node_->sizes.end(),
              [](const auto& a, const auto& b) { return a.field < b.field; });
    return found;
  }

  static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  static uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }

  bool gives_mean(float numerator, float denominator) {
    for (size_t i = 0; i < others_.size(); ++i) {
      const Shape& x = imports_.at[i].inputs[0];
      const auto count = static_cast<float>(x[x.rank() - 3] * x[x.rank() - 2]);
      const float divisor = denominator * count;
      if (to_bits(numerator / divisor) != of<fb::GlobalAveragePool2DOptionsT>(i)->requant->scale[0])
        return false;
    }
    return true;
  }

  bool fit_mean() {
    auto* mean = own<fb::GlobalAveragePool2DOptionsT>();
    if (!mean || !mean->requant || mean->requant->kind != fb::RequantKind::F32) return true;
    bool varies = false;
    for (size_t i = 0; i < others_.size(); ++i) {
      const auto& requant = of<fb::GlobalAveragePool2DOptionsT>(i)->requant;
      if (!requant || requant->scale.size() != 1) return false;
      varies |= requant->scale[0] != mean->requant->scale[0];
    }
    if (!varies) return true;
    const Shape& x = imports_.at[0].inputs[0];
    // The scales of what is read and written: of the operator's own tensors, or of those around them.
    const std::vector<float> from = scales_around(node_->inputs[0]),
                             to = scales_around(node_->outputs[0]);
    for (const float numerator : from)
      for (const float denominator : to) {
        if (!gives_mean(numerator, denominator)) continue;
        add_rule(Field::MEAN, 0,
                 Expression::dimension(0, x.rank() - 3) * Expression::dimension(0, x.rank() - 2));
        node_->sizes.back().numerator = to_bits(numerator);
        node_->sizes.back().denominator = to_bits(denominator);
        for (size_t i = 0; i < others_.size(); ++i)
          of<fb::GlobalAveragePool2DOptionsT>(i)->requant->scale = mean->requant->scale;
        return true;
      }
    return false;
  }

  bool fit_trips() {
    if (!own<fb::LoopEndOptionsT>()) return true;
    std::vector<uint32_t*> fields;
    for (size_t i = 0; i < others_.size(); ++i)
      fields.push_back(&of<fb::LoopEndOptionsT>(i)->trips);
    return fit_field(Field::TRIPS, 0, fields);
  }

  // Returns the scales of a value and of those that the same bytes have before and behind it.
  std::vector<float> scales_around(ValueId id) {
    const Graph& graph = *graphs_[0];
    std::vector<float> scales;
    const auto add = [&](ValueId v) {
      const auto& s = graph.values[v].quantization.scale;
      if (s.size() == 1) scales.push_back(s[0]);
    };
    const auto moves = [](const Node& n) {
      return n.options.AsReshape() || n.options.AsTranspose() || n.options.AsGather() ||
             n.options.AsLut();
    };
    add(id);
    ValueId at = id;
    for (int producer = graph.producer(at); producer >= 0; producer = graph.producer(at)) {
      const Node& n = graph.nodes[static_cast<size_t>(producer)];
      if (!moves(n)) break;
      at = n.inputs[0];
      add(at);
    }
    at = id;
    for (std::vector<int> readers = graph.consumers(at); readers.size() == 1;
         readers = graph.consumers(at)) {
      const Node& n = graph.nodes[static_cast<size_t>(readers[0])];
      if (!moves(n)) break;
      at = n.outputs[0];
      add(at);
    }
    return scales;
  }

  Node* node_;
  Imports imports_;
  std::vector<const Graph*> graphs_;
  std::vector<Node>
      others_;  // copies, by import, in which what a rule gives becomes the first one's
};

}  // namespace

bool ImportedGraphs::rounds_floats() const {
  return std::any_of(graphs.begin(), graphs.end(), [](const Graph* g) { return g->rounds_floats; });
}

// Finds expressions for every dimension of an operator's outputs, first among the dimensions of its
// inputs: where these are known as expressions of the symbols, so is the output's.
void find_dimensions(ImportedGraphs* imports) {
  const Graph& first = *imports->graphs[0];
  Imports symbols;
  for (const auto& sizes : imports->symbols) symbols.at.push_back({sizes, {}});
  symbols.rounds_floats = imports->rounds_floats();
  const auto add_value = [&](ValueId id, const Imports& known) {
    for (int d = 0; d < first.values[id].type.shape.rank(); ++d) {
      std::vector<int64_t> values;
      for (const Graph* graph : imports->graphs) values.push_back(graph->values[id].type.shape[d]);
      if (imports->dimensions.find(values)) continue;
      if (const auto found = fit_number(known, values))
        imports->dimensions.add(*found, std::move(values));
    }
  };
  for (size_t s = 0; s < imports->symbols[0].size(); ++s) {
    std::vector<int64_t> values;
    for (const auto& sizes : imports->symbols) values.push_back(sizes[s]);
    imports->dimensions.add(Expression::symbol(s), std::move(values));
  }
  for (const ValueId id : first.inputs) add_value(id, symbols);
  for (const Node& node : first.nodes) {
    Imports known;
    known.others = &imports->dimensions;
    known.rounds_floats = imports->rounds_floats();
    for (const ValueId id : node.inputs)
      for (int d = 0; d < first.values[id].type.shape.rank(); ++d) {
        std::vector<int64_t> values;
        for (const Graph* graph : imports->graphs)
          values.push_back(graph->values[id].type.shape[d]);
        if (const Term* v = imports->dimensions.find(values))
          known.terms.add(v->expression, values);
      }
    known.at = symbols.at;
    for (const ValueId id : node.outputs) add_value(id, known);
  }
}

bool fit_options(const ImportedGraphs& imports, size_t index, Node* node) {
  return NodeFit(imports, index, node).run();
}

}  // namespace qrt::convert

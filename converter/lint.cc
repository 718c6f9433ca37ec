// SPDX-License-Identifier: Apache-2.0
// The rules of --lint.
#include "converter/lint.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace qrt::convert {
namespace {

// An input of a Concat that takes fewer than kFewSteps of 256 steps has lost its meaning, if
// another takes kManySteps.
constexpr int kFewSteps = 16, kManySteps = 64;
// The number of the 256 codes that have to be unused for a warning.
constexpr int kUselessCodes = 64;
constexpr double kAddRatio = 256;
constexpr size_t kNamedChannels = 8;

std::string number(double v) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", v);
  return text;
}

std::string label(const Node& node) {
  return node.source_op.empty() ? fb::EnumNameOpOptions(node.options.type) : node.source_op;
}

// The least and greatest code of 8-bit values, in the stored domain.
struct Codes {
  int lo = 0, hi = 255;
  int steps() const { return hi - lo; }
};

const fb::RequantT* requant_of(const Node& node) {
  if (const auto* o = node.options.AsConv2D()) return o->requant.get();
  if (const auto* o = node.options.AsDepthwiseConv2D()) return o->requant.get();
  if (const auto* o = node.options.AsFullyConnected()) return o->requant.get();
  if (const auto* o = node.options.AsMul()) return o->requant.get();
  if (const auto* o = node.options.AsGlobalAveragePool2D()) return o->requant.get();
  return nullptr;
}

double float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return static_cast<double>(f);
}

// Returns the factor from accumulator to output of channel c, all stages in one.
double factor_of(const fb::RequantT& r, size_t c) {
  const auto at = [c](const auto& v) { return v.size() == 1 ? v[0] : v[c]; };
  if (r.kind == fb::RequantKind::F32) return float_of(at(r.scale));
  double factor = 1;
  for (const auto& stage : r.stages)
    factor *=
        std::ldexp(static_cast<double>(at(stage->multiplier)), -static_cast<int>(at(stage->shift)));
  return factor;
}

// A product's constants, one channel at a time.
struct Weights {
  const int16_t* elements = nullptr;
  const int32_t* bias = nullptr;
  size_t channels = 0, count = 0;  // weights of one channel
  size_t channel_stride = 0, stride = 0;
  int input_zero_point = 0;
  bool padded = false, per_channel = false;

  int64_t at(size_t c, size_t i) const { return elements[c * channel_stride + i * stride]; }
};

class Lint {
 public:
  Lint(const Graph& graph, Report* report) : graph_(graph), report_(report) {
    producer_.assign(graph.values.size(), -1);
    readers_.assign(graph.values.size(), 0);
    codes_.resize(graph.values.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (ValueId v : graph.nodes[i].outputs) producer_[v] = static_cast<int>(i);
      for (ValueId v : graph.nodes[i].inputs) ++readers_[v];
    }
    for (ValueId v : graph.outputs) ++readers_[v];
  }

  void run() {
    for (ValueId v = 0; v < graph_.values.size(); ++v) constant_codes(v);
    for (const Node& node : graph_.nodes) {
      follow_codes(node);
      Weights w;
      if (find_weights(node, &w)) {
        check_channels(node, w);
        check_padding(node, w);
      }
      if (node.options.AsGather()) check_fill(node);
      if (node.options.AsConcat()) check_concat(node);
      if (node.options.AsAdd()) check_add(node);
      check_range(node);
    }
  }

 private:
  void warn(const Node& node, const char* rule, const std::string& what, const char* remedy,
            Warning::Numbers numbers) {
    report_->warn({rule, node.name, label(node), what, remedy, std::move(numbers)});
  }

  bool is_bytes(ValueId v) const { return graph_.values[v].type.dtype == DType::kUInt8; }

  std::string name(ValueId v) const {
    // Data movement and tables in front of an operator have no name; the search goes back to the
    // tensor that they stand for.
    while (graph_.values[v].name.empty() && producer_[v] >= 0 &&
           !graph_.nodes[static_cast<size_t>(producer_[v])].inputs.empty())
      v = graph_.nodes[static_cast<size_t>(producer_[v])].inputs[0];
    return graph_.values[v].name;
  }

  void constant_codes(ValueId v) {
    const Value& value = graph_.values[v];
    if (!value.is_constant || value.data.empty() || !is_bytes(v)) return;
    const auto [lo, hi] = std::minmax_element(value.data.begin(), value.data.end());
    codes_[v] = {*lo, *hi};
  }

  // Finds the codes that an operator's output can take.
  void follow_codes(const Node& node) {
    Codes y;
    if (const auto* r = requant_of(node)) {
      if (r->kind != fb::RequantKind::ACC) y = {r->lo, r->hi};
    } else if (const auto* add = node.options.AsAdd()) {
      y = add->kind == fb::AddKind::F32_FMA || !add->requant
              ? Codes{add->lo, add->hi}
              : Codes{add->requant->lo, add->requant->hi};
    } else if (node.options.AsLut() && is_bytes(node.inputs[0]) && is_bytes(node.outputs[0])) {
      const Value& table = graph_.values[node.inputs[1]];
      const Codes x = codes_[node.inputs[0]];
      y = {255, 0};
      for (size_t at = 0; at + 256 <= table.data.size(); at += 256)
        for (int i = x.lo; i <= x.hi; ++i) {
          const int code = table.data[at + static_cast<size_t>(i)];
          y = {std::min(y.lo, code), std::max(y.hi, code)};
        }
    } else if (traits(node).arithmetic == Arithmetic::kMoves ||
               traits(node).arithmetic == Arithmetic::kSelects) {
      y = {255, 0};
      for (ValueId v : node.inputs)
        y = {std::min(y.lo, codes_[v].lo), std::max(y.hi, codes_[v].hi)};
      if (const auto* gather = node.options.AsGather()) {
        const int fill = static_cast<uint8_t>(gather->fill);
        y = {std::min(y.lo, fill), std::max(y.hi, fill)};
      }
    }
    if (y.lo > y.hi) y = {};
    for (ValueId v : node.outputs) codes_[v] = y;
  }

  bool find_weights(const Node& node, Weights* w) const {
    const auto* conv = node.options.AsConv2D();
    const auto* depthwise = node.options.AsDepthwiseConv2D();
    const auto* fc = node.options.AsFullyConnected();
    if ((!conv && !depthwise && !fc) || node.inputs.size() != 3) return false;
    const Value &weights = graph_.values[node.inputs[1]], &bias = graph_.values[node.inputs[2]];
    const Shape& shape = weights.type.shape;
    if (!weights.is_constant || weights.type.dtype != DType::kInt16 || !bias.is_constant ||
        bias.type.dtype != DType::kInt32 || !is_bytes(node.inputs[0]) || shape.elements() == 0)
      return false;
    w->elements = weights.as<int16_t>();
    w->bias = bias.as<int32_t>();
    w->per_channel = weights.quantization.scale.size() > 1;
    w->channels = static_cast<size_t>(shape[depthwise ? 2 : 0]);
    w->count = static_cast<size_t>(shape.elements()) / w->channels;
    w->channel_stride = depthwise ? 1 : w->count;
    w->stride = depthwise ? w->channels : 1;
    const auto window = [w](const auto& o) {
      w->input_zero_point = o.input_zero_point;
      w->padded = o.pad_top || o.pad_left || o.pad_bottom || o.pad_right;
    };
    if (conv) window(*conv);
    if (depthwise) window(*depthwise);
    const auto& zero_point = graph_.values[node.inputs[0]].quantization.zero_point;
    if (fc) w->input_zero_point = zero_point.size() == 1 ? zero_point[0] : 0;
    return true;
  }

  // Biases, accumulators and dead channels.
  void check_channels(const Node& node, const Weights& w) {
    const fb::RequantT* requant = requant_of(node);
    size_t clipped = 0, first_clipped = 0, beyond = 0, first_beyond = 0;
    double greatest = 0;
    std::vector<size_t> dead;
    for (size_t c = 0; c < w.channels; ++c) {
      const int64_t bias = w.bias[c];
      int64_t sum = 0, least = bias, most = bias;
      const int64_t lo = codes_[node.inputs[0]].lo - w.input_zero_point,
                    hi = codes_[node.inputs[0]].hi - w.input_zero_point;
      for (size_t i = 0; i < w.count; ++i) {
        const int64_t v = w.at(c, i);
        sum += std::abs(v);
        least += std::min(v * lo, v * hi);
        most += std::max(v * lo, v * hi);
      }
      if (bias == std::numeric_limits<int32_t>::min() ||
          bias == std::numeric_limits<int32_t>::max())
        if (clipped++ == 0) first_clipped = c;
      const double bound = 255.0 * static_cast<double>(sum) + std::fabs(static_cast<double>(bias));
      if (bound > std::numeric_limits<int32_t>::max() && beyond++ == 0) first_beyond = c;
      greatest = std::max(greatest, bound);
      if (is_dead(requant, c, least, most)) dead.push_back(c);
    }
    const auto of = [&](size_t n) {
      return std::to_string(n) + " of " + std::to_string(w.channels) + " channels";
    };
    if (clipped > 0)
      warn(node, "bias-clipped",
           "the bias of " + of(clipped) + " stands at the limit of int32, first of channel " +
               std::to_string(first_clipped) + " (" + std::to_string(w.bias[first_clipped]) + ")",
           "quantise the weights of this layer with a greater scale, or its bias in float",
           {{"clipped", static_cast<double>(clipped)},
            {"channels", static_cast<double>(w.channels)},
            {"first", static_cast<double>(first_clipped)}});
    if (beyond > 0)
      warn(node, "accumulator",
           "255 * sum|w| + |bias| of " + of(beyond) + " is beyond int32, first of channel " +
               std::to_string(first_beyond) + ", at most " + number(greatest),
           "use smaller weights or biases, or fewer inputs",
           {{"beyond", static_cast<double>(beyond)},
            {"channels", static_cast<double>(w.channels)},
            {"first", static_cast<double>(first_beyond)},
            {"bound", greatest}});
    if (dead.empty()) return;
    std::string list;
    for (size_t i = 0; i < dead.size() && i < kNamedChannels; ++i)
      list += (i ? ", " : "") + std::to_string(dead[i]);
    if (dead.size() > kNamedChannels) list += " ...";
    warn(node, "dead-channels", of(dead.size()) + " give one value whatever the input: " + list,
         w.per_channel ? "prune these channels, or give the output a finer scale"
                       : "prune these channels, or quantise the weights per channel",
         {{"dead", static_cast<double>(dead.size())},
          {"channels", static_cast<double>(w.channels)},
          {"first", static_cast<double>(dead[0])}});
  }

  // Returns whether least and greatest accumulator end at one code.
  static bool is_dead(const fb::RequantT* r, size_t c, int64_t least, int64_t most) {
    if (least == most) return true;
    if (!r || r->kind == fb::RequantKind::ACC) return false;
    const double factor = factor_of(*r, c), zero = r->zero_point + r->offset;
    const auto code = [&](int64_t acc) {
      const double y = std::nearbyint(static_cast<double>(acc) * factor) + zero;
      return std::clamp(y, static_cast<double>(r->lo), static_cast<double>(r->hi));
    };
    return code(least) == code(most);
  }

  void check_padding(const Node& node, const Weights& w) {
    if (w.padded) check_zero(node, w.input_zero_point);
  }

  void check_fill(const Node& node) {
    const auto& o = *node.options.AsGather();
    for (const auto& axis : o.axes)
      if (std::count(axis->index.begin(), axis->index.end(), -1) > 0 && is_bytes(node.inputs[0]))
        return check_zero(node, static_cast<uint8_t>(o.fill));
  }

  // Warns where an operator is padded with something else than zero. `code`: the stored value
  // outside the operator's input.
  void check_zero(const Node& node, int code) {
    const Quantization& q = graph_.values[node.inputs[0]].quantization;
    if (q.zero_point.size() != 1 || q.zero_point[0] == code) return;
    const double real = (code - q.zero_point[0]) * static_cast<double>(q.scale[0]);
    warn(node, "padding",
         "it is padded with " + number(real) + " (code " + std::to_string(code) +
             "), not with zero (code " + std::to_string(q.zero_point[0]) + ")",
         "pad with zero, or make sure that the model was trained with this value",
         {{"padding", real},
          {"code", static_cast<double>(code)},
          {"zero_point", static_cast<double>(q.zero_point[0])}});
  }

  void check_concat(const Node& node) {
    const Quantization& q = graph_.values[node.outputs[0]].quantization;
    int widest = 0;
    for (ValueId v : node.inputs)
      if (is_bytes(v)) widest = std::max(widest, codes_[v].steps());
    if (widest < kManySteps) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (!is_bytes(v) || graph_.values[v].is_constant || codes_[v].steps() >= kFewSteps) continue;
      const double step = q.scale.size() == 1 ? static_cast<double>(q.scale[0]) : 0;
      warn(node, "wide-range-concat",
           "input " + std::to_string(i) + " ('" + name(v) + "') takes " +
               std::to_string(codes_[v].steps()) + " of the output's 255 steps" +
               (step > 0 ? " of " + number(step) : "") + ", another input " +
               std::to_string(widest),
           "concatenate tensors of like ranges; keep boxes and scores apart, or scale them alike",
           {{"input", static_cast<double>(i)},
            {"steps", static_cast<double>(codes_[v].steps())},
            {"widest", static_cast<double>(widest)},
            {"scale", step}});
    }
  }

  void check_add(const Node& node) {
    const Quantization &a = graph_.values[node.inputs[0]].quantization,
                       &b = graph_.values[node.inputs[1]].quantization;
    if (a.scale.size() != 1 || b.scale.size() != 1) return;
    const double sa = static_cast<double>(a.scale[0]), sb = static_cast<double>(b.scale[0]);
    const double ratio = std::max(sa, sb) / std::min(sa, sb);
    if (!(ratio > kAddRatio)) return;
    warn(node, "add-scale-ratio",
         "its operands have the scales " + number(sa) + " and " + number(sb) + ", " +
             number(ratio) + " apart: the whole range of one is a step of the other",
         "quantise both operands over like ranges, or leave the smaller one out",
         {{"a_scale", sa}, {"b_scale", sb}, {"ratio", ratio}});
  }

  // Limits of the operator itself, or a table behind it that maps many codes to one.
  void check_range(const Node& node) {
    if (node.outputs.empty() || !is_bytes(node.outputs[0])) return;
    const char* const remedy =
        "calibrate the range behind the activation, with the zero point at its lower end";
    const auto* lut = node.options.AsLut();
    if (!lut) {
      const bool limited = requant_of(node) || node.options.AsAdd();
      const Codes y = codes_[node.outputs[0]];
      const int useless = y.lo + 255 - y.hi;
      if (!limited || useless < kUselessCodes) return;
      warn(node, "pointless-range",
           "its limits leave the codes " + std::to_string(y.lo) + " to " + std::to_string(y.hi) +
               ": " + std::to_string(useless) + " of 256 are never used",
           remedy,
           {{"lo", static_cast<double>(y.lo)},
            {"hi", static_cast<double>(y.hi)},
            {"useless", static_cast<double>(useless)}});
      return;
    }
    const ValueId x = node.inputs[0];
    if (lut->per_channel || !is_bytes(x) || readers_[x] != 1 || producer_[x] < 0) return;
    const std::vector<uint8_t>& table = graph_.values[node.inputs[1]].data;
    const Codes in = codes_[x];
    if (table.size() != 256) return;
    int below = in.lo, above = in.hi;
    while (below < in.hi &&
           table[static_cast<size_t>(below) + 1] == table[static_cast<size_t>(in.lo)])
      ++below;
    while (above > in.lo &&
           table[static_cast<size_t>(above) - 1] == table[static_cast<size_t>(in.hi)])
      --above;
    const int useless = below - in.lo + in.hi - above;
    if (below == in.hi && in.steps() > 0)
      warn(node, "dead-channels",
           "its output is " + std::to_string(table[static_cast<size_t>(below)]) +
               " whatever the input",
           "calibrate its output over the range it really has", {{"dead", 1}, {"channels", 1}});
    if (below == in.hi || useless < kUselessCodes) return;
    warn(node, "pointless-range",
         "it makes " + std::to_string(useless) + " codes of its input '" + name(x) +
             "' alike: " + std::to_string(in.lo) + " to " + std::to_string(below) +
             " become one, and " + std::to_string(above) + " to " + std::to_string(in.hi),
         remedy,
         {{"lo", static_cast<double>(below)},
          {"hi", static_cast<double>(above)},
          {"useless", static_cast<double>(useless)}});
  }

  const Graph& graph_;
  Report* report_;
  std::vector<int> producer_, readers_;
  std::vector<Codes> codes_;
};

void warn_of_scale(const ScaleNote& note, Report* report) {
  const float scale = note.scale;
  const char* kind = scale == 0                          ? "zero"
                     : std::isfinite(scale) && scale > 0 ? "denormal"
                     : std::isfinite(scale)              ? "negative"
                                                         : "not finite";
  report->warn(
      {"scale",
       note.node,
       note.op,
       "the scale of '" + note.tensor + "' is " + number(static_cast<double>(scale)) + ": " + kind,
       "calibrate again: a tensor that is always zero needs any scale of usual size",
       {{"scale", static_cast<double>(scale)}}});
}

}  // namespace

void lint(const Graph& graph, Report* report) {
  for (const ScaleNote& note : report->scale_notes()) warn_of_scale(note, report);
  Lint(graph, report).run();
}

}  // namespace qrt::convert

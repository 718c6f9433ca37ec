// SPDX-License-Identifier: Apache-2.0
// Conv, Gemm and MatMul: weights in the order of an ESP-DL file, biases at the products' exponent.
#include <algorithm>
#include <cmath>

#include "converter/import/espdl/qdq/ops.h"

namespace qrt::convert::from_qdq {
namespace {

// A layer that is being translated: the common part of Conv, Gemm and MatMul.
struct Layer {
  Term x;
  Format out;                       // format of the output in the ONNX file
  DataType type = DataType::INT8;   // type of the layer's integers
  std::vector<int64_t> exponents;   // exponents of the products: one, or one per output channel
  std::vector<std::string> inputs;  // inputs of the ESP-DL operator
};

// Reads constant weights, input 1. Returns false where the node was refused.
bool read_weights(Translator& t, const NodeView& n, Term* w) {
  *w = t.input(n, 1);
  const bool fits = w->is_quantized_constant() && w->scales->type != DataType::INT32;
  if (!fits)
    (void)t.refuse(
        n,
        "input '" + n.input(1) + "' is not a constant of int8 or int16 behind a DequantizeLinear",
        n.input(1), "store the weights as initialisers of int8 or int16 behind a DequantizeLinear");
  return fits;
}

// Reads input 0 and the output's format, and chooses the type. `last` is the node whose result is
// the layer's: `n` itself or the Add of a bias. Returns false where the node was refused.
bool start_layer(Translator& t, const NodeView& n, const NodeView& last, const Term& w,
                 int64_t axis, Layer* layer) {
  if (!t.read_activation(n, 0, &layer->x) || !t.read_format(last, 0, &layer->out)) return false;
  if (!w.scales->per_tensor() && w.scales->axis != axis) {
    (void)t.refuse(n,
                   "the weights are quantised along axis " + std::to_string(w.scales->axis) +
                       ", not per output channel",
                   n.input(1), "quantise the weights per tensor or per output channel");
    return false;
  }
  layer->type =
      w.scales->type == DataType::INT16 ? DataType::INT16 : wider(layer->x.format, layer->out);
  for (const int64_t e : w.scales->exponents)
    layer->exponents.push_back(e + layer->x.format.exponent);
  layer->inputs = {t.in_type(n, layer->x, layer->type)};
  return true;
}

// Adds the weights: element i of the file is element source(i) of the ONNX file's.
template <class F>
void add_weights(Translator& t, const NodeView& n, const Term& w, std::vector<int64_t> dims,
                 const F& source, Layer* layer) {
  Numbers numbers{layer->type, std::move(dims), {}, w.scales->exponents};
  const int64_t count = w.constant->elements();
  for (int64_t i = 0; i < count; ++i) numbers.values.push_back(w.constant->integer(source(i)));
  layer->inputs.push_back(t.writer().add_constant(n.input(1), numbers));
}

// Returns a float as integers of 2^exponent, rounded by the target.
double rounded(Target target, float v, int64_t exponent) {
  const double real = std::ldexp(static_cast<double>(v), static_cast<int>(-exponent));
  return target == Target::kEsp32P4 ? std::nearbyint(real) : std::floor(real + 0.5);
}

// Adds a constant bias to the layer's inputs: one value for each of `channels`, or one for all.
// Returns false where the node was refused.
bool add_bias(Translator& t, const NodeView& n, const Term& b, const std::string& name,
              int64_t channels, Layer* layer) {
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)t.refuse(n, "the bias '" + name + "' " + rule, name, remedy);
    return false;
  };
  if (b.kind != Term::Kind::kConstant)
    return no("is not a constant", "store it as an initialiser of the model");
  const Constant& c = *b.constant;
  if (!b.scales && !c.is_real())
    return no(
        "is integers without a DequantizeLinear",
        "put a DequantizeLinear behind it, with the product of the scales of input and weights");
  if (c.elements() != channels && c.elements() != 1)
    return no("has " + std::to_string(c.elements()) + " elements for " + std::to_string(channels) +
                  " output channels",
              "store one bias per output channel");
  if (c.elements() > 1 && c.shape[c.shape.rank() - 1] != channels)
    return no("differs from row to row", "store one bias per output channel");
  const bool is_int16 = layer->type == DataType::INT16;
  Numbers numbers{is_int16 ? DataType::INT64 : DataType::INT32, {channels}, {}, {}};
  numbers.exponents = b.scales ? b.scales->exponents : layer->exponents;
  for (int64_t o = 0; o < channels; ++o) {
    const int64_t from = c.elements() == 1 ? 0 : o;
    if (b.scales) {
      numbers.values.push_back(c.integer(from));
      continue;
    }
    const double v =
        rounded(t.target(), c.real(from),
                layer->exponents[layer->exponents.size() == 1 ? 0 : static_cast<size_t>(o)]);
    constexpr double kMost32 = 0x1p31 - 1, kMost64 = 0x1p45;  // as ESP-DL's front end takes them
    if (!(std::fabs(v) <= (is_int16 ? kMost64 : kMost32)))
      return no("holds " + std::to_string(c.real(from)) + ", beyond " +
                    (is_int16 ? "2^45" : "int32") + " steps of input and weights",
                "quantise input or weights with a greater scale");
    numbers.values.push_back(static_cast<int64_t>(v));
  }
  layer->inputs.push_back(t.writer().add_constant(name, numbers));
  return true;
}

bool add_bias(Translator& t, const NodeView& n, int64_t channels, Layer* layer) {
  return !n.has_input(2) || add_bias(t, n, t.input(n, 2), n.input(2), channels, layer);
}

// Adds the operator, and fuses a Relu that is the only reader of the result of `last`. Returns the
// new node, on which the caller sets attributes.
espdl::NodeT& add_layer(Translator& t, const NodeView& n, const NodeView& last, const char* op,
                        const Layer& layer, int rank, bool is_image) {
  const Format made{layer.type, layer.out.exponent};
  std::string y;
  espdl::NodeT& node = t.add(n, op, layer.inputs, made, &y);
  const NodeView* reader = t.sole_reader(last.output(0));
  const bool relu = reader != nullptr && reader->op() == "Relu";
  set(&node, "activation", std::string(relu ? "Relu" : "Linear"));
  if (is_image) y = t.from_last(n, y, made, rank);
  t.finish(n, y, made, layer.out, rank);
  const Term result = t.output(n);
  if (&last != &n) t.set_output(last, 0, result);
  if (relu) {
    t.set_output(*reader, 0, result);
    t.fused(*reader, n);
  }
  return node;
}

}  // namespace

Status translate_conv(Translator& t, const NodeView& n) {
  Term w;
  Layer layer;
  if (!read_weights(t, n, &w) || !start_layer(t, n, n, w, 0, &layer)) return Status();
  const Shape& s = w.constant->shape;
  const int rank = s.rank();
  if ((rank != 3 && rank != 4) || layer.x.rank != rank)
    return t.refuse(n,
                    "its input has " + std::to_string(layer.x.rank) + " dimensions, the weights " +
                        std::to_string(rank) + ": ESP-DL has images of one and two axes",
                    n.input(0), "reshape its input to one or two spatial dimensions");
  const int64_t group = n.integer("group", 1), out = s[0], depth = s[1];
  const bool is_depthwise = group > 1 && depth == 1 && out == group;
  if (group != 1 && !is_depthwise)
    return t.refuse(
        n, "it has " + std::to_string(group) + " groups: ESP-DL has one, or one for each channel",
        n.input(1), "split the convolution into one for each group, and concatenate their results");
  std::vector<int64_t> dims(s.begin() + 2, s.end());
  QRT_MODEL_CHECK(!n.has("kernel_shape") || n.integers("kernel_shape") == dims,
                  "kernel_shape differs from the weights' shape %s", s.to_string().c_str());
  const std::vector<int64_t> kernel = dims;
  int64_t taps = 1;
  for (const int64_t k : dims) taps *= k;
  dims.push_back(is_depthwise ? out : depth);
  dims.push_back(is_depthwise ? 1 : out);
  // [out, depth, taps] as [out][taps][depth], or of one filter for each channel [taps][out].
  add_weights(
      t, n, w, dims,
      [&](int64_t i) {
        return is_depthwise ? i % out * taps + i / out
                            : (i / (taps * depth) * depth + i % depth) * taps + i / depth % taps;
      },
      &layer);
  if (!add_bias(t, n, out, &layer)) return Status();
  layer.inputs[0] = t.to_last(n, layer.inputs[0], {layer.type, layer.x.format.exponent}, rank);
  espdl::NodeT& node = add_layer(t, n, n, "Conv", layer, rank, true);
  set(&node, "group", group);
  copy_lists(n, {"strides", "dilations"}, &node);
  set_pads(n, kernel, &node);
  return Status();
}

Status translate_gemm(Translator& t, const NodeView& n) {
  Term w;
  Layer layer;
  const bool turned = n.integer("transB", 0) != 0;
  if (!read_weights(t, n, &w) || !start_layer(t, n, n, w, turned ? 0 : 1, &layer)) return Status();
  const bool scales = n.real("alpha", 1) != 1 || (n.has_input(2) && n.real("beta", 1) != 1);
  if (scales || n.integer("transA", 0) != 0)
    return t.refuse(n, "alpha, beta or transA are not the 1, 1 and 0 that ESP-DL computes",
                    n.output(0),
                    "fold alpha and beta into weights and bias before quantising them");
  const Shape& s = w.constant->shape;
  QRT_MODEL_CHECK(s.rank() == 2 && layer.x.rank == 2, "matrices of %d and %d dimensions",
                  layer.x.rank, s.rank());
  const int64_t k = s[turned ? 1 : 0], out = s[turned ? 0 : 1];
  add_weights(
      t, n, w, {1, 1, k, out}, [&](int64_t i) { return turned ? i : i % k * out + i / k; }, &layer);
  if (add_bias(t, n, out, &layer)) add_layer(t, n, n, "Gemm", layer, 2, false);
  return Status();
}

namespace {

int product_rank(int a, int b) { return std::max(1, std::max(a, b) - (a == 1) - (b == 1)); }

// Translates a product with a computed matrix, or with a batch of constant ones.
Status translate_matrices(Translator& t, const NodeView& n) {
  Format out;
  if (!t.read_format(n, 0, &out)) return Status();
  DataType type = out.type;
  int rank[2];
  for (int i = 0; i < 2; ++i) {
    const Term& x = t.input(n, i);
    const bool is_constant =
        x.is_quantized_constant() && x.scales->per_tensor() && x.scales->type != DataType::INT32;
    Term read = x;
    if (!is_constant && !t.read_activation(n, i, &read)) return Status();
    if ((is_constant ? x.scales->type : x.format.type) == DataType::INT16) type = DataType::INT16;
    rank[i] = is_constant ? x.constant->shape.rank() : x.rank;
  }
  std::vector<std::string> inputs;
  for (int i = 0; i < 2; ++i) {
    const Term& x = t.input(n, i);
    if (!x.is_quantized_constant()) {
      inputs.push_back(t.in_type(n, x, type));
      continue;
    }
    const Shape& s = x.constant->shape;
    Numbers numbers{type, {s.begin(), s.end()}, {}, x.scales->exponents};
    // The right side, if it has columns, [k, n] as [n][k].
    const bool turns = i == 1 && s.rank() >= 2;
    const int64_t k = turns ? s[s.rank() - 2] : 1, columns = turns ? s[s.rank() - 1] : 1;
    for (int64_t at = 0; at < s.elements(); ++at) {
      const int64_t in = at % (k * columns);
      numbers.values.push_back(
          x.constant->integer(turns ? at - in + in % k * columns + in / k : at));
    }
    inputs.push_back(t.writer().add_constant(n.input(i), numbers));
  }
  std::string y;
  const Format made{type, out.exponent};
  t.add(n, "MatMul", inputs, made, &y);
  t.finish(n, y, made, out, product_rank(rank[0], rank[1]));
  return Status();
}

// Returns the Add of a bias that is the only reader of a product with constant weights, or null.
const NodeView* bias_of(Translator& t, const NodeView& n, int64_t channels, int* bias) {
  const NodeView* add = t.sole_reader(n.output(0));
  if (add == nullptr || add->op() != "Add") return nullptr;
  *bias = add->input(0) == n.output(0) ? 1 : 0;
  const Term b = t.constant_input(*add, *bias);
  const bool fits = b.kind == Term::Kind::kConstant && b.constant->elements() == channels &&
                    b.constant->shape.rank() > 0 &&
                    b.constant->shape[b.constant->shape.rank() - 1] == channels;
  const bool is_bias =
      fits && (b.scales ? b.scales->type == DataType::INT32 : b.constant->is_real());
  return is_bias ? add : nullptr;
}

}  // namespace

Status translate_matmul(Translator& t, const NodeView& n) {
  const Term w = t.input(n, 1);
  const bool is_filter = w.is_quantized_constant() && w.constant->shape.rank() == 2 &&
                         w.scales->type != DataType::INT32 && t.input(n, 0).rank >= 2;
  if (!is_filter) return translate_matrices(t, n);
  const Shape& s = w.constant->shape;
  const int64_t k = s[0], out = s[1];
  int bias = 0;
  const NodeView* add = bias_of(t, n, out, &bias);
  Layer layer;
  if (!start_layer(t, n, add ? *add : n, w, 1, &layer)) return Status();
  add_weights(
      t, n, w, {k, out}, [&](int64_t i) { return i % k * out + i / k; }, &layer);
  if (add && !add_bias(t, n, t.constant_input(*add, bias), add->input(bias), out, &layer))
    return Status();
  add_layer(t, n, add ? *add : n, "MatMul", layer, layer.x.rank, false);
  if (add) t.fused(*add, n);
  return Status();
}

}  // namespace qrt::convert::from_qdq

// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN, whole, in float; DynamicQuantizeLSTM of com.microsoft, whose products are of integers.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"
#include "kernels/float_fallback/float_fallback.h"

namespace qrt::convert::from_onnx {
namespace {

using Cell = fb::RecurrentCell;
using Direction = fb::RecurrentDirection;

// The inputs behind X, W and R; from kWeightScale on of DynamicQuantizeLSTM.
enum RecurrentInput {
  kBias = 3,
  kLengths = 4,
  kHidden = 5,
  kContent = 6,
  kPeepholes = 7,
  kWeightScale = 8,
  kWeightZeroPoint = 9,
  kRecurrentScale = 10,
  kRecurrentZeroPoint = 11
};

struct RecurrentLayer {
  fb::RecurrentOptionsT options;
  int64_t directions, gates, cells, in, rows, steps;
  bool batch_first;
  bool of_bytes;  // W and R are bytes, [directions, in, width] and [directions, cells, width]

  int64_t width() const { return gates * cells; }
  Shape state() const { return {directions, rows, cells}; }
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Reads which functions the gates have. False where they are not the operator's own, or an RNN's Relu.
bool read_activations(const NodeView& node, RecurrentLayer* layer) {
  std::vector<std::string> given = node.texts("activations");
  if (given.empty()) return true;
  const Cell cell = layer->options.cell;
  std::vector<std::string> own = {"sigmoid", "tanh", "tanh"};
  if (cell == Cell::GRU) own = {"sigmoid", "tanh"};
  if (cell == Cell::RNN) own = {lower(given[0])};
  if (given.size() != own.size() * static_cast<size_t>(layer->directions)) return false;
  for (size_t i = 0; i < given.size(); ++i)
    if (lower(given[i]) != own[i % own.size()]) return false;
  layer->options.is_relu = cell == Cell::RNN && own[0] == "relu";
  return cell != Cell::RNN || own[0] == "tanh" || own[0] == "relu";
}

// Reads the attributes. *known stays false where the node was refused.
Status read_attributes(Importer& importer, const NodeView& node, RecurrentLayer* layer,
                       bool* known) {
  fb::RecurrentOptionsT& o = layer->options;
  layer->of_bytes = node.op() == "DynamicQuantizeLSTM";
  o.cell = node.op() == "GRU" ? Cell::GRU : node.op() == "RNN" ? Cell::RNN : Cell::LSTM;
  layer->gates = o.cell == Cell::LSTM ? 4 : o.cell == Cell::GRU ? 3 : 1;
  const std::string direction = lower(node.text("direction", "forward"));
  QRT_MODEL_CHECK(direction == "forward" || direction == "reverse" || direction == "bidirectional",
                  "its direction is '%s', expected forward, reverse or bidirectional",
                  direction.c_str());
  o.direction = direction == "forward"   ? Direction::FORWARD
                : direction == "reverse" ? Direction::REVERSE
                                         : Direction::BIDIRECTIONAL;
  layer->directions = o.direction == Direction::BIDIRECTIONAL ? 2 : 1;
  layer->batch_first = node.integer("layout", 0) != 0;
  o.couples_forget = o.cell == Cell::LSTM && node.integer("input_forget", 0) != 0;
  o.resets_after = o.cell == Cell::GRU && node.integer("linear_before_reset", 0) != 0;
  const float clip =
      node.real("clip", o.cell == Cell::RNN ? -1.0f : std::numeric_limits<float>::max());
  QRT_MODEL_CHECK(clip > 0 || (o.cell == Cell::RNN && clip <= 0),
                  "its clip is %g, expected above 0", static_cast<double>(clip));
  if (clip >= 0) o.clip = float_bits(clip);
  *known = read_activations(node, layer);
  if (*known) return Status();
  std::string names;
  for (const std::string& name : node.texts("activations"))
    names += (names.empty() ? "" : ", ") + name;
  return importer.refuse(node, "its activations are " + names + ", of which qrt has no form",
                         node.output(0),
                         "export the layer with the activations that " + node.op() +
                             " has by itself; or " + remedy_to_compute_outside(importer, node));
}

Status check_shape(const NodeView& node, int i, const Shape& shape, const Shape& expected) {
  QRT_MODEL_CHECK(shape == expected, "input %d '%s' has shape %s, expected %s", i,
                  node.input(i).c_str(), shape.to_string().c_str(), expected.to_string().c_str());
  return Status();
}

// Reads the sizes from X, W and R and compares the shapes of all inputs with them.
Status read_sizes(Importer& importer, const NodeView& node, RecurrentLayer* layer) {
  const auto shape = [&](int i) { return importer.input(node, i).shape; };
  const Shape x = shape(0), r = shape(2);
  QRT_MODEL_CHECK(x.rank() == 3 && r.rank() == 3,
                  "X and R have %d and %d dimensions, expected 3 each", x.rank(), r.rank());
  layer->steps = x[layer->batch_first ? 1 : 0];
  layer->rows = x[layer->batch_first ? 0 : 1];
  layer->in = x[2];
  layer->cells = r[layer->of_bytes ? 1 : 2];
  const int64_t d = layer->directions, cells = layer->cells, width = layer->width();
  const int64_t hidden_size = node.integer("hidden_size", cells);
  QRT_MODEL_CHECK(hidden_size == cells, "its hidden_size is %lld, but R has shape %s",
                  static_cast<long long>(hidden_size), r.to_string().c_str());
  const Shape state = layer->batch_first ? Shape{layer->rows, d, cells} : layer->state();
  const bool turned = layer->of_bytes;
  const Shape expected[] = {x,
                            turned ? Shape{d, layer->in, width} : Shape{d, width, layer->in},
                            turned ? Shape{d, cells, width} : Shape{d, width, cells},
                            {d, 2 * width},
                            {layer->rows},
                            state,
                            state,
                            {d, 3 * cells}};
  const int count = layer->options.cell == Cell::LSTM ? 8 : 6;
  for (int i = 1; i < count; ++i)
    if (node.has_input(i)) QRT_TRY(check_shape(node, i, shape(i), expected[i]));
  return Status();
}

// Reads input i as constant floats; {} where it is absent. *known becomes false where the node was refused.
Status read_weights(Importer& importer, const NodeView& node, int i, std::vector<float>* values,
                    bool* known) {
  if (!*known || !node.has_input(i)) return Status();
  const Tensor& t = importer.input(node, i);
  *known = t.is_constant() && constant_floats(t, values);
  if (*known) return Status();
  return importer.refuse(
      node,
      "its weights '" + node.input(i) + "' are " +
          (t.is_constant() ? std::string("of type ") + element_type_name(t.type)
                           : std::string("computed in the run")),
      node.input(i),
      t.is_constant() ? "store them as float32" : remedy_for_constant(importer, node, i));
}

// Reads the zero points of the bytes of input i, one for each direction, as stored. *known becomes false where the node was refused.
Status read_zero_points(Importer& importer, const NodeView& node, int i,
                        const RecurrentLayer& layer, int type, std::vector<uint8_t>* zero_points,
                        bool* known) {
  const Tensor& t = importer.input(node, i);
  if (!*known) return Status();
  if (!node.has_input(i) || !t.is_plain_constant() || t.type != type) {
    *known = false;
    return importer.refuse(node,
                           "input " + std::to_string(i) +
                               ", its zero point, is no constant of the type of its weights",
                           node.input(i), "export the layer with a constant zero point");
  }
  const int64_t each = t.shape.rank() == 2 ? layer.width() : 1;
  QRT_TRY(check_shape(node, i, t.shape,
                      each == 1 ? Shape{layer.directions} : Shape{layer.directions, each}));
  for (int64_t d = 0; d < layer.directions; ++d) {
    const int64_t first = t.constant->integer(d * each);
    for (int64_t j = 1; j < each; ++j)
      QRT_MODEL_CHECK(t.constant->integer(d * each + j) == first,
                      "the zero points of a direction differ, expected one");
    zero_points->push_back(static_cast<uint8_t>(first + (type == kInt8 ? 128 : 0)));
  }
  return Status();
}

// Adds the bytes of input i as a constant, int8 with 128 more.
Status add_bytes(Importer& importer, const NodeView& node, int i, const RecurrentLayer& layer,
                 int zero_point, std::vector<uint8_t>* zero_points, std::vector<ValueId>* inputs,
                 bool* known) {
  if (!*known) return Status();
  const Tensor& t = importer.input(node, i);
  if (!t.is_plain_constant() || (t.type != kInt8 && t.type != kUint8)) {
    *known = false;
    return importer.refuse(
        node, "its weights '" + node.input(i) + "' are no constant of int8 or uint8", node.input(i),
        t.is_constant() ? "store them as int8" : remedy_for_constant(importer, node, i));
  }
  QRT_TRY(read_zero_points(importer, node, zero_point, layer, t.type, zero_points, known));
  std::vector<uint8_t> bytes = t.constant->data;
  if (t.type == kInt8)
    for (uint8_t& b : bytes) b ^= 0x80;
  inputs->push_back(importer.graph().add_constant(node.input(i), DType::kUInt8, t.shape, bytes));
  return Status();
}

// Adds the scales of input i, one for each direction or each column.
Status add_scales(Importer& importer, const NodeView& node, int i, const RecurrentLayer& layer,
                  std::vector<ValueId>* inputs, bool* known) {
  std::vector<float> scales;
  if (*known && !node.has_input(i)) {
    *known = false;
    return importer.refuse(node, "input " + std::to_string(i) + ", a scale, is missing", "",
                           "export the layer with it");
  }
  QRT_TRY(read_weights(importer, node, i, &scales, known));
  if (!*known) return Status();
  const Shape shape = importer.input(node, i).shape;
  QRT_TRY(check_shape(
      node, i, shape,
      shape.rank() == 2 ? Shape{layer.directions, layer.width()} : Shape{layer.directions}));
  inputs->push_back(importer.graph().add_constant(node.input(i), DType::kFloat32, shape, scales));
  return Status();
}

// Turns weights [d, width, k] into a constant [d, k, width].
ValueId add_weights(Importer& importer, const NodeView& node, int i, const RecurrentLayer& layer,
                    int64_t k, const std::vector<float>& values) {
  const auto width = static_cast<size_t>(layer.width()), n = static_cast<size_t>(k);
  std::vector<float> turned(values.size());
  for (size_t at = 0; at < values.size(); at += width * n)
    for (size_t j = 0; j < width; ++j)
      for (size_t c = 0; c < n; ++c) turned[at + c * width + j] = values[at + j * n + c];
  return importer.graph().add_constant(node.input(i), DType::kFloat32,
                                       Shape{layer.directions, k, layer.width()}, turned);
}

// Adds the constants W, R, bias, and what else of these the options announce. ONNX Runtime adds the two biases of a gate once, where
// no reset gate is between them.
Status add_constants(Importer& importer, const NodeView& node, RecurrentLayer* layer,
                     std::vector<ValueId>* inputs, bool* known) {
  // Counts the floats twice: as the file has them, and as the graph has them.
  uint64_t elements = 0;
  for (const int i : {1, 2, static_cast<int>(kBias), static_cast<int>(kPeepholes)})
    if (node.has_input(i))
      elements += static_cast<uint64_t>(importer.input(node, i).shape.elements());
  QRT_TRY(importer.tensors().reserve(2 * elements * sizeof(float), importer.graph()));
  std::vector<float> w, r, b, p;
  fb::RecurrentOptionsT& o = layer->options;
  if (!layer->of_bytes) {
    QRT_TRY(read_weights(importer, node, 1, &w, known));
    QRT_TRY(read_weights(importer, node, 2, &r, known));
  }
  QRT_TRY(read_weights(importer, node, kBias, &b, known));
  if (o.cell == Cell::LSTM) QRT_TRY(read_weights(importer, node, kPeepholes, &p, known));
  if (!*known) return Status();
  if (layer->of_bytes) {
    QRT_TRY(add_bytes(importer, node, 1, *layer, kWeightZeroPoint, &o.w_zero_point, inputs, known));
    QRT_TRY(
        add_bytes(importer, node, 2, *layer, kRecurrentZeroPoint, &o.r_zero_point, inputs, known));
    if (!*known) return Status();
  } else {
    inputs->push_back(add_weights(importer, node, 1, *layer, layer->in, w));
    inputs->push_back(add_weights(importer, node, 2, *layer, layer->cells, r));
  }
  const auto width = static_cast<size_t>(layer->width()), cells = static_cast<size_t>(layer->cells);
  std::vector<float> sums, reset;
  o.nan_is_clip = !b.empty() && o.cell != Cell::RNN;
  b.resize(2 * width * static_cast<size_t>(layer->directions));
  for (size_t at = 0; at < b.size(); at += 2 * width)
    for (size_t j = 0; j < width; ++j) {
      const bool is_apart = o.resets_after && j >= 2 * cells;
      sums.push_back(is_apart ? b[at + j] : b[at + j] + b[at + width + j]);
      if (is_apart) reset.push_back(b[at + width + j]);
    }
  const int64_t d = layer->directions;
  const auto add = [&](int i, const Shape& shape, const std::vector<float>& values) {
    inputs->push_back(importer.graph().add_constant(node.input(i), DType::kFloat32, shape, values));
  };
  add(kBias, {d, layer->width()}, sums);
  if (layer->of_bytes) {
    // ONNX Runtime writes 0 behind the end of a row only where it writes all steps.
    o.counts_ended = !node.has_output(0);
    QRT_TRY(add_scales(importer, node, kWeightScale, *layer, inputs, known));
    QRT_TRY(add_scales(importer, node, kRecurrentScale, *layer, inputs, known));
  }
  if (o.resets_after) add(kBias, {d, layer->cells}, reset);
  o.has_peepholes = !p.empty();
  if (o.has_peepholes) add(kPeepholes, {d, 3 * layer->cells}, p);
  o.x_block = o.h_block = 256;
  if (o.cell != Cell::RNN) return Status();
  o.x_block = static_cast<uint32_t>(ort_gemm_block(layer->width(), layer->in, false));
  o.h_block = static_cast<uint32_t>(ort_gemm_block(layer->width(), layer->cells, false));
  return Status();
}

// Adds the lengths of the sequences, unless they are known to be those of all steps.
Status add_lengths(Importer& importer, const NodeView& node, RecurrentLayer* layer,
                   std::vector<ValueId>* inputs, bool* known) {
  if (!node.has_input(kLengths)) return Status();
  const Tensor& t = importer.input(node, kLengths);
  if (t.type != kInt32 || !(t.is_value() || t.is_plain_constant())) {
    *known = false;
    return importer.refuse(node, "the lengths '" + node.input(kLengths) + "' are no int32",
                           node.input(kLengths), "give them as int32");
  }
  ValueId value = t.value;
  if (t.is_constant()) {
    bool are_whole = true;
    for (int64_t i = 0; i < t.constant->elements(); ++i) {
      const int64_t length = t.constant->integer(i);
      QRT_MODEL_CHECK(length >= 0 && length <= layer->steps, "a length is %lld, expected 0 to %lld",
                      static_cast<long long>(length), static_cast<long long>(layer->steps));
      are_whole &= length == layer->steps;
    }
    if (are_whole) return Status();
    value = importer.graph().add_constant(node.input(kLengths), DType::kInt32, t.shape,
                                          t.constant->data);
  }
  layer->options.has_lengths = true;
  inputs->push_back(value);
  return Status();
}

// Adds an initial state, unless it is known to be 0. *has: whether there is one.
Status add_state(FloatGraph* f, const RecurrentLayer& layer, int i, bool* has,
                 std::vector<ValueId>* inputs, bool* known) {
  if (!*known || !f->node().has_input(i)) return Status();
  const Tensor& t = f->importer().input(f->node(), i);
  std::vector<float> values;
  if (t.is_constant() && constant_floats(t, &values) &&
      std::all_of(values.begin(), values.end(), [](float v) { return v == 0 && !std::signbit(v); }))
    return Status();
  ValueId x = kNoValue;
  if (!f->read(i, &x)) {
    *known = false;
    return f->importer().refuse_float(f->node(), i);
  }
  if (layer.batch_first) x = f->builder().transpose(f->node(), x, {1, 0, 2});
  *has = true;
  inputs->push_back(x);
  return Status();
}

void set_result(FloatGraph* f, const RecurrentLayer& layer, int i, ValueId y) {
  if (!f->node().has_output(i)) return;
  if (layer.batch_first)
    y = f->builder().transpose(f->node(), y,
                               i == 0 ? std::vector<int>{2, 0, 1, 3} : std::vector<int>{1, 0, 2});
  Tensor t;
  t.kind = Tensor::Kind::kValue;
  t.type = kFloat;
  t.value = y;
  t.shape = f->shape_of(y);
  f->importer().set_output(f->node(), i, std::move(t));
}

}  // namespace

Status import_recurrent(Importer& importer, const NodeView& node) {
  RecurrentLayer layer;
  bool known = false;
  QRT_TRY(read_attributes(importer, node, &layer, &known));
  if (!known) return Status();
  QRT_TRY(read_sizes(importer, node, &layer));
  if (!importer.allows_float())
    return importer.refuse(node,
                           "its gates are float in ONNX Runtime, whatever is quantised around it",
                           node.output(0), remedy_to_compute_outside(importer, node));
  FloatGraph f(importer, node);
  std::vector<ValueId> inputs(1);
  if (!f.read(0, &inputs[0])) return importer.refuse_float(node, 0);
  if (layer.batch_first) inputs[0] = f.builder().transpose(node, inputs[0], {1, 0, 2});
  QRT_TRY(add_constants(importer, node, &layer, &inputs, &known));
  if (!known) return Status();
  QRT_TRY(add_lengths(importer, node, &layer, &inputs, &known));
  QRT_TRY(add_state(&f, layer, kHidden, &layer.options.has_hidden, &inputs, &known));
  if (layer.options.cell == Cell::LSTM)
    QRT_TRY(add_state(&f, layer, kContent, &layer.options.has_content, &inputs, &known));
  if (!known) return Status();
  std::vector<ValueId> outputs;
  outputs.push_back(f.builder().new_value(
      "", DType::kFloat32, {layer.steps, layer.directions, layer.rows, layer.cells}));
  for (int i = 1; i < (layer.options.cell == Cell::LSTM ? 3 : 2); ++i)
    outputs.push_back(f.builder().new_value("", DType::kFloat32, layer.state()));
  importer.graph().nodes.push_back(
      make_node<fb::RecurrentOptionsT>(node.name(), node.op(), std::move(inputs), outputs));
  options<fb::RecurrentOptionsT>(importer.graph().nodes.back()) = layer.options;
  importer.became(node, "Recurrent", "F");
  for (size_t i = 0; i < outputs.size(); ++i)
    set_result(&f, layer, static_cast<int>(i), outputs[i]);
  return importer.tensors().check_growth(importer.graph());
}

}  // namespace qrt::convert::from_onnx

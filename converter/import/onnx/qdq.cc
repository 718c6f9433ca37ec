// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear, of the ONNX domain and of com.microsoft.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/edge_ops.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/no_op.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// Remedies for other types.
const char kEightBits[] = "quantise it to uint8 or int8";
const char kIntegers[] = "quantise it to integers of 8 or 16 bits";

bool is_eight_bit(int type) { return type == kUint8 || type == kInt8; }

// Returns whether integer operators compute on this type.
bool is_activation(int type) { return is_eight_bit(type) || type == kUint16 || type == kInt16; }

// Returns the axis along which a scale with several elements counts; negative ones count from the end.
int64_t axis_attribute(const NodeView& node) { return node.integer("axis", 1); }

// Makes equal parameters for every index of an axis those of the whole tensor.
void make_per_tensor(Quant* q) {
  for (size_t i = 1; i < q->scale.size(); ++i)
    if (q->scale[i] != q->scale[0] || q->zero_point[i] != q->zero_point[0]) return;
  q->scale.resize(1);
  q->zero_point.resize(1);
  q->axis = -1;
}

// Finds the input behind which ONNX Runtime looks for the Clip in front of a QuantizeLinear: it has
// removed this node, or has moved the QuantizeLinear in front of it. -1 where it has done neither.
Status find_looked_through(Importer& importer, const NodeView& node, const Quant& out, int* input) {
  const std::string& op = node.op();
  *input = 0;
  if (op == "Dropout" || op == "Reshape" || op == "Transpose" || op == "Squeeze" ||
      op == "Unsqueeze" || (op == "Relu" && out.zero_point[0] == Limits::of_source(out).lo))
    return Status();
  for (*input = 0; *input < 2 && node.has_input(*input); ++*input) {
    bool nothing;
    QRT_TRY(changes_nothing(node, node.input(*input), importer.input(node, *input).shape,
                            importer.model(), &importer.tensors(), &nothing));
    if (nothing) return Status();
  }
  *input = -1;
  return Status();
}

// Returns the Relu in front of a Clip, which ONNX Runtime makes part of it. Null: there is none.
const NodeView* joined_relu(const Importer& importer, const NodeView& clip) {
  const NodeView* relu = importer.producer(clip.input(0));
  return relu && relu->op() == "Relu" && importer.is_sole_reader(clip, 0) ? relu : nullptr;
}

// Returns whether the node is a Clip that ONNX Runtime drops in front of this quantisation.
bool is_dropped_clip(const Importer& importer, const NodeView& clip, const Quant& out) {
  if (clip.op() != "Clip") return false;
  float limits[] = {clip.real("min", -std::numeric_limits<float>::infinity()),
                    clip.real("max", std::numeric_limits<float>::infinity())};
  for (int i = 0; i < 2; ++i) {
    const Tensor& limit = importer.input(clip, i + 1);
    std::vector<float> real;
    if (!clip.has_input(i + 1)) continue;
    if (!limit.is_plain_constant() || !constant_floats(limit, &real) || real.size() != 1)
      return false;
    limits[i] = real[0];
  }
  if (joined_relu(importer, clip)) limits[0] = std::max(limits[0], 0.0f);
  return is_clip_dropped(out, limits[0], limits[1]);
}

// Lets a QuantizeLinear read what a table was before Clips that ONNX Runtime drops.
Status drop_clip(Importer& importer, const NodeView& quantize) {
  const std::string& name = quantize.input(0);
  const Tensor &s = importer.input(quantize, 1), &z = importer.input(quantize, 2);
  DType type;
  if (!importer.is_sole_reader(quantize, 0) || !importer.input(quantize, 0).is_table() ||
      !s.is_plain_constant() || s.type != kFloat || s.constant->elements() != 1 ||
      !z.is_plain_constant() || z.constant->elements() != 1 || !is_activation(z.type) ||
      !ir_type(z.type, &type))
    return Status();
  const Quant out =
      tensor_quant(type, s.constant->real(0), static_cast<int32_t>(z.constant->integer(0)));
  const NodeView* clip = nullptr;  // the first of all that are dropped
  for (const NodeView* node = importer.producer(name); node;) {
    int input = 0;
    if (is_dropped_clip(importer, *node, out)) {
      const NodeView* relu = joined_relu(importer, *node);
      clip = node = relu ? relu : node;
    } else {
      QRT_TRY(find_looked_through(importer, *node, out, &input));
    }
    if (input < 0 || !importer.is_sole_reader(*node, input)) break;
    node = importer.producer(node->input(input));
  }
  if (!clip) return Status();
  const Tensor& before = importer.input(*clip, 0);
  Tensor& moved = importer.tensors().at(name);
  // Moves that ONNX Runtime looks through keep the order along an axis.
  const bool has_axis = before.table_axis >= 0;
  if (!before.is_table() || !before.quant->per_tensor() || (has_axis && moved.table_axis < 0))
    return Status();
  moved.table = before.table;
  if (!has_axis) moved.table_axis = -1;
  return Status();
}

// Imports a QuantizeLinear by the current state of its input 0.
Status quantize(Importer& importer, const NodeView& node);

// Quantises a constant at conversion, as ONNX Runtime folds it.
Status quantize_constant(Importer& importer, const NodeView& node, const Tensor& x,
                         const Quant& quant) {
  std::vector<float> real;
  if (!constant_floats(x, &real)) return importer.refuse_float(node, 0);
  const int type = onnx_type(quant.type);
  int lo, hi;
  quantized_range(type, &lo, &hi);
  auto constant = std::make_shared<Constant>();
  constant->type = type;
  constant->shape = x.shape;
  const size_t bytes = element_bytes(type);
  constant->data.resize(real.size() * bytes);
  int64_t inner = 1;
  for (int d = quant.axis + 1; !quant.per_tensor() && d < x.shape.rank(); ++d) inner *= x.shape[d];
  for (size_t i = 0; i < real.size(); ++i) {
    const size_t at =
        quant.per_tensor()
            ? 0
            : static_cast<size_t>(static_cast<int64_t>(i) / inner % x.shape[quant.axis]);
    const int32_t q = quantize_ort(real[i], quant.scale[at], quant.zero_point[at], lo, hi);
    memcpy(constant->data.data() + i * bytes, &q, bytes);
  }
  Tensor y;
  y.kind = Tensor::Kind::kConstant;
  y.shape = x.shape;
  y.type = type;
  y.constant = std::move(constant);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Returns whether a node quantises by a known float16 scale, so that its real side is float16. ONNX Runtime
// fuses no operator with it.
bool is_half_edge(const Importer& importer, const NodeView& node) {
  const Tensor& s = importer.input(node, 1);
  return s.is_plain_constant() && s.type == kHalf && s.shape.rank() <= 1 &&
         node.integer("block_size", 0) == 0 &&
         (!node.has_input(2) || importer.input(node, 2).is_plain_constant());
}

// Returns whether this is a DequantizeLinear to float16 whose result operators read.
bool feeds_operators(const Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const bool is_known = x.is_plain_constant() && x.constant->is_integer();
  const bool is_table = is_activation(x.type) && importer.input(node, 1).constant->elements() == 1;
  return (is_known || is_table) && !importer.is_output(node.output(0));
}

// Returns whether ONNX Runtime leaves a DequantizeLinear of a run's integers to float16 in that type: behind
// it stands an operator that has a kernel of float16. It computes others in float32, and then the
// DequantizeLinear, too.
bool stays_half(const Importer& importer, const std::string& tensor) {
  for (int reader : importer.model().readers(tensor))
    for (const char* op : {"QuantizeLinear", "Cast", "Identity", "Reshape", "Flatten", "Squeeze",
                           "Unsqueeze", "Transpose", "Slice", "Split", "Concat", "Gather",
                           "GatherND", "Expand", "Tile", "Where", "GatherElements", "Dropout"})
      if (importer.node(reader).op() == op) return true;
  return false;
}

// Sets the output of a DequantizeLinear to `y` rounded to float16.
Status round_to_half(Importer& importer, const NodeView& node, Tensor y) {
  if (y.is_constant()) {
    std::vector<float> real;
    constant_floats(y, &real);
    for (float& v : real) v = rounded_to_half(v);
    importer.set_output(node, 0, constant_tensor(make_constant(kFloat, y.shape, real)));
    return Status();
  }
  auto table = std::make_shared<std::vector<float>>();
  if (!entries(y, table.get())) return importer.refuse_float(node, 0);
  const bool rounds = stays_half(importer, node.output(0));
  for (float& v : *table) v = rounds ? rounded_to_half(v) : v;
  y.table = std::move(table);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Imports a QuantizeLinear of a tensor that is float16 in the source and float32 in the graph,
// inputs of the model excepted: it is rounded first.
Status quantize_half(Importer& importer, const NodeView& node, bool* taken) {
  const std::string& name = node.input(0);
  const Tensor x = importer.input(node, 0);
  *taken = false;
  if (!is_half_edge(importer, node) || x.is_constant() || (x.is_value() && x.type != kFloat))
    return Status();
  *taken = true;
  Tensor rounded;
  if (x.is_value()) {
    rounded = x;
    rounded.type = kHalf;
    rounded.value = float_to_half_value(importer, node, x.value);
  } else {
    QRT_TRY(map_table(importer, node, 0, rounded_to_half));
    if (importer.outcomes().is_refused(node.index())) return Status();
    rounded = importer.tensors().at(node.output(0));
  }
  importer.tensors().at(name) = rounded;
  Status status = x.is_value() ? emit_quantize(importer, node) : quantize(importer, node);
  importer.tensors().at(name) = x;
  return status;
}

// Returns whether the tensor is a scale that is quantised itself: every reader
// quantises by it.
bool is_scale(const Importer& importer, const std::string& tensor) {
  bool any = false;
  for (int reader : importer.model().readers(tensor)) {
    const NodeView& node = importer.node(reader);
    const bool quantises = is_quantized_op(node.op()) && node.input(0) != tensor;
    if (!quantises || node.input(1) != tensor) return false;
    any = true;
  }
  return any;
}

// Returns whether every reader of the tensor is a layer that adds it as a bias. One of 32 bits is part of the layer's
// integers; others are numbers.
bool is_bias(const Importer& importer, const std::string& tensor) {
  bool any = false;
  for (int reader : importer.model().readers(tensor)) {
    const NodeView& node = importer.node(reader);
    const bool is_layer =
        node.op() == "Conv" || node.op() == "ConvTranspose" || node.op() == "Gemm";
    if (!is_layer || node.input(2) != tensor || node.input(0) == tensor || node.input(1) == tensor)
      return false;
    any = true;
  }
  return any;
}

ValueId quantize_float(Importer& importer, const NodeView& node, ValueId x, const Quant& quant) {
  Node q = make_node<fb::QuantizeOptionsT>(node.name(), node.op(), {x}, {});
  auto& o = options<fb::QuantizeOptionsT>(q);
  for (size_t i = 0; i < quant.scale.size(); ++i) {
    o.scale.push_back(float_bits(quant.scale[i]));
    o.zero_point.push_back(quant.stored_zero_point(i));
  }
  o.axis = quant.axis;
  const ValueId y = importer.builder().new_value(node.output(0), quant.stored_type(),
                                                 importer.builder().shape_of(x), &quant);
  q.outputs.push_back(y);
  importer.graph().nodes.push_back(std::move(q));
  importer.became(node, "Quantize", "edge");
  return y;
}

// Names a value after a tensor of the source. Where an image's operator ends in a Transpose, its
// input gets the name, too: mostly nothing else reads that.
void set_name(Graph* graph, ValueId x, const std::string& name) {
  graph->values[x].name = name;
  if (graph->nodes.empty() || graph->nodes.back().outputs[0] != x) return;
  const auto* transpose = graph->nodes.back().options.AsTranspose();
  if (transpose == nullptr) return;
  Value& before = graph->values[graph->nodes.back().inputs[0]];
  if (!before.name.empty()) return;
  before.name = name;
  before.source_order = transpose->perm;
}

// Returns why no integer operator makes these codes of a pending tensor, so that its floats have to
// be made; empty where one does.
std::string need_of_floats(const Tensor& t, const Quant& out) {
  const bool waits_as_one = t.is_pending() || t.is_pair_function();
  if (waits_as_one && !out.per_tensor()) return "its output is quantised per axis";
  if (t.is_pair_function() && out.is_int16())
    return "it is a table of two 8-bit tensors, its output has 16 bits";
  if (!t.is_table()) return "";
  const int axis = t.meaning_axis();
  if ((out.is_int16() || t.quant->is_int16()) && (axis >= 0 || !out.per_tensor()))
    return "a table of 16 bits for each index of an axis is too large";
  if (axis >= 0 && !out.per_tensor() && axis != out.axis)
    return "the input is per axis " + std::to_string(axis) + ", the output per axis " +
           std::to_string(out.axis);
  return "";
}

}  // namespace

Status read_quant(Importer& importer, const NodeView& node, int scale, int zero_point, int type,
                  const Shape& shape, int64_t axis, std::optional<Quant>* quant) {
  const std::string scale_name = node.input(scale);
  if (!node.has_input(scale) || !importer.input(node, scale).is_constant())
    return importer.refuse(node, "the scale '" + scale_name + "' is not a constant", scale_name,
                           "store it as an initialiser: quantise the model statically, as "
                           "qrt_quantize MODEL --calibration SAMPLES does");
  const Tensor& s = importer.input(node, scale);
  QRT_MODEL_CHECK(s.is_plain_constant() && s.constant->is_real(),
                  "scale '%s' is not of a float type", scale_name.c_str());
  if (s.type != kFloat && s.type != kHalf)
    return importer.refuse(node,
                           "the scale '" + scale_name + "' is " + element_type_name(s.type) +
                               ", only float32 and float16 are supported",
                           scale_name, "export the float model in float32, and quantise that");
  Quant q;
  const int64_t n = s.constant->elements();
  importer.tensors().charge(static_cast<uint64_t>(n) * (sizeof(float) + sizeof(int32_t)));
  for (int64_t i = 0; i < n; ++i) q.scale.push_back(s.constant->real(i));
  QRT_MODEL_CHECK(n > 0, "scale '%s' is empty", scale_name.c_str());
  for (float v : q.scale)
    QRT_MODEL_CHECK(!std::isnan(v), "scale '%s' holds a NaN", scale_name.c_str());
  importer.outcomes().note_scales_once(node.index(), scale_name, q.scale);
  if (s.shape.rank() > 1 && n > 1)
    return importer.refuse(
        node,
        "the scale '" + scale_name + "' of shape " + s.shape.to_string() + " quantises in blocks",
        scale_name, "quantise it per tensor or per axis (block_size 0)");
  if (n > 1) {
    QRT_MODEL_CHECK(axis >= -shape.rank() && axis < shape.rank(),
                    "axis %lld is outside the tensor's %d dimensions", static_cast<long long>(axis),
                    shape.rank());
    q.axis = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
    QRT_MODEL_CHECK(shape[q.axis] == n, "scale '%s' has %lld elements, axis %d of %s needs %lld",
                    scale_name.c_str(), static_cast<long long>(n), q.axis,
                    shape.to_string().c_str(), static_cast<long long>(shape[q.axis]));
  }
  q.zero_point.assign(q.scale.size(), 0);
  if (node.has_input(zero_point)) {
    const Tensor& z = importer.input(node, zero_point);
    if (!z.is_plain_constant())
      return importer.refuse(node,
                             "the zero point '" + node.input(zero_point) + "' is not a constant",
                             node.input(zero_point),
                             "store it as an initialiser: quantise the model statically, as "
                             "qrt_quantize MODEL --calibration SAMPLES does");
    if (type == kUndefined) type = z.type;
    QRT_MODEL_CHECK(z.type == type, "zero point '%s' is %s, its tensor %s",
                    node.input(zero_point).c_str(), element_type_name(z.type),
                    element_type_name(type));
    // ONNX Runtime writes one zero point beside a QLinearConv's scale for each channel.
    const bool one = z.constant->elements() == 1 && node.op().rfind("QLinear", 0) == 0;
    QRT_MODEL_CHECK(z.constant->is_integer() && (one || z.constant->elements() == n),
                    "zero point '%s' has %lld elements, its scale %lld",
                    node.input(zero_point).c_str(), static_cast<long long>(z.constant->elements()),
                    static_cast<long long>(n));
    for (int64_t i = 0; i < n; ++i)
      q.zero_point[static_cast<size_t>(i)] = static_cast<int32_t>(z.constant->integer(one ? 0 : i));
  }
  if (type != kUndefined && !ir_type(type, &q.type))
    return importer.refuse(node, std::string("a tensor is ") + element_type_name(type),
                           node.output(0), kIntegers);
  *quant = std::move(q);
  return Status();
}

Status read_tensor_quant(Importer& importer, const NodeView& node, int scale, int zero_point,
                         int type, std::optional<Quant>* quant) {
  const Tensor& s = importer.input(node, scale);
  if (s.is_plain_constant() && s.constant->elements() > 1)
    return importer.refuse(node,
                           "the scale '" + node.input(scale) + "' has " +
                               std::to_string(s.constant->elements()) +
                               " elements: activations must be quantised per tensor",
                           node.input(scale), "quantise activations per tensor, with one scale");
  QRT_TRY(read_quant(importer, node, scale, zero_point, type, Shape(), 0, quant));
  if (!*quant || is_eight_bit(onnx_type((*quant)->type))) return Status();
  const DType found = (*quant)->type;
  quant->reset();
  return importer.refuse(node, std::string("a tensor is ") + dtype_name(found), node.output(0),
                         kEightBits);
}

namespace {

// Attributes that a later opset has brought: a file of an earlier one that has them is not valid.
Status check_attributes(const Importer& importer, const NodeView& node) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return Status();
  const bool quantizes = node.op() == "QuantizeLinear";
  const std::pair<const char*, int64_t> since[] = {
      {"axis", 13}, {"block_size", 21}, {"output_dtype", quantizes ? 21 : 23}, {"precision", 23}};
  for (const auto& [name, opset] : since)
    QRT_MODEL_CHECK(!node.has(name) || importer.opset(node) >= opset,
                    "attribute %s is there from opset %lld on, the model has opset %lld", name,
                    static_cast<long long>(opset), static_cast<long long>(importer.opset(node)));
  return Status();
}

// Returns an int32 tensor less its zero points, modulo 2^32.
ValueId less_zero_points(Importer& importer, const NodeView& node, const Tensor& x,
                         const Quant& quant) {
  const std::vector<int32_t>& zeros = quant.zero_point;
  if (std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; })) return x.value;
  Shape along;
  for (int d = quant.per_tensor() ? x.shape.rank() : quant.axis; d < x.shape.rank(); ++d)
    along.push_back(d == quant.axis ? x.shape[d] : 1);
  const ValueId constant = importer.graph().add_constant("", DType::kInt32, along, zeros);
  const ValueId y = importer.builder().new_value("", DType::kInt32, x.shape);
  importer.builder().add<fb::IntegerOptionsT>(node, {x.value, constant}, y).function =
      fb::IntegerFunction::SUB;
  return y;
}

}  // namespace

Status import_quantize(Importer& importer, const NodeView& node) {
  QRT_TRY(check_attributes(importer, node));
  const Tensor& x = importer.input(node, 0);
  Status merged = importer.double_qdq().merge(node, !importer.graph().batch_is_symbolic);
  if (merged.code() == Code::kUnsupported)
    return importer.refuse(node, merged.message(), node.output(0),
                           "quantise this tensor by one pair of QuantizeLinear and "
                           "DequantizeLinear, not by two in a row");
  QRT_TRY(std::move(merged));
  if (importer.passed_input(node) >= 0) {
    importer.set_output(node, 0, x);
    return Status();
  }
  bool taken;
  QRT_TRY(quantize_half(importer, node, &taken));
  if (taken) return Status();
  QRT_TRY(drop_clip(importer, node));
  return quantize(importer, node);
}

namespace {

Status quantize(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const int type = quantized_type(importer, node);
  if (x.is_value() || x.is_plain_constant()) {
    const bool folds = x.is_constant() && (type == kInt4 || type == kUint4);
    const bool is_integer = is_activation(type) || type == kUndefined;
    if (!is_plain_edge(importer, node) || x.type != kFloat || !(is_integer || folds) ||
        (type == kUint16 && importer.is_output(node.output(0))))
      return emit_quantize(importer, node);
  }
  std::optional<Quant> quant;
  QRT_TRY(read_quant(importer, node, 1, 2, type, x.shape, axis_attribute(node), &quant));
  if (!quant) return Status();
  if (const Quant* merged = importer.double_qdq().quant(node)) quant = *merged;
  const bool four_bit_constant =
      x.is_constant() && (quant->type == DType::kInt4 || quant->type == DType::kUInt4);
  if (!is_activation(onnx_type(quant->type)) && !four_bit_constant)
    return importer.refuse(node, std::string("the output is ") + dtype_name(quant->type),
                           node.output(0), kIntegers);
  if (node.integer("block_size", 0) != 0)
    return importer.refuse(node, "it quantises in blocks", node.output(0),
                           "quantise it per tensor or per axis (block_size 0)");
  if (x.is_constant()) return quantize_constant(importer, node, x, *quant);
  make_per_tensor(&*quant);

  const std::string need = need_of_floats(x, *quant);
  if (!need.empty() && !importer.allows_float())
    return importer.refuse(node, need, node.output(0),
                           "quantise activations per tensor and to 8 bits");
  const size_t known = importer.graph().values.size();
  Tensor y;
  y.shape = x.shape;
  y.type = onnx_type(quant->type);
  if (!need.empty()) {
    ValueId floats;
    if (!FloatGraph(importer, node).read(0, &floats)) return importer.refuse_float(node, 0);
    y.value = quantize_float(importer, node, floats, *quant);
  } else if (x.is_value() && x.type == kFloat) {
    y.value = quantize_float(importer, node, x.value, *quant);
  } else if (x.is_table()) {
    QRT_TRY(
        quantize_table(importer, node, x, *quant, Limits::of(*quant), node.output(0), &y.value));
  } else if (x.is_pending() || x.is_pair_function()) {
    const std::shared_ptr<Pending> pending = own_pending(importer, node, 0);
    Barrier barrier;
    ValueId floats = kNoValue;
    QRT_TRY(find_barrier(importer, *pending, &barrier));
    if (barrier.node && !pending->is_function && !pending->pair_function)
      QRT_TRY(float_function(importer, *pending, &floats));
    if (floats != kNoValue)
      y.value = quantize_float(importer, node, floats, *quant);
    else
      QRT_TRY(resolve(importer, node, pending, *quant, &y.value));
  } else {
    return importer.refuse_float(node, 0);
  }
  if (y.value == kNoValue) return Status();
  if (y.value >= known) set_name(&importer.graph(), y.value, node.output(0));
  y.kind = Tensor::Kind::kValue;
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace

Status import_dequantize(Importer& importer, const NodeView& node) {
  QRT_TRY(check_attributes(importer, node));
  const Tensor& x = importer.input(node, 0);
  bool half = false;
  if (x.is_value() || x.is_plain_constant()) {
    const int64_t to = node.integer("output_dtype", kUndefined);
    const bool stays = x.is_constant() ? x.constant->is_integer() : is_activation(x.type);
    const bool plain = is_plain_edge(importer, node) && (to == kUndefined || to == kFloat);
    half = (to == kUndefined || to == kHalf) && is_half_edge(importer, node) &&
           feeds_operators(importer, node);
    if (!(plain || half) || !(stays || x.type == kInt32)) return emit_dequantize(importer, node);
  }
  if (node.integer("block_size", 0) != 0)
    return importer.refuse(node, "it is quantised in blocks", node.input(0),
                           "quantise it per tensor or per axis (block_size 0)");
  QRT_MODEL_CHECK(!x.is_table() && !x.is_pending() && !(x.is_constant() && x.quant),
                  "input '%s' is a float tensor", node.input(0).c_str());
  QRT_MODEL_CHECK(x.type != kFloat, "input '%s' is a float tensor", node.input(0).c_str());
  std::optional<Quant> quant;
  QRT_TRY(read_quant(importer, node, 1, 2, x.type, x.shape, axis_attribute(node), &quant));
  if (!quant) return Status();
  if (const Quant* merged = importer.double_qdq().quant(node)) quant = *merged;
  Tensor y = x;
  if (x.is_constant()) {
    if (!x.constant->is_integer())
      return importer.refuse(node, "input '" + node.input(0) + "' is " + element_type_name(x.type),
                             node.input(0), kEightBits);
    y.quant = *quant;
    if (half) return round_to_half(importer, node, std::move(y));
    if (is_scale(importer, node.output(0)) ||
        (x.type != kInt32 && is_bias(importer, node.output(0)))) {
      std::vector<float> real;
      constant_floats(y, &real);
      y = constant_tensor(make_constant(kFloat, y.shape, real));
    }
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  if (is_activation(x.type)) {
    make_per_tensor(&*quant);
    y.kind = Tensor::Kind::kTable;
    y.value = importer.builder().with_quant(node, x.value, *quant);
    y.quant = *quant;
    if (half) return round_to_half(importer, node, std::move(y));
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  if (x.type != kInt32)
    return importer.refuse(node, "input '" + node.input(0) + "' is " + element_type_name(x.type),
                           node.input(0), kIntegers);
  const ValueId difference = less_zero_points(importer, node, x, *quant);
  Node d = make_node<fb::DequantizeOptionsT>(node.name(), node.op(), {difference}, {});
  auto& o = options<fb::DequantizeOptionsT>(d);
  for (float s : quant->scale) o.scale.push_back(float_bits(s));
  o.zero_point.assign(quant->scale.size(), 0);
  o.axis = quant->axis;
  y.type = kFloat;
  y.value = importer.builder().new_value(node.output(0), DType::kFloat32, x.shape);
  d.outputs.push_back(y.value);
  importer.graph().nodes.push_back(std::move(d));
  importer.became(node, "Dequantize", "edge");
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx

// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/arithmetic/product.h"

#include <algorithm>

#include "converter/import/onnx/arithmetic/float_gemm.h"
#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/deferred/pending.h"
#include "converter/import/onnx/deferred/table.h"

namespace qrt::convert::from_onnx {
namespace {

template <class T>
std::vector<T> centred(const Product& p) {
  return centred_weights<T>(*p.weights, p.w_quant, p.out, p.in, [&](int64_t o, int64_t i) {
    return p.out_first ? o * p.in + i : i * p.out + o;
  });
}

LayerConstants byte_constants(Importer& importer, const Product& p,
                              std::unique_ptr<fb::RequantT> requant) {
  return byte_constants(importer, centred<int16_t>(p), p.bias, std::move(requant));
}

// Adds the product to the graph, quantised to `out`, or with the accumulators as result if `out` is
// null.
ValueId emit(Importer& importer, const NodeView& node, const std::string& ops, const Product& p,
             LayerConstants constants, const Quant* out) {
  Graph& graph = importer.graph();
  const int weights_input = node.op().rfind("Q", 0) == 0 ? 3 : 1;
  const ValueId weights = graph.add_constant(node.input(weights_input), DType::kInt16,
                                             {p.out, p.in}, constants.weights);
  graph.values[weights].weight_bits = packed_bits(p.weights->type);
  graph.values[weights].quantization = centred_quantization(p.w_quant, 0);
  const bool is_int16 = constants.type == DType::kInt16;
  const DType dtype = out ? constants.type : DType::kInt32;
  ValueId x = is_int16 ? importer.builder().widened(node, p.x) : p.x;
  if (p.transpose_x) x = importer.builder().transpose(node, x, {1, 0});
  if (importer.builder().shape_of(x) != p.x_shape)
    x = importer.builder().reshape(node, x, p.x_shape);
  Shape shape = p.x_shape;
  shape[shape.rank() - 1] = p.out;
  const ValueId y = importer.builder().new_value("", dtype, shape, out);
  Node n =
      make_node<fb::FullyConnectedOptionsT>(node.name(), ops, {x, weights, constants.bias}, {y});
  if (p.x_zero_point != kNoValue) n.inputs.push_back(p.x_zero_point);
  options<fb::FullyConnectedOptionsT>(n).requant = std::move(constants.requant);
  graph.nodes.push_back(std::move(n));
  importer.became(node, "FullyConnected", dtype == DType::kUInt8 ? "I1" : "I0");
  return is_int16 ? as_output(importer, node, y, *out) : y;
}

bool is_int16(const Product& p) { return p.x_quant.is_int16() || p.w_quant.is_int16(); }

Int16Source int16_source(const Product& p) {
  Int16Source s;
  s.weights = centred<int32_t>(p);
  s.out = p.out;
  s.padded_in = (p.in + 3) / 4 * 4;
  s.products = int16_products(p.alpha, p.x_quant, p.w_quant);
  s.bias = p.real_bias;
  s.x_zero_point = p.x_quant.stored_zero_point();
  return s;
}

// Returns the accumulators, which include the bias, as floats.
ValueId emit_accumulators(Importer& importer, const NodeView& node, const std::string& ops,
                          const Product& p) {
  GraphBuilder& builder = importer.builder();
  const ValueId acc = emit_sums(importer, node, ops, p);
  const int axis = p.products.size() == 1 ? -1 : builder.shape_of(acc).rank() - 1;
  return builder.dequantize_accumulators(node, acc, p.products, axis);
}

// Emits the accumulators without the bias as floats, and adds the bias to these floats.
Status emit_added(Importer& importer, const NodeView& node, const std::string& ops,
                  const Product& p, ValueId* result) {
  Product unbiased = p;
  std::fill(unbiased.bias.begin(), unbiased.bias.end(), 0);
  unbiased.addends.clear();
  ValueId y;
  if (p.multiplies_floats)
    QRT_TRY(emit_float_gemm(importer, node, unbiased, &y));
  else
    y = emit_accumulators(importer, node, ops, unbiased);
  if (importer.builder().shape_of(y) != p.result) y = importer.builder().reshape(node, y, p.result);
  *result = add_float_constant(importer, node, y, p.addends_shape, p.addends);
  return Status();
}

bool all_usable(const std::vector<float>& scales) {
  return std::all_of(scales.begin(), scales.end(), is_usable_scale);
}

// Returns whether the DequantizeLinear that this tensor comes from has a zero point, without which
// ONNX Runtime has no product of integers.
bool has_zero_point(const Importer& importer, const std::string& tensor) {
  int most_moves = 64;  // bound for a hostile file with thousands of moves
  for (int at = importer.model().producer(tensor); at >= 0 && most_moves-- > 0;
       at = importer.model().producer(importer.node(at).input(0)))
    if (importer.node(at).op() == "DequantizeLinear") return importer.node(at).has_input(2);
  return true;
}

// Returns whether a Relu or Clip reads the node's output.
bool is_limited_next(const Importer& importer, const NodeView& node) {
  const std::vector<int>& readers = importer.model().readers(node.output(0));
  return std::any_of(readers.begin(), readers.end(), [&](int reader) {
    const std::string& op = importer.node(reader).op();
    return op == "Relu" || op == "Clip";
  });
}

}  // namespace

void read_addends(const Tensor& bias, Product* p) {
  if (constant_floats(bias, &p->addends)) p->addends_shape = bias.shape;
}

bool multiplies_integers(const Importer& importer, const NodeView& product, bool is_gemm,
                         const Product& p) {
  return has_integer_product(p.x_quant, p.w_quant) &&
         (!is_gemm || (has_zero_point(importer, product.input(0)) &&
                       has_zero_point(importer, product.input(1))));
}

void add_in_sum(Product* p) {
  p->float_bias = Product::FloatBias::kInSum;
  p->bias = rounded_bias(p->real_bias, p->products);
}

Status read_float_bias(Importer& importer, const NodeView& node, const NodeView& product,
                       const Tensor& bias, Product* p) {
  using FloatBias = Product::FloatBias;
  bool leads;
  QRT_TRY(leads_to_quantize(importer, node, &leads));
  if (bias.type == kFloat) {
    // ONNX Runtime puts a Reshape behind a product that is no matrix. If the product's output is
    // one of the graph, ONNX Runtime moves no QuantizeLinear across this Reshape.
    const std::string& y = node.output(0);
    const bool is_result = importer.uses(y) != static_cast<int>(importer.model().readers(y).size());
    // ONNX Runtime removes a Relu or Clip behind that Reshape too late to move the QuantizeLinear.
    const bool moves = p->result.rank() == 2 || (!is_result && !is_limited_next(importer, node));
    const bool rounded = leads && bias.shape.rank() == 1 && moves;
    p->float_bias = rounded ? FloatBias::kRounded : FloatBias::kInSum;
  } else if (has_other_scale(bias, p->products)) {
    const std::string& y = node.output(0);
    const std::vector<int>& readers = importer.model().readers(y);
    // A QuantizeLinear that is one of several readers keeps the product in float, unless a Reshape
    // stands between.
    const bool is_shared = importer.uses(y) > 1 && p->result.rank() == 2 &&
                           std::any_of(readers.begin(), readers.end(), [&](int reader) {
                             return importer.node(reader).op() == "QuantizeLinear";
                           });
    const bool of_integers = !is_shared && multiplies_integers(importer, product, true, *p);
    p->float_bias = !of_integers ? FloatBias::kInSum : leads ? FloatBias::kTaken : FloatBias::kNone;
  }
  return Status();
}

ValueId emit_sums(Importer& importer, const NodeView& node, const std::string& ops,
                  const Product& p) {
  return emit(importer, node, ops, p, byte_constants(importer, p, std::make_unique<fb::RequantT>()),
              nullptr);
}

Status emit_product(Importer& importer, const NodeView& node, const std::string& ops, Product p,
                    const Quant& out, Limits limits, ValueId* result) {
  const bool taken = p.float_bias == Product::FloatBias::kTaken;
  // The Reshape behind a product that is no matrix keeps the product one of integers; a limit right
  // behind a product, or another output type, keeps the product in float.
  const bool is_limited = limits.cut(out) || (p.has_limit && out.type != p.x_quant.type);
  const bool limited_behind = taken && is_limited && p.result.rank() != 2;
  if (taken && !limited_behind && (limits.cut(out) || out.type != p.x_quant.type)) add_in_sum(&p);
  const bool added = p.float_bias == Product::FloatBias::kAdded || limited_behind;
  if (added && all_usable(p.products) && !is_int16(p) && !out.is_int16()) {
    ValueId y;
    if (limited_behind)
      y = emit_accumulators(importer, node, ops, p);
    else
      QRT_TRY(emit_added(importer, node, ops, p, &y));
    *result = quantize_within(importer, node, y, out, limits);
    importer.became(node, "FullyConnected", "I1");
  } else if (p.float_bias == Product::FloatBias::kInSum && !is_int16(p) && !out.is_int16()) {
    ValueId y;
    QRT_TRY(emit_float_gemm(importer, node, p, &y));
    *result = quantize_within(importer, node, y, out, limits);
  } else if (is_int16(p) || out.is_int16()) {
    if (p.real_bias.empty())
      return importer.refuse(node, "its bias differs from row to row, and its output has 16 bits",
                             node.output(0), "quantise its output to 8 bits");
    auto layer = make_int16_layer(importer, node, int16_source(p), out, limits);
    if (!layer) return Status();
    *result = emit(importer, node, ops, p, std::move(*layer), &out);
  } else {
    auto requant = byte_requant(importer, node, p.products, out, limits);
    if (!requant) return Status();
    *result = emit(importer, node, ops, p, byte_constants(importer, p, std::move(requant)), &out);
  }
  if (importer.builder().shape_of(*result) != p.result)
    *result = importer.builder().reshape(node, *result, p.result);
  return Status();
}

Status emit_product_float(Importer& importer, const NodeView& node, const std::string& ops,
                          const Product& p, ValueId* result) {
  for (float s : p.products)
    if (!is_usable_scale(s))
      return importer.refuse(node, "the product of its scales is not a normal positive number",
                             node.output(0),
                             "calibrate the quantisation again: qrt_convert --lint names the "
                             "scales that are no ordinary positive numbers");
  GraphBuilder& builder = importer.builder();
  using FloatBias = Product::FloatBias;
  if (p.float_bias == FloatBias::kInSum ||
      (p.multiplies_floats && p.float_bias != FloatBias::kAdded))
    return emit_float_gemm(importer, node, p, result);
  ValueId y;
  if (p.float_bias == FloatBias::kAdded)
    QRT_TRY(emit_added(importer, node, ops, p, &y));
  else
    y = emit_accumulators(importer, node, ops, p);
  *result = builder.shape_of(y) == p.result ? y : builder.reshape(node, y, p.result);
  return Status();
}

std::shared_ptr<Pending> defer_product(Importer& importer, const NodeView& node,
                                       const NodeView& owner, Product p) {
  p.has_limit = is_limited_next(importer, node);
  const auto pending = defer(importer, node, p.result);
  pending->node = &owner;
  const std::string* ops = &pending->ops;
  if (!is_int16(p))
    pending->emit_float = [&importer, &owner, p, ops](ValueId* result) {
      return emit_product_float(importer, owner, *ops, p, result);
    };
  pending->emit = [&importer, &owner, p = std::move(p), ops](const Quant& out, Limits limits,
                                                             ValueId* result) {
    return emit_product(importer, owner, *ops, p, out, limits, result);
  };
  return pending;
}

}  // namespace qrt::convert::from_onnx

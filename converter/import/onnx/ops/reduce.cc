// SPDX-License-Identifier: Apache-2.0
// Reductions. The greatest and the least of integers are integers: a pool over the whole of a
// reshaped tensor. Sums and means are sums of integers, rounded once.
#include <algorithm>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"

namespace qrt::convert::from_onnx {
namespace {

// Reads the reduced dimensions of x. *known: false where they are refused.
Status read_reduced(Importer& importer, const NodeView& node, const Shape& x,
                    std::vector<bool>* reduced, bool* known) {
  bool given;
  QRT_TRY(read_axes(importer, node, x.rank(), reduced, &given, known));
  const bool some = std::count(reduced->begin(), reduced->end(), true) > 0;
  if (!some && node.integer("noop_with_empty_axes", 0) == 0) reduced->assign(reduced->size(), true);
  return Status();
}

// x [outer, n, 1, inner] after a permutation -> [outer, 1, 1, inner] -> y.
struct Reduction {
  int64_t outer = 1, n = 1, inner = 1;
  std::vector<int> perm;  // empty: nothing moves
  Shape y;
};

// Plans a reduction. With `batch_alone`, `outer` is dimension 0 alone, and the other kept
// dimensions in front of the reduced ones go behind them.
Reduction plan_reduction(const Shape& x, const std::vector<bool>& reduced, bool keep,
                         bool batch_alone) {
  Reduction r;
  std::vector<int> among, behind;
  int runs = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const bool here = reduced[static_cast<size_t>(d)];
    if (here && (d == 0 || !reduced[static_cast<size_t>(d - 1)])) ++runs;
    const bool in_front = runs == 0 && (d == 0 || !batch_alone);
    (here ? r.n : in_front ? r.outer : r.inner) *= x[d];
    (here ? among : in_front ? r.perm : behind).push_back(d);
    if (!here || keep) r.y.push_back(here ? 1 : x[d]);
  }
  r.perm.insert(r.perm.end(), among.begin(), among.end());
  r.perm.insert(r.perm.end(), behind.begin(), behind.end());
  if (std::is_sorted(r.perm.begin(), r.perm.end())) r.perm.clear();
  return r;
}

// x as [outer, n, 1, inner].
ValueId arranged(Importer& importer, const NodeView& node, const Reduction& r, ValueId x) {
  if (!r.perm.empty()) x = importer.builder().transpose(node, x, r.perm);
  return importer.builder().reshape(node, x, {r.outer, r.n, 1, r.inner});
}

// Returns the integers' complement, which reverses their order.
ValueId complement(Importer& importer, const NodeView& node, ValueId x) {
  const bool is_int16 = importer.graph().values[x].type.dtype == DType::kInt16;
  if (!is_int16) {
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
    return importer.builder().lut(node, x, table, false, "", nullptr);
  }
  std::vector<int32_t> table(65536);
  for (int i = 0; i < 65536; ++i) table[static_cast<size_t>(i)] = 32767 - i;
  return importer.builder().int16_lut(node, x, table, DType::kInt16, "", nullptr);
}

// Returns whether a sum of `n` integers whose greatest is `most` stays within int32.
bool sum_fits(int64_t n, int64_t most) { return n <= INT32_MAX / most; }

// Emits a sum or mean of quantised values: the integers' sum, which is exact, and one rounding.
// ONNX Runtime sums floats, in an order of its own.
Status emit_sum(Importer& importer, const NodeView& node, const std::string& ops, ValueId x,
                const Quant& in, const Reduction& r, const Quant& out, Limits limits,
                ValueId* result) {
  const bool is_int16 = in.is_int16() || out.is_int16(), mean = node.op() == "ReduceMean";
  if (is_int16 ? r.n >= 1 << 15 : !sum_fits(r.n, 255))
    return importer.refuse(node, "its sum of " + std::to_string(r.n) + " values may leave int32",
                           node.output(0), "reduce in two steps, each over some of the axes");
  const float divisor = mean ? out.scale[0] * static_cast<float>(r.n) : out.scale[0];
  std::unique_ptr<fb::RequantT> requant;
  if (is_int16) {
    const double n = mean ? static_cast<double>(r.n) : 1.0;
    const double factor =
        static_cast<double>(in.scale[0]) / (static_cast<double>(out.scale[0]) * n);
    requant = int16_requant(importer, node, {factor}, {r.n * 65535}, out, limits);
  } else {
    Quant scaled = out;
    scaled.scale[0] = divisor;
    requant = byte_requant(importer, node, in.scale, scaled, limits);
  }
  if (!requant) return Status();
  ValueId v = arranged(importer, node, r, x);
  if (is_int16) v = importer.builder().widened(node, v);
  ValueId y = importer.builder().new_value("", is_int16 ? DType::kInt16 : DType::kUInt8,
                                           {r.outer, 1, 1, r.inner}, &out);
  Node n = make_node<fb::GlobalAveragePool2DOptionsT>(node.name(), ops, {v}, {y});
  auto& o = options<fb::GlobalAveragePool2DOptionsT>(n);
  const int zero = in.stored_zero_point();
  o.input_zero_point = is_int16 ? 0 : static_cast<uint8_t>(zero);
  o.input_zero_point_16 = is_int16 ? static_cast<int16_t>(zero) : 0;
  o.requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "GlobalAveragePool2D", is_int16 ? "I0" : "I1");
  if (is_int16) y = as_output(importer, node, y, out);
  *result = importer.builder().reshape(node, y, r.y);
  return Status();
}

// Returns the greatest or the least of stored integers.
ValueId emit_extreme(Importer& importer, const NodeView& node, const Reduction& r, bool least,
                     ValueId x) {
  ValueId v = arranged(importer, node, r, x);
  // The least is the greatest of the complements.
  if (least) v = complement(importer, node, v);
  ValueId most =
      importer.builder().new_value("", importer.builder().type_of(v), {r.outer, 1, 1, r.inner});
  auto& o = importer.builder().add<fb::MaxPool2DOptionsT>(node, {v}, most);
  o.kernel_h = o.kernel_w = 0;  // the whole image
  if (least) most = complement(importer, node, most);
  importer.graph().values[most].quantization = importer.graph().values[x].quantization;
  importer.became(node, "MaxPool2D", "I0");
  return importer.builder().reshape(node, most, r.y);
}

}  // namespace

Status import_reduce_extreme(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const bool on_codes = keeps_order(x);
  const std::shared_ptr<Pending> waits = on_codes ? nullptr : own_function(importer, node, 0);
  if (!on_codes && !waits) return importer.refuse_float(node, 0);
  std::vector<bool> reduced;
  bool known;
  QRT_TRY(read_reduced(importer, node, x.shape, &reduced, &known));
  if (!known) return Status();
  const Reduction r = plan_reduction(x.shape, reduced, node.integer("keepdims", 1) != 0,
                                     importer.may_have_symbolic_batch(x));
  const bool least = node.op() == "ReduceMin";
  if (waits) {
    follow(importer, node, waits, r.y, [&importer, &node, r, least](const Quant* out, ValueId* v) {
      if (!out) return step_in_float(importer, node, v);
      *v = emit_extreme(importer, node, r, least, *v);
      return Status();
    });
    return Status();
  }
  Tensor y = x;
  y.shape = r.y;
  y.value = emit_extreme(importer, node, r, least, x.value);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

namespace {

// Sums integers that have no scale. The sum along an axis is the last of its running sums.
Status sum_integers(Importer& importer, const NodeView& node) {
  const Tensor x = importer.input(node, 0);
  std::vector<bool> reduced;
  bool known;
  QRT_TRY(read_reduced(importer, node, x.shape, &reduced, &known));
  if (!known) return Status();
  GraphBuilder& builder = importer.builder();
  ValueId y = x.value;
  Shape shape = x.shape, kept;
  for (int d = 0; d < x.shape.rank(); ++d) {
    const bool is_reduced = reduced[static_cast<size_t>(d)];
    if (!is_reduced || node.integer("keepdims", 1) != 0)
      kept.push_back(is_reduced ? 1 : x.shape[d]);
    if (!is_reduced) continue;
    const ValueId sums = builder.new_value("", builder.type_of(y), shape);
    builder.add<fb::CumSumOptionsT>(node, {y}, sums).axis = static_cast<uint32_t>(d);
    shape[d] = 1;
    y = builder.new_value("", builder.type_of(sums), shape);
    auto last = std::make_unique<fb::GatherAxisT>();
    last->axis = static_cast<uint8_t>(d);
    last->index = {static_cast<int32_t>(x.shape[d] - 1)};
    builder.add<fb::GatherOptionsT>(node, {sums}, y).axes.push_back(std::move(last));
  }
  if (kept != shape) y = builder.reshape(node, y, kept);
  importer.became(node, "CumSum", "I0");
  set_value(importer, node, x.type, y);
  return Status();
}

}  // namespace

Status import_reduce_sum(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (node.op() == "ReduceSum" && x.is_value() && (x.type == kInt32 || x.type == kInt64))
    return sum_integers(importer, node);
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  std::vector<bool> reduced;
  bool known;
  QRT_TRY(read_reduced(importer, node, x.shape, &reduced, &known));
  if (!known) return Status();
  const Reduction r = plan_reduction(x.shape, reduced, node.integer("keepdims", 1) != 0,
                                     importer.may_have_symbolic_batch(x));
  const ValueId value = x.value;
  const Quant in = *x.quant;
  const auto pending = defer(importer, node, r.y);
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, value, in, r, ops](const Quant& out, Limits limits,
                                                        ValueId* result) {
    return emit_sum(importer, node, *ops, value, in, r, out, limits, result);
  };
  return Status();
}

}  // namespace qrt::convert::from_onnx

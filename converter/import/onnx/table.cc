// The float side between DequantizeLinear and QuantizeLinear: tables of one byte, and operators
// that wait for the quantisation of their result.
#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr size_t kMaxTableEntries = size_t{1} << 24;

// Axis and number of tables that a table tensor needs.
int axis_of(const Tensor& t) { return t.table ? t.table_axis : t.quant->axis; }

size_t tables_of(const Tensor& t) {
  const int axis = axis_of(t);
  return axis < 0 ? 1 : static_cast<size_t>(t.shape[axis]);
}

}  // namespace

bool Importer::entries(const Tensor& t, std::vector<float>* out) const {
  const size_t tables = tables_of(t);
  const Quant& q = *t.quant;
  const size_t codes = q.codes();
  if (tables * codes > kMaxTableEntries) return false;
  if (t.table) {
    *out = *t.table;
    return true;
  }
  out->resize(tables * codes);
  for (size_t c = 0; c < tables; ++c) {
    const size_t at = q.per_tensor() ? 0 : c;
    const int zero = q.stored_zero_point(at) - q.first_code();
    for (size_t code = 0; code < codes; ++code)
      (*out)[c * codes + code] = static_cast<float>(static_cast<int>(code) - zero) * q.scale[at];
  }
  return true;
}

Status Importer::quantize_table(const NodeView& node, const Tensor& t, const Quant& out,
                                Limits limits, const std::string& name, ValueId* result) {
  const int axis = axis_of(t);
  if (axis >= 0 && !out.per_tensor() && out.axis != axis)
    return refuse(node,
                  "the input is per axis " + std::to_string(axis) + ", the output per axis " +
                      std::to_string(out.axis),
                  node.output(0), "quantise both along one axis, or per tensor");
  if (out.is_wide() || t.quant->is_wide()) return quantize_wide_table(node, t, out, limits, result);
  const int along = axis >= 0 ? axis : out.axis;
  const size_t tables = along < 0 ? 1 : static_cast<size_t>(t.shape[along]);
  std::vector<float> real;
  if (tables * 256 > kMaxTableEntries || !entries(t, &real))
    return refuse(node, "a table for each of " + std::to_string(tables) + " indices is too large",
                  node.output(0), "quantise per tensor");
  int lo, hi;
  quantized_range(out.type, &lo, &hi);
  std::vector<uint8_t> bytes(tables * 256);
  bool identity = true;
  for (size_t c = 0; c < tables; ++c) {
    const size_t at = out.per_tensor() ? 0 : c;
    const float* from = real.data() + (axis < 0 ? 0 : c * 256);
    for (size_t i = 0; i < 256; ++i) {
      const int q = std::clamp(
          quantize_ort(from[i], out.scale[at], out.zero_point[at], lo, hi) + out.offset(),
          limits.lo, limits.hi);
      bytes[c * 256 + i] = static_cast<uint8_t>(q);
      identity = identity && q == static_cast<int>(i);
    }
  }
  if (identity) {
    *result = with_quant(node, t.value, out);
    became(node, "folded", "I0");
    return Status();
  }
  became(node, "Lut", "I0");
  if (along < 0) {
    *result = new_lut(node, t.value, bytes, false, name, &out);
    return Status();
  }
  // A Lut with several tables chooses by the last axis.
  if (along == t.shape.rank() - 1) {
    *result = new_lut(node, t.value, bytes, true, name, &out);
    return Status();
  }
  const ValueId y = new_lut(node, axis_last(node, t.value, along), bytes, true, "", nullptr);
  *result = with_quant(node, axis_back(node, y, along, name), out);
  if (in_nhwc(t.value)) mark_nhwc(*result);
  return Status();
}

// A table that reads or writes 16 bits: one for the whole tensor.
Status Importer::quantize_wide_table(const NodeView& node, const Tensor& t, const Quant& out,
                                     Limits limits, ValueId* result) {
  std::vector<float> real;
  if (axis_of(t) >= 0 || !out.per_tensor() || !entries(t, &real))
    return refuse(node, "a table of 16 bits for each index of an axis is too large", node.output(0),
                  "quantise per tensor");
  int lo, hi;
  quantized_range(out.type, &lo, &hi);
  std::vector<int32_t> stored;
  bool identity = out.stored_type() == t.quant->stored_type();
  for (size_t i = 0; i < real.size(); ++i) {
    stored.push_back(
        std::clamp(quantize_ort(real[i], out.scale[0], out.zero_point[0], lo, hi) + out.offset(),
                   limits.lo, limits.hi));
    identity = identity && stored[i] == static_cast<int>(i) + out.first_code();
  }
  became(node, identity ? "folded" : "Lut", "I0");
  *result = identity ? with_quant(node, t.value, out)
                     : new_wide_lut(node, t.value, stored, out.stored_type(), &out);
  return Status();
}

Status Importer::map_table(const NodeView& node, int i, const std::function<float(float)>& f) {
  Tensor y = input(node, i);
  if (y.is_constant()) {
    std::vector<float> real;
    if (!constant_floats(y, &real)) return refuse_float(node, i);
    auto constant = std::make_shared<Constant>();
    constant->type = kFloat;
    constant->shape = y.shape;
    constant->data.resize(real.size() * sizeof(float));
    float* to = reinterpret_cast<float*>(constant->data.data());
    std::transform(real.begin(), real.end(), to, f);
    y.constant = std::move(constant);
    y.type = kFloat;
    y.quant.reset();
    set_output(node, 0, std::move(y));
    return Status();
  }
  Pairs pairs;
  if ((y.is_pairs() || y.is_pending()) && pairs_of(node, i, &pairs)) {
    Pairs nothing;
    nothing.value = [](int, int) { return 0.0f; };
    join_pairs(node, pairs, nothing, y.shape, [f](float v, float) { return f(v); });
    return Status();
  }
  if (!y.is_table()) return refuse_float(node, i);
  auto real = std::make_shared<std::vector<float>>();
  if (!entries(y, real.get()))
    return refuse(node,
                  "a table for each index of axis " + std::to_string(axis_of(y)) + " is too large",
                  node.input(i), "quantise per tensor");
  std::transform(real->begin(), real->end(), real->begin(), f);
  y.table_axis = axis_of(y);
  y.table = std::move(real);
  set_output(node, 0, std::move(y));
  return Status();
}

bool Importer::constant_floats(const Tensor& t, std::vector<float>* out) const {
  const Constant& c = *t.constant;
  const size_t n = static_cast<size_t>(c.elements());
  if (!t.quant) {
    if (!c.is_real()) return false;
    out->resize(n);
    for (size_t i = 0; i < n; ++i) (*out)[i] = c.real(static_cast<int64_t>(i));
    return true;
  }
  const Quant& q = *t.quant;
  out->resize(n);
  int64_t inner = 1;
  for (int d = q.axis + 1; !q.per_tensor() && d < c.shape.rank(); ++d) inner *= c.shape[d];
  for (size_t i = 0; i < n; ++i) {
    const size_t at =
        q.per_tensor() ? 0 : static_cast<size_t>(static_cast<int64_t>(i) / inner % c.shape[q.axis]);
    const int64_t v = c.integer(static_cast<int64_t>(i)) - q.zero_point[at];
    (*out)[i] = static_cast<float>(static_cast<int32_t>(v)) * q.scale[at];
  }
  return true;
}

std::shared_ptr<Pending> Importer::defer(const NodeView& node, const Shape& shape) {
  Tensor t;
  t.kind = Tensor::Kind::kPending;
  t.shape = shape;
  t.type = kFloat;
  t.pending = std::make_shared<Pending>();
  t.pending->node = &node;
  t.pending->ops = node.op();
  t.pending->lo = -std::numeric_limits<float>::infinity();
  t.pending->hi = std::numeric_limits<float>::infinity();
  const std::shared_ptr<Pending> pending = t.pending;
  set_output(node, 0, std::move(t));
  return pending;
}

bool Importer::sole_reader(const NodeView& node, int i) const { return uses(node.input(i)) == 1; }

// Refusing the node drops its tensor: `pending` is the caller's own.
Status Importer::resolve(const NodeView& quantize, const std::shared_ptr<Pending>& pending,
                         const Quant& out, ValueId* result) {
  const Pending& p = *pending;
  auto skip = [&] {
    for (int follower : p.followers)
      not_assessed(*nodes_[static_cast<size_t>(follower)], origin(p.node->output(0)));
    not_assessed(quantize, origin(p.node->output(0)));
    return Status();
  };
  if (!out.per_tensor()) {
    QRT_TRY(refuse(*p.node, "its output is quantised per axis", quantize.output(0),
                   "quantise activations per tensor"));
    return skip();
  }
  int lo, hi;
  quantized_range(out.type, &lo, &hi);
  const Limits limits = {
      quantize_ort(p.lo, out.scale[0], out.zero_point[0], lo, hi) + out.offset(),
      quantize_ort(p.hi, out.scale[0], out.zero_point[0], lo, hi) + out.offset()};
  ValueId v = kNoValue;
  QRT_TRY(p.emit(out, limits, &v));
  if (v == kNoValue) return skip();
  for (int follower : p.followers) became(follower, "fused into " + p.node->op(), "I0");
  for (const auto& move : p.moves) QRT_TRY(move(&v));
  became(quantize, "fused into " + p.node->op(), "I0");
  *result = with_quant(quantize, v, out);
  return Status();
}

}  // namespace qrt::convert::from_onnx

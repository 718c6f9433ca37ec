// Float tensors that are functions of the bytes of two tensors; see importer.h.
#include <algorithm>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr size_t kBytes = 256;
constexpr int kMostSteps = 8;

// min(max(x, lo), hi)
float limited(float x, float lo, float hi) {
  const float v = x < lo ? lo : x;
  return v > hi ? hi : v;
}

}  // namespace

Pairs Pending::limited_pairs() const {
  Pairs p = *pairs;
  p.steps = pairs->steps + 1;
  p.value = [f = pairs->value, least = lo, most = hi](int a, int b) {
    return limited(f(a, b), least, most);
  };
  return p;
}

bool broadcast(const Shape& a, const Shape& b, Shape* result) {
  *result = Shape();
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank; ++i) {
    const int at_a = i - (rank - a.rank()), at_b = i - (rank - b.rank());
    const int64_t da = at_a < 0 ? 1 : a[at_a], db = at_b < 0 ? 1 : b[at_b];
    if (da != db && da != 1 && db != 1) return false;
    result->push_back(da == 1 ? db : da);
  }
  return true;
}

bool Importer::pairs_of(const NodeView& node, int i, Pairs* out) {
  const Tensor& t = input(node, i);
  *out = Pairs();
  if (t.is_pairs()) {
    *out = *t.pairs;
    return true;
  }
  if (t.is_pending() && t.pending->pairs && t.pending->moves.empty()) {
    *out = t.pending->limited_pairs();
    return true;
  }
  if (t.quant && t.quant->is_wide() && !t.is_constant()) return false;
  std::vector<float> real;
  if (t.is_constant()) {
    if (t.constant->elements() == 1 && constant_floats(t, &real)) {
      out->value = [v = real[0]](int, int) { return v; };
      return true;
    }
    const bool bytes = t.type == kUint8 || t.type == kInt8;
    if (!bytes || !t.quant || !t.quant->per_tensor()) return false;
    Tensor stored = t;
    stored.kind = Tensor::Kind::kTable;
    if (!entries(stored, &real)) return false;
    out->a = stored_constant(*t.constant, *t.quant, node.input(i));
  } else {
    const bool single = t.is_table() && (t.table ? t.table_axis : t.quant->axis) < 0;
    if (!single || !entries(t, &real)) return false;
    out->a = t.value;
  }
  out->value = [real](int a, int) { return real[static_cast<size_t>(a)]; };
  return true;
}

std::shared_ptr<const Pairs> Importer::joined(const NodeView& node, const Pairs& a, const Pairs& b,
                                              const std::function<float(float, float)>& f) {
  auto joined = std::make_shared<Pairs>();
  joined->node = &node;
  joined->a = a.a;
  joined->b = a.b;
  for (ValueId v : {b.a, b.b}) {
    if (v == kNoValue || v == joined->a || v == joined->b) continue;
    ValueId& free = joined->a == kNoValue ? joined->a : joined->b;
    if (free != kNoValue) return nullptr;
    free = v;
  }
  // Which of the two bytes is each operand's own first and second.
  const auto index_of = [&](ValueId v) { return v == joined->a ? 0 : 1; };
  joined->value = [f, left = a.value, right = b.value, al = index_of(a.a), ar = index_of(a.b),
                   bl = index_of(b.a), br = index_of(b.b)](int x, int y) {
    const int bytes[2] = {x, y};
    return f(left(bytes[al], bytes[ar]), right(bytes[bl], bytes[br]));
  };
  joined->steps = a.steps + b.steps + 1;
  if (joined->steps > kMostSteps) {
    auto table = std::make_shared<std::vector<float>>(kBytes * kBytes);
    for (size_t i = 0; i < table->size(); ++i)
      (*table)[i] = joined->value(static_cast<int>(i / kBytes), static_cast<int>(i % kBytes));
    derived_bytes_ += table->size() * sizeof(float);
    joined->value = [table](int x, int y) {
      return (*table)[static_cast<size_t>(x) * kBytes + static_cast<size_t>(y)];
    };
    joined->steps = 1;
  }
  return joined;
}

bool Importer::join_pairs(const NodeView& node, const Pairs& a, const Pairs& b, const Shape& shape,
                          const std::function<float(float, float)>& f) {
  Tensor y;
  y.kind = Tensor::Kind::kPairs;
  y.type = kFloat;
  y.shape = shape;
  y.pairs = joined(node, a, b, f);
  const bool possible = y.pairs != nullptr;
  if (possible) set_output(node, 0, std::move(y));
  return possible;
}

Status Importer::quantize_pairs(const NodeView& node, const Pairs& pairs, const Shape& shape,
                                const Quant& out, Limits limits, ValueId* result) {
  if (!out.per_tensor())
    return refuse(node, "its output is quantised per axis", node.output(0),
                  "quantise activations per tensor");
  if (out.is_wide())
    return refuse(node, "it is a table of two 8-bit tensors, its output has 16 bits",
                  node.output(0), "quantise its inputs to 16 bits, or its output to 8");
  int lo, hi;
  quantized_range(out.type, &lo, &hi);
  std::vector<uint8_t> table(kBytes * kBytes);
  for (size_t i = 0; i < table.size(); ++i) {
    const float v = pairs.value(static_cast<int>(i / kBytes), static_cast<int>(i % kBytes));
    const int q = quantize_ort(v, out.scale[0], out.zero_point[0], lo, hi) + out.offset();
    table[i] = static_cast<uint8_t>(std::clamp(q, limits.lo, limits.hi));
  }
  *result = new_pair_lut(node, pairs, shape, DType::kUInt8, table, &out);
  became(node, "PairLut", "I0");
  return Status();
}

Status Importer::pairs_to_float(const NodeView& node, const Pairs& pairs, const Shape& shape,
                                ValueId* result) {
  std::vector<float> table(kBytes * kBytes);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = pairs.value(static_cast<int>(i / kBytes), static_cast<int>(i % kBytes));
  std::vector<uint8_t> bytes(table.size() * sizeof(float));
  __builtin_memcpy(bytes.data(), table.data(), bytes.size());
  *result = new_pair_lut(node, pairs, shape, DType::kFloat32, bytes, nullptr);
  became(node, "PairLut", "edge");
  return Status();
}

ValueId Importer::new_pair_lut(const NodeView& node, const Pairs& pairs, const Shape& shape,
                               DType dtype, const std::vector<uint8_t>& table, const Quant* quant) {
  ValueId operand[2] = {pairs.a, pairs.b};
  for (ValueId& v : operand)
    if (v == kNoValue) v = graph_->add_constant("", DType::kUInt8, {}, std::vector<uint8_t>{0});
  Shape made;
  broadcast(shape_of(operand[0]), shape_of(operand[1]), &made);
  Node n = make_node<fb::PairLutOptionsT>(node.name(), node.op(), {operand[0], operand[1]}, {});
  options<fb::PairLutOptionsT>(n).to_float = dtype == DType::kFloat32;
  const Shape table_shape{static_cast<int64_t>(table.size())};
  n.inputs.push_back(graph_->add_constant("", DType::kUInt8, table_shape, table));
  ValueId y = new_value("", dtype, made, quant);
  n.outputs.push_back(y);
  graph_->nodes.push_back(std::move(n));
  if (in_nhwc(operand[0]) || in_nhwc(operand[1])) mark_nhwc(y);
  // A constant of one element may have had more dimensions.
  return made == shape ? y : reshape(node, y, shape);
}

Status Importer::quantize_tensor(const NodeView& node, const Tensor& t, const Quant& out,
                                 Limits limits, ValueId* result) {
  if (t.is_table()) return quantize_table(node, t, out, limits, "", result);
  std::vector<float> real;
  if (t.is_constant() && constant_floats(t, &real)) {
    *result = quantized_constant(real, t.shape, out, limits);
    return Status();
  }
  return refuse(node, "an operand is neither a table nor a constant", node.output(0),
                "put QuantizeLinear and DequantizeLinear on its inputs");
}

ValueId Importer::min_max(const NodeView& node, ValueId a, ValueId b, bool maximum,
                          const Quant* quant) {
  Shape shape;
  broadcast(shape_of(a), shape_of(b), &shape);
  const ValueId y = new_value("", graph_->values[a].type.dtype, shape, quant);
  Node n = make_node<fb::MinMaxOptionsT>(node.name(), node.op(), {a, b}, {y});
  options<fb::MinMaxOptionsT>(n).maximum = maximum;
  graph_->nodes.push_back(std::move(n));
  if (in_nhwc(a) || in_nhwc(b)) mark_nhwc(y);
  return y;
}

std::shared_ptr<Pending> Importer::own_pending(const NodeView& node, int i) {
  const Tensor& t = input(node, i);
  if (t.is_pending()) {
    if (sole_reader(node, i)) return t.pending;
    auto copy = std::make_shared<Pending>(*t.pending);
    if (!copy->original) copy->original = t.pending;
    return copy;
  }
  if (!t.is_pairs()) return nullptr;
  const NodeView* owner = t.pairs->node;
  auto pending = std::make_shared<Pending>();
  pending->node = owner;
  pending->ops = owner->op();
  pending->lo = -std::numeric_limits<float>::infinity();
  pending->hi = std::numeric_limits<float>::infinity();
  pending->emit = [this, owner, pairs = t.pairs, shape = t.shape](const Quant& out, Limits limits,
                                                                  ValueId* result) {
    return quantize_pairs(*owner, *pairs, shape, out, limits, result);
  };
  pending->emit_float = [this, owner, pairs = t.pairs, shape = t.shape](ValueId* result) {
    return pairs_to_float(*owner, *pairs, shape, result);
  };
  return pending;
}

}  // namespace qrt::convert::from_onnx

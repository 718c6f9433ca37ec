// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/deferred/pair_function.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "converter/import/onnx/deferred/table.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr size_t kCodes = 256;
constexpr int kMostDepth = 8;

// min(max(x, lo), hi)
float within(float x, float lo, float hi) {
  const float v = x < lo ? lo : x;
  return v > hi ? hi : v;
}

}  // namespace

namespace {

// Reads a constant of at most 256 different floats as a function of bytes that number them. Returns
// false where there are more.
bool few_values(Importer& importer, const std::string& name, const Tensor& t, PairFunction* out) {
  std::vector<float> real;
  if (!constant_floats(t, &real)) return false;
  std::map<float, uint8_t> code;
  std::vector<float> values;
  std::vector<uint8_t> stored;
  for (float v : real) {
    if (std::isnan(v)) return false;
    const auto [at, is_new] = code.emplace(v, static_cast<uint8_t>(values.size()));
    if (is_new) values.push_back(v);
    if (values.size() > kCodes) return false;
    stored.push_back(at->second);
  }
  values.resize(kCodes);
  out->a = importer.graph().add_constant(name, DType::kUInt8, t.shape, stored);
  out->value = [values](int a, int) { return values[static_cast<size_t>(a)]; };
  return true;
}

}  // namespace

PairFunction limited_pair_function(const Pending& pending) {
  PairFunction limited = *pending.pair_function;
  ++limited.depth;
  limited.value = [f = pending.pair_function->value, lo = pending.lo, hi = pending.hi](
                      int a, int b) { return within(f(a, b), lo, hi); };
  return limited;
}

bool pair_function_of(Importer& importer, const NodeView& node, int i, PairFunction* out) {
  const Tensor& t = importer.input(node, i);
  *out = PairFunction();
  if (t.is_pair_function()) {
    *out = *t.pair_function;
    return true;
  }
  if (t.is_pending() && t.pending->pair_function && t.pending->moves.empty()) {
    *out = limited_pair_function(*t.pending);
    return true;
  }
  if (t.quant && t.quant->is_int16() && !t.is_constant()) return false;
  std::vector<float> real;
  if (t.is_constant()) {
    if (t.constant->elements() == 1 && constant_floats(t, &real)) {
      out->value = [v = real[0]](int, int) { return v; };
      return true;
    }
    const bool bytes = t.type == kUint8 || t.type == kInt8;
    if (!bytes || !t.quant || !t.quant->per_tensor())
      return few_values(importer, node.input(i), t, out);
    Tensor stored = t;
    stored.kind = Tensor::Kind::kTable;
    if (!entries(stored, &real)) return false;
    out->a = stored_constant(importer, *t.constant, *t.quant, node.input(i));
  } else {
    const bool single = t.is_table() && (t.table ? t.table_axis : t.quant->axis) < 0;
    if (!single || !entries(t, &real)) return false;
    out->a = t.value;
  }
  out->value = [real](int a, int) { return real[static_cast<size_t>(a)]; };
  return true;
}

std::shared_ptr<const PairFunction> joined(Importer& importer, const NodeView& node,
                                           const PairFunction& a, const PairFunction& b,
                                           const std::function<float(float, float)>& f) {
  auto result = std::make_shared<PairFunction>();
  result->node = &node;
  result->a = a.a;
  result->b = a.b;
  for (ValueId v : {b.a, b.b}) {
    if (v == kNoValue || v == result->a || v == result->b) continue;
    ValueId& free = result->a == kNoValue ? result->a : result->b;
    if (free != kNoValue) return nullptr;
    free = v;
  }
  // Finds which of the two bytes is the first, and which the second, of each operand.
  const auto index_of = [&](ValueId v) { return v == result->a ? 0 : 1; };
  result->value = [f, left = a.value, right = b.value, al = index_of(a.a), ar = index_of(a.b),
                   bl = index_of(b.a), br = index_of(b.b)](int x, int y) {
    const int bytes[2] = {x, y};
    return f(left(bytes[al], bytes[ar]), right(bytes[bl], bytes[br]));
  };
  result->depth = a.depth + b.depth + 1;
  if (result->depth > kMostDepth) {
    auto table = std::make_shared<std::vector<float>>(kCodes * kCodes);
    for (size_t i = 0; i < table->size(); ++i)
      (*table)[i] = result->value(static_cast<int>(i / kCodes), static_cast<int>(i % kCodes));
    importer.tensors().charge(table->size() * sizeof(float));
    result->value = [table](int x, int y) {
      return (*table)[static_cast<size_t>(x) * kCodes + static_cast<size_t>(y)];
    };
    result->depth = 1;
  }
  return result;
}

bool join(Importer& importer, const NodeView& node, const PairFunction& a, const PairFunction& b,
          const Shape& shape, const std::function<float(float, float)>& f) {
  Tensor y;
  y.kind = Tensor::Kind::kPairFunction;
  y.type = kFloat;
  y.shape = shape;
  y.pair_function = joined(importer, node, a, b, f);
  const bool possible = y.pair_function != nullptr;
  if (possible) importer.set_output(node, 0, std::move(y));
  return possible;
}

Status quantize_pair_function(Importer& importer, const NodeView& node, const PairFunction& f,
                              const Shape& shape, const Quant& out, Limits limits,
                              ValueId* result) {
  if (out.is_int16())
    return importer.refuse(node, "it is a table of two 8-bit tensors, its output has 16 bits",
                           node.output(0), "quantise its inputs to 16 bits, or its output to 8");
  std::vector<uint8_t> table(kCodes * kCodes);
  for (size_t i = 0; i < table.size(); ++i) {
    const float v = f.value(static_cast<int>(i / kCodes), static_cast<int>(i % kCodes));
    table[i] = static_cast<uint8_t>(quantized(v, out, limits));
  }
  *result = importer.builder().pair_lut(node, f.a, f.b, shape, DType::kUInt8, table, &out);
  importer.became(node, "PairLut", "I0");
  return Status();
}

Status pair_function_to_float(Importer& importer, const NodeView& node, const PairFunction& f,
                              const Shape& shape, ValueId* result) {
  std::vector<float> table(kCodes * kCodes);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = f.value(static_cast<int>(i / kCodes), static_cast<int>(i % kCodes));
  std::vector<uint8_t> bytes(table.size() * sizeof(float));
  __builtin_memcpy(bytes.data(), table.data(), bytes.size());
  *result = importer.builder().pair_lut(node, f.a, f.b, shape, DType::kFloat32, bytes, nullptr);
  importer.became(node, "PairLut", "edge");
  return Status();
}

}  // namespace qrt::convert::from_onnx

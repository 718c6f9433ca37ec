// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/deferred/table.h"

#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/deferred/pair_function.h"
#include "converter/import/onnx/deferred/pending.h"
#include "kernels/edge/packed.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr size_t kMaxTableEntries = size_t{1} << 24;

// Returns how many tables a table tensor needs.
size_t tables_of(const Tensor& t) {
  const int axis = t.meaning_axis();
  return axis < 0 ? 1 : static_cast<size_t>(t.shape[axis]);
}

}  // namespace

int quantized(float v, const Quant& out, size_t at) {
  const Limits range = Limits::of_source(out);
  return quantize_ort(v, out.scale[at], out.zero_point[at], range.lo, range.hi) + out.offset();
}

int quantized(float v, const Quant& out, Limits limits, size_t at) {
  return std::clamp(quantized(v, out, at), limits.lo, limits.hi);
}

bool entries(const Tensor& t, std::vector<float>* out) {
  const size_t tables = tables_of(t);
  const Quant& q = *t.quant;
  const size_t codes = q.codes();
  const bool fits = tables * codes <= kMaxTableEntries && !(q.is_int16() && t.meaning_axis() >= 0);
  if (!fits) return false;
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

bool keeps_order(const Tensor& t) {
  if (t.is_value())
    return t.type == kUint8 || t.type == kInt8 || t.type == kUint16 || t.type == kInt16;
  if (!t.is_table()) return false;
  if (t.is_dequantized())
    return std::all_of(t.quant->scale.begin(), t.quant->scale.end(),
                       [](float s) { return std::isfinite(s) && s >= 0; });
  std::vector<float> real;
  if (!entries(t, &real)) return false;
  for (size_t i = 0; i < real.size(); ++i)
    if (i % t.quant->codes() != 0 && !(real[i - 1] <= real[i])) return false;
  return true;
}

namespace {

// Quantises a table that reads or writes 16 bits: one for the whole tensor.
Status quantize_int16_table(Importer& importer, const NodeView& node, const Tensor& t,
                            const Quant& out, Limits limits, ValueId* result) {
  std::vector<float> real;
  if (t.meaning_axis() >= 0 || !out.per_tensor() || !entries(t, &real))
    return importer.refuse(
        node, "a table of 16 bits for each index of an axis is too large", node.output(0),
        "give its QuantizeLinear and DequantizeLinear one scale for the whole tensor");
  std::vector<int32_t> stored;
  bool identity = out.stored_type() == t.quant->stored_type();
  for (size_t i = 0; i < real.size(); ++i) {
    stored.push_back(quantized(real[i], out, limits));
    identity = identity && stored[i] == static_cast<int>(i) + out.first_code();
  }
  importer.became(node, identity ? "folded" : "Lut", "I0");
  *result = identity
                ? importer.builder().with_quant(node, t.value, out)
                : importer.builder().int16_lut(node, t.value, stored, out.stored_type(), "", &out);
  return Status();
}

}  // namespace

Status quantize_table(Importer& importer, const NodeView& node, const Tensor& t, const Quant& out,
                      Limits limits, const std::string& name, ValueId* result) {
  const int axis = t.meaning_axis();
  if (axis >= 0 && !out.per_tensor() && out.axis != axis)
    return importer.refuse(node,
                           "the input is per axis " + std::to_string(axis) +
                               ", the output per axis " + std::to_string(out.axis),
                           node.output(0), "quantise both along one axis, or per tensor");
  if (out.is_int16() || t.quant->is_int16())
    return quantize_int16_table(importer, node, t, out, limits, result);
  const int along = axis >= 0 ? axis : out.axis;
  const size_t tables = along < 0 ? 1 : static_cast<size_t>(t.shape[along]);
  std::vector<float> real;
  if (tables * 256 > kMaxTableEntries || !entries(t, &real))
    return importer.refuse(
        node, "a table for each of " + std::to_string(tables) + " indices is too large",
        node.output(0),
        "give its QuantizeLinear and DequantizeLinear one scale for the whole tensor");
  std::vector<uint8_t> bytes(tables * 256);
  bool identity = true;
  for (size_t c = 0; c < tables; ++c) {
    const size_t at = out.per_tensor() ? 0 : c;
    const float* from = real.data() + (axis < 0 ? 0 : c * 256);
    for (size_t i = 0; i < 256; ++i) {
      const int q = quantized(from[i], out, limits, at);
      bytes[c * 256 + i] = static_cast<uint8_t>(q);
      identity = identity && q == static_cast<int>(i);
    }
  }
  if (identity) {
    *result = importer.builder().with_quant(node, t.value, out);
    importer.became(node, "folded", "I0");
    return Status();
  }
  importer.became(node, "Lut", "I0");
  if (along < 0) {
    *result = importer.builder().lut(node, t.value, bytes, false, name, &out);
    return Status();
  }
  // A Lut with several tables chooses by the last axis.
  if (along == t.shape.rank() - 1) {
    *result = importer.builder().lut(node, t.value, bytes, true, name, &out);
    return Status();
  }
  const ValueId y = importer.builder().lut(node, importer.builder().axis_last(node, t.value, along),
                                           bytes, true, "", nullptr);
  *result =
      importer.builder().with_quant(node, importer.builder().axis_back(node, y, along, name), out);
  if (importer.builder().is_marked(t.value)) importer.builder().mark(*result);
  return Status();
}

Status map_table(Importer& importer, const NodeView& node, int i,
                 const std::function<float(float)>& f) {
  Tensor y = importer.input(node, i);
  if (y.is_constant()) {
    std::vector<float> real;
    if (!constant_floats(y, &real)) return importer.refuse_float(node, i);
    auto constant = std::make_shared<Constant>();
    constant->type = kFloat;
    constant->shape = y.shape;
    constant->data.resize(real.size() * sizeof(float));
    float* to = reinterpret_cast<float*>(constant->data.data());
    std::transform(real.begin(), real.end(), to, f);
    y.constant = std::move(constant);
    y.type = kFloat;
    y.quant.reset();
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  PairFunction pairs;
  if ((y.is_pair_function() || y.is_pending()) && pair_function_of(importer, node, i, &pairs)) {
    PairFunction nothing;
    nothing.value = [](int, int) { return 0.0f; };
    join(importer, node, pairs, nothing, y.shape, [f](float v, float) { return f(v); });
    return Status();
  }
  if (!y.is_table()) return importer.refuse_float(node, i);
  auto real = std::make_shared<std::vector<float>>();
  if (!entries(y, real.get()))
    return importer.refuse(
        node,
        "a table for each index of axis " + std::to_string(y.meaning_axis()) + " is too large",
        node.input(i),
        "give its QuantizeLinear and DequantizeLinear one scale for the whole tensor");
  std::transform(real->begin(), real->end(), real->begin(), f);
  y.table_axis = y.meaning_axis();
  y.table = std::move(real);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status map_table_along(Importer& importer, const NodeView& node, int i, int axis, size_t n,
                       const std::function<float(float v, size_t c)>& f, bool* taken) {
  Tensor y = importer.input(node, i);
  const int before = y.meaning_axis();
  auto table = std::make_shared<std::vector<float>>();
  *taken = !(axis >= 0 && before >= 0 && axis != before) && entries(y, table.get()) &&
           n <= (y.quant->is_int16() ? 1 : size_t{1} << 16);
  if (!*taken) return Status();
  if (axis >= 0 && before < 0) {
    const std::vector<float> one = *table;
    for (size_t c = 1; c < n; ++c) table->insert(table->end(), one.begin(), one.end());
  }
  for (size_t at = 0; at < table->size(); ++at)
    (*table)[at] = f((*table)[at], axis >= 0 ? at / y.quant->codes() : 0);
  y.table = std::move(table);
  y.table_axis = axis >= 0 ? axis : before;
  importer.set_output(node, 0, std::move(y));
  return Status();
}

bool constant_floats(const Tensor& t, std::vector<float>* out) {
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

Status quantize_tensor(Importer& importer, const NodeView& node, const Tensor& t, const Quant& out,
                       Limits limits, ValueId* result) {
  if (t.is_table()) return quantize_table(importer, node, t, out, limits, "", result);
  if (t.is_pending()) return quantize_function(importer, *t.pending, out, limits, result);
  std::vector<float> real;
  if (!constant_floats(t, &real))
    return importer.refuse(node, "an operand is a constant of an unsupported type", node.output(0),
                           "put the constant behind a DequantizeLinear: integers with a scale");
  *result = quantized_constant(importer, real, t.shape, out, limits);
  return Status();
}

Status table_to_float(Importer& importer, const NodeView& node, const Tensor& t,
                      const std::string& name, ValueId* result) {
  if (t.is_dequantized()) {
    *result = dequantized_value(importer, name, t);
    importer.became(node, "Dequantize", "edge");
    return Status();
  }
  const int axis = t.table_axis;
  if (axis < 0 || axis == t.shape.rank() - 1) {
    *result = importer.builder().float_lut(node, t.value, *t.table, name);
  } else {
    const ValueId x = importer.builder().axis_last(node, t.value, axis);
    const ValueId y = importer.builder().float_lut(node, x, *t.table, "");
    *result = importer.builder().axis_back(node, y, axis, name);
  }
  importer.became(node, "Lut", "edge");
  return Status();
}

ValueId dequantized_value(Importer& importer, const std::string& name, const Tensor& tensor) {
  const Quant& quant = *tensor.quant;
  // The raw form of a tensor that was uint16 in the source.
  const bool is_raw =
      quant.type == DType::kUInt16 && importer.builder().has_raw_uint16(tensor.value);
  const ValueId x = is_raw ? importer.builder().raw_uint16("", tensor.value) : tensor.value;
  const ValueId y = importer.builder().new_value(name, DType::kFloat32, tensor.shape);
  auto& o = importer.builder().add<fb::DequantizeOptionsT>({name, "DequantizeLinear"}, {x}, y);
  for (size_t i = 0; i < quant.scale.size(); ++i) {
    o.scale.push_back(float_bits(quant.scale[i]));
    o.zero_point.push_back(is_raw ? quant.zero_point[i] : quant.stored_zero_point(i));
  }
  o.axis = quant.axis;
  return y;
}

ValueId plain_value(Importer& importer, const std::string& name, const Tensor& tensor) {
  if (tensor.is_value() && tensor.type == kUint16)
    return importer.builder().raw_uint16("", tensor.value);
  if (tensor.is_value()) return tensor.value;
  DType dtype;
  if (!tensor.is_plain_constant() || !ir_type(tensor.type, &dtype)) return kNoValue;
  std::vector<uint8_t> bytes = tensor.constant->data;
  if (dtype == DType::kInt8) {
    for (uint8_t& b : bytes) b ^= 128;
    dtype = DType::kUInt8;
  }
  if (const int bits = packed_bits(tensor.type); bits != 0) {
    bytes.resize(tensor_bytes({dtype, tensor.shape}));
    pack_codes(bits, tensor.constant->data.data(), tensor.constant->data.size(), bytes.data());
  }
  return importer.graph().add_constant(name, dtype, tensor.shape, bytes);
}

ValueId stored_constant(Importer& importer, const Constant& constant, const Quant& quant,
                        const std::string& name) {
  std::vector<int32_t> stored(static_cast<size_t>(constant.elements()));
  for (size_t i = 0; i < stored.size(); ++i)
    stored[i] = static_cast<int32_t>(constant.integer(static_cast<int64_t>(i)) + quant.offset());
  const ValueId id =
      importer.builder().stored_constant(name, quant.stored_type(), constant.shape, stored);
  importer.graph().values[id].quantization = stored_quantization(quant);
  return id;
}

ValueId quantized_constant(Importer& importer, const std::vector<float>& real, const Shape& shape,
                           const Quant& out, Limits limits) {
  std::vector<int32_t> stored;
  for (float v : real) stored.push_back(quantized(v, out, limits));
  return importer.builder().stored_constant("", out.stored_type(), shape, stored);
}

}  // namespace qrt::convert::from_onnx

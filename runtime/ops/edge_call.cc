// SPDX-License-Identifier: Apache-2.0
// Layout and parameters of edge operators; see edge_call.h.
#include "runtime/ops/edge_call.h"

#include <cstring>

#include "kernels/edge/packed.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"

namespace qrt {
namespace {

// REQUIRES: axis is -1 or a dimension.
EdgeLayout layout_of(const Shape& x, int32_t axis, uint32_t block_size) {
  EdgeLayout l;
  const size_t elements = static_cast<size_t>(x.elements());
  l.depth = elements;
  if (axis < 0) return l;
  l.kind = block_size == 0 ? EdgeLayout::Kind::kAxis : EdgeLayout::Kind::kBlocks;
  for (int i = 0; i < axis; ++i) l.outer *= static_cast<size_t>(x[i]);
  l.depth = static_cast<size_t>(x[axis]);
  for (int i = axis + 1; i < x.rank(); ++i) l.inner *= static_cast<size_t>(x[i]);
  l.block = block_size == 0 ? 1 : block_size;
  l.blocks = (l.depth + l.block - 1) / l.block;
  if (l.entries() == 1) {  // as per tensor
    l = EdgeLayout();
    l.depth = elements;
  }
  return l;
}

bool is_scale_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat8E8M0 || dtype == DType::kInt32;
}

// Checks that input i has one value, or as many as the layout has entries.
Status check_entries(const InferContext& context, size_t i, const char* what, size_t entries) {
  const OpInput& input = context.inputs[i];
  QRT_MODEL_CHECK(input.type.shape.elements() == static_cast<int64_t>(entries),
                  "input %zu (%s) has shape %s, expected %zu values", i, what,
                  input.type.shape.to_string().c_str(), entries);
  return Status();
}

float scale_at(DType type, const uint8_t* data, size_t i) {
  switch (type) {
    case DType::kFloat16: return half_to_float(reinterpret_cast<const uint16_t*>(data)[i]);
    case DType::kBFloat16: return bfloat_to_float(reinterpret_cast<const uint16_t*>(data)[i]);
    case DType::kFloat8E8M0: return e8m0_to_float(data[i]);
    case DType::kInt32: return static_cast<float>(reinterpret_cast<const int32_t*>(data)[i]);
    default: return reinterpret_cast<const float*>(data)[i];
  }
}

int32_t zero_point_at(DType type, const uint8_t* data, size_t i) {
  switch (type) {
    case DType::kInt8: return static_cast<int8_t>(data[i]);
    case DType::kUInt16: return reinterpret_cast<const uint16_t*>(data)[i];
    case DType::kInt16: return reinterpret_cast<const int16_t*>(data)[i];
    case DType::kInt32:
    case DType::kUInt32: return reinterpret_cast<const int32_t*>(data)[i];  // as bits
    case DType::kFloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ: return 0;  // only carries the type
    case DType::kBFloat16:                  // its value as the bits of a float32
      return static_cast<int32_t>(static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(data)[i])
                                  << 16);
    default: break;
  }
  if (!is_packed(type)) return data[i];
  const int bits = dtype_bits(type);
  const size_t at = i * static_cast<size_t>(bits);
  uint8_t code;
  const uint8_t packed = static_cast<uint8_t>(data[at / 8] >> at % 8);
  unpack_codes(bits, is_signed_integer(type), &packed, 1, &code);
  if (type == DType::kFloat4E2M1)
    return static_cast<int32_t>(bits_of_float(small_to_float(SmallFormat::kE2M1, code)));
  return is_signed_integer(type) ? static_cast<int8_t>(code) : code;
}

}  // namespace

void integer_range(DType dtype, int32_t* lo, int32_t* hi) {
  *lo = *hi = 0;
  switch (dtype) {
    case DType::kUInt8: *hi = 255; break;
    case DType::kInt8: *lo = -128, *hi = 127; break;
    case DType::kUInt16: *hi = 65535; break;
    case DType::kInt16: *lo = -32768, *hi = 32767; break;
    case DType::kUInt4: *hi = 15; break;
    case DType::kInt4: *lo = -8, *hi = 7; break;
    case DType::kUInt2: *hi = 3; break;
    case DType::kInt2: *lo = -2, *hi = 1; break;
    default: break;
  }
}

bool is_small_integer(DType dtype) {
  int32_t lo, hi;
  integer_range(dtype, &lo, &hi);
  return hi != 0;
}

bool is_signed_integer(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 ||
         dtype == DType::kInt4 || dtype == DType::kInt2;
}

bool small_format(DType dtype, SmallFormat* format) {
  if (!built::kSmallFloats) return false;
  switch (dtype) {
    case DType::kFloat8E4M3FN: *format = SmallFormat::kE4M3FN; return true;
    case DType::kFloat8E4M3FNUZ: *format = SmallFormat::kE4M3FNUZ; return true;
    case DType::kFloat8E5M2: *format = SmallFormat::kE5M2; return true;
    case DType::kFloat8E5M2FNUZ: *format = SmallFormat::kE5M2FNUZ; return true;
    case DType::kFloat4E2M1: *format = SmallFormat::kE2M1; return true;
    default: return false;
  }
}

void unpack_elements(DType dtype, const uint8_t* x, size_t at, size_t count, uint8_t* codes) {
  const int bits = dtype_bits(dtype);
  unpack_codes(bits, is_signed_integer(dtype), x + at * static_cast<size_t>(bits) / 8, count,
               codes);
}

Status check_edge(const InferContext& context, DType quantized,
                  const flatbuffers::Vector<uint32_t>* scale,
                  const flatbuffers::Vector<int32_t>* zero_point, int32_t axis, uint32_t block_size,
                  bool allow_infinite_scale) {
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(axis >= -1 && axis < x.shape.rank(), "axis is %d, expected -1 or 0 to %d", axis,
                  x.shape.rank() - 1);
  QRT_MODEL_CHECK(block_size == 0 || axis >= 0, "block_size is %u without an axis", block_size);
  const size_t entries = layout_of(x.shape, axis, block_size).entries();
  const size_t scales = scale ? scale->size() : 0;
  const size_t zero_points = zero_point ? zero_point->size() : 0;
  const size_t inputs = context.inputs.size();
  QRT_MODEL_CHECK(inputs <= 3, "has %zu inputs, expected 1 to 3", inputs);
  if (inputs > 1) {
    QRT_MODEL_CHECK(scales == 0 && zero_points == 0,
                    "has %zu scales and %zu zero points beside those of its inputs", scales,
                    zero_points);
    const DType type = context.inputs[1].type.dtype;
    QRT_MODEL_CHECK(is_scale_type(type),
                    "input 1 (scale) is %s, expected float32, float16, bfloat16, float8e8m0 or "
                    "int32",
                    dtype_name(type));
    QRT_TRY(check_entries(context, 1, "scale", entries));
    if (inputs == 2) return Status();
    QRT_TRY(check_dtype(context, 2, "zero_point", quantized));
    return check_entries(context, 2, "zero_point", entries);
  }
  QRT_MODEL_CHECK(block_size == 0, "block_size is %u, but the scales are no input", block_size);
  QRT_MODEL_CHECK(scales == entries, "has %zu scales, expected %zu", scales, entries);
  QRT_MODEL_CHECK(zero_points == entries, "has %zu zero points, expected %zu", zero_points,
                  entries);
  int32_t zp_lo, zp_hi;
  integer_range(quantized, &zp_lo, &zp_hi);
  for (size_t i = 0; i < entries; ++i) {
    const auto at = static_cast<flatbuffers::uoffset_t>(i);
    const float s = float_of(scale->Get(at));
    QRT_MODEL_CHECK(!std::isnan(s) && (allow_infinite_scale || !std::isinf(s)),
                    "scale %zu is %g, expected %s", i, static_cast<double>(s),
                    allow_infinite_scale ? "a number" : "a finite number");
    const int32_t zp = zero_point->Get(at);
    QRT_MODEL_CHECK(zp >= zp_lo && zp <= zp_hi, "zero point %zu is %d, expected %d to %d", i, zp,
                    zp_lo, zp_hi);
  }
  return Status();
}

Status make_edge(const PrepareContext& context, const flatbuffers::Vector<uint32_t>* scale,
                 const flatbuffers::Vector<int32_t>* zero_point, int32_t axis, uint32_t block_size,
                 fb::Division division, EdgeCall* step) {
  const Shape& x = context.inputs[0].type.shape;
  step->kernel = select_edge(context.isas);
  step->layout = layout_of(x, axis, block_size);
  step->elements = static_cast<size_t>(x.elements());
  step->division = division;
  if (context.inputs.size() == 1) {
    QRT_TRY(context.take(scale->size() * (sizeof(float) + sizeof(int32_t))));
    step->scale.reserve(scale->size());
    for (uint32_t bits : *scale) step->scale.push_back(float_of(bits));
    step->zero_point.assign(zero_point->begin(), zero_point->end());
  } else {
    step->scale_type = context.inputs[1].type.dtype;
    step->has_zero_point = context.inputs.size() > 2;
    if (step->has_zero_point) step->zero_point_type = context.inputs[2].type.dtype;
  }
  step->tasks = task_count(static_cast<double>(x.elements()) / speed_of(step->kernel->isa).elements,
                           ceil_div(step->elements, kAlignment), context.threads);
  return Status();
}

size_t EdgeCall::scratch_bytes() const {
  if (!reads_inputs()) return 0;
  return round_up(layout.entries() * sizeof(float), kAlignment) +
         round_up(layout.entries() * sizeof(int32_t), kAlignment);
}

EdgeGrid EdgeCall::grid(const Step& step, const RunContext& context) const {
  if (!reads_inputs()) return {scale.data(), zero_point.data(), false};
  const size_t entries = layout.entries();
  auto* scales = reinterpret_cast<float*>(context.scratch);
  auto* zero_points =
      reinterpret_cast<int32_t*>(context.scratch + round_up(entries * sizeof(float), kAlignment));
  const uint8_t* scale_data = context.in(step, 1);
  for (size_t i = 0; i < entries; ++i) {
    float s = scale_at(scale_type, scale_data, i);
    if (division == fb::Division::F16) s = half_to_float(float_to_half(s));
    if (division == fb::Division::BF16) s = bfloat_to_float(float_to_bfloat(s));
    scales[i] = s;
    zero_points[i] = has_zero_point ? zero_point_at(zero_point_type, context.in(step, 2), i) : 0;
  }
  return {scales, zero_points, false};
}

}  // namespace qrt

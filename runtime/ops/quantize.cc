// SPDX-License-Identifier: Apache-2.0
// Quantize: floats (or int32) to integers and small floats; per tensor, per index of any axis, or
// in blocks. float32 to 8 bits goes straight through the kernels, and float16 per tensor; what else
// there is through chunks on the stack: widen to float32, divide if not in float32, encode, pack.
#include "runtime/ops/quantize.h"

#include <cmath>

#include "kernels/edge/half_up.h"
#include "kernels/edge/packed.h"
#include "runtime/ops/check.h"
#include "runtime/ops/edge_call.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

bool is_float_input(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kInt32;
}

bool is_output(DType dtype) {
  SmallFormat format;
  return is_small_integer(dtype) || small_format(dtype, &format) || dtype == DType::kInt32 ||
         dtype == DType::kUInt32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::QuantizeOptions>();
  QRT_MODEL_CHECK(!context.inputs.empty(), "has no inputs, expected 1 to 3");
  const TensorType& x = context.inputs[0].type;
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  QRT_MODEL_CHECK(is_output(output), "the output is %s, which no Quantize makes",
                  dtype_name(output));
  const bool has_inputs = context.inputs.size() > 1;
  if (has_inputs) {
    QRT_MODEL_CHECK(is_float_input(x.dtype),
                    "input 0 (x) is %s, expected float32, float16, bfloat16 or int32",
                    dtype_name(x.dtype));
  } else {
    QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
    QRT_MODEL_CHECK(is_small_integer(output),
                    "the output is %s, expected an integer of up to 16 bits", dtype_name(output));
  }
  const bool other = options->rounding() == fb::Rounding::HALF_AWAY ||
                     options->rounding() == fb::Rounding::HALF_UP;
  const bool bytes = output == DType::kUInt8 || output == DType::kInt8;
  QRT_MODEL_CHECK(
      options->rounding() == fb::Rounding::HALF_EVEN ||
          (other && options->axis() < 0 && (bytes || output == DType::kInt16) && !has_inputs),
      "rounding is %d, expected HALF_EVEN (0), or per tensor HALF_UP (1) or HALF_AWAY (2)",
      static_cast<int>(options->rounding()));
  QRT_MODEL_CHECK(options->division() <= fb::Division::F64, "division is %d, expected 0 to 3",
                  static_cast<int>(options->division()));
  const bool casts = options->overflow() == fb::Overflow::CAST;
  QRT_MODEL_CHECK(options->overflow() <= fb::Overflow::CAST, "overflow is %d, expected 0 to 3",
                  static_cast<int>(options->overflow()));
  QRT_MODEL_CHECK(!casts || (has_inputs && options->division() == fb::Division::F32 &&
                             (is_small_integer(output) || output == DType::kInt32)),
                  "overflow is CAST, expected scales that are inputs, division F32 and an integer "
                  "output");
  QRT_MODEL_CHECK(options->offset() == 0 || (options->offset() == 128 && output == DType::kUInt8),
                  "offset is %d, expected 0, or 128 for a uint8 output", options->offset());
  QRT_TRY(check_edge(context, output, options->scale(), options->zero_point(), options->axis(),
                     options->block_size(), /*allow_infinite_scale=*/true));
  if (options->division() == fb::Division::F64)
    QRT_MODEL_CHECK(has_inputs && context.inputs[1].type.dtype == DType::kInt32,
                    "division is F64, but the scale is no int32 input");
  return add_output(output, x.shape, outputs);
}

struct Params {
  EdgeCall edge;
  DType input, output;
  int32_t lo = 0, hi = 0, offset = 0;
  fb::Rounding rounding = fb::Rounding::HALF_EVEN;
  bool is_packed = false, is_small_float = false, saturates = true;
  // True where integers wrap instead of saturating: with CAST, or for types of up to 16 bits with
  // another overflow than SATURATE.
  bool wraps = false;
  SmallFloat format = {};
  fb::Overflow overflow = fb::Overflow::SATURATE;
  PlanVector<float> ones;  // scales where the quotient is made before the encoding
};

// The arguments of one run, beside the step's parameters.
struct Job {
  const Params& p;
  EdgeGrid grid;
  const int32_t* int_scale;  // of an F64 division
  const uint8_t* x;
  uint8_t* y;
};

void widen(const Job& job, size_t at, size_t count, float* v) {
  const auto* halves = reinterpret_cast<const uint16_t*>(job.x) + at;
  switch (job.p.input) {
    case DType::kFloat16: job.p.edge.kernel->widen_half(halves, count, v); break;
    case DType::kBFloat16:
      for (size_t i = 0; i < count; ++i) v[i] = bfloat_to_float(halves[i]);
      break;
    default:
      for (size_t i = 0; i < count; ++i)
        v[i] = static_cast<float>(reinterpret_cast<const int32_t*>(job.x)[at + i]);
      break;
  }
}

float rounded_to(fb::Division type, float v) {
  if (type == fb::Division::F16) return half_to_float(float_to_half(v));
  if (type == fb::Division::BF16) return bfloat_to_float(float_to_bfloat(v));
  return v;
}

// Returns a quotient in double as a float that rounds and compares to integers' limits alike.
float quotient_f64(double v, bool to_integer) {
  if (!to_integer) return static_cast<float>(v);
  if (!(v >= -2147483648.5 && v < 2147483647.5)) return static_cast<float>(v);
  constexpr double kFar = 1 << 23;  // beyond every output of 16 bits
  const double r = std::nearbyint(v);
  return static_cast<float>(r < -kFar ? -kFar : r > kFar ? kFar : r);
}

// Returns a quotient as the integer that a cast makes of it.
float cast_quotient(const Params& p, float v) {
  constexpr float kLimit = 2147483648.0f;
  const float rounded = p.is_packed ? std::round(v) : std::trunc(v);
  const float whole = rounded >= -kLimit && rounded < kLimit ? rounded : -kLimit;
  if (p.output == DType::kInt32) return whole;
  const int32_t values = p.hi - p.lo + 1;  // a power of two
  const int32_t low = static_cast<int32_t>(whole) & (values - 1);
  return static_cast<float>(low > p.hi - p.offset ? low - values : low);
}

// Divides: v becomes x / scale in the division's type. Where an overflow wraps, v becomes the
// infinity on the side on which it ends.
void divide(const Job& job, size_t at, size_t count, float* v) {
  const Params& p = job.p;
  const fb::Division type = p.edge.division;
  const float limit = p.overflow == fb::Overflow::INT64 ? 9223372036854775808.0f : 2147483648.0f;
  for_grid_spans(
      p.edge.layout, at, at + count,
      [&](size_t first, size_t rows, size_t n, size_t entry, bool each) {
        for (size_t r = 0; r < rows; ++r, first += n) {
          for (size_t i = 0; i < n; ++i) {
            const size_t e = entry + (each ? i : 0);
            float& q = v[first - at + i];
            if (type == fb::Division::F64) {
              const double dividend =
                  p.input == DType::kInt32
                      ? static_cast<double>(reinterpret_cast<const int32_t*>(job.x)[first + i])
                      : double{q};
              q = quotient_f64(dividend / static_cast<double>(job.int_scale[e]), !p.is_small_float);
            } else {
              q = rounded_to(type, rounded_to(type, q) / job.grid.scale[e]);
            }
            if (p.overflow == fb::Overflow::CAST) q = cast_quotient(p, q);
            if (!p.wraps || (q >= -limit && q < limit)) continue;
            q = job.grid.zero_point[e] - p.offset < 0 ? INFINITY : -INFINITY;
          }
        }
      });
}

// int32 and uint32: HE(v) + zp in int64, where HE(v) is the smallest int64 if that has no value.
int64_t quantize_to_int64(float v, int64_t zp, fb::Overflow overflow) {
  const float r = std::nearbyint(v);
  constexpr float kLimit = 9223372036854775808.0f;
  int64_t q = INT64_MIN;
  if (r >= -kLimit && r < kLimit) {
    q = static_cast<int64_t>(r);
  } else if (overflow == fb::Overflow::SATURATE) {
    return r >= kLimit ? INT64_MAX : INT64_MIN;
  }
  return static_cast<int64_t>(static_cast<uint64_t>(q) + static_cast<uint64_t>(zp));
}

void encode_32_bits(const Params& p, const float* v, size_t n, const EdgeGrid& g, uint8_t* out) {
  const bool is_signed = p.output == DType::kInt32;
  const int64_t lo = is_signed ? INT32_MIN : 0, hi = is_signed ? INT32_MAX : int64_t{UINT32_MAX};
  for (size_t i = 0; i < n; ++i) {
    const size_t e = g.each ? i : 0;
    const int64_t zp =
        is_signed ? g.zero_point[e] : static_cast<int64_t>(static_cast<uint32_t>(g.zero_point[e]));
    const int64_t q = quantize_to_int64(v[i] / g.scale[e], zp, p.overflow);
    const auto word = static_cast<uint32_t>(q < lo ? lo : q > hi ? hi : q);
    memcpy(out + i * sizeof word, &word, sizeof word);
  }
}

// Converts to bfloat16, fl32(v + zp), or to float16, x alone, limited.
void encode_half(const Params& p, const float* v, size_t n, const EdgeGrid& g, uint16_t* out) {
  for (size_t i = 0; i < n; ++i) {
    const size_t e = g.each ? i : 0;
    if (p.output == DType::kBFloat16) {
      const float zp = float_of(static_cast<uint32_t>(g.zero_point[e]));
      out[i] = float_to_bfloat(v[i] / g.scale[e] + zp);
    } else {
      if (!p.saturates) {
        out[i] = float_to_half(v[i]);
        continue;
      }
      const float high = v[i] < 65504.0f || std::isnan(v[i]) ? v[i] : 65504.0f;
      out[i] = float_to_half(high > -65504.0f || std::isnan(high) ? high : -65504.0f);
    }
  }
}

// Rows of n values with the entries of g (or one run): codes one per element, packed types a byte.
void encode(const Params& p, const float* v, size_t rows, size_t n, const EdgeGrid& g,
            uint8_t* out) {
  const EdgeKernel& k = *p.edge.kernel;
  const size_t bytes = p.is_packed ? 1 : dtype_bytes(p.output);
  if (bytes == 1 && !p.is_small_float) {
    if (g.each) return k.quantize_channels(v, rows, n, g.scale, g.zero_point, p.lo, p.hi, out);
    return k.quantize(v, n, g.scale[0], g.zero_point[0], p.lo, p.hi, out);
  }
  for (size_t r = 0; r < rows; ++r, v += n, out += n * bytes) {
    if (p.output == DType::kFloat4E2M1) {
      float sum[kEdgeChunk];
      for (size_t i = 0; i < n; ++i) {
        const size_t e = g.each ? i : 0;
        sum[i] = v[i] / g.scale[e] + float_of(static_cast<uint32_t>(g.zero_point[e]));
      }
      k.encode(sum, n, {p.ones.data(), nullptr, false}, p.format, out);
    } else if (p.is_small_float) {
      k.encode(v, n, g, p.format, out);
    } else if (p.output == DType::kFloat16 || p.output == DType::kBFloat16) {
      encode_half(p, v, n, g, reinterpret_cast<uint16_t*>(out));
    } else if (bytes == 4) {
      encode_32_bits(p, v, n, g, out);
    } else {
      k.quantize16(v, n, g, p.lo, p.hi, reinterpret_cast<uint16_t*>(out));
    }
  }
}

// Quantises the elements [at, at + count) through buffers; count is at most kEdgeChunk.
void run_chunk(const Job& job, size_t at, size_t count) {
  const Params& p = job.p;
  float real[kEdgeChunk];
  uint8_t codes[kEdgeChunk];
  const bool divides = !p.ones.empty();
  const float* v = reinterpret_cast<const float*>(job.x) + at;
  if (p.input != DType::kFloat32) {
    widen(job, at, count, real);
    v = real;
  }
  if (divides) {
    if (v != real) memcpy(real, v, count * sizeof(float));
    divide(job, at, count, real);
    v = real;
  }
  const size_t bytes = p.is_packed ? 1 : dtype_bytes(p.output);
  uint8_t* out = p.is_packed ? codes : job.y + at * bytes;
  for_grid_spans(p.edge.layout, at, at + count,
                 [&](size_t first, size_t rows, size_t n, size_t entry, bool each) {
                   EdgeGrid g = grid_at(job.grid, entry, each);
                   if (divides) g.scale = p.ones.data();
                   encode(p, v + (first - at), rows, n, g, out + (first - at) * bytes);
                 });
  if (!p.is_packed) return;
  const int bits = dtype_bits(p.output);
  pack_codes(bits, codes, count, job.y + at * static_cast<size_t>(bits) / 8);
}

void run_chunks(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Job job = {p, p.edge.grid(step, context),
                   p.edge.division == fb::Division::F64
                       ? reinterpret_cast<const int32_t*>(context.in(step, 1))
                       : nullptr,
                   context.in(step, 0), context.out(step, 0)};
  for_chunks(*context.parallel, p.edge.tasks, p.edge.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               for (size_t at = begin; at < end; at += kEdgeChunk)
                 run_chunk(job, at, std::min(kEdgeChunk, end - at));
             });
}

// Quantises n elements with one scale, by the step's rounding.
void quantize_tensor(const Params& p, const float* x, size_t n, float scale, int32_t zero_point,
                     uint8_t* y) {
  const EdgeKernel& k = *p.edge.kernel;
  switch (p.rounding) {
    case fb::Rounding::HALF_UP: return quantize_half_up(x, n, scale, zero_point, p.lo, p.hi, y);
    case fb::Rounding::HALF_AWAY: return k.quantize_away(x, n, scale, zero_point, p.lo, p.hi, y);
    default: return k.quantize(x, n, scale, zero_point, p.lo, p.hi, y);
  }
}

// float32 to 8 bits.
void run_bytes(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const EdgeGrid grid = p.edge.grid(step, context);
  const auto* x = reinterpret_cast<const float*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  for_chunks(*context.parallel, p.edge.tasks, p.edge.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               if (p.rounding != fb::Rounding::HALF_EVEN)
                 return quantize_tensor(p, x + begin, end - begin, grid.scale[0],
                                        grid.zero_point[0], y + begin);
               for_grid_spans(p.edge.layout, begin, end,
                              [&](size_t at, size_t rows, size_t n, size_t entry, bool each) {
                                encode(p, x + at, rows, n, grid_at(grid, entry, each), y + at);
                              });
             });
}

// Quantises float32 to int16, per tensor, half away from zero or half up.
void run_other_16(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const EdgeGrid grid = p.edge.grid(step, context);
  const auto* x = reinterpret_cast<const float*>(context.in(step, 0));
  auto* y = reinterpret_cast<uint16_t*>(context.out(step, 0));
  for_chunks(*context.parallel, p.edge.tasks, p.edge.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               const size_t n = end - begin;
               if (p.rounding == fb::Rounding::HALF_UP)
                 return quantize16_half_up(x + begin, n, grid.scale[0], grid.zero_point[0], p.lo,
                                           p.hi, y + begin);
               p.edge.kernel->quantize16_away(x + begin, n, grid, p.lo, p.hi, y + begin);
             });
}

// float16 to 8 bits, per tensor.
void run_half(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const EdgeGrid grid = p.edge.grid(step, context);
  const auto* x = reinterpret_cast<const uint16_t*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  for_chunks(*context.parallel, p.edge.tasks, p.edge.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               p.edge.kernel->quantize_half(x + begin, end - begin, grid.scale[0],
                                            grid.zero_point[0] - p.offset, p.lo - p.offset,
                                            p.hi - p.offset, p.offset, y + begin);
             });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::QuantizeOptions>();
  auto params = make_planned<Params>();
  QRT_TRY(make_edge(context, options->scale(), options->zero_point(), options->axis(),
                    options->block_size(), options->division(), &params->edge));
  params->input = context.inputs[0].type.dtype;
  params->output = context.outputs[0].dtype;
  integer_range(params->output, &params->lo, &params->hi);
  params->is_packed = is_packed(params->output);
  params->rounding = options->rounding();
  params->overflow = options->overflow();
  params->offset = options->offset();
  SmallFormat format;
  params->is_small_float = small_format(params->output, &format);
  if (params->is_small_float) params->format = small_float(format, options->saturate());
  params->saturates = options->saturate();
  params->wraps = params->overflow == fb::Overflow::CAST ||
                  (is_small_integer(params->output) && params->overflow != fb::Overflow::SATURATE);
  const bool plain = options->division() == fb::Division::F32;
  const bool bytes = params->output == DType::kUInt8 || params->output == DType::kInt8;
  const bool tensor = params->edge.layout.kind == EdgeLayout::Kind::kTensor;
  step->kernel = params->edge.kernel->name;
  step->scratch_bytes = params->edge.scratch_bytes();
  step->reads_slack = false;
  if (built::kInt16 && params->rounding != fb::Rounding::HALF_EVEN && !bytes) {
    step->run = run_other_16;
  } else if (bytes && plain && params->overflow == fb::Overflow::SATURATE &&
             params->input == DType::kFloat32) {
    step->run = run_bytes;
  } else if (built::kSmallFloats && bytes && plain && params->overflow == fb::Overflow::INT32 &&
             tensor && params->input == DType::kFloat16) {
    step->run = run_half;
  } else {
    step->run = run_chunks;
    if (!plain || params->wraps || params->output == DType::kFloat4E2M1) {
      QRT_TRY(context.take(kEdgeChunk * sizeof(float)));
      params->ones.assign(kEdgeChunk, 1.0f);
    }
  }
  step->params = std::move(params);
  return Status();
}

bool keeps_images_apart(const fb::Operator& op, const BatchOperands&) {
  const fb::QuantizeOptions& o = *op.options_as_Quantize();
  return o.axis() != 0 && o.block_size() == 0;
}

}  // namespace

bool quantizes_ranges(const Step& step) {
  if (step.run != run_bytes) return false;
  const EdgeCall& edge = step.as<Params>().edge;
  return edge.layout.kind == EdgeLayout::Kind::kTensor && !edge.reads_inputs();
}

void quantize_range(const Step& step, const RunContext& context, size_t begin, size_t count,
                    uint8_t* to) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const float*>(context.in(step, 0)) + begin;
  quantize_tensor(p, x, count, p.edge.scale[0], p.edge.zero_point[0], to);
}

bool find_byte_grid(const Step& step, ByteGrid* grid) {
  if (!quantizes_ranges(step)) return false;
  const Params& p = step.as<Params>();
  *grid = {p.edge.kernel, p.edge.scale[0], p.edge.zero_point[0], p.lo, p.hi};
  return p.rounding == fb::Rounding::HALF_EVEN;
}

std::string describe_quantize(const fb::Operator&) { return "float32 division, half even"; }

const OpDef kQuantizeOp = {
    "Quantize",
    fb::OpOptions::Quantize,
    infer,
    prepare,
    {Arithmetic::kEdge, edge_level, no_requant, keeps_images_apart, LayoutRule::kAny,
     Broadcasting::kNone, Constants::scales<fb::QuantizeOptions>(), true}};

}  // namespace qrt
